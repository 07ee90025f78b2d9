/* tf_wheel.c: finds the TensorFlow wheel in the process, and the eager context that Python uses.
 *
 * Reads sys.modules (imports tensorflow if nobody has), the loaded images under the package's own
 * folder, and a tensor made for the purpose. Leaves `tf` filled and `tf_context` current, or a
 * reason why functions of the TensorFlow lane can't run natively. Names and layouts are private to
 * one version, so version, owner of each symbol and each layout are confirmed before anything else
 * is called. Never makes a context, a session or a second runtime.
 */

typedef struct TfHandle TfHandle;     /* TFE_TensorHandle */
typedef struct TfOp TfOp;             /* TFE_Op */
typedef struct TfStatus TfStatus;     /* TF_Status */
typedef struct TfTensor TfTensor;     /* TF_Tensor */
typedef struct TfEager TfEager;       /* TFE_Context */
typedef struct TfExecutor TfExecutor; /* TFE_Executor */

/* A tensorflow::Tensor, where the probe confirms it. */
typedef struct TfLayout {
  union {
    uint16_t narrow[6];
    uint32_t wide[3];
  } sizes;
  uint8_t unused, dtype, rank;
  uint8_t width; /* 0: sizes.narrow, 1: sizes.wide, else neither */
  int64_t n_elems;
  const struct TfMemory {
    void *vtable, *count;
    void *data;
  } *memory; /* NULL: no elements */
} TfLayout;
/* An absl::Status is returned through memory, as a struct of this size is. */
typedef struct TfStatusMemory {
  uint64_t words[4]; /* 1: OK */
} TfStatusMemory;

#define TF_NEEDED_VERSION "2.21.0"
enum { TF_F32 = 1, TF_I32 = 3, TF_I64 = 9 }; /* codes of TF_DataType */

typedef enum { IMAGE_TF_CC, IMAGE_TF_FRAMEWORK, IMAGE_TF_PYTHON, N_TF_IMAGES } TfImageId;

/* One eager context. Never freed: threads keep operations that were made with it, and values may
 * outlive the day when Python makes another one (which only tests do). */
typedef struct TfContext {
  PyObject *context;    /* the tensorflow.python.eager.context.Context */
  PyObject *attributes; /* its __dict__ */
  PyObject *capsule;    /* its _handle, which owns `eager` */
  TfEager *eager;
  const char *cpu;   /* full name of its CPU:0, owned by the device */
  const char *place; /* device for new operations: NULL, as eager does, or cpu if there is a GPU */
  int n_threads;     /* that a kernel may split its work over */
  TfHandle *axis[2]; /* int32 scalars 0 and 1 */
  TfHandle *swap;    /* int32 [1, 0] */
} TfContext;

typedef struct TensorFlow {
#define SYM(need, image, result, field, symbol, parameters) result(*field) parameters;
#include "tf_syms.def"
  PyObject *handle_name; /* "_context_handle", interned */
  int context_word;      /* of an EagerTensor object: its Context, in 8-byte words */
  void *image;           /* handle of the library that has the kernels */
  int device_word;       /* of thread_words: the device scope, a str */
  int callbacks_word;    /* of thread_words: the op callbacks, a list */
} TensorFlow;

/* Written once, under the GIL, before tf_status becomes READY. */
static TensorFlow tf;
static enum { TF_UNKNOWN, TF_READY, TF_UNAVAILABLE } tf_status;
static char tf_problem[256];  /* why it is unavailable, or its context */
static TfContext *tf_context; /* Python's at the last call; guarded by the GIL */

/* What a thread needs to run operations. */
typedef struct TfThread {
  TfContext *context; /* that op belongs to */
  TfOp *op;           /* every operation of the thread, one after the other */
  TfStatus *status;   /* TF_OK between operations */
  bool holds_inputs;  /* op keeps those of its last operation alive */
} TfThread;

/* ── images and symbols ──────────────────────────────────────────────────────────────────────── */

static bool path_is_under(const char *path, const char *root) {
  size_t n = strlen(root);
  return strncmp(path, root, n) == 0 && path[n] == '/';
}

/* root: the package's folder. */
static bool tf_images_find(const char *root, Image images[N_TF_IMAGES], char *problem,
                           size_t problem_size) {
  char real_root[PATH_MAX], path[PATH_MAX + 64], real[PATH_MAX];
  if (!realpath(root, real_root)) {
    snprintf(problem, problem_size, "tensorflow has no folder");
    return false;
  }
  for (int i = 0; i < N_TF_IMAGES; i++) {
    snprintf(path, sizeof path, "%s/%s", real_root, images[i].soname);
    if (image_open(&images[i], path) && realpath(images[i].path, real) &&
        path_is_under(real, real_root))
      continue;
    snprintf(problem, problem_size, "tensorflow is imported, but its %s is not loaded",
             images[i].soname);
    return false;
  }
  return true;
}

