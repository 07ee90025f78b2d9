/* fold.c: constants, repeated values, dead code.
 *
 * Reads and rewrites a function's IR: operations on constants become constants where Python would
 * give the same value without an error, a value that the same block computed before is used again,
 * and values that nothing uses and that cannot fail are dropped. Tensor operations are never
 * dropped for being unused: they may raise. None of this changes a bit of any result. Leaves uses
 * counted and ids that count from 0 in order.
 */
#include "tensorc.h"

#include <math.h>
#include <string.h>

static bool is_const(const Ir *ir) { return ir->op == IR_CONST; }

static void become_int(Ir *ir, int64_t value) {
  ir->op = IR_CONST;
  ir->n_args = 0;
  ir->integer = value;
}

static void become_float(Ir *ir, double value) {
  ir->op = IR_CONST;
  ir->n_args = 0;
  ir->number = value;
}

/* Int results only where they are small: nothing here may overflow or differ from Python. */
static bool small(int64_t value) { return value > -(1LL << 30) && value < (1LL << 30); }

static void fold_arith(Ir *ir) {
  const Ir *a = ir->args[0], *b = ir->args[1];
  OperatorId op = ir->operator;
  if (ir->args[0]->type.kind == TYPE_FLOAT) {
    if (op == OPERATOR_ADD)
      become_float(ir, a->number + b->number);
    else if (op == OPERATOR_SUB)
      become_float(ir, a->number - b->number);
    else if (op == OPERATOR_MUL)
      become_float(ir, a->number * b->number);
    else if (op == OPERATOR_TRUEDIV && b->number != 0)
      become_float(ir, a->number / b->number);
    return;
  }
  int64_t x = a->integer, y = b->integer;
  if (!small(x) || !small(y))
    return;
  if (op == OPERATOR_ADD)
    become_int(ir, x + y);
  else if (op == OPERATOR_SUB)
    become_int(ir, x - y);
  else if (op == OPERATOR_MUL)
    become_int(ir, x * y);
  else if (op == OPERATOR_TRUEDIV && y != 0)
    become_float(ir, (double)x / (double)y);
}

static void fold_compare(Ir *ir) {
  const Ir *a = ir->args[0], *b = ir->args[1];
  if (!type_equal(a->type, b->type))
    return;
  bool floats = a->type.kind == TYPE_FLOAT;
  bool less = floats ? a->number < b->number : a->integer < b->integer;
  bool equal = floats ? a->number == b->number : a->integer == b->integer;
  bool greater = floats ? a->number > b->number : a->integer > b->integer; /* neither, for NaN */
  switch (ir->operator) {
  case OPERATOR_LT:
    become_int(ir, less);
    break;
  case OPERATOR_LE:
    become_int(ir, less || equal);
    break;
  case OPERATOR_EQ:
    become_int(ir, equal);
    break;
  case OPERATOR_NE:
    become_int(ir, !equal);
    break;
  case OPERATOR_GT:
    become_int(ir, greater);
    break;
  case OPERATOR_GE:
    become_int(ir, greater || equal);
    break;
  default:
    NEVER("comparison");
  }
}

static void fold_ir(Ir *ir) {
  for (int i = 0; i < ir->n_args; i++)
    if (!is_const(ir->args[i]))
      return;
  const Ir *a = ir->args[0];
  switch (ir->op) {
  case IR_ARITH:
    fold_arith(ir);
    break;
  case IR_NEG:
    if (a->type.kind == TYPE_FLOAT)
      become_float(ir, -a->number);
    else if (a->integer != INT64_MIN)
      become_int(ir, -a->integer);
    break;
  case IR_COMPARE:
    fold_compare(ir);
    break;
  case IR_NOT:
    become_int(ir, !a->integer);
    break;
  case IR_CAST:
    if (ir->type.kind == TYPE_FLOAT)
      become_float(ir, (double)a->integer);
    else if (ir->type.kind == TYPE_BOOL)
      become_int(ir, a->type.kind == TYPE_FLOAT ? a->number != 0 : a->integer != 0);
    else
      become_int(ir, a->integer);
    break;
  default:
    break;
  }
}

/* The instructions of a branch that is always taken stand in place of their `if`. */
static void splice(Arena *arena, Block *block, int at, const Block *taken) {
  Block whole = {NULL, 0, 0};
  for (int i = 0; i < at; i++)
    ARENA_PUSH(arena, &whole, block->items[i]);
  for (int i = 0; i < taken->n; i++)
    ARENA_PUSH(arena, &whole, taken->items[i]);
  for (int i = at + 1; i < block->n; i++)
    ARENA_PUSH(arena, &whole, block->items[i]);
  *block = whole;
}

static void fold_block(Arena *arena, Block *block) {
  for (int i = 0; i < block->n; i++) {
    Ir *ir = block->items[i];
    fold_block(arena, &ir->orelse);
    fold_block(arena, &ir->body);
    if (ir->op == IR_ARITH || ir->op == IR_NEG || ir->op == IR_NOT || ir->op == IR_COMPARE ||
        ir->op == IR_CAST)
      fold_ir(ir);
    if (ir->op == IR_IF && is_const(ir->args[0])) {
      const Block *taken = ir->args[0]->integer ? &ir->body : &ir->orelse;
      int n = taken->n;
      splice(arena, block, i, taken);
      i += n - 1;
      for (int k = 0; k < block->n; k++) /* nothing runs behind a jump */
        if (ir_is_jump(block->items[k]))
          block->n = k + 1;
    }
  }
}

