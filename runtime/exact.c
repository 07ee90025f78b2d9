/* exact.c: the exact body: recipes on blocks of rows.
 *
 * Reads a call whose arguments and state are plain (boundary.c, guard.c) and whose recipes are
 * admitted (admit.c). Runs the function's exact body on all rows at once or block by block, on this
 * thread or on several, and leaves the result as a tensor of the wheel. Whatever it does not know
 * to be exact it declines, without an exception: the library body follows.
 *
 * Nothing here raises and nothing but the result is allocated in the steady state: blocks live in a
 * pool of buffers that each thread keeps.
 */

/* ── buffers
 * ──────────────────────────────────────────────────────────────────────────────────────────────────────
 */

/* The head of a piece of memory; the elements follow behind it, at 64 bytes. */
struct TcBuffer {
  struct TcBuffer *next; /* in the pool */
  size_t capacity_bytes;
  int count; /* variables that hold it */
};
enum { BUFFER_HEAD_BYTES = 64, BUFFER_LEAST_BYTES = 4096, POOL_MOST_BYTES = 1 << 24 };

typedef struct BufferPool {
  struct TcBuffer *free; /* last used first: it is still in the cache */
  size_t free_bytes;
} BufferPool;

static _Thread_local BufferPool buffer_pool;
static pthread_key_t pool_key; /* its destructor frees the pool of a thread that ends */
static pthread_once_t pool_once = PTHREAD_ONCE_INIT;

static void pool_free(void *pool) {
  BufferPool *own = pool;
  for (struct TcBuffer *next, *at = own->free; at; at = next) {
    next = at->next;
    free(at);
  }
  own->free = NULL;
  own->free_bytes = 0;
}

static void pool_key_make(void) { pthread_key_create(&pool_key, pool_free); }

static struct TcBuffer *buffer_new(size_t bytes) {
  for (struct TcBuffer **link = &buffer_pool.free; *link; link = &(*link)->next) {
    struct TcBuffer *buffer = *link;
    if (buffer->capacity_bytes < bytes)
      continue;
    *link = buffer->next;
    buffer_pool.free_bytes -= buffer->capacity_bytes;
    buffer->count = 1;
    return buffer;
  }
  if (bytes > SIZE_MAX / 2)
    return NULL;
  pthread_once(&pool_once, pool_key_make);
  pthread_setspecific(pool_key, &buffer_pool);
  size_t capacity = bytes < BUFFER_LEAST_BYTES ? BUFFER_LEAST_BYTES : (bytes + 63) / 64 * 64;
  struct TcBuffer *buffer = aligned_alloc(64, BUFFER_HEAD_BYTES + capacity);
  if (!buffer)
    return NULL;
  buffer->capacity_bytes = capacity;
  buffer->count = 1;
  return buffer;
}

static inline void *buffer_data(struct TcBuffer *buffer) {
  return (char *)buffer + BUFFER_HEAD_BYTES;
}

void tc__free_buffer(struct TcBuffer *buffer) {
  if (--buffer->count > 0)
    return;
  if (buffer_pool.free_bytes + buffer->capacity_bytes > POOL_MOST_BYTES) {
    free(buffer);
    return;
  }
  buffer->next = buffer_pool.free;
  buffer_pool.free = buffer;
  buffer_pool.free_bytes += buffer->capacity_bytes;
}

bool tc_block_copy(TcCall *tc, TcBlock *to, const TcBlock *from) {
  (void)tc;
  TcBlock value = *from;
  if (value.buffer)
    value.buffer->count++;
  tc_block_drop(to);
  *to = value;
  return true;
}

/* ── lanes
 * ────────────────────────────────────────────────────────────────────────────────────────────────────────
 */

/* What the exact body needs of a framework. One for each: torch.c's at the end of admit.c,
 * TensorFlow's in tf_exact.c. */
