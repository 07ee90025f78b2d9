/* claim_expr.c: expressions of ints, floats and bools, conditions, and names.
 *
 * Reads expressions in Python's order of evaluation. Leaves IR values. Python's rules hold: and, or
 * and conditional expressions evaluate one side only, a chained comparison evaluates its middle
 * once, a bool is an int in arithmetic.
 */
#include "claim.h"

#include <math.h>
#include <string.h>

static const Type INT = {.kind = TYPE_INT}, FLOAT = {.kind = TYPE_FLOAT},
                  BOOL = {.kind = TYPE_BOOL}, NONE = {.kind = TYPE_NONE};

static bool is_number(const Ir *value) {
  return value->type.kind >= TYPE_BOOL && value->type.kind <= TYPE_FLOAT;
}

static Ir *cast(Claimer *c, Ir *value, Type type) {
  if (type_equal(value->type, type))
    return value;
  return ir_add(c, IR_CAST, type, value->span, 1, value, NULL);
}

static Ir *claim_constant(Claimer *c, const Ast *expr) {
  switch (expr->constant) {
  case CONST_NONE:
    return ir_add(c, IR_CONST, NONE, expr->span, 0, NULL, NULL);
  case CONST_BOOL:
    return ir_bool(c, expr->integer != 0, expr->span);
  case CONST_INT:
    return ir_int(c, expr->integer, expr->span);
  case CONST_FLOAT: {
    Ir *ir = ir_add(c, IR_CONST, FLOAT, expr->span, 0, NULL, NULL);
    ir->number = expr->number;
    return ir;
  }
  case CONST_BIGINT:
    return refuse(c, "RXT010", OUTCOME_NOT_COVERED, expr->span, NULL,
                  "an int beyond 64 bits is not covered");
  case CONST_STR:
  case CONST_OTHER:
    break;
  }
  return refuse(c, "RXT010", OUTCOME_NOT_COVERED, expr->span, NULL,
                "a constant of this type is not covered");
}

static Ir *claim_name(Claimer *c, const Ast *expr) {
  Func *func = c->func;
  for (int i = 0; i < func->locals.n; i++) {
    if (func->locals.items[i] != expr->text)
      continue;
    const Var *var = &c->env.vars[i];
    if (var->unknown) {
      c->refused = true;
      return NULL;
    }
    if (var->several)
      return refuse(c, "RXT010", OUTCOME_NOT_COVERED, expr->span,
                    "give each type a name of its own", "%s has different types on different paths",
                    expr->text);
    if (!var->slot) {
      /* Unassigned on every path known so far, so Python raises here. In a loop's first turn that
       * may be a path which that turn cannot take: what stands behind it is left out until a turn
       * has assigned the name. */
      c->env.dead = true;
      return refuse(c, "RXT010", OUTCOME_NOT_COVERED, expr->span, NULL,
                    "%s is read before it is assigned", expr->text);
    }
    Ir *ir = ir_get(c, var->slot, expr->span);
    ir->checked = !var->assigned;
    if (ir->checked)
      var->slot->may_be_unbound = true;
    return ir;
  }
  return refuse(c, "RXT010", OUTCOME_NOT_COVERED, expr->span,
                "pass it as a parameter, or write the literal",
                "%s is a global: its value is not known when the module is compiled", expr->text);
}

/* The operator on two numbers; both sides become one type first. */
Ir *claim_arith(Claimer *c, const char *op, Ir *a, Ir *b, Span span) {
  if (!is_number(a) || !is_number(b))
    return refuse(c, "RXT010", OUTCOME_NOT_COVERED, span, NULL, "%s on %s and %s is not covered",
                  op, type_name(a->type), type_name(b->type));
  bool floats = a->type.kind == TYPE_FLOAT || b->type.kind == TYPE_FLOAT;
  OperatorId operator = operator_find(op);
  if (operator == OPERATOR_NONE)
    return refuse(c, "RXT010", OUTCOME_NOT_COVERED, span, NULL, "operator %s is not covered", op);
  /* Which type int ** int has depends on the exponent's value, float ** float can be complex. */
  if (operator == OPERATOR_POW && (floats || b->op != IR_CONST || b->integer < 0))
    return refuse(c, "RXT010", OUTCOME_NOT_COVERED, span, NULL,
                  "** is covered for ints with a literal exponent of 0 or more");
  Type type = floats ? FLOAT : INT;
  Ir *left = cast(c, a, type), *right = cast(c, b, type);
  Type result;
  if (!typing_arith(operator, left->type, right->type, &result))
    NEVER("operands of one type");
  Ir *ir = ir_add(c, IR_ARITH, result, span, 2, left, right);
  ir->operator = operator;
  return ir;
}

