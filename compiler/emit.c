/* emit.c: the C file of an extension module.
 *
 * Reads the functions of a unit that were accepted. Prints each (emit_func.c), then what the
 * runtime has to know of them: parameters, bodies, operations, settings.
 */
#include "tensorc.h"

#include <stdio.h>
#include <string.h>

/* The tensor operations that a block uses. */
static void find_ops(const Block *block, bool *used) {
  for (int i = 0; i < block->n; i++) {
    const Ir *ir = block->items[i];
    if (ir->op == IR_TENSOR)
      used[plan_op(ir)] = true;
    find_ops(&ir->body, used);
    find_ops(&ir->orelse, used);
  }
}

static void emit_type(Buf *out, Type type) {
  switch (type.kind) {
  case TYPE_TENSOR:
    buf_addf(out, "{TC_TENSOR, %s, %s, %d}", type.dtype == DTYPE_F32 ? "TC_F32" : "TC_I64",
             type.device == DEVICE_CPU ? "TC_CPU" : "TC_CUDA", type.rank);
    break;
  case TYPE_BOOL:
    buf_add(out, "{.kind = TC_BOOL}");
    break;
  case TYPE_INT:
    buf_add(out, "{.kind = TC_INT}");
    break;
  case TYPE_FLOAT:
    buf_add(out, "{.kind = TC_FLOAT}");
    break;
  case TYPE_NONE:
    buf_add(out, "{.kind = TC_NONE}");
    break;
  default:
    NEVER("type");
  }
}

static void emit_string(Buf *out, const char *text) { buf_add_c_string(out, text, strlen(text)); }

static bool prints(const Block *block) {
  for (int i = 0; i < block->n; i++) {
    const Ir *ir = block->items[i];
    if (ir->op == IR_PRINT || prints(&ir->body) || prints(&ir->orelse))
      return true;
  }
  return false;
}

/* The description of one function for the runtime. */
static void emit_descriptor(Buf *out, const Func *func) {
  static const char *const passing[] = {"TC_POSITIONAL_ONLY", "TC_POSITIONAL_OR_KEYWORD",
                                        "TC_KEYWORD_ONLY"};
  if (func->n_params > 0) {
    buf_addf(out, "\nstatic const TcParam %s_params[] = {\n", func->c_name);
    for (int i = 0; i < func->n_params; i++) {
      buf_add(out, "    {.name = ");
      emit_string(out, func->params[i].name);
      buf_add(out, ", .type = ");
      emit_type(out, func->params[i].fact.type);
      buf_addf(out, ", .passing = %s%s},\n", passing[func->params[i].kind],
               func->params[i].rows ? ", .rows = true" : "");
    }
    buf_add(out, "};\n");
  }
  int first_line =
      func->def->list2.n > 0 ? func->def->list2.items[0]->span.line : func->def->span.line;
  buf_addf(out, "static const TcFunc %s_func = {\n    .name = ", func->c_name);
  emit_string(out, func->name);
  buf_add(out, ", .qualname = ");
  emit_string(out, func->qualname);
  static const char *const lanes[] = {"TC_LANE_NONE", "TC_LANE_TORCH", "TC_LANE_TENSORFLOW"};
  buf_addf(out, ", .first_line = %d, .lane = %s,\n", first_line, lanes[func->lane]);
  if (func->n_params > 0)
    buf_addf(out, "    .params = %s_params, .n_params = %d,\n", func->c_name, func->n_params);
  buf_add(out, "    .result = ");
  emit_type(out, func->result.type);
  buf_addf(out, ",\n    .body = %s_body", func->c_name);
  if (func->n_ops > 0)
    buf_addf(out, ", .ops = %s_ops, .n_ops = %d", func->c_name, func->n_ops);
  if (prints(&func->body))
    buf_add(out, ", .prints = true");
  if (func->splits)
    buf_add(out, ", .splits = true");
  buf_add(out, "};\n");
}

