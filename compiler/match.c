/* match.c: calls, methods and operators on tensors, held against the rules of ops.def.
 *
 * Reads the lane's rules of a spelling in the table's order and takes the first whose argument form
 * and operand types fit. When none does: `misused` says the form is wrong, `reject` that the
 * tensors are, the lane's no_tensor that an operand is no tensor, RXT030 that no rule has this
 * spelling. Leaves one IR_TENSOR and one Claim.
 */
#include "claim.h"

#include <string.h>

/* The arguments of one call, as written. */
typedef struct Arguments {
  const char *shown; /* "x.relu", "torch.relu", "+": for messages */
  Span span;         /* of the whole expression */
  SpellingKind kind;
  Ir *receiver;                         /* SPELL_METHOD; counts as the first tensor */
  const AstList *positional, *keywords; /* NULL for operators */
  Ir *operands[3];                      /* claimed tensors, the receiver first */
  int n_operands; /* how many positional arguments (and receiver) `operands` covers */
} Arguments;

/* The options that a call gives to a signature. */
typedef struct Given {
  int dim;
  bool keepdim;
} Given;

static bool is_text(const Ast *value, const char *text) {
  return value->kind == AST_Constant && value->constant == CONST_STR &&
         value->integer == (int64_t)strlen(text) && strcmp(value->text, text) == 0;
}

static bool option_fits(const Option *option, const Ast *value, Given *given) {
  bool constant = value->kind == AST_Constant;
  switch (option->kind) {
  case OPTION_DIM:
    if (!constant || value->constant != CONST_INT || value->integer < 0 || value->integer > 1 ||
        (option->only >= 0 && value->integer != option->only))
      return false;
    given->dim = (int)value->integer;
    return true;
  case OPTION_BOOL:
  case OPTION_FALSE:
    if (!constant || value->constant != CONST_BOOL ||
        (option->kind == OPTION_FALSE && value->integer))
      return false;
    given->keepdim = value->integer != 0;
    return true;
  case OPTION_NONE:
    return constant && value->constant == CONST_NONE;
  case OPTION_NONE_TEXT:
    return is_text(value, "none");
  case OPTION_TANH_TEXT:
    return is_text(value, "tanh");
  case OPTION_NHWC_TEXT:
    return is_text(value, "NHWC");
  }
  NEVER("option");
}

/* Do the arguments have the form of `signature`? Tensor types are not looked at. */
static bool form_fits(const Arguments *args, const Signature *signature, Given *given) {
  *given = (Given){0, false};
  if (args->kind == SPELL_OPERATOR)
    return signature->n_tensors == args->n_operands;
  int n_receiver = args->kind == SPELL_METHOD;
  int n_positional = args->positional->n + n_receiver;
  if (n_positional < signature->n_tensors)
    return false;
  for (int i = n_receiver; signature->strict && i < signature->n_tensors; i++) {
    const Ast *value = args->positional->items[i - n_receiver];
    if (value->kind == AST_UnaryOp && strcmp(value->text, "-") == 0)
      value = value->a;
    if (value->kind == AST_Constant &&
        (value->constant == CONST_INT || value->constant == CONST_NONE))
      return false;
  }
  bool seen[3] = {false, false, false};
  int next = 0;
  for (int i = signature->n_tensors; i < n_positional; i++, next++) {
    const Option *option = &signature->options[next];
    if (next == 3 || !option->name || !option->positional ||
        !option_fits(option, args->positional->items[i - n_receiver], given))
      return false;
    seen[next] = true;
  }
  for (int k = 0; k < args->keywords->n; k++) {
    const Ast *keyword = args->keywords->items[k];
    int i = 0;
    while (i < 3 && signature->options[i].name &&
           (!keyword->text || strcmp(signature->options[i].name, keyword->text) != 0))
      i++;
    if (i == 3 || !signature->options[i].name || seen[i] ||
        !option_fits(&signature->options[i], keyword->a, given))
      return false;
    seen[i] = true;
  }
  for (int i = 0; i < 3 && signature->options[i].name; i++)
    if (signature->options[i].required && !seen[i])
      return false;
  return true;
}

/* Types that a list of operands has, for messages: "f32[2], int". */
static const char *shown_types(Claimer *c, const Arguments *args, int n) {
  const char *text = "";
  for (int i = 0; i < n; i++)
    text = arena_format(&c->unit->arena, "%s%s%s", text, i ? ", " : "",
                        args->operands[i] ? type_name(args->operands[i]->type) : "None");
  return text;
}

/* "x.softmax(dim=1) or x.softmax(dim)": the forms that do work, for the suggestion. */
static const char *shown_forms(Claimer *c, int first, int end) {
  const char *text = "";
  for (int i = first; i < end; i++) {
    const Form *row = &rule_table[i].form;
    const char *form = form_text(&c->unit->arena, row);
    if (row->kind == SPELL_OPERATOR)
      form = arena_format(&c->unit->arena, "%s with ranks %s", form, row->ranks);
    if (!strstr(text, form))
      text = arena_format(&c->unit->arena, "%s%s%s", text, *text ? ", or " : "", form);
  }
  return arena_format(
      &c->unit->arena,
      "native: %s; dim or axis is a literal 0 or 1, operands are float32 of rank 1 or 2", text);
}

