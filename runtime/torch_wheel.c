/* torch_wheel.c: finds the torch wheel in the process and learns what the rest of the runtime
 * relies on.
 *
 * Reads sys.modules (imports torch if nobody has), the loaded images, and a few tensors made for
 * the purpose. Leaves `torch` filled, or a reason why this process can't run functions of the torch
 * lane natively. Nothing is linked against torch and no path is built in, so one extension works
 * with every wheel that still exports torch_syms.def.
 */

typedef void *H; /* a tensor handle: at::Tensor *, whose first word is the TensorImpl */

typedef enum { IMAGE_C10, IMAGE_CPU, IMAGE_PYTHON, N_IMAGES } ImageId;

/* A std::string of libstdc++ that holds its short text itself. */
typedef struct StdString {
  const char *text;
  size_t n;
  char own[16];
} StdString;

enum {
  /* Of the at::Tensor in a Tensor object, in bytes: right behind the object head. */
  HANDLE_OFFSET = sizeof(PyObject),
  STORAGE_WORD = 2, /* of a TensorImpl: its StorageImpl */
  DATA_WORD = 2,    /* of a StorageImpl: its memory */
  META_WORD =
      3, /* of a TensorImpl: its autograd metadata, NULL for a tensor that never met autograd */
  COUNT_WORD = 1, /* of a TensorImpl: the references to it, in the low 32 bits */
  FIRST_KEY_WORD =
      16, /* where the dispatch key set of a TensorImpl is looked for, in 8-byte words */
  FIRST_SHAPE_WORD = 5, /* where its rank is looked for, which sizes and strides follow */
  N_SHAPE_WORDS = 6,
  N_INLINE_DIMS = 5, /* sizes that it holds itself, and then as many strides */
  N_KEY_WORDS = 7,   /* it is the last word of a TensorImpl: of 23 in 2.11, of 22 in 2.15 */
};

typedef struct Torch {
#define SYM(need, image, result, field, symbol, parameters) result(*field) parameters;
#include "torch_syms.def"
  void *c10;      /* handle of libc10, for the words of a new thread */
  void *cpu;      /* handle of libtorch_cpu */
  int *log_level; /* FLAGS_caffe2_log_level, or NULL */
  void *(*new_bytes)(
      size_t);          /* C++ operator new: optionals are boxed in it where new_box is missing */
  PyTypeObject *tensor; /* torch.Tensor */
  PyTypeObject *parameter; /* torch.nn.Parameter */
  PyObject *functions;  /* torch._C._VariableFunctions: the builtins behind torch.relu and so on */
  PyObject *nn;         /* torch._C._nn: linear, gelu */
  PyObject *c_module;   /* torch._C */
  PyObject *functorch;  /* torch._C._functorch, or NULL */
  PyObject *forward_ad; /* dict of torch.autograd.forward_ad */
  PyObject *current_level;     /* "_current_level", a key of it */
  uint64_t inference_state[2]; /* the dispatch key words of a thread inside torch.inference_mode();
                                  the plain pair is 0, 0 */
  uint64_t plain_keys;         /* key set of an ordinary dense CPU tensor */
  uint64_t inference_keys;     /* the same for one made in inference mode */
  int key_word;   /* word of a TensorImpl that holds its key set; 0: not found, nothing counts as
                     plain */
  int shape_word; /* word of a plain TensorImpl that holds its rank; 0: not found, the shim is asked
                   */
  bool has_meta;  /* META_WORD holds */
  int offset_word;    /* word of a plain TensorImpl that holds its storage offset, in elements, and
                         STORAGE_WORD and DATA_WORD hold; 0: not so, the shim is asked for data */
  int dtype_word;     /* word of a plain TensorImpl whose low 16 bits are its dtype's code; 0: not
                         found, the shim is asked */
  bool has_count;     /* COUNT_WORD holds */
  bool inline_handle; /* HANDLE_OFFSET holds for tensors, parameters and views */
  /* torch's own numbers for the precision of matmuls on the CPU: at::Float32Backend and so on. */
  bool has_precision;
  int32_t mkldnn_backend, matmul_op, ieee_precision, no_precision;
} Torch;

