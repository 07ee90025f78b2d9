/* scalar.c: Python's arithmetic on 64-bit ints and doubles, ranges, loop turns and raising.
 *
 * The fast paths are C. Where Python raises, the same operation is done once more on Python
 * objects, so that type and text of the exception are those of the Python that runs.
 */

/* ── errors ──────────────────────────────────────────────────────────────────────────────────── */

static bool raise_overflow(TcCall *tc) {
  if (in_blocks(tc))
    return false;
  gil_take(tc);
  PyErr_SetString(PyExc_OverflowError, "integer overflow");
  return false;
}

/* Steals a and b. Always false: an exception is set. */
static bool raise_like(TcCall *tc, binaryfunc operation, PyObject *a, PyObject *b) {
  PyObject *value = a && b ? operation(a, b) : NULL;
  Py_XDECREF(a);
  Py_XDECREF(b);
  if (!value)
    return false;
  Py_DECREF(value);
  PyErr_Format(PyExc_ArithmeticError, "%s: no result of the compiled type", tc->func->name);
  return false;
}

static bool raise_like_ints(TcCall *tc, binaryfunc operation, int64_t a, int64_t b) {
  if (in_blocks(tc))
    return false;
  gil_take(tc);
  return raise_like(tc, operation, PyLong_FromLongLong(a), PyLong_FromLongLong(b));
}

static bool raise_like_floats(TcCall *tc, binaryfunc operation, double a, double b) {
  if (in_blocks(tc))
    return false;
  gil_take(tc);
  return raise_like(tc, operation, PyFloat_FromDouble(a), PyFloat_FromDouble(b));
}

/* ── ints ────────────────────────────────────────────────────────────────────────────────────── */

bool tc_int_add(TcCall *tc, int64_t *out, int64_t a, int64_t b) {
  return !__builtin_add_overflow(a, b, out) || raise_overflow(tc);
}

bool tc_int_sub(TcCall *tc, int64_t *out, int64_t a, int64_t b) {
  return !__builtin_sub_overflow(a, b, out) || raise_overflow(tc);
}

bool tc_int_mul(TcCall *tc, int64_t *out, int64_t a, int64_t b) {
  return !__builtin_mul_overflow(a, b, out) || raise_overflow(tc);
}

bool tc_int_neg(TcCall *tc, int64_t *out, int64_t a) {
  return !__builtin_sub_overflow((int64_t)0, a, out) || raise_overflow(tc);
}

bool tc_int_floordiv(TcCall *tc, int64_t *out, int64_t a, int64_t b) {
  if (b == 0)
    return raise_like_ints(tc, PyNumber_FloorDivide, a, b);
  if (b == -1)
    return tc_int_neg(tc, out, a); /* INT64_MIN / -1 traps */
  int64_t quotient = a / b;
  if (a % b != 0 && (a < 0) != (b < 0))
    quotient--;
  *out = quotient;
  return true;
}

bool tc_int_mod(TcCall *tc, int64_t *out, int64_t a, int64_t b) {
  if (b == 0)
    return raise_like_ints(tc, PyNumber_Remainder, a, b);
  if (b == -1) { /* INT64_MIN % -1 traps */
    *out = 0;
    return true;
  }
  int64_t rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0))
    rest += b;
  *out = rest;
  return true;
}

static PyObject *power(PyObject *a, PyObject *b) { return PyNumber_Power(a, b, Py_None); }

bool tc_int_pow(TcCall *tc, int64_t *out, int64_t a, int64_t b) {
  if (b < 0)
    return raise_like_ints(tc, power, a, b); /* a float, or ZeroDivisionError */
  int64_t result = 1;
  for (int64_t base = a, rest = b;;) {
    if (rest & 1 && __builtin_mul_overflow(result, base, &result))
      return raise_overflow(tc);
    rest >>= 1;
    if (rest == 0)
      break;
    /* Every base squared here is used by the highest bit of the exponent, so its overflow is the
     * result's. */
    if (__builtin_mul_overflow(base, base, &base))
      return raise_overflow(tc);
  }
  *out = result;
  return true;
}

bool tc_int_truediv(TcCall *tc, double *out, int64_t a, int64_t b) {
  const int64_t exact = (int64_t)1 << 53;
  if (b == 0)
    return raise_like_ints(tc, PyNumber_TrueDivide, a, b);
  if (a >= -exact && a <= exact && b >= -exact && b <= exact) {
    *out = (double)a / (double)b;
    return true;
  }
  if (in_blocks(tc))
    return false;
  /* Rounding the operands first would round twice: Python's long division does it right. */
  PyThreadState *released = tc->released;
  gil_take(tc);
  PyObject *numerator = PyLong_FromLongLong(a), *denominator = PyLong_FromLongLong(b);
  PyObject *quotient =
      numerator && denominator ? PyNumber_TrueDivide(numerator, denominator) : NULL;
  bool ok = quotient != NULL;
  if (ok)
    *out = PyFloat_AS_DOUBLE(quotient);
  Py_XDECREF(numerator);
  Py_XDECREF(denominator);
  Py_XDECREF(quotient);
  if (released && ok)
    tc->released = PyEval_SaveThread();
  return ok;
}

/* ── floats: the algorithms of CPython's Objects/floatobject.c (float_rem, _float_div_mod) ───── */

bool tc_float_truediv(TcCall *tc, double *out, double a, double b) {
  if (b == 0.0)
    return raise_like_floats(tc, PyNumber_TrueDivide, a, b);
  *out = a / b;
  return true;
}