static Ir *claim_unary(Claimer *c, const Ast *expr) {
  if (strcmp(expr->text, "not") == 0) {
    Ir *value = claim_condition(c, expr->a);
    return value ? ir_add(c, IR_NOT, BOOL, expr->span, 1, value, NULL) : NULL;
  }
  if (strcmp(expr->text, "-") == 0 && expr->a->kind == AST_Constant &&
      expr->a->constant == CONST_BIGINT && expr->a->integer)
    return ir_int(c, INT64_MIN, expr->span);
  Ir *value = claim_expr(c, expr->a);
  if (!value)
    return NULL;
  if (!is_number(value) || strcmp(expr->text, "~") == 0)
    return refuse(c, "RXT010", OUTCOME_NOT_COVERED, expr->span,
                  value->type.kind != TYPE_TENSOR    ? NULL
                  : c->func->lane == LANE_TENSORFLOW ? "write tf.negative(x)"
                                                     : "write x.neg()",
                  "unary %s on %s is not covered", expr->text, type_name(value->type));
  if (value->type.kind == TYPE_BOOL)
    value = cast(c, value, INT);
  if (strcmp(expr->text, "+") == 0)
    return value;
  return ir_add(c, IR_NEG, value->type, expr->span, 1, value, NULL);
}

/* ── conditions ──────────────────────────────────────────────────────────────────────────────── */

static Ir *truth(Claimer *c, Ir *value, Span span) {
  if (!value)
    return NULL;
  if (value->type.kind == TYPE_NONE)
    return ir_bool(c, false, span);
  if (!is_number(value))
    return refuse(c, "RXT010", OUTCOME_NOT_COVERED, span, NULL,
                  "a condition on a tensor's value is not covered");
  return cast(c, value, BOOL);
}

/* One comparison of a chain. `right` is the source of b. */
static Ir *claim_compare_one(Claimer *c, const char *op, Ir *a, Ir *b, Span span) {
  bool identity = strcmp(op, "is") == 0 || strcmp(op, "is-not") == 0;
  if (identity) {
    /* An argument of a compiled call is never None where its annotation names a type. */
    if (a->type.kind != TYPE_NONE && b->type.kind != TYPE_NONE)
      return refuse(c, "RXT010", OUTCOME_NOT_COVERED, span, NULL, "%s is covered with None only",
                    op);
    return ir_bool(c, (a->type.kind == b->type.kind) == (strcmp(op, "is") == 0), span);
  }
  if (!is_number(a) || !is_number(b) || strcmp(op, "in") == 0 || strcmp(op, "not-in") == 0)
    return refuse(c, "RXT010", OUTCOME_NOT_COVERED, span, NULL, "%s on %s and %s is not covered",
                  op, type_name(a->type), type_name(b->type));
  if (a->type.kind == TYPE_BOOL)
    a = cast(c, a, INT);
  if (b->type.kind == TYPE_BOOL)
    b = cast(c, b, INT);
  Ir *ir = ir_add(c, IR_COMPARE, BOOL, span, 2, a, b);
  ir->operator = operator_find(op);
  return ir;
}

/* Runs `side` for one side of a branch and stores its value. False when it was refused; a side that
 * no path can come back from stores nothing. */
typedef Ir *Side(Claimer *c, const void *state);

