/* op.c: an operation of a body, by its recipe or by the wheel.
 *
 * A recipe runs where this host has admitted it, its operands lie contiguous in memory, and its
 * rule holds for these sizes; what it declines is as it was. All else is one call of the wheel's
 * own kernel, which also finds what eager would raise. Runs without the GIL, too.
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

/* How an operation may run. */
typedef struct OpAdmission {
  const TcRecipe *recipe; /* the variant; NULL: by the wheel */
  const TcLaw *law;       /* of a product; NULL: the wheel's own function */
} OpAdmission;

/* What all blocks of a call share. */
typedef struct Run {
  const Lane *lane;
  const OpAdmission *admitted; /* by the operation's place in TcFunc.ops */
  uint64_t *wheel_counts;      /* likewise: calls of the wheel inside this body */
  TcIsa isa;
  int threads;       /* the framework's count */
  int workers;       /* threads that blocks may run on */
  int64_t rows;      /* of the batch */
  bool products;     /* matrix products are IEEE */
  bool blocks;       /* the batch is run in several blocks */
  bool packs_closed; /* the first block is done: packs are only read now, by several threads */
  int n_packs;
  Pack packs[MOST_PACKS];
} Run;

/* One block of it. TcCall.block points here while recipes may run. */
struct Block {
  Run *run;
  BufferCache *buffers; /* of the thread that runs it */
  int64_t first_row, n_rows;
  bool broken;              /* an operation failed half-way, and its operands are gone */
  void *place;              /* where the next result has to go; NULL: wherever there is memory */
  int64_t matrix, matrices; /* which of how many the next operand is; 0 of 0: the only one */
  int64_t x_step;           /* of a graph's product: TcMatmul.x_step */
};

static bool in_blocks(const TcCall *tc) { return tc->block && tc->block->run->blocks; }

static float no_elements[16]; /* what an empty tensor without memory points to */

/* ── what recipes share ──────────────────────────────────────────────────────────────────────── */

/* Is the operand's memory known? Looks for it once. */
static inline bool see(const TcCall *tc, TcTensor *var) {
  if (var->data)
    return true;
  if (var->seen || !tc->plain)
    return false;
  var->seen = true;
  return tc->block->run->lane->look(tc, var, 0, TC_F32);
}

/* The variant of the operation's recipe that has the wheel's bits here. NULL: none. */
static inline const TcRecipe *recipe_of(const TcCall *tc, const TcOp *op) {
  return tc->block->run->admitted[op - tc->func->ops].recipe;
}

/* May this operation, whose whole call has these sizes, run here and now? rows: one of its operands
 * is a block of rows. */
static inline bool may_run(const TcCall *tc, const TcRecipe *recipe, TcCase *whole, bool rows,
                           TcRule *rule) {
  const struct Block *block = tc->block;
  whole->threads = block->run->threads;
  *rule = recipe->rule(block->run->isa, whole);
  if (!rule->exact)
    return false;
  return !rows || !block->run->blocks ||
         (rule->blocks && block->n_rows >= rule->min_rows &&
          block->first_row * whole->cols % rule->align == 0);
}

static inline TcPlace place_of(const TcCall *tc, const TcTensor *x) {
  const struct Block *block = tc->block;
  int64_t n = x->sizes[0] * x->sizes[1], matrices = block->matrices > 0 ? block->matrices : 1;
  if (!x->rows)
    return (TcPlace){block->matrix * n, matrices * n, block->run->threads};
  return (TcPlace){block->first_row * x->sizes[1], block->run->rows * x->sizes[1],
                   block->run->threads};
}

/* Rows that the whole tensor has, of which x is a block or all. */
static inline int64_t whole_rows(const TcCall *tc, const TcTensor *x) {
  return x->rows ? tc->block->run->rows : x->sizes[0];
}

/* From here on a result is a tensor of the framework at once: that of the function need not be
 * copied then, and smaller ones are better off in memory that is still in the cache. */
enum { LARGE_BYTES = 1 << 18 };

/* Memory for a result, in place of operand `over` where it was handed over and nobody else holds
 * it. False: there is none, and the wheel may have more luck. */
