/* graph_frame.c: the values of one call of a graph: their objects, their memory, and torch's own
 * functions on them.
 *
 * A value has an object, memory, or both. What Python's functions gave is held against the graph's
 * types before it is used, so that no wrong guess of the capture becomes a wrong result.
 */

/* A graph as Python calls it. */
typedef struct GraphObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  const TcGraph *graph;
  PyObject *constants;  /* tuple of tensors: of the values behind the inputs */
  PyObject *calls;      /* tuple of (function, tuple of constants), as load was given it */
  PyObject **keywords;  /* per call: tuple of names, or NULL */
  PyObject **once;      /* what is the same at every call; NULL before the first */
  TcGraphBody *body;    /* for this processor */
  TcFunc func;          /* what recipes ask of the function that they run in */
  Admission *admission; /* the one of the last call first; NULL before it was asked */
  bool has_products;
} GraphObject;

struct TcFrame {
  TcCall tc;
  Run run;
  struct Block block;
  const TcGraph *graph;
  GraphObject *self;
  TcGraphValue *values;
  bool has_effect; /* something has happened: the caller must not run the model again */
};

static PyObject *graph_unfit; /* the exception, one for all modules of the process */
#define UNFIT_KEY "tensorc.runtime.Unfit"

static bool unfit_find(void) {
  PyObject *shared = PyInterpreterState_GetDict(PyInterpreterState_Get()); /* borrowed */
  if (!shared || graph_unfit)
    return graph_unfit != NULL;
  graph_unfit = Py_XNewRef(PyDict_GetItemString(shared, UNFIT_KEY));
  if (graph_unfit)
    return true;
  graph_unfit = PyErr_NewExceptionWithDoc(
      "tensorc.Unfit",
      "A call that the compiled version of a model was not made for. Nothing has happened.", NULL,
      NULL);
  return graph_unfit && PyDict_SetItemString(shared, UNFIT_KEY, graph_unfit) == 0;
}

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

static bool has_shape(H handle, const TcSpec *spec) {
  const int64_t *words = (const int64_t *)impl_words(handle) + torch.shape_word;
  size_t n = (size_t)spec->rank;
  int64_t *sizes, *strides;
  if (words[0] != spec->rank)
    return false;
  if (n <= N_INLINE_DIMS) {
    for (size_t i = 0; i < n; i++)
      if (words[1 + i] != spec->sizes[i] || words[1 + N_INLINE_DIMS + i] != spec->strides[i])
        return false;
    return true;
  }
  return torch.get_sizes(handle, &sizes) == 0 && torch.get_strides(handle, &strides) == 0 &&
         memcmp(sizes, spec->sizes, n * sizeof *sizes) == 0 &&
         memcmp(strides, spec->strides, n * sizeof *strides) == 0;
}

/* NULL: the object is a tensor as spec says. */
static const char *misfit(PyObject *object, const TcSpec *spec) {
  int32_t dtype = -1;
  if (Py_TYPE(object) != torch.tensor && Py_TYPE(object) != torch.parameter)
    return "is no plain torch.Tensor";
  H handle = (char *)object + HANDLE_OFFSET;
  if (!is_plain(handle))
    return "is no dense tensor on the CPU";
  if (torch.dtype_word)
    dtype = (uint16_t)impl_words(handle)[torch.dtype_word];
  else if (torch.get_dtype(handle, &dtype) != 0)
    return "has no dtype";
  if (dtype != (int32_t)spec->dtype)
    return "has another dtype";
  return has_shape(handle, spec) ? NULL : "has other sizes or strides";
}

static void *data_of(H handle, const TcSpec *spec) {
  const uint64_t *impl = impl_words(handle),
                 *storage = (const uint64_t *)(uintptr_t)impl[STORAGE_WORD];
  char *data = (char *)(uintptr_t)storage[DATA_WORD];
  if (data)
    return data + impl[torch.offset_word] * dtype_bytes(spec->dtype);
  return no_elements; /* of an empty one */
}

static bool refuse(const char *format, const char *name, int number, const char *problem) {
  PyErr_Format(graph_unfit, format, name, number, problem);
  return false;
}