typedef struct ExactLane {
  /* Whether this process can run exact bodies at all. Leaves the kernels that it then has to use.
   */
  bool (*load)(TcIsa *isa);
  /* The framework's own count, which decides how eager would split the work. At least 1. */
  int (*threads)(void);
  /* Every argument, tensors as blocks that borrow their memory. False: one is not contiguous. */
  bool (*take)(const TcCall *tc, const TcValue *args, TcValue *blocks);
  /* The result: a tensor of `rows` rows and the block's columns, and where its elements go. False:
   * no memory. */
  bool (*output_new)(const TcFunc *func, const TcBlock *block, int64_t rows, void **handle,
                     char **data);
  /* Runs [from, to) on the framework's threads or ours; NULL: there are none. False: it failed. */
  bool (*parallel)(int64_t from, int64_t to, void (*run)(int64_t from, int64_t to, void *state),
                   void *state);
  bool flushes; /* its kernels take denormals for zero */

  /* For admission: a tensor with these values, the memory of one, and the operation of a recipe by
   * the framework itself, which consumes its operands. bias: a matmul's third operand. dim: of a
   * recipe along one. */
  void *(*tensor_new)(const float *x, int64_t rows, int64_t cols, int rank);
  const void *(*tensor_data)(void *handle);
  bool (*run)(TcCall *tc, TcTensor *out, const TcRecipe *recipe, const TcUse *uses, int n, int dim);

  const char *name;             /* of the file of verdicts */
  const void *(*witness)(void); /* an address inside the image that has the kernels */

  enum { EXACT_UNKNOWN, EXACT_READY, EXACT_UNAVAILABLE } status;
  TcIsa isa; /* once it is READY */
  VerdictFile verdicts;
} ExactLane;

/* FTZ and DAZ on this thread; what was set before. Compilers move no arithmetic of ours over it:
 * kernels are functions of other units. */
static inline unsigned flush_enter(void) {
#if defined __x86_64__
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  return before;
#elif defined __aarch64__
  uint64_t before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  __asm__ volatile("msr fpcr, %0" : : "r"(before | 1u << 24));
  return (unsigned)before;
#else
  return 0;
#endif
}

static inline void flush_leave(unsigned before) {
#if defined __x86_64__
  _mm_setcsr(before);
#elif defined __aarch64__
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)before));
#else
  (void)before;
#endif
}

/* ── one run over the rows
 * ──────────────────────────────────────────────────────────────────────────────────────── */

enum { MOST_PACKS = 16 };

/* A weight in the layout that the matmul kernels read fastest, made once per call. */
typedef struct Pack {
  const float *weight;
  int64_t k, n;
  bool transposed;
  struct TcBuffer *buffer;
} Pack;

/* What all blocks of a call share. */
typedef struct ExactCall {
  const ExactLane *lane;
  TcIsa isa;
  int threads;       /* the framework's count */
  int workers;       /* threads that blocks may run on */
  int64_t rows;      /* of the batch */
  bool blocks;       /* the batch is run in several blocks */
  bool packs_closed; /* the first block is done: packs are only read now, by several threads */
  int n_packs;
  Pack packs[MOST_PACKS];
} ExactCall;

/* One block of it. TcCall.exact points here while the exact body runs. */
struct ExactBlock {
  ExactCall *call;
  int64_t first_row, n_rows;
  bool too_small; /* declined because an operation can't run in blocks (of this size): the whole
                     call may still do */
};

static bool exact_in_blocks(const TcCall *tc) { return tc->exact->call->blocks; }

static inline bool decline(TcBlockUse *uses, int n) {
  for (int i = 0; i < n; i++)
    if (uses[i].owned)
      tc_block_drop(uses[i].block);
  return false;
}

/* May this operation, whose whole call has these sizes, run here and now? rows: one of its operands
 * is a block of rows. */
static inline bool may_run(TcCall *tc, const TcRecipe *recipe, TcCase *whole, bool rows,
                           TcRule *rule) {
  struct ExactBlock *block = tc->exact;
  whole->threads = block->call->threads;
  *rule = recipe->rule(block->call->isa, whole);
  if (!rule->exact)
    return false;
  if (!rows || !block->call->blocks)
    return true;
  bool fits = rule->blocks && block->n_rows >= rule->min_rows;
  if (!fits)
    block->too_small = true;
  return fits;
}

static inline TcPlace place_of(const TcCall *tc, const TcBlock *x) {
  const struct ExactBlock *block = tc->exact;
  int64_t n = x->sizes[0] * x->sizes[1];
  if (!x->rows)
    return (TcPlace){0, n, block->call->threads};
  return (TcPlace){block->first_row * x->sizes[1], block->call->rows * x->sizes[1],
                   block->call->threads};
}

/* Rows that the whole tensor has, of which x is a block or all. */
static inline int64_t whole_rows(const TcCall *tc, const TcBlock *x) {
  return x->rows ? tc->exact->call->rows : x->sizes[0];
}

/* Memory for a result, in place of operand `over` where it was handed over and nobody else holds
 * it. */
