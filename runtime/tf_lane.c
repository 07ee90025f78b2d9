/* tf_lane.c: what a call needs of TensorFlow: states and threads, memory of arguments and results.
 */

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

/* EagerTensors are contiguous. The dtype was checked: get_data ends the process for some. */
static bool tf_look(const TcCall *tc, TcTensor *var, int rank, TcDType dtype) {
  TfStatus *status = tc->thread->tf->status;
  TfHandle *handle = tf_untag(var->handle);
  const TfLayout *layout = tf_layout_of(&tf, handle);
  int64_t rows = 1, cols;
  void *data;
  (void)dtype;
  if (!rank)
    rank = layout ? layout->rank : tf.get_rank(handle, status);
  if (rank < 1 || rank > 2)
    return false;
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
  if (!data && rows * cols != 0)
    return false;
  var->data = data ? data : no_elements;
  var->sizes[0] = rows;
  var->sizes[1] = cols;
  var->rank = rank;
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

static bool tf_tensor_new(TcTensor *var, TcDType dtype) {
  size_t bytes;
  if (!count_bytes(var->sizes, dtype_bytes(dtype), &bytes))
    return false;
  var->handle = tf_tag(tf_handle_new(dtype == TC_I64 ? TF_I64 : TF_F32,
                                     var->sizes + (2 - var->rank), var->rank, bytes, &var->data));
  return var->handle != NULL;
}

static int tf_threads(void) { return tf_context->n_threads; }

/* TensorFlow's own threads can't be had from outside. */
static bool tf_parallel(int workers, int64_t from, int64_t to,
                        void (*run)(int64_t, int64_t, void *), void *state) {
  pool_run(workers, from, to, run, state);
  return true;
}

/* ── recipes ───────────────────────────────────────────────────────────────────────────────── */

/* The instruction set of oneDNN's kernels, which its own variable can lower; Eigen's are the same
 * for both. Wrong or not (the variable was changed after TensorFlow read it; it says less than
 * AVX2): admission decides. */
static bool tf_recipes_load(TcIsa *isa) {
  const char *most = getenv("ONEDNN_MAX_CPU_ISA");
  if (!most)
    most = getenv("DNNL_MAX_CPU_ISA");
  bool wide = !most || !*most || PyOS_stricmp(most, "all") == 0 ||
              PyOS_strnicmp(most, "avx512", 6) == 0 || PyOS_strnicmp(most, "avx10", 5) == 0;
  *isa = wide && tc__isa_runs(TC_ISA_AVX512) ? TC_ISA_AVX512 : TC_ISA_AVX2;
  if (!tc__isa_runs(*isa) || !tc__scalar_math_find(tf.image))
    return false;
  pool_find();
  return true;
}

/* A copy: TensorFlow would want to say when it is done with memory of ours. */
static void *tf_tensor_over(const TcTensor *var) {
  TcTensor copy = {.sizes = {var->sizes[0], var->sizes[1]}, .rank = var->rank};
  size_t bytes = (size_t)(var->sizes[0] * var->sizes[1]) * sizeof(float);
  if (tf_tensor_new(&copy, TC_F32) && bytes > 0)
    memcpy(copy.data, var->data, bytes);
  return copy.handle;
}

static const void *tf_tensor_data(void *handle) {
  return tf.get_data(tf_untag(handle), thread_state.tf->status);
}

static const void *tf_witness(void) {
  const void *address;
  memcpy(&address, &tf.new_tensor, sizeof address);
  return address;
}

static bool tf_is_ieee(void) { return true; }

/* ── a call ──────────────────────────────────────────────────────────────────────────────────── */

static bool tf_enter(const char **problem) {
  *problem = tf_problem;
  return tf_load() && !(*problem = tf_thread_enter(&thread_state));
}

static Outcome tf_prepare(Plan *plan, Mode mode, Reason *reason) {
  const TcFunc *func = plan->tc.func;
  Verdict verdict = tf_thread_verdict(func, reason);
  if (verdict == VERDICT_REFUSED && *reason == REASON_TRACING && mode == MODE_NATIVE) {
    PyErr_Clear(); /* of a symbolic tensor, what is said is that it is one */
    if (take_call_args(plan, mode, reason))
      tf_thread_verdict(func, reason);
    return OUTCOME_REFUSED;
  }
  if (verdict != VERDICT_PLAIN || !take_call_args(plan, mode, reason))
    return OUTCOME_REFUSED;
  /* Unlike torch's, these tapes are told to record: mode native alone does not overrule that. */
  if (module_info->gradients != TC_ON_DETACH &&
      tf_tape_verdict(func, plan->values, reason) != VERDICT_PLAIN)
    return OUTCOME_REFUSED;
  plan->release_gil = tf_count_elements(func, plan->values) >= LONG_BODY_ELEMS;
  return OUTCOME_OK;
}

static void tf_body_enter(const Plan *plan) { (void)plan; }

static void tf_body_leave(const Plan *plan) { tf_forget_inputs(plan->tc.thread->tf); }

static Lane tf_lane = {.name = "tensorflow",
                       .plugin = "rextio-tensorflow",
                       .enter = tf_enter,
                       .prepare = tf_prepare,
                       .take_tensor = tf_take_tensor,
                       .body_enter = tf_body_enter,
                       .body_leave = tf_body_leave,
                       .give_tensor = tf_give_tensor,
                       .load = tf_recipes_load,
                       .threads = tf_threads,
                       .is_ieee = tf_is_ieee,
                       .look = tf_look,
                       .tensor_over = tf_tensor_over,
                       .tensor_new = tf_tensor_new,
                       .parallel = tf_parallel,
                       .flushes = true,
                       .tensor_data = tf_tensor_data,
                       .witness = tf_witness};
