/* emit_func.c: one function's plan → C.
 *
 * Reads IR with its plan and prints it; decides nothing. A function becomes a table of its
 * operations and one C function; its Python statements stand above their C as comments, and #line
 * makes the C compiler and debuggers speak of the Python source.
 *
 * Every variable has one C name for the whole function. Tensors are declared at the top, so that
 * `done` can drop them.
 */
#include "tensorc.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct Emitter {
  Unit *unit;
  Func *func;
  Buf *out;           /* the body */
  Buf ops;            /* rows of its table of operations */
  Buf temporaries;    /* names of tensor temporaries, each with ", " before it */
  const char **names; /* C name of each slot */
  int *n_reads;       /* GETs of each slot */
  int *n_writes;      /* SETs and FORs of each slot */
  int *temporary;     /* number of the variable of each value, by id; 0: none yet */
  int n_temporaries, n_ranges, n_ops;
  int indent, line; /* line: the Python line that the output is at */
  bool uses_done;   /* something jumps to `done` */
  bool uses_result; /* something is returned */
} Emitter;

/* ── names ───────────────────────────────────────────────────────────────────────────────────── */

static bool is_reserved(const char *name) {
  static const char *const words[] = {
      "auto",     "break",  "case",    "char",     "const",    "continue", "default",  "do",
      "double",   "else",   "enum",    "extern",   "float",    "for",      "goto",     "if",
      "inline",   "int",    "long",    "register", "restrict", "return",   "short",    "signed",
      "sizeof",   "static", "struct",  "switch",   "typedef",  "union",    "unsigned", "void",
      "volatile", "while",  "bool",    "true",     "false",    "args",     "result",   "ok",
      "done",     "errno",  "stdin",   "stdout",   "stderr",   "main",     "asm",      "typeof",
      "linux",    "unix",   "environ", "signals",  "assert"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(name, words[i]) == 0)
      return true;
  size_t n = strlen(name);
  /* tc, t3, r3, s3 are ours; a leading underscore or a suffix _t is the system's; capitals may be
   * macros of some header. */
  return strncmp(name, "tc", 2) == 0 || strncmp(name, "Tc", 2) == 0 ||
         strncmp(name, "has_", 4) == 0 || name[0] == '_' || strncmp(name, "Py", 2) == 0 ||
         (n > 2 && strcmp(name + n - 2, "_t") == 0) ||
         (strchr("trs", name[0]) && n > 1 && strspn(name + 1, "0123456789") == n - 1) ||
         strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == n;
}

static const char *c_name(Emitter *e, const Slot *slot) {
  Arena *arena = &e->unit->arena;
  if (!*slot->name) {
    int n = 1;
    for (int i = 0; i < slot->index; i++)
      n += !*e->func->slots.items[i]->name;
    return arena_format(arena, "s%d", n);
  }
  Buf buf = {0};
  buf_add_identifier(&buf, slot->name);
  const char *base = arena_format(arena, "%s%s", buf.text, is_reserved(buf.text) ? "_" : ""),
             *name = base;
  buf_free(&buf);
  for (int n = 2, i = 0; i < slot->index; i++)
    if (e->names[i] == name) {
      name = arena_format(arena, "%s_%d", base, n++);
      i = -1;
    }
  return name;
}

static const char *name_of(const Emitter *e, const Slot *slot) { return e->names[slot->index]; }

/* ── text ────────────────────────────────────────────────────────────────────────────────────── */

static void put(Emitter *e, const char *format, ...) TC_PRINTF(2, 3);
static void put(Emitter *e, const char *format, ...) {
  for (int i = 0; i < e->indent; i++)
    buf_add(e->out, "  ");
  va_list args;
  va_start(args, format);
  buf_addv(e->out, format, args);
  va_end(args);
  buf_add(e->out, "\n");
}

const char *emit_file_name(const Unit *unit) {
  const char *slash = strrchr(unit->path, '/');
  return slash ? slash + 1 : unit->path;
}

