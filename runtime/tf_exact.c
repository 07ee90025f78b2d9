/* tf_exact.c: what the exact body needs of TensorFlow: memory of arguments and results, its number
 * of threads, and its own ops for admission.
 */

/* ── a call ──────────────────────────────────────────────────────────────────────────────────── */

/* EagerTensors are contiguous. The dtype was checked: get_data ends the process for some. */
static bool tf_block_of(const TcTensor *tensor, int rank, TfStatus *status, TcBlock *block) {
  TfHandle *handle = tf_untag(tensor->handle);
  const TfLayout *layout = tf_layout_of(&tf, handle);
  int64_t rows = 1, cols;
  void *data;
  if (layout) {
    if (rank == 2)
      rows = layout_size(layout, 0);
    cols = layout_size(layout, rank - 1);
    data = layout->memory ? layout->memory->data : NULL;
  } else {
    if (rank == 2)
      rows = tf.get_dim(handle, 0, status);
    cols = tf.get_dim(handle, rank - 1, status);
    data = tf.get_data(handle, status);
  }
  if (!data) {
    if (rows * cols != 0)
      return false;
    data = no_elements;
  }
  *block = (TcBlock){.data = data, .sizes = {rows, cols}, .rank = rank, .origin = tensor->origin};
  return true;
}

static bool tf_take_blocks(const TcCall *tc, const TcValue *args, TcValue *blocks) {
  const TcFunc *func = tc->func;
  TfStatus *status = tc->thread->tf->status;
  for (int i = 0; i < func->n_params; i++) {
    if (func->params[i].type.kind != TC_TENSOR)
      blocks[i] = args[i];
    else if (!tf_block_of(&args[i].tensor, func->params[i].type.rank, status, &blocks[i].block))
      return false;
  }
  return true;
}

/* An uninitialized tensor on CPU:0. NULL: no memory. */
static TfHandle *tf_handle_new(int dtype, const int64_t *sizes, int rank, size_t bytes,
                               void **data) {
  TfTensor *tensor = tf.new_tensor(dtype, sizes, rank, bytes);
  if (!tensor)
    return NULL;
  *data = tf.tensor_data(tensor); /* NULL: there was no memory */
  TfHandle *handle =
      *data || bytes == 0 ? tf.new_handle(tensor, thread_state.tf->status) : NULL; /* shares it */
  tf.delete_tensor(tensor);
  return handle;
}

static bool tf_output_new(const TcFunc *func, const TcBlock *block, int64_t rows, void **handle,
                          char **data) {
  bool ints = func->result.dtype == TC_I64;
  bool matrix = func->result.rank == 2;
  int64_t n = block->rows ? rows : block->sizes[0] * block->sizes[1];
  const int64_t sizes[2] = {matrix ? rows : 1, matrix ? block->sizes[1] : n};
  size_t bytes;
  void *memory = NULL;
  if (!count_bytes(sizes, ints ? sizeof(int64_t) : sizeof(float), &bytes))
    return false;
  *handle = tf_tag(tf_handle_new(ints ? TF_I64 : TF_F32, matrix ? sizes : sizes + 1,
                                 func->result.rank, bytes, &memory));
  *data = memory;
  return *handle != NULL;
}

static int tf_threads(void) { return tf_context->n_threads; }

/* TensorFlow's own threads can't be had from outside. */
static bool tf_parallel(int workers, int64_t from, int64_t to,
                        void (*run)(int64_t, int64_t, void *), void *state) {
  pool_run(workers, from, to, run, state);
  return true;
}

/* ── admission ───────────────────────────────────────────────────────────────────────────────── */

/* The instruction set of oneDNN's kernels, which its own variable can lower; Eigen's are the same
 * for both. Wrong or not (the variable was changed after TensorFlow read it): admission decides. */
static bool tf_exact_load(TcIsa *isa) {
  const char *most = getenv("ONEDNN_MAX_CPU_ISA");
  if (!most)
    most = getenv("DNNL_MAX_CPU_ISA");
  bool wide = !most || !*most || PyOS_stricmp(most, "all") == 0 ||
              PyOS_strnicmp(most, "avx512", 6) == 0 || PyOS_strnicmp(most, "avx10", 5) == 0;
  bool lower = !wide && PyOS_strnicmp(most, "avx2", 4) != 0;
  *isa = wide && tc__isa_runs(TC_ISA_AVX512) ? TC_ISA_AVX512 : TC_ISA_AVX2;
  if (lower || !tc__isa_runs(*isa) || !tc__scalar_math_find(tf.image))
    return false;
  pool_find();
  return true;
}

static void *tf_tensor_new(const float *x, int64_t rows, int64_t cols, int rank) {
  const int64_t sizes[2] = {rows, cols};
  size_t bytes = (size_t)(rows * cols) * sizeof *x;
  void *data = NULL;
  TfHandle *handle = tf_handle_new(TF_F32, rank == 2 ? sizes : sizes + 1, rank, bytes, &data);
  if (handle && bytes > 0)
    memcpy(data, x, bytes);
  return tf_tag(handle);
}

static const void *tf_tensor_data(void *handle) {
  return tf.get_data(tf_untag(handle), thread_state.tf->status);
}

static bool tf_run(TcCall *tc, TcTensor *out, const TcOp *op, const TcUse *uses, int n, int dim) {
  bool ok = false;
  (void)n;
  switch (op->recipe->class) {
  case TC_MAP1:
    ok = tc_tf_unary(tc, out, op->name, uses[0]);
    break;
  case TC_MAP2:
    ok = tc_tf_binary(tc, out, op->name, uses[0], uses[1]);
    break;
  case TC_REDUCE:
    ok = tc_tf_reduce(tc, out, op->name, uses[0], dim, false);
    break;
  case TC_ROWWISE:
    ok = tc_tf_softmax(tc, out, uses[0], dim);
    break;
  case TC_ARGMAX:
    ok = tc_tf_argmax(tc, out, uses[0], dim, false);
    break;
  case TC_MATMUL:
    ok = tc_tf_matmul(tc, out, uses[0], uses[1]);
    break;
  case TC_LINEAR:
  case TC_MV:
    break; /* torch's */
  case TC_TRANSPOSE:
    ok = tc_tf_transpose(tc, out, uses[0]);
    break;
  }
  tf_forget_inputs(tc->thread->tf);
  return ok;
}

static const void *tf_witness(void) {
  const void *address;
  memcpy(&address, &tf.new_tensor, sizeof address);
  return address;
}

static ExactLane tf_exact = {.name = "tensorflow",
                             .witness = tf_witness,
                             .load = tf_exact_load,
                             .threads = tf_threads,
                             .take = tf_take_blocks,
                             .output_new = tf_output_new,
                             .parallel = tf_parallel,
                             .flushes = true,
                             .tensor_new = tf_tensor_new,
                             .tensor_data = tf_tensor_data,
                             .run = tf_run};
