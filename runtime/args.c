/* args.c: the arguments of a call to the values of a body, and its result back to a Python object.
 *
 * A value that breaks its annotation sets the exception that mode native raises; the caller drops
 * it where Python runs instead.
 */

/* ── numbers ─────────────────────────────────────────────────────────────────────────────────── */

static bool type_is(PyObject *object, const char *name) {
  return strcmp(Py_TYPE(object)->tp_name, name) == 0;
}

/* A number that is not of the annotated type: Python's result might be of another type, or another
 * number. */
static bool refuse_scalar(const TcFunc *func, const TcParam *param, PyObject *object,
                          const char *wanted, Reason *reason) {
  *reason = REASON_SCALAR_TYPE;
  PyErr_Format(PyExc_TypeError, "argument '%s' of %s() must be %s, not %.100s", param->name,
               func->qualname, wanted, Py_TYPE(object)->tp_name);
  return false;
}

static bool is_annotation_broken(PyObject *object) {
  PyNumberMethods *number = Py_TYPE(object)->tp_as_number;
  return !number || (!number->nb_index && !number->nb_float);
}

static bool is_numpy_bool(PyObject *object) {
  return type_is(object, "numpy.bool") || type_is(object, "numpy.bool_");
}

static bool take_int(const TcFunc *func, const TcParam *param, PyObject *object,
                     Strictness strictness, TcValue *value, Reason *reason) {
  PyObject *number = NULL;
  int overflow = 0;
  if (!PyLong_CheckExact(object)) {
    /* bool's arithmetic is int's, but for the type of the result. Everything else that has an index
     * may have operators of its own: numpy's scalars wrap, round, warn and compare in their way. */
    bool alike = func->result.kind == TC_TENSOR && !func->prints && PyBool_Check(object);
    if (strictness == STRICT_EXACT && !alike && (PyIndex_Check(object) || is_numpy_bool(object)))
      return refuse_scalar(func, param, object, "int", reason);
    number = PyNumber_Index(object);
    if (!number) {
      *reason = REASON_TYPE;
      return false;
    }
    object = number;
  }
  value->i = PyLong_AsLongLongAndOverflow(object, &overflow);
  Py_XDECREF(number);
  if (overflow) {
    *reason = REASON_INT_RANGE;
    PyErr_Format(PyExc_OverflowError,
                 "Python int too large to convert to C long (argument '%s' of %s())", param->name,
                 func->qualname);
    return false;
  }
  return true;
}

static bool take_float(const TcFunc *func, const TcParam *param, PyObject *object,
                       Strictness strictness, TcValue *value, Reason *reason) {
  if (PyFloat_CheckExact(object)) {
    value->f = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (strictness == STRICT_EXACT && !is_annotation_broken(object))
    return refuse_scalar(func, param, object, "float", reason);
  value->f = PyFloat_AsDouble(object);
  if (value->f != -1.0 || !PyErr_Occurred())
    return true;
  *reason = PyErr_ExceptionMatches(PyExc_OverflowError) ? REASON_INT_RANGE : REASON_TYPE;
  return false;
}

static bool take_bool(const TcFunc *func, const TcParam *param, PyObject *object,
                      Strictness strictness, TcValue *value, Reason *reason) {
  if (PyBool_Check(object)) {
    value->b = object == Py_True;
    return true;
  }
  bool numpy = is_numpy_bool(object);
  if (numpy && strictness == STRICT_NATIVE) {
    int truth = PyObject_IsTrue(object);
    value->b = truth == 1;
    if (truth >= 0)
      return true;
  }
  if (PyErr_Occurred() == NULL)
    refuse_scalar(func, param, object, "bool", reason);
  *reason = numpy ? REASON_SCALAR_TYPE : REASON_TYPE;
  return false;
}

/* ── all arguments of a call ─────────────────────────────────────────────────────────────────── */

/* *plain: whether all tensors are. */
static bool take_args(const TcFunc *func, const Lane *lane, ArgSlot *slots, Strictness strictness,
                      TcValue *values, bool *plain, Reason *reason) {
  *plain = true;
  for (int i = 0; i < func->n_params; i++) {
    const TcParam *param = &func->params[i];
    PyObject *object = slots[i].object;
    bool ok = false;
    switch (param->type.kind) {
    case TC_TENSOR:
      ok = lane->take_tensor(func, param, object, &values[i], &slots[i].pin, plain, reason);
      break;
    case TC_INT:
      ok = take_int(func, param, object, strictness, &values[i], reason);
      break;
    case TC_FLOAT:
      ok = take_float(func, param, object, strictness, &values[i], reason);
      break;
    case TC_BOOL:
      ok = take_bool(func, param, object, strictness, &values[i], reason);
      break;
    case TC_NONE:
      if (!(ok = object == Py_None)) {
        refuse_scalar(func, param, object, "None", reason);
        *reason = REASON_TYPE;
      }
      break;
    }
    if (!ok)
      return false;
  }
  return true;
}

static bool take_call_args(Plan *plan, Mode mode, Reason *reason) {
  Strictness strictness = mode == MODE_NATIVE ? STRICT_NATIVE : STRICT_EXACT;
  return take_args(plan->tc.func, plan->lane, plan->slots, strictness, plan->values,
                   &plan->tc.plain, reason);
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

/* Consumes the value. NULL with an exception. */
static PyObject *give_result(TcCall *tc, const Lane *lane, TcValue *value) {
  switch (tc->func->result.kind) {
  case TC_NONE:
    Py_RETURN_NONE;
  case TC_BOOL:
    return PyBool_FromLong(value->b);
  case TC_INT:
    return PyLong_FromLongLong(value->i);
  case TC_FLOAT:
    return PyFloat_FromDouble(value->f);
  case TC_TENSOR:
    break;
  }
  TcTensor *tensor = &value->tensor;
  if (!tensor->handle && !tensor->origin) {
    raise_internal(tc, "no result");
    return NULL;
  }
  return lane->give_tensor(tc, tensor);
}
