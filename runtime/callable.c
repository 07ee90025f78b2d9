/* callable.c: what a compiled function looks like from Python, and the extension module.
 *
 * The callable has the attributes of the Python function that it stands for, pickles by its name,
 * binds as a method, and counts what its calls did (call.c). The module has `bind`, which makes one
 * for each function that was compiled, and the mode.
 */

/* ── attributes ──────────────────────────────────────────────────────────────────────────────── */

static PyObject *get_of_original(PyObject *object, void *name) {
  Callable *self = (Callable *)object;
  return PyObject_GetAttrString(self->original ? self->original : Py_None, name);
}

static int set_of_original(PyObject *object, PyObject *value, void *name) {
  Callable *self = (Callable *)object;
  return PyObject_SetAttrString(self->original ? self->original : Py_None, name, value);
}

static PyObject *get_wrapped(PyObject *object, void *unused) {
  (void)unused;
  Callable *self = (Callable *)object;
  return Py_NewRef(self->original ? self->original : Py_None);
}

static PyObject *get_signature(PyObject *object, void *unused) {
  (void)unused;
  Callable *self = (Callable *)object;
  PyObject *own = self->dict ? PyDict_GetItemString(self->dict, "__signature__") : NULL;
  if (own)
    return Py_NewRef(own);
  PyObject *inspect = PyImport_ImportModule("inspect");
  PyObject *signature =
      inspect ? PyObject_CallMethod(inspect, "signature", "O", self->original) : NULL;
  Py_XDECREF(inspect);
  return signature;
}

static int set_signature(PyObject *object, PyObject *value, void *unused) {
  (void)unused;
  Callable *self = (Callable *)object;
  if (!self->dict) {
    PyErr_SetString(PyExc_ReferenceError, "the function is being collected");
    return -1;
  }
  if (value)
    return PyDict_SetItemString(self->dict, "__signature__", value);
  return PyDict_DelItemString(self->dict, "__signature__");
}

/* isinstance asks for it where the type itself does not answer: whoever sorts objects by
 * inspect.isfunction (tables, doctest, Dynamo, AutoGraph) finds a function here, and the attributes
 * of one. */
static PyObject *get_class(PyObject *object, void *unused) {
  (void)object;
  (void)unused;
  return Py_NewRef((PyObject *)&PyFunction_Type);
}

static PyObject *get_native_status(PyObject *object, void *unused) {
  (void)object;
  (void)unused;
  return PyUnicode_FromString("accepted");
}

static PyObject *get_body(PyObject *object, void *unused) {
  (void)unused;
  const Callable *self = (Callable *)object;
  const Thread *thread = &thread_state;
  uint8_t body = self->id < thread->n_last_body ? thread->last_body[self->id] : BODY_NONE;
  if (body == BODY_NONE)
    Py_RETURN_NONE;
  return PyUnicode_FromString(body_names[body]);
}

static bool put_count(PyObject *dict, const char *key, uint64_t count) {
  PyObject *number = PyLong_FromUnsignedLongLong(count);
  bool ok = number && PyDict_SetItemString(dict, key, number) == 0;
  Py_XDECREF(number);
  return ok;
}

/* The function's recipes that were examined at the thread count of its last call: in *refused the
 * names of those found not to be the wheel's, in *admitted what the others were found to be. False:
 * no memory. */
static bool put_verdicts(const Callable *self, PyObject *refused, PyObject *admitted) {
  bool ok = true;
  int threads = self->admission ? self->admission->threads : 0;
  for (int i = 0; ok && i < n_recipe_verdicts; i++) {
    const RecipeVerdict *verdict = &recipe_verdicts[i];
    bool own = false;
    for (int k = 0; k < self->func->n_ops; k++)
      own |= self->func->ops[k].recipe == verdict->recipe;
    if (!own || verdict->threads != threads)
      continue;
    const char *name = verdict->recipe->name;
    char words[80];
    if (verdict->admitted)
      verdict_words(verdict, words, sizeof words);
    PyObject *word = PyUnicode_FromString(verdict->admitted ? words : name);
    ok = word && (verdict->admitted ? PyDict_SetItemString(admitted, name, word)
                                    : PyList_Append(refused, word)) == 0;
    Py_XDECREF(word);
  }
  return ok;
}

