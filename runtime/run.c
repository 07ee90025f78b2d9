/* run.c: runs a function's body with its recipes: the batch at once, or block by block over its
 * rows.
 *
 * Reads a call whose arguments and state are plain (torch_guard.c, tf_boundary.c) and what was
 * admitted of its operations (admit.c). Blocks keep intermediate results in the first cache and
 * threads busy; what needs the batch whole, the wheel's kernels among it, makes one block of it.
 * Leaves the result as a tensor of the framework.
 */

enum {
  MOST_PARAMS = 32,     /* of a function that runs recipes */
  BLOCK_ROWS_STEP = 32, /* rows × columns of a block are then a multiple of every vector width */
  BLOCK_ELEMS = 4096,   /* of the batch's own rows: a few such buffers fit the first cache */
  LEAST_LAST_ROWS = 16,
  LEAST_BLOCKS_PER_WORKER = 2, /* less is not worth waking a thread */
};

/* ── sizes that want one block ───────────────────────────────────────────────────────────────── */

/* Per callable: sizes for which a block could not run, mostly since an operation wanted the batch
 * whole, so that the next call of that size does not try in vain. Digests; what another one
 * displaces is only slower. Read and written without the GIL. */
enum { N_WHOLE = 8 };
typedef struct WholeSizes {
  uint64_t digests[N_WHOLE];
} WholeSizes;

/* And what else a recipe may go by. */
static uint64_t digest_call(const Run *run, const TcFunc *func, const TcValue *args) {
  uint64_t digest = (uint64_t)run->threads * 2 + run->products;
  for (int i = 0; i < func->n_params; i++) {
    if (func->params[i].type.kind != TC_TENSOR)
      continue;
    const TcTensor *x = &args[i].tensor;
    const uint64_t facts[] = {(uint64_t)x->sizes[0], (uint64_t)x->sizes[1],
                              (uint64_t)(x->data != NULL) * 2 + x->turned};
    for (int k = 0; k < 3; k++)
      digest = (digest ^ facts[k]) * 0x9e3779b97f4a7c15u;
  }
  return digest ^ digest >> 32;
}

static bool whole_before(const WholeSizes *sizes, uint64_t digest) {
  return __atomic_load_n(&sizes->digests[digest % N_WHOLE], __ATOMIC_RELAXED) == digest;
}

static void whole_note(WholeSizes *sizes, uint64_t digest) {
  __atomic_store_n(&sizes->digests[digest % N_WHOLE], digest, __ATOMIC_RELAXED);
}

/* ── blocks ──────────────────────────────────────────────────────────────────────────────────── */

/* A run over rows [first, first + n) into *result, which the caller drops. False: something wants
 * the batch whole, or would raise; no exception is set. */
static bool run_block(const TcCall *tc, Run *run, const TcValue *args, int64_t first, int64_t n,
                      TcTensor *result) {
  struct Block block = {run, &buffer_cache, first, n, false, NULL, 0, 0, 0};
  TcCall own = *tc;
  TcValue values[MOST_PARAMS], value;
  const TcFunc *func = tc->func;
  own.block = &block;
  memcpy(values, args, sizeof values[0] * (size_t)func->n_params);
  for (int i = 0; i < func->n_params; i++) {
    if (!func->params[i].rows)
      continue;
    TcTensor *x = &values[i].tensor;
    x->data =
        (char *)x->data + (size_t)(first * x->sizes[1]) * dtype_bytes(func->params[i].type.dtype);
    x->sizes[0] = n;
    x->rows = true;
  }
  memset(&value, 0, sizeof value);
  bool ok = func->body(&own, values, &value);
  *result = value.tensor;
  return ok;
}

/* What the blocks behind the first one work on. */
typedef struct BlockJob {
  const TcCall *tc;
  Run *run;
  const TcValue *args;
  int64_t block_rows, n_blocks;
  char *out;
  size_t row_bytes; /* of the result */
  int failed;       /* set by any thread; never cleared */
} BlockJob;

static int64_t block_end(const BlockJob *job, int64_t i) {
  return i + 1 == job->n_blocks ? job->run->rows : (i + 1) * job->block_rows;
}

static void copy_block(const BlockJob *job, const TcTensor *block, int64_t first, int64_t n) {
  if (n > 0 && job->row_bytes > 0)
    memcpy(job->out + (size_t)first * job->row_bytes, block->data, (size_t)n * job->row_bytes);
}

static void run_blocks(int64_t from, int64_t to, void *state) {
  BlockJob *job = state;
  for (int64_t i = from; i < to && !__atomic_load_n(&job->failed, __ATOMIC_RELAXED); i++) {
    int64_t first = i * job->block_rows, n = block_end(job, i) - first;
    TcTensor result;
    if (run_block(job->tc, job->run, job->args, first, n, &result) && result.rows)
      copy_block(job, &result, first, n);
    else
      __atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
    tc_drop(&result);
  }
}

