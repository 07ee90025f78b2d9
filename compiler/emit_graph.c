/* emit_graph.c: a graph's plan → the C file of its extension module.
 *
 * Reads IR with its layout and prints it; decides nothing. A graph becomes tables (how each value
 * lies, which of Python's functions are called with what, what is returned) and one C function, in
 * which a value is known by its number: that of its instruction.
 */
#include "tensorc.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static void emit_numbers(Buf *out, const int64_t *numbers, int n) {
  buf_add(out, "{");
  for (int i = 0; i < n; i++)
    buf_addf(out, i ? ", %lld" : "%lld", (long long)numbers[i]);
  buf_add(out, n ? "}" : "0}");
}

static const char *dtype_constant(DType dtype) {
  static const char *const names[DTYPE_COUNT] = {
#define DTYPE(id, ...) "TC_" #id,
#include "../runtime/dtypes.def"
  };
  return names[dtype];
}

/* How each value lies; of several results, or what only a call tells, no more than that. */
static void emit_specs(Buf *out, const Func *func) {
  buf_addf(out, "\nstatic const TcSpec specs[] = {\n");
  for (int i = 0; i < func->body.n; i++) {
    const Ir *ir = func->body.items[i];
    if (!ir_is_value(ir))
      continue;
    if (ir->type.kind == TYPE_TENSOR) {
      buf_addf(out, "    {%s, %d, ", dtype_constant(ir->type.dtype), ir->type.rank);
      emit_numbers(out, ir->type.shape->sizes, ir->type.rank);
      buf_add(out, ", ");
      emit_numbers(out, ir->type.shape->strides, ir->type.rank);
      buf_addf(out, "}, /* %s */\n", ir->name);
    } else {
      buf_addf(out, "    {.rank = %s}, /* %s */\n",
               ir->type.kind == TYPE_OBJECT ? "TC_OBJECT" : "TC_SEVERAL", ir->name);
    }
  }
  buf_add(out, "};\n");
}

/* ── calls of Python's functions ─────────────────────────────────────────────────────────────── */

static bool holds_value(const Attr *attr) {
  bool holds = attr->kind == ATTR_VALUE;
  for (int i = 0; !holds && attr->kind == ATTR_LIST && i < attr->n_items; i++)
    holds = holds_value(&attr->items[i]);
  return holds;
}

/* An argument: a value, the next of the call's constants, or a list of arguments. */
static void emit_argument(Buf *out, const Ir *ir, const Attr *attr) {
  if (!holds_value(attr)) {
    buf_add(out, "TC_CONSTANT");
  } else if (attr->kind == ATTR_VALUE) {
    buf_addf(out, "%d", ir->args[attr->operand]->id);
  } else {
    buf_addf(out, "TC_LIST(%d)", attr->n_items);
    for (int i = 0; i < attr->n_items; i++) {
      buf_add(out, ", ");
      emit_argument(out, ir, &attr->items[i]);
    }
  }
}

static void emit_call(Buf *out, const Ir *ir) {
  int n_keywords = 0;
  buf_addf(out, "    {.name = \"%s\", .result = %d, .args = (const int[]){", ir->name, ir->id);
  for (int i = 0; i < ir->n_attrs; i++) {
    if (i)
      buf_add(out, ", ");
    emit_argument(out, ir, &ir->attrs[i]);
    n_keywords += ir->attrs[i].keyword != NULL;
  }
  buf_addf(out, "%s}, .n_positional = %d", ir->n_attrs ? "" : "0", ir->n_attrs - n_keywords);
  if (n_keywords) {
    buf_addf(out, ", .n_keywords = %d,\n     .keywords = (const char *const[]){", n_keywords);
    for (int i = ir->n_attrs - n_keywords; i < ir->n_attrs; i++)
      buf_addf(out, "\"%s\"%s", ir->attrs[i].keyword, i + 1 < ir->n_attrs ? ", " : "}");
  }
  buf_addf(out, "%s},\n", ir->has_effect ? ", .has_effect = true" : "");
}