static bool tf_symbols_find(TensorFlow *t, const Image images[N_TF_IMAGES], char *problem,
                            size_t problem_size) {
  const char *missing = NULL;
#define SYM(need, image, result, field, symbol, parameters)                                        \
  image_field(&images[image], symbol, need, &t->field, &missing);
#include "tf_syms.def"
  t->image = images[IMAGE_TF_CC].handle;
  if (missing)
    snprintf(problem, problem_size, "the TensorFlow that is loaded has no symbol %s", missing);
  return !missing;
}

static bool tf_version_fits(const TensorFlow *t, PyObject *module, char *problem,
                            size_t problem_size) {
  PyObject *version = PyObject_GetAttrString(module, "__version__");
  const char *text = version && PyUnicode_Check(version) ? PyUnicode_AsUTF8(version) : NULL;
  PyErr_Clear();
  bool fits = text && strcmp(text, TF_NEEDED_VERSION) == 0;
  if (fits && t)
    fits = strcmp(text = t->version(), TF_NEEDED_VERSION) == 0;
  if (!fits)
    snprintf(problem, problem_size,
             "TensorFlow %.40s is loaded, but " TF_NEEDED_VERSION " is needed",
             text ? text : "without a version");
  Py_XDECREF(version);
  return fits;
}

static bool tf_host_fits(char *problem, size_t problem_size) {
  struct utsname host;
  const char *machine = uname(&host) == 0 ? host.machine : "an unknown machine";
  bool known = strcmp(machine, "x86_64") == 0 || strcmp(machine, "aarch64") == 0 ||
               strcmp(machine, "arm64") == 0;
  if (known && Py_Version >> 16 == PY_VERSION_HEX >> 16)
    return true;
  snprintf(problem, problem_size,
           "compiled for CPython %d.%d on x86-64 or arm64, and this is CPython %lu.%lu on %.40s",
           PY_MAJOR_VERSION, PY_MINOR_VERSION, Py_Version >> 24, Py_Version >> 16 & 0xff, machine);
  return false;
}

/* ── layouts ─────────────────────────────────────────────────────────────────────────────────── */

/* The only word from `first` on that holds the object; 0: none, or several. */
static int word_with(void *const *words, int first, int n, const PyObject *object) {
  int found = 0;
  for (int i = first; i < n; i++) {
    if (words[i] != object)
      continue;
    if (found)
      return 0;
    found = i;
  }
  return found;
}

/* The word of this thread's data behind an attribute of its Python view: where `probe` appears when
 * it is set. */
static int thread_word(void *const *words, PyObject *view, const char *name, PyObject *probe) {
  enum { N_THREAD_WORDS = 7 }; /* sizeof(EagerContextThreadLocalData) */
  int word = 0;
  PyObject *before = PyObject_GetAttrString(view, name);
  if (before && probe && PyObject_SetAttrString(view, name, probe) == 0) {
    word = word_with(words, 1, N_THREAD_WORDS, probe);
    if (PyObject_SetAttrString(view, name, before) != 0)
      word = 0;
  }
  PyErr_Clear();
  Py_XDECREF(before);
  return word;
}

static bool thread_is_eager(void *const *words) { return *(const unsigned char *)words != 0; }

/* Whether the first byte of the thread's data is is_eager. */
static bool eager_byte_follows(void *const *words, PyObject *view) {
  PyObject *before = PyObject_GetAttrString(view, "is_eager");
  bool follows = before != NULL;
  PyObject *const values[] = {Py_False, Py_True};
  for (int i = 0; i < 2 && follows; i++)
    follows = PyObject_SetAttrString(view, "is_eager", values[i]) == 0 &&
              thread_is_eager(words) == (i == 1);
  if (before && PyObject_SetAttrString(view, "is_eager", before) != 0)
    follows = false;
  PyErr_Clear();
  Py_XDECREF(before);
  return follows;
}

/* The handle's tensor; NULL: it is not to be read like that. Only after its device was found to be
 * CPU:0. */
