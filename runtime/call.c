/* call.c: a call of a compiled function, from Python's arguments to the result.
 *
 * A call: parse (a wrong call goes to the Python original, for Python's own TypeError) → take the
 * arguments → look at the state → run a body → give the result. What may not run natively runs the
 * Python original, or raises, by mode and by the settings written into the module. Bodies have no
 * effects (what they print is held back), so repeating a failed one in Python is always allowed.
 */

/* ── settings of the module ──────────────────────────────────────────────────────────────────── */

static const char *const mode_names[N_MODES] = {"auto", "native", "fallback", "compare"};

static Mode module_mode;
static size_t n_callables; /* made so far: the next one's id */

/* How a call was answered: every operation by the wheel, by recipes where they are admitted, by
 * Python. */
typedef enum Body { BODY_NONE, BODY_LIBRARY, BODY_EXACT, BODY_PYTHON, N_BODIES } Body;
static const char *const body_names[N_BODIES] = {NULL, "library", "exact", "python"};

/* mismatch: the argument breaks its annotation, so that on-mismatch decides. warns: once per
 * function. */
static const struct {
  const char *name;
  bool mismatch, warns;
} reasons[N_REASONS] = {
    [REASON_NONE] = {"none", false, false},
    [REASON_MODE] = {"mode", false, false},
    [REASON_CODE] = {"code", false, false},
    [REASON_COMPARE] = {"compare", false, false},
    [REASON_TYPE] = {"type", true, true},
    [REASON_DEVICE] = {"device", true, true},
    [REASON_DTYPE] = {"dtype", true, true},
    [REASON_RANK] = {"rank", true, true},
    [REASON_LAYOUT] = {"layout", true, true},
    [REASON_SCALAR_TYPE] = {"scalar type", false, false},
    [REASON_INT_RANGE] = {"int range", true, false},
    [REASON_SUBCLASS] = {"tensor subclass", false, false},
    [REASON_GRADIENTS] = {"gradients", false, true},
    [REASON_FORWARD_AD] = {"forward-mode gradient", false, false},
    [REASON_FUNCTORCH] = {"functorch transform", false, false},
    [REASON_TRACING] = {"tracing", false, false},
    [REASON_FUNCTION_MODE] = {"function mode", false, false},
    [REASON_DEVICE_SCOPE] = {"device scope", false, false},
    [REASON_OP_CALLBACK] = {"op callback", false, false},
    [REASON_ASYNC] = {"asynchronous execution", false, false},
    [REASON_CONTEXT] = {"eager context", false, false},
    [REASON_UNAVAILABLE] = {"unavailable", false, true},
    [REASON_ERROR] = {"error", false, false},
};

/* ── the object ──────────────────────────────────────────────────────────────────────────────── */

typedef struct Callable {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  const TcFunc *func;
  PyObject *original; /* the Python function */
  PyObject *code; /* that was compiled: tools that patch running programs replace the original's */
  PyObject *dict; /* that of the original: attributes set on either are seen on both */
  PyObject *weakrefs;
  PyObject *names;             /* tuple of the parameters' names, interned */
  int n_positional;            /* parameters that can be given by position */
  Lane *lane;                  /* whose framework a call needs */
  bool has_products;           /* the body multiplies matrices */
  Admission *admission;        /* the one of the last call first; NULL before it was asked */
  uint64_t *wheel_counts;      /* per operation: calls of the wheel beside recipes; NULL: a function
                                  that runs none */
  WholeSizes whole;            /* sizes that are not for blocks */
  size_t id;                   /* index into Thread.last_body */
  uint32_t warned;             /* bit per Reason */
  uint64_t n_native[N_BODIES]; /* finished calls per body */
  uint64_t n_python[N_REASONS]; /* calls of the original per reason */
} Callable;

static void note_body(const Callable *self, Body body) {
  Thread *thread = &thread_state;
  if (self->id >= thread->n_last_body) {
    size_t n = self->id + 16;
    uint8_t *grown = realloc(thread->last_body, n);
    if (!grown)
      return; /* .body stays behind; nothing else depends on it */
    memset(grown + thread->n_last_body, 0, n - thread->n_last_body);
    thread->last_body = grown;
    thread->n_last_body = n;
    pthread_setspecific(thread_key, thread);
  }
  thread->last_body[self->id] = (uint8_t)body;
}