/* Operations that ran by the wheel beside recipes, and how often. */
static PyObject *wheel_operations(const Callable *self) {
  PyObject *counts = PyDict_New();
  bool ok = counts != NULL;
  for (int i = 0; ok && self->wheel_counts && i < self->func->n_ops; i++) {
    const char *word = self->func->ops[i].word;
    uint64_t n = 0;
    for (int k = 0; k < self->func->n_ops; k++)
      if (strcmp(self->func->ops[k].word, word) == 0)
        n += __atomic_load_n(&self->wheel_counts[k], __ATOMIC_RELAXED);
    if (n > 0)
      ok = put_count(counts, word, n);
  }
  if (!ok)
    Py_CLEAR(counts);
  return counts;
}

/* Steals value. */
static bool put_object(PyObject *dict, const char *key, PyObject *value) {
  bool ok = value && PyDict_SetItemString(dict, key, value) == 0;
  Py_XDECREF(value);
  return ok;
}

static PyObject *callable_stats(PyObject *object, PyObject *unused) {
  (void)unused;
  const Callable *self = (Callable *)object;
  PyObject *stats = PyDict_New(), *python = PyDict_New(), *refused = PyList_New(0),
           *admitted = PyDict_New();
  bool ok = stats && python && refused && admitted && put_verdicts(self, refused, admitted) &&
            PyDict_SetItemString(stats, "not_admitted", refused) == 0 &&
            PyDict_SetItemString(stats, "admitted", admitted) == 0 &&
            put_object(stats, "wheel", wheel_operations(self));
  Py_XDECREF(refused);
  Py_XDECREF(admitted);
  for (int body = BODY_LIBRARY; ok && body < BODY_PYTHON; body++)
    ok = put_count(stats, body_names[body], self->n_native[body]);
  for (int reason = 0; ok && reason < N_REASONS; reason++)
    if (self->n_python[reason])
      ok = put_count(python, reasons[reason].name, self->n_python[reason]);
  ok = ok && PyDict_SetItemString(stats, "python", python) == 0;
  Py_XDECREF(python);
  if (!ok)
    Py_CLEAR(stats);
  return stats;
}

/* By name: what pickle finds under it is the callable again. */
static PyObject *callable_reduce(PyObject *object, PyObject *unused) {
  (void)unused;
  return get_of_original(object, "__qualname__");
}

static PyObject *callable_repr(PyObject *object) {
  PyObject *name = get_of_original(object, "__qualname__");
  PyObject *text = name ? PyUnicode_FromFormat("<compiled function %U>", name) : NULL;
  Py_XDECREF(name);
  return text;
}