static inline bool result_new(const TcCall *tc, TcTensor *out, TcUse *over, TcDType dtype) {
  const Lane *lane = tc->block->run->lane;
  if (tc->block->place) {
    out->data = tc->block->place;
    return true;
  }
  TcTensor *var = over && over->owned ? over->var : NULL;
  bool pooled = var && var->buffer && var->buffer->count == 1 && !var->handle;
  if (pooled || (var && var->handle && !var->buffer && !var->origin && var->rank == out->rank &&
                 lane->is_sole && lane->is_sole(var))) {
    out->handle = var->handle;
    out->buffer = var->buffer;
    out->data = var->data;
    *var = (TcTensor){0};
    return true;
  }
  size_t bytes;
  if (!count_bytes(out->sizes, dtype_bytes(dtype), &bytes))
    return false;
  if (bytes >= LARGE_BYTES && !tc->block->run->blocks)
    return lane->tensor_new(out, dtype);
  out->buffer = buffer_new(tc->block->buffers, bytes);
  if (!out->buffer)
    return false;
  out->data = buffer_data(out->buffer);
  return true;
}

static inline bool finish(TcTensor *out, const TcTensor *result, TcUse *uses, int n) {
  for (int i = 0; i < n; i++)
    if (uses[i].owned)
      tc_drop(uses[i].var);
  tc_drop(out);
  *out = *result;
  return true;
}

/* No threads could be had in the middle of an operation. */
static bool abandon(const TcCall *tc, TcTensor *result) {
  tc_drop(result);
  tc->block->broken = true;
  return false;
}

/* ── the rows of an operation on several threads ─────────────────────────────────────────────── */

enum {
  LEAST_SHARED_ELEMS = 1 << 16, /* less is not worth waking a thread */
  PIECE_STEP = 32,              /* rows × columns are then a multiple of every vector width */
  PIECES_PER_WORKER = 2,
};

/* Rows [first, first + n) of an operation. */
typedef void Piece(const void *state, int64_t first, int64_t n);

typedef struct Pieces {
  Piece *piece;
  const void *state;
  const Lane *lane;
  int64_t rows, piece_rows, n_pieces;
} Pieces;

static void pieces_run(int64_t from, int64_t to, void *state) {
  const Pieces *pieces = state;
  unsigned before = kernel_enter(pieces->lane);
  for (int64_t i = from; i < to; i++) {
    int64_t first = i * pieces->piece_rows,
            end = i + 1 == pieces->n_pieces ? pieces->rows : first + pieces->piece_rows;
    pieces->piece(pieces->state, first, end - first);
  }
  kernel_leave(pieces->lane, before);
}

/* All rows of an operation: where the body runs the batch whole and that is much, on the threads
 * that eager would use. elems: a measure of the work. */
static bool over_rows(const TcCall *tc, const TcRule *rule, int64_t rows, int64_t elems,
                      Piece *piece, const void *state) {
  const Run *run = tc->block->run;
  Pieces pieces = {piece, state, run->lane, rows, rows, 1};
  if (elems >= LEAST_SHARED_ELEMS && run->threads > 1 && !run->blocks && rule->blocks) {
    int64_t least = rule->min_rows > PIECE_STEP ? rule->min_rows : PIECE_STEP;
    int64_t wanted = rows / ((int64_t)run->threads * PIECES_PER_WORKER);
    pieces.piece_rows = ((wanted > least ? wanted : least) + PIECE_STEP - 1) & -PIECE_STEP;
    pieces.n_pieces = rows / pieces.piece_rows; /* the rest joins the last one */
    if (pieces.n_pieces > 1)
      return run->lane->parallel(run->threads, 0, pieces.n_pieces, pieces_run, &pieces);
    pieces.n_pieces = 1;
  }
  pieces_run(0, 1, &pieces);
  return true;
}

/* ── elementwise ─────────────────────────────────────────────────────────────────────────────── */

typedef struct MapWork {
  TcMap1 *map1;
  TcMap2 *map2;
  const float *x;
  TcOperand a, b;
  float *out;
  int64_t cols;
  TcPlace at; /* of the first element */
} MapWork;

/* Of the flattened tensor: a row is one element. */
static void map1_piece(const void *state, int64_t first, int64_t n) {
  const MapWork *work = state;
  TcPlace at = {work->at.offset + first, work->at.total, work->at.threads};
  work->map1(work->x + first, work->out + first, n, &at);
}