static bool claim_side(Claimer *c, Block *block, Slot **slot, Side *side, const void *state,
                       Span span) {
  Block *outer = c->block;
  c->block = block;
  bool dead = c->env.dead;
  c->env.dead = false;
  Ir *value = side(c, state);
  bool raised = c->env.dead;
  c->env.dead = dead; /* the other side goes on */
  if (value) {
    if (!*slot)
      *slot = slot_temporary(c, value->type);
    if (!type_equal((*slot)->type, value->type)) {
      refuse(c, "RXT010", OUTCOME_NOT_COVERED, span, NULL,
             "both sides must have one type, not %s and %s", type_name((*slot)->type),
             type_name(value->type));
      value = NULL;
    } else {
      ir_set(c, *slot, value, span);
    }
  }
  c->block = outer;
  return value || raised;
}

typedef struct Chain {
  const Ast *expr; /* Compare or BoolOp */
  int at;          /* next operand */
  Ir *left;        /* Compare: the operand already evaluated */
} Chain;

static Ir *compare_rest(Claimer *c, const void *state);

/* a < b and, if that holds, the rest of the chain. */
static Ir *compare_from(Claimer *c, const Chain *chain) {
  const Ast *expr = chain->expr, *right_source = expr->list2.items[chain->at];
  const char *op = expr->list.items[chain->at]->text;
  if (expr->list2.n == 1 && (strcmp(op, "in") == 0 || strcmp(op, "not-in") == 0) &&
      (right_source->kind == AST_Tuple || right_source->kind == AST_List) &&
      right_source->list.n > 0) {
    /* x in (1, 2): the same as x == 1 or x == 2, for literals */
    Ir *any = NULL;
    for (int i = 0; i < right_source->list.n; i++) {
      if (right_source->list.items[i]->kind != AST_Constant)
        return refuse(c, "RXT010", OUTCOME_NOT_COVERED, expr->span, NULL,
                      "%s is covered with a tuple of numbers only", op);
      Ir *item = claim_expr(c, right_source->list.items[i]);
      Ir *equal = item ? claim_compare_one(c, "==", chain->left, item, expr->span) : NULL;
      if (!equal)
        return NULL;
      Slot *slot = NULL;
      if (any) {
        slot = slot_temporary(c, BOOL);
        ir_set(c, slot, any, expr->span);
        Ir *branch = ir_add(c, IR_IF, NONE, expr->span, 1, equal, NULL);
        Block *outer = c->block;
        c->block = &branch->body;
        ir_set(c, slot, ir_bool(c, true, expr->span), expr->span);
        c->block = outer;
      }
      any = slot ? ir_get(c, slot, expr->span) : equal;
    }
    return strcmp(op, "in") == 0 ? any : ir_add(c, IR_NOT, BOOL, expr->span, 1, any, NULL);
  }
  Ir *right = claim_expr(c, right_source);
  Ir *first = right ? claim_compare_one(c, op, chain->left, right, expr->span) : NULL;
  if (!first || chain->at + 1 == expr->list2.n)
    return first;
  Slot *slot = slot_temporary(c, BOOL);
  ir_set(c, slot, first, expr->span);
  Ir *branch = ir_add(c, IR_IF, NONE, expr->span, 1, ir_get(c, slot, expr->span), NULL);
  Chain rest = {expr, chain->at + 1, right};
  return claim_side(c, &branch->body, &slot, compare_rest, &rest, expr->span)
             ? ir_get(c, slot, expr->span)
             : NULL;
}

static Ir *compare_rest(Claimer *c, const void *state) { return compare_from(c, state); }

static Ir *claim_compare(Claimer *c, const Ast *expr) {
  Ir *left = claim_expr(c, expr->a);
  if (!left)
    return NULL;
  Chain chain = {expr, 0, left};
  return compare_from(c, &chain);
}

static Ir *bool_op_rest(Claimer *c, const void *state);

/* and, or: the next operand decides unless the one before it did. */
static Ir *bool_op_from(Claimer *c, const Chain *chain) {
  const Ast *expr = chain->expr;
  Ir *first = claim_condition(c, expr->list.items[chain->at]);
  if (!first || chain->at + 1 == expr->list.n)
    return first;
  Slot *slot = slot_temporary(c, BOOL);
  ir_set(c, slot, first, expr->span);
  Ir *go_on = ir_get(c, slot, expr->span);
  if (strcmp(expr->text, "or") == 0)
    go_on = ir_add(c, IR_NOT, BOOL, expr->span, 1, go_on, NULL);
  Ir *branch = ir_add(c, IR_IF, NONE, expr->span, 1, go_on, NULL);
  Chain rest = {expr, chain->at + 1, NULL};
  return claim_side(c, &branch->body, &slot, bool_op_rest, &rest, expr->span)
             ? ir_get(c, slot, expr->span)
             : NULL;
}

