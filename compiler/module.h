/* module.h: what the files of the extension module share. */
#ifndef TENSORC_MODULE_H
#define TENSORC_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tensorc.h"

PyObject *take_text(Buf *buf); /* a str; frees the buffer */
extern PyType_Spec graph_spec; /* module_graph.c: the type Graph */
extern PyType_Spec watch_spec; /* module_watch.c: the type Watch */

#endif
