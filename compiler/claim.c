/* claim.c: statements and the variables they assign, as IR.
 *
 * Reads the body of a function that claim_func.c found to be a candidate. A local name stands for a
 * slot. A name that takes values of two types is two slots, one after the other; where paths with
 * different types meet, reading it is refused. Loop bodies are claimed again until the state at the
 * loop's top no longer changes.
 */
#include "claim.h"

#include <string.h>

enum {
  MAX_LOOP_TURNS = 200
}; /* claims of loop bodies per function: nested loops that never settle are refused */

static const Type INT = {.kind = TYPE_INT}, BOOL = {.kind = TYPE_BOOL},
                  NO_VALUE = {.kind = TYPE_NONE};

Ir *refuse(Claimer *c, const char *code, Outcome outcome, Span span, const char *suggestion,
           const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_addv(c->unit, c->func, code, outcome, span, suggestion, format, args);
  va_end(args);
  c->refused = true;
  return NULL;
}

/* ── building IR ─────────────────────────────────────────────────────────────────────────────── */

Ir *ir_add(Claimer *c, IrOp op, Type type, Span span, int n_args, Ir *a, Ir *b) {
  Ir *ir = ARENA_NEW(&c->unit->arena, Ir);
  ir->op = op;
  ir->type = type;
  ir->span = span;
  ir->id = c->func->n_ir++;
  ir->n_args = n_args;
  ir->args = ARENA_ARRAY(&c->unit->arena, Ir *, 3);
  ir->args[0] = a;
  ir->args[1] = b;
  ARENA_PUSH(&c->unit->arena, c->block, ir);
  return ir;
}

Ir *ir_int(Claimer *c, int64_t value, Span span) {
  Ir *ir = ir_add(c, IR_CONST, INT, span, 0, NULL, NULL);
  ir->integer = value;
  return ir;
}

Ir *ir_bool(Claimer *c, bool value, Span span) {
  Ir *ir = ir_add(c, IR_CONST, BOOL, span, 0, NULL, NULL);
  ir->integer = value;
  return ir;
}

Slot *slot_new(Claimer *c, const char *name, Type type, int parameter) {
  Slot *slot = ARENA_NEW(&c->unit->arena, Slot);
  *slot = (Slot){name, type, c->func->slots.n, parameter, false};
  ARENA_PUSH(&c->unit->arena, &c->func->slots, slot);
  return slot;
}

Slot *slot_temporary(Claimer *c, Type type) { return slot_new(c, "", type, -1); }

/* The slot of a name with this type: the same one each time the pair comes up, so that paths can
 * meet in it. */
static Slot *slot_of(Claimer *c, const char *name, Type type) {
  for (int i = 0; i < c->func->slots.n; i++) {
    Slot *slot = c->func->slots.items[i];
    if (slot->name == name && type_equal(slot->type, type))
      return slot;
  }
  return slot_new(c, name, type, -1);
}

void ir_set(Claimer *c, Slot *slot, Ir *value, Span span) {
  Ir *ir = ir_add(c, IR_SET, NO_VALUE, span, 1, value, NULL);
  ir->slot = slot;
}

Ir *ir_get(Claimer *c, Slot *slot, Span span) {
  Ir *ir = ir_add(c, IR_GET, slot->type, span, 0, NULL, NULL);
  ir->slot = slot;
  return ir;
}

/* ── states of variables ─────────────────────────────────────────────────────────────────────── */

static Env env_copy(Claimer *c, const Env *env) {
  Env copy = {ARENA_ARRAY(&c->unit->arena, Var, c->func->locals.n + 1), env->dead};
  memcpy(copy.vars, env->vars, sizeof(Var) * (size_t)c->func->locals.n);
  return copy;
}

static Env env_dead(Claimer *c) {
  return (Env){ARENA_ARRAY(&c->unit->arena, Var, c->func->locals.n + 1), true};
}

