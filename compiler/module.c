/* module.c: the extension `tensorc._tensorc`, the compiler as Python sees it.
 *
 * A Unit object owns one compiled source file: constructing it runs the whole pipeline, its
 * attributes and methods read what that left. Nothing is shared between Units, so several threads
 * may hold and build them; the GIL is never given up in between. A Graph (module_graph.c) is the
 * same for a captured graph.
 */
#include "module.h"

#include <string.h>

typedef struct UnitObject {
  PyObject_HEAD Unit *unit; /* NULL until the constructor has succeeded */
  PyObject *path;           /* str, as given */
  PyObject *module;         /* str, as given */
} UnitObject;

/* ── from C to Python ────────────────────────────────────────────────────────────────────────── */

/* Paths may hold bytes that are no text; Python carries those as lone surrogates, and so do we. */
static PyObject *text_object(const char *text, size_t length) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "surrogatepass");
}

PyObject *take_text(Buf *buf) {
  PyObject *text = text_object(buf->text != NULL ? buf->text : "", buf->length);
  buf_free(buf);
  return text;
}

static PyObject *take_bytes(Buf *buf) {
  PyObject *bytes = PyBytes_FromStringAndSize(buf->text, (Py_ssize_t)buf->length);
  buf_free(buf);
  return bytes;
}

static PyObject *optional_text(const char *text) {
  return text != NULL ? text_object(text, strlen(text)) : Py_NewRef(Py_None);
}

static PyObject *param_object(const Param *param) {
  static const char *const kinds[] = {
      [PARAM_POSITIONAL_ONLY] = "positional-only",
      [PARAM_POSITIONAL_OR_KEYWORD] = "positional-or-keyword",
      [PARAM_KEYWORD_ONLY] = "keyword-only",
  };
  return Py_BuildValue("(sssO)", param->name, type_name(param->fact.type), kinds[param->kind],
                       param->default_value ? Py_True : Py_False);
}

static PyObject *params_object(const Func *func) {
  PyObject *list = PyList_New(func->n_params);
  for (int i = 0; list != NULL && i < func->n_params; i++) {
    PyObject *param = param_object(&func->params[i]);
    if (param == NULL)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, param);
  }
  return list;
}

static PyObject *func_object(const Func *func) {
  static const char *const lanes[] = {
      [LANE_NONE] = "none", [LANE_TORCH] = "torch", [LANE_TENSORFLOW] = "tensorflow"};
  const Span *span = &func->def->span;
  return Py_BuildValue("{ss ss ss si si si si si ss sN ss}",    //
                       "name", func->name,                      //
                       "qualname", func->qualname,              //
                       "status", status_name(func->status),     //
                       "line", span->line, "column", span->col, //
                       "end_line", span->end_line,              //
                       "bind_line", func->bind_line,            //
                       "bind_column", func->bind_col,           //
                       "lane", lanes[func->lane],               //
                       "params", params_object(func),           //
                       "result", type_name(func->result.type));
}

/* Adds what is told about `func`, or about the module when it is NULL, to the list. */
static bool add_diags(PyObject *list, const Func *func, const Diags *diags) {
  for (int i = 0; i < diags->n; i++) {
    const Diag *diag = &diags->items[i];
    PyObject *entry = Py_BuildValue(
        "{sN ss ss si si si si sN sN}", "function",
        optional_text(func != NULL ? func->qualname : NULL), "code", diag->code, "outcome",
        outcome_name(diag->outcome), "line", diag->span.line, "column", diag->span.col, "end_line",
        diag->span.end_line, "end_column", diag->span.end_col, "message",
        optional_text(diag->message), "suggestion", optional_text(diag->suggestion));
    int failed = entry != NULL ? PyList_Append(list, entry) : -1;
    Py_XDECREF(entry);
    if (failed)
      return false;
  }
  return true;
}

/* ── attributes of Unit ──────────────────────────────────────────────────────────────────────── */

static PyObject *get_path(PyObject *self, void *closure) {
  (void)closure;
  return Py_NewRef(((UnitObject *)self)->path);
}

static PyObject *get_module(PyObject *self, void *closure) {
  (void)closure;
  return Py_NewRef(((UnitObject *)self)->module);
}

static PyObject *get_text(PyObject *self, void *closure) {
  (void)closure;
  const Unit *unit = ((UnitObject *)self)->unit;
  return text_object(unit->source, unit->source_bytes);
}

