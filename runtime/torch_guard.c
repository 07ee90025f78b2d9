/* torch_guard.c: which torch state a call happens in, and what may run there (the states table of
 * docs/numerics.md).
 *
 * Reads this thread's dispatch keys, function modes and forward-AD level. The plain state costs a
 * few loads; everything else is told apart by torch's own C functions, without a Python frame.
 * Changes nothing.
 */

static Verdict torch_refuse_state(const TcFunc *func, Reason why, const char *state,
                                  Reason *reason) {
  *reason = why;
  PyErr_Format(PyExc_RuntimeError, "rextio-torch: %s() can't run natively inside %s",
               func->qualname, state);
  return VERDICT_REFUSED;
}

/* Function modes see Python-level calls, of which a native body makes none. A default device is one
 * that changes nothing for the ops that we have. */
static Verdict check_function_modes(const TcFunc *func, Reason *reason) {
  for (int64_t i = 0, n = torch.n_function_modes(); i < n; i++) {
    PyObject *mode =
        PyObject_CallMethod(torch.c_module, "_get_function_stack_at", "L", (long long)i);
    if (!mode)
      return VERDICT_FAILED;
    PyTypeObject *type = Py_TYPE(mode);
    PyObject *module = PyObject_GetAttrString((PyObject *)type, "__module__");
    bool harmless = module && PyUnicode_Check(module) &&
                    strcmp(type->tp_name, "DeviceContext") == 0 &&
                    PyUnicode_CompareWithASCIIString(module, "torch.utils._device") == 0;
    Verdict verdict = VERDICT_LIBRARY;
    char state[200];
    snprintf(state, sizeof state, "the torch function mode %s", type->tp_name);
    Py_XDECREF(module);
    Py_DECREF(mode);
    if (PyErr_Occurred())
      return VERDICT_FAILED;
    if (!harmless)
      verdict = torch_refuse_state(func, REASON_FUNCTION_MODE, state, reason);
    if (verdict != VERDICT_LIBRARY)
      return verdict;
  }
  return VERDICT_LIBRARY;
}

/* Every functorch level: vmap is all right, a gradient wants the Python original. */
static Verdict check_functorch(const TcFunc *func, Reason *reason) {
  PyObject *levels = torch.functorch
                         ? PyObject_CallMethod(torch.functorch, "get_interpreter_stack", NULL)
                         : Py_NewRef(Py_None);
  Verdict verdict = VERDICT_LIBRARY;
  if (!levels)
    return VERDICT_FAILED;
  if (!PyList_Check(levels))
    goto done;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(levels); i++) {
    PyObject *key = PyObject_CallMethod(PyList_GET_ITEM(levels, i), "key", NULL);
    PyObject *name = key ? PyObject_GetAttrString(key, "name") : NULL;
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    char state[100];
    bool harmless = text && (strcmp(text, "Vmap") == 0 || strcmp(text, "Functionalize") == 0);
    snprintf(state, sizeof state, "the functorch transform %s", text ? text : "of an unknown kind");
    Py_XDECREF(key);
    Py_XDECREF(name);
    if (PyErr_Occurred())
      verdict = VERDICT_FAILED;
    else if (!harmless)
      verdict = torch_refuse_state(func, REASON_FUNCTORCH, state, reason);
    if (verdict != VERDICT_LIBRARY)
      goto done;
  }
done:
  Py_DECREF(levels);
  return verdict;
}

static Verdict check_tracing(const TcFunc *func, Reason *reason) {
  PyObject *tracer = PyObject_CallMethod(torch.c_module, "_get_tracing_state", NULL);
  if (!tracer)
    return VERDICT_FAILED;
  Py_DECREF(tracer);
  return tracer == Py_None ? VERDICT_LIBRARY
                           : torch_refuse_state(func, REASON_TRACING, "torch.jit.trace", reason);
}

