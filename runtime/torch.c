/* torch.c: the ops of the torch lane by the wheel: each is one call of its own kernel.
 *
 * Usually through the dispatcher, which sees autograd, functorch, autocast and modes as eager does.
 * In the plain state (TcCall.plain) a few go to the CPU kernel directly, where that is faster and
 * gives the same bits and strides.
 *
 * Ownership: an operand with `owned` is consumed whatever happens. Errors: sizes that do not fit
 * are found here, before a kernel fails slowly. What else fails sets TcCall.op_failed; the caller
 * then runs the function again with TcCall.replay, where each op is torch's own Python builtin, so
 * that type and text of the exception are eager's.
 */

/* ── handles ─────────────────────────────────────────────────────────────────────────────────── */

static void use_end(TcHandle use) {
  if (use.owned)
    torch.delete_handle(use.handle);
}

/* A handle that the dispatcher may consume; NULL: no memory. */
static H use_own(TcHandle use) {
  H copy = NULL;
  if (use.owned)
    return use.handle;
  return torch.new_handle(use.handle, &copy) == 0 ? copy : NULL;
}

/* ── operands of the dispatcher ──────────────────────────────────────────────────────────────── */

typedef enum {
  ARG_TENSOR,
  ARG_OPT_TENSOR,
  ARG_INT,
  ARG_OPT_INT,
  ARG_LIST,
  ARG_OPT_LIST,
  ARG_BOOL,
  ARG_FLOAT,
  ARG_OPT_FLOAT,
  ARG_TEXT,
  ARG_NO
} ArgKind;

/* A list is one of one int; a float is the bits of a double. ARG_TEXT is for torch's Python
 * function alone, and the last.
 */
typedef struct Arg {
  ArgKind kind;
  TcHandle use;  /* tensors */
  int64_t value; /* the others */
  const char *keyword, *text;
} Arg;

enum { MAX_ARGS = 9 };

static inline Arg tensor_arg(TcHandle use) { return (Arg){.kind = ARG_TENSOR, .use = use}; }
static inline Arg opt_tensor_arg(TcHandle use) { return (Arg){.kind = ARG_OPT_TENSOR, .use = use}; }
static inline Arg number_arg(ArgKind kind, int64_t value) {
  return (Arg){.kind = kind, .value = value};
}

static inline Arg float_arg(ArgKind kind, double number) {
  Arg arg = {.kind = kind};
  memcpy(&arg.value, &number, sizeof number);
  return arg;
}

/* An optional that is there: C++ reads it from memory that C++ frees. NULL: no memory. */
static uint64_t *box(uint64_t value) {
  uint64_t *boxed = NULL;
  if (!torch.new_box)
    boxed = torch.new_bytes(sizeof *boxed);
  else if (torch.new_box(&boxed) != 0)
    return NULL;
  if (boxed)
    *boxed = value;
  return boxed;
}

static bool encode(uint64_t *slot, const Arg *arg) {
  H handle = NULL;
  uint64_t value = (uint64_t)arg->value;
  switch (arg->kind) {
  case ARG_NO:
    *slot = 0;
    return true;
  case ARG_INT:
  case ARG_BOOL:
  case ARG_FLOAT:
    *slot = value;
    return true;
  case ARG_TENSOR:
    handle = use_own(arg->use);
    *slot = (uint64_t)(uintptr_t)handle;
    return handle != NULL;
  case ARG_OPT_TENSOR:
    handle = use_own(arg->use);
    if (!handle)
      return false;
    value = (uint64_t)(uintptr_t)handle;
    break;
  case ARG_LIST:
  case ARG_OPT_LIST:
    if (torch.new_list(1, &handle) != 0 || torch.list_push(handle, value) != 0)
      return false;
    value = (uint64_t)(uintptr_t)handle;
    if (arg->kind == ARG_OPT_LIST)
      break;
    *slot = value;
    return true;
  case ARG_OPT_INT:
  case ARG_OPT_FLOAT:
    break;
  case ARG_TEXT:
    return false;
  }
  *slot = (uint64_t)(uintptr_t)box(value);
  return *slot != 0;
}