bool tc_float_mod(TcCall *tc, double *out, double a, double b) {
  if (b == 0.0)
    return raise_like_floats(tc, PyNumber_Remainder, a, b);
  double rest = fmod(a, b);
  if (rest != 0.0) {
    if ((b < 0) != (rest < 0))
      rest += b;
  } else {
    rest = copysign(0.0, b);
  }
  *out = rest;
  return true;
}

bool tc_float_floordiv(TcCall *tc, double *out, double a, double b) {
  if (b == 0.0)
    return raise_like_floats(tc, PyNumber_FloorDivide, a, b);
  double rest = fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0.0 && (b < 0) != (rest < 0))
    quotient -= 1.0;
  if (quotient != 0.0) {
    double floored = floor(quotient);
    if (quotient - floored > 0.5)
      floored += 1.0;
    *out = floored;
  } else {
    *out = copysign(0.0, a / b);
  }
  return true;
}

int tc_compare_int_float(int64_t a, double b) {
  if (isnan(b))
    return 2;
  if (b >= 0x1p63)
    return -1;
  if (b < -0x1p63)
    return 1;
  int64_t whole = (int64_t)b;
  if (a != whole)
    return a < whole ? -1 : 1;
  double fraction = b - (double)whole; /* exact: whole came from b */
  return fraction > 0 ? -1 : fraction < 0;
}

/* ── loops ───────────────────────────────────────────────────────────────────────────────────── */

bool tc_range(TcCall *tc, TcRange *range, int64_t start, int64_t stop, int64_t step) {
  range->value = start;
  range->step = step;
  range->left = 0;
  if (step == 0) {
    if (in_blocks(tc))
      return false;
    gil_take(tc);
    PyObject *value = PyObject_CallFunction((PyObject *)&PyRange_Type, "LLL", (long long)start,
                                            (long long)stop, 0LL);
    Py_XDECREF(value);
    return value ? raise_internal(tc, "a range with step 0") : false;
  }
  /* Unsigned, because stop - start may need 65 bits as a signed number. */
  if (step > 0 && start < stop)
    range->left = ((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step + 1;
  if (step < 0 && start > stop)
    range->left = ((uint64_t)start - (uint64_t)stop - 1) / (0 - (uint64_t)step) + 1;
  return true;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A thread that waits for the GIL asks for it after a whole switch interval in which nobody
 * released it, and only who was asked hands it over; a release that comes earlier just makes the
 * waiter start again. So: twice that interval. */
static uint64_t hand_over_ns(void) {
  PyObject *function = PySys_GetObject("getswitchinterval"); /* borrowed */
  PyObject *interval = function ? PyObject_CallNoArgs(function) : NULL;
  double seconds = interval ? PyFloat_AsDouble(interval) : 0.005;
  Py_XDECREF(interval);
  PyErr_Clear();
  return seconds > 0 && seconds < 3600 ? (uint64_t)(2e9 * seconds) : 10000000u;
}

static bool handle_signals(TcCall *tc) {
  tc->interrupted = PyErr_CheckSignals() != 0;
  return !tc->interrupted;
}

bool tc_turn(TcCall *tc) {
  /* A block can't be interrupted: a loop that long runs on the whole batch. */
  if (in_blocks(tc))
    return ++tc->n_turns < 1u << 20;
  if (!tc->released) {
    if (!handle_signals(tc))
      return false;
    if (++tc->n_turns % 1024 != 0)
      return true;
    if (!tc->yielded_ns) {
      tc->hand_over_ns = hand_over_ns();
      tc->yielded_ns = now_ns();
    } else if (now_ns() - tc->yielded_ns > tc->hand_over_ns) {
      PyEval_RestoreThread(PyEval_SaveThread());
      tc->yielded_ns = now_ns();
    }
    return true;
  }
  /* Taking the GIL may mean to wait for a thread that computes: seldom. */
  uint64_t now = now_ns();
  if (tc->yielded_ns == 0)
    tc->yielded_ns = now;
  if (now - tc->yielded_ns < 100000000u)
    return true;
  gil_take(tc);
  if (!handle_signals(tc))
    return false;
  tc->released = PyEval_SaveThread();
  tc->yielded_ns = now_ns();
  return true;
}

/* ── raising ─────────────────────────────────────────────────────────────────────────────────── */

bool tc_raise_unbound(TcCall *tc, const char *name) {
  if (in_blocks(tc))
    return false;
  gil_take(tc);
  PyErr_Format(PyExc_UnboundLocalError,
               "cannot access local variable '%s' where it is not associated with a value", name);
  return false;
}

bool tc_raise(TcCall *tc, const char *exception, const char *message, int64_t n) {
  if (in_blocks(tc))
    return false;
  gil_take(tc);
  PyObject *type = NULL, *text = NULL;
  PyObject *builtins = PyEval_GetBuiltins(); /* borrowed; a dict */
  if (builtins)
    type = PyDict_GetItemString(builtins, exception);
  if (!type || !PyExceptionClass_Check(type))
    return raise_internal(tc, "raise of something that is no builtin exception");
  Py_INCREF(type);
  if (!message) {
    PyErr_SetNone(type);
  } else {
    text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)n, "surrogatepass");
    if (text)
      PyErr_SetObject(type, text);
  }
  Py_XDECREF(text);
  Py_DECREF(type);
  return false;
}
