/* module_front.c: what is in front of a compiled model, and the shortest way through.
 *
 * A Front hands each call to its function `answer`. When it is armed, it first tries the version
 * that answered the call before: while the model and torch are as that was made for, the version's
 * native code takes the arguments as they are, or raises before anything has happened. Any doubt
 * is for `answer`.
 */
#include "module.h"

#include <stddef.h>

/* What a Front is armed with: a tuple. */
enum { NATIVE, WATCH, GIVE, THREAD, BODY, GRAD_MODE, DTYPE, N_ARMED };

typedef struct FrontObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *answer;        /* answer(args, kwargs): any call */
  PyObject *get_grad_mode; /* torch.is_grad_enabled */
  PyObject *get_dtype;     /* torch.get_default_dtype */
  PyObject *armed;         /* tuple, or NULL */
  uint64_t n_calls;        /* that the armed version answered */
} FrontObject;

/* Whether the function gives that very object. An error counts as no. */
static bool gives(PyObject *function, PyObject *wanted) {
  PyObject *now = PyObject_CallNoArgs(function);
  bool same = now == wanted;
  Py_XDECREF(now);
  return same;
}

/* The armed version's answer. NULL: it has none; an exception may be set. */
static PyObject *try_armed(FrontObject *self, PyObject *armed, PyObject *const *args,
                           size_t nargsf) {
  PyObject *const *with = &PyTuple_GET_ITEM(armed, 0), *result;
  if (!gives(self->get_grad_mode, with[GRAD_MODE]) || !gives(self->get_dtype, with[DTYPE]) ||
      watch_answer(with[WATCH]) != 1)
    return NULL;
  PyObject *results = PyObject_Vectorcall(with[NATIVE], args, nargsf, NULL);
  if (!results)
    return NULL;
  if (PyObject_SetAttrString(with[THREAD], "body", with[BODY]) < 0)
    result = NULL;
  else if (with[GIVE] == Py_None && PyTuple_GET_SIZE(results) == 1)
    result = Py_NewRef(PyTuple_GET_ITEM(results, 0));
  else
    result = PyObject_CallOneArg(with[GIVE], results);
  Py_DECREF(results);
  self->n_calls += result != NULL;
  return result;
}

static PyObject *front_answer(FrontObject *self, PyObject *const *args, size_t nargsf,
                              PyObject *kwnames) {
  Py_ssize_t n = PyVectorcall_NARGS(nargsf), n_names = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  PyObject *tuple = PyTuple_New(n), *dict = PyDict_New(), *result = NULL;
  bool ok = tuple && dict;
  for (Py_ssize_t i = 0; ok && i < n; i++)
    PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; ok && i < n_names; i++)
    ok = PyDict_SetItem(dict, PyTuple_GET_ITEM(kwnames, i), args[n + i]) == 0;
  if (ok)
    result = PyObject_CallFunctionObjArgs(self->answer, tuple, dict, NULL);
  Py_XDECREF(tuple);
  Py_XDECREF(dict);
  return result;
}

static PyObject *front_call(PyObject *object, PyObject *const *args, size_t nargsf,
                            PyObject *kwnames) {
  FrontObject *self = (FrontObject *)object;
  if (self->armed && !kwnames) {
    PyObject *armed = Py_NewRef(self->armed); /* another call may arm it anew meanwhile */
    PyObject *result = try_armed(self, armed, args, nargsf);
    Py_DECREF(armed);
    if (result)
      return result;
    if (PyErr_Occurred()) {
      if (!PyErr_ExceptionMatches(PyExc_Exception))
        return NULL;
      PyErr_Clear(); /* if it was more than a misfit, the original raises it */
    }
  }
  return front_answer(self, args, nargsf, kwnames);
}

static PyObject *front_arm(PyObject *object, PyObject *with) {
  FrontObject *self = (FrontObject *)object;
  if (with != Py_None && (!PyTuple_Check(with) || PyTuple_GET_SIZE(with) != N_ARMED ||
                          watch_answer(PyTuple_GET_ITEM(with, WATCH)) < 0)) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_TypeError, "arm() takes None or a tuple of native, watch, give, "
                                       "thread, body, grad mode, default dtype");
    return NULL;
  }
  PyObject *n_calls = PyLong_FromUnsignedLongLong(self->n_calls);
  if (!n_calls)
    return NULL;
  self->n_calls = 0;
  Py_XSETREF(self->armed, with == Py_None ? NULL : Py_NewRef(with));
  return n_calls;
}

static PyObject *front_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"answer", "grad_mode", "dtype", NULL};
  PyObject *answer, *grad_mode, *dtype;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:Front", keywords, &answer, &grad_mode,
                                   &dtype))
    return NULL;
  FrontObject *self = (FrontObject *)type->tp_alloc(type, 0);
  if (!self)
    return NULL;
  self->vectorcall = front_call;
  self->answer = Py_NewRef(answer);
  self->get_grad_mode = Py_NewRef(grad_mode);
  self->get_dtype = Py_NewRef(dtype);
  return (PyObject *)self;
}

static int front_traverse(PyObject *object, visitproc visit, void *arg) {
  FrontObject *self = (FrontObject *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->answer);
  Py_VISIT(self->get_grad_mode);
  Py_VISIT(self->get_dtype);
  Py_VISIT(self->armed);
  return 0;
}

/* Not the functions: a front that is being collected may still be called. */
static int front_clear(PyObject *object) {
  FrontObject *self = (FrontObject *)object;
  Py_CLEAR(self->armed);
  return 0;
}

static void front_dealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  FrontObject *self = (FrontObject *)object;
  PyObject_GC_UnTrack(object);
  Py_CLEAR(self->armed);
  Py_XDECREF(self->answer);
  Py_XDECREF(self->get_grad_mode);
  Py_XDECREF(self->get_dtype);
  type->tp_free(object);
  Py_DECREF(type); /* instances of a heap type hold it */
}

static PyMethodDef front_methods[] = {
    {"arm", front_arm, METH_O,
     "arm(with: tuple | None) -> int: tries a version first from now on, or none. How many calls "
     "the one before answered."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef front_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FrontObject, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static const char front_doc[] =
    "Front(answer, grad_mode, dtype)\n--\n\n"
    "Called as a compiled model: answer(args, kwargs) answers, or the version that it is armed "
    "with.";

static PyType_Slot front_slots[] = {
    {Py_tp_new, front_new},
    {Py_tp_dealloc, front_dealloc},
    {Py_tp_traverse, front_traverse},
    {Py_tp_clear, front_clear},
    {Py_tp_methods, front_methods},
    {Py_tp_members, front_members},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_doc, (void *)front_doc},
    {0, NULL},
};

PyType_Spec front_spec = {
    .name = "tensorc._tensorc.Front",
    .basicsize = sizeof(FrontObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = front_slots,
};