static inline const TfLayout *tf_layout_of(const TensorFlow *t, const TfHandle *handle) {
  const TfLayout *layout = NULL;
  if (!t->get_tensor || t->get_tensor(handle, &layout).words[0] != 1)
    return NULL;
  return layout && layout->width <= 1 && layout->rank <= 3 ? layout : NULL;
}

static inline int64_t layout_size(const TfLayout *layout, int dim) {
  return layout->width == 0 ? layout->sizes.narrow[dim] : layout->sizes.wide[dim];
}

/* Whether a tensor of these sizes reads as the C API says. */
static bool layout_follows(const TensorFlow *t, int dtype, size_t item_bytes, const int64_t *sizes,
                           int rank, TfStatus *status) {
  size_t bytes = item_bytes;
  for (int i = 0; i < rank; i++)
    bytes *= (size_t)sizes[i];
  TfTensor *tensor = t->new_tensor(dtype, sizes, rank, bytes);
  TfHandle *handle = tensor ? t->new_handle(tensor, status) : NULL;
  const TfLayout *layout = handle ? tf_layout_of(t, handle) : NULL;
  bool follows = layout && layout->dtype == dtype && layout->rank == rank &&
                 layout->n_elems == t->get_numel(handle, status);
  for (int i = 0; i < rank && follows; i++)
    follows = layout_size(layout, i) == sizes[i];
  if (follows)
    follows = (layout->memory ? layout->memory->data : NULL) == t->get_data(handle, status);
  if (handle)
    t->delete_handle(handle);
  if (tensor)
    t->delete_tensor(tensor);
  return follows;
}

/* Forgets get_tensor unless what it gives is laid out as TfLayout says. */
static void tf_layout_probe(TensorFlow *t, TfStatus *status) {
  static const int64_t probes[][3] = {
      {5, 7, 1}, {65537, 3, 1}, {65534, 1, 1}, {0, 4, 1}, {3, 1, 2}};
  for (size_t i = 0; i < sizeof probes / sizeof *probes && t->get_tensor; i++)
    for (int rank = 1; rank <= 3; rank++)
      if (!layout_follows(t, TF_F32, 4, probes[i], rank, status) ||
          !layout_follows(t, TF_I64, 8, probes[i], rank, status))
        t->get_tensor = NULL;
}

static bool tf_layouts_find(TensorFlow *t, const TfContext *context, char *problem,
                            size_t problem_size) {
  PyObject *view = PyObject_GetAttrString(context->context, "_thread_local_data");
  PyObject *scope = PyUnicode_FromString("tensorc probe"), *callbacks = PyList_New(0);
  PyObject *object = NULL;
  TfStatus *status = t->new_status();
  void **words = t->thread_words(context->context);
  if (view && words && eager_byte_follows(words, view)) {
    t->device_word = thread_word(words, view, "device_name", scope);
    t->callbacks_word = thread_word(words, view, "op_callbacks", callbacks);
  }
  TfHandle *handle = t->share_handle(context->swap, status);
  if (handle)
    object = t->wrap(handle, false);
  if (object && t->is_eager_tensor(object) && t->object_handle(object) == handle)
    t->context_word =
        word_with((void **)object, 2, (int)(Py_TYPE(object)->tp_basicsize / (int)sizeof(void *)),
                  context->context);
  PyErr_Clear();
  tf_layout_probe(t, status);
  t->delete_status(status);
  Py_XDECREF(view);
  Py_XDECREF(scope);
  Py_XDECREF(callbacks);
  Py_XDECREF(object);
  if (t->device_word && t->callbacks_word && t->context_word)
    return true;
  snprintf(problem, problem_size, "the TensorFlow that is loaded has another layout of %s",
           t->device_word && t->callbacks_word ? "EagerTensor" : "EagerContextThreadLocalData");
  return false;
}

/* ── the context ─────────────────────────────────────────────────────────────────────────────── */

/* An int32 constant on the host. rank 0: values[0]. NULL: no memory. */
static TfHandle *tf_constant(const TensorFlow *t, const int32_t *values, int64_t n, int rank,
                             TfStatus *status) {
  TfTensor *tensor = t->new_tensor(TF_I32, &n, rank, (size_t)n * sizeof *values);
  if (!tensor)
    return NULL;
  memcpy(t->tensor_data(tensor), values, (size_t)n * sizeof *values);
  TfHandle *handle = t->new_handle(tensor, status);
  t->delete_tensor(tensor);
  return handle;
}

/* How many threads a kernel may use: TensorFlow's setting, or its variable, or every CPU that the
 * process may run on. The last two may have been others when TensorFlow looked, so they never count
 * as one thread, with which more sizes are exact. */
