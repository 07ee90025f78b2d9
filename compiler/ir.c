/* ir.c: what an instruction is, and the checks of the IR between passes.
 *
 * Reads a function's IR and leaves it alone. A broken invariant is a bug of the pass that ran last,
 * so it ends the process with that pass's name.
 */
#include "tensorc.h"

#include <stdio.h>

static const struct {
  const char *text;
  enum { VALUE, STATEMENT, JUMP } kind;
  int n_args;
} ir_table[IR_COUNT] = {
#define IR(op, text, kind, n_args) {text, kind, n_args},
#include "ir.def"
#undef IR
};

const char *ir_name(IrOp op) { return ir_table[op].text; }
bool ir_is_value(const Ir *ir) { return ir_table[ir->op].kind == VALUE; }
bool ir_is_jump(const Ir *ir) { return ir_table[ir->op].kind == JUMP; }

bool ir_assigns(const Ir *ir, const Slot *slot) {
  return ((ir->op == IR_SET || ir->op == IR_FOR) && ir->slot == slot) ||
         ir_block_assigns(&ir->body, slot) || ir_block_assigns(&ir->orelse, slot);
}

bool ir_block_assigns(const Block *block, const Slot *slot) {
  for (int i = 0; i < block->n; i++)
    if (ir_assigns(block->items[i], slot))
      return true;
  return false;
}

typedef struct Verify {
  const Func *func;
  const char *after;
  const Ir **seen; /* values defined so far on this path, in order */
  int n_seen, n_loops;
} Verify;

static void broken(const Verify *v, const Ir *ir, const char *what) {
  char text[256];
  snprintf(text, sizeof text, "IR of %s after %s: %s at line %d: %s", v->func->qualname, v->after,
           ir_table[ir->op].text, ir->span.line, what);
  NEVER(text);
}

static void verify_block(Verify *v, const Block *block);

/* The arguments of a graph's operation that are values of it. */
static int count_operands(const Attr *attrs, int n_attrs) {
  int n = 0;
  for (int i = 0; i < n_attrs; i++)
    n += attrs[i].kind == ATTR_VALUE  ? 1
         : attrs[i].kind == ATTR_LIST ? count_operands(attrs[i].items, attrs[i].n_items)
                                      : 0;
  return n;
}

