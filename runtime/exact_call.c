/* exact_call.c: a call of an exact body: cuts the batch into blocks of rows and runs them.
 *
 * Reads a call whose arguments and state are plain (torch_guard.c, tf_boundary.c) and whose recipes
 * are admitted (admit.c). Runs the function's exact body on all rows at once or block by block, on
 * this thread or on several, and leaves the result as a tensor of the framework.
 */

enum {
  MOST_PARAMS = 32,     /* of a function with an exact body; others run the library body */
  BLOCK_ROWS_STEP = 32, /* rows × columns of a block are then a multiple of every vector width */
  BLOCK_ELEMS = 4096,   /* of the batch's own rows: a few such buffers fit the first cache */
  LEAST_LAST_ROWS = 16,
  LEAST_BLOCKS_PER_WORKER = 2, /* less is not worth waking a thread */
};

/* ── sizes that were declined ────────────────────────────────────────────────────────────────── */

/* Per callable: sizes for which a recipe was not exact, so that the next call of that size does not
 * work up to the same operation in vain. Digests; what another one displaces is only slower. Read
 * and written without the GIL. */
enum { N_DECLINED = 8 };
typedef struct Declined {
  bool any;
  uint64_t digests[N_DECLINED];
} Declined;

static uint64_t digest_sizes(const TcFunc *func, const TcValue *blocks, int threads) {
  uint64_t digest = (uint64_t)threads;
  for (int i = 0; i < func->n_params; i++)
    for (int d = 0; d < 2 && func->params[i].type.kind == TC_TENSOR; d++)
      digest = (digest ^ (uint64_t)blocks[i].block.sizes[d]) * 0x9e3779b97f4a7c15u;
  return digest ^ digest >> 32;
}

static bool declined_before(const Declined *declined, uint64_t digest) {
  return __atomic_load_n(&declined->digests[digest % N_DECLINED], __ATOMIC_RELAXED) == digest;
}

static void declined_note(Declined *declined, uint64_t digest) {
  __atomic_store_n(&declined->digests[digest % N_DECLINED], digest, __ATOMIC_RELAXED);
  __atomic_store_n(&declined->any, true, __ATOMIC_RELAXED);
}

/* ── blocks ──────────────────────────────────────────────────────────────────────────────────── */

typedef enum BlockEnd { BLOCK_DONE, BLOCK_DECLINED, BLOCK_TOO_SMALL, BLOCK_NOT_EXACT } BlockEnd;

/* A run over rows [first, first + n) into *result, which the caller drops. */
static BlockEnd run_block(const TcCall *tc, ExactCall *call, const TcValue *args, int64_t first,
                          int64_t n, TcBlock *result) {
  struct ExactBlock block = {call, &buffer_cache, first, n, false, false};
  TcCall own = *tc;
  TcValue values[MOST_PARAMS], value;
  const TcFunc *func = tc->func;
  own.exact = &block;
  memcpy(values, args, sizeof values[0] * (size_t)func->n_params);
  for (int i = 0; call->blocks && i < func->n_params; i++) {
    if (!func->params[i].rows)
      continue;
    TcBlock *x = &values[i].block;
    x->data = (float *)x->data + first * x->sizes[1];
    x->sizes[0] = n;
    x->rows = true;
  }
  memset(&value, 0, sizeof value);
  bool ok = func->exact(&own, values, &value);
  *result = value.block;
  return ok                ? BLOCK_DONE
         : block.too_small ? BLOCK_TOO_SMALL
         : block.not_exact ? BLOCK_NOT_EXACT
                           : BLOCK_DECLINED;
}

/* What the blocks behind the first one work on. */
typedef struct BlockJob {
  const TcCall *tc;
  ExactCall *call;
  const TcValue *args;
  int64_t block_rows, n_blocks;
  char *out;
  size_t row_bytes; /* of the result */
  int failed;       /* set by any thread; never cleared */
} BlockJob;

static int64_t block_end(const BlockJob *job, int64_t i) {
  return i + 1 == job->n_blocks ? job->call->rows : (i + 1) * job->block_rows;
}

static void copy_block(const BlockJob *job, const TcBlock *block, int64_t first, int64_t n) {
  if (n > 0 && job->row_bytes > 0)
    memcpy(job->out + (size_t)first * job->row_bytes, block->data, (size_t)n * job->row_bytes);
}

static void run_blocks(int64_t from, int64_t to, void *state) {
  BlockJob *job = state;
  for (int64_t i = from; i < to && !__atomic_load_n(&job->failed, __ATOMIC_RELAXED); i++) {
    int64_t first = i * job->block_rows, n = block_end(job, i) - first;
    TcBlock result;
    BlockEnd end = run_block(job->tc, job->call, job->args, first, n, &result);
    if (end == BLOCK_DONE && result.rows)
      copy_block(job, &result, first, n);
    else
      __atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
    tc_block_drop(&result);
  }
}