static inline bool result_new(TcBlock *out, TcBlockUse *over, size_t item_bytes) {
  if (over && over->owned && over->block->buffer && over->block->buffer->count == 1) {
    out->buffer = over->block->buffer;
    out->data = over->block->data;
    over->block->buffer = NULL;
    over->block->data = NULL;
    over->owned = false;
    return true;
  }
  out->buffer = buffer_new((size_t)(out->sizes[0] * out->sizes[1]) * item_bytes);
  if (!out->buffer)
    return false;
  out->data = buffer_data(out->buffer);
  return true;
}

static inline bool finish(TcBlock *out, TcBlock *result, TcBlockUse *uses, int n) {
  decline(uses, n); /* frees what was handed over and not used again */
  tc_block_drop(out);
  *out = *result;
  return true;
}

/* ── operations
 * ───────────────────────────────────────────────────────────────────────────────────────────────────
 */

bool tc_exact_map1(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x) {
  TcBlock result = {.sizes = {x.block->sizes[0], x.block->sizes[1]},
                    .rank = x.block->rank,
                    .rows = x.block->rows};
  TcCase whole = {.rows = whole_rows(tc, x.block), .cols = x.block->sizes[1]};
  TcRule rule;
  if (!may_run(tc, recipe, &whole, x.block->rows, &rule))
    return decline(&x, 1);
  TcPlace at = place_of(tc, x.block);
  const float *from = x.block->data;
  if (!result_new(&result, &x, sizeof(float)))
    return decline(&x, 1);
  recipe->kernel[tc->exact->call->isa].map1(from, result.data, result.sizes[0] * result.sizes[1],
                                            &at);
  return finish(out, &result, &x, 1);
}

/* The operand as a [rows, cols] result sees it; false when it does not broadcast to that. */
static bool operand_of(const TcBlock *x, int64_t rows, int64_t cols, TcOperand *operand) {
  operand->p = x->data;
  if ((x->sizes[0] != rows && x->sizes[0] != 1) || (x->sizes[1] != cols && x->sizes[1] != 1))
    return false;
  operand->col = x->sizes[1] == cols ? 1 : 0;
  operand->row = x->sizes[0] == rows ? (operand->col ? cols : 1) : 0;
  if (operand->col == 0 && x->sizes[0] == 1)
    operand->row = 0;
  return true;
}

extern const TcRecipe tc_recipe_tf_bias_add;

bool tc_exact_map2(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse a, TcBlockUse b) {
  TcBlockUse uses[2] = {a, b};
  TcBlock *x = uses[0].block, *y = uses[1].block;
  if (recipe == &tc_recipe_tf_bias_add && (y->rank != 1 || y->rows || y->sizes[1] != x->sizes[1]))
    return decline(uses, 2); /* it does not broadcast */
  /* A column of the batch only meets another one: rows.c sees to that. */
  if ((x->rank == 1 && x->rows) != (y->rank == 1 && y->rows))
    return decline(uses, 2);
  TcBlock result = {.rank = x->rank > y->rank ? x->rank : y->rank, .rows = x->rows || y->rows};
  bool empty = false;
  for (int d = 0; d < 2; d++) {
    result.sizes[d] = x->sizes[d] == 1 ? y->sizes[d] : x->sizes[d];
    empty = empty || result.sizes[d] == 0;
  }
  TcOperand left, right;
  if (!operand_of(x, result.sizes[0], result.sizes[1], &left) ||
      !operand_of(y, result.sizes[0], result.sizes[1], &right))
    return decline(uses, 2);
  bool full_x = x->sizes[0] == result.sizes[0] && x->sizes[1] == result.sizes[1];
  bool full_y = y->sizes[0] == result.sizes[0] && y->sizes[1] == result.sizes[1];
  if ((!full_x && !full_y) || (empty && result.sizes[1] == 1 && !(full_x && full_y)))
    return decline(uses, 2); /* eager's strides then follow another rule */
  TcCase whole = {.rows = result.rows ? tc->exact->call->rows : result.sizes[0],
                  .cols = result.sizes[1],
                  .full = full_x && full_y};
  TcRule rule;
  if (!may_run(tc, recipe, &whole, result.rows, &rule))
    return decline(uses, 2);
  if (!result_new(&result,
                  full_x && uses[0].owned ? &uses[0]
                  : full_y                ? &uses[1]
                                          : NULL,
                  sizeof(float)))
    return decline(uses, 2);
  if (!empty) {
    int64_t rows = result.sizes[0], cols = result.sizes[1];
    if (cols == 1 && left.row == 1 && right.row == 1) { /* two columns: one row of them */
      rows = 1;
      cols = result.sizes[0];
      left = (TcOperand){left.p, cols, 1};
      right = (TcOperand){right.p, cols, 1};
    }
    recipe->kernel[tc->exact->call->isa].map2(left, right, result.data, rows, cols);
  }
  return finish(out, &result, uses, 2);
}

