/* layout.c: how each value of a graph comes about, and where it lies.
 *
 * Reads a graph's IR with uses counted. Leaves each value's Home.
 */
#include "tensorc.h"

const char *way_name(Way way) {
  static const char *const names[WAY_COUNT] = {[WAY_INPUT] = "input", [WAY_WHEEL] = "wheel"};
  return names[way];
}

void layout_func(Unit *unit, Func *func) {
  int n_calls = 0;
  for (int i = 0; i < func->body.n; i++) {
    Ir *ir = func->body.items[i];
    ir->home = ARENA_NEW(&unit->arena, Home);
    ir->home->way = ir->op == IR_INPUT ? WAY_INPUT : WAY_WHEEL;
    ir->home->call = ir->op == IR_NODE ? n_calls++ : -1;
  }
}

void layout_print(Buf *out, const Func *func) {
  buf_addf(out, "graph %s\n", func->qualname);
  for (int i = 0; i < func->body.n; i++) {
    const Ir *ir = func->body.items[i];
    if (ir->op != IR_NODE)
      continue;
    buf_addf(out, "  %%%s = %s %s ", ir->name, ir->schema, way_name(ir->home->way));
    type_print(out, ir->type);
    buf_add(out, "\n");
  }
}
