/* torch_boundary.c: torch's tensors to the values of a body and back.
 *
 * Reads the argument objects; copies nothing. Texts: users' tools read the first words, so they
 * never change; parameter and function follow them.
 */

/* ── tensors ─────────────────────────────────────────────────────────────────────────────────── */

static bool torch_refuse_tensor(const TcFunc *func, const TcParam *param, PyObject *exception,
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
static bool torch_take_tensor(const TcFunc *func, const TcParam *param, PyObject *object,
                              TcValue *value, H *pin, bool *plain, Reason *reason) {
  const TcType *type = &param->type;
  int64_t rank = -1;
  int32_t device = -1, index = 0, dtype = -1, layout = 0;
  char problem[200];
  H handle = NULL;

  if (Py_TYPE(object) != torch.tensor && Py_TYPE(object) != torch.parameter) {
    bool subclass = PyType_IsSubtype(Py_TYPE(object), torch.tensor);
    bool stands_in =
        PyObject_HasAttrString((PyObject *)Py_TYPE(object), "__torch_function__"); /* fx's Proxy */
    *reason = subclass || stands_in ? REASON_SUBCLASS : REASON_TYPE;
    snprintf(problem, sizeof problem, "expected a torch.Tensor, got %s%.100s",
             subclass ? "the subclass " : "", Py_TYPE(object)->tp_name);
    return torch_refuse_tensor(func, param, PyExc_TypeError, problem);
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
    return torch_refuse_tensor(func, param, PyExc_ValueError,
                               type->device == TC_CUDA ? "expected a CUDA device-0 tensor"
                                                       : "expected a CPU tensor");
  }
  if (type->device == TC_CUDA && (torch.get_layout(handle, &layout) != 0 || layout != 0)) {
    *reason = REASON_LAYOUT;
    return torch_refuse_tensor(func, param, PyExc_ValueError, "expected a strided tensor layout");
  }
  if (torch.get_dtype(handle, &dtype) != 0 || dtype != (int32_t)type->dtype) {
    *reason = REASON_DTYPE;
    return torch_refuse_tensor(func, param, PyExc_ValueError,
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
      return torch_refuse_tensor(func, param, PyExc_ValueError, "expected a strided tensor layout");
    snprintf(problem, sizeof problem, "expected rank-%d tensor, got rank %lld", type->rank,
             (long long)rank);
    return torch_refuse_tensor(func, param, PyExc_ValueError, problem);
  }
  value->tensor = (TcTensor){.handle = handle, .origin = object};
  return true;
}

/* Elements of all tensors together; a measure of the work. */
static int64_t torch_count_elements(const TcCall *tc, const TcValue *values) {
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
static int torch_find_requires_grad(const TcFunc *func, const TcValue *values) {
  for (int i = 0; i < func->n_params; i++)
    if (func->params[i].type.kind == TC_TENSOR &&
        torch.requires_grad(impl_words(values[i].tensor.handle)))
      return i;
  return -1;
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

/* Consumes the tensor, which has a handle or an origin. NULL with an exception. */
static PyObject *torch_give_tensor(TcCall *tc, TcTensor *tensor) {
  PyObject *object =
      tensor->origin ? Py_NewRef(tensor->origin) : wrap_handle(&torch, tensor->handle);
  if (!object && !PyErr_Occurred())
    raise_internal(tc, "a result without an object");
  tc_drop(tensor);
  return object;
}