/* Along dimension dim: the axis of the kernel, and the shape of a result that has one element per
 * row or column. */
static bool along(TcCall *tc, const TcRecipe *recipe, TcBlockUse *x, int dim, TcAxis *axis,
                  TcPlace *at) {
  *axis = x->block->rank == 2 && dim == 0 ? TC_FIRST : TC_LAST;
  if (x->block->rank == 1 && x->block->rows)
    return false; /* over the batch itself */
  if (x->block->rows && *axis == TC_FIRST)
    return false;
  TcCase whole = {.rows = whole_rows(tc, x->block), .cols = x->block->sizes[1], .axis = *axis};
  TcRule rule;
  *at = place_of(tc, x->block);
  return may_run(tc, recipe, &whole, x->block->rows, &rule);
}

static TcBlock reduced(const TcBlock *x, TcAxis axis, bool keepdim) {
  int64_t n = axis == TC_FIRST ? x->sizes[1] : x->sizes[0];
  TcBlock result = {.rank = keepdim ? x->rank : x->rank - 1, .rows = x->rows};
  bool column = axis == TC_LAST && (result.rank == 2 || result.rows);
  result.sizes[0] = column ? n : 1;
  result.sizes[1] = column ? 1 : n;
  return result;
}

bool tc_exact_reduce(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x, int dim,
                     bool keepdim) {
  TcAxis axis;
  TcPlace at;
  if (!along(tc, recipe, &x, dim, &axis, &at))
    return decline(&x, 1);
  TcBlock result = reduced(x.block, axis, keepdim);
  if (!result_new(&result, NULL, sizeof(float)))
    return decline(&x, 1);
  recipe->kernel[tc->exact->call->isa].along(x.block->data, result.data, x.block->sizes[0],
                                             x.block->sizes[1], axis, &at);
  return finish(out, &result, &x, 1);
}

bool tc_exact_transpose(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x) {
  TcBlock result = {.sizes = {x.block->sizes[1], x.block->sizes[0]}, .rank = 2};
  TcCase whole = {.rows = x.block->sizes[0], .cols = x.block->sizes[1]};
  TcRule rule;
  if (x.block->rank != 2 || x.block->rows || !may_run(tc, recipe, &whole, false, &rule))
    return decline(&x, 1);
  if (!result_new(&result, NULL, sizeof(float)))
    return decline(&x, 1);
  recipe->kernel[tc->exact->call->isa].transpose(x.block->data, result.data, x.block->sizes[0],
                                                 x.block->sizes[1]);
  return finish(out, &result, &x, 1);
}

bool tc_exact_argmax(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x, int dim,
                     bool keepdim) {
  TcAxis axis;
  TcPlace at;
  if (!along(tc, recipe, &x, dim, &axis, &at) || x.block->sizes[axis == TC_FIRST ? 0 : 1] == 0)
    return decline(&x, 1);
  TcBlock result = reduced(x.block, axis, keepdim);
  if (!result_new(&result, NULL, sizeof(int64_t)))
    return decline(&x, 1);
  recipe->kernel[tc->exact->call->isa].along(x.block->data, result.data, x.block->sizes[0],
                                             x.block->sizes[1], axis, &at);
  return finish(out, &result, &x, 1);
}

bool tc_exact_rowwise(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x, int dim) {
  TcAxis axis;
  TcPlace at;
  if (!along(tc, recipe, &x, dim, &axis, &at))
    return decline(&x, 1);
  TcBlock result = {.sizes = {x.block->sizes[0], x.block->sizes[1]},
                    .rank = x.block->rank,
                    .rows = x.block->rows};
  const float *from = x.block->data;
  if (!result_new(&result, &x, sizeof(float)))
    return decline(&x, 1);
  recipe->kernel[tc->exact->call->isa].along(from, result.data, result.sizes[0], result.sizes[1],
                                             axis, &at);
  return finish(out, &result, &x, 1);
}

/* The weight as pack leaves it; *temporary is to be freed by the caller when it is not one that the
 * call keeps. */
