/* compare.c: mode compare: whether the native result is what Python gave, to the bit.
 *
 * Two tensors are equal when type, dtype, shape, strides and bits are; a NaN equals any NaN. A
 * difference raises RuntimeError with the function, the first index and both values.
 */

static bool raise_difference(const TcFunc *func, const char *what, const char *native,
                             const char *python) {
  PyErr_Format(PyExc_RuntimeError, "tensorc: %s() differs from Python in %s: native %s, Python %s",
               func->qualname, what, native, python);
  return false;
}

static bool raise_object_difference(const TcFunc *func, const char *what, PyObject *native,
                                    PyObject *python) {
  PyErr_Format(PyExc_RuntimeError, "tensorc: %s() differs from Python in %s: native %R, Python %R",
               func->qualname, what, native, python);
  return false;
}

/* ── numbers ─────────────────────────────────────────────────────────────────────────────────── */

static bool compare_numbers(const TcFunc *func, PyObject *native, PyObject *python) {
  bool equal;
  if (Py_TYPE(native) != Py_TYPE(python))
    return raise_object_difference(func, "type", native, python);
  if (PyFloat_CheckExact(native)) {
    double a = PyFloat_AS_DOUBLE(native), b = PyFloat_AS_DOUBLE(python);
    equal = (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
  } else {
    int answer = PyObject_RichCompareBool(native, python, Py_EQ);
    if (answer < 0)
      return false;
    equal = answer == 1;
  }
  return equal || raise_object_difference(func, "value", native, python);
}

/* ── tensors ─────────────────────────────────────────────────────────────────────────────────── */

enum { MAX_COMPARED_RANK = 8 };

/* What is compared of a tensor. Sizes and strides are borrowed from it. */
typedef struct TensorView {
  int64_t rank;
  int64_t *sizes, *strides; /* strides in elements */
  int32_t dtype, layout;
  const char *data;
  bool dense; /* has memory that data points to */
} TensorView;

/* sizes, strides: room for the ones of a tensor of TensorFlow. */
static bool view_tf_tensor(PyObject *object, TensorView *view, int64_t *sizes, int64_t *strides) {
  TfStatus *status = thread_state.tf->status;
  TfHandle *handle = tf.object_handle(object);
  memset(view, 0, sizeof *view);
  view->rank = handle ? tf.get_rank(handle, status) : -1;
  if (view->rank < 0 || view->rank > MAX_COMPARED_RANK)
    return false;
  int dtype = tf.get_dtype(handle);
  bool known = dtype == TF_F32 || dtype == TF_I64;
  view->dtype = dtype == TF_F32 ? TC_F32 : dtype == TF_I64 ? TC_I64 : -dtype;
  view->sizes = sizes;
  view->strides = strides;
  for (int64_t i = view->rank - 1, stride = 1; i >= 0; i--) {
    sizes[i] = tf.get_dim(handle, (int)i, status);
    strides[i] = stride;
    stride *= sizes[i];
  }
  const char *device = tf.get_device(handle, status);
  view->dense = known && device && tf_device_is(tf_context, device, TC_CPU);
  view->data = view->dense ? tf.get_data(handle, status) : NULL;
  tf.set_status(status, 0, "");
  return true;
}

static bool view_tensor(H handle, TensorView *view) {
  void *data = NULL;
  memset(view, 0, sizeof *view);
  if (torch.get_rank(handle, &view->rank) != 0 || torch.get_dtype(handle, &view->dtype) != 0 ||
      torch.get_layout(handle, &view->layout) != 0 || torch.get_sizes(handle, &view->sizes) != 0)
    return false;
  view->dense = view->rank <= MAX_COMPARED_RANK && is_plain(handle) &&
                torch.get_strides(handle, &view->strides) == 0 &&
                torch.get_data(handle, &data) == 0;
  view->data = data;
  return true;
}

/* Bytes of an element, and what makes it a NaN: all bits of `exponent` set, and more below. 0
 * bytes: not compared. */
typedef struct ElementFormat {
  size_t bytes;
  uint64_t exponent, fraction;
} ElementFormat;

static ElementFormat element_format(int32_t dtype) {
  switch (dtype) {
  case 5: /* float16 */
    return (ElementFormat){2, 0x7c00, 0x03ff};
  case TC_F32:
    return (ElementFormat){4, 0x7f800000, 0x007fffff};
  case 7: /* float64 */
    return (ElementFormat){8, 0x7ff0000000000000, 0x000fffffffffffff};
  case 15: /* bfloat16 */
    return (ElementFormat){2, 0x7f80, 0x007f};
  case TC_I64:
    return (ElementFormat){8, 0, 0};
  default:
    return (ElementFormat){0, 0, 0};
  }
}

static uint64_t read_element(const TensorView *view, const int64_t *index, size_t bytes) {
  int64_t offset = 0;
  uint64_t value = 0;
  for (int64_t i = 0; i < view->rank; i++)
    offset += index[i] * view->strides[i];
  memcpy(&value, view->data + offset * (int64_t)bytes,
         bytes); /* little endian, as every target of ours */
  return value;
}

static bool same_element(uint64_t a, uint64_t b, const ElementFormat *format) {
  if (a == b)
    return true;
  if (format->exponent == 0)
    return false;
  bool a_nan = (a & format->exponent) == format->exponent && (a & format->fraction) != 0;
  bool b_nan = (b & format->exponent) == format->exponent && (b & format->fraction) != 0;
  return a_nan && b_nan;
}

static void print_element(char *text, size_t size, int32_t dtype, uint64_t bits) {
  float single;
  double wide;
  switch (dtype) {
  case TC_F32:
    memcpy(&single, &bits, sizeof single);
    snprintf(text, size, "%.9g (0x%08llx)", (double)single, (unsigned long long)bits);
    return;
  case 7:
    memcpy(&wide, &bits, sizeof wide);
    snprintf(text, size, "%.17g (0x%016llx)", wide, (unsigned long long)bits);
    return;
  case TC_I64:
    snprintf(text, size, "%lld", (long long)bits);
    return;
  default:
    snprintf(text, size, "0x%llx", (unsigned long long)bits);
  }
}

static bool compare_elements(const TcFunc *func, const TensorView *native,
                             const TensorView *python) {
  ElementFormat format = element_format(native->dtype);
  int64_t index[MAX_COMPARED_RANK] = {0}, total = 1;
  for (int64_t i = 0; i < native->rank; i++)
    total *= native->sizes[i];
  if (format.bytes == 0)
    return true;
  for (int64_t n = 0; n < total; n++) {
    uint64_t a = read_element(native, index, format.bytes),
             b = read_element(python, index, format.bytes);
    if (!same_element(a, b, &format)) {
      Shape place = {native->rank, index};
      char where[200] = "element ", left[64], right[64];
      shape_print(where + 8, sizeof where - 8, &place);
      print_element(left, sizeof left, native->dtype, a);
      print_element(right, sizeof right, native->dtype, b);
      return raise_difference(func, where, left, right);
    }
    for (int64_t d = native->rank - 1; d >= 0 && ++index[d] == native->sizes[d]; d--)
      index[d] = 0;
  }
  return true;
}

/* "float32", "float32, layout 1". */
static void type_print(char *text, size_t size, const TensorView *view) {
  static const char *const names[] = {"uint8",     "int8",      "int16",      "int32",
                                      "int64",     "float16",   "float32",    "float64",
                                      "complex32", "complex64", "complex128", "bool"};
  const char *name = view->dtype >= 0 && view->dtype < (int32_t)(sizeof names / sizeof *names)
                         ? names[view->dtype]
                     : view->dtype == 15 ? "bfloat16"
                                         : "another dtype";
  if (view->layout == 0)
    snprintf(text, size, "%s", name);
  else
    snprintf(text, size, "%s, layout %d", name, view->layout);
}

static bool compare_views(const TcFunc *func, TensorView a, TensorView b) {
  char left[200], right[200];
  if (a.dtype != b.dtype || a.layout != b.layout) {
    type_print(left, sizeof left, &a);
    type_print(right, sizeof right, &b);
    return raise_difference(func, "dtype", left, right);
  }
  Shape a_shape = {a.rank, a.sizes}, b_shape = {b.rank, b.sizes};
  if (a.rank != b.rank || memcmp(a.sizes, b.sizes, (size_t)a.rank * sizeof *a.sizes) != 0) {
    shape_print(left, sizeof left, &a_shape);
    shape_print(right, sizeof right, &b_shape);
    return raise_difference(func, "shape", left, right);
  }
  if (!a.dense || !b.dense)
    return true; /* batched, sparse …: no elements to read here */
  if (memcmp(a.strides, b.strides, (size_t)a.rank * sizeof *a.strides) != 0) {
    a_shape.sizes = a.strides;
    b_shape.sizes = b.strides;
    shape_print(left, sizeof left, &a_shape);
    shape_print(right, sizeof right, &b_shape);
    return raise_difference(func, "strides", left, right);
  }
  return compare_elements(func, &a, &b);
}

static bool compare_handles(const TcFunc *func, H native, H python) {
  TensorView a, b;
  if (!view_tensor(native, &a) || !view_tensor(python, &b))
    return true; /* no sizes to read: nested, symbolic */
  return compare_views(func, a, b);
}

static bool compare_eager_tensors(const TcFunc *func, PyObject *native, PyObject *python) {
  TensorView a, b;
  int64_t sizes[2][MAX_COMPARED_RANK], strides[2][MAX_COMPARED_RANK];
  return !view_tf_tensor(native, &a, sizes[0], strides[0]) ||
         !view_tf_tensor(python, &b, sizes[1], strides[1]) || compare_views(func, a, b);
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

/* false: an exception tells the difference, or why it could not be looked for. */
static bool compare_results(const TcFunc *func, PyObject *native, PyObject *python) {
  H native_pin = NULL, python_pin = NULL, a, b;
  if (native == python)
    return true;
  if (func->lane == TC_LANE_TENSORFLOW && func->result.kind == TC_TENSOR &&
      tf.is_eager_tensor(native) && tf.is_eager_tensor(python))
    return compare_eager_tensors(func, native, python);
  if (func->result.kind != TC_TENSOR || torch_status != TORCH_READY ||
      !PyObject_TypeCheck(native, torch.tensor) || !PyObject_TypeCheck(python, torch.tensor))
    return compare_numbers(func, native, python);
  if (Py_TYPE(native) != Py_TYPE(python))
    return raise_difference(func, "type", Py_TYPE(native)->tp_name, Py_TYPE(python)->tp_name);
  bool ok = tensor_handle(native, &a, &native_pin) && tensor_handle(python, &b, &python_pin) &&
            compare_handles(func, a, b);
  if (native_pin)
    torch.delete_handle(native_pin);
  if (python_pin)
    torch.delete_handle(python_pin);
  return ok;
}

/* Both raised; the types must be the same, but for op_failed: then the native one only says that an
 * op of TensorFlow did. Steals all references; sets Python's exception, or the difference. */
static void compare_exceptions(const TcFunc *func, bool op_failed, PyObject *native[3],
                               PyObject *python[3]) {
  if (native[0] == python[0] || op_failed) {
    PyErr_Restore(python[0], python[1], python[2]);
  } else {
    PyErr_NormalizeException(&native[0], &native[1], &native[2]);
    PyErr_NormalizeException(&python[0], &python[1], &python[2]);
    raise_object_difference(func, "its exception", native[1] ? native[1] : native[0],
                            python[1] ? python[1] : python[0]);
    for (int i = 0; i < 3; i++)
      Py_XDECREF(python[i]);
  }
  for (int i = 0; i < 3; i++)
    Py_XDECREF(native[i]);
}