/* Written once, under the GIL, before torch_status becomes READY. */
static Torch torch;
static enum { TORCH_UNKNOWN, TORCH_READY, TORCH_UNAVAILABLE } torch_status;
static char torch_problem[256]; /* why it is unavailable */

/* ── what is one for the whole process ───────────────────────────────────────────────────────── */

/* A failing shim call prints a C++ backtrace unless torch's log level is above ERROR. All modules
 * of ours share the count, so that the last one out restores what the first one found. Guarded by
 * the GIL. */
typedef struct TorchShared {
  int silent;          /* bodies in progress */
  int log_level;       /* that the first of them found */
  bool survives_forks; /* a handler is registered */
} TorchShared;
static TorchShared *torch_shared;
#define TORCH_SHARED_KEY "tensorc.runtime.torch.2"

/* What was in progress on other threads did not come along into the child. */
static void torch_after_fork(void) {
  if (torch_shared->silent > 0 && torch.log_level)
    *torch.log_level = torch_shared->log_level;
  torch_shared->silent = 0;
}

static bool torch_shared_find(void) {
  TorchShared *found = shared_find(TORCH_SHARED_KEY, sizeof *found);
  if (!found)
    return false;
  torch_shared = found;
  if (!found->survives_forks)
    found->survives_forks = pthread_atfork(NULL, NULL, torch_after_fork) == 0;
  return true;
}

static inline void log_silence_enter(void) {
  if (!torch.log_level || torch_shared->silent++ > 0)
    return;
  torch_shared->log_level = *torch.log_level;
  *torch.log_level = 3; /* FATAL */
}

static inline void log_silence_leave(void) {
  if (torch.log_level && torch_shared->silent > 0 && --torch_shared->silent == 0)
    *torch.log_level = torch_shared->log_level;
}

/* ── symbols ─────────────────────────────────────────────────────────────────────────────────── */

/* A thread-local symbol, in the calling thread: it lies in no image, so there is no owner to
 * confirm. */
static uint64_t *dispatch_key_words(void *c10) {
  return dlsym(c10, "_ZN3c104impl26raw_local_dispatch_key_setE");
}

static bool torch_symbols_find(Torch *t, const Image images[N_IMAGES], char *problem,
                               size_t problem_size) {
  const char *missing = NULL;
#define SYM(need, image, result, field, symbol, parameters)                                        \
  image_field(&images[image], symbol, need, &t->field, &missing);
#include "torch_syms.def"
  if (!t->wrap && !t->to_object && !missing)
    missing = "torch_tensor_to_pyobject";
  t->c10 = images[IMAGE_C10].handle;
  t->cpu = images[IMAGE_CPU].handle;
  if (!dispatch_key_words(t->c10) && !missing)
    missing = "raw_local_dispatch_key_set";
  t->log_level = image_symbol(&images[IMAGE_C10], "FLAGS_caffe2_log_level");
  /* What torch's own `delete` belongs to: a preloaded allocator, or the libstdc++ that torch
   * brought along. */
  void *address = dlsym(RTLD_DEFAULT, "_Znwm");
  if (!address)
    address = dlsym(images[IMAGE_CPU].handle, "_Znwm");
  memcpy(&t->new_bytes, &address, sizeof t->new_bytes);
  if (!t->new_box && !t->new_bytes && !missing)
    missing = "torch_new_stable_ivalue";
  if (missing)
    snprintf(problem, problem_size, "the torch that is loaded has no symbol %s", missing);
  return !missing;
}

/* ── Python objects ──────────────────────────────────────────────────────────────────────────── */

/* A new reference to root.a.b.c. */
static PyObject *attribute_path(PyObject *root, const char *dotted) {
  PyObject *object = root;
  Py_INCREF(object);
  while (object && *dotted) {
    size_t n = strcspn(dotted, ".");
    PyObject *name = PyUnicode_FromStringAndSize(dotted, (Py_ssize_t)n);
    PyObject *next = name ? PyObject_GetAttr(object, name) : NULL;
    Py_XDECREF(name);
    Py_DECREF(object);
    object = next;
    dotted += n + (dotted[n] == '.');
  }
  return object;
}