/* A line of the source as a C comment, made harmless. */
static void put_source(Buf *out, const Unit *unit, int line) {
  enum { MOST = 100 };
  const char *at = unit->lines[line - 1], *end = unit->lines[line];
  at += strspn(at, " \t");
  while (end > at && strchr(" \t\r\n\f", end[-1]))
    end--;
  buf_add(out, "/* ");
  for (int n = 0; at < end; at++, n++) {
    if (n >= MOST && (*at & 0xC0) != 0x80) {
      buf_add(out, "…");
      break;
    }
    bool closes = at[0] == '*' && at + 1 < end && at[1] == '/',
         opens = at[0] == '/' && at + 1 < end && at[1] == '*';
    bool trigraph = at[0] == '?' && at + 1 < end && at[1] == '?';
    if ((unsigned char)*at >= 32 && *at != 127)
      buf_add_bytes(out, at, 1);
    if (closes || opens || trigraph)
      buf_add(out, " ");
  }
  buf_add(out, " */");
}

/* Says which Python line comes now. */
static void at_line(Emitter *e, int line) {
  if (line == e->line || line < 1 || line > e->unit->n_lines)
    return;
  e->line = line;
  for (int i = 0; i < e->indent; i++)
    buf_add(e->out, "  ");
  put_source(e->out, e->unit, line);
  buf_addf(e->out, "\n#line %d ", line);
  buf_add_c_string(e->out, emit_file_name(e->unit), strlen(emit_file_name(e->unit)));
  buf_add(e->out, "\n");
}

/* ── values ──────────────────────────────────────────────────────────────────────────────────── */

static const char *value_text(Emitter *e, const Ir *ir);

static const char *float_text(Emitter *e, double value) {
  if (isnan(value))
    return "NAN";
  if (isinf(value))
    return value < 0 ? "-INFINITY" : "INFINITY";
  Buf buf = {0};
  buf_add_double(&buf, value);
  const char *text =
      arena_format(&e->unit->arena, "%s%s", buf.text, strpbrk(buf.text, ".e") ? "" : ".0");
  buf_free(&buf);
  return text;
}

static const char *compare_text(Emitter *e, const Ir *ir) {
  const char *a = value_text(e, ir->args[0]), *b = value_text(e, ir->args[1]);
  const Operator *op = &operator_table[ir->operator];
  bool a_float = ir->args[0]->type.kind == TYPE_FLOAT,
       b_float = ir->args[1]->type.kind == TYPE_FLOAT;
  if (a_float == b_float)
    return arena_format(&e->unit->arena, "%s %s %s", a, op->text, b);
  /* An int against a float: exact, as Python compares them. */
  const char *call = arena_format(&e->unit->arena, "tc_compare_int_float(%s, %s)", a_float ? b : a,
                                  a_float ? a : b);
  return arena_format(&e->unit->arena, a_float ? op->float_first : op->int_first, call);
}

/* The variable of a value that has one: t1, t2, … in order of appearance. */
static const char *temporary_name(Emitter *e, const Ir *ir) {
  if (!e->temporary[ir->id])
    e->temporary[ir->id] = ++e->n_temporaries;
  return arena_format(&e->unit->arena, "t%d", e->temporary[ir->id]);
}

/* The C expression for an inline value, without outer parentheses where it is one term. */
static const char *value_text(Emitter *e, const Ir *ir) {
  Arena *arena = &e->unit->arena;
  if (!plan_is_inline(ir))
    return ir->into ? name_of(e, ir->into) : temporary_name(e, ir);
  switch (ir->op) {
  case IR_CONST:
    if (ir->type.kind == TYPE_FLOAT)
      return float_text(e, ir->number);
    if (ir->type.kind == TYPE_BOOL)
      return ir->integer ? "true" : "false";
    if (ir->integer == INT64_MIN)
      return "INT64_MIN";
    return ir->integer > INT32_MAX || ir->integer < -INT32_MAX
               ? arena_format(arena, "INT64_C(%" PRId64 ")", ir->integer)
               : arena_format(arena, "%" PRId64, ir->integer);
  case IR_ASSERTS:
    return "tc_asserts";
  case IR_GET:
    return name_of(e, ir->slot);
  case IR_COMPARE:
    return arena_format(arena, "(%s)", compare_text(e, ir));
  case IR_NOT:
    return arena_format(arena, "!%s", value_text(e, ir->args[0]));
  case IR_NEG:
    return arena_format(arena, "(-%s)", value_text(e, ir->args[0]));
  case IR_ARITH:
    return arena_format(arena, "(%s %s %s)", value_text(e, ir->args[0]),
                        operator_table[ir->operator].text, value_text(e, ir->args[1]));
  case IR_CAST: {
    const char *value = value_text(e, ir->args[0]);
    if (ir->type.kind == TYPE_BOOL)
      return arena_format(arena, "(%s != 0)", value);
    return arena_format(arena, "(%s)%s", ir->type.kind == TYPE_FLOAT ? "double" : "int64_t", value);
  }
  default:
    NEVER("inline value");
  }
}

