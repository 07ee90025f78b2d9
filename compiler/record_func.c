/* record_func.c: the entry of one function in check.json.
 *
 * Reads what claim decided and prints it under the keys of the reference tool. Keys of ours are
 * `body` and the end positions; in `operand_types` the receiver of a method counts as the first.
 * Keys about what this compiler does not do (shims, embedding, boundary calls) have empty values.
 */
#include "record.h"

#include <stdlib.h>
#include <string.h>

/* ── positions ───────────────────────────────────────────────────────────────────────────────── */

static void add_point(Json *json, const char *key, int line, int col) {
  json_open(json, key, '{');
  json_int(json, "column", col);
  json_int(json, "line", line);
  json_close(json, '}');
}

static void add_range(Json *json, const char *key, Span span) {
  json_open(json, key, '{');
  add_point(json, "end", span.end_line, span.end_col);
  add_point(json, "start", span.line, span.col);
  json_close(json, '}');
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

typedef struct Calls {
  Json *json;
  Arena *scratch;
  const Unit *unit;
  const Func *func;
  bool in_loop;
} Calls;

static const char *literal_type(const Ast *arg) {
  if (arg->kind != AST_Constant)
    return NULL;
  switch (arg->constant) {
  case CONST_BOOL:
    return "bool";
  case CONST_INT:
  case CONST_BIGINT:
    return "int";
  case CONST_FLOAT:
    return "float";
  case CONST_STR:
    return "str";
  case CONST_NONE:
  case CONST_OTHER:
    break;
  }
  return NULL;
}

static void add_call(const Calls *calls, const Ast *call) {
  Json *json = calls->json;
  /* "F.relu" gives "torch.nn.functional.relu", "h.softmax" itself. */
  const char *target = bind_shown(calls->scratch, calls->unit, calls->func, call->a);
  json_open(json, NULL, '{');
  json_open(json, "arg_types", '[');
  for (int i = 0; i < call->list.n; i++)
    json_text(json, NULL, literal_type(call->list.items[i]));
  json_close(json, ']');
  json_int(json, "column", call->span.col);
  json_bool(json, "in_loop", calls->in_loop);
  json_int(json, "line", call->span.line);
  json_text(json, "target", target != NULL ? target : "<dynamic>");
  json_close(json, '}');
}

static void find_calls(Ast *node, void *state) {
  Calls *calls = state;
  if (node->kind == AST_FunctionDef || node->kind == AST_AsyncFunctionDef)
    return; /* has an entry of its own */
  if (node->kind == AST_Call)
    add_call(calls, node);
  Calls inner = *calls;
  if (node->kind == AST_For) { /* its iterable is computed once */
    find_calls(node->b, calls);
    inner.in_loop = true;
    for (int i = 0; i < node->list.n; i++)
      find_calls(node->list.items[i], &inner);
    for (int i = 0; i < node->list2.n; i++)
      find_calls(node->list2.items[i], calls);
    return;
  }
  inner.in_loop = calls->in_loop || node->kind == AST_While ||
                  (node->kind == AST_Other && strcmp(node->text, "comprehension") == 0);
  ast_each_child(node, find_calls, &inner);
}

static void add_calls(Json *json, Arena *scratch, const Unit *unit, const Func *func) {
  Calls calls = {json, scratch, unit, func, false};
  json_open(json, "calls", '[');
  for (int i = 0; i < func->def->list.n; i++)
    find_calls(func->def->list.items[i], &calls);
  json_close(json, ']');
}

/* ── claims and types ────────────────────────────────────────────────────────────────────────── */

/* A form of the framework's is named in full, a method as it was written on a name. */
static const char *claim_target(const Claim *claim) {
  bool on_name = claim->rule->form.kind == SPELL_METHOD && claim->target[0] != '(';
  return on_name ? claim->target : claim->rule->form.name;
}

static void add_receiver(Json *json, const Claim *claim, Lane lane) {
  bool is_name = claim->target[0] != '(';
  json_open(json, "receiver", '{');
  json_text(json, "arg_type", type_key(claim->operands[0], lane));
  json_text(json, "expr_kind", is_name ? "name" : "expression");
  json_bool(json, "is_safe", is_name);
  json_text(json, "schema", NULL);
  json_close(json, '}');
}

static void add_claim(Json *json, const Func *func, const Claim *claim) {
  Lane lane = claim->rule->form.lane != LANE_NONE ? claim->rule->form.lane : func->lane;
  bool method = claim->rule->form.kind == SPELL_METHOD;
  json_open(json, NULL, '{');
  json_int(json, "column", claim->span.col);
  json_int(json, "end_column", claim->span.end_col);
  json_int(json, "end_line", claim->span.end_line);
  json_text(json, "kind", claim->rule->form.kind == SPELL_OPERATOR ? "binop" : "call");
  json_int(json, "line", claim->span.line);
  json_open(json, "operand_types", '[');
  for (int i = method ? 1 : 0; i < claim->n_operands; i++)
    json_text(json, NULL,
              claim->operands[i].kind == TYPE_NONE ? "None" : type_key(claim->operands[i], lane));
  json_close(json, ']');
  json_text(json, "plugin_id", lane_table[lane].plugin);
  if (method)
    add_receiver(json, claim, lane);
  json_text(json, "result_type", type_key(claim->result, lane));
  json_text(json, "rule_id", claim->rule->label.id);
  json_text(json, "target", claim_target(claim));
  json_close(json, '}');
}

static void push_type(const char **keys, int *n, Type type, Lane lane) {
  if (type.kind == TYPE_TENSOR && lane != LANE_NONE)
    keys[(*n)++] = type_key(type, lane);
}

/* The tensor types of the signature. */
static void add_type_keys(Json *json, Arena *scratch, const Func *func) {
  const char **keys = ARENA_ARRAY(scratch, const char *, func->n_params + 1);
  int n = 0;
  if (func->skip == SKIP_NONE) {
    for (int i = 0; i <= func->n_params; i++) {
      const Fact *fact = i < func->n_params ? &func->params[i].fact : &func->result;
      push_type(keys, &n, fact->type, fact->lane != LANE_NONE ? fact->lane : func->lane);
    }
  }
  n = record_sort(keys, n);
  json_open(json, "plugin_type_keys", '[');
  for (int i = 0; i < n; i++)
    json_text(json, NULL, keys[i]);
  json_close(json, ']');
}

/* ── promotion ───────────────────────────────────────────────────────────────────────────────── */

/* "numba" when a decorator of that package is what keeps the function on Python, else NULL. */
static const char *accelerator_of(Arena *scratch, const Unit *unit, const Func *func) {
  for (int i = 0; func->skip == SKIP_ACCELERATOR && i < func->def->list2.n; i++) {
    const Ast *decorator = func->def->list2.items[i];
    const char *name =
        bind_shown(scratch, unit, NULL, decorator->kind == AST_Call ? decorator->a : decorator);
    if (name != NULL && strncmp(name, "numba.", 6) == 0)
      return "numba";
  }
  return NULL;
}

static bool is_plugin_managed(const Func *func) {
  if (func->status == STATUS_ACCEPTED)
    return func->lane != LANE_NONE;
  bool found = false;
  for (int i = 0; i < func->diags.n && func->status == STATUS_REJECTED; i++) {
    const Diag *diag = &func->diags.items[i];
    found = found ||
            (diag->outcome == OUTCOME_REJECTED &&
             (strncmp(diag->code, "RXTP-", 5) == 0 || strncmp(diag->code, "TC-TORCH-", 9) == 0));
  }
  return found;
}

static int compare_diags(const void *left, const void *right) {
  const Diag *a = *(const Diag *const *)left, *b = *(const Diag *const *)right;
  if (a->span.line != b->span.line)
    return a->span.line < b->span.line ? -1 : 1;
  if (a->span.col != b->span.col)
    return a->span.col < b->span.col ? -1 : 1;
  int order = strcmp(a->code, b->code);
  return order != 0 ? order : strcmp(a->message, b->message);
}

static void add_assessed_diags(Json *json, const Diag **sorted, int n) {
  json_open(json, "diagnostics", '[');
  for (int i = 0; i < n; i++) {
    const Diag *diag = sorted[i];
    json_open(json, NULL, '{');
    json_text(json, "code", diag->code);
    json_int(json, "column", diag->span.col);
    json_int(json, "end_column", diag->span.end_col);
    json_int(json, "end_line", diag->span.end_line);
    json_text(json, "kind", "blocker");
    json_int(json, "line", diag->span.line);
    json_text(json, "message", diag->message);
    json_text(json, "suggestion", diag->suggestion);
    json_close(json, '}');
  }
  json_close(json, ']');
}

/* Codes of the findings, sorted, each once. */
static void add_codes(Json *json, const char *key, Arena *scratch, const Diags *diags) {
  const char **codes = ARENA_ARRAY(scratch, const char *, diags->n + 1);
  int n = 0;
  for (int i = 0; i < diags->n; i++)
    codes[n++] = diags->items[i].code;
  n = record_sort(codes, n);
  json_open(json, key, '[');
  for (int i = 0; i < n; i++)
    json_text(json, NULL, codes[i]);
  json_close(json, ']');
}

static void add_assessment(Json *json, Arena *scratch, const Func *func, bool accelerated) {
  static const struct {
    const char *provenance, *reason;
  } skips[] = {
      [SKIP_NONE] = {NULL, NULL},
      [SKIP_EXEMPT] = {"explicit-exempt", "explicit-exemption"},
      [SKIP_ACCELERATOR] = {"external-accelerator", "external-accelerator"},
      [SKIP_NOT_MARKED] = {"policy-skip", "automatic-promotion-disabled"},
      [SKIP_ASYNC] = {"structural-skip", "async-auto-promotion-not-supported"},
      [SKIP_METHOD] = {"structural-skip", "method-auto-promotion-not-supported"},
  };
  /* A decorator that we do not know is an ordinary blocker. */
  Skip skip = func->skip == SKIP_ACCELERATOR && !accelerated ? SKIP_NONE : func->skip;
  static const Diags no_diags = {NULL, 0, 0};
  const Diags *diags = skip == SKIP_NONE ? &func->diags : &no_diags;
  const Diag **sorted = ARENA_ARRAY(scratch, const Diag *, diags->n + 1);
  for (int i = 0; i < diags->n; i++)
    sorted[i] = &diags->items[i];
  qsort(sorted, (size_t)diags->n, sizeof *sorted, compare_diags);

  json_open(json, "promotion_assessment", '{');
  add_codes(json, "diagnostic_codes", scratch, diags);
  add_assessed_diags(json, sorted, diags->n);
  json_text(json, "provenance",
            skip != SKIP_NONE         ? skips[skip].provenance
            : is_plugin_managed(func) ? "plugin-managed"
            : func->marked            ? "explicit-native"
                                      : "auto");
  json_text(json, "skip_reason", skips[skip].reason);
  json_text(json, "status",
            func->status == STATUS_ACCEPTED ? "eligible"
            : skip != SKIP_NONE             ? "skipped"
                                            : "ineligible");
  json_close(json, '}');
}

/* ── the entry ───────────────────────────────────────────────────────────────────────────────── */

static const char *route_of(Arena *scratch, const Func *func, const char *accelerator) {
  if (accelerator != NULL)
    return arena_format(scratch, "fallback-accelerated:%s", accelerator);
  if (func->status != STATUS_ACCEPTED)
    return "fallback-python";
  if (func->lane == LANE_NONE)
    return "native-direct";
  return arena_format(scratch, "native-plugin:%s", lane_table[func->lane].plugin);
}

/* What answers a call where the host admits it. Without tensor operations the body is straight C.
 */
const char *record_body(const Func *func) {
  return func->exact || func->claims.n == 0 ? "exact" : "library";
}

void record_func(Json *json, Arena *scratch, const Unit *unit, const Func *func) {
  static const Diags no_diags = {NULL, 0, 0};
  const char *accelerator = accelerator_of(scratch, unit, func);
  bool accepted = func->status == STATUS_ACCEPTED;
  json_open(json, NULL, '{');
  json_bool(json, "accepted", accepted);
  json_text(json, "body", accepted ? record_body(func) : NULL);
  json_list(json, "boundary_call_targets");
  add_calls(json, scratch, unit, func);
  json_int(json, "column", func->def->span.col);
  json_open(json, "diagnostics", '[');
  record_diags(json, scratch, unit, func);
  json_close(json, ']');
  json_text(json, "embedding_reason", NULL);
  json_bool(json, "explicitly_marked", func->marked);
  json_text(json, "external_accelerator", accelerator);
  json_text(json, "file_path", unit->path);
  json_open(json, "inferred_arg_types", '{');
  json_close(json, '}');
  json_text(json, "inferred_return_type", NULL);
  json_bool(json, "is_embedding_candidate", false);
  json_bool(json, "is_native_candidate", func->status != STATUS_NOT_CANDIDATE);
  json_int(json, "line", func->def->span.line);
  json_text(json, "marker_kind",
            func->skip == SKIP_EXEMPT ? "exempt"
            : func->marked            ? "native"
                                      : "none");
  json_text(json, "module_name", unit->module);
  json_text(json, "name", func->name);
  add_range(json, "name_range", func->name_span);
  json_bool(json, "native_runtime_semantics", false);
  json_text(json, "native_status", status_name(func->status));
  json_text(json, "native_target_language", accepted ? "c" : NULL);
  json_open(json, "plugin_claims", '[');
  for (int i = 0; i < func->claims.n; i++)
    add_claim(json, func, &func->claims.items[i]);
  json_close(json, ']');
  add_type_keys(json, scratch, func);
  add_assessment(json, scratch, func, accelerator != NULL);
  json_text(json, "qualname", record_qualname(scratch, unit, func));
  add_codes(json, "rejection_codes", scratch,
            func->status == STATUS_REJECTED ? &func->diags : &no_diags);
  json_text(json, "route", route_of(scratch, func, accelerator));
  add_range(json, "source_range", func->def->span);
  json_close(json, '}');
}
