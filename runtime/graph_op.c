/* graph_op.c: operations of a graph by their recipes.
 *
 * Sizes are known when the graph is compiled, so what op.c and product.c look up in tensors is
 * given here. What a recipe declines is run by torch's own function (tc_graph_wheel).
 */

/* What recipes may run in this call: fills what they share. */
static void start_recipes(TcFrame *frame) {
  GraphObject *self = frame->self;
  Lane *lane = &torch_lane;
  int threads = lane->threads();
  Admission **link = &self->admission;
  while (*link && (*link)->threads != threads)
    link = &(*link)->next;
  Admission *found = *link;
  if (found)
    *link = found->next;
  else if (!(found = admission_new(&frame->tc, lane, threads)))
    return;
  found->next = self->admission;
  self->admission = found;
  Run *run = &frame->run;
  run->lane = lane;
  run->admitted = found->ops;
  run->wheel_counts = NULL;
  run->isa = lane->isa;
  run->threads = threads;
  run->workers = 1;
  run->rows = 0;
  run->products = !self->has_products || lane->is_ieee();
  run->blocks = run->packs_closed = false;
  run->n_packs = 0;
  frame->block = (struct Block){run, &buffer_cache, 0, 0, false, NULL, 0, 0, 0};
  frame->tc.block = &frame->block;
}

static bool run_recipe(TcFrame *frame, int index, TcTensor *operands, void *out) {
  const TcOp *op = &frame->graph->ops[index];
  TcCall *tc = &frame->tc;
  TcUse uses[3];
  TcTensor result = {0};
  if (!tc->block || !recipe_of(tc, op))
    return false;
  for (int i = 0; i < op->n_operands; i++)
    uses[i] = tc_get(&operands[i]);
  tc->block->place = out;
  return by_recipe[op->class](tc, &result, op, uses);
}

/* Memory of the graph's, or a tensor's, as a variable that recipes read. */
static TcTensor matrix(const float *data, int64_t rows, int64_t cols, int rank) {
  return (TcTensor){
      .data = (void *)(uintptr_t)data, .sizes = {rows, cols}, .rank = rank, .seen = true};
}

bool tc_graph_map1(TcFrame *frame, int op, const float *x, float *out, int64_t n, bool contiguous) {
  TcTensor operand = matrix(x, 1, n, 1);
  operand.turned = !contiguous;
  return run_recipe(frame, op, &operand, out);
}

bool tc_graph_map1_runs(TcFrame *frame, int op, const float *x, float *out, int64_t runs,
                        int64_t n) {
  const TcOp *row = &frame->graph->ops[op];
  TcCall *tc = &frame->tc;
  const TcRecipe *recipe = tc->block ? recipe_of(tc, row) : NULL;
  TcCase whole = {.rows = 1, .cols = n};
  TcRule rule;
  if (!recipe || !may_run(tc, recipe, &whole, false, &rule))
    return false;
  const TcPlace at = {0, n, frame->run.threads};
  for (int64_t i = 0; i < runs; i++)
    recipe->kernel[frame->run.isa].map1(x + i * n, out + i * n, n, &at);
  return true;
}

bool tc_graph_along(TcFrame *frame, int op, const float *x, void *out, int64_t outer, int64_t rows,
                    int64_t cols) {
  const TcOp *row = &frame->graph->ops[op];
  size_t step = (row->class == TC_ROWWISE ? (size_t)(rows * cols) : (size_t)cols) *
                dtype_bytes(row->class == TC_ARGMAX ? TC_I64 : TC_F32);
  bool ran = true;
  frame->block.matrices = outer;
  for (int64_t i = 0; i < outer && ran; i++) {
    TcTensor operand = matrix(x + i * rows * cols, rows, cols, 2);
    frame->block.matrix = i;
    ran = run_recipe(frame, op, &operand, (char *)out + (size_t)i * step);
  }
  frame->block.matrix = frame->block.matrices = 0;
  return ran;
}

