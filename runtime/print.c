/* print.c: print() inside a native function.
 *
 * What a body prints is held back until it is known who answers the call: when the body raises and
 * Python repeats the call, Python prints it all, so ours is dropped. Otherwise it is written in one
 * piece, before the result or the exception is seen.
 */

/* Takes `piece`, a new text or NULL with an exception. */
static bool print_piece(TcCall *tc, PyObject *piece, const char *end) {
  PyObject *text = piece ? PyUnicode_FromFormat("%S%s", piece, end) : NULL;
  Py_XDECREF(piece);
  if (text && !tc->printed) {
    tc->printed = text;
    return true;
  }
  if (text)
    PyUnicode_AppendAndDel(&tc->printed, text); /* sets tc->printed to NULL on failure */
  return text && tc->printed;
}

bool tc_print_int(TcCall *tc, int64_t value, const char *end) {
  gil_take(tc);
  return print_piece(tc, PyLong_FromLongLong(value), end);
}

bool tc_print_float(TcCall *tc, double value, const char *end) {
  gil_take(tc);
  return print_piece(tc, PyFloat_FromDouble(value), end);
}

bool tc_print_bool(TcCall *tc, bool value, const char *end) {
  gil_take(tc);
  return print_piece(tc, PyBool_FromLong(value), end);
}

bool tc_print_text(TcCall *tc, const char *text, int64_t n, const char *end) {
  gil_take(tc);
  return print_piece(tc, PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "surrogatepass"), end);
}

static void print_forget(TcCall *tc) { Py_CLEAR(tc->printed); }

/* Writes what was held back to sys.stdout, as print does. An exception that is set stays set.
 * False: an exception is set. */
static bool print_write(TcCall *tc) {
  if (!tc->printed)
    return !PyErr_Occurred();
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject *text = tc->printed, *file = PySys_GetObject("stdout"); /* borrowed */
  tc->printed = NULL;
  bool ok = file != NULL;
  if (!ok)
    PyErr_SetString(PyExc_RuntimeError, "lost sys.stdout");
  else if (file != Py_None) {
    Py_INCREF(file);
    ok = PyFile_WriteObject(text, file, Py_PRINT_RAW) == 0;
    Py_DECREF(file);
  }
  Py_DECREF(text);
  if (!ok) { /* Python would not have got as far as the exception that the body raised */
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return false;
  }
  PyErr_Restore(type, value, traceback);
  return !type;
}