static int tf_thread_count(PyObject *context) {
  PyObject *setting = PyObject_GetAttrString(context, "intra_op_parallelism_threads");
  const char *variable = getenv("TF_NUM_INTRAOP_THREADS");
  long n = setting ? PyLong_AsLong(setting) : 0;
  PyErr_Clear();
  Py_XDECREF(setting);
  if (n > 0)
    return (int)n;
  n = variable ? strtol(variable, NULL, 10) : 0;
  if (n <= 0)
    n = count_cpus();
  return n < 2 ? 2 : n > INT_MAX ? INT_MAX : (int)n;
}

static void tf_context_free(const TensorFlow *t, TfContext *context) {
  TfHandle *handles[] = {context->axis[0], context->axis[1], context->swap};
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
    if (handles[i])
      t->delete_handle(handles[i]);
  Py_XDECREF(context->context);
  Py_XDECREF(context->attributes);
  Py_XDECREF(context->capsule);
  free(context);
}

/* Python's context, initialized, as ours. NULL: an exception is set, or problem tells. */
static TfContext *tf_context_new(const TensorFlow *t, char *problem, size_t problem_size) {
  static const int32_t numbers[] = {0, 1, 0};
  TfContext *made = calloc(1, sizeof *made);
  PyObject *module = PyImport_ImportModule("tensorflow.python.eager.context");
  PyObject *done = NULL, *is_async = NULL, *gpus = NULL;
  TfStatus *status = t->new_status();
  bool ok = false;
  if (!made || !module)
    goto done;
  if (!(made->context = PyObject_CallMethod(module, "context", NULL)))
    goto done;
  if (!(done = PyObject_CallMethod(made->context, "ensure_initialized", NULL)))
    goto done;
  if (!(is_async = PyObject_CallMethod(made->context, "is_async", NULL)))
    goto done;
  if (!(gpus = PyObject_CallMethod(made->context, "num_gpus", NULL)))
    goto done;
  if (!(made->attributes = PyObject_GetAttrString(made->context, "__dict__")))
    goto done;
  if (!(made->capsule = PyObject_GetAttrString(made->context, "_handle")))
    goto done;
  if (!PyDict_Check(made->attributes) ||
      PyDict_GetItem(made->attributes, t->handle_name) != made->capsule) {
    snprintf(problem, problem_size,
             "this build of TensorFlow " TF_NEEDED_VERSION
             " keeps its eager context elsewhere than the one on PyPI");
    goto done;
  }
  if (is_async == Py_True) {
    snprintf(problem, problem_size, "TensorFlow's eager context is asynchronous");
    goto done;
  }
  if (!(made->eager = PyCapsule_GetPointer(made->capsule, NULL)))
    goto done;
  made->axis[0] = tf_constant(t, numbers, 1, 0, status);
  made->axis[1] = tf_constant(t, numbers + 1, 1, 0, status);
  made->swap = tf_constant(t, numbers + 1, 2, 1, status);
  if (!made->axis[0] || !made->axis[1] || !made->swap) {
    PyErr_NoMemory();
    goto done;
  }
  made->cpu = t->get_device(made->swap, status);
  static const char suffix[] = "/device:CPU:0";
  size_t length = made->cpu ? strlen(made->cpu) : 0;
  if (length < sizeof suffix - 1 || strcmp(made->cpu + length - (sizeof suffix - 1), suffix) != 0) {
    snprintf(problem, problem_size, "TensorFlow's eager context has no CPU:0");
    goto done;
  }
  made->place = PyLong_Check(gpus) && PyLong_AsLong(gpus) > 0 ? made->cpu : NULL;
  made->n_threads = tf_thread_count(made->context);
  ok = true;
done:
  t->delete_status(status);
  Py_XDECREF(module);
  Py_XDECREF(done);
  Py_XDECREF(is_async);
  Py_XDECREF(gpus);
  if (!ok && made)
    tf_context_free(t, made);
  return ok ? made : NULL;
}

static inline bool tf_context_is_current(const TfContext *context) {
  PyObject *now = tf.python_context();
  Py_XDECREF(now); /* TensorFlow holds it */
  return now == context->context &&
         PyDict_GetItemWithError(context->attributes, tf.handle_name) == context->capsule;
}

/* ── threads ─────────────────────────────────────────────────────────────────────────────────── */

static void tf_thread_free(TfThread *thread) {
  if (!thread)
    return;
  if (thread->op)
    tf.delete_op(thread->op);
  if (thread->status)
    tf.delete_status(thread->status);
  free(thread);
}

