/* source.c: the bytes of a file → its text and lines.
 *
 * Decodes as CPython's tokenizer does (BOM, PEP 263 cookie, else UTF-8) and finds where the lines
 * begin. Leaves unit->source in UTF-8 without a BOM, and unit->lines.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tensorc.h"

#include <string.h>

/* Always false: the SyntaxError of a file that the parser is not even asked about. */
static bool refuse(const Unit *unit, int line, const char *message) {
  PyObject *filename =
      PyUnicode_DecodeUTF8(unit->path, (Py_ssize_t)strlen(unit->path), "surrogatepass");
  if (filename == NULL)
    return false;
  PyObject *args = Py_BuildValue("s(OiiO)", message, filename, line, 1, Py_None);
  if (args != NULL)
    PyErr_SetObject(PyExc_SyntaxError, args);
  Py_XDECREF(args);
  Py_DECREF(filename);
  return false;
}

bool source_admit(Unit *unit, const char *source, size_t n_bytes) {
  int line = 1;
  for (size_t i = 0; i < n_bytes; i++) {
    if (source[i] == '\0')
      return refuse(unit, line, "source code cannot contain null bytes");
    line += source[i] == '\n' || (source[i] == '\r' && i + 1 < n_bytes && source[i + 1] != '\n');
  }
  return true;
}

/* PEP 263, as CPython's tokenizer looks for it: the encoding that a comment in this line declares,
 * "" when it declares none; `stop`: the line holds more than a comment, so the next one may not. */
static const char *find_cookie(Arena *arena, const char *line, size_t length, bool *stop) {
  size_t at = 0;
  for (; at < length && line[at] != '#'; at++)
    if (line[at] != ' ' && line[at] != '\t' && line[at] != '\f') {
      *stop = true;
      return "";
    }
  for (; at + 6 < length; at++) {
    if (memcmp(line + at, "coding", 6) != 0 || (line[at + 6] != ':' && line[at + 6] != '='))
      continue;
    size_t start = at + 7;
    while (start < length && (line[start] == ' ' || line[start] == '\t'))
      start++;
    size_t end = start;
    while (end < length && (Py_ISALNUM(line[end]) || strchr("-_.", line[end]) != NULL))
      end++;
    if (end > start)
      return arena_intern(arena, line + start, end - start);
  }
  return "";
}

/* "latin-1-unix" is an editor's way of writing latin-1; CPython's tokenizer cuts the same two
 * names. */
static const char *plain_name(const char *encoding) {
  static const struct {
    const char *prefix, *name;
  } names[4] = {{"utf-8", "utf-8"},
                {"latin-1", "iso-8859-1"},
                {"iso-8859-1", "iso-8859-1"},
                {"iso-latin-1", "iso-8859-1"}};
  for (int i = 0; i < 4; i++) {
    const char *a = names[i].prefix, *b = encoding;
    for (; *a != '\0' && *a == (*b == '_' ? '-' : Py_TOLOWER(*b)); a++, b++)
      ;
    if (*a == '\0' && (*b == '\0' || *b == '-' || *b == '_'))
      return names[i].name;
  }
  return encoding;
}

static const char *find_encoding(Arena *arena, const char *source, size_t n_bytes) {
  bool stop = false;
  for (int line = 0; line < 2 && !stop; line++) {
    size_t length = 0;
    while (length < n_bytes && source[length] != '\n' && source[length] != '\r')
      length++;
    const char *cookie = find_cookie(arena, source, length, &stop);
    if (cookie[0] != '\0')
      return plain_name(cookie);
    length += length < n_bytes;
    length += length < n_bytes && source[length - 1] == '\r' && source[length] == '\n';
    source += length;
    n_bytes -= length;
  }
  return "utf-8";
}

/* Lines end where Python's tokenizer ends them: at \n, \r\n and \r, not at \f, \v or U+2028. */
static void split_lines(Unit *unit) {
  const char *end = unit->source + unit->source_bytes;
  int n = 0;
  for (const char *at = unit->source; at < end; at++)
    n += *at == '\n' || (*at == '\r' && at[1] != '\n');
  unit->lines = ARENA_ARRAY(&unit->arena, const char *, n + 2);
  unit->n_lines = 0;
  const char *start = unit->source;
  for (const char *at = start; at < end; at++)
    if (*at == '\n' || (*at == '\r' && at[1] != '\n')) {
      unit->lines[unit->n_lines++] = start;
      start = at + 1;
    }
  if (start < end)
    unit->lines[unit->n_lines++] = start;
  unit->lines[unit->n_lines] = end;
}

/* Puts a SyntaxError with the line in place of the codec's own exception. */
static bool refuse_encoding(const Unit *unit, const char *source, size_t n_bytes) {
  PyObject *type = NULL, *value = NULL, *traceback = NULL;
  Py_ssize_t start = 0;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value != NULL && PyErr_GivenExceptionMatches(value, PyExc_UnicodeDecodeError))
    PyUnicodeDecodeError_GetStart(value, &start);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  int line = 1;
  for (size_t i = 0; i + 1 < n_bytes && i < (size_t)start; i++)
    line += source[i] == '\n' || (source[i] == '\r' && source[i + 1] != '\n');
  return refuse(unit, line, "source code is not text in its declared encoding");
}

bool source_decode(Unit *unit, const char *source, size_t n_bytes) {
  bool done = false;
  PyObject *text = NULL;
  if (n_bytes >= 3 && memcmp(source, "\xef\xbb\xbf", 3) == 0) {
    source += 3;
    n_bytes -= 3;
    text = PyUnicode_DecodeUTF8(source, (Py_ssize_t)n_bytes, NULL);
  } else
    text = PyUnicode_Decode(source, (Py_ssize_t)n_bytes,
                            find_encoding(&unit->arena, source, n_bytes), NULL);
  Py_ssize_t length = 0;
  const char *utf8 = text != NULL ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
  if (utf8 == NULL) {
    if (PyErr_ExceptionMatches(PyExc_UnicodeError) || PyErr_ExceptionMatches(PyExc_LookupError))
      refuse_encoding(unit, source, n_bytes);
    goto done;
  }
  if (!source_admit(unit, utf8, (size_t)length))
    goto done;
  char *copy = arena_alloc(&unit->arena, (size_t)length + 1);
  memcpy(copy, utf8, (size_t)length);
  unit->source = copy;
  unit->source_bytes = (size_t)length;
  split_lines(unit);
  done = true;
done:
  Py_XDECREF(text);
  return done;
}
