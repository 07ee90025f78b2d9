/* exact.c: the operations of an exact body: recipes on blocks of rows.
 *
 * Each takes blocks, asks its recipe's rule whether these sizes are exact, and runs the kernel into
 * a new block, or into that of an operand which is not needed any more. Whatever is not known to be
 * exact it declines, without an exception: the library body follows. Runs without the GIL, too.
 */

/* ── one run over the rows ───────────────────────────────────────────────────────────────────── */

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
  BufferCache *buffers; /* of the thread that runs it */
  int64_t first_row, n_rows;
  bool too_small; /* an operation can't run in blocks (of this size): the whole call may still do */
  bool not_exact; /* a recipe is not exact for these sizes */
};

static bool exact_in_blocks(const TcCall *tc) { return tc->exact->call->blocks; }

/* Frees the operands that were handed over. */
static inline void uses_end(TcBlockUse *uses, int n) {
  for (int i = 0; i < n; i++)
    if (uses[i].owned)
      tc_block_drop(uses[i].block);
}

static float no_elements[16]; /* what an empty tensor without memory points to */

static inline bool decline(TcBlockUse *uses, int n) {
  uses_end(uses, n);
  return false;
}

/* May this operation, whose whole call has these sizes, run here and now? rows: one of its operands
 * is a block of rows. */
static inline bool may_run(TcCall *tc, const TcRecipe *recipe, TcCase *whole, bool rows,
                           TcRule *rule) {
  struct ExactBlock *block = tc->exact;
  whole->threads = block->call->threads;
  *rule = recipe->rule(block->call->isa, whole);
  if (!rule->exact) {
    block->not_exact = true;
    return false;
  }
  if (!rows || !block->call->blocks)
    return true;
  bool fits = rule->blocks && block->n_rows >= rule->min_rows &&
              block->first_row * whole->cols % rule->align == 0;
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
static inline bool result_new(const TcCall *tc, TcBlock *out, TcBlockUse *over, size_t item_bytes) {
  if (over && over->owned && over->block->buffer && over->block->buffer->count == 1) {
    out->buffer = over->block->buffer;
    out->data = over->block->data;
    over->block->buffer = NULL;
    over->block->data = NULL;
    over->owned = false;
    return true;
  }
  size_t bytes;
  out->buffer =
      count_bytes(out->sizes, item_bytes, &bytes) ? buffer_new(tc->exact->buffers, bytes) : NULL;
  if (!out->buffer)
    return false;
  out->data = buffer_data(out->buffer);
  return true;
}

static inline bool finish(TcBlock *out, TcBlock *result, TcBlockUse *uses, int n) {
  uses_end(uses, n);
  tc_block_drop(out);
  *out = *result;
  return true;
}

/* ── operations ──────────────────────────────────────────────────────────────────────────────── */

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
  if (!result_new(tc, &result, &x, sizeof(float)))
    return decline(&x, 1);
  unsigned before = kernel_enter(tc->exact->call->lane);
  recipe->kernel[tc->exact->call->isa].map1(from, result.data, result.sizes[0] * result.sizes[1],
                                            &at);
  kernel_leave(tc->exact->call->lane, before);
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

TC_RECIPE(tf_bias_add);

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
  if (!result_new(tc, &result,
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
    unsigned before = kernel_enter(tc->exact->call->lane);
    recipe->kernel[tc->exact->call->isa].map2(left, right, result.data, rows, cols);
    kernel_leave(tc->exact->call->lane, before);
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

/* One element of item_bytes per row or column. */
static bool reduce(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x, int dim,
                   bool keepdim, size_t item_bytes) {
  TcAxis axis;
  TcPlace at;
  if (!along(tc, recipe, &x, dim, &axis, &at))
    return decline(&x, 1);
  TcBlock result = reduced(x.block, axis, keepdim);
  if (!result_new(tc, &result, NULL, item_bytes))
    return decline(&x, 1);
  unsigned before = kernel_enter(tc->exact->call->lane);
  recipe->kernel[tc->exact->call->isa].along(x.block->data, result.data, x.block->sizes[0],
                                             x.block->sizes[1], axis, &at);
  kernel_leave(tc->exact->call->lane, before);
  return finish(out, &result, &x, 1);
}

bool tc_exact_reduce(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x, int dim,
                     bool keepdim) {
  return reduce(tc, out, recipe, x, dim, keepdim, sizeof(float));
}

/* Of nothing there is none: its rule says so. */
bool tc_exact_argmax(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x, int dim,
                     bool keepdim) {
  return reduce(tc, out, recipe, x, dim, keepdim, sizeof(int64_t));
}

bool tc_exact_transpose(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x) {
  TcBlock result = {.sizes = {x.block->sizes[1], x.block->sizes[0]}, .rank = 2};
  TcCase whole = {.rows = x.block->sizes[0], .cols = x.block->sizes[1]};
  TcRule rule;
  if (x.block->rank != 2 || x.block->rows || !may_run(tc, recipe, &whole, false, &rule))
    return decline(&x, 1);
  if (!result_new(tc, &result, NULL, sizeof(float)))
    return decline(&x, 1);
  unsigned before = kernel_enter(tc->exact->call->lane);
  recipe->kernel[tc->exact->call->isa].transpose(x.block->data, result.data, x.block->sizes[0],
                                                 x.block->sizes[1]);
  kernel_leave(tc->exact->call->lane, before);
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
  if (!result_new(tc, &result, &x, sizeof(float)))
    return decline(&x, 1);
  unsigned before = kernel_enter(tc->exact->call->lane);
  recipe->kernel[tc->exact->call->isa].along(from, result.data, result.sizes[0], result.sizes[1],
                                             axis, &at);
  kernel_leave(tc->exact->call->lane, before);
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
  struct TcBuffer *buffer = buffer_new(tc->exact->buffers, (size_t)elems * sizeof(float));
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
  bool ok = result_new(tc, &result, NULL, sizeof(float));
  if (ok) {
    TcPlace at = place_of(tc, x);
    mm.out = result.data;
    unsigned before = kernel_enter(tc->exact->call->lane);
    recipe->kernel[tc->exact->call->isa].matmul(&mm, &at);
    kernel_leave(tc->exact->call->lane, before);
  }
  if (temporary)
    tc__free_buffer(temporary);
  return ok ? finish(out, &result, uses, n_uses) : decline(uses, n_uses);
}

TC_RECIPE(mv);

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