static int emit_calls(Buf *out, const Func *func) {
  int n = 0;
  for (int i = 0; i < func->body.n; i++) {
    if (func->body.items[i]->home->call < 0)
      continue;
    if (n++ == 0)
      buf_add(out, "\nstatic const TcGraphCall calls[] = {\n");
    emit_call(out, func->body.items[i]);
  }
  if (n)
    buf_add(out, "};\n");
  return n;
}

/* ── recipes ─────────────────────────────────────────────────────────────────────────────────── */

static void emit_recipes(Buf *out, const Func *func) {
  bool used[OP_COUNT] = {false};
  for (int i = 0; i < func->body.n; i++)
    if (func->body.items[i]->home->way == WAY_RECIPE)
      used[func->body.items[i]->home->op] = true;
  buf_add(out, "\n");
  for (int i = 0; i < OP_COUNT; i++)
    if (used[i])
      buf_addf(out, "extern const TcRecipe tc_recipe_%s;\n", run_table[LANE_TORCH][i].recipe);
  buf_add(out, "static const TcOp ops[] = {\n");
  for (int i = 0; i < func->body.n; i++) {
    const Ir *ir = func->body.items[i];
    const Home *home = ir->home;
    if (home->way != WAY_RECIPE)
      continue;
    const Run *run = &run_table[LANE_TORCH][home->op];
    buf_addf(out, "    {%s, \"%s\", &tc_recipe_%s, %s, \"%s\", \"%s\", %d, %d, false, ",
             class_table[op_table[home->op].class].runtime, op_table[home->op].name, run->recipe,
             run->wheel, run->name, run->overload, ir->n_args - home->n_copies,
             home->first ? 0 : 1);
    buf_add_double(out, home->number);
    buf_addf(out, "}, /* %s */\n", ir->name);
  }
  buf_add(out, "};\n");
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

static void emit_result(Buf *out, const Ir *ir, const Attr *attr) {
  switch (attr->kind) {
  case ATTR_VALUE:
    buf_addf(out, "{.kind = TC_TENSOR, .value = %d}", ir->args[attr->operand]->id);
    break;
  case ATTR_BOOL:
    buf_addf(out, "{.kind = TC_BOOL, .i = %lld}", (long long)attr->integer);
    break;
  case ATTR_INT:
    buf_addf(out,
             attr->integer == INT64_MIN ? "{.kind = TC_INT, .i = INT64_MIN}"
                                        : "{.kind = TC_INT, .i = %lld}",
             (long long)attr->integer);
    break;
  case ATTR_FLOAT:
    buf_add(out, "{.kind = TC_FLOAT, .f = ");
    if (isfinite(attr->number))
      buf_add_double(out, attr->number);
    else
      buf_add(out, isnan(attr->number) ? "NAN" : attr->number < 0 ? "-INFINITY" : "INFINITY");
    buf_add(out, "}");
    break;
  case ATTR_TEXT:
    buf_add(out, "{.kind = TC_NONE, .text = ");
    buf_add_c_string(out, attr->text, strlen(attr->text));
    buf_add(out, "}");
    break;
  case ATTR_NONE:
    buf_add(out, "{.kind = TC_NONE}");
    break;
  case ATTR_WORD:
  case ATTR_LIST:
    NEVER("a result that graph.c lets through");
  }
}

/* ── the body ────────────────────────────────────────────────────────────────────────────────── */

typedef struct Emitter {
  Buf *out;
  const Func *func;
  bool *is_read;  /* by id: the body reads this value's memory itself */
  Ir ***operands; /* by id, of loops */
  int *n_operands;
} Emitter;

/* The memory of a value: of its root, and from where on. */
static void put_memory(Emitter *e, const Ir *ir) {
  const Home *home = ir->home;
  buf_addf(e->out, "v%d", home->root->id);
  if (home->offset)
    buf_addf(e->out, " + %lld", (long long)home->offset);
}

static void put_checked(Emitter *e, const Ir *ir, const char *format, ...) TC_PRINTF(3, 4);
static void put_checked(Emitter *e, const Ir *ir, const char *format, ...) {
  buf_addf(e->out, "  const %s *v%d = ", dtype_table[ir->type.dtype].c_type, ir->id);
  va_list args;
  va_start(args, format);
  buf_addv(e->out, format, args);
  va_end(args);
  buf_addf(e->out, ";\n  if (!v%d)\n    return false;\n", ir->id);
}

/* Memory for what a loop or a recipe computes. */
static void put_place(Emitter *e, const Ir *ir) {
  const char *type = dtype_table[ir->type.dtype].c_type;
  if (ir->home->memory == MEMORY_TENSOR)
    buf_addf(e->out, "  %s *v%d = tc_graph_tensor(f, %d);\n  if (!v%d)\n    return false;\n", type,
             ir->id, ir->id, ir->id);
  else
    buf_addf(e->out, "  %s *v%d = (%s *)(void *)(arena + %lld);\n", type, ir->id, type,
             (long long)ir->home->arena);
}

static void put_loop(Emitter *e, const Ir *ir) {
  put_place(e, ir);
  buf_addf(e->out, "  loop_%d(", ir->id);
  if (loop_is_placed(ir))
    buf_add(e->out, "tc_graph_lanes(f), ");
  buf_addf(e->out, "v%d", ir->id);
  for (int i = 0; i < e->n_operands[ir->id]; i++) {
    buf_add(e->out, ", ");
    put_memory(e, e->operands[ir->id][i]);
  }
  buf_add(e->out, ");\n");
}

/* The end of a condition: where what stands before it did not run, torch's own function does. */
static void put_wheel(Emitter *e, const Ir *ir) {
  buf_addf(e->out, " &&\n      !tc_graph_wheel(f, %d, (const void *const[]){", ir->home->call);
  for (int i = 0; i < ir->n_args - ir->home->n_copies; i++) {
    buf_add(e->out, i ? ", " : "");
    put_memory(e, ir->args[i]);
  }
  buf_addf(e->out, "}, v%d))\n    return false;\n", ir->id);
}

/* The memory of a part, or none where nothing reads it. */
static void put_part(Emitter *e, const Ir *part) {
  if (part)
    buf_addf(e->out, "v%d", part->id);
  else
    buf_add(e->out, "NULL");
}

/* Values and indices, or one of both. */
static void put_pick(Emitter *e, const Ir *ir) {
  const Home *home = ir->home;
  Ir *parts[2] = {NULL, NULL};
  bool two = ir->type.kind == TYPE_TUPLE;
  if (two)
    layout_parts(&e->func->body, ir, parts);
  for (int i = 0; i < 2; i++)
    if (parts[i])
      put_place(e, parts[i]);
  if (!two)
    put_place(e, ir);
  buf_addf(e->out, "  if (!tc_graph_pick(f, %d, ", home->recipe);
  put_memory(e, home->copies[0] ? home->copies[0] : ir->args[0]);
  buf_add(e->out, ", ");
  put_part(e, parts[0]);
  buf_add(e->out, ", ");
  put_part(e, two ? parts[1] : ir);
  buf_addf(e->out, ", %lld, %lld, %lld, %s)", (long long)home->outer, (long long)home->rows,
           (long long)home->cols, home->sorted ? "true" : "false");
  if (!two) {
    put_wheel(e, ir);
    return;
  }
  buf_addf(e->out, " &&\n      !tc_graph_wheel_two(f, %d, (const void *const[]){", home->call);
  put_memory(e, ir->args[0]);
  buf_addf(e->out, "}, (const int[]){%d, %d}, (void *const[]){", parts[0] ? parts[0]->id : -1,
           parts[1] ? parts[1]->id : -1);
  put_part(e, parts[0]);
  buf_add(e->out, ", ");
  put_part(e, parts[1]);
  buf_add(e->out, "}))\n    return false;\n");
}

/* An optional operand: argument i of the schema. */
static void put_optional(Emitter *e, const Ir *ir, int i) {
  if (i < ir->n_attrs && ir->attrs[i].kind == ATTR_VALUE)
    put_memory(e, ir->args[ir->attrs[i].operand]);
  else
    buf_add(e->out, "NULL");
  buf_add(e->out, ", ");
}

static void put_apart(Emitter *e, const int64_t apart[3]) {
  buf_add(e->out, "(const int64_t[])");
  emit_numbers(e->out, apart, 3);
  buf_add(e->out, ", ");
}

static void put_bmm(Emitter *e, const Ir *ir) {
  const Product *p = ir->home->product;
  buf_addf(e->out, "  if (!tc_graph_bmm(f, %d, ", ir->home->recipe);
  put_memory(e, p->x_of);
  buf_add(e->out, ", ");
  put_apart(e, p->x);
  put_memory(e, p->w_of);
  buf_add(e->out, ", ");
  put_apart(e, p->w);
  buf_addf(e->out, "v%d, %lld, %lld, %lld, %lld)", ir->id, (long long)p->batch, (long long)p->m,
           (long long)p->k, (long long)p->n);
}

/* A recipe, and where it does not run here or now, torch's own function. */
static void put_recipe(Emitter *e, const Ir *ir) {
  const Home *home = ir->home;
  const Ir *x_of = home->copies[0] ? home->copies[0] : ir->args[0];
  Type x = x_of->type;
  if (op_table[home->op].class == CLASS_PICK) {
    put_pick(e, ir);
    return;
  }
  put_place(e, ir);
  switch (op_table[home->op].class) {
  case CLASS_MAP1:
    buf_addf(e->out, "  if (!tc_graph_map1%s(f, %d, ", home->rows ? "_runs" : "", home->recipe);
    put_memory(e, x_of);
    if (home->rows)
      buf_addf(e->out, ", v%d, %lld, %lld)", ir->id, (long long)home->rows, (long long)home->cols);
    else
      buf_addf(e->out, ", v%d, %lld, %s)", ir->id, (long long)type_elements(x),
               view_is_contiguous(x) ? "true" : "false");
    break;
  case CLASS_BMM:
    put_bmm(e, ir);
    break;
  case CLASS_LINEAR:
  case CLASS_MV:
  case CLASS_MATMUL: {
    bool mv = home->op == OP_mv, shifted = home->bias_first;
    const Ir *bias = shifted ? ir->args[0] : ir->n_args > 2 ? ir->args[2] : NULL;
    x_of = ir->args[shifted];
    x = x_of->type;
    int64_t k = x.shape->sizes[x.rank - 1];
    int64_t n = mv ? 1 : ir->type.shape->sizes[ir->type.rank - 1];
    buf_addf(e->out, "  if (!tc_graph_product(f, %d, ", home->recipe);
    put_memory(e, x_of);
    buf_add(e->out, ", ");
    put_memory(e, ir->args[1 + shifted]);
    buf_add(e->out, ", ");
    if (bias)
      put_memory(e, bias);
    else
      buf_add(e->out, "NULL");
    buf_addf(e->out, ", v%d, %lld, %lld, %lld, %lld)", ir->id,
             (long long)(k ? type_elements(x) / k : 0), (long long)k, (long long)n,
             view_is_contiguous(x) ? 0LL : (long long)x.shape->strides[0]);
    break;
  }
  case CLASS_NORM: {
    bool given = home->op == OP_batch_norm;
    buf_addf(e->out, "  if (!tc_graph_norm(f, %d, ", home->recipe);
    put_memory(e, x_of);
    buf_add(e->out, ", ");
    put_optional(e, ir, given ? 1 : 2);
    put_optional(e, ir, given ? 2 : home->op == OP_layer_norm ? 3 : INT_MAX);
    put_optional(e, ir, given ? 3 : INT_MAX);
    put_optional(e, ir, given ? 4 : INT_MAX);
    buf_addf(e->out, "v%d, %lld, %lld, %lld)", ir->id, (long long)home->rows, (long long)home->cols,
             (long long)home->inner);
    break;
  }
  case CLASS_CONV: {
    Window window;
    Type w = ir->args[1]->type;
    if (!window_find(ir, POOL_NONE, &window))
      NEVER("a convolution that was one");
    long long channels = w.shape->sizes[1];
    buf_addf(e->out, "  if (!tc_graph_conv(f, %d, ", home->recipe);
    put_memory(e, ir->args[0]);
    buf_add(e->out, ", ");
    put_memory(e, ir->args[1]);
    buf_add(e->out, ", ");
    put_optional(e, ir, 2);
    buf_addf(e->out,
             "v%d, (const int64_t[]){%lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld})",
             ir->id, x.rank == 3 ? (long long)x.shape->sizes[0] : 1LL, channels,
             (long long)window.size[1], (long long)w.shape->sizes[0], (long long)window.width[1],
             (long long)window.out[1], (long long)window.stride[1], (long long)window.dilation[1],
             (long long)window.padding[1]);
    break;
  }
  default:
    buf_addf(e->out, "  if (!tc_graph_along(f, %d, ", home->recipe);
    put_memory(e, x_of);
    buf_addf(e->out, ", v%d, %lld, %lld, %lld)", ir->id, (long long)home->outer,
             (long long)home->rows, (long long)home->cols);
  }
  put_wheel(e, ir);
}

/* Elements picked by indices; torch's own function says what is wrong with one out of range. */
static void put_gather(Emitter *e, const Ir *ir) {
  Gather gather;
  put_place(e, ir);
  if (!gather_find(ir, ir->home->row->gather, &gather))
    NEVER("a gather that was one");
  buf_addf(e->out, "  if (!loop_%d(v%d, ", ir->id, ir->id);
  put_memory(e, ir->args[0]);
  for (int i = 0; i < gather.n_indices; i++) {
    buf_add(e->out, ", ");
    put_memory(e, gather.indices[i].operand);
  }
  buf_add(e->out, ")");
  put_wheel(e, ir);
}

static void put_instruction(Emitter *e, const Ir *ir) {
  const Home *home = ir->home;
  bool tensor = ir->type.kind == TYPE_TENSOR, read = tensor && e->is_read[ir->id];
  if (ir->op == IR_NODE || ir->op == IR_ITEM)
    if (home->way != WAY_LOOP || home->into == ir)
      buf_addf(e->out, "  /* %s = %s */\n", ir->name, ir->op == IR_NODE ? ir->schema : "getitem");
  switch (home->way) {
  case WAY_INPUT:
    if (read)
      buf_addf(e->out, "  const %s *v%d = v[%d].data;\n", dtype_table[ir->type.dtype].c_type,
               ir->id, ir->id);
    break;
  case WAY_WHEEL:
    if (ir->op == IR_NODE)
      buf_addf(e->out, "  if (!tc_graph_call(f, %d))\n    return false;\n", home->call);
    else if (ir->op == IR_ITEM)
      buf_addf(e->out, "  if (!tc_graph_item(f, %d, %d, %lld))\n    return false;\n", ir->id,
               ir->args[0]->id, (long long)ir->integer);
    if (read)
      put_checked(e, ir, "tc_graph_data(f, %d)", ir->id);
    break;
  case WAY_ONCE:
    if (read)
      put_checked(e, ir, "tc_graph_once(f, %d, %d)", home->once, home->call);
    break;
  case WAY_VIEW:
    if (tensor && home->is_object)
      buf_addf(e->out, "  if (!tc_graph_view(f, %d, %d, %lld))\n    return false;\n", ir->id,
               home->root->id, (long long)home->offset);
    break;
  case WAY_LOOP:
    if (home->into == ir)
      put_loop(e, ir);
    break;
  case WAY_GATHER:
    put_gather(e, ir);
    break;
  case WAY_RECIPE:
    put_recipe(e, ir);
    break;
  case WAY_PART:
    break;
  case WAY_COUNT:
    NEVER("a way");
  }
}

/* Which memory the body reads itself: roots of what loops and recipes take. */
static void find_reads(Emitter *e) {
  for (int i = 0; i < e->func->body.n; i++) {
    const Ir *ir = e->func->body.items[i];
    if (ir->home->way == WAY_RECIPE || ir->home->way == WAY_GATHER)
      for (int k = 0; k < ir->n_args; k++)
        e->is_read[ir->args[k]->home->root->id] = true;
    if (ir->home->way == WAY_LOOP && ir->home->into == ir)
      for (int k = 0; k < e->n_operands[ir->id]; k++)
        e->is_read[e->operands[ir->id][k]->home->root->id] = true;
  }
}

static void emit_body(Buf *out, Unit *unit, const Func *func) {
  int n = func->n_ir + 1;
  Emitter e = {out, func, ARENA_ARRAY(&unit->arena, bool, n), ARENA_ARRAY(&unit->arena, Ir **, n),
               ARENA_ARRAY(&unit->arena, int, n)};
  for (int i = 0; i < func->body.n; i++) {
    Ir *ir = func->body.items[i];
    if (ir->home->way == WAY_GATHER)
      emit_gather(out, ir);
    if (ir->home->way == WAY_LOOP && ir->home->into == ir)
      emit_loop(out, &unit->arena, ir, &e.operands[ir->id], &e.n_operands[ir->id]);
  }
  find_reads(&e);
  buf_add(out, "\nTC_INLINE bool run(TcFrame *f, const TcGraphValue *v, char *arena)\n{\n"
               "  (void)f;\n  (void)v;\n  (void)arena;\n");
  for (int i = 0; i < func->body.n; i++)
    put_instruction(&e, func->body.items[i]);
  buf_add(out, "  return true;\n}\nTC_GRAPH_BODIES(run)\n");
}

/* ── the whole ───────────────────────────────────────────────────────────────────────────────── */

void emit_graph(Buf *out, Unit *unit, const Func *func, const char *extension) {
  buf_addf(out,
           "/* %s: a captured graph.\n * Written by tensorc from the graph's text. */\n"
           "#include \"tensorc_rt.h\"\n#include \"tensorc_point.h\"\n\nTC_EXPECT_RT(%d);\n",
           extension, RT_VERSION);
  int n_inputs = 0, n_constants = 0, n_values = 0;
  const Ir *results = func->body.items[func->body.n - 1];
  for (int i = 0; i < func->body.n; i++) {
    const Ir *ir = func->body.items[i];
    n_values += ir_is_value(ir);
    n_inputs += ir->op == IR_INPUT && ir->input == INPUT_ARGUMENT;
    n_constants += ir->op == IR_INPUT && ir->input != INPUT_ARGUMENT;
  }
  if (n_values)
    emit_specs(out, func);
  int n_calls = emit_calls(out, func);
  if (func->n_ops)
    emit_recipes(out, func);
  if (results->n_attrs) {
    buf_add(out, "\nstatic const TcGraphResult results[] = {\n");
    for (int i = 0; i < results->n_attrs; i++) {
      buf_add(out, "    ");
      emit_result(out, results, &results->attrs[i]);
      buf_add(out, ",\n");
    }
    buf_add(out, "};\n");
  }
  emit_body(out, unit, func);
  buf_add(out, "\nstatic const TcGraph graph = {\n    .name = ");
  buf_add_c_string(out, extension, strlen(extension));
  buf_addf(out,
           ", .bodies = TC_BODIES, .arena_bytes = %lld,\n"
           "    .n_inputs = %d, .n_constants = %d, .n_values = %d, .n_once = %d",
           (long long)func->arena_bytes, n_inputs, n_constants, n_values, func->n_once);
  if (n_values)
    buf_add(out, ", .specs = specs");
  if (n_calls)
    buf_addf(out, ",\n    .calls = calls, .n_calls = %d", n_calls);
  if (func->n_ops)
    buf_addf(out, ",\n    .ops = ops, .n_ops = %d", func->n_ops);
  if (results->n_attrs)
    buf_addf(out, ",\n    .results = results, .n_results = %d", results->n_attrs);
  buf_addf(out, ",\n    .digest = \"%016llx\"};\nTC_GRAPH_MODULE(%s, &graph)\n",
           (unsigned long long)emit_digest(out->text), extension);
}
