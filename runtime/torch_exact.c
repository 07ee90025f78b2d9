/* torch_exact.c: what the exact body needs of torch: memory of arguments and results, its threads,
 * its precision of matmuls, and its own ops for admission.
 */

/* ── a call ──────────────────────────────────────────────────────────────────────────────────── */

/* A contiguous argument as a block; false for anything else. Strides are compared for size-1
 * dimensions too, since eager's outputs repeat them. Those of an empty numpy array are 0, which
 * says nothing. */
static bool torch_block_of(const TcCall *tc, const TcTensor *tensor, int rank, TcDType dtype,
                           TcBlock *block) {
  const int64_t *shape = plain_shape(tc, tensor->handle);
  if (!shape || shape[0] != rank)
    return false;
  const int64_t *sizes = shape + 1, *strides = sizes + N_INLINE_DIMS;
  int64_t cols = sizes[rank - 1];
  bool empty = cols == 0 || (rank == 2 && sizes[0] == 0);
  bool contiguous = strides[rank - 1] == 1 && (rank == 1 || strides[0] == (cols > 1 ? cols : 1));
  if (!contiguous && !(empty && strides[0] == 0 && strides[rank - 1] == 0))
    return false;
  void *data = NULL;
  if (torch.offset_word) {
    const uint64_t *impl = impl_words(tensor->handle),
                   *storage = (const uint64_t *)(uintptr_t)impl[STORAGE_WORD];
    data = (void *)(uintptr_t)storage[DATA_WORD];
    if (data)
      data = (char *)data +
             impl[torch.offset_word] * (dtype == TC_I64 ? sizeof(int64_t) : sizeof(float));
  } else if (torch.get_data(tensor->handle, &data) != 0) {
    return false;
  }
  int64_t rows = rank == 2 ? sizes[0] : 1;
  if (!data && !empty)
    return false;
  *block = (TcBlock){.data = data ? data : no_elements,
                     .sizes = {rows, cols},
                     .rank = rank,
                     .origin = tensor->origin};
  return true;
}

static bool torch_take_blocks(const TcCall *tc, const TcValue *args, TcValue *blocks) {
  const TcFunc *func = tc->func;
  for (int i = 0; i < func->n_params; i++) {
    if (func->params[i].type.kind != TC_TENSOR)
      blocks[i] = args[i];
    else if (!torch_block_of(tc, &args[i].tensor, func->params[i].type.rank,
                             func->params[i].type.dtype, &blocks[i].block))
      return false;
  }
  return true;
}

/* The tensor that the blocks are copied into. */
static bool torch_output_new(const TcFunc *func, const TcBlock *block, int64_t rows, H *handle,
                             char **data) {
  int64_t sizes[2] = {rows, block->sizes[1]},
          strides[2] = {block->sizes[1] > 1 ? block->sizes[1] : 1, 1};
  int64_t n = block->rows ? rows : block->sizes[0] * block->sizes[1], one = 1;
  int rank = func->result.rank;
  const int64_t *shape = rank == 2 ? sizes : &n;
  if (torch.empty_strided(rank, shape, rank == 2 ? strides : &one, (int32_t)func->result.dtype, 0,
                          0, handle) != 0)
    return false;
  void *address = NULL;
  if (torch.get_data(*handle, &address) != 0) {
    torch.delete_handle(*handle);
    return false;
  }
  *data = address;
  return true;
}

/* Of ATen/Context.h: at::Float32Backend, Float32Op, Float32Precision; the last one is a byte. */
enum { MKLDNN_BACKEND = 2, MATMUL_OP = 3, IEEE_PRECISION = 1 /* 0: none was set */ };

/* Matmuls are IEEE only while nothing below that was asked for. */
static inline bool torch_precision_is_ieee(void) {
  int32_t precision =
      torch.float32_precision(torch.global_context(), MKLDNN_BACKEND, MATMUL_OP) & 0xff;
  return precision <= IEEE_PRECISION;
}

/* ── admission ───────────────────────────────────────────────────────────────────────────────── */