static PyObject *get_n_accepted(PyObject *self, void *closure) {
  (void)closure;
  const Unit *unit = ((UnitObject *)self)->unit;
  long n = 0;
  for (int i = 0; i < unit->funcs.n; i++)
    n += unit->funcs.items[i]->status == STATUS_ACCEPTED;
  return PyLong_FromLong(n);
}

static PyObject *get_functions(PyObject *self, void *closure) {
  (void)closure;
  const Unit *unit = ((UnitObject *)self)->unit;
  PyObject *list = PyList_New(unit->funcs.n);
  for (int i = 0; list != NULL && i < unit->funcs.n; i++) {
    PyObject *func = func_object(unit->funcs.items[i]);
    if (func == NULL)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, func);
  }
  return list;
}

static PyObject *get_diagnostics(PyObject *self, void *closure) {
  (void)closure;
  const Unit *unit = ((UnitObject *)self)->unit;
  PyObject *list = PyList_New(0);
  bool done = list != NULL && add_diags(list, NULL, &unit->diags);
  for (int i = 0; done && i < unit->funcs.n; i++)
    done = add_diags(list, unit->funcs.items[i], &unit->funcs.items[i]->diags);
  if (!done)
    Py_CLEAR(list);
  return list;
}

static PyGetSetDef unit_attributes[] = {
    {"path", get_path, NULL, "The path, as given.", NULL},
    {"module", get_module, NULL, "The dotted name of the module, as given.", NULL},
    {"text", get_text, NULL, "The source as text, decoded by its cookie, without a BOM.", NULL},
    {"n_accepted", get_n_accepted, NULL, "How many functions are native.", NULL},
    {"functions", get_functions, NULL, "One dict a function, in source order.", NULL},
    {"diagnostics", get_diagnostics, NULL, "One dict a finding, in source order.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ── methods of Unit ─────────────────────────────────────────────────────────────────────────── */

static bool has_accepted(const Unit *unit) {
  for (int i = 0; i < unit->funcs.n; i++)
    if (unit->funcs.items[i]->status == STATUS_ACCEPTED)
      return true;
  return false;
}

static PyObject *unit_emit(PyObject *self, PyObject *args) {
  Unit *unit = ((UnitObject *)self)->unit;
  const char *extension = NULL;
  if (!PyArg_ParseTuple(args, "s:emit", &extension))
    return NULL;
  if (!has_accepted(unit)) {
    PyErr_Format(PyExc_ValueError, "%U has no native function", ((UnitObject *)self)->path);
    return NULL;
  }
  Buf buf = {0};
  emit_unit(&buf, unit, extension);
  return take_text(&buf);
}

static PyObject *unit_show(PyObject *self, PyObject *args) {
  static const struct {
    const char *name;
    Stage stage;
  } stages[] = {{"ast", STAGE_AST}, {"ir", STAGE_IR}, {"plan", STAGE_PLAN}, {"c", STAGE_C}};
  Unit *unit = ((UnitObject *)self)->unit;
  PyObject *qualname = NULL, *stage = NULL;
  if (!PyArg_ParseTuple(args, "UU:show", &qualname, &stage))
    return NULL;
  const char *name = PyUnicode_AsUTF8(qualname);
  if (name == NULL)
    return NULL;
  for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
    if (PyUnicode_CompareWithASCIIString(stage, stages[i].name) == 0) {
      Buf buf = {0};
      if (driver_show(&buf, unit, name, stages[i].stage))
        return take_text(&buf);
      buf_free(&buf);
      if (!PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, qualname);
      return NULL;
    }
  PyErr_Format(PyExc_ValueError, "no stage %R: use ast, ir, plan or c", stage);
  return NULL;
}

static PyObject *unit_report_text(PyObject *self, PyObject *unused) {
  (void)unused;
  Buf buf = {0};
  record_text(&buf, ((UnitObject *)self)->unit);
  return take_text(&buf);
}

static PyMethodDef unit_methods[] = {
    {"emit", unit_emit, METH_VARARGS,
     "emit(extension: str) -> str: the C source of extension module `extension`. ValueError when "
     "no function is native."},
    {"show", unit_show, METH_VARARGS,
     "show(qualname: str, stage: str) -> str: one function as \"ast\", \"ir\", \"plan\" or \"c\"."},
    {"report_text", unit_report_text, METH_NOARGS,
     "report_text() -> str: a line a function, then its findings."},
    {NULL, NULL, 0, NULL},
};

/* ── the life of a Unit ──────────────────────────────────────────────────────────────────────── */

/* The entry of `allowed` that equals the argument: a text that outlives it. NULL: ValueError. */
static const char *choose(const char *given, const char *keyword, const char *const *allowed) {
  for (; *allowed != NULL; allowed++)
    if (strcmp(*allowed, given) == 0)
      return *allowed;
  PyErr_Format(PyExc_ValueError, "%s=\"%s\" is none of the values it can have", keyword, given);
  return NULL;
}

/* The UTF-8 of a name without NULs; NULL: an exception is set. */
static PyObject *encode_name(PyObject *name) {
  PyObject *bytes = PyUnicode_AsEncodedString(name, "utf-8", "surrogatepass");
  if (bytes != NULL && strlen(PyBytes_AS_STRING(bytes)) != (size_t)PyBytes_GET_SIZE(bytes)) {
    PyErr_SetString(PyExc_ValueError, "embedded null character");
    Py_CLEAR(bytes);
  }
  return bytes;
}

static bool compile_unit(UnitObject *self, const Options *options, PyObject *source) {
  bool done = false;
  PyObject *path = encode_name(self->path);
  PyObject *module = path != NULL ? encode_name(self->module) : NULL;
  if (module == NULL)
    goto done;
  self->unit = driver_new(PyBytes_AS_STRING(path), PyBytes_AS_STRING(module), options);
  done = driver_compile(self->unit, PyBytes_AS_STRING(source), (size_t)PyBytes_GET_SIZE(source));
done:
  Py_XDECREF(path);
  Py_XDECREF(module);
  return done;
}

static PyObject *unit_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"source",    "path",        "module",   "marked_only",
                             "gradients", "on_mismatch", "numerics", NULL};
  static const char *const gradients_values[] = {"python", "detach", "error", NULL};
  static const char *const mismatch_values[] = {"python", "error", NULL};
  static const char *const numerics_values[] = {"exact", "library", NULL};
  PyObject *source = NULL, *path = NULL, *module = NULL;
  const char *gradients = "python", *on_mismatch = "python", *numerics = "exact";
  int marked_only = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "SUU|$psss:Unit", keywords, &source, &path,
                                   &module, &marked_only, &gradients, &on_mismatch, &numerics))
    return NULL;
  Options options = {.marked_only = marked_only != 0,
                     .gradients = choose(gradients, "gradients", gradients_values),
                     .on_mismatch = NULL};
  if (options.gradients != NULL)
    options.on_mismatch = choose(on_mismatch, "on_mismatch", mismatch_values);
  if (options.on_mismatch != NULL)
    options.numerics = choose(numerics, "numerics", numerics_values);
  if (options.numerics == NULL)
    return NULL;
  UnitObject *self = (UnitObject *)type->tp_alloc(type, 0);
  if (self == NULL)
    return NULL;
  self->path = Py_NewRef(path);
  self->module = Py_NewRef(module);
  if (!compile_unit(self, &options, source))
    Py_CLEAR(self);
  return (PyObject *)self;
}