/* What holds where two paths meet. True when `into` changed. */
static bool env_join(const Claimer *c, Env *into, const Env *other) {
  if (other->dead)
    return false;
  size_t bytes = sizeof(Var) * (size_t)c->func->locals.n;
  if (into->dead) {
    memcpy(into->vars, other->vars, bytes);
    into->dead = false;
    return true;
  }
  bool changed = false;
  for (int i = 0; i < c->func->locals.n; i++) {
    Var *a = &into->vars[i];
    const Var *b = &other->vars[i];
    Var joined = {a->slot ? a->slot : b->slot, a->assigned && b->assigned, a->several || b->several,
                  a->unknown || b->unknown};
    if (a->slot && b->slot && a->slot != b->slot)
      joined.several = true;
    changed = changed || joined.slot != a->slot || joined.assigned != a->assigned ||
              joined.several != a->several || joined.unknown != a->unknown;
    *a = joined;
  }
  return changed;
}

int local_index(const Func *func, const char *name) {
  for (int i = 0; i < func->locals.n; i++)
    if (func->locals.items[i] == name)
      return i;
  NEVER("a name that bind did not see");
}

static void assign(Claimer *c, const char *name, Ir *value, Span span) {
  Var *var = &c->env.vars[local_index(c->func, name)];
  if (!value) { /* its value was refused: later reads say so */
    *var = (Var){.unknown = true};
    return;
  }
  *var = (Var){slot_of(c, name, value->type), .assigned = true};
  ir_set(c, var->slot, value, span);
}

/* ── statements ──────────────────────────────────────────────────────────────────────────────── */

/* Claims `body` into `block`, starting from the state at hand and leaving its end state in c->env.
 */
static void claim_into(Claimer *c, Block *block, const AstList *body) {
  Block *outer = c->block;
  c->block = block;
  claim_block(c, body);
  c->block = outer;
}

/* Values of a right side, evaluated in order before anything is assigned. */
typedef struct Values {
  Ir *value;            /* a single value, or NULL */
  struct Values *items; /* a tuple's */
  int n;                /* of a tuple, else 0 */
} Values;

static bool is_sequence(const Ast *expr) {
  return expr->kind == AST_Tuple || expr->kind == AST_List;
}

/* Evaluates `expr` as far as `target` takes it apart. */
static bool claim_values(Claimer *c, const Ast *target, const Ast *expr, Values *values) {
  if (!is_sequence(target)) {
    values->value = claim_expr(c, expr);
    return values->value != NULL;
  }
  if (!is_sequence(expr) || expr->list.n != target->list.n) {
    refuse(c, "RXT010", OUTCOME_NOT_COVERED, expr->span, NULL,
           "unpacking is covered for a tuple of the same length only");
    return false;
  }
  values->n = expr->list.n;
  values->items = ARENA_ARRAY(&c->unit->arena, Values, expr->list.n + 1);
  bool fine = true;
  for (int i = 0; i < expr->list.n; i++)
    fine = claim_values(c, target->list.items[i], expr->list.items[i], &values->items[i]) && fine;
  return fine;
}

/* Stores what claim_values found. Values that could not be claimed leave their names unknown. */
static void claim_target(Claimer *c, const Ast *target, const Values *values, Span span) {
  if (target->kind == AST_Name) {
    assign(c, target->text, values->value, span);
  } else if (is_sequence(target)) {
    if (!values->items && values->value)
      refuse(c, "RXT010", OUTCOME_NOT_COVERED, target->span, NULL,
             "unpacking is covered for a tuple of the same length only");
    for (int i = 0; i < target->list.n; i++) {
      static const Values nothing = {NULL, NULL, 0};
      claim_target(c, target->list.items[i], i < values->n ? &values->items[i] : &nothing, span);
    }
  } else if (target->kind == AST_Starred) {
    refuse(c, "RXT010", OUTCOME_NOT_COVERED, target->span, NULL, "a starred target is not covered");
    if (target->a->kind == AST_Name)
      assign(c, target->a->text, NULL, span);
  } else {
    refuse(c, "RXT010", OUTCOME_NOT_COVERED, target->span, NULL, "assigning to %s is not covered",
           target->kind == AST_Attribute ? "an attribute" : "an element");
  }
}

