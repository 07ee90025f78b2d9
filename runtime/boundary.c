/* boundary.c: Python objects to the values of a body, and its result back to a Python object.
 *
 * A value that breaks its annotation sets the exception that mode native raises; the caller drops
 * it where Python runs instead. Texts: users' tools read the first words, so they never change;
 * parameter and function follow them.
 */

/* Which numbers count as an int or a float. */
typedef enum Strictness {
  STRICT_EXACT,  /* the annotated type only, and types whose arithmetic gives the same tensors */
  STRICT_NATIVE, /* everything that can be converted without loss of meaning: mode native */
} Strictness;

/* ── tensors ─────────────────────────────────────────────────────────────────────────────────── */

static bool refuse_tensor(const TcFunc *func, const TcParam *param, PyObject *exception,
                          const char *problem) {
  PyErr_Format(exception, "rextio-torch: %s (parameter '%s' of %s())", problem, param->name,
               func->qualname);
  return false;
}

/* false: an exception is set. *handle: the object's own, or a new one in *pin. */
static bool tensor_handle(PyObject *object, H *handle, H *pin) {
  if (torch.inline_handle) {
    *handle = (char *)object + HANDLE_OFFSET;
    return true;
  }
  if (torch.from_object(object, pin) != 0) {
    PyErr_SetString(PyExc_RuntimeError, "rextio-torch: no handle of a tensor");
    return false;
  }
  *handle = *pin;
  return true;
}

/* Whether the tensor is an ordinary dense one on the CPU: no negative view, zero, sparse,
 * quantized, functional, batched … tensor, which the dispatcher resolves and a kernel called
 * directly would misread. */
static inline bool is_plain(H handle) {
  if (torch.key_word == 0)
    return false;
  uint64_t keys = impl_words(handle)[torch.key_word];
  return keys == torch.plain_keys || keys == torch.inference_keys;
}

/* *plain is left as it is, or made false. */
static bool take_tensor(const TcFunc *func, const TcParam *param, PyObject *object, TcValue *value,
                        H *pin, bool *plain, Reason *reason) {
  const TcType *type = &param->type;
  int64_t rank = -1;
  int32_t device = -1, index = 0, dtype = -1, layout = 0;
  char problem[200];
  H handle = NULL;

  if (Py_TYPE(object) != torch.tensor && Py_TYPE(object) != torch.parameter) {
    bool subclass = PyType_IsSubtype(Py_TYPE(object), torch.tensor);
    *reason = subclass ? REASON_SUBCLASS : REASON_TYPE;
    snprintf(problem, sizeof problem, "expected a torch.Tensor, got %s%.100s",
             subclass ? "the subclass " : "", Py_TYPE(object)->tp_name);
    return refuse_tensor(func, param, PyExc_TypeError, problem);
  }
  if (!tensor_handle(object, &handle, pin)) {
    *reason = REASON_UNAVAILABLE;
    return false;
  }
  bool known = is_plain(handle); /* then it is on the CPU */
  *plain &= known;
  if (known)
    device = TC_CPU;
  if ((!known && torch.get_device_type(handle, &device) != 0) || device != (int32_t)type->device ||
      (type->device == TC_CUDA && (torch.get_device_index(handle, &index) != 0 || index != 0))) {
    *reason = REASON_DEVICE;
    return refuse_tensor(func, param, PyExc_ValueError,
                         type->device == TC_CUDA ? "expected a CUDA device-0 tensor"
                                                 : "expected a CPU tensor");
  }
  if (type->device == TC_CUDA && (torch.get_layout(handle, &layout) != 0 || layout != 0)) {
    *reason = REASON_LAYOUT;
    return refuse_tensor(func, param, PyExc_ValueError, "expected a strided tensor layout");
  }
  if (torch.get_dtype(handle, &dtype) != 0 || dtype != (int32_t)type->dtype) {
    *reason = REASON_DTYPE;
    return refuse_tensor(func, param, PyExc_ValueError,
                         type->dtype == TC_I64 ? "expected an int64 tensor"
                                               : "expected a float32 tensor");
  }
  if (known && torch.shape_word)
    rank = (int64_t)impl_words(handle)[torch.shape_word];
  else if (torch.get_rank(handle, &rank) != 0)
    rank = -1;
  if (rank != type->rank) {
    *reason = rank < 0 ? REASON_LAYOUT : REASON_RANK; /* a nested tensor has no sizes */
    if (rank < 0)
      return refuse_tensor(func, param, PyExc_ValueError, "expected a strided tensor layout");
    snprintf(problem, sizeof problem, "expected rank-%d tensor, got rank %lld", type->rank,
             (long long)rank);
    return refuse_tensor(func, param, PyExc_ValueError, problem);
  }
  value->tensor.handle = handle;
  value->tensor.origin = object;
  return true;
}

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