static void verify_types(const Verify *v, const Ir *ir) {
  Type a = ir->n_args > 0 ? ir->args[0]->type : (Type){0};
  Type b = ir->n_args > 1 ? ir->args[1]->type : (Type){0};
  switch (ir->op) {
  case IR_CONST:
    if (ir->type.kind == TYPE_TENSOR || ir->type.kind == TYPE_UNKNOWN)
      broken(v, ir, "type of a constant");
    break;
  case IR_GET:
    if (!ir->slot || !type_equal(ir->type, ir->slot->type))
      broken(v, ir, "type of its slot");
    break;
  case IR_SET:
    if (!ir->slot || !type_equal(a, ir->slot->type))
      broken(v, ir, "type of its slot");
    break;
  case IR_TENSOR: {
    Type operands[3], type;
    for (int i = 0; i < ir->n_args; i++)
      operands[i] = ir->args[i]->type;
    if (!typing_tensor(ir->tensor_op, operands, ir->n_args, ir->dim, ir->keepdim, &type) ||
        !type_equal(type, ir->type))
      broken(v, ir, "operand types");
    break;
  }
  case IR_ARITH: {
    Type type;
    if (!typing_arith(ir->operator, a, b, &type) || !type_equal(type, ir->type))
      broken(v, ir, "operand types");
    break;
  }
  case IR_COMPARE:
    if (ir->type.kind != TYPE_BOOL || !typing_compare(ir->operator, a, b))
      broken(v, ir, "operand types");
    break;
  case IR_NEG:
    if (!type_equal(a, ir->type) || (a.kind != TYPE_INT && a.kind != TYPE_FLOAT))
      broken(v, ir, "operand types");
    break;
  case IR_CAST:
    if (!typing_cast(a, ir->type))
      broken(v, ir, "operand types");
    break;
  case IR_ASSERTS:
    if (ir->type.kind != TYPE_BOOL)
      broken(v, ir, "type of a condition");
    break;
  case IR_NOT:
    if (ir->type.kind != TYPE_BOOL)
      broken(v, ir, "type of a condition");
    /* fall through */
  case IR_IF:
  case IR_WHILE:
    if (a.kind != TYPE_BOOL)
      broken(v, ir, "condition is no bool");
    break;
  case IR_FOR:
    if (!ir->slot || ir->slot->type.kind != TYPE_INT || a.kind != TYPE_INT || b.kind != TYPE_INT ||
        ir->args[2]->type.kind != TYPE_INT)
      broken(v, ir, "operand types");
    break;
  case IR_RETURN:
    if (!type_equal(a, v->func->result.type))
      broken(v, ir, "type of the result");
    break;
  case IR_BREAK:
  case IR_CONTINUE:
    if (v->n_loops == 0)
      broken(v, ir, "outside a loop");
    break;
  case IR_PRINT:
    if (ir->n_args > 0 ? a.kind < TYPE_BOOL || a.kind > TYPE_FLOAT : !ir->message)
      broken(v, ir, "nothing to print");
    break;
  case IR_INPUT:
    if (ir->type.kind != TYPE_TENSOR || !ir->type.shape)
      broken(v, ir, "an input without sizes");
    break;
  case IR_NODE:
  case IR_RESULTS:
    if (count_operands(ir->attrs, ir->n_attrs) + (ir->home ? ir->home->n_copies : 0) != ir->n_args)
      broken(v, ir, "its arguments do not name its operands");
    break;
  case IR_ITEM:
    if (a.kind == TYPE_OBJECT)
      break;
    if (a.kind != TYPE_TUPLE || ir->integer < 0 || ir->integer >= a.rank ||
        !type_equal(ir->type, a.items[ir->integer]))
      broken(v, ir, "no such result");
    break;
  case IR_RAISE:
    break;
  case IR_COUNT:
    broken(v, ir, "no instruction");
  }
}

static void verify_ir(Verify *v, const Ir *ir) {
  if (ir->op >= IR_COUNT)
    NEVER("instruction");
  if (ir_table[ir->op].n_args >= 0 && ir_table[ir->op].n_args != ir->n_args)
    broken(v, ir, "number of operands");
  if (ir->op == IR_WHILE) { /* its operand is computed by its own condition block */
    int n = v->n_seen;
    verify_block(v, &ir->orelse);
    v->n_loops++;
    verify_block(v, &ir->body);
    v->n_loops--;
    bool found = false;
    for (int i = n; i < ir->orelse.n + n; i++)
      found = found || ir->orelse.items[i - n] == ir->args[0];
    if (!found)
      broken(v, ir, "condition is not in its block");
  } else {
    for (int i = 0; i < ir->n_args; i++) {
      bool found = false;
      for (int k = v->n_seen; k-- > 0 && !found;)
        found = v->seen[k] == ir->args[i];
      if (!found)
        broken(v, ir, "operand is not defined before it");
    }
  }
  verify_types(v, ir);
  if (ir->op == IR_IF || ir->op == IR_FOR) {
    v->n_loops += ir->op == IR_FOR;
    verify_block(v, &ir->body);
    v->n_loops -= ir->op == IR_FOR;
    verify_block(v, &ir->orelse);
  }
}

static void verify_block(Verify *v, const Block *block) {
  int n = v->n_seen;
  for (int i = 0; i < block->n; i++) {
    verify_ir(v, block->items[i]);
    if (ir_is_value(block->items[i]))
      v->seen[v->n_seen++] = block->items[i];
  }
  v->n_seen = n; /* values of a block are not visible behind it */
}

void ir_verify(Unit *unit, Func *func, const char *after) {
  Verify v = {func, after, ARENA_ARRAY(&unit->arena, const Ir *, func->n_ir + 1), 0, 0};
  verify_block(&v, &func->body);
}