static bool is_operand(const Ir *value) {
  return value && value->type.kind == TYPE_TENSOR && value->type.dtype == DTYPE_F32 &&
         value->type.device == DEVICE_CPU;
}

/* The result type of `form`, or false when it does not take these operands. */
static bool operands_fit(const Form *form, const Arguments *args, const Given *given,
                         Type *result) {
  Type types[3];
  int ranks[3] = {0}, n = signature_table[form->signature].n_tensors;
  for (int i = 0; i < n; i++) {
    if (!args->operands[i])
      return false;
    types[i] = args->operands[i]->type;
    ranks[i] = types[i].rank;
  }
  return typing_tensor(form->op, types, n, given->dim, given->keepdim, result) &&
         form_takes(form, ranks, n);
}

static Ir *claim_tensor(Claimer *c, const Arguments *args, const Rule *rule, const Given *given,
                        Type result) {
  int n = signature_table[rule->form.signature].n_tensors;
  Ir *ir = ir_add(c, IR_TENSOR, result, args->span, 0, NULL, NULL);
  ir->tensor_op = rule->form.op;
  ir->dim = given->dim;
  ir->keepdim = given->keepdim;
  ir->n_args = n;
  Claim claim = {
      .rule = rule, .span = args->span, .target = args->shown, .result = result, .n_operands = n};
  for (int i = 0; i < n; i++) {
    ir->args[i] = args->operands[i];
    claim.operands[i] = args->operands[i]->type;
  }
  int n_receiver = args->kind == SPELL_METHOD;
  for (int i = n - n_receiver; args->positional && i < args->positional->n;
       i++) { /* options given by position */
    bool number = args->positional->items[i]->constant == CONST_INT;
    claim.operands[claim.n_operands++] = (Type){.kind = number ? TYPE_INT : TYPE_NONE};
  }
  ARENA_PUSH(&c->unit->arena, &c->func->claims, claim);
  return ir;
}

/* The rule whose codes a refusal has: the first that knows the ranks of the first `n` operands, as
 * far as they are float32. */
static const Rule *refusing_rule(const Arguments *args, int n, int first, int end) {
  for (int r = first; r < end; r++) {
    bool known = true;
    for (int i = 0; i < n; i++)
      known = known && (!is_operand(args->operands[i]) ||
                        form_mentions_rank(&rule_table[r].form, args->operands[i]->type.rank));
    if (known)
      return &rule_table[r];
  }
  return &rule_table[first];
}

static Ir *match_rules(Claimer *c, Arguments *args, int first, int end) {
  int form = -1; /* a rule whose argument form fits */
  for (int i = first; i < end; i++) {
    Given given;
    Type result;
    if (!form_fits(args, &signature_table[rule_table[i].form.signature], &given))
      continue;
    if (operands_fit(&rule_table[i].form, args, &given, &result))
      return claim_tensor(c, args, &rule_table[i], &given, result);
    if (form < 0)
      form = i;
  }
  if (form < 0)
    return refuse(c, refusing_rule(args, args->n_operands, first, end)->label.misused,
                  OUTCOME_REJECTED, args->span, shown_forms(c, first, end),
                  "no native form of %s has these arguments", args->shown);
  int n = signature_table[rule_table[form].form.signature].n_tensors;
  bool tensors = true;
  for (int i = 0; i < n; i++)
    tensors = tensors && args->operands[i] && args->operands[i]->type.kind == TYPE_TENSOR;
  /* Of a form that only we have, users' tools know the form's code, as of any that is not native.
   */
  bool ours = strcmp(rule_table[form].label.reject, "RXT030") == 0;
  const Label *label = &refusing_rule(args, n, first, end)->label;
  const char *code = ours      ? label->misused
                     : tensors ? label->reject
                               : lane_table[c->func->lane].no_tensor;
  return refuse(c, code, OUTCOME_REJECTED, args->span, shown_forms(c, first, end),
                args->kind == SPELL_OPERATOR ? "%s does not take %s"
                                             : "no native form of %s takes %s with these arguments",
                args->shown, shown_types(c, args, n));
}

/* What the module may have put in the place of a framework's own is not known. */
static Ir *refuse_changed(Claimer *c, Span span, const char *shown) {
  return refuse(c, "RXT030", OUTCOME_NOT_COVERED, span, NULL,
                "%s is not covered: the module may change what it names", shown);
}

