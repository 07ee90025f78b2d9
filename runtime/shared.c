/* shared.c: memory that all extension modules of a process have in common.
 *
 * Each module has its own copy of this runtime. What must be one per process lies behind a capsule
 * in the interpreter's dictionary, under a key that says its layout's version.
 */

/* Zeroed by whoever comes first; lives as long as the process. NULL: an exception may be set. Needs
 * the GIL. */
static void *shared_find(const char *key, size_t bytes) {
  PyObject *shared = PyInterpreterState_GetDict(PyInterpreterState_Get()); /* borrowed */
  if (!shared)
    return NULL;
  PyObject *capsule = PyDict_GetItemString(shared, key);
  if (capsule)
    return PyCapsule_GetPointer(capsule, key);
  void *fresh = PyMem_RawCalloc(1, bytes);
  capsule = fresh ? PyCapsule_New(fresh, key, NULL) : NULL;
  bool ok = capsule && PyDict_SetItemString(shared, key, capsule) == 0;
  Py_XDECREF(capsule);
  if (!ok) {
    PyMem_RawFree(fresh);
    return NULL;
  }
  return fresh;
}