/* ── the same op as torch's own Python function ──────────────────────────────────────────────── */

static PyObject *arg_object(const Arg *arg) {
  double number;
  switch (arg->kind) {
  case ARG_TENSOR:
  case ARG_OPT_TENSOR:
    return wrap_handle(&torch, arg->use.handle);
  case ARG_BOOL:
    return PyBool_FromLong(arg->value != 0);
  case ARG_FLOAT:
  case ARG_OPT_FLOAT:
    memcpy(&number, &arg->value, sizeof number);
    return PyFloat_FromDouble(number);
  case ARG_LIST:
    return Py_BuildValue("(L)", (long long)arg->value);
  case ARG_TEXT:
    return PyUnicode_FromString(arg->text);
  case ARG_NO:
    return Py_NewRef(Py_None);
  default:
    return PyLong_FromLongLong(arg->value);
  }
}

/* A new handle of the tensor that an op returned. NULL with an exception. */
static H object_handle(TcCall *tc, PyObject *object) {
  H handle = NULL;
  if (!PyObject_TypeCheck(object, torch.tensor))
    raise_internal(tc, "an op gave no tensor");
  else if (torch.inline_handle) {
    if (torch.new_handle((char *)object + HANDLE_OFFSET, &handle) != 0)
      raise_internal(tc, "no new handle");
  } else if (torch.from_object(object, &handle) != 0) {
    raise_internal(tc, "no handle of a result");
  }
  return handle;
}

/* name: as in aten. Takes the GIL, gives it back when it worked. */
static bool call_builtin(TcCall *tc, TcTensor *out, const char *name, const Arg *args, int n) {
  PyThreadState *released = tc->released;
  gil_take(tc);
  PyObject *objects[MAX_ARGS] = {NULL}, *keywords = NULL, *value = NULL, *function = NULL;
  H handle = NULL;
  int n_objects = 0, n_given = n;
  while (n_given > 0 && args[n_given - 1].kind == ARG_NO)
    n_given--; /* at the end it is the default, elsewhere None */
  for (int i = 0; i < n_given; i++) {
    if (!(objects[n_objects++] = arg_object(&args[i])) ||
        (args[i].keyword && !(keywords = Py_BuildValue("(s)", args[i].keyword))))
      goto done;
  }
  function = PyObject_GetAttrString(torch.functions, name);
  if (!function) { /* linear, gelu */
    PyErr_Clear();
    if (!(function = PyObject_GetAttrString(torch.nn, name)))
      goto done;
  }
  value = PyObject_Vectorcall(function, objects, (size_t)n_objects - (keywords != NULL), keywords);
  if (value)
    handle = object_handle(tc, value);
done:
  for (int i = 0; i < n_objects; i++)
    Py_XDECREF(objects[i]);
  Py_XDECREF(keywords);
  Py_XDECREF(function);
  Py_XDECREF(value);
  for (int i = 0; i < n; i++)
    use_end(args[i].use);
  if (!handle)
    return PyErr_Occurred() ? false : raise_internal(tc, name);
  set(out, handle);
  if (released)
    tc->released = PyEval_SaveThread();
  return true;
}

/* ── calling ─────────────────────────────────────────────────────────────────────────────────── */

static bool kernel_failed(TcCall *tc, const char *name) {
  gil_take(tc);
  /* A Python exception out of a dispatch mode is not the one to raise either: the op is going to
   * run again. */
  PyErr_Clear();
  tc->op_failed = true;
  PyErr_Format(PyExc_RuntimeError, "rextio-torch: %s failed", name);
  return false;
}