static PyObject *callable_bind(PyObject *self, PyObject *instance, PyObject *owner) {
  (void)owner;
  if (!instance || instance == Py_None)
    return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

static int callable_traverse(PyObject *object, visitproc visit, void *arg) {
  Callable *self = (Callable *)object;
  Py_VISIT(self->original);
  Py_VISIT(self->dict);
  Py_VISIT(self->names);
  return 0;
}

static int callable_clear(PyObject *object) {
  Callable *self = (Callable *)object;
  Py_CLEAR(self->original);
  Py_CLEAR(self->dict);
  return 0;
}

static void callable_dealloc(PyObject *object) {
  Callable *self = (Callable *)object;
  PyObject_GC_UnTrack(object);
  if (self->weakrefs)
    PyObject_ClearWeakRefs(object);
  callable_clear(object);
  Py_XDECREF(self->names);
  admissions_free(self->admission);
  PyMem_Free(self->wheel_counts);
  Py_XDECREF(self->code);
  PyObject_GC_Del(object);
}

#define OF_ORIGINAL(name, setter) {name, get_of_original, setter, NULL, (void *)(uintptr_t)name}
static PyGetSetDef callable_getset[] = {
    OF_ORIGINAL("__name__", set_of_original),
    OF_ORIGINAL("__qualname__", set_of_original),
    OF_ORIGINAL("__module__", set_of_original),
    OF_ORIGINAL("__doc__", set_of_original),
    OF_ORIGINAL("__defaults__", set_of_original),
    OF_ORIGINAL("__kwdefaults__", set_of_original),
    OF_ORIGINAL("__annotations__", set_of_original),
    OF_ORIGINAL("__annotate__", set_of_original),
    OF_ORIGINAL("__type_params__", set_of_original),
    OF_ORIGINAL("__code__", set_of_original),
    OF_ORIGINAL("__globals__", NULL),
    OF_ORIGINAL("__closure__", NULL),
    OF_ORIGINAL("__builtins__", NULL),
    {"__class__", get_class, NULL, NULL, NULL},
    {"__wrapped__", get_wrapped, NULL, "The Python function.", NULL},
    {"__signature__", get_signature, set_signature, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"native_status", get_native_status, NULL, "\"accepted\": this function was compiled.", NULL},
    {"body", get_body, NULL,
     "What ran in this thread's last call: library, exact, python; None before it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef callable_methods[] = {
    {"stats", callable_stats, METH_NOARGS,
     "Calls so far: per native body, and of the Python function per reason; operations that ran by "
     "the wheel beside recipes, and recipes that this host did not admit."},
    {"__reduce__", callable_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject callable_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tensorc.compiled_function",
    .tp_basicsize = sizeof(Callable),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_vectorcall_offset = offsetof(Callable, vectorcall),
    .tp_dictoffset = offsetof(Callable, dict),
    .tp_weaklistoffset = offsetof(Callable, weakrefs),
    .tp_call = PyVectorcall_Call,
    .tp_repr = callable_repr,
    .tp_getattro = PyObject_GenericGetAttr,
    .tp_setattro = PyObject_GenericSetAttr,
    .tp_descr_get = callable_bind,
    .tp_traverse = callable_traverse,
    .tp_clear = callable_clear,
    .tp_dealloc = callable_dealloc,
    .tp_methods = callable_methods,
    .tp_getset = callable_getset,
};

/* ── binding ─────────────────────────────────────────────────────────────────────────────────── */

/* Whose framework a call needs: of tensors that are only passed on, torch. */
static Lane *needed_lane(const TcFunc *func) {
  bool tensors = func->result.kind == TC_TENSOR;
  for (int i = 0; i < func->n_params; i++)
    tensors |= func->params[i].type.kind == TC_TENSOR;
  switch (func->lane) {
  case TC_LANE_TORCH:
    return &torch_lane;
  case TC_LANE_TENSORFLOW:
    return &tf_lane;
  case TC_LANE_NONE:
    break;
  }
  return tensors ? &torch_lane : &scalar_lane;
}

/* What a function that may run recipes keeps of its operations. */
static bool callable_ops_new(Callable *self) {
  const TcFunc *func = self->func;
  bool any = false;
  for (int i = 0; i < func->n_ops; i++) {
    self->has_products |= is_product(func->ops[i].class);
    any |= func->ops[i].recipe != NULL;
  }
  if (!any || func->n_params > MOST_PARAMS)
    return true;
  self->wheel_counts = PyMem_Calloc((size_t)func->n_ops, sizeof *self->wheel_counts);
  return self->wheel_counts || PyErr_NoMemory();
}

static PyObject *callable_new(const TcFunc *func, PyObject *original) {
  Callable *self = PyObject_GC_New(Callable, &callable_type);
  if (!self)
    return NULL;
  memset((char *)self + sizeof self->ob_base, 0, sizeof *self - sizeof self->ob_base);
  self->vectorcall = callable_call;
  self->func = func;
  self->original = Py_NewRef(original);
  self->code = Py_NewRef(PyFunction_GET_CODE(original));
  self->lane = needed_lane(func);
  self->id = n_callables++;
  self->dict = PyObject_GetAttrString(original, "__dict__");
  self->names = PyTuple_New(func->n_params);
  if (!self->dict || !self->names || !callable_ops_new(self))
    goto failed;
  for (int i = 0; i < func->n_params; i++) {
    PyObject *name = PyUnicode_InternFromString(func->params[i].name);
    if (!name)
      goto failed;
    PyTuple_SET_ITEM(self->names, i, name);
    if (func->params[i].passing != TC_KEYWORD_ONLY)
      self->n_positional++;
  }
  PyObject_GC_Track(self);
  return (PyObject *)self;
failed:
  PyObject_GC_Track(self);
  Py_DECREF(self);
  return NULL;
}

/* Whether the function is the one that func was compiled from. -1: error. */
static int is_original(const TcFunc *func, PyObject *function) {
  const PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function);
  if (code->co_firstlineno != func->first_line ||
      code->co_argcount + code->co_kwonlyargcount != func->n_params)
    return 0;
  PyObject *qualname = PyObject_GetAttrString(function, "__qualname__");
  const char *text = qualname ? PyUnicode_AsUTF8(qualname) : NULL;
  int answer = text ? strcmp(text, func->qualname) == 0 : -1;
  Py_XDECREF(qualname);
  return answer;
}

static PyObject *module_bind(PyObject *module, PyObject *function) {
  (void)module;
  if (PyFunction_Check(function)) {
    for (int i = 0; i < module_info->n_funcs; i++) {
      int answer_ = is_original(module_info->funcs[i], function);
      if (answer_ < 0)
        return NULL;
      if (answer_)
        return callable_new(module_info->funcs[i], function);
    }
  }
  return Py_NewRef(function);
}

/* ── modes and the module ────────────────────────────────────────────────────────────────────── */

/* In any case, with blanks around it. N_MODES: no such mode. */
static Mode mode_named(const char *text) {
  static const char blanks[] = " \t\r\n\v\f";
  text += strspn(text, blanks);
  for (int mode = 0; mode < N_MODES; mode++) {
    size_t n = strlen(mode_names[mode]);
    if (PyOS_strnicmp(text, mode_names[mode], (Py_ssize_t)n) == 0 &&
        text[n + strspn(text + n, blanks)] == '\0')
      return (Mode)mode;
  }
  return N_MODES;
}

static PyObject *module_set_mode(PyObject *module, PyObject *name) {
  (void)module;
  const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
  Mode mode = text ? mode_named(text) : N_MODES, previous = module_mode;
  if (mode == N_MODES) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_ValueError, "no mode %R: auto, native, fallback or compare", name);
    return NULL;
  }
  module_mode = mode;
  return PyUnicode_FromString(mode_names[previous]);
}