static bool refuse_call(const TcFrame *frame, const char *name, int value, const char *problem) {
  PyErr_Format(frame->has_effect ? PyExc_RuntimeError : graph_unfit, "what %s gave (value %d) %s",
               name, value, problem);
  return false;
}

/* An object for a value; steals it. False where it is none such as the graph says. */
static bool settle(TcFrame *frame, int value, const char *name, PyObject *object) {
  const TcSpec *spec = &frame->graph->specs[value];
  const char *problem = NULL;
  Py_XSETREF(frame->values[value].object, object);
  if (spec->rank >= 0)
    problem = misfit(object, spec);
  else if (spec->rank == TC_SEVERAL && !PyTuple_Check(object) && !PyList_Check(object))
    problem = "is one tensor";
  return !problem || refuse_call(frame, name, value, problem);
}

static bool no_tensor(void) {
  PyErr_SetString(PyExc_MemoryError, "tensorc: torch gives no tensor");
  return false;
}

/* The value's object is that of the tensor; consumes the handle. */
static bool keep_handle(TcFrame *frame, int value, H handle) {
  PyObject *object = wrap_handle(&torch, handle);
  torch.delete_handle(handle);
  if (!object)
    return PyErr_Occurred() ? false : no_tensor();
  Py_XSETREF(frame->values[value].object, object);
  return true;
}

static H handle_of_value(const TcFrame *frame, int value) {
  return (char *)frame->values[value].object + HANDLE_OFFSET;
}

void *tc_graph_data(TcFrame *frame, int value) {
  return data_of(handle_of_value(frame, value), &frame->graph->specs[value]);
}

void *tc_graph_tensor(TcFrame *frame, int value) {
  const TcSpec *spec = &frame->graph->specs[value];
  H handle = NULL;
  if (torch.empty_strided(spec->rank, spec->sizes, spec->strides, (int32_t)spec->dtype, TC_CPU, 0,
                          &handle) != 0) {
    no_tensor();
    return NULL;
  }
  return keep_handle(frame, value, handle) ? tc_graph_data(frame, value) : NULL;
}

bool tc_graph_view(TcFrame *frame, int value, int root, int64_t offset) {
  const TcSpec *spec = &frame->graph->specs[value];
  H handle = NULL;
  if (torch.reinterpret(handle_of_value(frame, root), spec->rank, spec->sizes, spec->strides,
                        offset, &handle) != 0)
    return no_tensor();
  return keep_handle(frame, value, handle);
}

/* An object for a value that lies in memory of ours: good while this call runs. */
static bool object_over(TcFrame *frame, int value, const void *data) {
  const TcSpec *spec = &frame->graph->specs[value];
  H handle = NULL;
  if (torch.from_blob((void *)(uintptr_t)data, spec->rank, spec->sizes, spec->strides, 0,
                      (int32_t)spec->dtype, TC_CPU, 0, &handle) != 0)
    return no_tensor();
  return keep_handle(frame, value, handle);
}

/* ── torch's own functions ───────────────────────────────────────────────────────────────────── */

enum { MOST_CALL_ARGS = 32 };

/* One argument, from *at on. A new reference, or NULL with an exception. */
static PyObject *call_argument(const TcFrame *frame, PyObject *constants, const int **at,
                               Py_ssize_t *n_constants) {
  int word = *(*at)++;
  if (word >= 0) {
    if (!frame->values[word].object)
      PyErr_SetString(PyExc_SystemError, "tensorc: an operand without an object");
    return Py_XNewRef(frame->values[word].object);
  }
  if (word == TC_CONSTANT) {
    if (*n_constants < PyTuple_GET_SIZE(constants))
      return Py_NewRef(PyTuple_GET_ITEM(constants, (*n_constants)++));
    PyErr_SetString(PyExc_SystemError, "tensorc: a call of a graph has too few constants");
    return NULL;
  }
  PyObject *list = PyList_New(-2 - word);
  for (int i = 0; list && i < -2 - word; i++) {
    PyObject *item = call_argument(frame, constants, at, n_constants);
    if (item)
      PyList_SET_ITEM(list, i, item);
    else
      Py_CLEAR(list);
  }
  return list;
}