/* Makes the calling thread ready for operations in the current context. NULL, or why it is not; no
 * exception. */
static const char *tf_thread_enter(Thread *calling) {
  TfThread *thread = calling->tf;
  if (thread && thread->context == tf_context && thread->op)
    return NULL;
  if (!thread) {
    if (!(thread = calloc(1, sizeof *thread)))
      return "there is no memory";
    thread->status = tf.new_status();
    calling->tf = thread;
    pthread_setspecific(thread_key, calling);
  }
  if (thread->op)
    tf.delete_op(thread->op);
  thread->context = tf_context;
  thread->op = tf.new_op(tf_context->eager, "NoOp", thread->status);
  if (thread->op)
    return NULL;
  tf.set_status(thread->status, 0, "");
  return "TensorFlow makes no operation";
}

/* ── the whole ───────────────────────────────────────────────────────────────────────────────── */

/* Fills t but for its layouts. False: an exception is set, or problem tells what is missing. */
static bool tf_find(TensorFlow *t, char *problem, size_t problem_size) {
  Image images[N_TF_IMAGES] = {
      [IMAGE_TF_CC] = {"libtensorflow_cc.so.2", NULL, NULL},
      [IMAGE_TF_FRAMEWORK] = {"libtensorflow_framework.so.2", NULL, NULL},
      [IMAGE_TF_PYTHON] = {"python/lib_pywrap_tensorflow_common.so", NULL, NULL},
  };
  PyObject *file = NULL, *module = NULL;
  bool ok = false;
  if (!tf_host_fits(problem, problem_size) || !(module = PyImport_ImportModule("tensorflow")))
    goto done;
  if (!tf_version_fits(NULL, module, problem, problem_size)) /* before a symbol is looked for */
    goto done;
  if (!(file = PyObject_GetAttrString(module, "__file__")))
    goto done;
  const char *path = PyUnicode_Check(file) ? PyUnicode_AsUTF8(file) : NULL;
  const char *slash = path ? strrchr(path, '/') : NULL;
  char root[PATH_MAX] = "";
  if (slash && slash - path < (long)sizeof root)
    memcpy(root, path, (size_t)(slash - path));
  ok = tf_images_find(root, images, problem, problem_size) &&
       tf_symbols_find(t, images, problem, problem_size) &&
       tf_version_fits(t, module, problem, problem_size) &&
       (t->handle_name = PyUnicode_InternFromString("_context_handle")) != NULL;
done:
  Py_XDECREF(file);
  Py_XDECREF(module);
  return ok;
}

/* Why a search failed, into tf_problem. False: an exception that goes straight to the caller is
 * set. */
static bool tf_note_problem(char *problem, size_t problem_size) {
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_Exception))
      return false;
    take_exception("TensorFlow", problem, problem_size);
  }
  memcpy(tf_problem, problem, sizeof tf_problem);
  return true;
}

/* At every call of the lane: true when its functions can run, with tf_context current. False
 * without an exception: they can't, and tf_problem says why. False with one: an import was
 * interrupted. */
static bool tf_load(void) {
  char problem[sizeof tf_problem] = "";
  if (tf_context && tf_context_is_current(tf_context))
    return true;
  PyErr_Clear();
  /* Importing may let other threads in, and they may come here as well: the first one counts. */
  if (tf_status == TF_UNKNOWN) {
    TensorFlow found;
    memset(&found, 0, sizeof found);
    bool ok = tf_find(&found, problem, sizeof problem);
    if (tf_status != TF_UNKNOWN) {
      PyErr_Clear();
    } else if (ok) {
      tf = found;
      tf_status = TF_READY;
    } else {
      if (tf_note_problem(problem, sizeof problem))
        tf_status = TF_UNAVAILABLE;
      return false;
    }
  }
  if (tf_status == TF_UNAVAILABLE)
    return false;
  /* The first context, or another one than before. */
  TfContext *context = tf_context_new(&tf, problem, sizeof problem);
  bool known = tf.context_word != 0;
  if (context && !known && !tf_layouts_find(&tf, context, problem, sizeof problem)) {
    tf_context_free(&tf, context);
    if (tf_note_problem(problem, sizeof problem))
      tf_status = TF_UNAVAILABLE; /* another context has the same layouts */
    return false;
  }
  if (!context) {
    tf_note_problem(problem, sizeof problem);
    return false;
  }
  tf_context = context;
  return true;
}