/* The arguments as Python gave them, for the original. */
typedef struct Given {
  PyObject *const *args;
  size_t nargsf;
  PyObject *kwnames;
} Given;

static PyObject *run_python(Callable *self, const Given *given, Reason reason) {
  self->n_python[reason]++;
  PyObject *result =
      PyObject_Vectorcall(self->original, given->args, given->nargsf, given->kwnames);
  note_body(self, BODY_PYTHON); /* afterwards: the original may call the compiled function again */
  return result;
}

/* ── parsing a call ──────────────────────────────────────────────────────────────────────────── */

enum { MAX_INLINE_ARGS = 16 }; /* more parameters than these are kept on the heap */

/* The parameter of that name that can be given by name, or -1. */
static int find_keyword(const Callable *self, PyObject *keyword) {
  int n = self->func->n_params;
  for (int i = 0; i < n; i++)
    if (PyTuple_GET_ITEM(self->names, i) == keyword &&
        self->func->params[i].passing != TC_POSITIONAL_ONLY)
      return i;
  for (int i = 0; i < n; i++)
    if (PyUnicode_Compare(PyTuple_GET_ITEM(self->names, i), keyword) == 0)
      return self->func->params[i].passing == TC_POSITIONAL_ONLY ? -1 : i;
  return -1;
}

/* False: Python would refuse this call. No exception is set. */
static bool parse_call(const Callable *self, const Given *given, ArgSlot *slots) {
  Py_ssize_t n_given = PyVectorcall_NARGS(given->nargsf);
  Py_ssize_t n_keywords = given->kwnames ? PyTuple_GET_SIZE(given->kwnames) : 0;
  int n = self->func->n_params;
  if (n_given > self->n_positional)
    return false;
  for (int i = 0; i < n; i++)
    slots[i] = (ArgSlot){i < n_given ? given->args[i] : NULL, NULL, false};
  for (Py_ssize_t k = 0; k < n_keywords; k++) {
    int i = find_keyword(self, PyTuple_GET_ITEM(given->kwnames, k));
    if (i < 0 || slots[i].object)
      return false;
    slots[i].object = given->args[n_given + k];
  }
  if (n_given + n_keywords == n)
    return true;

  PyObject *defaults = PyFunction_GET_DEFAULTS(self->original); /* borrowed; tuple or NULL */
  PyObject *keyword_defaults =
      PyFunction_GET_KW_DEFAULTS(self->original); /* borrowed; dict or NULL */
  Py_ssize_t first =
      self->n_positional - (defaults && PyTuple_Check(defaults) ? PyTuple_GET_SIZE(defaults) : 0);
  for (int i = 0; i < n; i++) {
    PyObject *object = NULL;
    if (slots[i].object)
      continue;
    if (i < self->n_positional)
      object = i >= first ? PyTuple_GET_ITEM(defaults, i - first) : NULL;
    else if (keyword_defaults)
      object = PyDict_GetItemWithError(keyword_defaults, PyTuple_GET_ITEM(self->names, i));
    if (!object) {
      PyErr_Clear();
      return false;
    }
    slots[i] = (ArgSlot){Py_NewRef(object), NULL, true};
  }
  return true;
}

static void free_slots(ArgSlot *slots, int n) {
  for (int i = 0; i < n; i++) {
    if (slots[i].pin)
      handle_free(slots[i].pin);
    if (slots[i].held)
      Py_DECREF(slots[i].object);
  }
}

static PyObject *run_wrong_call(Callable *self, const Given *given) {
  PyObject *result =
      PyObject_Vectorcall(self->original, given->args, given->nargsf, given->kwnames);
  if (!result)
    return NULL;
  Py_DECREF(result);
  PyErr_Format(PyExc_SystemError, "tensorc: %s() took a call that its compiled signature does not",
               self->func->qualname);
  return NULL;
}

/* ── the native side of a call ───────────────────────────────────────────────────────────────── */

/* Arguments and state. What it took is freed with the slots. */
static Outcome prepare(Callable *self, Plan *plan, Mode mode, Reason *reason) {
  const char *problem = NULL;
  plan->tc.func = self->func;
  plan->tc.thread = &thread_state;
  plan->lane = self->lane;
  if (self->lane->enter(&problem))
    return self->lane->prepare(plan, mode, reason);
  if (PyErr_Occurred())
    return OUTCOME_ABORT;
  *reason = REASON_UNAVAILABLE;
  PyErr_Format(PyExc_RuntimeError, "%s: %s() can't run natively: %s", self->lane->plugin,
               self->func->qualname, problem);
  return OUTCOME_REFUSED;
}

