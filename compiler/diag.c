/* diag.c: what is told to the user.
 *
 * A pass records a finding with diag_add and goes on; the driver never stops at the first.
 * diag_print shows one the way compilers do: position, code, message, the source line, carets under
 * the range and what to do about it. Reads unit->lines; leaves Diags in the function or in the
 * unit.
 */
#include "tensorc.h"

#include <string.h>

enum {
  LINE_CHARS = 160,  /* a longer source line is shown in part */
  CHARS_BEFORE = 60, /* of which so many before the range */
  NUMBER_WIDTH = 5,  /* of the line number in the margin */
};

void diag_addv(Unit *unit, Func *func, const char *code, Outcome outcome, Span span,
               const char *suggestion, const char *format, va_list args) {
  Buf message = {0};
  buf_addv(&message, format, args);
  Diag diag = {code, outcome, span, arena_name(&unit->arena, message.text), suggestion};
  buf_free(&message);
  Diags *diags = func != NULL ? &func->diags : &unit->diags;
  ARENA_PUSH(&unit->arena, diags, diag);
}

void diag_add(Unit *unit, Func *func, const char *code, Outcome outcome, Span span,
              const char *suggestion, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_addv(unit, func, code, outcome, span, suggestion, format, args);
  va_end(args);
}

const char *outcome_name(Outcome outcome) {
  static const char *const names[] = {"rejected", "not-covered"};
  return names[outcome];
}

/* A line of the source without its end; false when the unit has no such line. */
static bool find_line(const Unit *unit, int line, const char **start, const char **end) {
  if (line < 1 || line > unit->n_lines)
    return false;
  *start = unit->lines[line - 1];
  *end = unit->lines[line];
  while (*end > *start && ((*end)[-1] == '\n' || (*end)[-1] == '\r'))
    --*end;
  return true;
}

static bool begins_char(const char *at) { return ((unsigned char)*at & 0xc0) != 0x80; }

static int count_chars(const char *start, const char *end) {
  int n = 0;
  for (; start < end; start++)
    n += begins_char(start);
  return n;
}

static const char *skip_chars(const char *start, const char *end, int n) {
  for (; start < end && n > 0; n--)
    do
      start++;
    while (start < end && !begins_char(start));
  return start;
}

/* One space per character, tabs as they are, so that what follows stands below `end`. */
static void add_padding(Buf *out, const char *start, const char *end) {
  for (; start < end; start++)
    if (begins_char(start))
      buf_add(out, *start == '\t' ? "\t" : " ");
}

/* The text of a source line, control characters as blanks: they would reach the terminal. */
static void add_source(Buf *out, const char *start, const char *end) {
  for (; start < end; start++) {
    unsigned char byte = (unsigned char)*start;
    buf_add_bytes(out, (byte < 0x20 && byte != '\t') || byte == 0x7f ? " " : start, 1);
  }
}

static const char *clamp(const char *start, const char *end, int col) {
  return col < 0 ? start : col > end - start ? end : start + col;
}

static void add_excerpt(Buf *out, Span span, const char *start, const char *end) {
  const char *from = clamp(start, end, span.col);
  const char *to = span.end_line == span.line ? clamp(start, end, span.end_col) : end;
  const char *shown = start, *shown_end = end;
  const char *before = "", *after = "";
  if (count_chars(start, end) > LINE_CHARS) {
    int skipped = count_chars(start, from) - CHARS_BEFORE;
    if (skipped > 0) {
      shown = skip_chars(start, end, skipped);
      before = "...";
    }
    shown_end = skip_chars(shown, end, LINE_CHARS);
    after = shown_end < end ? "..." : "";
  }
  to = to < shown_end ? to : shown_end;
  buf_addf(out, "%*d | %s", NUMBER_WIDTH, span.line, before);
  add_source(out, shown, shown_end);
  buf_addf(out, "%s\n%*s | %*s", after, NUMBER_WIDTH, "", (int)strlen(before), "");
  add_padding(out, shown, from);
  int carets = to > from ? count_chars(from, to) : 1;
  for (int i = 0; i < carets; i++)
    buf_add(out, "^");
  buf_add(out, "\n");
}

/* One word for a function, the same in each of its lines, in the JSON and in --fail-on. */
static const char *word_of(const Func *func, const Diag *diag) {
  return func != NULL ? status_name(func->status) : outcome_name(diag->outcome);
}

void diag_print(Buf *out, const Unit *unit, const Func *func, const Diag *diag) {
  const char *start = NULL, *end = NULL;
  bool found = find_line(unit, diag->span.line, &start, &end);
  buf_add(out, unit->path);
  if (diag->span.line > 0)
    buf_addf(out, ":%d:%d", diag->span.line,
             1 + (found ? count_chars(start, clamp(start, end, diag->span.col)) : 0));
  buf_addf(out, ": %s %s  %s   %s\n", diag->code, word_of(func, diag),
           func != NULL ? func->qualname : unit->module, diag->message);
  if (found)
    add_excerpt(out, diag->span, start, end);
  if (diag->suggestion != NULL)
    buf_addf(out, "%*s = help: %s\n", NUMBER_WIDTH, "", diag->suggestion);
}