static bool map1(TcCall *tc, TcTensor *out, const TcOp *op, TcUse *uses) {
  const TcTensor *x = uses[0].var;
  TcTensor result = {
      .sizes = {x->sizes[0], x->sizes[1]}, .rank = x->rank, .rows = x->rows, .turned = x->turned};
  TcCase whole = {.rows = whole_rows(tc, x), .cols = x->sizes[1], .transposed = x->turned};
  TcRule rule;
  if (!may_run(tc, recipe_of(tc, op), &whole, x->rows, &rule))
    return false;
  int64_t n = x->sizes[0] * x->sizes[1];
  MapWork work = {.map1 = recipe_of(tc, op)->kernel[tc->block->run->isa].map1,
                  .x = x->data,
                  .at = place_of(tc, x)};
  if (!result_new(tc, &result, &uses[0], TC_F32))
    return false;
  work.out = result.data;
  return over_rows(tc, &rule, n, n, map1_piece, &work) ? finish(out, &result, uses, 1)
                                                       : abandon(tc, &result);
}

/* The operand as a [rows, cols] result sees it; false when it does not broadcast to that. */
static bool operand_of(const TcTensor *x, int64_t rows, int64_t cols, TcOperand *operand) {
  operand->p = x->data;
  if ((x->sizes[0] != rows && x->sizes[0] != 1) || (x->sizes[1] != cols && x->sizes[1] != 1))
    return false;
  operand->col = x->sizes[1] == cols ? 1 : 0;
  operand->row = x->sizes[0] == rows ? (operand->col ? cols : 1) : 0;
  if (operand->col == 0 && x->sizes[0] == 1)
    operand->row = 0;
  return true;
}

/* Where one operand is a turned matrix, the result is one, too, as eager's is: memory has its
 * columns as rows. The other one may be turned like it, or broadcast as a row or a number. */
static bool turned_operand_of(const TcTensor *x, const TcTensor *result, TcOperand *operand) {
  bool full = x->sizes[0] == result->sizes[0] && x->sizes[1] == result->sizes[1];
  if (full ? !x->turned : x->sizes[0] != 1)
    return false;
  *operand = full ? (TcOperand){x->data, result->sizes[0], 1}
                  : (TcOperand){x->data, x->sizes[1] > 1 ? 1 : 0, 0};
  return full || x->sizes[1] == result->sizes[1] || x->sizes[1] == 1;
}

static void map2_piece(const void *state, int64_t first, int64_t n) {
  const MapWork *work = state;
  TcOperand a = work->a, b = work->b;
  a.p += first * a.row;
  b.p += first * b.row;
  work->map2(a, b, work->out + first * work->cols, n, work->cols);
}

static bool map2(TcCall *tc, TcTensor *out, const TcOp *op, TcUse *uses) {
  const TcTensor *x = uses[0].var, *y = uses[1].var;
  /* A column of the batch only meets another one: rows.c sees to that. */
  if ((x->rank == 1 && x->rows) != (y->rank == 1 && y->rows))
    return false;
  TcTensor result = {.rank = x->rank > y->rank ? x->rank : y->rank, .rows = x->rows || y->rows};
  bool empty = false;
  for (int d = 0; d < 2; d++) {
    result.sizes[d] = x->sizes[d] == 1 ? y->sizes[d] : x->sizes[d];
    empty = empty || result.sizes[d] == 0;
  }
  MapWork work = {.map2 = recipe_of(tc, op)->kernel[tc->block->run->isa].map2};
  result.turned = x->turned || y->turned;
  bool fit = result.turned
                 ? turned_operand_of(x, &result, &work.a) && turned_operand_of(y, &result, &work.b)
                 : operand_of(x, result.sizes[0], result.sizes[1], &work.a) &&
                       operand_of(y, result.sizes[0], result.sizes[1], &work.b);
  if (!fit)
    return false;
  bool full_x = x->sizes[0] == result.sizes[0] && x->sizes[1] == result.sizes[1];
  bool full_y = y->sizes[0] == result.sizes[0] && y->sizes[1] == result.sizes[1];
  if ((!full_x && !full_y) || (empty && result.sizes[1] == 1 && !(full_x && full_y)))
    return false; /* eager's strides then follow another rule */
  TcCase whole = {.rows = result.rows ? tc->block->run->rows : result.sizes[0],
                  .cols = result.sizes[1],
                  .full = full_x && full_y,
                  .row = y->rank == 1 && !y->rows && y->sizes[1] == result.sizes[1]};
  TcRule rule;
  if (!may_run(tc, recipe_of(tc, op), &whole, result.rows, &rule))
    return false;
  if (!result_new(tc, &result,
                  full_x && uses[0].owned ? &uses[0]
                  : full_y                ? &uses[1]
                                          : NULL,
                  TC_F32))
    return false;
  bool ok = true;
  if (!empty) {
    int64_t rows = result.sizes[result.turned];
    work.cols = result.sizes[!result.turned];
    work.out = result.data;
    if (work.cols == 1 && work.a.row == 1 && work.b.row == 1) { /* two columns: one row of them */
      work.cols = rows;
      rows = 1;
      work.a = (TcOperand){work.a.p, work.cols, 1};
      work.b = (TcOperand){work.b.p, work.cols, 1};
    }
    ok = over_rows(tc, &rule, rows, rows * work.cols, map2_piece, &work);
  }
  return ok ? finish(out, &result, uses, 2) : abandon(tc, &result);
}