typedef struct NormWork {
  TcNormKernel *kernel;
  TcNorm norm;
} NormWork;

static void norm_piece(const void *state, int64_t first, int64_t n) {
  const NormWork *work = state;
  TcNorm norm = work->norm;
  norm.x += first * norm.cols * norm.inner;
  norm.out += first * norm.cols * norm.inner;
  norm.rows = n;
  work->kernel(&norm);
}

bool tc_graph_norm(TcFrame *frame, int op, const float *x, const float *weight, const float *bias,
                   const float *mean, const float *variance, float *out, int64_t rows, int64_t cols,
                   int64_t inner) {
  const TcOp *row = &frame->graph->ops[op];
  TcCall *tc = &frame->tc;
  const TcRecipe *recipe = tc->block ? recipe_of(tc, row) : NULL;
  TcCase whole = {.rows = rows, .cols = cols};
  TcRule rule;
  if (!recipe || !may_run(tc, recipe, &whole, false, &rule))
    return false;
  NormWork work = {recipe->kernel[frame->run.isa].norm,
                   {.x = x,
                    .weight = weight,
                    .bias = bias,
                    .mean = mean,
                    .var = variance,
                    .out = out,
                    .rows = rows,
                    .cols = cols,
                    .inner = inner,
                    .eps = row->number}};
  return over_rows(tc, &rule, rows, rows * cols * inner, norm_piece, &work);
}

bool tc_graph_product(TcFrame *frame, int op, const float *x, const float *w, const float *bias,
                      float *out, int64_t m, int64_t k, int64_t n, int64_t x_step) {
  TcClass class = frame->graph->ops[op].class;
  TcTensor operands[] = {matrix(x, m, k, 2),
                         class == TC_LINEAR ? matrix(w, n, k, 2)
                         : class == TC_MV   ? matrix(w, 1, k, 1)
                                            : matrix(w, k, n, 2),
                         matrix(bias, 1, n, 1)};
  frame->block.x_step = x_step;
  return run_recipe(frame, op, operands, out);
}

typedef struct BmmWork {
  TcBmmKernel *kernel;
  TcBmm bmm;
} BmmWork;

static void bmm_piece(const void *state, int64_t first, int64_t n) {
  const BmmWork *work = state;
  TcBmm bmm = work->bmm;
  bmm.x.p += first * bmm.x.step;
  bmm.w.p += first * bmm.w.step;
  bmm.out += first * bmm.m * bmm.n;
  bmm.batch = n;
  work->kernel(&bmm);
}

bool tc_graph_bmm(TcFrame *frame, int op, const float *x, const int64_t x_apart[3], const float *w,
                  const int64_t w_apart[3], float *out, int64_t batch, int64_t m, int64_t k,
                  int64_t n) {
  const TcOp *row = &frame->graph->ops[op];
  TcCall *tc = &frame->tc;
  const TcRecipe *recipe = tc->block && frame->run.products ? recipe_of(tc, row) : NULL;
  BmmWork work = {.bmm = {.x = {x, x_apart[0], x_apart[1], x_apart[2]},
                          .w = {w, w_apart[0], w_apart[1], w_apart[2]},
                          .out = out,
                          .batch = batch,
                          .m = m,
                          .k = k,
                          .n = n}};
  TcCase whole = {.bmm = &work.bmm, .law = recipe ? frame->run.admitted[op].law : NULL};
  TcRule rule;
  if (!recipe || !may_run(tc, recipe, &whole, false, &rule))
    return false;
  struct TcBuffer *scratch = NULL;
  if (rule.pack_elems > 0 &&
      !(scratch = buffer_new(&buffer_cache, (size_t)rule.pack_elems * sizeof(float))))
    return false;
  work.kernel = recipe->kernel[frame->run.isa].bmm;
  work.bmm.scratch = scratch ? buffer_data(scratch) : NULL;
  work.bmm.way = rule.way;
  work.bmm.chain = rule.chain;
  bool ok = over_rows(tc, &rule, batch, batch * m * k, bmm_piece, &work);
  if (scratch)
    buffer_free(scratch);
  return ok;
}