static const char *on_text(const char *setting) {
  if (setting && strcmp(setting, "detach") == 0)
    return "TC_ON_DETACH";
  return setting && strcmp(setting, "error") == 0 ? "TC_ON_ERROR" : "TC_ON_PYTHON";
}

static int count_newlines(const char *text) {
  int n = 0;
  for (; text && *text; text++)
    n += *text == '\n';
  return n;
}

uint64_t emit_digest(const char *text) { /* FNV-1a */
  uint64_t digest = 14695981039346656037u;
  for (; text && *text; text++)
    digest = (digest ^ (unsigned char)*text) * 1099511628211u;
  return digest;
}

/* A C identifier for `name`, unique among the functions of the unit. */
static const char *c_name_of(Unit *unit, const char *name) {
  Buf buf = {0};
  buf_add_identifier(&buf, name);
  const char *base = arena_name(&unit->arena, buf.text), *unique = base;
  buf_free(&buf);
  for (int n = 2, i = 0; i < unit->funcs.n; i++)
    if (unit->funcs.items[i]->c_name == unique) {
      unique = arena_format(&unit->arena, "%s_%d", base, n++);
      i = -1;
    }
  return unique;
}

void emit_names(Unit *unit) {
  for (int i = 0; i < unit->funcs.n; i++)
    if (!unit->funcs.items[i]->c_name)
      unit->funcs.items[i]->c_name = c_name_of(unit, unit->funcs.items[i]->name);
}

void emit_unit(Buf *out, Unit *unit, const char *extension) {
  emit_names(unit);
  buf_addf(out, "/* %s: the compiled functions of ", extension);
  buf_add(out, emit_file_name(unit));
  buf_addf(out, ".\n * Written by tensorc from the Python source, which is the place to change "
                "them. */\n#include \"tensorc_rt.h\"\n\n");
  buf_addf(out, "TC_EXPECT_RT(%d);\n", RT_VERSION);
  bool used[LANE_COUNT][OP_COUNT] = {{false}};
  for (int i = 0; i < unit->funcs.n; i++)
    if (unit->funcs.items[i]->status == STATUS_ACCEPTED && unit->funcs.items[i]->exact)
      find_ops(&unit->funcs.items[i]->body, used[unit->funcs.items[i]->lane]);
  for (int lane = 0; lane < LANE_COUNT; lane++)
    for (int i = 0; i < OP_COUNT; i++)
      if (used[lane][i] && *run_table[lane][i].recipe)
        buf_addf(out, "extern const TcRecipe tc_recipe_%s;\n", run_table[lane][i].recipe);
  int n_funcs = 0;
  for (int i = 0; i < unit->funcs.n; i++) {
    if (unit->funcs.items[i]->status != STATUS_ACCEPTED)
      continue;
    buf_add(out, "\n");
    emit_func(out, unit, unit->funcs.items[i]);
    buf_addf(out, "#line %d \"%s.c\"\n", count_newlines(out->text) + 2, extension);
    n_funcs++;
  }
  for (int i = 0; i < unit->funcs.n; i++)
    if (unit->funcs.items[i]->status == STATUS_ACCEPTED)
      emit_descriptor(out, unit->funcs.items[i]);
  buf_add(out, "\nstatic const TcFunc *const functions[] = {");
  for (int i = 0, n = 0; i < unit->funcs.n; i++)
    if (unit->funcs.items[i]->status == STATUS_ACCEPTED)
      buf_addf(out, "%s&%s_func", n++ ? ", " : "", unit->funcs.items[i]->c_name);
  buf_add(out, "};\nstatic const TcModuleInfo module_info = {\n    .name = ");
  emit_string(out, extension);
  buf_addf(out, ", .funcs = functions, .n_funcs = %d,\n    .gradients = %s, .on_mismatch = %s",
           n_funcs, on_text(unit->options.gradients), on_text(unit->options.on_mismatch));
  buf_addf(out, ",\n    .digest = \"%016llx\"};\nTC_MODULE(%s, &module_info)\n",
           (unsigned long long)emit_digest(out->text), extension);
}
