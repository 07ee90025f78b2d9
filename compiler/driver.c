/* driver.c: the sequence of passes over one source file, and over one graph. */
#include "tensorc.h"

#include <stdlib.h>
#include <string.h>

Unit *driver_new(const char *path, const char *module, const Options *options) {
  Unit *unit = calloc(1, sizeof *unit);
  if (!unit)
    NEVER("out of memory");
  arena_init(&unit->arena);
  unit->path = arena_name(&unit->arena, path);
  unit->module = arena_name(&unit->arena, module);
  unit->options.marked_only = options->marked_only;
  unit->options.gradients =
      options->gradients ? arena_name(&unit->arena, options->gradients) : NULL;
  unit->options.on_mismatch =
      options->on_mismatch ? arena_name(&unit->arena, options->on_mismatch) : NULL;
  unit->options.numerics = options->numerics ? arena_name(&unit->arena, options->numerics) : NULL;
  return unit;
}

void driver_free(Unit *unit) {
  if (!unit)
    return;
  arena_free(&unit->arena);
  free(unit);
}

bool driver_compile(Unit *unit, const char *source, size_t n_bytes) {
  if (!read_unit(unit, source, n_bytes))
    return false;
  bind_unit(unit);
  for (int i = 0; i < unit->funcs.n; i++) {
    Func *func = unit->funcs.items[i];
    claim_func(unit, func);
    place_func(unit, func);
    if (func->status != STATUS_ACCEPTED)
      continue;
    ir_verify(unit, func, "claim");
    fold_func(unit, func);
    ir_verify(unit, func, "fold");
    plan_func(unit, func);
    ir_verify(unit, func, "plan");
  }
  return true;
}

bool driver_graph(Unit *unit, const char *text, size_t n_bytes, Buf *problem) {
  if (!graph_read(unit, text, n_bytes, problem))
    return false;
  Func *func = unit->funcs.items[0];
  ir_verify(unit, func, "graph");
  fold_func(unit, func);
  ir_verify(unit, func, "fold");
  layout_func(unit, func);
  ir_verify(unit, func, "layout");
  return true;
}

static void print_ast(Buf *out, const Ast *node, int depth);

typedef struct AstPrinter {
  Buf *out;
  int depth;
} AstPrinter;

static void print_child(Ast *node, void *state) {
  const AstPrinter *printer = state;
  print_ast(printer->out, node, printer->depth);
}

static void print_ast(Buf *out, const Ast *node, int depth) {
  for (int i = 0; i < depth; i++)
    buf_add(out, "  ");
  buf_add(out, ast_kind_name(node));
  if (node->text && node->kind != AST_Other)
    buf_addf(out, " %s", node->text);
  if (node->kind == AST_Constant && (node->constant == CONST_INT || node->constant == CONST_BOOL))
    buf_addf(out, " %lld", (long long)node->integer);
  if (node->kind == AST_Constant && node->constant == CONST_FLOAT) {
    buf_add(out, " ");
    buf_add_double(out, node->number);
  }
  if (node->span.line)
    buf_addf(out, "  @%d:%d-%d:%d", node->span.line, node->span.col, node->span.end_line,
             node->span.end_col);
  buf_add(out, "\n");
  AstPrinter printer = {out, depth + 1};
  ast_each_child(node, print_child, &printer);
}

bool driver_show(Buf *out, Unit *unit, const char *qualname, Stage stage) {
  Func *func = NULL;
  for (int i = 0; i < unit->funcs.n;
       i++) /* of two functions with one name, the last is the one that stays */
    if (strcmp(unit->funcs.items[i]->qualname, qualname) == 0)
      func = unit->funcs.items[i];
  if (!func)
    return false;
  if (stage == STAGE_AST) {
    print_ast(out, func->def, 0);
  } else if (func->status != STATUS_ACCEPTED) {
    buf_addf(out, "%s stays Python:\n", func->qualname);
    for (int i = 0; i < func->diags.n; i++)
      diag_print(out, unit, func, &func->diags.items[i]);
  } else if (stage == STAGE_IR) {
    ir_print(out, func);
  } else if (stage == STAGE_PLAN) {
    plan_print(out, func);
  } else {
    emit_names(unit);
    emit_func(out, unit, func);
  }
  return true;
}
