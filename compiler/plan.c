/* plan.c: where values live, and when they die.
 *
 * Reads a function's IR with uses counted. Leaves on it: which values are written straight into a
 * variable (`into`), which reads of a variable need no copy (`alias`), and at which read a tensor
 * variable dies, so that its handle can be handed over (`last_use`).
 *
 * A value that emit prints inline (an aliased read, a comparison) is used where the instruction
 * that consumes it stands: that instruction's index in the block is the value's point of use.
 */
#include "tensorc.h"

#include <stdio.h>
#include <string.h>

/* ── uses ────────────────────────────────────────────────────────────────────────────────────── */

/* Values printed as C expressions at their point of use. Everything else has a variable of its own.
 */
bool plan_is_inline(const Ir *ir) {
  switch (ir->op) {
  case IR_CONST:
  case IR_ASSERTS:
    return true;
  case IR_GET:
    return ir->alias;
  case IR_NOT:
  case IR_COMPARE:
    return ir->n_uses <= 1;
  case IR_CAST:
    /* Within one expression gcc turns 0.0 - (double)i into -(double)i, which is -0.0 for 0: a
     * converted int can't be -0.0, but a difference from 0.0 is not its negation. */
    return ir->n_uses <= 1 && ir->type.kind != TYPE_FLOAT;
  case IR_ARITH:
    return ir->n_uses <= 1 && ir->args[0]->type.kind == TYPE_FLOAT &&
           !*operator_table[ir->operator].floats;
  case IR_NEG:
    return ir->n_uses <= 1 && ir->type.kind == TYPE_FLOAT;
  default:
    return false;
  }
}

static bool reads(const Ir *ir, const Ir *value) {
  for (int i = 0; i < ir->n_args; i++)
    if (ir->args[i] == value || (plan_is_inline(ir->args[i]) && reads(ir->args[i], value)))
      return true;
  return false;
}

static bool block_reads(const Block *block, const Ir *value) {
  for (int i = 0; i < block->n; i++) {
    const Ir *ir = block->items[i];
    if (reads(ir, value) || block_reads(&ir->body, value) || block_reads(&ir->orelse, value))
      return true;
  }
  return false;
}

/* Can the variable's own name stand for this read? Only if nothing assigns it before the last use,
 * all in one block. */
static bool can_alias(const Block *block, int at) {
  Ir *get = block->items[at];
  int consumer = -1; /* a while's condition is consumed behind its own block */
  get->alias = true; /* so that `reads` sees through it */
  for (int i = at + 1; i < block->n; i++) {
    const Ir *ir = block->items[i];
    if (block_reads(&ir->body, get) || block_reads(&ir->orelse, get))
      return false; /* used in an inner block: rare, and a copy is always right */
    if (!plan_is_inline(ir) && reads(ir, get)) {
      consumer = i;
      if (get->n_uses == 1)
        break;
    }
  }
  int last = consumer < 0 ? block->n : consumer;
  for (int i = at + 1; i < last; i++) {
    if (ir_assigns(block->items[i], get->slot))
      return false;
  }
  return true;
}

static void place_block(Block *block) {
  /* From the back: whether a comparison is inline is known before the reads it prints. */
  for (int i = block->n; i-- > 0;) {
    Ir *ir = block->items[i];
    place_block(&ir->body);
    place_block(&ir->orelse);
    if (ir->op == IR_GET)
      ir->alias = can_alias(block, i);
    if (ir->op == IR_SET && i > 0 && ir->args[0] == block->items[i - 1] &&
        ir->args[0]->n_uses == 1 && !plan_is_inline(ir->args[0]) && ir->args[0]->op != IR_GET)
      ir->args[0]->into = ir->slot;
  }
}

/* ── liveness of tensor variables ────────────────────────────────────────────────────────────── */

typedef struct Live {
  Arena *arena;
  int n_words;
  const uint64_t *leave, *again; /* live where the innermost loop's break and continue go */
} Live;