/* ── repeated values ─────────────────────────────────────────────────────────────────────────── */

/* Looks back over so many instructions at most, so that long functions stay linear. */
enum { WINDOW = 64 };

/* Two operands of instructions of one block, the later of which stands at `end`, that hold the same
 * value: the same one, equal constants, or two reads of a variable with no assignment between them.
 */
static bool same_value(const Block *block, int end, const Ir *a, const Ir *b) {
  if (a == b)
    return true;
  if (a->op != b->op || !type_equal(a->type, b->type))
    return false;
  if (a->op == IR_CONST)
    return a->type.kind == TYPE_FLOAT ? memcmp(&a->number, &b->number, sizeof a->number) == 0
                                      : a->integer == b->integer;
  if (a->op != IR_GET || a->slot != b->slot)
    return false;
  bool between = false;
  for (int i = end; i >= 0 && i > end - 2 * WINDOW; i--) {
    const Ir *ir = block->items[i];
    if (ir == a)
      return between;
    if (ir == b)
      between = true;
    else if (between && ir_assigns(ir, a->slot))
      return false;
  }
  return false; /* far away, or one of them belongs to an outer block */
}

static bool same_operation(const Block *block, int end, const Ir *a, const Ir *b) {
  if (a->op != b->op || a->op == IR_CONST || a->op == IR_GET || !ir_is_value(a) ||
      !type_equal(a->type, b->type) || a->n_args != b->n_args)
    return false;
  if (a->op == IR_INPUT || a->op == IR_NODE || a->op == IR_ITEM) /* tensors with an identity */
    return false;
  if (a->op == IR_TENSOR &&
      (a->tensor_op != b->tensor_op || a->dim != b->dim || a->keepdim != b->keepdim))
    return false;
  if (a->operator != b->operator)
    return false;
  for (int i = 0; i < a->n_args; i++)
    if (!same_value(block, end, a->args[i], b->args[i]))
      return false;
  return true;
}

static void replace(Block *block, const Ir *from, Ir *to) {
  for (int i = 0; i < block->n; i++) {
    Ir *ir = block->items[i];
    for (int k = 0; k < ir->n_args; k++)
      if (ir->args[k] == from)
        ir->args[k] = to;
    replace(&ir->body, from, to);
    replace(&ir->orelse, from, to);
  }
}

static void remove_at(Block *block, int at) {
  memmove(&block->items[at], &block->items[at + 1],
          sizeof block->items[0] * (size_t)(block->n - at - 1));
  block->n--;
}

static void share_block(Block *block) {
  for (int i = 0; i < block->n; i++) {
    share_block(&block->items[i]->body);
    share_block(&block->items[i]->orelse);
    for (int k = i > WINDOW ? i - WINDOW : 0; k < i; k++) {
      if (!same_operation(block, i, block->items[k], block->items[i]))
        continue;
      replace(block, block->items[i], block->items[k]);
      remove_at(block, i--);
      break;
    }
  }
}

/* ── dead code ───────────────────────────────────────────────────────────────────────────────── */

static void count_uses(Block *block) {
  for (int i = 0; i < block->n; i++) {
    Ir *ir = block->items[i];
    for (int k = 0; k < ir->n_args; k++)
      ir->args[k]->n_uses++;
    count_uses(&ir->body);
    count_uses(&ir->orelse);
  }
}

static bool can_drop(const Ir *ir) {
  if (ir->n_uses > 0)
    return false;
  switch (ir->op) {
  case IR_CONST:
  case IR_ASSERTS:
  case IR_NOT:
  case IR_COMPARE:
    return true;
  case IR_IF:
    return ir->body.n == 0 && ir->orelse.n == 0;
  case IR_GET:
    return !ir->checked;
  default:
    return false;
  }
}

/* Drops from the back, so that what a dropped value used can go too. */
static void drop_dead(Block *block) {
  for (int i = block->n; i-- > 0;) {
    Ir *ir = block->items[i];
    drop_dead(&ir->body);
    drop_dead(&ir->orelse);
    if (!can_drop(ir))
      continue;
    for (int k = 0; k < ir->n_args; k++)
      ir->args[k]->n_uses--;
    remove_at(block, i);
  }
}

static void renumber(Block *block, int *next) {
  for (int i = 0; i < block->n; i++) {
    Ir *ir = block->items[i];
    bool condition_first = ir->op == IR_WHILE; /* its orelse computes the condition */
    ir->id = (*next)++;
    renumber(condition_first ? &ir->orelse : &ir->body, next);
    renumber(condition_first ? &ir->body : &ir->orelse, next);
  }
}

void fold_func(Unit *unit, Func *func) {
  fold_block(&unit->arena, &func->body);
  share_block(&func->body);
  count_uses(&func->body);
  drop_dead(&func->body);
  func->n_ir = 0;
  renumber(&func->body, &func->n_ir);
}
