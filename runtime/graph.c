/* graph.c: a captured graph as Python calls it, and its extension module.
 *
 * load(constants, calls) makes the callable of a graph: of the model's own tensors, and of torch's
 * own Python functions for the operations that run by them. It is called with the tensors that the
 * graph takes and returns a tuple. Before anything has happened it raises Unfit where a tensor is
 * not what this version of the model was compiled for, or where torch is in a state that native
 * code must not pass by; then the caller runs the model itself. So it does where one of Python's
 * functions gave what the capture did not foresee, unless an operation with an effect came before:
 * that is a RuntimeError.
 */

/* ── what a call brings ──────────────────────────────────────────────────────────────────────── */

/* Whether torch is in the one state that native code may run in. */
static bool state_fits(const char **problem) {
  Thread *thread = &thread_state;
  if (!thread->dispatch_keys)
    thread->dispatch_keys = dispatch_key_words(torch.c10);
  const uint64_t *keys = thread->dispatch_keys;
  *problem = NULL;
  if ((keys[0] | keys[1]) != 0 &&
      (keys[0] != torch.inference_state[0] || keys[1] != torch.inference_state[1]))
    *problem = "a mode, autocast, a functorch transform or tracing is on";
  else if (torch.n_function_modes() != 0)
    *problem = "a torch function mode is on";
  else if (thread_flushes())
    *problem = "this thread flushes denormals";
  else {
    long level = forward_ad_level();
    if (level >= 0)
      *problem = "a forward-mode gradient is being computed";
    return level == -1;
  }
  return false;
}

static bool requires_grad(PyObject *object) {
  const uint64_t *impl = impl_words((char *)object + HANDLE_OFFSET);
  return impl[META_WORD] != 0 && torch.requires_grad(impl);
}

/* Inputs and constants into the values, if all of it is what this version was compiled for. */
static bool take(TcFrame *frame, PyObject *const *inputs) {
  const TcGraph *graph = frame->graph;
  const char *problem;
  bool grad_mode = torch.grad_mode();
  for (int i = 0; i < graph->n_inputs + graph->n_constants; i++) {
    bool input = i < graph->n_inputs;
    int place = input ? i : i - graph->n_inputs;
    PyObject *object = input ? inputs[i] : PyTuple_GET_ITEM(frame->self->constants, place);
    const char *what = input ? "input" : "parameter, buffer or constant";
    if ((problem = misfit(object, &graph->specs[i])))
      return refuse("%s %d %s", what, place, problem);
    if (grad_mode && requires_grad(object))
      return refuse("%s %d %s", what, place, "requires grad, and grad mode is on");
    frame->values[i].object = object;
    frame->values[i].data = data_of((char *)object + HANDLE_OFFSET, &graph->specs[i]);
  }
  if (state_fits(&problem))
    return true;
  if (!PyErr_Occurred())
    PyErr_SetString(graph_unfit, problem);
  return false;
}

/* ── a call ──────────────────────────────────────────────────────────────────────────────────── */

static PyObject *graph_result(const TcFrame *frame, const TcGraphResult *result) {
  switch (result->kind) {
  case TC_TENSOR:
    return Py_NewRef(frame->values[result->value].object);
  case TC_BOOL:
    return PyBool_FromLong(result->i != 0);
  case TC_INT:
    return PyLong_FromLongLong(result->i);
  case TC_FLOAT:
    return PyFloat_FromDouble(result->f);
  case TC_NONE:
    break;
  }
  return result->text ? PyUnicode_FromString(result->text) : Py_NewRef(Py_None);
}

