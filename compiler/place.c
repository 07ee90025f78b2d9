/* place.c: where a compiled function takes its original's place.
 *
 * Reads the source around the function. Leaves bind_line and bind_col: where the copied source gets
 * the line `f = _tensorc(f)`. A function that claim accepted stays Python when there is no such
 * place.
 */
#include "tensorc.h"

#include <string.h>

/* Does the line end with a backslash, so that the next one belongs to it? Also said of a comment
 * behind code that ends so. */
static bool is_continued(const Unit *unit, int line) {
  if (line < 1 || line > unit->n_lines)
    return false;
  const char *start = unit->lines[line - 1], *end = unit->lines[line];
  while (end > start && (end[-1] == '\n' || end[-1] == '\r'))
    end--;
  return end > start && end[-1] == '\\' && start[strspn(start, " \t\f")] != '#';
}

/* The first blank line behind the function that only comments part from it: there the binding fits
 * at the function's own indentation, whatever block it is in. Without one, the end of the file for
 * a function of the module's own level. */
static void find_line(const Unit *unit, Func *func) {
  const AstList *decorators = &func->def->list2;
  int first = decorators->n > 0 ? decorators->items[0]->span.line : func->def->span.line;
  func->bind_col = func->def->span.col;
  func->bind_line = -1;
  if (is_continued(unit, first - 1))
    return; /* its indentation stands on an earlier line */
  /* At the end of the file the name must still be this function's: not deleted, not something else.
   */
  const ModuleName *name = bind_find(unit, func->name);
  func->bind_line = func->bind_col == 0 && name && name->kind == NAME_FUNCTION ? 0 : -1;
  for (int line = func->def->span.end_line + 1; line <= unit->n_lines; line++) {
    const char *at = unit->lines[line - 1], *end = unit->lines[line];
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\f' || *at == '\r' || *at == '\n'))
      at++;
    if (line == func->def->span.end_line + 1 && is_continued(unit, line - 1) &&
        (at == end || *at == '#'))
      continue; /* the end of the function's own last line */
    if (at == end) {
      /* An empty text behind the last newline is no line of its own. */
      if (unit->lines[line - 1] < end)
        func->bind_line = line;
      return;
    }
    if (*at != '#')
      return;
  }
}

void place_func(Unit *unit, Func *func) {
  find_line(unit, func);
  if (func->status != STATUS_ACCEPTED || func->bind_line >= 0)
    return;
  diag_add(unit, func, "TC-LANG-002", OUTCOME_NOT_COVERED, func->name_span,
           "leave a blank line behind the function", "%s",
           "no blank line follows it, so its compiled version can't be bound");
  func->claims.n = 0;
  func->status = STATUS_NOT_CANDIDATE;
}
