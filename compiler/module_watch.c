/* module_watch.c: whether Python objects that a captured graph was made of are still what they
 * were.
 *
 * A Watch remembers what dictionaries (of modules, say), lists and cells of closures hold. A call
 * of a compiled model asks it first, so it must cost next to nothing: a dictionary whose version is
 * the one last seen has not changed; any other, and a list, is walked beside its copy, pointer by
 * pointer.
 */
#include "module.h"

typedef struct WatchObject {
  PyObject_HEAD PyObject *whole; /* list: a dictionary or list, its copy, the next, its copy, … */
  PyObject *single;              /* list: a dictionary, a key, its value, … */
  PyObject *cells;               /* list: a cell, its contents, … */
  uint64_t *seen; /* per dictionary of whole: its version when it was last found to hold */
} WatchObject;

/* The same object, or a number or text of the same type and value. */
static bool is_same(PyObject *a, PyObject *b) {
  if (a == b)
    return true;
  if (!a || !b || Py_TYPE(a) != Py_TYPE(b))
    return false;
  if (PyFloat_CheckExact(a)) {
    double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
    return memcmp(&x, &y, sizeof x) == 0;
  }
  return (PyLong_CheckExact(a) || PyUnicode_CheckExact(a)) &&
         PyObject_RichCompareBool(a, b, Py_EQ) == 1;
}

static bool dict_holds(PyObject *now, PyObject *then) {
  PyObject *key, *value, *old_key, *old_value;
  Py_ssize_t at = 0, old_at = 0;
  if (PyDict_GET_SIZE(now) != PyDict_GET_SIZE(then))
    return false;
  while (PyDict_Next(now, &at, &key, &value)) {
    if (!PyDict_Next(then, &old_at, &old_key, &old_value))
      return false;
    if (!is_same(value, old_value) || !is_same(key, old_key))
      return false;
  }
  return true;
}

/* Another number after each change; 0 where Python counts none. */
static uint64_t dict_version(PyObject *dict) {
#if PY_VERSION_HEX < 0x030C0000
  return ((PyDictObject *)dict)->ma_version_tag;
#else
  (void)dict;
  return 0;
#endif
}

static bool list_holds(PyObject *now, PyObject *then) {
  if (PyList_GET_SIZE(now) != PyList_GET_SIZE(then))
    return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(now); i++)
    if (!is_same(PyList_GET_ITEM(now, i), PyList_GET_ITEM(then, i)))
      return false;
  return true;
}

static bool whole_holds(WatchObject *self, Py_ssize_t i) {
  PyObject *dict = PyList_GET_ITEM(self->whole, 2 * i);
  PyObject *then = PyList_GET_ITEM(self->whole, 2 * i + 1);
  if (PyList_Check(dict))
    return list_holds(dict, then);
  uint64_t version = dict_version(dict);
  if (version != 0 && version == self->seen[i])
    return true;
  if (!dict_holds(dict, then))
    return false;
  self->seen[i] = version;
  return true;
}

static void watch_dealloc(PyObject *object);

int watch_answer(PyObject *object) {
  if (Py_TYPE(object)->tp_dealloc != watch_dealloc) {
    PyErr_SetString(PyExc_TypeError, "this is no Watch");
    return -1;
  }
  WatchObject *self = (WatchObject *)object;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(self->whole) / 2; i++)
    if (!whole_holds(self, i))
      return 0;
  PyObject *list = self->single;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i += 3) {
    PyObject *now = PyDict_GetItemWithError(PyList_GET_ITEM(list, i), PyList_GET_ITEM(list, i + 1));
    if (!now && PyErr_Occurred())
      return -1;
    if (!is_same(now, PyList_GET_ITEM(list, i + 2)))
      return 0;
  }
  list = self->cells;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i += 2)
    if (!is_same(PyCell_GET(PyList_GET_ITEM(list, i)), PyList_GET_ITEM(list, i + 1)))
      return 0;
  return 1;
}

static PyObject *watch_holds(PyObject *object, PyObject *unused) {
  (void)unused;
  int answer = watch_answer(object);
  return answer < 0 ? NULL : PyBool_FromLong(answer);
}

static bool append(PyObject *list, PyObject *item) { return PyList_Append(list, item) == 0; }