static PyObject *graph_results(const TcFrame *frame) {
  const TcGraph *graph = frame->graph;
  PyObject *tuple = PyTuple_New(graph->n_results);
  for (int i = 0; tuple && i < graph->n_results; i++) {
    PyObject *object = graph_result(frame, &graph->results[i]);
    if (object)
      PyTuple_SET_ITEM(tuple, i, object);
    else
      Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject *graph_call(PyObject *object, PyObject *const *args, size_t nargsf,
                            PyObject *kwnames) {
  GraphObject *self = (GraphObject *)object;
  const TcGraph *graph = self->graph;
  PyObject *result = NULL;
  if (PyVectorcall_NARGS(nargsf) != graph->n_inputs || kwnames)
    return PyErr_Format(PyExc_TypeError, "this graph takes %d tensors by position",
                        graph->n_inputs);
  size_t head = (sizeof(TcGraphValue) * (size_t)graph->n_values + 63) / 64 * 64;
  /* Of this call alone: another one may start on this thread before it ends. */
  struct TcBuffer *memory = buffer_new(&buffer_cache, head + (size_t)graph->arena_bytes);
  if (!memory)
    return PyErr_NoMemory();
  TcFrame frame; /* what a call needs of it is filled in: clearing it all would take a while */
  frame.tc = (TcCall){.func = &self->func, .thread = &thread_state, .plain = true};
  frame.graph = graph;
  frame.self = self;
  frame.values = buffer_data(memory);
  frame.has_effect = false;
  memset(frame.values, 0, head);
  Py_INCREF(self);
  if (take(&frame, args)) {
    if (graph->n_ops > 0)
      start_recipes(&frame);
    if (self->body(&frame, frame.values, (char *)buffer_data(memory) + head))
      result = graph_results(&frame);
  }
  for (int i = graph->n_inputs + graph->n_constants; i < graph->n_values; i++)
    Py_XDECREF(frame.values[i].object);
  buffer_free(memory);
  Py_DECREF(self);
  return result;
}

/* ── its life ────────────────────────────────────────────────────────────────────────────────── */

static int graph_traverse(PyObject *object, visitproc visit, void *arg) {
  GraphObject *self = (GraphObject *)object;
  Py_VISIT(self->constants);
  Py_VISIT(self->calls);
  return 0;
}

static int graph_clear(PyObject *object) {
  GraphObject *self = (GraphObject *)object;
  Py_CLEAR(self->constants);
  Py_CLEAR(self->calls);
  return 0;
}

static void graph_dealloc(PyObject *object) {
  GraphObject *self = (GraphObject *)object;
  PyObject_GC_UnTrack(object);
  graph_clear(object);
  for (int i = 0; self->keywords && i < self->graph->n_calls; i++)
    Py_XDECREF(self->keywords[i]);
  for (int i = 0; self->once && i < self->graph->n_once; i++)
    Py_XDECREF(self->once[i]);
  admissions_free(self->admission);
  PyMem_Free(self->keywords);
  PyMem_Free(self->once);
  PyObject_GC_Del(object);
}

static PyTypeObject graph_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tensorc.graph",
    .tp_basicsize = sizeof(GraphObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(GraphObject, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_traverse = graph_traverse,
    .tp_clear = graph_clear,
    .tp_dealloc = graph_dealloc,
};

static PyObject *keyword_names(const TcGraphCall *call) {
  PyObject *names = PyTuple_New(call->n_keywords);
  for (int i = 0; names && i < call->n_keywords; i++) {
    PyObject *name = PyUnicode_InternFromString(call->keywords[i]);
    if (name)
      PyTuple_SET_ITEM(names, i, name);
    else
      Py_CLEAR(names);
  }
  return names;
}

static const TcGraph *module_graph; /* of this module */

static bool load_fits(PyObject *constants, PyObject *calls) {
  const TcGraph *graph = module_graph;
  bool fits = PyTuple_GET_SIZE(constants) == graph->n_constants &&
              PyTuple_GET_SIZE(calls) == graph->n_calls;
  for (int i = 0; fits && i < graph->n_calls; i++) {
    PyObject *pair = PyTuple_GET_ITEM(calls, i);
    fits = PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2 &&
           PyTuple_Check(PyTuple_GET_ITEM(pair, 1)) &&
           graph->calls[i].n_positional + graph->calls[i].n_keywords <= MOST_CALL_ARGS;
  }
  if (!fits)
    PyErr_Format(PyExc_ValueError, "load() takes %d tensors and %d pairs of a function and a tuple",
                 graph->n_constants, graph->n_calls);
  return fits;
}

static PyObject *graph_load(PyObject *module, PyObject *args) {
  (void)module;
  const TcGraph *graph = module_graph;
  PyObject *constants, *calls;
  if (!PyArg_ParseTuple(args, "O!O!:load", &PyTuple_Type, &constants, &PyTuple_Type, &calls) ||
      !load_fits(constants, calls))
    return NULL;
  bool loaded = torch_load();
  if (!loaded && PyErr_Occurred())
    return NULL;
  if (loaded && torch_lane.status == RECIPES_UNKNOWN)
    torch_lane.status = torch_lane.load(&torch_lane.isa) ? RECIPES_READY : RECIPES_UNAVAILABLE;
  if (!loaded || torch_lane.status != RECIPES_READY || !torch.inline_handle || !torch.has_meta ||
      !torch.offset_word)
    return PyErr_Format(PyExc_RuntimeError, "no graph can run natively: %s",
                        loaded ? "this torch keeps its tensors in another way" : torch_problem);
  GraphObject *self = PyObject_GC_New(GraphObject, &graph_type);
  if (!self)
    return NULL;
  memset((char *)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
  self->vectorcall = graph_call;
  self->graph = graph;
  self->constants = Py_NewRef(constants);
  self->calls = Py_NewRef(calls);
  self->func = (TcFunc){.name = graph->name,
                        .qualname = graph->name,
                        .lane = TC_LANE_TORCH,
                        .ops = graph->ops,
                        .n_ops = graph->n_ops};
  for (int i = 0; i < graph->n_ops; i++)
    self->has_products |= is_product(graph->ops[i].class) || graph->ops[i].class == TC_CONV;
  for (int isa = 0; isa < TC_N_ISAS; isa++)
    if (graph->bodies[isa] && (isa == TC_ISA_BASELINE || tc__isa_runs((TcIsa)isa)))
      self->body = graph->bodies[isa];
  self->once = PyMem_Calloc((size_t)graph->n_once + 1, sizeof *self->once);
  self->keywords = PyMem_Calloc((size_t)graph->n_calls + 1, sizeof *self->keywords);
  bool ok = self->keywords != NULL && self->once != NULL;
  for (int i = 0; ok && i < graph->n_calls; i++)
    if (graph->calls[i].n_keywords > 0)
      ok = (self->keywords[i] = keyword_names(&graph->calls[i])) != NULL;
  PyObject_GC_Track(self);
  if (ok && !self->body) {
    PyErr_SetString(PyExc_RuntimeError, "this graph was compiled for another processor");
    ok = false;
  }
  if (!ok) {
    Py_DECREF(self);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  }
  return (PyObject *)self;
}

static PyMethodDef graph_methods[] = {
    {"load", graph_load, METH_VARARGS,
     "The graph as a callable: load(constants, calls), the tensors of its parameters, buffers and "
     "constants, and for each of its calls (function, constant arguments)."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef graph_module_def = {
    PyModuleDef_HEAD_INIT,
    .m_size = -1,
    .m_methods = graph_methods,
};

PyObject *tc__graph_module_init(const TcGraph *graph) {
  static bool watched;
  module_graph = graph;
  graph_module_def.m_name = graph->name;
  watched = watched || fork_watch();
  if (!watched || !unfit_find() || PyType_Ready(&graph_type) < 0)
    return NULL;
  PyObject *module = PyModule_Create(&graph_module_def);
  if (module && (PyModule_AddObjectRef(module, "Unfit", graph_unfit) < 0 ||
                 PyModule_AddIntConstant(module, "__tensorc_rt__", TC_RT_VERSION) < 0 ||
                 PyModule_AddStringConstant(module, "__tensorc_digest__", graph->digest) < 0))
    Py_CLEAR(module);
  return module;
}