bool tc_asserts = true;

static bool asserts_from_flags(void) {
  PyObject *flags = PySys_GetObject("flags"); /* borrowed */
  PyObject *level = flags ? PyObject_GetAttrString(flags, "optimize") : NULL;
  tc_asserts = !level || PyLong_AsLong(level) == 0;
  Py_XDECREF(level);
  return !PyErr_Occurred();
}

static bool mode_from_environment(void) {
  const char *variable = "TENSORC_MODE", *text = getenv(variable);
  if (!text || !*text)
    text = getenv(variable = "REXTIO_NATIVE_MODE");
  module_mode = text && *text ? mode_named(text) : MODE_AUTO;
  if (module_mode != N_MODES)
    return true;
  module_mode = MODE_AUTO;
  return PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                          "tensorc: %s=%s is none of auto, native, fallback, compare: auto is used",
                          variable, text) == 0;
}

static PyMethodDef module_methods[] = {
    {"bind", module_bind, METH_O,
     "The native callable of a function that was compiled; any other object unchanged."},
    {"_set_mode", module_set_mode, METH_O,
     "Sets the mode of this module and returns the previous one."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_size = -1, /* one module per process: counters and mode are static */
    .m_methods = module_methods,
};

PyObject *tc__module_init(const TcModuleInfo *info) {
  static bool has_key, initialized;
  PyObject *module = NULL;
  module_info = info;
  module_def.m_name = info->name;
  if (!initialized) {
    if (!has_key && pthread_key_create(&thread_key, thread_free) != 0)
      return PyErr_NoMemory();
    has_key = true;
    if (!fork_watch() || !asserts_from_flags() || !mode_from_environment())
      goto done;
    initialized = true;
  }
  if (PyType_Ready(&callable_type) < 0)
    goto done;
  module = PyModule_Create(&module_def);
  if (module && (PyModule_AddIntConstant(module, "__tensorc_rt__", TC_RT_VERSION) < 0 ||
                 PyModule_AddStringConstant(module, "__tensorc_digest__", info->digest) < 0))
    Py_CLEAR(module);
done:
  return module;
}
