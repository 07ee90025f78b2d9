/* record.c: what the compiler decided, as check.json and as text for people.
 *
 * Reads finished Units and leaves them alone. Keys, enums and positions are those of the reference
 * tool's contract 3.0.0, so that its users' scripts and editors go on working; keys of ours are
 * only added. Lines count from 1, columns from 0 in UTF-8 bytes.
 */
#include "record.h"

#include <stdlib.h>
#include <string.h>

const char *status_name(Status status) {
  static const char *const names[] = {"not-candidate", "rejected", "accepted"};
  return names[status];
}

const char *record_qualname(Arena *scratch, const Unit *unit, const Func *func) {
  return arena_format(scratch, "%s.%s", unit->module, func->qualname);
}

static int compare_texts(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

int record_sort(const char **texts, int n) {
  if (n > 1)
    qsort(texts, (size_t)n, sizeof *texts, compare_texts);
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0)
      texts[kept++] = texts[i];
  return kept;
}

/* ── findings ────────────────────────────────────────────────────────────────────────────────── */

static void add_diag(Json *json, Arena *scratch, const Unit *unit, const Func *func,
                     const Diag *diag) {
  json_open(json, NULL, '{');
  json_text(json, "code", diag->code);
  json_int(json, "column", diag->span.col);
  json_int(json, "end_column", diag->span.end_col);
  json_int(json, "end_line", diag->span.end_line);
  json_text(json, "file_path", unit->path);
  json_text(json, "function_name", func != NULL ? record_qualname(scratch, unit, func) : NULL);
  json_int(json, "line", diag->span.line);
  json_text(json, "message", diag->message);
  json_text(json, "outcome", outcome_name(diag->outcome));
  json_text(json, "severity", "error");
  json_text(json, "suggestion", diag->suggestion);
  json_close(json, '}');
}

void record_diags(Json *json, Arena *scratch, const Unit *unit, const Func *func) {
  for (int i = 0; i < func->diags.n && func->status == STATUS_REJECTED; i++)
    add_diag(json, scratch, unit, func, &func->diags.items[i]);
}

static void add_module_diags(Json *json, Arena *scratch, const Unit *unit) {
  for (int i = 0; i < unit->diags.n; i++)
    add_diag(json, scratch, unit, NULL, &unit->diags.items[i]);
}

/* ── modules ─────────────────────────────────────────────────────────────────────────────────── */

static int compare_names(const void *left, const void *right) {
  const ModuleName *a = *(const ModuleName *const *)left, *b = *(const ModuleName *const *)right;
  return strcmp(a->name, b->name);
}

/* A policy for each import that changes what is compiled; every other import is left to Python. */
static void add_policy(Json *json, const ModuleName *import) {
  Lane lane = spelling_lane(import->target);
  if (lane == LANE_NONE)
    return;
  json_open(json, NULL, '{');
  json_text(json, "distribution", NULL);
  json_int(json, "max_depth", 0);
  json_text(json, "origin", "external-plugin");
  json_text(json, "package", lane_table[lane].package);
  json_text(json, "plugin", lane_table[lane].plugin);
  json_text(json, "policy", "plugin");
  json_text(json, "reason", "calls into this package are compiled");
  json_text(json, "target", import->target);
  json_text(json, "version", NULL);
  json_text(json, "visible_name", import->name);
  json_close(json, '}');
}

static void add_imports(Json *json, Arena *scratch, const Unit *unit) {
  const ModuleName **imports = ARENA_ARRAY(scratch, const ModuleName *, unit->names.n + 1);
  int n = 0;
  for (int i = 0; i < unit->names.n; i++)
    if (unit->names.items[i].kind == NAME_IMPORT)
      imports[n++] = &unit->names.items[i];
  qsort(imports, (size_t)n, sizeof *imports, compare_names);
  json_open(json, "import_policies", '[');
  for (int i = 0; i < n; i++)
    add_policy(json, imports[i]);
  json_close(json, ']');
  json_open(json, "imports", '{');
  for (int i = 0; i < n; i++)
    json_text(json, imports[i]->name, imports[i]->target);
  json_close(json, '}');
}