static bool take_int(const TcFunc *func, const TcParam *param, PyObject *object,
                     Strictness strictness, TcValue *value, Reason *reason) {
  PyObject *number = NULL;
  int overflow = 0;
  if (!PyLong_CheckExact(object)) {
    /* The arithmetic of bool and numpy.int64 is that of int, but for the type of the result (and
     * for numpy's overflow and division by zero, where our body raises and Python then runs).
     * Narrower ints and tensors calculate otherwise. */
    bool alike =
        func->result.kind == TC_TENSOR && (PyBool_Check(object) || type_is(object, "numpy.int64"));
    if (strictness == STRICT_EXACT && !alike && PyIndex_Check(object))
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
  bool alike = func->result.kind == TC_TENSOR && type_is(object, "numpy.float64");
  if (strictness == STRICT_EXACT && !alike && !is_annotation_broken(object))
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
  bool numpy = type_is(object, "numpy.bool") || type_is(object, "numpy.bool_");
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

/* One per parameter. */
typedef struct ArgSlot {
  PyObject *object; /* borrowed from the caller, or held */
  H pin;            /* a handle of our own, while another thread may run; NULL mostly */
  bool held;        /* object came from the defaults, which may be replaced while we run */
} ArgSlot;

/* *plain: whether all tensors are. */
static bool take_args(const TcFunc *func, ArgSlot *slots, Strictness strictness, TcValue *values,
                      bool *plain, Reason *reason) {
  *plain = true;
  for (int i = 0; i < func->n_params; i++) {
    const TcParam *param = &func->params[i];
    PyObject *object = slots[i].object;
    bool ok = false;
    switch (param->type.kind) {
    case TC_TENSOR:
      ok = func->lane == TC_LANE_TENSORFLOW
               ? tf_take_tensor(func, param, object, &values[i], reason)
               : take_tensor(func, param, object, &values[i], &slots[i].pin, plain, reason);
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

/* Elements of all tensors together; a measure of the work. */
static int64_t count_elements(const TcCall *tc, const TcValue *values) {
  int64_t total = 0;
  for (int i = 0; i < tc->func->n_params; i++) {
    if (tc->func->params[i].type.kind != TC_TENSOR)
      continue;
    H handle = values[i].tensor.handle;
    const int64_t *shape = plain_shape(tc, handle);
    int64_t n = 1;
    if (!shape && torch.get_numel(handle, &n) != 0)
      continue; /* no number: symbolic */
    for (int64_t d = 1; shape && d <= shape[0]; d++)
      n *= shape[d];
    total += n;
  }
  return total;
}

/* The first parameter whose tensor requires grad, or -1. */
static int find_requires_grad(const TcFunc *func, const TcValue *values) {
  for (int i = 0; i < func->n_params; i++)
    if (func->params[i].type.kind == TC_TENSOR &&
        torch.requires_grad(impl_words(values[i].tensor.handle)))
      return i;
  return -1;
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

/* Consumes the value. NULL with an exception. */
static PyObject *give_result(TcCall *tc, TcValue *value) {
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
  if (tc->func->lane == TC_LANE_TENSORFLOW)
    return tf_give_tensor(tc, tensor);
  PyObject *object =
      tensor->origin ? Py_NewRef(tensor->origin) : wrap_handle(&torch, tensor->handle);
  if (!object && !PyErr_Occurred())
    raise_internal(tc, "a result without an object");
  tc_drop(tensor);
  return object;
}
