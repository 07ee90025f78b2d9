/* tf_boundary.c: EagerTensors to the values of a body and back, and which states of TensorFlow a
 * call may run in (the TensorFlow lines of docs/numerics.md).
 *
 * Reads the argument objects, this thread's eager data, tapes and executor. Resolves no tensor to
 * the host and changes nothing. Texts: users' tools read the first words, so they never
 * change.
 */

/* ── arguments ───────────────────────────────────────────────────────────────────────────────── */

static bool tf_refuse_tensor(const TcFunc *func, const TcParam *param, PyObject *exception,
                             const char *problem) {
  PyErr_Format(exception, "rextio-tensorflow: %s (parameter '%s' of %s())", problem, param->name,
               func->qualname);
  return false;
}

/* Whether device is the context's CPU:0, or the GPU:0 beside it. NULL: none, as for a packed
 * tensor. */
static bool tf_device_is(const TfContext *context, const char *device, TcDevice wanted) {
  if (device == context->cpu)
    return wanted == TC_CPU;
  if (!device)
    return false;
  if (wanted == TC_CPU)
    return strcmp(device, context->cpu) == 0;
  size_t n = strlen(context->cpu) - (sizeof "CPU:0" - 1);
  return strncmp(device, context->cpu, n) == 0 && strcmp(device + n, "GPU:0") == 0;
}

static bool tf_take_tensor(const TcFunc *func, const TcParam *param, PyObject *object,
                           TcValue *value, void **pin, bool *plain, Reason *reason) {
  const TcType *type = &param->type;
  TfStatus *status = thread_state.tf->status;
  char problem[200];
  (void)pin, (void)plain;

  TfHandle *handle = tf.is_eager_tensor(object) ? tf.object_handle(object) : NULL;
  if (!handle) {
    *reason = REASON_TYPE;
    snprintf(problem, sizeof problem, "expected a TensorFlow EagerTensor, got %.100s",
             Py_TYPE(object)->tp_name);
    return tf_refuse_tensor(func, param, PyExc_TypeError, problem);
  }
  if (((PyObject **)object)[tf.context_word] != tf_context->context) {
    *reason = REASON_CONTEXT;
    return tf_refuse_tensor(func, param, PyExc_RuntimeError,
                            "the tensor belongs to another eager context");
  }
  if (!tf_device_is(tf_context, tf.get_device(handle, status), type->device)) {
    tf.set_status(status, 0, "");
    *reason = REASON_DEVICE;
    return tf_refuse_tensor(func, param, PyExc_ValueError,
                            type->device == TC_CUDA ? "expected a TensorFlow GPU:0 tensor"
                                                    : "expected a CPU tensor");
  }
  const TfLayout *layout = tf_layout_of(&tf, handle);
  int dtype = layout ? layout->dtype : tf.get_dtype(handle);
  if (dtype != (type->dtype == TC_I64 ? TF_I64 : TF_F32)) {
    *reason = REASON_DTYPE;
    return tf_refuse_tensor(func, param, PyExc_ValueError,
                            type->dtype == TC_I64 ? "expected an int64 tensor"
                                                  : "expected a float32 tensor");
  }
  int rank = layout ? layout->rank : tf.get_rank(handle, status);
  if (rank != type->rank) {
    tf.set_status(status, 0, "");
    *reason = REASON_RANK;
    snprintf(problem, sizeof problem, "expected rank-%d tensor, got rank %d", type->rank, rank);
    return tf_refuse_tensor(func, param, PyExc_ValueError, problem);
  }
  value->tensor = (TcTensor){.handle = tf_tag(handle), .origin = object};
  return true;
}

/* Elements of all tensors together; a measure of the work. */
static int64_t tf_count_elements(const TcFunc *func, const TcValue *values) {
  int64_t total = 0;
  for (int i = 0; i < func->n_params; i++) {
    if (func->params[i].type.kind != TC_TENSOR)
      continue;
    TfHandle *handle = tf_untag(values[i].tensor.handle);
    const TfLayout *layout = tf_layout_of(&tf, handle);
    total += layout ? layout->n_elems : tf.get_numel(handle, thread_state.tf->status);
  }
  return total;
}

/* ── states ──────────────────────────────────────────────────────────────────────────────────── */