/* A condition between parentheses that belong to its statement. */
static const char *condition_text(Emitter *e, const Ir *ir) {
  if (ir->op == IR_COMPARE && plan_is_inline(ir))
    return compare_text(e, ir);
  return value_text(e, ir);
}

static const char *scalar_type(Type type) {
  switch (type.kind) {
  case TYPE_BOOL:
    return "bool ";
  case TYPE_INT:
    return "int64_t ";
  case TYPE_FLOAT:
    return "double ";
  default:
    NEVER("scalar type");
  }
}

/* The variable that an instruction writes; a scalar temporary is declared here. */
static const char *target_of(Emitter *e, const Ir *ir) {
  if (ir->into)
    return name_of(e, ir->into);
  const char *name = temporary_name(e, ir);
  if (ir->type.kind == TYPE_TENSOR)
    buf_addf(&e->temporaries, ", %s = {0}", name);
  else
    put(e, "%s%s;", scalar_type(ir->type), name);
  return name;
}

/* A tensor operand: handed over at its last use, else borrowed. A parameter that is never assigned
 * has nothing to hand over. */
static const char *use_text(Emitter *e, const Ir *arg) {
  bool last = arg->n_uses == 1;
  if (arg->op == IR_GET && arg->alias)
    last = arg->last_use && (arg->slot->parameter < 0 || e->n_writes[arg->slot->index] > 0);
  return arena_format(&e->unit->arena, "%s(&%s)", last ? "tc_take" : "tc_get", value_text(e, arg));
}

/* ── instructions ────────────────────────────────────────────────────────────────────────────── */

static void put_try(Emitter *e, const char *step) {
  e->uses_done = true;
  put(e, "TC_TRY(%s);", step);
}

/* A row of the table of operations, and the call that names it. */
static void emit_tensor(Emitter *e, const Ir *ir) {
  Arena *arena = &e->unit->arena;
  OpId op = plan_op(ir);
  const Run *run = &run_table[e->func->lane][op];
  bool recipe = e->func->exact && *run->recipe;
  buf_addf(&e->ops, "    {%s, \"%s\", %s%s, %s, \"%s\", \"%s\", %d, %d, %s, 0.0},\n",
           class_table[op_table[op].class].runtime, op_table[ir->tensor_op].name,
           recipe ? "&tc_recipe_" : "NULL", recipe ? run->recipe : "", run->wheel, run->name,
           run->overload, ir->n_args, ir->dim, ir->keepdim ? "true" : "false");
  const char *operands = "";
  for (int i = 0; i < ir->n_args; i++)
    operands = arena_format(arena, "%s, %s", operands, use_text(e, ir->args[i]));
  const char *out = target_of(e, ir);
  put_try(e, arena_format(arena, "tc_op%d(tc, &%s, &%s_ops[%d]%s)", ir->n_args, out,
                          e->func->c_name, e->n_ops++, operands));
}

static void emit_arith(Emitter *e, const Ir *ir) {
  const Operator *op = &operator_table[ir->operator];
  const char *a = value_text(e, ir->args[0]), *b = value_text(e, ir->args[1]);
  const char *out = target_of(e, ir);
  const char *function = ir->args[0]->type.kind == TYPE_FLOAT ? op->floats : op->ints;
  if (*function)
    put_try(e, arena_format(&e->unit->arena, "%s(tc, &%s, %s, %s)", function, out, a, b));
  else
    put(e, "%s = %s %s %s;", out, a, op->text, b);
}

static void emit_get(Emitter *e, const Ir *ir) {
  const char *name = name_of(e, ir->slot);
  if (ir->checked) {
    const char *python = arena_name(&e->unit->arena, ir->slot->name);
    Buf text = {0};
    buf_add_c_string(&text, python, strlen(python));
    e->uses_done = true;
    if (ir->type.kind == TYPE_TENSOR)
      put(e, "if (!tc_is_set(&%s)) TC_TRY(tc_raise_unbound(tc, %s));", name, text.text);
    else
      put(e, "if (!has_%s) TC_TRY(tc_raise_unbound(tc, %s));", name, text.text);
    buf_free(&text);
  }
  if (ir->alias)
    return;
  const char *out = target_of(e, ir);
  if (ir->type.kind != TYPE_TENSOR)
    put(e, "%s = %s;", out, name);
  else if (ir->last_use)
    put(e, "tc_move(&%s, &%s);", out, name);
  else
    put_try(e, arena_format(&e->unit->arena, "tc_copy(tc, &%s, &%s)", out, name));
}