/* ── along a dimension ───────────────────────────────────────────────────────────────────────── */

typedef struct AlongWork {
  TcAlong *along;
  const float *x;
  char *out;
  int64_t cols;
  size_t row_bytes; /* of the result */
  TcAxis axis;
  TcPlace at;
} AlongWork;

static void along_piece(const void *state, int64_t first, int64_t n) {
  const AlongWork *work = state;
  TcPlace at = {work->at.offset + first * work->cols, work->at.total, work->at.threads};
  work->along(work->x + first * work->cols, work->out + (size_t)first * work->row_bytes, n,
              work->cols, work->axis, &at);
}

/* REDUCE, ROWWISE and ARGMAX. Of nothing there is no index: that rule says so. */
static bool along(TcCall *tc, TcTensor *out, const TcOp *op, TcUse *uses) {
  const TcTensor *x = uses[0].var;
  bool rowwise = op->class == TC_ROWWISE;
  if (x->turned && (rowwise || op->keepdim))
    return false; /* eager's result has other strides than any of ours */
  /* Of the memory, whose rows are the columns of a turned matrix. */
  TcAxis axis = x->rank == 2 && (op->dim == 0) != x->turned ? TC_FIRST : TC_LAST;
  if (x->rows && (x->rank == 1 || axis == TC_FIRST))
    return false; /* over the batch itself */
  int64_t rows = x->sizes[x->turned], cols = x->sizes[!x->turned];
  TcCase whole = {.rows = x->rows ? whole_rows(tc, x) : rows,
                  .cols = cols,
                  .axis = axis,
                  .matrices = tc->block->matrices};
  TcRule rule;
  if (!may_run(tc, recipe_of(tc, op), &whole, x->rows, &rule))
    return false;
  if (op->class != TC_ARGMAX && !rule.blocks && rows * cols >= LEAST_SHARED_ELEMS &&
      tc->block->run->threads > 1)
    return false; /* the wheel shares columns, and parts of one long row, out to threads; an index
                     it finds so slowly that this is no match */
  TcTensor result = {.sizes = {x->sizes[0], x->sizes[1]}, .rank = x->rank, .rows = x->rows};
  TcDType dtype = op->class == TC_ARGMAX ? TC_I64 : TC_F32;
  if (!rowwise) { /* one element for each row or column */
    int64_t n = axis == TC_FIRST ? cols : rows;
    result.rank -= !op->keepdim;
    bool column = op->dim == 1 && x->rank == 2 && (result.rank == 2 || result.rows);
    result.sizes[0] = column ? n : 1;
    result.sizes[1] = column ? 1 : n;
  }
  AlongWork work = {.along = recipe_of(tc, op)->kernel[tc->block->run->isa].along,
                    .x = x->data,
                    .cols = cols,
                    .row_bytes = (rowwise ? (size_t)cols : 1) * dtype_bytes(dtype),
                    .axis = axis,
                    .at = place_of(tc, x)};
  if (!result_new(tc, &result, rowwise ? &uses[0] : NULL, dtype))
    return false;
  work.out = result.data;
  return over_rows(tc, &rule, rows, rows * cols, along_piece, &work) ? finish(out, &result, uses, 1)
                                                                     : abandon(tc, &result);
}

static bool transpose(TcCall *tc, TcTensor *out, const TcOp *op, TcUse *uses) {
  const TcTensor *x = uses[0].var;
  TcTensor result = {.sizes = {x->sizes[1], x->sizes[0]}, .rank = 2};
  TcCase whole = {.rows = x->sizes[0], .cols = x->sizes[1]};
  TcRule rule;
  if (x->rank != 2 || x->rows || !may_run(tc, recipe_of(tc, op), &whole, false, &rule) ||
      !result_new(tc, &result, NULL, TC_F32))
    return false;
  const Run *run = tc->block->run;
  unsigned before = kernel_enter(run->lane);
  recipe_of(tc, op)->kernel[run->isa].transpose(x->data, result.data, x->sizes[0], x->sizes[1]);
  kernel_leave(run->lane, before);
  return finish(out, &result, uses, 1);
}
