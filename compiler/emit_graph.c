/* emit_graph.c: a graph's plan → the C file of its extension module.
 *
 * Reads IR with its layout and prints it; decides nothing. A graph becomes tables (how each value
 * lies, which of Python's functions are called with what, what is returned) and one C function, in
 * which a value is known by its number: that of its instruction.
 */
#include "tensorc.h"

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

/* How each value lies; of several results only that they are several. */
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
      buf_addf(out, "    {.rank = TC_SEVERAL}, /* %s */\n", ir->name);
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
  buf_add(out, "},\n");
}

static int emit_calls(Buf *out, const Func *func) {
  int n = 0;
  for (int i = 0; i < func->body.n; i++) {
    if (func->body.items[i]->op != IR_NODE)
      continue;
    if (n++ == 0)
      buf_add(out, "\nstatic const TcGraphCall calls[] = {\n");
    emit_call(out, func->body.items[i]);
  }
  if (n)
    buf_add(out, "};\n");
  return n;
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

/* ── the whole ───────────────────────────────────────────────────────────────────────────────── */

static void emit_body(Buf *out, const Func *func) {
  buf_add(out, "\nstatic bool body(TcFrame *f)\n{\n  (void)f;\n");
  for (int i = 0; i < func->body.n; i++) {
    const Ir *ir = func->body.items[i];
    if (ir->op == IR_NODE)
      buf_addf(out, "  /* %s = %s */\n  if (!tc_graph_call(f, %d))\n    return false;\n", ir->name,
               ir->schema, ir->home->call);
    else if (ir->op == IR_ITEM)
      buf_addf(out, "  /* %s */\n  if (!tc_graph_item(f, %d, %d, %lld))\n    return false;\n",
               ir->name, ir->id, ir->args[0]->id, (long long)ir->integer);
  }
  buf_add(out, "  return true;\n}\n");
}

void emit_graph(Buf *out, const Unit *unit, const Func *func, const char *extension) {
  (void)unit;
  buf_addf(out,
           "/* %s: a captured graph.\n * Written by tensorc from the graph's text. */\n"
           "#include \"tensorc_rt.h\"\n\nTC_EXPECT_RT(%d);\n",
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
  if (results->n_attrs) {
    buf_add(out, "\nstatic const TcGraphResult results[] = {\n");
    for (int i = 0; i < results->n_attrs; i++) {
      buf_add(out, "    ");
      emit_result(out, results, &results->attrs[i]);
      buf_add(out, ",\n");
    }
    buf_add(out, "};\n");
  }
  emit_body(out, func);
  buf_add(out, "\nstatic const TcGraph graph = {\n    .name = ");
  buf_add_c_string(out, extension, strlen(extension));
  buf_addf(out, ", .body = body,\n    .n_inputs = %d, .n_constants = %d, .n_values = %d", n_inputs,
           n_constants, n_values);
  if (n_values)
    buf_add(out, ", .specs = specs");
  if (n_calls)
    buf_addf(out, ",\n    .calls = calls, .n_calls = %d", n_calls);
  if (results->n_attrs)
    buf_addf(out, ",\n    .results = results, .n_results = %d", results->n_attrs);
  buf_addf(out, ",\n    .digest = \"%016llx\"};\nTC_GRAPH_MODULE(%s, &graph)\n",
           (unsigned long long)emit_digest(out->text), extension);
}