static void emit_set(Emitter *e, const Ir *ir) {
  const Ir *value = ir->args[0];
  const char *name = name_of(e, ir->slot);
  if (value->into != ir->slot) {
    const char *from = value_text(e, value);
    if (ir->slot->type.kind == TYPE_NONE)
      return;
    if (ir->slot->type.kind != TYPE_TENSOR)
      put(e, "%s = %s;", name,
          value->op == IR_COMPARE && plan_is_inline(value) ? compare_text(e, value) : from);
    else if (value->op == IR_GET && value->alias ? value->last_use : value->n_uses == 1)
      put(e, "tc_move(&%s, &%s);", name, from);
    else
      put_try(e, arena_format(&e->unit->arena, "tc_copy(tc, &%s, &%s)", name, from));
  }
  if (ir->slot->may_be_unbound && ir->slot->type.kind != TYPE_TENSOR)
    put(e, "has_%s = true;", name);
}

static void emit_block(Emitter *e, const Block *block);

/* `else { if … }` reads as `else if …` when nothing has to be computed before the inner condition.
 */
static const Ir *only_if(const Block *block) {
  for (int i = 0; i < block->n; i++) {
    const Ir *ir = block->items[i];
    if (i == block->n - 1 && ir->op == IR_IF)
      return ir;
    if (!plan_is_inline(ir) || ir->checked)
      return NULL;
  }
  return NULL;
}

static void emit_if(Emitter *e, const Ir *ir) {
  put(e, "if (%s) {", condition_text(e, ir->args[0]));
  for (;;) {
    e->indent++;
    emit_block(e, &ir->body);
    e->indent--;
    const Ir *inner = only_if(&ir->orelse);
    if (!inner)
      break;
    put(e, "} else if (%s) {", condition_text(e, inner->args[0]));
    ir = inner;
  }
  if (ir->orelse.n > 0) {
    put(e, "} else {");
    e->indent++;
    emit_block(e, &ir->orelse);
    e->indent--;
  }
  put(e, "}");
}

static void emit_for(Emitter *e, const Ir *ir) {
  int r = ++e->n_ranges;
  put(e, "TcRange r%d;", r);
  put_try(e, arena_format(&e->unit->arena, "tc_range(tc, &r%d, %s, %s, %s)", r,
                          value_text(e, ir->args[0]), value_text(e, ir->args[1]),
                          value_text(e, ir->args[2])));
  put(e, "while (tc_range_next(&r%d, &%s)) {", r, name_of(e, ir->slot));
  e->indent++;
  put_try(e, "tc_turn(tc)");
  if (ir->slot->may_be_unbound)
    put(e, "has_%s = true;", name_of(e, ir->slot));
  emit_block(e, &ir->body);
  e->indent--;
  put(e, "}");
}

static void emit_while(Emitter *e, const Ir *ir) {
  put(e, "for (;;) {");
  e->indent++;
  put_try(e, "tc_turn(tc)");
  emit_block(e, &ir->orelse);
  if (!(ir->args[0]->op == IR_CONST && ir->args[0]->integer))
    put(e, "if (!(%s)) break;", condition_text(e, ir->args[0]));
  emit_block(e, &ir->body);
  e->indent--;
  put(e, "}");
}

static void emit_return(Emitter *e, const Ir *ir) {
  const Ir *value = ir->args[0];
  e->uses_result = e->uses_result || value->type.kind != TYPE_NONE;
  switch (value->type.kind) {
  case TYPE_TENSOR:
    put(e, "result->tensor = tc_give(&%s);", value_text(e, value));
    break;
  case TYPE_INT:
    put(e, "result->i = %s;", value_text(e, value));
    break;
  case TYPE_FLOAT:
    put(e, "result->f = %s;", value_text(e, value));
    break;
  case TYPE_BOOL:
    put(e, "result->b = %s;", condition_text(e, value));
    break;
  default:
    break; /* None has no value */
  }
  put(e, "ok = true;");
  if (ir != e->func->body.items[e->func->body.n - 1]) {
    e->uses_done = true;
    put(e, "goto done;");
  }
}