Ir *match_operator(Claimer *c, const Ast *expr, Ir *a, Ir *b) {
  int first, end;
  if (changes_operators(c->unit))
    return refuse_changed(c, expr->span, expr->text);
  if (!spelling_find(c->func->lane, SPELL_OPERATOR, expr->text, &first, &end))
    return refuse(c, "RXT030", OUTCOME_NOT_COVERED, expr->span, NULL,
                  "operator %s on tensors is not covered", expr->text);
  Arguments args = {.shown = expr->text,
                    .span = expr->span,
                    .kind = SPELL_OPERATOR,
                    .operands = {a, b},
                    .n_operands = 2};
  return match_rules(c, &args, first, end);
}

/* Claims the positional arguments that any rule could take as a tensor. A literal None stays NULL.
 */
static bool claim_operands(Claimer *c, Arguments *args, int first, int end) {
  int most = 0;
  for (int i = first; i < end; i++)
    if (signature_table[rule_table[i].form.signature].n_tensors > most)
      most = signature_table[rule_table[i].form.signature].n_tensors;
  if (args->receiver)
    args->operands[args->n_operands++] = args->receiver;
  bool fine = true;
  for (int i = 0; i < args->positional->n && args->n_operands < most; i++) {
    const Ast *arg = args->positional->items[i];
    Ir *value = NULL;
    if (arg->kind == AST_Starred) {
      refuse(c, rule_table[first].label.misused, OUTCOME_REJECTED, arg->span, NULL,
             "%s with a starred argument is not covered", args->shown);
      return false;
    }
    if (!(arg->kind == AST_Constant && (arg->constant == CONST_NONE || arg->constant == CONST_STR ||
                                        arg->constant == CONST_OTHER))) {
      value = claim_expr(c, arg);
      fine = fine && value;
    }
    args->operands[args->n_operands++] = value;
  }
  return fine;
}

static Ir *match_spelled(Claimer *c, const Ast *call, SpellingKind kind, const char *name,
                         const char *shown, Ir *receiver) {
  Arguments args = {.shown = shown,
                    .span = call->span,
                    .kind = kind,
                    .receiver = receiver,
                    .positional = &call->list,
                    .keywords = &call->list2};
  int first, end;
  if (!spelling_find(c->func->lane, kind, name, &first, &end))
    return refuse(c, "RXT030", OUTCOME_NOT_COVERED, call->span, NULL, "%s is not covered", shown);
  if (kind == SPELL_METHOD && changes_method(c->unit, name))
    return refuse_changed(c, call->span, shown);
  if (!claim_operands(c, &args, first, end))
    return NULL;
  return match_rules(c, &args, first, end);
}

/* The text of `expr` when it is a dotted name, for messages. */
static const char *shown_name(Claimer *c, const Ast *expr) {
  if (expr->kind == AST_Name)
    return expr->text;
  if (expr->kind != AST_Attribute)
    return "(…)";
  return arena_format(&c->unit->arena, "%s.%s", shown_name(c, expr->a), expr->text);
}

Ir *match_call(Claimer *c, const Ast *call) {
  const Ast *callee = call->a;
  const char *shown = shown_name(c, callee);
  const char *dotted = bind_dotted(c->unit, c->func, callee);
  if (dotted) {
    /* torch.nn.functional.relu and the like, under any alias */
    return match_spelled(c, call, SPELL_CALL, dotted, shown, NULL);
  }
  if (callee->kind == AST_Attribute) {
    const Ast *root = callee;
    while (root->kind == AST_Attribute)
      root = root->a;
    bool module_name = root->kind == AST_Name && !bind_is_local(c->func, root->text);
    if (module_name && (callee->a != root || !bind_find(c->unit, root->text) ||
                        bind_find(c->unit, root->text)->kind != NAME_FUNCTION)) {
      const ModuleName *known = bind_find(c->unit, root->text);
      if (known && known->kind == NAME_IMPORT)
        return refuse_changed(c, call->span, shown);
      return refuse(c, "RXT030", OUTCOME_NOT_COVERED, call->span, NULL,
                    known && known->kind == NAME_UNKNOWN
                        ? "%s is not covered: the module binds %s more than once"
                        : "%s is not covered: %s is not known",
                    shown, root->text);
    }
    Ir *receiver = claim_expr(c, callee->a);
    if (!receiver)
      return NULL;
    if (receiver->type.kind != TYPE_TENSOR)
      return refuse(c, "RXT030", OUTCOME_NOT_COVERED, call->span, NULL,
                    "%s is not covered: the receiver is %s", shown, type_name(receiver->type));
    return match_spelled(c, call, SPELL_METHOD, callee->text, shown, receiver);
  }
  if (callee->kind == AST_Name && !bind_is_local(c->func, callee->text)) {
    const ModuleName *known = bind_find(c->unit, callee->text);
    if (known && known->kind == NAME_FUNCTION)
      return refuse(c, "RXT092", OUTCOME_NOT_COVERED, call->span,
                    "write the operations of the called function in place of the call",
                    "a call of another function of the module, %s, is not covered", shown);
  }
  return refuse(c, "RXT030", OUTCOME_NOT_COVERED, call->span, NULL, "a call of %s is not covered",
                shown);
}