/* Through the dispatcher, which leaves its results on the stack. aten: with its namespace. */
static bool dispatch(TcCall *tc, uint64_t stack[MAX_ARGS], const char *aten, const char *overload,
                     const Arg *args, int n) {
  const char *name = aten + sizeof "aten::" - 1;
  for (int i = 0; i < n; i++) {
    if (encode(&stack[i], &args[i]))
      continue;
    /* Out of memory. Operands that were not reached yet are still ours; boxes of a few bytes are
     * lost. */
    for (int k = 0; k < n; k++) {
      if (k < i && args[k].kind == ARG_TENSOR)
        torch.delete_handle((H)(uintptr_t)stack[k]);
      else if (k >= i)
        use_end(args[k].use);
    }
    return kernel_failed(tc, name);
  }
  return torch.call_dispatcher(aten, overload, stack, dispatcher_version) == 0 ||
         kernel_failed(tc, name);
}

static bool torch_call(TcCall *tc, TcTensor *out, const char *aten, const char *overload,
                       const Arg *args, int n) {
  uint64_t stack[MAX_ARGS];
  const char *name = aten + sizeof "aten::" - 1;
  for (int i = 0; i < n; i++)
    if (args[i].kind <= ARG_OPT_TENSOR && !args[i].use.handle)
      return raise_internal(tc, name);
  if (tc->replay)
    return call_builtin(tc, out, name, args, n);
  if (!dispatch(tc, stack, aten, overload, args, n))
    return false;
  set(out, (H)(uintptr_t)stack[0]);
  return true;
}

/* ── sizes ───────────────────────────────────────────────────────────────────────────────────── */

typedef struct Shape {
  int64_t rank;         /* -1: unknown (nested, symbolic): the kernel decides */
  const int64_t *sizes; /* borrowed from the tensor */
} Shape;

/* Rank, sizes, strides of a plain tensor where it keeps them itself; else NULL. */
static inline const int64_t *plain_shape(const TcCall *tc, H handle) {
  if (!tc->plain || !torch.shape_word || !handle)
    return NULL;
  const int64_t *shape = (const int64_t *)impl_words(handle) + torch.shape_word;
  return shape[0] <= N_INLINE_DIMS ? shape : NULL;
}

static inline Shape shape_of(const TcCall *tc, TcHandle use) {
  Shape shape = {-1, NULL};
  int64_t *sizes;
  const int64_t *words = plain_shape(tc, use.handle);
  if (words)
    return (Shape){words[0], words + 1};
  if (!use.handle || torch.get_rank(use.handle, &shape.rank) != 0)
    return shape;
  if (torch.get_sizes(use.handle, &sizes) != 0)
    shape.rank = -1;
  else
    shape.sizes = sizes;
  return shape;
}

/* NULL: unknown. */
static inline const int64_t *strides_of(const TcCall *tc, TcHandle use) {
  int64_t *strides;
  const int64_t *words = plain_shape(tc, use.handle);
  if (words)
    return words + 1 + N_INLINE_DIMS;
  return torch.get_strides(use.handle, &strides) == 0 ? strides : NULL;
}

static size_t shape_print(char *text, size_t size, const Shape *shape) {
  size_t n = (size_t)snprintf(text, size, "[");
  for (int64_t i = 0; i < shape->rank && n < size; i++)
    n += (size_t)snprintf(text + n, size - n, i ? ", %lld" : "%lld", (long long)shape->sizes[i]);
  if (n < size)
    n += (size_t)snprintf(text + n, size - n, "]");
  return n < size ? n : size - 1;
}

/* lane: "rextio-torch". */
static bool raise_unfit(TcCall *tc, const char *lane, const char *op, const Shape *shapes, int n) {
  char text[400];
  size_t length = (size_t)snprintf(text, sizeof text, "%s: %s: shapes ", lane, op);
  for (int i = 0; i < n; i++) {
    if (i)
      length += (size_t)snprintf(text + length, sizeof text - length, i == n - 1 ? " and " : ", ");
    length += shape_print(text + length, sizeof text - length - 32, &shapes[i]);
  }
  snprintf(text + length, sizeof text - length, " do not fit");
  gil_take(tc);
  PyErr_Format(PyExc_RuntimeError, "%s in %s()", text, tc->func->qualname);
  return false;
}

