/* torch_lane.c: what a call needs of torch: states and threads, memory of arguments and results.
 */

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

/* Strides are compared for size-1 dimensions too, since eager's outputs repeat them. Those of an
 * empty numpy array are 0, which says nothing. rank 0: whatever it has, if that is 1 or 2. */
static bool torch_look(const TcCall *tc, TcTensor *var, int rank, TcDType dtype) {
  const int64_t *shape = plain_shape(tc, var->handle);
  if (!shape || (rank && shape[0] != rank) || shape[0] < 1 || shape[0] > 2)
    return false;
  rank = (int)shape[0];
  const int64_t *sizes = shape + 1, *strides = sizes + N_INLINE_DIMS;
  int64_t cols = sizes[rank - 1];
  bool empty = cols == 0 || (rank == 2 && sizes[0] == 0);
  bool contiguous = strides[rank - 1] == 1 && (rank == 1 || strides[0] == (cols > 1 ? cols : 1));
  bool turned = !contiguous && rank == 2 && cols > 1 && sizes[0] > 1 && strides[0] == 1 &&
                strides[1] == sizes[0];
  if (!contiguous && !turned && !(empty && strides[0] == 0 && strides[rank - 1] == 0))
    return false;
  void *data = NULL;
  if (torch.offset_word) {
    const uint64_t *impl = impl_words(var->handle),
                   *storage = (const uint64_t *)(uintptr_t)impl[STORAGE_WORD];
    data = (void *)(uintptr_t)storage[DATA_WORD];
    if (data)
      data = (char *)data + impl[torch.offset_word] * dtype_bytes(dtype);
  } else if (torch.get_data(var->handle, &data) != 0) {
    return false;
  }
  if (!data && !empty)
    return false;
  var->data = data ? data : no_elements;
  var->sizes[0] = rank == 2 ? sizes[0] : 1;
  var->sizes[1] = cols;
  var->rank = rank;
  var->turned = turned;
  return true;
}

/* The sizes, and the strides that eager gives a result that lies like var; of rank 1 the first ones
 * are none. */
static int shape_like(const TcTensor *var, int64_t strides[2]) {
  strides[0] = var->turned ? 1 : var->sizes[1] > 1 ? var->sizes[1] : 1;
  strides[1] = var->turned ? var->sizes[0] : 1;
  return 2 - var->rank;
}

/* Over the memory itself: it lives as long as the variable. */
static void *torch_tensor_over(const TcTensor *var) {
  int64_t strides[2];
  int first = shape_like(var, strides);
  H handle = NULL;
  if (torch.from_blob(var->data, var->rank, var->sizes + first, strides + first, 0, TC_F32, TC_CPU,
                      0, &handle) != 0)
    return NULL;
  return handle;
}

static bool torch_tensor_new(TcTensor *var, TcDType dtype) {
  int64_t strides[2];
  int first = shape_like(var, strides);
  if (torch.empty_strided(var->rank, var->sizes + first, strides + first, (int32_t)dtype, TC_CPU, 0,
                          &var->handle) != 0)
    return false;
  if (torch.get_data(var->handle, &var->data) == 0 &&
      (var->data || var->sizes[0] * var->sizes[1] == 0))
    return true;
  torch.delete_handle(var->handle);
  var->handle = NULL;
  return false;
}

static bool torch_is_sole(const TcTensor *var) {
  return torch.has_count && (uint32_t)impl_words(var->handle)[COUNT_WORD] == 1;
}

/* Matmuls are IEEE only while nothing below that was asked for. */
static bool torch_is_ieee(void) {
  int32_t precision = torch_precision(&torch);
  return precision == torch.ieee_precision || precision == torch.no_precision;
}

/* ── recipes ─────────────────────────────────────────────────────────────────────────────────── */

/* Which instruction set ATen dispatches to decides lanes and tails; without an answer there is no
 * recipe. */