static const float *packed_weight(TcCall *tc, const TcBlock *w, TcMatmul *mm, int64_t elems,
                                  struct TcBuffer **temporary) {
  ExactCall *call = tc->exact->call;
  bool keeps = w->buffer == NULL; /* an argument: the same memory in every block */
  for (int i = 0; keeps && i < call->n_packs; i++) {
    const Pack *pack = &call->packs[i];
    if (pack->weight == mm->w && pack->k == mm->k && pack->n == mm->n &&
        pack->transposed == mm->transposed)
      return buffer_data(pack->buffer);
  }
  struct TcBuffer *buffer = buffer_new((size_t)elems * sizeof(float));
  if (!buffer)
    return NULL;
  tc__kernels((int)call->isa)->pack(mm->w, buffer_data(buffer), mm->k, mm->n, mm->transposed);
  if (keeps && !call->packs_closed && call->n_packs < MOST_PACKS)
    call->packs[call->n_packs++] = (Pack){mm->w, mm->k, mm->n, mm->transposed, buffer};
  else
    *temporary = buffer;
  return buffer_data(buffer);
}

/* out[m, n] = x[m, k] @ w (+ bias); uses[0] is x, uses[1] is w. */
static bool matmul(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse *uses, int n_uses,
                   TcBlock result, TcMatmul mm, bool rows) {
  TcBlock *x = uses[0].block;
  TcCase whole = {.rows = rows ? tc->exact->call->rows : mm.m,
                  .cols = mm.n,
                  .k = mm.k,
                  .bias = mm.bias != NULL,
                  .transposed = mm.transposed};
  TcRule rule;
  if (uses[1].block->rows || !may_run(tc, recipe, &whole, rows, &rule))
    return decline(uses, n_uses);
  struct TcBuffer *temporary = NULL;
  if (rule.pack_elems > 0 &&
      !(mm.packed = packed_weight(tc, uses[1].block, &mm, rule.pack_elems, &temporary)))
    return decline(uses, n_uses);
  bool ok = result_new(&result, NULL, sizeof(float));
  if (ok) {
    TcPlace at = place_of(tc, x);
    mm.out = result.data;
    recipe->kernel[tc->exact->call->isa].matmul(&mm, &at);
  }
  if (temporary)
    tc__free_buffer(temporary);
  return ok ? finish(out, &result, uses, n_uses) : decline(uses, n_uses);
}

extern const TcRecipe tc_recipe_mv;

bool tc_exact_matmul(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse a, TcBlockUse b) {
  TcBlockUse uses[2] = {a, b};
  const TcBlock *x = a.block, *w = b.block;
  bool mv = w->rank == 1;
  if (x->rank == 1 && x->rows)
    return decline(uses, 2);
  TcMatmul mm = {
      .x = x->data, .w = w->data, .m = x->sizes[0], .k = x->sizes[1], .n = mv ? 1 : w->sizes[1]};
  if (mm.k != (mv ? w->sizes[1] : w->sizes[0]))
    return decline(uses, 2);
  TcBlock result = {.rank = mv || x->rank == 1 ? 1 : 2, .rows = x->rows};
  bool column = !mv || x->rows;
  result.sizes[0] = column ? mm.m : 1;
  result.sizes[1] = column ? mm.n : mm.m;
  return matmul(tc, out, mv ? &tc_recipe_mv : recipe, uses, 2, result, mm, x->rows);
}

static bool linear(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse *uses, int n_uses) {
  const TcBlock *x = uses[0].block, *w = uses[1].block, *bias = n_uses > 2 ? uses[2].block : NULL;
  TcMatmul mm = {.x = x->data,
                 .w = w->data,
                 .m = x->sizes[0],
                 .k = x->sizes[1],
                 .n = w->sizes[0],
                 .transposed = true};
  if (mm.k != w->sizes[1] || (bias && (bias->rows || bias->sizes[1] != mm.n)))
    return decline(uses, n_uses);
  mm.bias = bias ? bias->data : NULL;
  TcBlock result = {.sizes = {mm.m, mm.n}, .rank = 2, .rows = x->rows};
  return matmul(tc, out, recipe, uses, n_uses, result, mm, x->rows);
}

bool tc_exact_linear(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x,
                     TcBlockUse weight) {
  TcBlockUse uses[2] = {x, weight};
  return linear(tc, out, recipe, uses, 2);
}

bool tc_exact_linear_bias(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x,
                          TcBlockUse weight, TcBlockUse bias) {
  TcBlockUse uses[3] = {x, weight, bias};
  return linear(tc, out, recipe, uses, 3);
}