/* Consumes the operands. */
static bool raise_shapes(TcCall *tc, const char *op, const TcHandle *uses, int n) {
  Shape shapes[MAX_ARGS] = {{0, NULL}};
  for (int i = 0; i < n; i++)
    shapes[i] = shape_of(tc, uses[i]);
  raise_unfit(tc, "rextio-torch", op, shapes, n);
  for (int i = 0; i < n; i++)
    use_end(uses[i]);
  return false;
}

static bool shapes_broadcast(const Shape *a, const Shape *b) {
  for (int64_t i = 1; i <= a->rank && i <= b->rank; i++) {
    int64_t x = a->sizes[a->rank - i], y = b->sizes[b->rank - i];
    if (x != y && x != 1 && y != 1)
      return false;
  }
  return true;
}

/* Whether b broadcasts to a, so that the result has the shape of a. */
static bool shape_covers(const Shape *a, const Shape *b) {
  if (b->rank < 0 || b->rank > a->rank)
    return false;
  for (int64_t i = 1; i <= b->rank; i++) {
    int64_t size = b->sizes[b->rank - i];
    if (size != 1 && size != a->sizes[a->rank - i])
      return false;
  }
  return true;
}

/* ── ops ─────────────────────────────────────────────────────────────────────────────────────── */

/* Whether the operation may write into its operand: an owned intermediate that nothing else refers
 * to, with the strides that a fresh result would have. columns: of a matrix, at least. */
static bool may_overwrite(const TcCall *tc, TcHandle use, const Shape *shape, int64_t columns) {
  if (!tc->plain || !use.owned || !torch.has_count ||
      (uint32_t)impl_words(use.handle)[COUNT_WORD] != 1)
    return false;
  const int64_t *strides = strides_of(tc, use);
  if (shape->rank < 1 || shape->rank > 2 || !strides)
    return false;
  if (shape->rank == 1)
    return strides[0] == 1;
  return strides[1] == 1 && shape->sizes[1] >= columns && strides[0] == shape->sizes[1];
}

/* The same op, in place: "aten::relu_". */
static const char *in_place(char *name, size_t size, const char *aten) {
  size_t n = strlen(aten);
  if (n + 2 > size)
    return aten;
  memcpy(name, aten, n);
  memcpy(name + n, "_", 2);
  return name;
}

bool tc_torch_unary(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  TcHandle x = operands[0];
  const char *aten = op->name;
  char name[32];
  Arg args[] = {tensor_arg(x)};
  if (tc->plain && x.owned) {
    Shape shape = shape_of(tc, x);
    if (may_overwrite(tc, x, &shape, 1))
      aten = in_place(name, sizeof name, aten);
  }
  return torch_call(tc, out, aten, "", args, 1);
}

/* As torch's own function also outside a replay: on 2.11 a string on the dispatcher's stack is
 * never freed, 48 bytes a call. Beside the 8 µs of the kernel the detour costs nothing. */
bool tc_torch_gelu(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  TcHandle x = operands[0];
  Arg args[] = {tensor_arg(x), {.kind = ARG_TEXT, .keyword = "approximate", .text = op->name}};
  return x.handle ? call_builtin(tc, out, "gelu", args, 2) : raise_internal(tc, "gelu");
}

/* The end of a call past the dispatcher: consumes the operands. */
static bool direct_done(TcCall *tc, TcTensor *out, const char *op, int32_t failure, H result,
                        const TcHandle *uses, int n) {
  for (int i = 0; i < n; i++)
    use_end(uses[i]);
  if (failure)
    return kernel_failed(tc, op);
  set(out, result);
  return true;
}