static bool torch_objects_find(Torch *t, PyObject *module) {
  PyObject *forward_ad = NULL;
  bool ok = false;
  if (!(t->tensor = (PyTypeObject *)attribute_path(module, "Tensor")))
    goto done;
  if (!(t->parameter = (PyTypeObject *)attribute_path(module, "nn.Parameter")))
    goto done;
  if (!(t->c_module = attribute_path(module, "_C")))
    goto done;
  if (!(t->functions = attribute_path(module, "_C._VariableFunctions")))
    goto done;
  if (!(t->nn = attribute_path(module, "_C._nn")))
    goto done;
  if (!(forward_ad = attribute_path(module, "autograd.forward_ad")))
    goto done;
  if (!(t->forward_ad = PyObject_GetAttrString(forward_ad, "__dict__")))
    goto done;
  if (!(t->current_level = PyUnicode_InternFromString("_current_level")))
    goto done;
  if (!(t->functorch = attribute_path(module, "_C._functorch")))
    PyErr_Clear();
  ok = PyType_Check(t->tensor) && PyType_Check(t->parameter) && PyDict_Check(t->forward_ad);
  if (!ok)
    PyErr_SetString(PyExc_TypeError, "torch has other types than expected");
done:
  Py_XDECREF(forward_ad);
  return ok;
}

static void torch_objects_drop(Torch *t) {
  Py_CLEAR(t->tensor);
  Py_CLEAR(t->parameter);
  Py_CLEAR(t->functions);
  Py_CLEAR(t->nn);
  Py_CLEAR(t->c_module);
  Py_CLEAR(t->functorch);
  Py_CLEAR(t->forward_ad);
  Py_CLEAR(t->current_level);
}

/* ── probes ──────────────────────────────────────────────────────────────────────────────────── */

static PyObject *wrap_handle(const Torch *t, H handle) {
  if (!t->to_object)
    return t->wrap(handle);
  void *object = NULL;
  return t->to_object(handle, NULL, &object) == 0 ? object : NULL;
}

static const uint64_t *impl_words(H handle) { return *(uint64_t *const *)handle; }

/* Whether the object's own at::Tensor lies where we think, by what torch says about the same
 * object. */
static bool handle_is_inline(PyObject *object) {
  if (Py_TYPE(object)->tp_basicsize < HANDLE_OFFSET + (Py_ssize_t)sizeof(void *))
    return false;
  PyObject *address = PyObject_GetAttrString(object, "_cdata");
  void *impl = address ? PyLong_AsVoidPtr(address) : NULL;
  Py_XDECREF(address);
  PyErr_Clear();
  return impl && impl == *(void **)((char *)object + HANDLE_OFFSET);
}

static bool is_one_bit(uint64_t word) { return word != 0 && (word & (word - 1)) == 0; }

/* The key set is the first word in which a negative view and a zero tensor each differ from a plain
 * tensor by one bit. Nothing is read behind it, for there the object may end. */
static int find_key_word(H plain, H negative, H zero) {
  for (int i = FIRST_KEY_WORD; i < FIRST_KEY_WORD + N_KEY_WORDS; i++) {
    uint64_t to_negative = impl_words(plain)[i] ^ impl_words(negative)[i];
    uint64_t to_zero = impl_words(plain)[i] ^ impl_words(zero)[i];
    if (is_one_bit(to_negative) && is_one_bit(to_zero) && to_negative != to_zero)
      return i;
  }
  return 0;
}

static bool has_shape_at(H handle, int word, const int64_t sizes[2], const int64_t strides[2]) {
  const uint64_t *shape = impl_words(handle) + word;
  return shape[0] == 2 && memcmp(shape + 1, sizes, 2 * sizeof *sizes) == 0 &&
         memcmp(shape + 1 + N_INLINE_DIMS, strides, 2 * sizeof *strides) == 0;
}

/* The dtype's code stands behind the storage offset and the number of elements. */
static int find_dtype_word(const Torch *t, int offset_word) {
  static const TcDType dtypes[] = {TC_F32, TC_I64, TC_BOOL8, TC_BF16, TC_U8};
  const int64_t size = 1, stride = 1;
  int word = offset_word + 2;
  bool holds = word < t->key_word;
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes && holds; i++) {
    H handle = NULL;
    if (t->empty_strided(1, &size, &stride, (int32_t)dtypes[i], TC_CPU, 0, &handle) != 0)
      return 0;
    holds = (uint16_t)impl_words(handle)[word] == (uint16_t)dtypes[i];
    t->delete_handle(handle);
  }
  return holds ? word : 0;
}