static bool torch_recipes_load(TcIsa *found) {
  PyObject *capability = PyObject_CallMethod(torch.c_module, "_get_cpu_capability", NULL);
  const char *text =
      capability && PyUnicode_Check(capability) ? PyUnicode_AsUTF8(capability) : NULL;
  int isa = text ? tc__isa_of_capability(text) : -1;
  PyErr_Clear();
  Py_XDECREF(capability);
  if (isa < 0 || !tc__isa_runs((TcIsa)isa) || !torch.num_threads || !torch.parallel_for ||
      !torch.has_precision || !torch.from_blob || !torch.shape_word || !torch.key_word)
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
  if (is_forked_child()) { /* torch would wait for threads that its parent had */
    run(from, to, state);
    return true;
  }
  return torch.parallel_for(from, to, (to - from + workers - 1) / workers, run, state) == 0;
}

static const void *torch_tensor_data(void *handle) {
  void *data = NULL;
  return torch.get_data(handle, &data) == 0 ? data : NULL;
}

static const void *torch_witness(void) {
  const void *address;
  memcpy(&address, &torch.num_threads, sizeof address);
  return address;
}

/* ── a call ──────────────────────────────────────────────────────────────────────────────────── */

static bool torch_enter(const char **problem) {
  bool loaded = torch_load();
  *problem = torch_problem;
  return loaded;
}

static Outcome torch_prepare(Plan *plan, Mode mode, Reason *reason) {
  if (!take_call_args(plan, mode, reason))
    return OUTCOME_REFUSED;
  bool refuses = module_info->gradients == TC_ON_ERROR ||
                 (module_info->gradients == TC_ON_PYTHON && mode != MODE_NATIVE);
  Verdict verdict =
      torch_call_verdict(&plan->tc, plan->values, plan->slots, refuses, &plan->grad_off, reason);
  if (verdict >= VERDICT_REFUSED)
    return OUTCOME_REFUSED;
  plan->tc.plain &= verdict == VERDICT_PLAIN;
  plan->release_gil = torch_count_elements(&plan->tc, plan->values) >= LONG_BODY_ELEMS;
  return OUTCOME_OK;
}

static void torch_body_enter(const Plan *plan) {
  log_silence_enter();
  if (plan->grad_off)
    torch.set_grad_mode(false);
}

static void torch_body_leave(const Plan *plan) {
  if (plan->grad_off)
    torch.set_grad_mode(true);
  log_silence_leave();
}

/* Another thread may drop the object of an argument, and torch takes the GIL whenever the count of
 * a tensor with a Python object goes from one to two: a handle of our own, made now, settles both.
 * Not x.data = … in the middle of a call, which takes the memory from under the body
 * (docs/numerics.md). */
static bool torch_pin(Plan *plan) {
  const TcFunc *func = plan->tc.func;
  for (int i = 0; i < func->n_params; i++) {
    if (func->params[i].type.kind != TC_TENSOR || plan->slots[i].pin)
      continue;
    if (torch.new_handle(plan->values[i].tensor.handle, &plan->slots[i].pin) != 0)
      return false;
    plan->values[i].tensor.handle = plan->slots[i].pin;
  }
  return true;
}

static Lane torch_lane = {.name = "torch",
                          .plugin = "rextio-torch",
                          .enter = torch_enter,
                          .prepare = torch_prepare,
                          .take_tensor = torch_take_tensor,
                          .body_enter = torch_body_enter,
                          .body_leave = torch_body_leave,
                          .pin = torch_pin,
                          .replays = true,
                          .give_tensor = torch_give_tensor,
                          .load = torch_recipes_load,
                          .threads = torch_threads,
                          .is_ieee = torch_is_ieee,
                          .look = torch_look,
                          .tensor_over = torch_tensor_over,
                          .tensor_new = torch_tensor_new,
                          .is_sole = torch_is_sole,
                          .parallel = torch_parallel,
                          .tensor_data = torch_tensor_data,
                          .witness = torch_witness};
