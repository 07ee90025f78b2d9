/* claim_func.c: decides for each function whether it is native.
 *
 * Reads the function's head (place, decorators, parameters, annotations), finds its framework, and
 * has its body claimed. Leaves func->status, its claims, diags and, when it was accepted, its IR. A
 * refusal concerns this function only and never its module.
 */
#include "claim.h"

#include <string.h>

static const Type NO_VALUE = {.kind = TYPE_NONE};

/* ── the function as a whole ─────────────────────────────────────────────────────────────────── */

static void find_yield(Ast *node, void *state) {
  bool *found = state;
  if (node->kind == AST_FunctionDef || node->kind == AST_AsyncFunctionDef ||
      node->kind == AST_Lambda) {
    ast_each_outer_child(node, find_yield, state);
    return;
  }
  if (node->kind == AST_Yield || node->kind == AST_YieldFrom)
    *found = true;
  ast_each_child(node, find_yield, state);
}

/* Known decorators set func->marked or func->skip; false for any other. */
static bool decorators_known(Unit *unit, Func *func) {
  for (int i = 0; i < func->def->list2.n; i++) {
    const Ast *decorator = func->def->list2.items[i];
    const char *dotted =
        bind_dotted(unit, NULL, decorator->kind == AST_Call ? decorator->a : decorator);
    if (dotted && (strcmp(dotted, "tensorc.native") == 0 || strcmp(dotted, "rextio.native") == 0))
      func->marked = true;
    else if (dotted &&
             (strcmp(dotted, "tensorc.exempt") == 0 || strcmp(dotted, "rextio.exempt") == 0))
      func->skip = SKIP_EXEMPT;
    else
      return false;
  }
  return true;
}

/* Records why `func` is no candidate at all. */
static bool no_candidate(Unit *unit, Func *func, const char *code, Span span,
                         const char *suggestion, const char *what) {
  diag_add(unit, func, code, OUTCOME_NOT_COVERED, span, suggestion, "%s", what);
  return false;
}

/* A literal default of another type would make a call that passes nothing break the annotation. */
static bool default_fits(const Param *param) {
  const Ast *value = param->default_value;
  if (value && value->kind == AST_UnaryOp)
    value = value->a;
  if (!value || value->kind != AST_Constant)
    return true;
  switch (value->constant) {
  case CONST_BOOL:
    return param->fact.type.kind == TYPE_BOOL || param->fact.type.kind == TYPE_INT;
  case CONST_INT:
    return param->fact.type.kind == TYPE_INT || param->fact.type.kind == TYPE_FLOAT;
  case CONST_FLOAT:
    return param->fact.type.kind == TYPE_FLOAT;
  default:
    return false;
  }
}

/* Can the function be compiled at all, going by its head? */
static bool is_candidate(Unit *unit, Func *func) {
  const Ast *def = func->def;
  const Ast *args = def->a;
  if (func->place != PLACE_MODULE) {
    func->skip = SKIP_METHOD;
    const bool method = func->place == PLACE_CLASS;
    const bool model = method && func->name == arena_name(&unit->arena, "forward");
    return no_candidate(unit, func, "RXT010", func->name_span,
                        model ? "a model is compiled as it is: tensorc.compile(model)" : NULL,
                        method ? "methods stay Python" : "functions inside functions stay Python");
  }
  if (!decorators_known(unit, func)) {
    func->skip = SKIP_ACCELERATOR;
    return no_candidate(unit, func, "RXT091", def->list2.items[0]->span, NULL,
                        "a function with this decorator stays Python");
  }
  if (func->skip == SKIP_EXEMPT)
    return no_candidate(unit, func, "RXT010", func->name_span, NULL, "exempt by its decorator");
  if (unit->options.marked_only && !func->marked) {
    func->skip = SKIP_NOT_MARKED;
    return no_candidate(unit, func, "RXT010", func->name_span, "add @tensorc.native",
                        "not marked as native");
  }
  if (def->kind == AST_AsyncFunctionDef) {
    func->skip = SKIP_ASYNC;
    return no_candidate(unit, func, "RXT010", func->name_span, NULL, "async functions stay Python");
  }
  bool yields = false;
  for (int i = 0; i < def->list.n; i++)
    find_yield(def->list.items[i], &yields);
  if (yields)
    return no_candidate(unit, func, "RXT010", func->name_span, NULL, "generators stay Python");
  if (args->vararg || args->kwarg)
    return no_candidate(unit, func, "RXT010", (args->vararg ? args->vararg : args->kwarg)->span,
                        NULL, "*args and **kwargs are not covered");

  bool typed = true;
  for (int i = 0; i < func->n_params; i++) {
    const Fact *fact = &func->params[i].fact;
    if (fact->origin == FACT_NONE)
      typed = no_candidate(unit, func, "RXT001", fact->span,
                           "annotate it with a type of tensorc.types, int, float or bool",
                           "this parameter has no type annotation");
    else if (fact->type.kind == TYPE_UNKNOWN || fact->type.kind == TYPE_NONE)
      typed = no_candidate(unit, func, "RXT002", fact->span,
                           "annotate it with a type of tensorc.types, int, float or bool",
                           "the type of this parameter is not covered");
  }
  for (int i = 0; typed && i < func->n_params; i++)
    if (!default_fits(&func->params[i]))
      typed = no_candidate(unit, func, "RXT002", func->params[i].default_value->span,
                           "give a default of the annotated type",
                           "the default does not have the annotated type");
  if (func->result.origin == FACT_NONE)
    typed = no_candidate(unit, func, "RXT001", func->name_span, "annotate what it returns",
                         "the function has no return annotation");
  else if (func->result.type.kind == TYPE_UNKNOWN)
    typed = no_candidate(unit, func, "RXT003", func->result.span, NULL,
                         "the return type is not covered");
  return typed;
}