static const uint64_t dispatcher_version =
    0x020b000000000000; /* the schemas that we know: those of 2.11 */

static bool call_method(PyObject *object, const char *method, const char *format, PyObject *a) {
  PyObject *value = object ? PyObject_CallMethod(object, method, format, a, a, a) : NULL;
  Py_XDECREF(value);
  return value != NULL;
}

/* Whether a tensor's memory is where we think, by what the shim says. */
static bool has_data_at(const Torch *t, H handle, int offset_word, uint64_t offset) {
  void *data = NULL;
  const uint64_t *impl = impl_words(handle),
                 *storage = (const uint64_t *)(uintptr_t)impl[STORAGE_WORD];
  return t->get_data(handle, &data) == 0 && data && impl[offset_word] == offset &&
         storage[DATA_WORD] + offset * sizeof(float) == (uint64_t)(uintptr_t)data;
}

/* MKL looks for the kernel of a vector function at the function's first call. When two threads make
 * that call at once, as torch's do on a big tensor, one of them may run a kernel of low accuracy
 * (pytorch's issue 188792). So one thread makes it, before any body runs. These are the functions
 * that torch calls for ops of ours. */
static bool make_first_calls(const Torch *t, H plain) {
  static const char *const names[] = {"aten::exp", "aten::log", "aten::sqrt", "aten::tanh"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    uint64_t stack[2] = {0};
    H copy;
    if (t->new_handle(plain, &copy) != 0)
      return false;
    stack[0] = (uint64_t)(uintptr_t)copy;
    if (t->call_dispatcher(names[i], "", stack, dispatcher_version) != 0)
      return false;
    t->delete_handle((H)(uintptr_t)stack[0]);
  }
  return true;
}

static int32_t torch_precision(const Torch *t) {
  return t->float32_precision(t->global_context(), t->mkldnn_backend, t->matmul_op) & 0xff;
}

static int32_t number_of(int32_t (*named)(const StdString *), const char *name) {
  StdString text = {.n = strlen(name)};
  text.text = memcpy(text.own, name, text.n + 1);
  return named(&text);
}

/* torch throws for a name or a number that it does not know, which C can't catch: so its Python
 * getter is asked first, and has to say the same as the C++ one. */
static void probe_precision(Torch *t) {
  if (!t->float32_precision || !t->global_context || !t->backend_named || !t->op_named ||
      !t->precision_named)
    return;
  PyObject *answer =
      PyObject_CallMethod(t->c_module, "_get_fp32_precision_getter", "ss", "mkldnn", "matmul");
  const char *now = answer && PyUnicode_Check(answer) ? PyUnicode_AsUTF8(answer) : NULL;
  if (now && strlen(now) < sizeof((StdString *)0)->own) {
    t->mkldnn_backend = number_of(t->backend_named, "mkldnn");
    t->matmul_op = number_of(t->op_named, "matmul");
    t->ieee_precision = number_of(t->precision_named, "ieee") & 0xff;
    t->no_precision = number_of(t->precision_named, "none") & 0xff;
    t->has_precision = torch_precision(t) == (number_of(t->precision_named, now) & 0xff);
  }
  PyErr_Clear();
  Py_XDECREF(answer);
}

/* Makes a few tensors and learns from them. Runs in a thread of its own, because only a new thread
 * is sure to be in the plain state: the first call may happen inside any mode. False: an exception
 * is set. */
