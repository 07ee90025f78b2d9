/* tf.c: the ops of the TensorFlow lane by the wheel: each is one TFE op of Python's eager context.
 *
 * Runs what eager runs, kernel for kernel, without the Python around it; so it records nothing on a
 * tape, and guard (tf_boundary.c) decides first whether that is wanted. Axes and permutations are
 * constants of the context. A thread has one TFE op, which is made into each operation in turn.
 *
 * Ownership: an operand with `owned` is consumed whatever happens. Errors: RuntimeError
 * "rextio-tensorflow: " with both shapes where sizes do not fit, else with TensorFlow's own text;
 * TcCall.op_failed is set.
 */

/* ── operands ────────────────────────────────────────────────────────────────────────────────── */

static void tf_uses_end(const TcHandle *uses, int n) {
  for (int i = 0; i < n; i++)
    if (uses[i].owned)
      tf.delete_handle(tf_untag(uses[i].handle));
}

enum { TF_MOST_DIMS = 8, TF_INTERNAL = 13 /* of TF_Code */ };

/* Rank and sizes. */
typedef struct TfShape {
  Shape shape; /* rank -1: more dimensions than these */
  int64_t sizes[TF_MOST_DIMS];
} TfShape;

static void tf_shape_of(TcCall *tc, TcHandle use, TfShape *out) {
  TfStatus *status = tc->thread->tf->status;
  TfHandle *handle = tf_untag(use.handle);
  const TfLayout *layout = handle ? tf_layout_of(&tf, handle) : NULL;
  if (layout) {
    out->shape = (Shape){layout->rank, out->sizes};
    for (int i = 0; i < layout->rank; i++)
      out->sizes[i] = layout_size(layout, i);
    return;
  }
  int rank = handle ? tf.get_rank(handle, status) : -1;
  out->shape = (Shape){rank <= TF_MOST_DIMS ? rank : -1, out->sizes};
  for (int i = 0; i < out->shape.rank; i++)
    out->sizes[i] = tf.get_dim(handle, i, status);
}

/* ── calling ─────────────────────────────────────────────────────────────────────────────────── */

/* TensorFlow's status is not OK. */
static bool tf_failed(TcCall *tc, const char *op) {
  TfStatus *status = tc->thread->tf->status;
  gil_take(tc);
  tc->op_failed = true;
  PyErr_Format(PyExc_RuntimeError, "rextio-tensorflow: %s (%s in %s())", tf.get_message(status), op,
               tc->func->qualname);
  tf.set_status(status, 0, "");
  return false;
}

/* An operation other than of its operands. */
typedef struct TfExtra {
  TfHandle *constant;    /* its last input, or NULL */
  const char *attribute; /* a bool, or NULL */
  bool value;            /* of attribute */
  const char *output;    /* an attribute that names the result's dtype, or NULL */
  int dtype;             /* of the result */
} TfExtra;

static bool tf_start(TfThread *thread, const char *op, const TcHandle *uses, int n,
                     const TfExtra *extra) {
  thread->holds_inputs = true;
  tf.reset_op(thread->op, op, thread->context->place, thread->status);
  bool ok = tf.get_code(thread->status) == 0;
  for (int i = 0; i < n && ok; i++) {
    tf.add_input(thread->op, tf_untag(uses[i].handle), thread->status);
    ok = tf.get_code(thread->status) == 0;
  }
  if (ok && extra->constant) {
    tf.add_input(thread->op, extra->constant, thread->status);
    ok = tf.get_code(thread->status) == 0;
  }
  if (ok && extra->attribute)
    tf.set_bool(thread->op, extra->attribute, extra->value);
  if (ok && extra->output)
    tf.set_type(thread->op, extra->output, extra->dtype);
  return ok;
}