/* a + alpha * b, alpha 1 or -1: exact for float32, so both are what eager computes. */
static bool add_or_sub(TcCall *tc, TcTensor *out, const char *op, double alpha,
                       const TcHandle *operands) {
  TcHandle a = operands[0], b = operands[1];
  Shape left = shape_of(tc, a), right = shape_of(tc, b);
  H result = NULL;
  if (!shapes_broadcast(&left, &right))
    return raise_shapes(tc, op, operands, 2);
  if (!a.handle || !b.handle)
    return raise_internal(tc, op);
  /* The dispatcher has no encoding for alpha. The shim's subtract is one that goes through it, but
   * modes must see an addition where the source has one. */
  if (tc->replay || (!tc->plain && alpha > 0)) {
    Arg args[] = {tensor_arg(a), tensor_arg(b)};
    return call_builtin(tc, out, op, args, 2);
  }
  int32_t failure = tc->plain && torch.cpu_add
                        ? torch.cpu_add(a.handle, b.handle, alpha, &result)
                        : torch.subtract(a.handle, b.handle, -alpha, &result);
  return direct_done(tc, out, op, failure, result, operands, 2);
}

bool tc_torch_add(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  return add_or_sub(tc, out, op->word, 1.0, operands);
}

bool tc_torch_sub(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  return add_or_sub(tc, out, op->word, -1.0, operands);
}

bool tc_torch_binary(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  TcHandle a = operands[0], b = operands[1];
  const char *aten = op->name;
  Shape left = shape_of(tc, a), right = shape_of(tc, b);
  if (!shapes_broadcast(&left, &right))
    return raise_shapes(tc, op->word, operands, 2);
  char name[32];
  Arg args[] = {tensor_arg(a), tensor_arg(b)};
  /* The strides of a fresh result follow those of a where they leave no choice: with more than one
   * column. */
  if (a.owned && shape_covers(&left, &right) && may_overwrite(tc, a, &left, 2))
    aten = in_place(name, sizeof name, aten);
  return torch_call(tc, out, aten, "Tensor", args, 2);
}

bool tc_torch_mul(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  TcHandle a = operands[0], b = operands[1];
  Shape left = shape_of(tc, a), right = shape_of(tc, b);
  if (!tc->plain || !torch.cpu_mul || a.owned || !a.handle || !b.handle ||
      !shapes_broadcast(&left, &right))
    return tc_torch_binary(tc, out, op, operands);
  H result = NULL;
  int32_t failure = torch.cpu_mul(a.handle, b.handle, &result);
  return direct_done(tc, out, op->word, failure, result, operands, 2);
}

/* An uninitialized dense float32 matrix. */
static int32_t empty_matrix(int64_t rows, int64_t columns, H *out) {
  const int64_t sizes[2] = {rows, columns}, strides[2] = {columns, 1};
  return torch.empty_strided(2, sizes, strides, TC_F32, TC_CPU, 0, out);
}

bool tc_torch_matmul(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  TcHandle a = operands[0], b = operands[1];
  Shape left = shape_of(tc, a), right = shape_of(tc, b);
  (void)op;
  if (left.rank > 0 && right.rank > 0) {
    int64_t inner = left.sizes[left.rank - 1];
    if (inner != right.sizes[right.rank > 1 ? right.rank - 2 : 0])
      return raise_shapes(tc, "matmul", operands, 2);
    bool whole =
        left.rank == 2 && right.rank == 2 && left.sizes[0] > 0 && inner > 0 && right.sizes[1] > 0;
    if (whole && tc->plain && torch.cpu_mm_out) {
      H result = NULL;
      int32_t failure = empty_matrix(left.sizes[0], right.sizes[1], &result);
      if (!failure && (failure = torch.cpu_mm_out(result, a.handle, b.handle)) != 0)
        torch.delete_handle(result);
      return direct_done(tc, out, "matmul", failure, result, operands, 2);
    }
  }
  Arg args[] = {tensor_arg(a), tensor_arg(b)};
  return torch_call(tc, out, "aten::matmul", "", args, 2);
}