static Ir *bool_op_rest(Claimer *c, const void *state) { return bool_op_from(c, state); }

Ir *claim_condition(Claimer *c, const Ast *expr) {
  if (expr->kind == AST_BoolOp) {
    Chain chain = {expr, 0, NULL};
    return bool_op_from(c, &chain);
  }
  return truth(c, claim_expr(c, expr), expr->span);
}

/* and, or as a value give one of their operands: a bool only when every operand is one. */
static Ir *claim_bool_op(Claimer *c, const Ast *expr) {
  for (int i = 0; i < expr->list.n; i++) {
    const Ast *operand = expr->list.items[i];
    bool is_bool = operand->kind == AST_Compare ||
                   (operand->kind == AST_UnaryOp && strcmp(operand->text, "not") == 0) ||
                   operand->kind == AST_BoolOp ||
                   (operand->kind == AST_Constant && operand->constant == CONST_BOOL);
    if (operand->kind == AST_Name)
      for (int k = 0; k < c->func->locals.n; k++)
        if (c->func->locals.items[k] == operand->text)
          is_bool = !c->env.vars[k].slot || c->env.vars[k].slot->type.kind == TYPE_BOOL;
    if (!is_bool)
      return refuse(c, "RXT010", OUTCOME_NOT_COVERED, operand->span, NULL,
                    "%s as a value is covered for bools only", expr->text);
  }
  return claim_condition(c, expr);
}

static Ir *side_expr(Claimer *c, const void *state) { return claim_expr(c, state); }

static Ir *claim_if_exp(Claimer *c, const Ast *expr) {
  Ir *condition = claim_condition(c, expr->a);
  if (!condition)
    return NULL;
  Ir *branch = ir_add(c, IR_IF, NONE, expr->span, 1, condition, NULL);
  Slot *slot = NULL;
  bool yes = claim_side(c, &branch->body, &slot, side_expr, expr->b, expr->span);
  bool no = claim_side(c, &branch->orelse, &slot, side_expr, expr->c, expr->span);
  c->env.dead = c->env.dead || (yes && no && !slot); /* both raise */
  return yes && no && slot ? ir_get(c, slot, expr->span) : NULL;
}

/* A constant that is no value of ours: a text, bytes, … */
static bool is_text(const Ast *expr) {
  return expr->kind == AST_Constant && expr->constant >= CONST_STR;
}

Ir *claim_expr(Claimer *c, const Ast *expr) {
  switch (expr->kind) {
  case AST_Constant:
    return claim_constant(c, expr);
  case AST_Name:
    return claim_name(c, expr);
  case AST_UnaryOp:
    return claim_unary(c, expr);
  case AST_BinOp: {
    /* A text beside a tensor is refused as an operand that is no tensor. */
    bool text = is_text(expr->a);
    Ir *a = text ? NULL : claim_expr(c, expr->a);
    if (a && a->type.kind == TYPE_TENSOR && is_text(expr->b))
      return match_operator(c, expr, a, NULL);
    Ir *b = claim_expr(c, expr->b);
    if (text)
      return b && b->type.kind == TYPE_TENSOR ? match_operator(c, expr, NULL, b)
                                              : claim_expr(c, expr->a);
    if (!a || !b)
      return NULL;
    if (a->type.kind == TYPE_TENSOR || b->type.kind == TYPE_TENSOR)
      return match_operator(c, expr, a, b);
    return claim_arith(c, expr->text, a, b, expr->span);
  }
  case AST_Compare:
    return claim_compare(c, expr);
  case AST_BoolOp:
    return claim_bool_op(c, expr);
  case AST_IfExp:
    return claim_if_exp(c, expr);
  case AST_Call:
    return match_call(c, expr);
  default:
    return refuse(c, "RXT010", OUTCOME_NOT_COVERED, expr->span, NULL,
                  "%s expressions are not covered", ast_kind_name(expr));
  }
}
