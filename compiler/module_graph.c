/* module_graph.c: a captured graph as Python sees it.
 *
 * Constructing a Graph runs the pipeline of its door; its attributes and methods read what that
 * left.
 */
#include "module.h"

#include <string.h>

typedef struct GraphObject {
  PyObject_HEAD Unit *unit; /* NULL until the constructor has succeeded */
} GraphObject;

static const Func *func_of(PyObject *self) { return ((GraphObject *)self)->unit->funcs.items[0]; }

/* The names of what Python's functions run, in the order of the extension's calls. */
static PyObject *get_calls(PyObject *self, void *closure) {
  (void)closure;
  const Block *body = &func_of(self)->body;
  PyObject *list = PyList_New(0), *calls = NULL;
  bool ok = list != NULL;
  for (int i = 0; ok && i < body->n; i++) {
    const Ir *ir = body->items[i];
    if (ir->op != IR_NODE || ir->home->call < 0)
      continue;
    PyObject *name = PyUnicode_FromString(ir->name);
    ok = name != NULL && PyList_Append(list, name) == 0;
    Py_XDECREF(name);
  }
  if (ok)
    calls = PyList_AsTuple(list);
  Py_XDECREF(list);
  return calls;
}

static PyObject *graph_show(PyObject *self, PyObject *args) {
  const char *stage = NULL;
  Buf buf = {0};
  if (!PyArg_ParseTuple(args, "s:show", &stage))
    return NULL;
  if (strcmp(stage, "ir") == 0)
    ir_print(&buf, func_of(self));
  else if (strcmp(stage, "plan") == 0)
    layout_print(&buf, func_of(self));
  else if (strcmp(stage, "c") == 0)
    emit_graph(&buf, ((GraphObject *)self)->unit, func_of(self), func_of(self)->name);
  else
    return PyErr_Format(PyExc_ValueError, "no stage '%s': use ir, plan or c", stage);
  return take_text(&buf);
}

static PyObject *graph_c(PyObject *self, PyObject *args) {
  const char *extension = NULL;
  Buf buf = {0};
  if (!PyArg_ParseTuple(args, "s:c", &extension))
    return NULL;
  emit_graph(&buf, ((GraphObject *)self)->unit, func_of(self), extension);
  return take_text(&buf);
}

static PyObject *graph_report(PyObject *self, PyObject *unused) {
  (void)unused;
  const Block *body = &func_of(self)->body;
  PyObject *list = PyList_New(0);
  bool ok = list != NULL;
  for (int i = 0; ok && i < body->n; i++) {
    const Ir *ir = body->items[i];
    if (ir->op != IR_NODE || ir->home->inserted)
      continue;
    PyObject *row = Py_BuildValue("(ssss)", ir->name, ir->schema, way_name(ir->home->way),
                                  ir->home->why ? ir->home->why : "");
    ok = row != NULL && PyList_Append(list, row) == 0;
    Py_XDECREF(row);
  }
  if (!ok)
    Py_CLEAR(list);
  return list;
}

static PyObject *graph_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"text", "name", NULL};
  PyObject *text = NULL;
  const char *name = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Ss:Graph", keywords, &text, &name))
    return NULL;
  GraphObject *self = (GraphObject *)type->tp_alloc(type, 0);
  if (self == NULL)
    return NULL;
  Buf problem = {0};
  Options options = {.gradients = NULL};
  self->unit = driver_new(name, name, &options);
  if (!driver_graph(self->unit, PyBytes_AS_STRING(text), (size_t)PyBytes_GET_SIZE(text),
                    &problem)) {
    PyErr_SetString(PyExc_ValueError, problem.text);
    Py_CLEAR(self);
  }
  buf_free(&problem);
  return (PyObject *)self;
}

static void graph_dealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  driver_free(((GraphObject *)object)->unit);
  type->tp_free(object);
  Py_DECREF(type); /* instances of a heap type hold it */
}

static PyMethodDef graph_methods[] = {
    {"show", graph_show, METH_VARARGS,
     "show(stage: str) -> str: the graph as \"ir\", \"plan\" or \"c\"."},
    {"c", graph_c, METH_VARARGS, "c(extension: str) -> str: the C source of module `extension`."},
    {"report", graph_report, METH_NOARGS,
     "report() -> list[tuple[str, str, str, str]]: of each node its name, its operation, how it "
     "runs (\"view\", \"loop\", \"recipe\" or \"wheel\") and why."},
    {NULL, NULL, 0, NULL},
};

static PyObject *get_has_effects(PyObject *self, void *closure) {
  (void)closure;
  const Block *body = &func_of(self)->body;
  bool has_effects = false;
  for (int i = 0; i < body->n; i++)
    has_effects |= body->items[i]->has_effect;
  return PyBool_FromLong(has_effects);
}

static PyGetSetDef graph_attributes[] = {
    {"calls", get_calls, NULL, "The nodes whose Python function the extension has to be given.",
     NULL},
    {"has_effects", get_has_effects, NULL,
     "Whether it writes to its inputs, or draws random numbers.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char graph_doc[] =
    "Graph(text: bytes, name: str)\n--\n\n"
    "A captured graph, compiled. ValueError when its text cannot be read.";

static PyType_Slot graph_slots[] = {
    {Py_tp_new, graph_new},         {Py_tp_dealloc, graph_dealloc},
    {Py_tp_methods, graph_methods}, {Py_tp_getset, graph_attributes},
    {Py_tp_doc, (void *)graph_doc}, {0, NULL},
};

PyType_Spec graph_spec = {
    .name = "tensorc._tensorc.Graph",
    .basicsize = sizeof(GraphObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = graph_slots,
};