/* bias + x @ weight.t() in one kernel, as eager's linear does for matrices. */
static int32_t addmm(H x, H weight, H bias, const Shape *left, const Shape *right,
                     const int64_t *strides, H *out) {
  H transposed = NULL;
  int32_t failure;
  if (!strides)
    return 1;
  const int64_t t_sizes[2] = {right->sizes[1], right->sizes[0]},
                t_strides[2] = {strides[1], strides[0]};
  /* The offset is relative to the tensor's own. */
  if ((failure = torch.reinterpret(weight, 2, t_sizes, t_strides, 0, &transposed)) != 0)
    return failure;
  if ((failure = empty_matrix(left->sizes[0], right->sizes[0], out)) == 0 &&
      (failure = torch.cpu_addmm_out(*out, bias, x, transposed, 1.0, 1.0)) != 0)
    torch.delete_handle(*out);
  torch.delete_handle(transposed);
  return failure;
}

bool tc_torch_linear(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  TcHandle x = operands[0], weight = operands[1], bias = {NULL, false};
  Shape left = shape_of(tc, x), right = shape_of(tc, weight), add = {-1, NULL};
  bool has_bias = op->n_operands == 3;
  if (has_bias) {
    bias = operands[2];
    add = shape_of(tc, bias);
  }
  if (left.rank == 2 && right.rank == 2 && (!has_bias || add.rank == 1)) {
    int64_t columns = right.sizes[0];
    if (left.sizes[1] != right.sizes[1] ||
        (has_bias && add.sizes[0] != columns && add.sizes[0] != 1))
      return raise_shapes(tc, "linear", operands, op->n_operands);
    bool whole = left.sizes[0] > 0 && left.sizes[1] > 0 && columns > 0;
    if (has_bias && whole && tc->plain && torch.cpu_addmm_out) {
      H result = NULL;
      int32_t failure = addmm(x.handle, weight.handle, bias.handle, &left, &right,
                              strides_of(tc, weight), &result);
      return direct_done(tc, out, "linear", failure, result, operands, 3);
    }
  }
  Arg args[] = {tensor_arg(x), tensor_arg(weight),
                has_bias ? opt_tensor_arg(bias) : number_arg(ARG_NO, 0)};
  return torch_call(tc, out, "aten::linear", "", args, 3);
}

bool tc_torch_reduce(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {tensor_arg(operands[0]), number_arg(ARG_OPT_LIST, op->dim),
                number_arg(ARG_BOOL, op->keepdim), number_arg(ARG_NO, 0)};
  return torch_call(tc, out, op->name, op->overload, args, 4);
}

bool tc_torch_rowwise(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {tensor_arg(operands[0]), number_arg(ARG_INT, op->dim), number_arg(ARG_NO, 0)};
  return torch_call(tc, out, op->name, op->overload, args, 3);
}

bool tc_torch_argmax(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {tensor_arg(operands[0]), number_arg(ARG_OPT_INT, op->dim),
                number_arg(ARG_BOOL, op->keepdim)};
  return torch_call(tc, out, "aten::argmax", "", args, 3);
}

/* Of operands that may end early. */
static Arg optional(const TcOp *op, const TcHandle *operands, int i) {
  return i < op->n_operands ? opt_tensor_arg(operands[i]) : number_arg(ARG_NO, 0);
}

/* Consumes the operands: one of them has no sizes. */
static bool raise_sizes(TcCall *tc, const TcOp *op, const TcHandle *operands) {
  for (int i = 0; i < op->n_operands; i++)
    use_end(operands[i]);
  return raise_internal(tc, op->word);
}

bool tc_torch_layer_norm(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Shape shape = shape_of(tc, operands[0]);
  if (shape.rank < 1)
    return raise_sizes(tc, op, operands);
  Arg args[] = {tensor_arg(operands[0]),          number_arg(ARG_LIST, shape.sizes[shape.rank - 1]),
                optional(op, operands, 1),        optional(op, operands, 2),
                float_arg(ARG_FLOAT, op->number), number_arg(ARG_BOOL, false)};
  return torch_call(tc, out, "aten::layer_norm", "", args, 6);
}