/* At this thread count; NULL: no memory. */
static const Admission *find_admission(Callable *self, TcCall *tc, int threads) {
  Admission **link = &self->admission;
  while (*link && (*link)->threads != threads)
    link = &(*link)->next;
  Admission *found = *link;
  if (found)
    *link = found->next;
  else if (!(found = admission_new(tc, self->lane, threads)))
    return NULL;
  found->next = self->admission;
  self->admission = found;
  return found;
}

/* Whether recipes may run in this call at all; fills what is known before it starts. */
static bool may_run_recipes(Callable *self, Plan *plan, Run *run) {
  TcCall *tc = &plan->tc;
  Lane *lane = self->lane;
  if (!tc->plain || !self->wheel_counts)
    return false;
  if (!lane->flushes && thread_flushes())
    return false; /* torch's other threads don't, so the bits depend on how it splits the work */
  int threads = lane->threads();
  const Admission *admission = self->admission;
  if (!admission || admission->threads != threads)
    admission = find_admission(self, tc, threads);
  if (!admission || !admission->any)
    return false;
  run->lane = lane;
  run->isa = lane->isa;
  run->threads = threads;
  run->admitted = admission->ops;
  run->wheel_counts = self->wheel_counts;
  run->products = !self->has_products || lane->is_ieee();
  return true;
}

/* NULL with an exception: whatever the body raised. exact_errors: find out what eager raises where
 * a kernel failed. */
static PyObject *execute(Callable *self, Plan *plan, bool exact_errors) {
  TcCall *tc = &plan->tc;
  const Lane *lane = self->lane;
  TcValue result;
  Run run; /* what a call needs of it is filled in: clearing the packs would take a while */
  memset(&result, 0, sizeof result);
  bool recipes = may_run_recipes(self, plan, &run);
  lane->body_enter(plan);
  if (plan->release_gil && (!lane->pin || lane->pin(plan)))
    tc->released = PyEval_SaveThread();
  bool ok = recipes ? run_recipes(tc, &run, &self->whole, plan->values, &result)
                    : tc->func->body(tc, plan->values, &result);
  gil_take(tc);
  if (!ok && tc->op_failed && exact_errors && lane->replays) {
    PyErr_Clear();
    tc->plain = tc->op_failed = false;
    tc->replay = true;
    print_forget(tc);
    ok = tc->func->body(tc, plan->values, &result);
  }
  lane->body_leave(plan);
  /* A body without operations is straight C, and so exact. */
  Body body = recipes || tc->func->n_ops == 0 ? BODY_EXACT : BODY_LIBRARY;
  note_body(self, body);
  if (!ok) {
    if (!PyErr_Occurred())
      raise_internal(tc, "a body failed without an exception");
    return NULL;
  }
  self->n_native[body]++;
  return give_result(tc, lane, &result);
}

/* ── who answers ─────────────────────────────────────────────────────────────────────────────── */

/* An exception is set that mode native raises. True: it is raised in this mode, too. False: it is
 * gone, Python runs; or, with the warning turned into an error, *failed. */
static bool must_raise(Callable *self, Mode mode, Reason reason, bool *failed) {
  *failed = false;
  if (mode == MODE_NATIVE || !PyErr_ExceptionMatches(PyExc_Exception))
    return true;
  if (reasons[reason].mismatch && module_info->on_mismatch == TC_ON_ERROR)
    return true;
  if (reason == REASON_GRADIENTS && module_info->gradients == TC_ON_ERROR)
    return true;
  bool warn = reasons[reason].warns && !(self->warned & 1u << reason);
  if (!warn) {
    PyErr_Clear();
    return false;
  }
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  self->warned |= 1u << reason;
  *failed = PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "tensorc: %s() runs Python: %S",
                             self->func->qualname, value ? value : Py_None) != 0;
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return false;
}