static Verdict torch_thread_verdict(const TcFunc *func, Thread *thread, Reason *reason) {
  if (!thread->dispatch_keys)
    thread->dispatch_keys = dispatch_key_words(torch.c10);
  const uint64_t *keys = thread->dispatch_keys;
  bool plain = (keys[0] | keys[1]) == 0 ||
               (keys[0] == torch.inference_state[0] && keys[1] == torch.inference_state[1]);
  if (torch.n_function_modes() != 0) {
    Verdict verdict = check_function_modes(func, reason);
    if (verdict != VERDICT_LIBRARY)
      return verdict;
  }
  if (plain)
    return VERDICT_PLAIN;
  Verdict verdict = check_functorch(func, reason);
  /* Autocast, dispatch and fake modes, functionalization and whatever comes next act in the
   * dispatcher. */
  return verdict == VERDICT_LIBRARY ? check_tracing(func, reason) : verdict;
}

/* -1 outside every forward-AD level, the usual case. -2: error. */
static long forward_ad_level(void) {
  PyObject *level = PyDict_GetItemWithError(torch.forward_ad, torch.current_level); /* borrowed */
  if (!level)
    return PyErr_Occurred() ? -2 : 0; /* a newer torch: look at each tensor */
  long value = PyLong_AsLong(level);
  return PyErr_Occurred() ? -2 : value;
}

/* 1: the tensor carries a tangent at this level. 0: not. -1: error. */
static int is_dual(PyObject *tensor, long level) {
  PyObject *unpack = PyObject_GetAttrString(torch.functions, "_unpack_dual");
  PyObject *keyword = unpack ? Py_BuildValue("{s:l}", "level", level) : NULL;
  PyObject *arguments = keyword ? PyTuple_Pack(1, tensor) : NULL;
  PyObject *pair = arguments ? PyObject_Call(unpack, arguments, keyword) : NULL;
  PyObject *tangent = pair ? PySequence_GetItem(pair, 1) : NULL;
  int answer = tangent ? tangent != Py_None : -1;
  Py_XDECREF(unpack);
  Py_XDECREF(keyword);
  Py_XDECREF(arguments);
  Py_XDECREF(pair);
  Py_XDECREF(tangent);
  return answer;
}

/* A dual tensor has autograd metadata. */
static bool may_be_dual(const TcFunc *func, const TcValue *values) {
  if (!torch.has_meta)
    return true;
  for (int i = 0; i < func->n_params; i++)
    if (func->params[i].type.kind == TC_TENSOR &&
        impl_words(values[i].tensor.handle)[META_WORD] != 0)
      return true;
  return false;
}

static Verdict check_duals(const TcFunc *func, const TcValue *values, const ArgSlot *slots,
                           Reason *reason) {
  long level = may_be_dual(func, values) ? forward_ad_level() : -1;
  int dual = level < -1 ? -1 : 0;
  for (int i = 0; i < func->n_params && level >= 0 && dual == 0; i++)
    if (func->params[i].type.kind == TC_TENSOR)
      dual = is_dual(slots[i].object, level);
  if (dual == 0)
    return VERDICT_PLAIN;
  if (dual > 0)
    return torch_refuse_state(func, REASON_FORWARD_AD,
                              "a forward-mode gradient (an input is a dual tensor)", reason);
  *reason = REASON_FORWARD_AD;
  return VERDICT_FAILED;
}

/* Of a call whose arguments were taken. *grad_off: grad mode is on, and the body has to run without
 * it. */
static Verdict torch_call_verdict(const TcCall *tc, const TcValue *values, const ArgSlot *slots,
                                  bool refuses_gradients, bool *grad_off, Reason *reason) {
  const TcFunc *func = tc->func;
  Verdict verdict = torch_thread_verdict(func, tc->thread, reason);
  if (verdict == VERDICT_FAILED)
    *reason = REASON_FUNCTION_MODE;
  if (verdict >= VERDICT_REFUSED)
    return verdict;
  Verdict duals = check_duals(func, values, slots, reason);
  if (duals >= VERDICT_REFUSED)
    return duals;
  bool grad_mode = torch.grad_mode();
  int i = grad_mode && refuses_gradients ? torch_find_requires_grad(func, values) : -1;
  if (i >= 0) {
    *reason = REASON_GRADIENTS;
    PyErr_Format(PyExc_RuntimeError,
                 "rextio-torch: parameter '%s' of %s() requires grad and grad mode is on; "
                 "native code gives no gradients (use torch.no_grad() or torch.inference_mode())",
                 func->params[i].name, func->qualname);
    return VERDICT_REFUSED;
  }
  *grad_off = grad_mode && !refuses_gradients;
  return verdict;
}