static void claim_assign(Claimer *c, const Ast *stmt) {
  /* a = b = value: the value is taken apart as the first target that is a tuple asks. */
  const Ast *shape = stmt->list.items[0];
  for (int i = 0; i < stmt->list.n; i++)
    if (is_sequence(stmt->list.items[i])) {
      shape = stmt->list.items[i];
      break;
    }
  Values values = {NULL, NULL, 0};
  claim_values(c, shape, stmt->a, &values);
  for (int i = 0; i < stmt->list.n; i++) {
    const Ast *target = stmt->list.items[i];
    if (!is_sequence(target) && values.items)
      refuse(c, "RXT010", OUTCOME_NOT_COVERED, target->span, NULL,
             "a tuple as a value is not covered");
    claim_target(c, target, &values, stmt->span);
  }
}

static void claim_aug_assign(Claimer *c, const Ast *stmt) {
  const Ast *target = stmt->a;
  if (target->kind != AST_Name) {
    refuse(c, "RXT010", OUTCOME_NOT_COVERED, target->span, NULL,
           "assigning to this target is not covered");
    return;
  }
  Ir *old = claim_expr(c, target);
  Ir *by = claim_expr(c, stmt->b);
  Ir *value = NULL;
  if (old && by) {
    bool tensor = old->type.kind == TYPE_TENSOR || by->type.kind == TYPE_TENSOR;
    if (tensor &&
        c->func->lane == LANE_TENSORFLOW) { /* tensors never change there: h += b is h = h + b */
      value = match_operator(c, stmt, old, by);
    } else if (old->type.kind == TYPE_TENSOR) {
      const char *fix =
          arena_format(&c->unit->arena, "write %s = %s %s …, which makes a new tensor",
                       target->text, target->text, stmt->text);
      refuse(c, "RXT010", OUTCOME_NOT_COVERED, stmt->span, fix, "%s= changes a tensor in place",
             stmt->text);
    } else if (by->type.kind == TYPE_TENSOR) {
      refuse(c, lane_table[c->func->lane].no_tensor, OUTCOME_REJECTED, stmt->span, NULL,
             "%s= on %s and a tensor is not covered", stmt->text, type_name(old->type));
    } else {
      value = claim_arith(c, stmt->text, old, by, stmt->span);
    }
  }
  assign(c, target->text, value, stmt->span);
}

static void claim_if(Claimer *c, const Ast *stmt) {
  Ir *condition = claim_condition(c, stmt->a);
  if (!condition)
    condition = ir_bool(c, true, stmt->a->span); /* go on: the branches may hold more to report */
  Ir *ir = ir_add(c, IR_IF, NO_VALUE, stmt->span, 1, condition, NULL);
  Env before = env_copy(c, &c->env);
  claim_into(c, &ir->body, &stmt->list);
  Env after = c->env;
  c->env = before;
  claim_into(c, &ir->orelse, &stmt->list2);
  env_join(c, &c->env, &after);
}

/* What a loop body's claim must be undone to when the state at its top changed. */
typedef struct Mark {
  int n_diags, n_claims;
  bool refused;
} Mark;

static Mark mark(const Claimer *c) {
  return (Mark){c->func->diags.n, c->func->claims.n, c->refused};
}

static void undo(Claimer *c, Mark to) {
  c->func->diags.n = to.n_diags;
  c->func->claims.n = to.n_claims;
  c->refused = to.refused;
}

static bool is_true(const Ast *test) {
  return test->kind == AST_Constant &&
         (test->constant == CONST_BOOL || test->constant == CONST_INT) && test->integer != 0;
}

/* The body, and for a while its condition, from the state at the loop's top until that state is
 * stable. */