/* Python first, then the body: the result of the body, if it is Python's to the bit. */
static PyObject *compare_call(Callable *self, const Given *given, Plan *plan) {
  PyObject *native_error[3] = {NULL}, *python_error[3] = {NULL};
  PyObject *python = run_python(self, given, REASON_COMPARE);
  if (!python) {
    if (!PyErr_ExceptionMatches(PyExc_Exception))
      return NULL;
    PyErr_Fetch(&python_error[0], &python_error[1], &python_error[2]);
  }
  PyObject *native = execute(self, plan, true);
  print_forget(&plan->tc);               /* Python has printed it */
  if (!native && plan->tc.interrupted) { /* not a difference */
    Py_XDECREF(python);
    for (int i = 0; i < 3; i++)
      Py_XDECREF(python_error[i]);
    return NULL;
  }
  if (!native)
    PyErr_Fetch(&native_error[0], &native_error[1], &native_error[2]);
  if (native && python) {
    if (!compare_results(self->func, native, python))
      Py_CLEAR(native);
  } else if (native) {
    PyErr_NormalizeException(&python_error[0], &python_error[1], &python_error[2]);
    raise_object_difference(self->func, "raising", native,
                            python_error[1] ? python_error[1] : python_error[0]);
    Py_CLEAR(native);
    for (int i = 0; i < 3; i++)
      Py_XDECREF(python_error[i]);
  } else if (python) {
    PyErr_NormalizeException(&native_error[0], &native_error[1], &native_error[2]);
    raise_object_difference(self->func, "raising",
                            native_error[1] ? native_error[1] : native_error[0], python);
    for (int i = 0; i < 3; i++)
      Py_XDECREF(native_error[i]);
  } else {
    compare_exceptions(self->func, plan->tc.op_failed, native_error, python_error);
  }
  Py_XDECREF(python);
  return native;
}

static PyObject *answer(Callable *self, const Given *given, Mode mode, ArgSlot *slots,
                        TcValue *values) {
  Plan plan;
  Reason reason = REASON_NONE;
  bool failed = false;
  memset(&plan, 0, sizeof plan);
  plan.values = values;
  plan.slots = slots;
  Outcome outcome = prepare(self, &plan, mode, &reason);
  if (outcome == OUTCOME_ABORT)
    return NULL;
  if (outcome == OUTCOME_OK) {
    if (mode == MODE_COMPARE)
      return compare_call(self, given, &plan);
    PyObject *result = execute(self, &plan, mode == MODE_NATIVE);
    if (result) {
      if (!print_write(&plan.tc))
        Py_CLEAR(result);
      return result;
    }
    reason = REASON_ERROR;
  }
  if (plan.tc.interrupted || must_raise(self, mode, reason, &failed) || failed) {
    if (!failed)
      print_write(&plan.tc);
    print_forget(&plan.tc);
    return NULL;
  }
  print_forget(&plan.tc);
  return run_python(self, given, reason);
}

static PyObject *callable_call(PyObject *object, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames) {
  Callable *self = (Callable *)object;
  Given given = {args, nargsf, kwnames};
  Mode mode = module_mode; /* may change while we run */
  int n = self->func->n_params;
  ArgSlot inline_slots[MAX_INLINE_ARGS], *slots = inline_slots;
  TcValue inline_values[MAX_INLINE_ARGS], *values = inline_values;
  PyObject *result = NULL;

  if (!self->original) {
    PyErr_Format(PyExc_ReferenceError, "%s() is being collected", self->func->qualname);
    return NULL;
  }
  if (mode == MODE_FALLBACK)
    return run_python(self, &given, REASON_MODE);
  if (PyFunction_GET_CODE(self->original) != self->code) {
    if (mode != MODE_NATIVE)
      return run_python(self, &given, REASON_CODE);
    PyErr_Format(PyExc_RuntimeError, "%s() has other code than the one that was compiled",
                 self->func->qualname);
    return NULL;
  }
  if (n > MAX_INLINE_ARGS) {
    slots = PyMem_Malloc((size_t)n * sizeof *slots);
    values = PyMem_Malloc((size_t)n * sizeof *values);
    if (!slots || !values) {
      PyErr_NoMemory();
      goto done;
    }
    memset(slots, 0, (size_t)n * sizeof *slots);
  } else {
    memset(slots, 0, (size_t)n * sizeof *slots);
  }
  /* Keeps the original, the dict and the counters alive if the callable is dropped meanwhile. */
  Py_INCREF(self);
  result = parse_call(self, &given, slots) ? answer(self, &given, mode, slots, values)
                                           : run_wrong_call(self, &given);
  free_slots(slots, n);
  Py_DECREF(self);
done:
  if (slots != inline_slots)
    PyMem_Free(slots);
  if (values != inline_values)
    PyMem_Free(values);
  return result;
}