bool tc_torch_rms_norm(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Shape shape = shape_of(tc, operands[0]);
  if (shape.rank < 1)
    return raise_sizes(tc, op, operands);
  Arg args[] = {tensor_arg(operands[0]), number_arg(ARG_LIST, shape.sizes[shape.rank - 1]),
                optional(op, operands, 1), float_arg(ARG_OPT_FLOAT, op->number)};
  return torch_call(tc, out, "aten::rms_norm", "", args, 4);
}

bool tc_torch_batch_norm(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {
      tensor_arg(operands[0]),     optional(op, operands, 3),        optional(op, operands, 4),
      opt_tensor_arg(operands[1]), opt_tensor_arg(operands[2]),      number_arg(ARG_BOOL, false),
      float_arg(ARG_FLOAT, 0.0),   float_arg(ARG_FLOAT, op->number), number_arg(ARG_BOOL, false)};
  return torch_call(tc, out, "aten::batch_norm", "", args, 9);
}

/* An operation with two results. */
static bool torch_call_two(TcCall *tc, TcTensor out[2], const TcOp *op, const Arg *args, int n) {
  uint64_t stack[MAX_ARGS];
  if (!args[0].use.handle)
    return raise_internal(tc, op->word);
  if (!dispatch(tc, stack, op->name, op->overload, args, n))
    return false;
  for (int i = 0; i < 2; i++)
    set(&out[i], (H)(uintptr_t)stack[i]);
  return true;
}

bool tc_torch_topk(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {tensor_arg(operands[0]), number_arg(ARG_INT, (int64_t)fabs(op->number)),
                number_arg(ARG_INT, op->dim), number_arg(ARG_BOOL, op->number > 0),
                number_arg(ARG_BOOL, true)};
  return torch_call_two(tc, out, op, args, 5);
}

bool tc_torch_extreme(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {tensor_arg(operands[0]), number_arg(ARG_INT, op->dim),
                number_arg(ARG_BOOL, op->keepdim)};
  return torch_call_two(tc, out, op, args, 3);
}

bool tc_torch_conv1d(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {tensor_arg(operands[0]),       tensor_arg(operands[1]),
                optional(op, operands, 2),     number_arg(ARG_LIST, 1),
                number_arg(ARG_LIST, op->dim), number_arg(ARG_LIST, (int64_t)op->number),
                number_arg(ARG_INT, 1)};
  return torch_call(tc, out, "aten::conv1d", "", args, 7);
}

/* By torch's Python function: the dispatcher has no encoding for alpha and beta. */
bool tc_torch_addmm(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {tensor_arg(operands[2]), tensor_arg(operands[0]), tensor_arg(operands[1])};
  return operands[0].handle ? call_builtin(tc, out, "addmm", args, 3)
                            : raise_internal(tc, op->word);
}

bool tc_torch_bmm(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {tensor_arg(operands[0]), tensor_arg(operands[1])};
  (void)op;
  return torch_call(tc, out, "aten::bmm", "", args, 2);
}

bool tc_torch_prod(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {tensor_arg(operands[0]), number_arg(ARG_INT, op->dim),
                number_arg(ARG_BOOL, op->keepdim), number_arg(ARG_NO, 0)};
  return torch_call(tc, out, "aten::prod", "dim_int", args, 4);
}

/* The Euclidean one, by torch's Python function: the dispatcher has no encoding for its order. */
bool tc_torch_norm(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {tensor_arg(operands[0]), float_arg(ARG_FLOAT, 2.0), number_arg(ARG_INT, op->dim)};
  return operands[0].handle ? call_builtin(tc, out, "norm", args, 3) : raise_internal(tc, op->word);
}

bool tc_torch_spread(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  Arg args[] = {tensor_arg(operands[0]), number_arg(ARG_OPT_LIST, op->dim),
                number_arg(ARG_BOOL, op->number > 0), number_arg(ARG_BOOL, op->keepdim)};
  return torch_call(tc, out, op->name, "dim", args, 4);
}