static void claim_loop(Claimer *c, Ir *ir, const Ast *stmt) {
  Env top = c->env;
  Mark before = mark(c);
  Loop loop = {.outer = c->loop};
  Env done;
  for (;;) {
    ir->body = ir->orelse = (Block){NULL, 0, 0};
    loop.leave = env_dead(c);
    loop.again = env_dead(c);
    c->env = env_copy(c, &top);
    if (stmt->kind == AST_While) {
      Block *outer = c->block;
      c->block = &ir->orelse;
      Ir *condition = claim_condition(c, stmt->a);
      ir->args[0] = condition ? condition : ir_bool(c, true, stmt->a->span);
      c->block = outer;
    }
    done = env_copy(
        c, &c->env); /* the loop ends here when its condition fails or its range is empty */
    if (stmt->kind == AST_While && is_true(stmt->a))
      done.dead = true;
    if (stmt->kind == AST_For)
      c->env.vars[local_index(c->func, ir->slot->name)] = (Var){ir->slot, .assigned = true};
    c->loop = &loop;
    claim_into(c, &ir->body, &stmt->list);
    c->loop = loop.outer;
    env_join(c, &loop.again, &c->env);
    /* What was refused in this turn is reported in the last one: it must not be known before. */
    for (int i = 0; i < c->func->locals.n; i++)
      if (loop.again.vars[i].unknown && !top.vars[i].unknown)
        loop.again.vars[i] = (Var){.slot = top.vars[i].slot};
    Env next = env_copy(c, &top);
    if (!env_join(c, &next, &loop.again))
      break;
    if (++c->n_turns > MAX_LOOP_TURNS) {
      refuse(c, "RXT010", OUTCOME_NOT_COVERED, stmt->span, NULL,
             "the types of variables in this loop do not settle");
      break;
    }
    undo(c, before);
    top = next;
  }
  c->env = done;
  if (stmt->list2.n > 0) { /* else: runs when the loop was not left by break */
    if (!loop.leave.dead)
      refuse(c, "RXT010", OUTCOME_NOT_COVERED, stmt->span, NULL,
             "else on a loop with break is not covered");
    else
      claim_block(c, &stmt->list2);
  }
  env_join(c, &c->env, &loop.leave);
}

static void claim_for(Claimer *c, const Ast *stmt) {
  const Ast *call = stmt->b;
  if (stmt->a->kind != AST_Name || call->kind != AST_Call ||
      !bind_is_builtin(c->unit, c->func, call->a, "range") || call->list2.n > 0 ||
      call->list.n < 1 || call->list.n > 3) {
    refuse(c, "RXT010", OUTCOME_NOT_COVERED, stmt->b->span, NULL,
           "a for loop is covered over the builtin range with one name only");
    return;
  }
  Ir *bounds[3] = {NULL, NULL, NULL};
  for (int i = 0; i < call->list.n; i++) {
    Ir *value = claim_expr(c, call->list.items[i]);
    if (value && value->type.kind == TYPE_BOOL)
      value = ir_add(c, IR_CAST, INT, value->span, 1, value, NULL);
    if (value && value->type.kind != TYPE_INT) {
      refuse(c, "RXT010", OUTCOME_NOT_COVERED, call->list.items[i]->span, NULL,
             "range takes ints, not %s", type_name(value->type));
      value = NULL;
    }
    bounds[i] = value ? value : ir_int(c, 1, stmt->span);
  }
  Ir *start = call->list.n == 1 ? ir_int(c, 0, stmt->span) : bounds[0];
  Ir *stop = call->list.n == 1 ? bounds[0] : bounds[1];
  Ir *step = call->list.n == 3 ? bounds[2] : ir_int(c, 1, stmt->span);
  Ir *ir = ir_add(c, IR_FOR, NO_VALUE, stmt->span, 3, start, stop);
  ir->args[2] = step;
  ir->slot = slot_of(c, stmt->a->text, INT);
  claim_loop(c, ir, stmt);
}

