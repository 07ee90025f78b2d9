/* capabilities.c: the tables as JSON: what `tensorc capabilities --json` prints.
 *
 * Reads ops.def, signatures.def and types.def through their tables, under the keys of the reference
 * tool's contract 3.0.0. Nothing here is written twice: a form that claim takes is listed because
 * it is a row. What depends on the project (project_root, config_fingerprint, versions) is null and
 * filled in by the command.
 */
#include "record.h"

#include <stdlib.h>
#include <string.h>

/* Codes of the language, for functions of every framework. */
static const struct {
  const char *id, *code, *kind, *pattern, *constraint, *guidance, *outcome;
} core_rules[] = {
    {"core/argument-annotation-required", "RXT001", "type",
     "parameter or result without a type annotation",
     "The types of a native function are read from its annotations.",
     "Annotate every parameter and the result.", "fallback"},
    {"core/binding-line", "TC-LANG-002", "syntax", "no blank line after the function",
     "The compiled function is bound on the blank line after it, so that no line number moves.",
     "Leave a blank line after the function.", "fallback"},
    {"core/external-accelerator-decorator", "RXT091", "decorator", "a decorator of another tool",
     "What a decorator returns is unknown, so the function stays as it is.",
     "Remove the decorator to have the function compiled.", "fallback"},
    {"core/native-call-into-plugin-typed", "RXT092", "call",
     "call of another function of the module", "Functions are compiled one by one.",
     "Write the called function's operations in place of the call.", "fallback"},
    {"core/nesting-depth", "TC-LANG-001", "syntax", "syntax nested 1000 levels deep",
     "The file is not analysed.", "Split the expression.", "fallback"},
    {"core/python-syntax", "RXT000", "syntax", "a file that Python itself cannot parse",
     "The file is not analysed.", "Correct the file: `python FILE` says the same.", "fallback"},
    {"core/return-annotation-required", "RXT003", "type", "unsupported return type",
     "Every path returns what the annotation says, and the type is one of types.def.",
     "Correct the annotation or the expression.", "fallback"},
    {"core/unsupported-argument-type", "RXT002", "type", "unsupported parameter type",
     "Parameters are tensors, int, float or bool.",
     "Use a type of tensorc.types, int, float or bool.", "fallback"},
    {"core/unsupported-external-call", "RXT030", "call", "call that no rule covers",
     "Only calls that a rule covers are compiled.",
     "Use a covered form, or leave this function on Python.", "fallback"},
    {"core/unsupported-syntax", "RXT010", "syntax", "statement or expression that is not covered",
     "Only covered syntax is compiled.", "Rewrite it, or leave this function on Python.",
     "fallback"},
};

/* ── rules ───────────────────────────────────────────────────────────────────────────────────── */

static int compare_rules(const void *left, const void *right) {
  const Rule *a = *(const Rule *const *)left, *b = *(const Rule *const *)right;
  int order = strcmp(a->label.id, b->label.id);
  return order != 0 ? order : a < b ? -1 : a > b; /* within an id in the order of the table */
}

static void add_rule(Json *json, const char *id, const char *provider, const char *code,
                     const char *constraint, const char *guidance, const char *outcome,
                     const char *kind, const char *pattern) {
  json_open(json, NULL, '{');
  json_text(json, "constraint", constraint);
  json_text(json, "diagnostic_code", code);
  json_text(json, "guidance", guidance);
  json_text(json, "id", id);
  json_text(json, "outcome", outcome);
  json_text(json, "provider", provider);
  json_open(json, "scope", '{');
  json_text(json, "kind", kind);
  json_text(json, "pattern", pattern);
  json_close(json, '}');
  json_text(json, "stability", strcmp(provider, "core") == 0 ? "stable" : "experimental");
  json_close(json, '}');
}