static bool refuse_mixed(Claimer *c, Span span) {
  refuse(c, lane_table[c->func->lane].no_tensor, OUTCOME_REJECTED, span,
         "write one function for each framework",
         "a function that mixes PyTorch and TensorFlow stays Python");
  return false;
}

static void lane_of_call(Ast *node, void *state) {
  Claimer *c = state;
  if (node->kind == AST_Attribute || node->kind == AST_Name) {
    const char *dotted = bind_dotted(c->unit, c->func, node);
    Lane lane = dotted ? spelling_lane(dotted) : LANE_NONE;
    if (lane != LANE_NONE && c->func->lane == LANE_NONE)
      c->func->lane = lane;
    else if (lane != LANE_NONE && c->func->lane != lane) {
      refuse_mixed(c, node->span);
      return;
    }
  }
  ast_each_child(node, lane_of_call, state);
}

/* The framework of a function: its calls decide, failing that its annotations, failing that what
 * the module imports. False when there are two or, for tensors, none: then no rule can be looked
 * up. */
static bool find_lane(Claimer *c) {
  Func *func = c->func;
  for (int i = 0; i < func->def->list.n; i++)
    lane_of_call(func->def->list.items[i], c);
  bool one = !c->refused; /* lane_of_call refuses nothing but a second lane */
  bool tensors = func->result.type.kind == TYPE_TENSOR;
  for (int i = 0; i <= func->n_params; i++) {
    const Fact *fact = i < func->n_params ? &func->params[i].fact : &func->result;
    tensors = tensors || fact->type.kind == TYPE_TENSOR;
    if (fact->lane != LANE_NONE && func->lane == LANE_NONE)
      func->lane = fact->lane;
    else if (fact->lane != LANE_NONE && fact->lane != func->lane) {
      one = refuse_mixed(c, fact->span);
      break;
    }
  }
  if (func->lane == LANE_NONE && tensors) {
    bool torch = false, tensorflow = false;
    for (int i = 0; i < c->unit->names.n; i++) {
      const ModuleName *name = &c->unit->names.items[i];
      Lane lane = name->kind == NAME_IMPORT ? spelling_lane(name->target) : LANE_NONE;
      torch = torch || lane == LANE_TORCH;
      tensorflow = tensorflow || lane == LANE_TENSORFLOW;
    }
    func->lane = torch && !tensorflow   ? LANE_TORCH
                 : tensorflow && !torch ? LANE_TENSORFLOW
                                        : LANE_NONE;
    if (func->lane == LANE_NONE) {
      refuse(c, "RXT010", OUTCOME_NOT_COVERED, func->name_span,
             torch ? "use the types of rextio_torch.types or rextio_tensorflow.types"
                   : "import torch or tensorflow in this module",
             torch ? "the module imports both PyTorch and TensorFlow: nothing says which its "
                     "tensors belong to"
                   : "nothing says which framework its tensors belong to");
      one = false;
    }
  }
  for (int i = 0; one && i <= func->n_params; i++) {
    const Fact *fact = i < func->n_params ? &func->params[i].fact : &func->result;
    if (fact->type.kind == TYPE_TENSOR && fact->type.device != DEVICE_CPU)
      refuse(c, lane_table[func->lane].no_device, OUTCOME_REJECTED, fact->span, NULL,
             "CUDA types need a device authorization, which is not covered yet");
  }
  return one;
}

void claim_func(Unit *unit, Func *func) {
  func->status = STATUS_NOT_CANDIDATE;
  if (!is_candidate(unit, func))
    return;
  Claimer c = {.unit = unit, .func = func, .block = &func->body};
  bool one_lane = find_lane(&c);
  c.env = (Env){ARENA_ARRAY(&unit->arena, Var, func->locals.n + 1), false};
  for (int i = 0; i < func->n_params; i++) {
    Slot *slot = slot_new(&c, func->params[i].name, func->params[i].fact.type, i);
    c.env.vars[local_index(func, slot->name)] = (Var){slot, .assigned = true};
  }
  if (one_lane)
    claim_block(&c, &func->def->list);
  if (!c.env.dead && !c.refused) {
    if (func->result.type.kind == TYPE_NONE) {
      Ir *none = ir_add(&c, IR_CONST, NO_VALUE, func->name_span, 0, NULL, NULL);
      ir_add(&c, IR_RETURN, NO_VALUE, func->name_span, 1, none, NULL);
    } else {
      refuse(&c, "RXT003", OUTCOME_NOT_COVERED, func->name_span, "return on every path",
             "a path ends without return, so it gives None");
    }
  }
  func->status = c.refused ? STATUS_REJECTED : STATUS_ACCEPTED;
}