static Verdict tf_refuse_state(const TcFunc *func, Reason why, const char *state, Reason *reason) {
  *reason = why;
  PyErr_Format(PyExc_RuntimeError, "rextio-tensorflow: %s() can't run natively %s", func->qualname,
               state);
  return VERDICT_REFUSED;
}

static bool tf_is_async(void) {
  TfExecutor *executor = tf.new_executor(tf_context->eager);
  bool is_async = tf.executor_is_async(executor);
  tf.delete_executor(executor);
  return is_async;
}

/* Before the arguments are looked at: some states make that slow, or symbolic tensors welcome. */
static Verdict tf_thread_verdict(const TcFunc *func, Reason *reason) {
  void *const *words = tf.thread_words(tf_context->context);
  if (!words) {
    *reason = REASON_CONTEXT;
    return VERDICT_FAILED;
  }
  PyObject *scope = words[tf.device_word], *callbacks = words[tf.callbacks_word];
  if (!thread_is_eager(words))
    return tf_refuse_state(func, REASON_TRACING, "inside a graph (tf.function or tf.Graph)",
                           reason);
  if (scope && scope != Py_None && !(PyUnicode_Check(scope) && PyUnicode_GET_LENGTH(scope) == 0)) {
    const char *name = PyUnicode_Check(scope) ? PyUnicode_AsUTF8(scope) : NULL;
    char state[200];
    PyErr_Clear();
    snprintf(state, sizeof state, "inside tf.device(\"%.120s\")", name ? name : "?");
    return tf_refuse_state(func, REASON_DEVICE_SCOPE, state, reason);
  }
  if (callbacks && callbacks != Py_None &&
      !(PyList_Check(callbacks) && !PyList_GET_SIZE(callbacks)))
    return tf_refuse_state(func, REASON_OP_CALLBACK, "while op callbacks are active", reason);
  if (tf_is_async())
    return tf_refuse_state(func, REASON_ASYNC, "while ops execute asynchronously", reason);
  return VERDICT_PLAIN;
}

/* 1: a tape or forward accumulator that is active records what is done with the tensor. -1: error.
 */
static int tf_is_recorded(PyObject *tensor) {
  PyObject *tensors = PyTuple_Pack(1, tensor);
  PyObject *answer = tensors ? tf.tape_records(tensors) : NULL;
  long kind = answer ? PyLong_AsLong(answer) : -1; /* 0: not; else the order of the gradients */
  Py_XDECREF(tensors);
  Py_XDECREF(answer);
  return kind < 0 ? -1 : kind > 0;
}

/* The first parameter that is recorded, n_params if none is; -1: error. */
static int tf_find_recorded(const TcFunc *func, const TcValue *values) {
  PyObject *empty = tf.tape_is_empty();
  Py_XDECREF(empty);
  if (!empty)
    return -1;
  for (int i = 0; i < func->n_params && empty != Py_True; i++) {
    int recorded =
        func->params[i].type.kind == TC_TENSOR ? tf_is_recorded(values[i].tensor.origin) : 0;
    if (recorded)
      return recorded < 0 ? -1 : i;
  }
  return func->n_params;
}

/* After the arguments were taken. */
static Verdict tf_tape_verdict(const TcFunc *func, const TcValue *values, Reason *reason) {
  int i = tf_find_recorded(func, values);
  if (i == func->n_params)
    return VERDICT_PLAIN;
  *reason = REASON_GRADIENTS;
  if (i < 0)
    return VERDICT_FAILED;
  PyErr_Format(PyExc_RuntimeError,
               "rextio-tensorflow: a gradient tape or forward accumulator records parameter '%s' "
               "of %s(); native code gives no gradients (use tape.stop_recording())",
               func->params[i].name, func->qualname);
  return VERDICT_REFUSED;
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

/* Consumes the tensor, which has a handle or an origin. NULL with an exception. */
static PyObject *tf_give_tensor(TcCall *tc, TcTensor *tensor) {
  TcTensor given = tc_give(tensor);
  if (given.origin)
    return Py_NewRef(given.origin);
  TfHandle *handle = tf_untag(given.handle);
  if (tf.get_rank(handle, tc->thread->tf->status) != tc->func->result.rank) {
    tf.delete_handle(handle);
    raise_internal(tc, "a result of another rank");
    return NULL;
  }
  PyObject *object = tf.wrap(handle, false); /* takes the handle */
  if (!object && !PyErr_Occurred())
    raise_internal(tc, "a result without an object");
  return object;
}