static uint64_t *set_copy(const Live *live, const uint64_t *set) {
  uint64_t *copy = ARENA_ARRAY(live->arena, uint64_t, live->n_words);
  if (set)
    memcpy(copy, set, sizeof(uint64_t) * (size_t)live->n_words);
  return copy;
}

static bool set_join(const Live *live, uint64_t *into, const uint64_t *other) {
  bool changed = false;
  for (int i = 0; i < live->n_words; i++) {
    changed = changed || (other[i] & ~into[i]);
    into[i] |= other[i];
  }
  return changed;
}

static bool set_has(const uint64_t *set, const Slot *slot) {
  return set[slot->index / 64] >> (slot->index % 64) & 1;
}
static void set_add(uint64_t *set, const Slot *slot) {
  set[slot->index / 64] |= 1ULL << (slot->index % 64);
}
static void set_drop(uint64_t *set, const Slot *slot) {
  set[slot->index / 64] &= ~(1ULL << (slot->index % 64));
}

/* How often the instruction at hand reads `slot` through aliases. */
static int alias_reads(const Ir *ir, const Slot *slot) {
  int n = 0;
  for (int i = 0; i < ir->n_args; i++) {
    const Ir *arg = ir->args[i];
    if (arg->op == IR_GET && arg->alias && arg->slot == slot)
      n++;
    else if (plan_is_inline(arg))
      n += alias_reads(arg, slot);
  }
  return n;
}

static void mark_reads(Ir *ir, const Ir *whole, uint64_t *live_set) {
  for (int i = 0; i < ir->n_args; i++) {
    Ir *arg = ir->args[i];
    if (arg->op == IR_GET && arg->alias) {
      arg->last_use =
          !set_has(live_set, arg->slot) && alias_reads(whole, arg->slot) == 1 && arg->n_uses == 1;
    } else if (plan_is_inline(arg)) {
      mark_reads(arg, whole, live_set);
    }
  }
}

static void add_reads(const Ir *ir, uint64_t *live_set) {
  for (int i = 0; i < ir->n_args; i++) {
    const Ir *arg = ir->args[i];
    if (arg->op == IR_GET && arg->alias)
      set_add(live_set, arg->slot);
    else if (plan_is_inline(arg))
      add_reads(arg, live_set);
  }
}

/* Walks `block` backwards from what is live behind it (`set`, updated in place to what is live
 * before it). */
static void live_block(Live *live, Block *block, uint64_t *set) {
  for (int i = block->n; i-- > 0;) {
    Ir *ir = block->items[i];
    switch (ir->op) {
    case IR_RETURN:
    case IR_RAISE:
      memset(set, 0, sizeof(uint64_t) * (size_t)live->n_words);
      break;
    case IR_BREAK:
      memcpy(set, live->leave, sizeof(uint64_t) * (size_t)live->n_words);
      break;
    case IR_CONTINUE:
      memcpy(set, live->again, sizeof(uint64_t) * (size_t)live->n_words);
      break;
    case IR_SET:
      set_drop(set, ir->slot);
      break;
    case IR_GET:
      if (!ir->alias) { /* copied here, so read here */
        ir->last_use = !set_has(set, ir->slot);
        set_add(set, ir->slot);
      } else if (ir->checked) {
        set_add(set, ir->slot); /* its check stands here */
      }
      continue;
    case IR_IF: {
      uint64_t *other = set_copy(live, set);
      live_block(live, &ir->body, set);
      live_block(live, &ir->orelse, other);
      set_join(live, set, other);
      break;
    }
    case IR_FOR:
    case IR_WHILE: {
      const uint64_t *leave = live->leave, *again = live->again;
      uint64_t *behind = set_copy(live, set), *top = set_copy(live, set);
      for (bool changed = true; changed;) {
        /* The body ends, or continues, at the loop's top: a while's condition block stands there.
         */
        live->leave = behind;
        live->again = top;
        uint64_t *body = set_copy(live, top);
        live_block(live, &ir->body, body);
        uint64_t *next = set_copy(live, behind);
        set_join(live, next, body);
        if (ir->op == IR_WHILE) {
          add_reads(ir, next);
          live_block(live, &ir->orelse, next);
        }
        changed = set_join(live, top, next);
      }
      live->leave = leave;
      live->again = again;
      memcpy(set, top, sizeof(uint64_t) * (size_t)live->n_words);
      if (ir->op == IR_WHILE)
        continue; /* its operand belongs to its own block */
      break;
    }
    default:
      break;
    }
    if (plan_is_inline(ir))
      continue; /* reads where it is printed */
    mark_reads(ir, ir, set);
    add_reads(ir, set);
  }
}