static void add_module(Json *json, Arena *scratch, const Unit *unit) {
  json_open(json, NULL, '{');
  json_open(json, "diagnostics", '[');
  add_module_diags(json, scratch, unit);
  json_close(json, ']');
  json_text(json, "file_path", unit->path);
  json_open(json, "functions", '[');
  for (int i = 0; i < unit->funcs.n; i++)
    record_func(json, scratch, unit, unit->funcs.items[i]);
  json_close(json, ']');
  add_imports(json, scratch, unit);
  json_open(json, "logger_group_targets", '{');
  json_close(json, '}');
  json_list(json, "logger_names");
  json_text(json, "module_name", unit->module);
  json_text(json, "top_level", NULL);
  json_close(json, '}');
}

/* ── the report ──────────────────────────────────────────────────────────────────────────────── */

enum { CANDIDATES = -1 }; /* in place of a Status: every function but those that are none */

/* Qualnames of the functions with a status, sorted. */
static void add_qualnames(Json *json, Arena *scratch, const char *key, Unit *const *units,
                          int n_units, int status) {
  int n = 0;
  for (int i = 0; i < n_units; i++)
    n += units[i]->funcs.n;
  const char **names = ARENA_ARRAY(scratch, const char *, n + 1);
  n = 0;
  for (int i = 0; i < n_units; i++)
    for (int k = 0; k < units[i]->funcs.n; k++) {
      const Func *func = units[i]->funcs.items[k];
      bool wanted =
          status == CANDIDATES ? func->status != STATUS_NOT_CANDIDATE : (int)func->status == status;
      if (wanted)
        names[n++] = record_qualname(scratch, units[i], func);
    }
  n = record_sort(names, n);
  json_open(json, key, '[');
  for (int i = 0; i < n; i++)
    json_text(json, NULL, names[i]);
  json_close(json, ']');
}

static void add_host_source_plan(Json *json) {
  json_open(json, "host_source_plan", '{');
  json_text(json, "availability", "unavailable");
  json_text(json, "execution_authority", "descriptive-only");
  json_text(json, "graph", NULL);
  json_list(json, "module_initializers");
  json_text(json, "unavailable_reason",
            "tensorc compiles functions one by one and makes no plan of modules");
  json_close(json, '}');
}

void record_report(Buf *out, Unit *const *units, int n_units, const char *project_root) {
  Arena scratch;
  arena_init(&scratch);
  Json json = {.out = out};
  json_open(&json, NULL, '{');
  add_qualnames(&json, &scratch, "accepted_native", units, n_units, STATUS_ACCEPTED);
  json_list(&json, "accepted_native_top_levels");
  json_text(&json, "contract_version", "3.0.0");
  json_open(&json, "diagnostics", '[');
  for (int i = 0; i < n_units; i++) {
    add_module_diags(&json, &scratch, units[i]);
    for (int k = 0; k < units[i]->funcs.n; k++)
      record_diags(&json, &scratch, units[i], units[i]->funcs.items[k]);
  }
  json_close(&json, ']');
  json_list(&json, "embedding_candidates");
  add_host_source_plan(&json);
  json_open(&json, "modules", '[');
  for (int i = 0; i < n_units; i++)
    add_module(&json, &scratch, units[i]);
  json_close(&json, ']');
  add_qualnames(&json, &scratch, "native_candidates", units, n_units, CANDIDATES);
  json_list(&json, "native_top_levels");
  json_text(&json, "project_root", project_root);
  add_qualnames(&json, &scratch, "rejected_native", units, n_units, STATUS_REJECTED);
  json_list(&json, "rejected_native_top_levels");
  json_close(&json, '}');
  buf_add(out, "\n");
  arena_free(&scratch);
}

/* ── for people ──────────────────────────────────────────────────────────────────────────────── */

static void print_native(Buf *out, const Unit *unit, const Func *func) {
  int n = func->claims.n;
  buf_addf(out, "%s:%d:%d: native  %s   %s  %d op%s%s", unit->path, func->name_span.line,
           func->name_span.col + 1, func->qualname, record_body(func), n, n == 1 ? "" : "s",
           func->splits ? ", rows in blocks" : "");
  if (func->exact && func->by_wheel)
    buf_addf(out, ", %d by the wheel: %s", func->n_by_wheel, func->by_wheel);
  buf_add(out, "\n");
}

void record_text(Buf *out, const Unit *unit) {
  for (int i = 0; i < unit->diags.n; i++)
    diag_print(out, unit, NULL, &unit->diags.items[i]);
  for (int i = 0; i < unit->funcs.n; i++) {
    const Func *func = unit->funcs.items[i];
    if (func->status == STATUS_ACCEPTED)
      print_native(out, unit, func);
    for (int k = 0; k < func->diags.n; k++)
      diag_print(out, unit, func, &func->diags.items[k]);
  }
}