static void claim_return(Claimer *c, const Ast *stmt) {
  Ir *value =
      stmt->a ? claim_expr(c, stmt->a) : ir_add(c, IR_CONST, NO_VALUE, stmt->span, 0, NULL, NULL);
  Type expected = c->func->result.type;
  if (value && !type_equal(value->type, expected))
    refuse(c, "RXT003", OUTCOME_NOT_COVERED, stmt->a ? stmt->a->span : stmt->span,
           "correct the annotation or the expression", "this returns %s, the annotation says %s",
           type_name(value->type), type_name(expected));
  else if (value)
    ir_add(c, IR_RETURN, NO_VALUE, stmt->span, 1, value, NULL);
  c->env.dead = true;
}

/* raise Name, raise Name("text"): for the builtin exceptions that take one text. */
static void claim_raise(Claimer *c, const Ast *exc, Span span) {
  static const char *const known[] = {
      "ArithmeticError", "AssertionError", "Exception",     "IndexError",
      "KeyError",        "LookupError",    "OverflowError", "NotImplementedError",
      "RuntimeError",    "TypeError",      "ValueError",    "ZeroDivisionError"};
  const Ast *name = exc && exc->kind == AST_Call ? exc->a : exc;
  const Ast *message = exc && exc->kind == AST_Call && exc->list.n == 1 && exc->list2.n == 0
                           ? exc->list.items[0]
                           : NULL;
  bool fine = exc &&
              (exc->kind == AST_Name || message ||
               (exc->kind == AST_Call && exc->list.n == 0 && exc->list2.n == 0)) &&
              (!message || (message->kind == AST_Constant && message->constant == CONST_STR));
  bool builtin = false;
  for (size_t i = 0; fine && i < sizeof known / sizeof known[0]; i++)
    builtin = builtin || bind_is_builtin(c->unit, c->func, name, known[i]);
  if (!builtin) {
    refuse(c, "RXT010", OUTCOME_NOT_COVERED, span, NULL,
           "raise is covered for builtin exceptions with a literal text");
  } else {
    Ir *ir = ir_add(c, IR_RAISE, NO_VALUE, span, 0, NULL, NULL);
    ir->text = name->text;
    ir->message = message ? message->text : NULL;
    ir->message_bytes = message ? message->integer : 0;
  }
  c->env.dead = true;
}

static void claim_assert(Claimer *c, const Ast *stmt) {
  Ir *asserts = ir_add(c, IR_ASSERTS, BOOL, stmt->span, 0, NULL, NULL);
  Ir *checked = ir_add(c, IR_IF, NO_VALUE, stmt->span, 1, asserts, NULL);
  Env before = env_copy(c, &c->env);
  Block *outer = c->block;
  c->block = &checked->body;
  Ir *holds = claim_condition(c, stmt->a);
  if (stmt->b && !(stmt->b->kind == AST_Constant && stmt->b->constant == CONST_STR)) {
    refuse(c, "RXT010", OUTCOME_NOT_COVERED, stmt->b->span, NULL,
           "assert is covered with a literal text only");
  } else if (holds) {
    Ir *fails = ir_add(c, IR_NOT, BOOL, stmt->a->span, 1, holds, NULL);
    Ir *ir = ir_add(c, IR_IF, NO_VALUE, stmt->span, 1, fails, NULL);
    c->block = &ir->body;
    Ir *raise = ir_add(c, IR_RAISE, NO_VALUE, stmt->span, 0, NULL, NULL);
    raise->text = "AssertionError";
    raise->message = stmt->b ? stmt->b->text : NULL;
    raise->message_bytes = stmt->b ? stmt->b->integer : 0;
  }
  c->block = outer;
  env_join(c, &c->env, &before);
}

/* print(…) as a statement: of literal texts, bools, ints and floats. All arguments are evaluated
 * before the first is printed. */
