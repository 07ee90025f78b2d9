/* module.h: what the files of the extension module share. */
#ifndef TENSORC_MODULE_H
#define TENSORC_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "tensorc.h"

PyObject *take_text(Buf *buf); /* a str; frees the buffer */
extern PyType_Spec graph_spec; /* module_graph.c: the type Graph */
extern PyType_Spec watch_spec; /* module_watch.c: the type Watch */
extern PyType_Spec front_spec; /* module_front.c: the type Front */

/* 1: all that the Watch saw is as it was; 0: it is not; -1: this is no Watch, or an error. */
int watch_answer(PyObject *watch);

#endif
