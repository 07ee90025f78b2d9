/* fold.c: constants and dead code.
 *
 * Reads and rewrites a function's IR: operations on constants become constants where Python would give the same value
 * without an error, and values that nothing uses and that cannot fail are dropped. Tensor operations are never dropped:
 * they may raise. Leaves ids that count from 0 in order.
 */
#include "tensorc.h"

#include <math.h>
#include <string.h>

static bool is_const(const Ir *ir) { return ir->op == IR_CONST; }

static void become_int(Ir *ir, int64_t value)
{
  ir->op = IR_CONST;
  ir->n_args = 0;
  ir->integer = value;
}

static void become_float(Ir *ir, double value)
{
  ir->op = IR_CONST;
  ir->n_args = 0;
  ir->number = value;
}

/* Int results only where they are small: nothing here may overflow or differ from Python. */
static bool small(int64_t value) { return value > -(1LL << 30) && value < (1LL << 30); }

static void fold_arith(Ir *ir)
{
  const Ir *a = ir->args[0], *b = ir->args[1];
  const char *op = ir->text;
  if (ir->args[0]->type.kind == TYPE_FLOAT) {
    if (strcmp(op, "+") == 0)
      become_float(ir, a->number + b->number);
    else if (strcmp(op, "-") == 0)
      become_float(ir, a->number - b->number);
    else if (strcmp(op, "*") == 0)
      become_float(ir, a->number * b->number);
    else if (strcmp(op, "/") == 0 && b->number != 0)
      become_float(ir, a->number / b->number);
    return;
  }
  int64_t x = a->integer, y = b->integer;
  if (!small(x) || !small(y))
    return;
  if (strcmp(op, "+") == 0)
    become_int(ir, x + y);
  else if (strcmp(op, "-") == 0)
    become_int(ir, x - y);
  else if (strcmp(op, "*") == 0)
    become_int(ir, x * y);
  else if (strcmp(op, "/") == 0 && y != 0)
    become_float(ir, (double)x / (double)y);
}

static void fold_ir(Ir *ir)
{
  for (int i = 0; i < ir->n_args; i++)
    if (!is_const(ir->args[i]))
      return;
  const Ir *a = ir->args[0];
  switch (ir->op) {
  case IR_ARITH: fold_arith(ir); break;
  case IR_NEG:
    if (a->type.kind == TYPE_FLOAT)
      become_float(ir, -a->number);
    else if (a->integer != INT64_MIN)
      become_int(ir, -a->integer);
    break;
  case IR_NOT: become_int(ir, !a->integer); break;
  case IR_CAST:
    if (ir->type.kind == TYPE_FLOAT)
      become_float(ir, (double)a->integer);
    else if (ir->type.kind == TYPE_BOOL)
      become_int(ir, a->type.kind == TYPE_FLOAT ? a->number != 0 : a->integer != 0);
    else
      become_int(ir, a->integer);
    break;
  default: break;
  }
}

static void fold_block(Block *block)
{
  for (int i = 0; i < block->n; i++) {
    Ir *ir = block->items[i];
    fold_block(&ir->orelse);
    fold_block(&ir->body);
    if (ir->op == IR_ARITH || ir->op == IR_NEG || ir->op == IR_NOT || ir->op == IR_CAST)
      fold_ir(ir);
  }
}

static void count_uses(Block *block)
{
  for (int i = 0; i < block->n; i++) {
    Ir *ir = block->items[i];
    for (int k = 0; k < ir->n_args; k++)
      ir->args[k]->n_uses++;
    count_uses(&ir->body);
    count_uses(&ir->orelse);
  }
}

static bool can_drop(const Ir *ir)
{
  if (ir->n_uses > 0)
    return false;
  switch (ir->op) {
  case IR_CONST:
  case IR_NOT:
  case IR_COMPARE: return true;
  case IR_GET: return !ir->checked;
  default: return false;
  }
}

/* Drops from the back, so that what a dropped value used can go too. */
static void drop_dead(Block *block)
{
  for (int i = block->n; i-- > 0;) {
    Ir *ir = block->items[i];
    drop_dead(&ir->body);
    drop_dead(&ir->orelse);
    if (!can_drop(ir))
      continue;
    for (int k = 0; k < ir->n_args; k++)
      ir->args[k]->n_uses--;
    memmove(&block->items[i], &block->items[i + 1], sizeof block->items[0] * (size_t)(block->n - i - 1));
    block->n--;
  }
}

static void renumber(Block *block, int *next)
{
  for (int i = 0; i < block->n; i++) {
    Ir *ir = block->items[i];
    bool condition_first = ir->op == IR_WHILE; /* its orelse computes the condition */
    ir->id = (*next)++;
    renumber(condition_first ? &ir->orelse : &ir->body, next);
    renumber(condition_first ? &ir->body : &ir->orelse, next);
  }
}

void fold_func(Func *func)
{
  fold_block(&func->body);
  count_uses(&func->body);
  drop_dead(&func->body);
  func->n_ir = 0;
  renumber(&func->body, &func->n_ir);
}