typedef struct PickWork {
  TcPickKernel *kernel;
  TcPick pick;
} PickWork;

static void pick_piece(const void *state, int64_t first, int64_t n) {
  const PickWork *work = state;
  TcPick pick = work->pick;
  pick.x += first * pick.cols;
  pick.values += first * pick.k;
  pick.indices += first * pick.k;
  pick.rows = n;
  work->kernel(&pick);
}

bool tc_graph_pick(TcFrame *frame, int op, const float *x, float *values, int64_t *indices,
                   int64_t outer, int64_t rows, int64_t cols, bool sorted) {
  const TcOp *row = &frame->graph->ops[op];
  TcCall *tc = &frame->tc;
  const TcRecipe *recipe = tc->block ? recipe_of(tc, row) : NULL;
  TcPick pick = {.x = x,
                 .values = values,
                 .indices = indices,
                 .rows = rows,
                 .cols = cols,
                 .k = (int64_t)fabs(row->number),
                 .axis = row->dim == 0 ? TC_FIRST : TC_LAST,
                 .largest = row->number > 0,
                 .sorted = sorted};
  TcCase whole = {.rows = rows, .cols = cols, .k = pick.k, .axis = pick.axis};
  TcRule rule;
  if (!recipe || !may_run(tc, recipe, &whole, false, &rule))
    return false;
  int64_t n = pick.axis == TC_FIRST ? cols : rows * pick.k; /* results of one matrix */
  struct TcBuffer *unread = NULL;
  if (!values || !indices) {
    if (!(unread = buffer_new(&buffer_cache, (size_t)(outer * n) * sizeof(int64_t))))
      return false;
    pick.values = values ? values : buffer_data(unread);
    pick.indices = indices ? indices : buffer_data(unread);
  }
  PickWork work = {recipe->kernel[frame->run.isa].pick, pick};
  bool ran = true;
  for (int64_t i = 0; i < outer && ran; i++) {
    if (pick.axis == TC_FIRST)
      work.kernel(&work.pick);
    else
      ran = over_rows(tc, &rule, rows, rows * cols, pick_piece, &work);
    work.pick.x += rows * cols;
    work.pick.values += n;
    work.pick.indices += n;
  }
  if (unread)
    buffer_free(unread);
  return ran;
}

bool tc_graph_conv(TcFrame *frame, int op, const float *x, const float *w, const float *bias,
                   float *out, const int64_t sizes[9]) {
  TcCall *tc = &frame->tc;
  const TcRecipe *recipe = tc->block ? recipe_of(tc, &frame->graph->ops[op]) : NULL;
  TcConv conv = {.x = x,
                 .w = w,
                 .bias = bias,
                 .out = out,
                 .batch = sizes[0],
                 .channels = sizes[1],
                 .length = sizes[2],
                 .filters = sizes[3],
                 .width = sizes[4],
                 .out_length = sizes[5],
                 .stride = sizes[6],
                 .dilation = sizes[7],
                 .padding = sizes[8]};
  TcCase whole = {.conv = &conv};
  TcRule rule;
  struct TcBuffer *columns = NULL;
  if (!frame->run.products || !recipe || !may_run(tc, recipe, &whole, false, &rule) ||
      (rule.pack_elems &&
       !(columns = buffer_new(&buffer_cache, (size_t)rule.pack_elems * sizeof(float)))))
    return false;
  conv.columns = columns ? buffer_data(columns) : NULL;
  recipe->kernel[frame->run.isa].conv(&conv);
  if (columns)
    buffer_free(columns);
  return true;
}

int tc_graph_lanes(const TcFrame *frame) {
  (void)frame;
  return tc__kernels((int)torch_lane.isa)->lanes;
}