/* One rule of the report from the rows that share its id: the spellings of one form. */
static void add_table_rule(Json *json, Arena *scratch, const Rule *const *rows, int n) {
  const Rule *rule = rows[0];
  const char *forms = "";
  for (int i = 0; i < n; i++) {
    const char *form = form_text(scratch, &rows[i]->form);
    if (strstr(forms, form) == NULL)
      forms = arena_format(scratch, "%s%s%s", forms, i > 0 ? " or " : "", form);
  }
  const char *constraint = arena_format(
      scratch, "float32 CPU tensors; ranks of the operands > of the result: %s", rule->form.ranks);
  const char *guidance =
      arena_format(scratch, "write %s, with literals for everything that is no tensor", forms);
  add_rule(json, rule->label.id, lane_table[rule->form.lane].plugin, rule->label.code, constraint,
           guidance, "native", rule->form.kind == SPELL_OPERATOR ? "binop" : "call", forms);
}

static void add_rules(Json *json, Arena *scratch) {
  json_open(json, "rules", '[');
  for (size_t i = 0; i < sizeof core_rules / sizeof core_rules[0]; i++)
    add_rule(json, core_rules[i].id, "core", core_rules[i].code, core_rules[i].constraint,
             core_rules[i].guidance, core_rules[i].outcome, core_rules[i].kind,
             core_rules[i].pattern);
  const Rule **rows = ARENA_ARRAY(scratch, const Rule *, n_rules);
  for (int i = 0; i < n_rules; i++)
    rows[i] = &rule_table[i];
  qsort(rows, (size_t)n_rules, sizeof *rows, compare_rules);
  for (int i = 0, n; i < n_rules; i += n) {
    for (n = 1; i + n < n_rules && strcmp(rows[i]->label.id, rows[i + n]->label.id) == 0; n++)
      ;
    add_table_rule(json, scratch, &rows[i], n);
  }
  for (Lane lane = LANE_NONE + 1; lane < LANE_COUNT; lane++)
    add_rule(json, arena_format(scratch, "%s/unsupported-tensor-surface", lane_table[lane].plugin),
             lane_table[lane].plugin, lane_table[lane].no_tensor,
             "a recognised form with operands of other types, ranks or devices",
             "use float32 CPU tensors of rank 1 or 2, or leave this function on Python", "fallback",
             "type", "tensor type outside the table");
  json_close(json, ']');
}

/* ── what is covered ─────────────────────────────────────────────────────────────────────────── */

static void add_sorted(Json *json, const char *key, const char **texts, int n) {
  json_open(json, key, '[');
  n = record_sort(texts, n);
  for (int i = 0; i < n; i++)
    json_text(json, NULL, texts[i]);
  json_close(json, ']');
}

static void add_texts(Json *json, const char *key, const char *const *texts) {
  json_open(json, key, '[');
  for (; *texts != NULL; texts++)
    json_text(json, NULL, *texts);
  json_close(json, ']');
}

/* Functions by their dotted names, methods as members of torch.Tensor. */
static void add_coverage(Json *json, Arena *scratch, Lane lane) {
  static const char *const modules[LANE_COUNT][5] = {
      [LANE_TORCH] = {"torch", "torch.nn", "torch.nn.functional"},
      [LANE_TENSORFLOW] = {"tensorflow", "tensorflow.linalg", "tensorflow.math", "tensorflow.nn"},
  };
  const char **symbols = ARENA_ARRAY(scratch, const char *, n_rules);
  const char **operators = ARENA_ARRAY(scratch, const char *, n_rules);
  int n_symbols = 0, n_operators = 0;
  for (int i = 0; i < n_rules; i++) {
    const Rule *rule = &rule_table[i];
    if (rule->form.lane != lane)
      continue;
    if (rule->form.kind == SPELL_OPERATOR)
      operators[n_operators++] = rule->form.name;
    else if (rule->form.kind == SPELL_METHOD)
      symbols[n_symbols++] =
          arena_format(scratch, "%s.Tensor.%s", lane_table[lane].package, rule->form.name);
    else
      symbols[n_symbols++] = rule->form.name;
  }
  json_open(json, "coverage", '{');
  add_texts(json, "modules", modules[lane]);
  add_sorted(json, "operators", operators, n_operators);
  json_text(json, "package", lane_table[lane].package);
  add_sorted(json, "symbols", symbols, n_symbols);
  json_close(json, '}');
}