/* How the batch is cut: false when one block is best. */
static bool plan_blocks(const TcFunc *func, const TcValue *args, ExactCall *call, BlockJob *job) {
  if (!func->splits)
    return false;
  int64_t rows = -1, cols = 1;
  for (int i = 0; i < func->n_params; i++) {
    if (!func->params[i].rows)
      continue;
    const TcBlock *x = &args[i].block;
    if (rows >= 0 && rows != x->sizes[0])
      return false; /* one of them is broadcast */
    rows = x->sizes[0];
    if (x->sizes[1] > cols)
      cols = x->sizes[1];
  }
  if (rows < BLOCK_ROWS_STEP + LEAST_LAST_ROWS)
    return false; /* the usual case, without a division */
  int64_t block_rows = BLOCK_ELEMS / cols / BLOCK_ROWS_STEP * BLOCK_ROWS_STEP;
  if (block_rows < BLOCK_ROWS_STEP)
    block_rows = BLOCK_ROWS_STEP;
  int64_t n_blocks = rows / block_rows;
  if (rows - n_blocks * block_rows >= LEAST_LAST_ROWS)
    n_blocks++; /* else the rest joins the block before it */
  if (n_blocks < 2)
    return false;
  int64_t workers = n_blocks / LEAST_BLOCKS_PER_WORKER;
  call->workers = workers < call->threads ? (int)workers : call->threads;
  call->rows = rows;
  job->block_rows = block_rows;
  job->n_blocks = n_blocks;
  return true;
}

/* Runs the exact body on a call that is plain. True: *result holds the result. False: nothing
 * happened, no exception. */
static bool exact_run(TcCall *tc, const ExactLane *lane, int threads, Declined *declined,
                      const TcValue *args, TcValue *result) {
  const TcFunc *func = tc->func;
  TcValue blocks[MOST_PARAMS];
  if (func->n_params > MOST_PARAMS || !lane->take(tc, args, blocks))
    return false;
  if (__atomic_load_n(&declined->any, __ATOMIC_RELAXED) &&
      declined_before(declined, digest_sizes(func, blocks, threads)))
    return false;
  ExactCall call; /* packs are written before they are read: clearing them would take a while */
  call.lane = lane;
  call.isa = lane->isa;
  call.threads = threads;
  call.workers = 1;
  call.rows = 0;
  call.packs_closed = false;
  call.n_packs = 0;
  BlockJob job = {.tc = tc, .call = &call, .args = blocks};
  TcBlock block = {0};
  bool ok = false;
  BlockEnd end = BLOCK_TOO_SMALL;
  void *handle = NULL;
  call.blocks = plan_blocks(func, blocks, &call, &job);
  if (call.blocks) {
    end = run_block(tc, &call, blocks, 0, job.block_rows, &block);
    if (end == BLOCK_DONE && !block.rows && !block.origin)
      end = BLOCK_TOO_SMALL; /* a result that no block of rows is a part of */
  }
  if (end == BLOCK_TOO_SMALL) { /* all at once */
    tc_block_drop(&block);
    call.blocks = false;
    job.n_blocks = 1;
    end = run_block(tc, &call, blocks, 0, 0, &block);
  }
  if (end == BLOCK_NOT_EXACT)
    declined_note(declined, digest_sizes(func, blocks, threads));
  if (end != BLOCK_DONE)
    goto done;
  if (block.origin) {
    result->tensor = (TcTensor){NULL, block.origin};
    ok = true;
    goto done;
  }
  ok = lane->output_new(func, &block, call.blocks ? call.rows : block.sizes[0], &handle, &job.out);
  if (!ok)
    goto done;
  size_t item = func->result.dtype == TC_I64 ? sizeof(int64_t) : sizeof(float);
  job.row_bytes = (size_t)block.sizes[1] * item;
  copy_block(&job, &block, 0, block.sizes[0]);
  if (job.n_blocks > 1) {
    call.packs_closed = true;
    if (call.workers > 1)
      job.failed |= !lane->parallel(call.workers, 1, job.n_blocks, run_blocks, &job);
    else
      run_blocks(1, job.n_blocks, &job);
  }
  ok = !job.failed;
  if (ok)
    result->tensor = (TcTensor){handle, NULL};
  else
    tc__free_handle(handle);
done:
  tc_block_drop(&block);
  for (int i = 0; i < call.n_packs; i++)
    tc__free_buffer(call.packs[i].buffer);
  return ok;
}