static bool torch_probe(Torch *t) {
  const uint64_t *state = dispatch_key_words(t->c10);
  const int64_t sizes[2] = {2, 3}, strides[2] = {3, 1}, view_sizes[2] = {3, 2},
                view_strides[2] = {0, 3};
  H plain = NULL, view = NULL, shifted = NULL, negative = NULL, zero = NULL, inference = NULL;
  PyObject *mode = NULL, *plain_object = NULL, *view_object = NULL, *parameter = NULL;
  bool ok = false;

  if (state[0] != 0 || state[1] != 0)
    goto failed;
  if (t->empty_strided(2, sizes, strides, TC_F32, TC_CPU, 0, &plain) != 0)
    goto failed;
  if (t->reinterpret(plain, 2, view_sizes, view_strides, 0, &view) != 0)
    goto failed;
  plain_object = wrap_handle(t, plain);
  view_object = wrap_handle(t, view);
  if (!plain_object || !view_object)
    goto failed;
  parameter = PyObject_CallMethod((PyObject *)t->tensor, "_make_subclass", "OOO", t->parameter,
                                  plain_object, Py_True);
  if (!parameter)
    goto done;
  t->inline_handle = handle_is_inline(plain_object) && handle_is_inline(view_object) &&
                     handle_is_inline(parameter);
  if (!t->inline_handle && !t->from_object)
    goto failed;
  if (t->requires_grad(impl_words(plain)))
    goto failed;
  if (t->inline_handle && !t->requires_grad(impl_words((char *)parameter + HANDLE_OFFSET)))
    goto failed;
  t->has_meta = t->inline_handle && impl_words(plain)[META_WORD] == 0 &&
                impl_words(view)[META_WORD] == 0 &&
                impl_words((char *)parameter + HANDLE_OFFSET)[META_WORD] != 0;

  if (!make_first_calls(t, plain))
    goto failed;
  probe_precision(t);

  uint64_t stack[5] = {0};
  H copy, list;
  uint64_t count = impl_words(plain)[COUNT_WORD];
  if (t->new_handle(plain, &copy) != 0)
    goto failed;
  t->has_count =
      (uint32_t)impl_words(view)[COUNT_WORD] == 2 && impl_words(plain)[COUNT_WORD] == count + 1;
  stack[0] = (uint64_t)(uintptr_t)copy;
  if (t->call_dispatcher("aten::_neg_view", "", stack, dispatcher_version) == 0)
    negative = (H)(uintptr_t)stack[0];
  if (t->new_list(2, &list) != 0 || t->list_push(list, 2) != 0 || t->list_push(list, 3) != 0)
    goto failed;
  memset(stack, 0, sizeof stack);
  stack[0] = (uint64_t)(uintptr_t)list;
  if (t->call_dispatcher("aten::_efficientzerotensor", "", stack, dispatcher_version) == 0)
    zero = (H)(uintptr_t)stack[0];

  if (!(mode = PyObject_CallMethod(t->c_module, "_InferenceMode", "O", Py_True)))
    goto done;
  if (!call_method(mode, "__enter__", NULL, NULL))
    goto done;
  memcpy(t->inference_state, state, sizeof t->inference_state);
  int32_t failure = t->empty_strided(2, sizes, strides, TC_F32, TC_CPU, 0, &inference);
  if (!call_method(mode, "__exit__", "OOO", Py_None))
    goto done;
  if (failure)
    goto failed;

  for (int i = FIRST_SHAPE_WORD + N_SHAPE_WORDS - 1; i >= FIRST_SHAPE_WORD; i--)
    if (has_shape_at(plain, i, sizes, strides) && has_shape_at(view, i, view_sizes, view_strides))
      t->shape_word = i;
  int offset_word = t->shape_word + 1 + 2 * N_INLINE_DIMS; /* behind sizes and strides */
  if (t->shape_word && t->reinterpret(plain, 1, view_sizes + 1, strides + 1, 4, &shifted) == 0 &&
      has_data_at(t, plain, offset_word, 0) && has_data_at(t, shifted, offset_word, 4))
    t->offset_word = offset_word;
  if (negative && zero)
    t->key_word = find_key_word(plain, negative, zero);
  if (t->key_word) {
    t->plain_keys = impl_words(plain)[t->key_word];
    t->inference_keys = impl_words(inference)[t->key_word];
    /* A view is as plain as its base, and inference mode takes bits away. */
    if (impl_words(view)[t->key_word] != t->plain_keys || (t->inference_keys & ~t->plain_keys) != 0)
      t->key_word = 0;
  }
  if (t->key_word && t->offset_word)
    t->dtype_word = find_dtype_word(t, t->offset_word);
  ok = true;
  goto done;

failed:
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, "its tensors are not laid out as expected");
done:;
  H handles[] = {plain, view, shifted, negative, zero, inference};
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
    if (handles[i])
      t->delete_handle(handles[i]);
  Py_XDECREF(mode);
  Py_XDECREF(plain_object);
  Py_XDECREF(view_object);
  Py_XDECREF(parameter);
  return ok;
}