/* Consumes the operands. What the result is was checked here, so nobody asks again. */
static bool tf_call(TcCall *tc, TcTensor *out, const char *op, const TcHandle *uses, int n,
                    const TfExtra *extra) {
  TfThread *thread = tc->thread->tf;
  TfHandle *result = NULL;
  int n_results = 1;
  for (int i = 0; i < n; i++) {
    if (uses[i].handle)
      continue;
    tf_uses_end(uses, i);
    return raise_internal(tc, op);
  }
  bool ok = tf_start(thread, op, uses, n, extra);
  tf_uses_end(uses, n); /* the operation holds its inputs */
  if (ok) {
    tf.execute(thread->op, &result, &n_results, thread->status);
    ok = tf.get_code(thread->status) == 0;
  }
  if (!ok)
    return tf_failed(tc, op);
  const char *device = tf.get_device(result, thread->status);
  if (tf.get_dtype(result) != extra->dtype || device != thread->context->cpu) {
    tf.delete_handle(result);
    tf.set_status(thread->status, TF_INTERNAL, "the result has another dtype or device");
    return tf_failed(tc, op);
  }
  set(out, tf_tag(result));
  return true;
}

/* The thread's operation lets go of the inputs of the last call. */
static void tf_forget_inputs(TfThread *thread) {
  if (!thread->holds_inputs)
    return;
  thread->holds_inputs = false;
  tf.reset_op(thread->op, "NoOp", NULL, thread->status);
}

/* ── ops ─────────────────────────────────────────────────────────────────────────────────────── */

bool tc_tf_unary(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  static const TfExtra extra = {.dtype = TF_F32};
  return tf_call(tc, out, op->name, operands, 1, &extra);
}

/* The bias covers the last dimension. */
static bool bias_fits(const Shape *value, const Shape *bias) {
  return value->rank >= 2 && bias->rank == 1 && value->sizes[value->rank - 1] == bias->sizes[0];
}

static bool matmul_fits(const Shape *a, const Shape *b) {
  return a->rank == 2 && b->rank == 2 && a->sizes[1] == b->sizes[0];
}

/* An operation whose operands have to fit: eager would find out, too, but later. */
static bool tf_call2(TcCall *tc, TcTensor *out, const char *op, const TcHandle *uses,
                     bool (*fits)(const Shape *, const Shape *)) {
  static const TfExtra extra = {.dtype = TF_F32};
  TfShape left, right;
  tf_shape_of(tc, uses[0], &left);
  tf_shape_of(tc, uses[1], &right);
  if (left.shape.rank < 0 || right.shape.rank < 0 || fits(&left.shape, &right.shape))
    return tf_call(tc, out, op, uses, 2, &extra);
  Shape shapes[] = {left.shape, right.shape};
  tf_uses_end(uses, 2);
  raise_unfit(tc, "rextio-tensorflow", op, shapes, 2);
  tc->op_failed = true;
  return false;
}

bool tc_tf_binary(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  return tf_call2(tc, out, op->name, operands, shapes_broadcast);
}

bool tc_tf_bias_add(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  return tf_call2(tc, out, op->name, operands, bias_fits);
}

bool tc_tf_matmul(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  (void)op;
  return tf_call2(tc, out, "MatMul", operands, matmul_fits);
}

bool tc_tf_reduce(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  TfExtra extra = {.constant = tc->thread->tf->context->axis[op->dim],
                   .attribute = "keep_dims",
                   .value = op->keepdim,
                   .dtype = TF_F32};
  return tf_call(tc, out, op->name, operands, 1, &extra);
}

bool tc_tf_softmax(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  static const TfExtra extra = {.dtype = TF_F32};
  TfShape shape;
  tf_shape_of(tc, operands[0], &shape);
  if (op->dim == shape.shape.rank - 1)
    return tf_call(tc, out, "Softmax", operands, 1, &extra);
  tf_uses_end(operands, 1);
  return raise_internal(tc, "Softmax along another than the last dimension");
}

bool tc_tf_argmax(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  TfExtra extra = {
      .constant = tc->thread->tf->context->axis[op->dim], .output = "output_type", .dtype = TF_I64};
  if (!op->keepdim)
    return tf_call(tc, out, "ArgMax", operands, 1, &extra);
  tf_uses_end(operands, 1);
  return raise_internal(tc, "ArgMax");
}

bool tc_tf_transpose(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  TfExtra extra = {.constant = tc->thread->tf->context->swap, .dtype = TF_F32};
  (void)op;
  return tf_call(tc, out, "Transpose", operands, 1, &extra);
}