static bool add_whole(WatchObject *self, PyObject *dict) {
  if (PyList_Check(dict)) {
    PyObject *items = PyList_GetSlice(dict, 0, PyList_GET_SIZE(dict));
    bool added = items && append(self->whole, dict) && append(self->whole, items);
    Py_XDECREF(items);
    return added;
  }
  PyObject *copy = PyDict_Check(dict) ? PyDict_New() : NULL;
  /* Not PyDict_Copy: of an OrderedDict, say, it is the order of the dictionary below that counts.
   */
  bool ok = copy && append(self->whole, dict) && append(self->whole, copy);
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (ok && PyDict_Next(dict, &at, &key, &value))
    ok = PyDict_SetItem(copy, key, value) == 0;
  Py_XDECREF(copy);
  return ok;
}

static bool add_single(WatchObject *self, PyObject *pair) {
  PyObject *dict, *key;
  if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "O!O", &PyDict_Type, &dict, &key))
    return false;
  PyObject *value = PyDict_GetItemWithError(dict, key); /* borrowed */
  if (!value && !PyErr_Occurred())
    PyErr_SetObject(PyExc_KeyError, key);
  return value && append(self->single, dict) && append(self->single, key) &&
         append(self->single, value);
}

static bool add_cell(WatchObject *self, PyObject *cell) {
  PyObject *value = PyCell_Check(cell) ? PyCell_GET(cell) : NULL;
  return value && append(self->cells, cell) && append(self->cells, value);
}

static bool add_all(WatchObject *self, PyObject *items, bool (*add)(WatchObject *, PyObject *)) {
  PyObject *tuple = PySequence_Tuple(items);
  bool ok = tuple != NULL;
  for (Py_ssize_t i = 0; ok && i < PyTuple_GET_SIZE(tuple); i++)
    ok = add(self, PyTuple_GET_ITEM(tuple, i));
  Py_XDECREF(tuple);
  return ok;
}

static PyObject *watch_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"whole", "single", "cells", NULL};
  PyObject *whole, *single, *cells;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:Watch", keywords, &whole, &single, &cells))
    return NULL;
  WatchObject *self = (WatchObject *)type->tp_alloc(type, 0);
  if (self == NULL)
    return NULL;
  self->whole = PyList_New(0);
  self->single = PyList_New(0);
  self->cells = PyList_New(0);
  if (!self->whole || !self->single || !self->cells || !add_all(self, whole, add_whole) ||
      !add_all(self, single, add_single) || !add_all(self, cells, add_cell)) {
    Py_DECREF(self);
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_TypeError, "Watch() takes dictionaries and lists, pairs of a "
                                       "dictionary and a key, and cells that are not empty");
    return NULL;
  }
  self->seen = PyMem_Calloc((size_t)PyList_GET_SIZE(self->whole) / 2 + 1, sizeof *self->seen);
  if (!self->seen) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  return (PyObject *)self;
}

static int watch_traverse(PyObject *object, visitproc visit, void *arg) {
  WatchObject *self = (WatchObject *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->whole);
  Py_VISIT(self->single);
  Py_VISIT(self->cells);
  return 0;
}

static int watch_clear(PyObject *object) {
  WatchObject *self = (WatchObject *)object;
  Py_CLEAR(self->whole);
  Py_CLEAR(self->single);
  Py_CLEAR(self->cells);
  return 0;
}

static void watch_dealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  watch_clear(object);
  PyMem_Free(((WatchObject *)object)->seen);
  type->tp_free(object);
  Py_DECREF(type); /* instances of a heap type hold it */
}

static PyMethodDef watch_methods[] = {
    {"holds", watch_holds, METH_NOARGS,
     "holds() -> bool: whether everything is the object that it was, in the same order."},
    {NULL, NULL, 0, NULL},
};

static const char watch_doc[] =
    "Watch(whole, single, cells)\n--\n\n"
    "What these held when it was made: dictionaries and lists with all that is in them, "
    "(dictionary, key) pairs, cells of closures. TypeError, KeyError when they are something else.";

static PyType_Slot watch_slots[] = {
    {Py_tp_new, watch_new},
    {Py_tp_dealloc, watch_dealloc},
    {Py_tp_traverse, watch_traverse},
    {Py_tp_clear, watch_clear},
    {Py_tp_methods, watch_methods},
    {Py_tp_doc, (void *)watch_doc},
    {0, NULL},
};

PyType_Spec watch_spec = {
    .name = "tensorc._tensorc.Watch",
    .basicsize = sizeof(WatchObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = watch_slots,
};