typedef struct ProbeJob {
  Torch *torch;
  char *problem;
  size_t problem_size;
  bool ok;
} ProbeJob;

static void *probe_thread(void *argument) {
  ProbeJob *job = argument;
  PyGILState_STATE state = PyGILState_Ensure();
  job->ok = torch_probe(job->torch);
  if (!job->ok)
    take_exception("torch", job->problem, job->problem_size);
  PyGILState_Release(state);
  return NULL;
}

static bool probe_in_thread(Torch *t, char *problem, size_t problem_size) {
  ProbeJob job = {t, problem, problem_size, false};
  pthread_t thread;
  int failure;
  Py_BEGIN_ALLOW_THREADS failure = pthread_create(&thread, NULL, probe_thread, &job);
  if (!failure)
    pthread_join(thread, NULL);
  Py_END_ALLOW_THREADS if (failure)
      snprintf(problem, problem_size, "no thread to examine torch in");
  return job.ok;
}

/* ── the whole ───────────────────────────────────────────────────────────────────────────────── */

/* Fills t; false: a Python exception is set, or problem tells what is missing. */
static bool torch_find(Torch *t, char *problem, size_t problem_size) {
  Image images[N_IMAGES] = {
      [IMAGE_C10] = {"libc10.so", NULL, NULL},
      [IMAGE_CPU] = {"libtorch_cpu.so", NULL, NULL},
      [IMAGE_PYTHON] = {"libtorch_python.so", NULL, NULL},
  };
  PyObject *file = NULL, *module = PyImport_ImportModule("torch");
  bool ok = false;
  if (!module)
    goto done;
  file = PyObject_GetAttrString(module, "__file__");
  const char *path = file && PyUnicode_Check(file) ? PyUnicode_AsUTF8(file) : NULL;
  PyErr_Clear();
  char lib[4000] = "";
  const char *slash = path ? strrchr(path, '/') : NULL;
  if (slash)
    snprintf(lib, sizeof lib, "%.*s/lib", (int)(slash - path), path);
  for (int i = 0; i < N_IMAGES; i++) {
    if (image_find(&images[i], slash ? lib : NULL))
      continue;
    snprintf(problem, problem_size, "torch is imported, but %s is not loaded", images[i].soname);
    goto done;
  }
  ok = torch_symbols_find(t, images, problem, problem_size) && torch_objects_find(t, module) &&
       torch_shared_find() && probe_in_thread(t, problem, problem_size);
done:
  if (!ok)
    torch_objects_drop(t);
  Py_XDECREF(file);
  Py_XDECREF(module);
  return ok;
}

/* At a thread's every call: true when functions of the torch lane can run. False without an
 * exception: they can't, and torch_problem says why. False with one: an import was interrupted
 * (KeyboardInterrupt and the like). */
static bool torch_load(void) {
  if (torch_status == TORCH_READY)
    return true;
  if (torch_status == TORCH_UNAVAILABLE)
    return false;
  /* Importing may let other threads in, and they may come here as well: each fills its own, the
   * first one counts. */
  Torch found;
  char problem[sizeof torch_problem] = "";
  memset(&found, 0, sizeof found);
  bool ok = torch_find(&found, problem, sizeof problem);
  if (!ok && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_Exception))
      return false;
    take_exception("torch", problem, sizeof problem);
  }
  if (torch_status != TORCH_UNKNOWN) {
    if (ok)
      torch_objects_drop(&found);
    return torch_status == TORCH_READY;
  }
  if (ok) {
    torch = found;
    torch_status = TORCH_READY;
  } else {
    memcpy(torch_problem, problem, sizeof problem);
    torch_status = TORCH_UNAVAILABLE;
  }
  return ok;
}