/* Which instruction set ATen dispatches to decides lanes and tails; without an answer there is no
 * exact body. */
static bool torch_exact_load(TcIsa *found) {
  PyObject *capability = PyObject_CallMethod(torch.c_module, "_get_cpu_capability", NULL);
  const char *text =
      capability && PyUnicode_Check(capability) ? PyUnicode_AsUTF8(capability) : NULL;
  int isa = text ? tc__isa_of_capability(text) : -1;
  PyErr_Clear();
  Py_XDECREF(capability);
  if (isa < 0 || !tc__isa_runs((TcIsa)isa) || !torch.num_threads || !torch.parallel_for ||
      !torch.float32_precision || !torch.global_context || !torch.shape_word || !torch.key_word)
    return false;
  if (!tc__scalar_math_find(torch.cpu))
    return false;
  tc__wheel_math_find(torch.cpu);
  pool_find();
  *found = (TcIsa)isa;
  return true;
}

static int torch_threads(void) {
  uint32_t n = 1;
  return torch.num_threads(&n) == 0 && n > 0 ? (int)n : 1;
}

/* torch takes as many threads as there are grains, if it has them. */
static bool torch_parallel(int workers, int64_t from, int64_t to,
                           void (*run)(int64_t, int64_t, void *), void *state) {
  if (torch_shared->forked) { /* torch would wait for threads that its parent had */
    pool_run(workers, from, to, run, state);
    return true;
  }
  return torch.parallel_for(from, to, (to - from + workers - 1) / workers, run, state) == 0;
}

static void *torch_tensor_new(const float *x, int64_t rows, int64_t cols, int rank) {
  int64_t sizes[2] = {rows, cols}, strides[2] = {cols > 1 ? cols : 1, 1};
  H handle = NULL;
  void *data;
  if (torch.empty_strided(rank, rank == 2 ? sizes : sizes + 1, rank == 2 ? strides : strides + 1,
                          TC_F32, TC_CPU, 0, &handle) != 0)
    return NULL;
  if (torch.get_data(handle, &data) != 0) {
    torch.delete_handle(handle);
    return NULL;
  }
  if (rows * cols > 0)
    memcpy(data, x, (size_t)(rows * cols) * sizeof *x);
  return handle;
}

static const void *torch_tensor_data(void *handle) {
  void *data = NULL;
  return torch.get_data(handle, &data) == 0 ? data : NULL;
}

static bool torch_run(TcCall *tc, TcTensor *out, const TcOp *op, const TcUse *uses, int n,
                      int dim) {
  switch (op->recipe->class) {
  case TC_MAP1:
    return tc_torch_unary(tc, out, op->name, uses[0]);
  case TC_MAP2:
    return tc_torch_binary(tc, out, op->name, uses[0], uses[1]);
  case TC_REDUCE:
    return tc_torch_reduce(tc, out, op->name, op->overload, uses[0], dim, false);
  case TC_ROWWISE:
    return tc_torch_rowwise(tc, out, op->name, op->overload, uses[0], dim);
  case TC_ARGMAX:
    return tc_torch_argmax(tc, out, uses[0], dim, false);
  case TC_MATMUL:
  case TC_MV:
    return tc_torch_matmul(tc, out, uses[0], uses[1]);
  case TC_LINEAR:
    return n == 3 ? tc_torch_linear_bias(tc, out, uses[0], uses[1], uses[2])
                  : tc_torch_linear(tc, out, uses[0], uses[1]);
  case TC_TRANSPOSE:
    break; /* a view */
  }
  return false;
}

static const void *torch_witness(void) {
  const void *address;
  memcpy(&address, &torch.num_threads, sizeof address);
  return address;
}

static ExactLane torch_exact = {.name = "torch",
                                .witness = torch_witness,
                                .load = torch_exact_load,
                                .threads = torch_threads,
                                .take = torch_take_blocks,
                                .output_new = torch_output_new,
                                .parallel = torch_parallel,
                                .tensor_new = torch_tensor_new,
                                .tensor_data = torch_tensor_data,
                                .run = torch_run};
