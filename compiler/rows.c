/* rows.c: may a function run block by block over the rows of its batch?
 *
 * Reads a function's IR. Every tensor value is ROWS (its row i needs only row i of the batch),
 * WHOLE (no batch in it: weights), or MIXED. Leaves the parameters' `rows` and says yes
 * when the result is ROWS and nothing is MIXED.
 *
 * Which parameters carry the batch is found out: every rank-2 parameter may, until an operation
 * needs it whole.
 */
#include "tensorc.h"

#include <string.h>

typedef enum { NEVER_SET, WHOLE, ROWS, MIXED } Rows;

typedef struct Analysis {
  Func *func;
  Rows *slots;  /* by Slot.index */
  Rows *values; /* by Ir.id */
  bool *whole;  /* by parameter: some operation needs it whole */
  bool changed; /* something moved up */
  bool restart; /* a parameter became whole */
  bool effects; /* it raises or prints */
} Analysis;

static void raise_to(Analysis *a, Rows *at, Rows rows) {
  Rows joined = *at == NEVER_SET || *at == rows ? rows : rows == NEVER_SET ? *at : MIXED;
  a->changed = a->changed || joined != *at;
  *at = joined;
}

/* The operand has to be whole. A parameter that was taken for a batch is not one then. */
static Rows need_whole(Analysis *a, const Ir *operand) {
  Rows rows = a->values[operand->id];
  if (rows == ROWS && operand->op == IR_GET && operand->slot->parameter >= 0 &&
      !a->whole[operand->slot->parameter]) {
    a->whole[operand->slot->parameter] = a->restart = true;
  }
  return rows == ROWS ? MIXED : rows;
}

static Rows both(Rows x, Rows y) {
  return x == NEVER_SET || y == NEVER_SET ? NEVER_SET : x == y ? x : MIXED;
}

static Rows rows_of_tensor(Analysis *a, const Ir *ir) {
  const Ir *x = ir->args[0], *y = ir->n_args > 1 ? ir->args[1] : NULL;
  Rows rows = a->values[x->id];
  switch (op_table[ir->tensor_op].class) {
  case CLASS_MAP1:
    return rows;
  case CLASS_MAP2:
    if (x->type.rank == y->type.rank)
      return both(rows, a->values[y->id]);
    /* The row is broadcast over the columns, so it is no column of the batch. */
    if (x->type.rank == 2)
      return need_whole(a, y) == MIXED ? MIXED : rows;
    return need_whole(a, x) == MIXED ? MIXED : a->values[y->id];
  case CLASS_MATMUL:
  case CLASS_MV:
    if (x->type.rank == 1 ||
        y->type.rank ==
            1) { /* one row or one column: their bits depend on the whole call's sizes */
      Rows first = need_whole(a, x), second = need_whole(a, y);
      return both(first, second);
    }
    return need_whole(a, y) == MIXED ? MIXED : rows;
  case CLASS_LINEAR: {
    Rows weight = need_whole(a, y), bias = ir->n_args > 2 ? need_whole(a, ir->args[2]) : WHOLE;
    return weight == MIXED || bias == MIXED ? MIXED : rows;
  }
  case CLASS_BMM:
  case CLASS_CONV:
  case CLASS_NORM:
  case CLASS_PICK:
  case CLASS_TRANSPOSE:
    return need_whole(a, x);
  case CLASS_REDUCE:
  case CLASS_ROWWISE:
  case CLASS_ARGMAX:
  case CLASS_COUNT:
    return rows == ROWS && !(x->type.rank == 2 && ir->dim == 1) ? MIXED : rows;
  }
  NEVER("class");
}

static void visit(Analysis *a, const Block *block) {
  for (int i = 0; i < block->n; i++) {
    const Ir *ir = block->items[i];
    if (ir->op == IR_TENSOR)
      raise_to(a, &a->values[ir->id], rows_of_tensor(a, ir));
    else if (ir->op == IR_GET)
      raise_to(a, &a->values[ir->id], a->slots[ir->slot->index]);
    else if (ir->op == IR_SET)
      raise_to(a, &a->slots[ir->slot->index], a->values[ir->args[0]->id]);
    a->effects = a->effects || ir->op == IR_RAISE || ir->op == IR_PRINT;
    visit(a, &ir->body);
    visit(a, &ir->orelse);
  }
}

static bool any_mixed(const Analysis *a, const Block *block) {
  for (int i = 0; i < block->n; i++) {
    const Ir *ir = block->items[i];
    if (ir->type.kind == TYPE_TENSOR && a->values[ir->id] == MIXED)
      return true;
    /* A result that is whole would come out once per block. */
    if (ir->op == IR_RETURN && a->values[ir->args[0]->id] != ROWS)
      return true;
    if (any_mixed(a, &ir->body) || any_mixed(a, &ir->orelse))
      return true;
  }
  return false;
}

bool rows_func(Unit *unit, Func *func) {
  Analysis a = {.func = func};
  a.whole = ARENA_ARRAY(&unit->arena, bool, func->n_params + 1);
  do {
    a.restart = a.effects = false;
    a.slots = ARENA_ARRAY(&unit->arena, Rows, func->slots.n + 1);
    a.values = ARENA_ARRAY(&unit->arena, Rows, func->n_ir + 1);
    for (int i = 0; i < func->n_params; i++) {
      Type type = func->params[i].fact.type;
      a.slots[i] = type.kind != TYPE_TENSOR        ? NEVER_SET
                   : type.rank == 2 && !a.whole[i] ? ROWS
                                                   : WHOLE;
    }
    do {
      a.changed = false;
      visit(&a, &func->body);
    } while (a.changed && !a.restart);
  } while (a.restart);
  bool splits = func->result.type.kind == TYPE_TENSOR && !a.effects && !any_mixed(&a, &func->body);
  for (int i = 0; i < func->n_params; i++)
    func->params[i].rows = splits && func->params[i].fact.type.kind == TYPE_TENSOR &&
                           func->params[i].fact.type.rank == 2 && !a.whole[i];
  return splits;
}
