/* claim.h: what the four files of the claim pass share.
 *
 *   claim_func.c  the function as a whole: is it a candidate, which framework is it of
 *   claim.c       statements, variables on several paths
 *   claim_expr.c  scalar expressions, conditions, names
 *   match.c       calls, methods and operators on tensors, against the rules of ops.def
 */
#ifndef TENSORC_CLAIM_H
#define TENSORC_CLAIM_H

#include "tensorc.h"

/* What is known of one local name at a point of the function. */
typedef struct Var {
  Slot *slot;    /* the variable it is now; NULL before any assignment */
  bool assigned; /* on every path to here */
  bool several;  /* paths bring different types: reading it is refused */
  bool unknown;  /* what assigned it was refused, and reported there */
} Var;

/* All local names at one point, by their index in Func.locals. */
typedef struct Env {
  Var *vars;
  bool dead; /* no path leads here */
} Env;

typedef struct Loop {
  Env leave; /* joined states of every `break` */
  Env again; /* joined states of every `continue` */
  struct Loop *outer;
} Loop;

typedef struct Claimer {
  Unit *unit;
  Func *func;
  Block *block; /* where instructions go now */
  Env env;
  Loop *loop;
  bool refused; /* something was refused: the function stays Python */
  int n_turns;  /* loop bodies claimed so far: bounds the work on nested loops */
} Claimer;

/* Records why the function stays Python. Returns NULL so that expressions can `return refuse(…)`.
 */
Ir *refuse(Claimer *c, const char *code, Outcome outcome, Span span, const char *suggestion,
           const char *format, ...) TC_PRINTF(6, 7);

Ir *ir_add(Claimer *c, IrOp op, Type type, Span span, int n_args, Ir *a, Ir *b);
Ir *ir_int(Claimer *c, int64_t value, Span span);
Ir *ir_bool(Claimer *c, bool value, Span span);
/* A variable of this name; `parameter` is the index of the parameter it starts as, or -1. */
Slot *slot_new(Claimer *c, const char *name, Type type, int parameter);
Slot *slot_temporary(Claimer *c, Type type);
int local_index(const Func *func, const char *name); /* into Func.locals and Env.vars */
void ir_set(Claimer *c, Slot *slot, Ir *value, Span span);
Ir *ir_get(Claimer *c, Slot *slot, Span span);

void claim_block(Claimer *c, const AstList *body); /* statements, into c->block */
/* NULL when the expression is refused; the reason is recorded. */
Ir *claim_expr(Claimer *c, const Ast *expr);
Ir *claim_condition(Claimer *c, const Ast *expr); /* its truth, a bool */
Ir *claim_arith(Claimer *c, const char *op, Ir *a, Ir *b, Span span);
Ir *match_call(Claimer *c, const Ast *call);
Ir *match_operator(Claimer *c, const Ast *expr, Ir *a, Ir *b);

#endif