static void add_plugins(Json *json, Arena *scratch) {
  json_open(json, "plugins", '[');
  for (Lane lane = LANE_NONE + 1; lane < LANE_COUNT; lane++) {
    json_open(json, NULL, '{');
    json_text(json, "api_version", "1.7");
    json_bool(json, "artifact_capability_declared", false);
    add_coverage(json, scratch, lane);
    json_text(json, "id", lane_table[lane].plugin);
    json_bool(json, "lowering_provided", true);
    json_text(json, "name", arena_format(scratch, "%s to C", lane_table[lane].framework));
    json_open(json, "packages", '[');
    json_text(json, NULL, lane_table[lane].package);
    json_close(json, ']');
    json_bool(json, "rules_provided", true);
    json_text(json, "version", NULL);
    json_close(json, '}');
  }
  json_close(json, ']');
}

/* Tensor types that a native function may have: those of types.def on a device that is covered. */
static void add_tensor_types(Json *json, Arena *scratch) {
  static const struct {
    TypeKind kind;
    DType dtype;
    Device device;
    int rank;
    Lane lane;
  } markers[] = {
#define MARKER(module, name, kind, dtype, device, rank, lane)                                      \
  {TYPE_##kind, DTYPE_##dtype, DEVICE_##device, rank, LANE_##lane},
#include "types.def"
#undef MARKER
  };
  enum { N_MARKERS = sizeof markers / sizeof markers[0] };
  const char **keys = ARENA_ARRAY(scratch, const char *, N_MARKERS);
  int n = 0;
  for (int i = 0; i < N_MARKERS; i++) {
    Type type = {markers[i].kind, markers[i].dtype, markers[i].device, markers[i].rank, NULL, NULL};
    if (markers[i].lane != LANE_NONE && type.device == DEVICE_CPU)
      keys[n++] = type_key(type, markers[i].lane);
  }
  add_sorted(json, "tensor_types", keys, n);
}

static void add_type_capabilities(Json *json, Arena *scratch) {
  static const char *const numeric[] = {"float", "int", NULL};
  static const char *const scalar[] = {"bool", "float", "int", NULL};
  json_open(json, "type_capabilities", '{');
  json_list(json, "dict_key_types");
  json_list(json, "list_item_types");
  add_texts(json, "numeric_types", numeric);
  add_texts(json, "scalar_types", scalar);
  json_list(json, "set_item_types");
  add_tensor_types(json, scratch);
  json_close(json, '}');
}

static void add_contracts(Json *json) {
  static const char *const kinds[] = {"host-extension", NULL};
  json_open(json, "artifact_contract", '{');
  json_list(json, "host_executable_fallbacks");
  add_texts(json, "kinds", kinds);
  json_text(json, "profile_resolution", "generate-build-only");
  json_text(json, "status", "experimental");
  json_close(json, '}');
  json_text(json, "config_fingerprint", NULL);
  json_text(json, "contract_version", "3.0.0");
  json_open(json, "device_provider_contract", '{');
  json_bool(json, "discovery", false);
  json_bool(json, "local_probe_performed", false);
  json_bool(json, "provider_selected", false);
  json_text(json, "status", "draft");
  json_close(json, '}');
}

void capabilities_print(Buf *out) {
  Arena scratch;
  arena_init(&scratch);
  Json json = {.out = out};
  json_open(&json, NULL, '{');
  add_contracts(&json);
  add_plugins(&json, &scratch);
  json_text(&json, "project_root", NULL);
  json_text(&json, "rextio_version", NULL);
  add_rules(&json, &scratch);
  json_open(&json, "target", '{');
  json_text(&json, "language", "c");
  json_close(&json, '}');
  add_type_capabilities(&json, &scratch);
  json_close(&json, '}');
  buf_add(out, "\n");
  arena_free(&scratch);
}