static void emit_raise(Emitter *e, const Ir *ir) {
  Buf text = {0};
  if (ir->message) {
    buf_add_c_string(&text, ir->message, (size_t)ir->message_bytes);
    put_try(e, arena_format(&e->unit->arena, "tc_raise(tc, \"%s\", %s, %" PRId64 ")", ir->text,
                            text.text, ir->message_bytes));
  } else {
    put_try(e, arena_format(&e->unit->arena, "tc_raise(tc, \"%s\", NULL, 0)", ir->text));
  }
  buf_free(&text);
}

static void emit_print(Emitter *e, const Ir *ir) {
  Arena *arena = &e->unit->arena;
  Buf text = {0}, end = {0};
  buf_add_c_string(&end, ir->text, strlen(ir->text));
  if (ir->n_args == 0) {
    buf_add_c_string(&text, ir->message, (size_t)ir->message_bytes);
    put_try(e, arena_format(arena, "tc_print_text(tc, %s, %" PRId64 ", %s)", text.text,
                            ir->message_bytes, end.text));
  } else {
    const Ir *value = ir->args[0];
    const char *kind = value->type.kind == TYPE_BOOL  ? "bool"
                       : value->type.kind == TYPE_INT ? "int"
                                                      : "float";
    put_try(e,
            arena_format(arena, "tc_print_%s(tc, %s, %s)", kind, value_text(e, value), end.text));
  }
  buf_free(&text);
  buf_free(&end);
}

static void emit_ir(Emitter *e, const Ir *ir) {
  if (plan_is_inline(ir) && !(ir->op == IR_GET && ir->checked))
    return;
  at_line(e, ir->span.line);
  switch (ir->op) {
  case IR_GET:
    emit_get(e, ir);
    break;
  case IR_TENSOR:
    emit_tensor(e, ir);
    break;
  case IR_ARITH:
    emit_arith(e, ir);
    break;
  case IR_NEG:
    if (ir->type.kind == TYPE_INT) {
      const char *value = value_text(e, ir->args[0]);
      put_try(e, arena_format(&e->unit->arena, "tc_int_neg(tc, &%s, %s)", target_of(e, ir), value));
    } else
      put(e, "%s = -%s;", target_of(e, ir), value_text(e, ir->args[0]));
    break;
  case IR_COMPARE:
    put(e, "%s = %s;", target_of(e, ir), compare_text(e, ir));
    break;
  case IR_NOT:
    put(e, "%s = !%s;", target_of(e, ir), value_text(e, ir->args[0]));
    break;
  case IR_CAST: {
    const char *value = value_text(e, ir->args[0]);
    put(e,
        ir->type.kind == TYPE_BOOL    ? "%s = %s != 0;"
        : ir->type.kind == TYPE_FLOAT ? "%s = (double)%s;"
                                      : "%s = (int64_t)%s;",
        target_of(e, ir), value);
    break;
  }
  case IR_SET:
    emit_set(e, ir);
    break;
  case IR_IF:
    emit_if(e, ir);
    break;
  case IR_FOR:
    emit_for(e, ir);
    break;
  case IR_WHILE:
    emit_while(e, ir);
    break;
  case IR_BREAK:
    put(e, "break;");
    break;
  case IR_CONTINUE:
    put(e, "continue;");
    break;
  case IR_RETURN:
    emit_return(e, ir);
    break;
  case IR_PRINT:
    emit_print(e, ir);
    break;
  case IR_RAISE:
    emit_raise(e, ir);
    break;
  case IR_CONST:
  case IR_ASSERTS:
  case IR_INPUT:
  case IR_NODE:
  case IR_ITEM:
  case IR_RESULTS:
  case IR_COUNT:
    NEVER("instruction");
  }
}

static void emit_block(Emitter *e, const Block *block) {
  for (int i = 0; i < block->n; i++)
    emit_ir(e, block->items[i]);
}

/* ── functions ───────────────────────────────────────────────────────────────────────────────── */

static void count_slots(Emitter *e, const Block *block) {
  for (int i = 0; i < block->n; i++) {
    const Ir *ir = block->items[i];
    if (ir->slot)
      (ir->op == IR_GET ? e->n_reads : e->n_writes)[ir->slot->index]++;
    count_slots(e, &ir->body);
    count_slots(e, &ir->orelse);
  }
}