/* ── a call
 * ───────────────────────────────────────────────────────────────────────────────────────────────────────
 */

enum {
  MOST_PARAMS = 32,     /* of a function with an exact body; others run the library body */
  BLOCK_ROWS_STEP = 32, /* rows × columns of a block are then a multiple of every vector width */
  BLOCK_ELEMS = 4096,   /* of the batch's own rows: a few such buffers fit the first cache */
  LEAST_LAST_ROWS = 16,
};

/* A contiguous argument as a block; false for anything else. Strides are compared for size-1
 * dimensions too, since eager's outputs repeat them. Those of an empty numpy array are 0, which
 * says nothing. */
static bool block_of(const TcCall *tc, const TcTensor *tensor, int rank, TcDType dtype,
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
  static float nothing[16];
  *block = (TcBlock){
      .data = data ? data : nothing, .sizes = {rows, cols}, .rank = rank, .origin = tensor->origin};
  return true;
}

/* torch's arguments. */
static bool take_blocks(const TcCall *tc, const TcValue *args, TcValue *blocks) {
  const TcFunc *func = tc->func;
  for (int i = 0; i < func->n_params; i++) {
    if (func->params[i].type.kind != TC_TENSOR)
      blocks[i] = args[i];
    else if (!block_of(tc, &args[i].tensor, func->params[i].type.rank, func->params[i].type.dtype,
                       &blocks[i].block))
      return false;
  }
  return true;
}

/* A run over rows [first, first + n) into *result, which the caller drops. */
static bool run_block(const TcCall *tc, ExactCall *call, const TcValue *args, int64_t first,
                      int64_t n, TcBlock *result, bool *too_small) {
  struct ExactBlock block = {call, first, n, false};
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
  unsigned before = call->lane->flushes ? flush_enter() : 0;
  bool ok = func->exact(&own, values, &value);
  if (call->lane->flushes)
    flush_leave(before);
  *too_small = block.too_small;
  *result = value.block;
  return ok;
}

/* The tensor that the blocks are copied into. */
static bool output_new(const TcFunc *func, const TcBlock *block, int64_t rows, H *handle,
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
    bool too_small;
    bool ok =
        run_block(job->tc, job->call, job->args, first, n, &result, &too_small) && result.rows;
    if (ok)
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
  int64_t block_rows = BLOCK_ELEMS / cols / BLOCK_ROWS_STEP * BLOCK_ROWS_STEP;
  if (block_rows < BLOCK_ROWS_STEP)
    block_rows = BLOCK_ROWS_STEP;
  int64_t n_blocks = rows / block_rows;
  if (rows - n_blocks * block_rows >= LEAST_LAST_ROWS)
    n_blocks++; /* else the rest joins the block before it */
  if (n_blocks < 2 || (call->workers > 1 && n_blocks < 2 * call->workers))
    return false;
  call->rows = rows;
  job->block_rows = block_rows;
  job->n_blocks = n_blocks;
  return true;
}

/* Runs the exact body on a call that is plain. True: *result holds the result. False: nothing
 * happened, no exception. */
static bool exact_run(TcCall *tc, const ExactLane *lane, int threads, const TcValue *args,
                      TcValue *result) {
  const TcFunc *func = tc->func;
  TcValue blocks[MOST_PARAMS];
  if (func->n_params > MOST_PARAMS || !lane->take(tc, args, blocks))
    return false;
  ExactCall call = {.lane = lane, .isa = lane->isa, .threads = threads};
  call.workers = lane->parallel ? call.threads : 1;
  BlockJob job = {.tc = tc, .call = &call, .args = blocks};
  TcBlock block = {0};
  bool too_small = false, ok = false;
  void *handle = NULL;
  call.blocks = plan_blocks(func, blocks, &call, &job);
  if (call.blocks) {
    ok = run_block(tc, &call, blocks, 0, job.block_rows, &block, &too_small) &&
         (block.rows || block.origin);
    if (!ok) { /* perhaps all at once */
      tc_block_drop(&block);
      call.blocks = false;
    }
  }
  if (!call.blocks) {
    ok = run_block(tc, &call, blocks, 0, 0, &block, &too_small);
    job.n_blocks = 1;
  }
  if (!ok)
    goto done;
  if (block.origin) {
    result->tensor = (TcTensor){NULL, block.origin};
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
      job.failed |= !lane->parallel(1, job.n_blocks, run_blocks, &job);
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