static void claim_print(Claimer *c, const Ast *call) {
  int n = call->list.n;
  Ir **values = ARENA_ARRAY(&c->unit->arena, Ir *, n + 1);
  bool fine = call->list2.n == 0;
  if (!fine)
    refuse(c, "RXT010", OUTCOME_NOT_COVERED, call->span, NULL,
           "print is covered without keywords only");
  for (int i = 0; i < n && fine; i++) {
    const Ast *arg = call->list.items[i];
    if (arg->kind == AST_Constant && arg->constant == CONST_STR)
      continue;
    values[i] = claim_expr(c, arg);
    fine = values[i] != NULL;
    if (values[i] && (values[i]->type.kind < TYPE_BOOL || values[i]->type.kind > TYPE_FLOAT)) {
      refuse(c, "RXT010", OUTCOME_NOT_COVERED, arg->span, NULL, "print of %s is not covered",
             type_name(values[i]->type));
      fine = false;
    }
  }
  for (int i = 0; fine && (i < n || i == 0); i++) { /* print() ends a line, too */
    bool value = i < n && values[i];
    Ir *ir = ir_add(c, IR_PRINT, NO_VALUE, call->span, value, values[i], NULL);
    ir->text = i < n - 1 ? " " : "\n";
    ir->message = value ? NULL : i < n ? call->list.items[i]->text : "";
    ir->message_bytes = value || i == n ? 0 : call->list.items[i]->integer;
  }
}

static void claim_jump(Claimer *c, const Ast *stmt) {
  bool leaves = stmt->kind == AST_Break;
  if (!c->loop)
    NEVER("break outside a loop"); /* a syntax error in Python */
  ir_add(c, leaves ? IR_BREAK : IR_CONTINUE, NO_VALUE, stmt->span, 0, NULL, NULL);
  env_join(c, leaves ? &c->loop->leave : &c->loop->again, &c->env);
  c->env.dead = true;
}

static void claim_stmt(Claimer *c, const Ast *stmt) {
  switch (stmt->kind) {
  case AST_Pass:
    return;
  case AST_Expr: /* a text is a comment; anything else runs for its errors */
    if (stmt->a->kind == AST_Call && bind_is_builtin(c->unit, c->func, stmt->a->a, "print"))
      claim_print(c, stmt->a);
    else if (stmt->a->kind != AST_Constant)
      claim_expr(c, stmt->a);
    return;
  case AST_Assign:
    claim_assign(c, stmt);
    return;
  case AST_AnnAssign:
    if (stmt->a->kind != AST_Name) {
      refuse(c, "RXT010", OUTCOME_NOT_COVERED, stmt->a->span, NULL,
             "assigning to this target is not covered");
    } else if (stmt->c) { /* Python does not hold a local to its annotation, so neither is anything
                             read from it */
      Values values = {claim_expr(c, stmt->c), NULL, 0};
      claim_target(c, stmt->a, &values, stmt->span);
    }
    return;
  case AST_AugAssign:
    claim_aug_assign(c, stmt);
    return;
  case AST_If:
    claim_if(c, stmt);
    return;
  case AST_For:
    claim_for(c, stmt);
    return;
  case AST_While: {
    Ir *ir = ir_add(c, IR_WHILE, NO_VALUE, stmt->span, 1, NULL, NULL);
    claim_loop(c, ir, stmt);
    return;
  }
  case AST_Return:
    claim_return(c, stmt);
    return;
  case AST_Raise:
    if (stmt->b)
      refuse(c, "RXT010", OUTCOME_NOT_COVERED, stmt->span, NULL, "raise … from is not covered");
    else
      claim_raise(c, stmt->a, stmt->span);
    return;
  case AST_Assert:
    claim_assert(c, stmt);
    return;
  case AST_Break:
  case AST_Continue:
    claim_jump(c, stmt);
    return;
  default:
    refuse(c, "RXT010", OUTCOME_NOT_COVERED, stmt->span, NULL, "%s statements are not covered",
           ast_kind_name(stmt));
    for (int i = 0; i < c->func->locals.n;
         i++) /* it may have assigned them: one finding for one cause */
      c->env.vars[i].unknown = c->env.vars[i].unknown || !c->env.vars[i].slot;
  }
}

void claim_block(Claimer *c, const AstList *body) {
  for (int i = 0; i < body->n && !c->env.dead; i++)
    claim_stmt(c, body->items[i]);
}