/* How the batch is cut: false when one block is best. */
static bool plan_blocks(const TcFunc *func, const TcValue *args, Run *run, BlockJob *job) {
  if (!func->splits)
    return false;
  int64_t rows = -1, cols = 1;
  for (int i = 0; i < func->n_params; i++) {
    if (!func->params[i].rows)
      continue;
    const TcTensor *x = &args[i].tensor;
    if (!x->data || x->turned || (rows >= 0 && rows != x->sizes[0]))
      return false; /* its rows have gaps, or one of them is broadcast */
    rows = x->sizes[0];
    if (x->sizes[1] > cols)
      cols = x->sizes[1];
  }
  if (rows < BLOCK_ROWS_STEP + LEAST_LAST_ROWS)
    return false; /* the usual case, without a division */
  for (int i = 0; i < func->n_ops; i++)
    if (!run->admitted[i].recipe)
      return false;
  int64_t block_rows = BLOCK_ELEMS / cols / BLOCK_ROWS_STEP * BLOCK_ROWS_STEP;
  if (block_rows < BLOCK_ROWS_STEP)
    block_rows = BLOCK_ROWS_STEP;
  int64_t n_blocks = rows / block_rows;
  if (rows - n_blocks * block_rows >= LEAST_LAST_ROWS)
    n_blocks++; /* else the rest joins the block before it */
  if (n_blocks < 2)
    return false;
  int64_t workers = n_blocks / LEAST_BLOCKS_PER_WORKER;
  run->workers = workers < run->threads ? (int)workers : run->threads;
  run->rows = rows;
  job->block_rows = block_rows;
  job->n_blocks = n_blocks;
  return true;
}

/* All blocks. The first one shows what the result is, and fills the packs. False: as run_block. */
static bool run_in_blocks(TcCall *tc, Run *run, BlockJob *job, TcValue *result) {
  const TcType *type = &tc->func->result;
  TcTensor block, whole = {.rank = type->rank};
  bool ok = run_block(tc, run, job->args, 0, job->block_rows, &block);
  if (ok && block.origin) {
    result->tensor = (TcTensor){.origin = block.origin};
    goto done;
  }
  whole.sizes[0] = whole.rank == 2 ? run->rows : 1;
  whole.sizes[1] = whole.rank == 2 ? block.sizes[1] : run->rows;
  /* A result that no block of rows is a part of comes of the whole batch. */
  ok = ok && block.rows && run->lane->tensor_new(&whole, type->dtype);
  if (!ok)
    goto done;
  job->out = whole.data;
  job->row_bytes = (size_t)block.sizes[1] * dtype_bytes(type->dtype);
  copy_block(job, &block, 0, block.sizes[0]);
  run->packs_closed = true;
  if (run->workers > 1)
    job->failed |= !run->lane->parallel(run->workers, 1, job->n_blocks, run_blocks, job);
  else
    run_blocks(1, job->n_blocks, job);
  run->packs_closed = false;
  ok = !job->failed;
  if (ok)
    result->tensor = tc_give(&whole);
done:
  tc_drop(&block);
  tc_drop(&whole);
  return ok;
}

/* The batch at once. */
static bool run_whole(TcCall *tc, Run *run, const TcValue *args, TcValue *result) {
  const TcType *type = &tc->func->result;
  struct Block block = {run, &buffer_cache, 0, 0, false, NULL, 0, 0, 0};
  tc->block = &block;
  bool ok = tc->func->body(tc, args, result);
  tc->block = NULL;
  TcTensor *tensor = &result->tensor;
  if (!ok || type->kind != TC_TENSOR || !tensor->buffer || tensor->origin)
    return ok;
  TcTensor memory = tc_give(tensor); /* of ours: the result has its own */
  size_t bytes = (size_t)(memory.sizes[0] * memory.sizes[1]) * dtype_bytes(type->dtype);
  *tensor = (TcTensor){
      .sizes = {memory.sizes[0], memory.sizes[1]}, .rank = memory.rank, .turned = memory.turned};
  ok = run->lane->tensor_new(tensor, type->dtype);
  if (ok && bytes > 0)
    memcpy(tensor->data, memory.data, bytes);
  tc_drop(&memory);
  if (!ok) {
    gil_take(tc);
    PyErr_NoMemory();
  }
  return ok;
}

/* Runs the body with the recipes that `admitted` says. False: an exception is set. */
static bool run_recipes(TcCall *tc, Run *run, WholeSizes *sizes, TcValue *args, TcValue *result) {
  const TcFunc *func = tc->func;
  for (int i = 0; i < func->n_params; i++) {
    const TcType *type = &func->params[i].type;
    if (type->kind != TC_TENSOR)
      continue;
    args[i].tensor.seen = true;
    run->lane->look(tc, &args[i].tensor, type->rank, type->dtype);
  }
  run->workers = 1;
  run->rows = 0;
  run->packs_closed = false;
  run->n_packs = 0; /* packs are written before they are read: clearing them would take a while */
  BlockJob job = {.tc = tc, .run = run, .args = args};
  run->blocks = plan_blocks(func, args, run, &job);
  bool done = false;
  if (run->blocks) {
    uint64_t digest = digest_call(run, func, args);
    if (!whole_before(sizes, digest)) {
      done = run_in_blocks(tc, run, &job, result);
      if (!done)
        whole_note(sizes, digest);
    }
    run->blocks = false;
  }
  if (!done)
    done = run_whole(tc, run, args, result);
  for (int i = 0; i < run->n_packs; i++)
    buffer_free(run->packs[i].buffer);
  return done;
}