/* ── operations ──────────────────────────────────────────────────────────────────────────────── */

OpId plan_op(const Ir *ir) {
  return ir->tensor_op == OP_matmul && ir->args[1]->type.rank == 1 ? OP_mv : ir->tensor_op;
}

/* Counts operations, in all and by the wheel, and names the latter once each. */
static void count_ops(Unit *unit, Func *func, const Block *block, int *n_ops, bool *named) {
  for (int i = 0; i < block->n; i++) {
    const Ir *ir = block->items[i];
    count_ops(unit, func, &ir->body, n_ops, named);
    count_ops(unit, func, &ir->orelse, n_ops, named);
    if (ir->op != IR_TENSOR)
      continue;
    (*n_ops)++;
    if (*run_table[func->lane][plan_op(ir)].recipe)
      continue;
    func->n_by_wheel++;
    if (!named[ir->tensor_op])
      func->by_wheel = arena_format(&unit->arena, "%s%s%s", func->by_wheel ? func->by_wheel : "",
                                    func->by_wheel ? ", " : "", op_table[ir->tensor_op].name);
    named[ir->tensor_op] = true;
  }
}

void plan_func(Unit *unit, Func *func) {
  bool wanted = !unit->options.numerics || strcmp(unit->options.numerics, "exact") == 0;
  bool named[OP_COUNT] = {false};
  int n_ops = 0;
  if (wanted)
    count_ops(unit, func, &func->body, &n_ops, named);
  func->exact = n_ops > func->n_by_wheel;
  /* The wheel's kernels get the batch whole. */
  func->splits = func->exact && func->n_by_wheel == 0 && rows_func(unit, func);
  place_block(&func->body);
  int n_words = (func->slots.n + 63) / 64 + 1;
  Live live = {&unit->arena, n_words, NULL, NULL};
  uint64_t *set = set_copy(&live, NULL);
  live.leave = live.again = set_copy(&live, NULL);
  live_block(&live, &func->body, set);
}

/* ── printing ────────────────────────────────────────────────────────────────────────────────── */

static void print_ops(Buf *out, const Block *block) {
  for (int i = 0; i < block->n; i++) {
    const Ir *ir = block->items[i];
    if (ir->op == IR_TENSOR)
      buf_addf(out, " %s", op_table[ir->tensor_op].name);
    if (ir->op == IR_FOR || ir->op == IR_WHILE || ir->op == IR_IF) {
      buf_addf(out, " %s {", ir_name(ir->op));
      print_ops(out, &ir->body);
      if (ir->op == IR_IF && ir->orelse.n > 0) {
        buf_add(out, " } else {");
        print_ops(out, &ir->orelse);
      }
      buf_add(out, " }");
    }
  }
}

void plan_print(Buf *out, const Func *func) {
  buf_addf(out, "%s: %s {", func->qualname,
           func->splits  ? "exact, blocks of rows"
           : func->exact ? "exact"
                         : "library");
  print_ops(out, &func->body);
  buf_add(out, " }\n");
  for (int i = 0; i < func->slots.n; i++) {
    const Slot *slot = func->slots.items[i];
    if (*slot->name)
      buf_addf(out, "  %s: %s%s%s\n", slot->name, type_name(slot->type),
               slot->parameter < 0                  ? ""
               : func->params[slot->parameter].rows ? ", parameter, rows"
                                                    : ", parameter",
               slot->may_be_unbound ? ", may be unassigned" : "");
    else
      buf_addf(out, "  temporary %d: %s\n", slot->index, type_name(slot->type));
  }
}