static void emit_declarations(Emitter *e, Buf *out) {
  Func *func = e->func;
  const char *fields[] = {
      [TYPE_BOOL] = "b", [TYPE_INT] = "i", [TYPE_FLOAT] = "f", [TYPE_TENSOR] = "tensor"};
  for (int i = 0; i < func->slots.n; i++) {
    const Slot *slot = func->slots.items[i];
    const char *name = e->names[i];
    if (e->n_reads[i] + e->n_writes[i] == 0 || slot->type.kind == TYPE_NONE)
      continue;
    const char *type = slot->type.kind == TYPE_TENSOR ? "TcTensor " : scalar_type(slot->type);
    if (slot->parameter >= 0)
      buf_addf(out, "  %s%s = args[%d].%s;\n", type, name, slot->parameter,
               fields[slot->type.kind]);
    else if (slot->type.kind == TYPE_TENSOR)
      buf_addf(out, "  %s%s = {0};\n", type, name);
    else
      buf_addf(out, "  %s%s = %s;\n", type, name, slot->type.kind == TYPE_BOOL ? "false" : "0");
    if (slot->type.kind != TYPE_TENSOR && slot->may_be_unbound && slot->parameter < 0)
      buf_addf(out, "  bool has_%s = false;\n", name);
    if (slot->type.kind != TYPE_TENSOR && e->n_reads[i] == 0)
      buf_addf(out, "  (void)%s;\n", name);
  }
  if (e->temporaries.length)
    buf_addf(out, "  TcTensor %s;\n", e->temporaries.text + 2);
  buf_add(out, "  bool ok = false;\n");
}

static void emit_cleanup(Emitter *e, Buf *out) {
  if (e->uses_done)
    buf_add(out, "done:\n");
  for (int i = 0; i < e->func->slots.n; i++) {
    const Slot *slot = e->func->slots.items[i];
    if (slot->type.kind == TYPE_TENSOR && e->n_writes[i] > 0)
      buf_addf(out, "  tc_drop(&%s);\n", e->names[i]);
  }
  /* The list of temporaries is ", t3 = {0}, t7 = {0}". */
  for (const char *at = e->temporaries.text; at && *at;) {
    int n = (int)strcspn(at + 2, " ");
    buf_addf(out, "  tc_drop(&%.*s);\n", n, at + 2);
    at += 2 + n + strlen(" = {0}");
  }
}

static bool reads_params(const Emitter *e) {
  for (int i = 0; i < e->func->slots.n; i++)
    if (e->func->slots.items[i]->parameter >= 0 && e->n_reads[i] + e->n_writes[i] > 0)
      return true;
  return false;
}

void emit_func(Buf *out, Unit *unit, Func *func) {
  Buf body = {0};
  int n = func->slots.n + 1;
  Emitter e = {.unit = unit, .func = func, .out = &body, .indent = 1};
  e.names = ARENA_ARRAY(&unit->arena, const char *, n);
  e.n_reads = ARENA_ARRAY(&unit->arena, int, n);
  e.n_writes = ARENA_ARRAY(&unit->arena, int, n);
  e.temporary = ARENA_ARRAY(&unit->arena, int, func->n_ir + 1);
  for (int i = 0; i < func->slots.n; i++)
    e.names[i] = c_name(&e, func->slots.items[i]);
  count_slots(&e, &func->body);
  emit_block(&e, &func->body);

  if (e.n_ops > 0)
    buf_addf(out, "static const TcOp %s_ops[] = {\n%s};\n", func->c_name, e.ops.text);
  put_source(out, unit, func->def->span.line);
  buf_addf(out, "\nstatic bool %s_body(TcCall *tc, const TcValue *args, TcValue *result)\n{\n",
           func->c_name);
  if (!e.uses_done)
    buf_add(out, "  (void)tc;\n");
  if (!reads_params(&e))
    buf_add(out, "  (void)args;\n");
  if (!e.uses_result)
    buf_add(out, "  (void)result;\n");
  emit_declarations(&e, out);
  buf_add(out, "\n");
  buf_add(out, body.text ? body.text : "");
  emit_cleanup(&e, out);
  buf_add(out, "  return ok;\n}\n");
  buf_free(&body);
  buf_free(&e.temporaries);
  buf_free(&e.ops);
  func->n_ops = e.n_ops;
}