/* What calls[index] gives. NULL: an exception is set. */
static PyObject *run_call(TcFrame *frame, int index) {
  const TcGraphCall *call = &frame->graph->calls[index];
  PyObject *pair = PyTuple_GET_ITEM(frame->self->calls, index);
  PyObject *function = PyTuple_GET_ITEM(pair, 0), *constants = PyTuple_GET_ITEM(pair, 1);
  PyObject *stack[MOST_CALL_ARGS + 1] = {NULL}, **args = stack + 1, *object = NULL;
  const int *at = call->args;
  Py_ssize_t n_constants = 0;
  int n = call->n_positional + call->n_keywords, n_made = 0;
  for (; n_made < n; n_made++)
    if (!(args[n_made] = call_argument(frame, constants, &at, &n_constants)))
      break;
  frame->has_effect |= call->has_effect;
  if (n_made == n)
    object = PyObject_Vectorcall(function, args,
                                 (size_t)call->n_positional | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                 frame->self->keywords[index]);
  while (n_made > 0)
    Py_DECREF(args[--n_made]);
  return object;
}

bool tc_graph_call(TcFrame *frame, int index) {
  const TcGraphCall *call = &frame->graph->calls[index];
  PyObject *object = run_call(frame, index);
  return object && settle(frame, call->result, call->name, object);
}

void *tc_graph_once(TcFrame *frame, int index, int call) {
  PyObject **kept = &frame->self->once[index];
  int value = frame->graph->calls[call].result;
  if (!*kept) {
    if (!tc_graph_call(frame, call))
      return NULL;
    Py_XSETREF(*kept, Py_NewRef(frame->values[value].object)); /* another call may have been here */
  } else {
    frame->values[value].object = Py_NewRef(*kept);
  }
  return tc_graph_data(frame, value);
}

/* The operands of a call that have no object get one over their memory. */
static bool give_objects(TcFrame *frame, const TcGraphCall *call, const void *const *operands) {
  const int *at = call->args;
  for (int left = call->n_positional + call->n_keywords; left > 0; left--) {
    int word = *at++;
    if (word < TC_CONSTANT)
      left += -2 - word;
    if (word < 0)
      continue;
    if (!frame->values[word].object && !object_over(frame, word, *operands))
      return false;
    operands++;
  }
  return true;
}

/* Copies what a call gave for a value. */
static bool copy_out(const TcFrame *frame, const char *name, PyObject *object, int value,
                     void *out) {
  const TcSpec *spec = &frame->graph->specs[value];
  const char *problem = misfit(object, spec);
  size_t bytes = dtype_bytes(spec->dtype);
  for (int d = 0; d < spec->rank; d++)
    bytes *= (size_t)spec->sizes[d];
  if (!problem && bytes > 0)
    memcpy(out, data_of((char *)object + HANDLE_OFFSET, spec), bytes);
  return !problem || refuse_call(frame, name, value, problem);
}

bool tc_graph_wheel(TcFrame *frame, int index, const void *const *operands, void *out) {
  const TcGraphCall *call = &frame->graph->calls[index];
  if (!give_objects(frame, call, operands))
    return false;
  PyObject *object = run_call(frame, index);
  bool ok = object && copy_out(frame, call->name, object, call->result, out);
  Py_XDECREF(object);
  return ok;
}

bool tc_graph_wheel_two(TcFrame *frame, int index, const void *const *operands, const int values[2],
                        void *const out[2]) {
  const TcGraphCall *call = &frame->graph->calls[index];
  if (!give_objects(frame, call, operands))
    return false;
  PyObject *two = run_call(frame, index);
  bool ok = two != NULL;
  for (int i = 0; i < 2 && ok; i++) {
    PyObject *object = values[i] < 0 ? NULL : PySequence_GetItem(two, i);
    ok = object ? copy_out(frame, call->name, object, values[i], out[i]) : values[i] < 0;
    Py_XDECREF(object);
  }
  Py_XDECREF(two);
  return ok;
}

bool tc_graph_item(TcFrame *frame, int to, int from, int64_t index) {
  PyObject *several = frame->values[from].object;
  PyObject *object = PySequence_GetItem(several, (Py_ssize_t)index);
  return object && settle(frame, to, "an operation", object);
}