static void unit_dealloc(PyObject *object) {
  UnitObject *self = (UnitObject *)object;
  PyTypeObject *type = Py_TYPE(object);
  if (self->unit != NULL)
    driver_free(self->unit);
  Py_XDECREF(self->path);
  Py_XDECREF(self->module);
  type->tp_free(object);
  Py_DECREF(type); /* instances of a heap type hold it */
}

static const char unit_doc[] =
    "Unit(source: bytes, path: str, module: str, *, marked_only=False, gradients=\"python\", "
    "on_mismatch=\"python\", numerics=\"exact\")\n--\n\n"
    "One compiled source file. SyntaxError when Python cannot parse it; RecursionError or "
    "MemoryError as Python's parser raises them.";

static PyType_Slot unit_slots[] = {
    {Py_tp_new, unit_new},           {Py_tp_dealloc, unit_dealloc}, {Py_tp_methods, unit_methods},
    {Py_tp_getset, unit_attributes}, {Py_tp_doc, (void *)unit_doc}, {0, NULL},
};

static PyType_Spec unit_spec = {
    .name = "tensorc._tensorc.Unit",
    .basicsize = sizeof(UnitObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = unit_slots,
};

/* ── the module ──────────────────────────────────────────────────────────────────────────────── */

typedef struct ModuleState {
  PyTypeObject *unit_type;
  PyTypeObject *graph_type;
  PyTypeObject *watch_type;
  PyTypeObject *front_type;
} ModuleState;

static PyObject *module_report(PyObject *module, PyObject *args) {
  const ModuleState *state = PyModule_GetState(module);
  PyObject *list = NULL, *root_text = NULL, *root = NULL, *units = NULL, *result = NULL;
  Unit **items = NULL;
  Buf buf = {0};
  if (!PyArg_ParseTuple(args, "OU:report", &list, &root_text))
    return NULL;
  /* A tuple of our own: nothing can take a Unit out of it while it is printed. */
  units = PySequence_Tuple(list);
  root = encode_name(root_text);
  if (units == NULL || root == NULL)
    goto done;
  Py_ssize_t n = PyTuple_GET_SIZE(units);
  items = PyMem_Calloc((size_t)n + 1, sizeof *items);
  if (items == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *unit = PyTuple_GET_ITEM(units, i);
    if (!Py_IS_TYPE(unit, state->unit_type)) {
      PyErr_Format(PyExc_TypeError, "report() takes Units, not %s", Py_TYPE(unit)->tp_name);
      goto done;
    }
    items[i] = ((UnitObject *)unit)->unit;
  }
  record_report(&buf, items, (int)n, PyBytes_AS_STRING(root));
  result = take_bytes(&buf);
done:
  PyMem_Free(items);
  Py_XDECREF(root);
  Py_XDECREF(units);
  return result;
}

static PyObject *module_capabilities(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  Buf buf = {0};
  capabilities_print(&buf);
  return take_bytes(&buf);
}

/* The set of instructions that a graph's loops take on this processor. */
static PyObject *module_host(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
#if defined __x86_64__ && defined __GNUC__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("fma"))
    return PyUnicode_FromString("AVX512");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return PyUnicode_FromString("AVX2");
#endif
  return PyUnicode_FromString("BASELINE");
}

static PyMethodDef module_methods[] = {
    {"host", module_host, METH_NOARGS,
     "host() -> str: \"AVX512\", \"AVX2\" or \"BASELINE\": with -DTC_ONLY_<that> a graph is "
     "compiled for this processor alone."},
    {"report", module_report, METH_VARARGS,
     "report(units: list[Unit], project_root: str) -> bytes: check.json."},
    {"capabilities", module_capabilities, METH_NOARGS,
     "capabilities() -> bytes: every rule and type, as JSON."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module) {
  ModuleState *state = PyModule_GetState(module);
  state->unit_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &unit_spec, NULL);
  if (state->unit_type == NULL || PyModule_AddType(module, state->unit_type) < 0)
    return -1;
  state->graph_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &graph_spec, NULL);
  if (state->graph_type == NULL || PyModule_AddType(module, state->graph_type) < 0)
    return -1;
  state->watch_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &watch_spec, NULL);
  if (state->watch_type == NULL || PyModule_AddType(module, state->watch_type) < 0)
    return -1;
  state->front_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &front_spec, NULL);
  if (state->front_type == NULL || PyModule_AddType(module, state->front_type) < 0)
    return -1;
  return PyModule_AddIntConstant(module, "RT_VERSION", RT_VERSION);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
  ModuleState *state = PyModule_GetState(module);
  Py_VISIT(state->unit_type);
  Py_VISIT(state->graph_type);
  Py_VISIT(state->watch_type);
  Py_VISIT(state->front_type);
  return 0;
}

static int module_clear(PyObject *module) {
  ModuleState *state = PyModule_GetState(module);
  Py_CLEAR(state->unit_type);
  Py_CLEAR(state->graph_type);
  Py_CLEAR(state->watch_type);
  Py_CLEAR(state->front_type);
  return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void *)module_exec}, {0, NULL}};

static struct PyModuleDef module_def = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_tensorc",
    .m_doc = "The compiler: typed Python functions over tensors to C.",
    .m_size = sizeof(ModuleState),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__tensorc(void);
PyMODINIT_FUNC PyInit__tensorc(void) { return PyModuleDef_Init(&module_def); }
