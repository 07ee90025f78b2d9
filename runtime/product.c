/* product.c: matrix products of a body by recipes. */

/* The weight as pack leaves it; *temporary is to be freed by the caller when it is not one that the
 * call keeps. */
static const float *packed_weight(TcCall *tc, const TcTensor *w, TcMatmul *mm, int64_t elems,
                                  struct TcBuffer **temporary) {
  Run *run = tc->block->run;
  bool keeps = w->origin != NULL; /* an argument: nothing writes there during the call */
  for (int i = 0; keeps && i < run->n_packs; i++) {
    const Pack *pack = &run->packs[i];
    if (pack->weight == mm->w && pack->k == mm->k && pack->n == mm->n &&
        pack->transposed == mm->transposed)
      return buffer_data(pack->buffer);
  }
  struct TcBuffer *buffer = buffer_new(tc->block->buffers, (size_t)elems * sizeof(float));
  if (!buffer)
    return NULL;
  tc__kernels((int)run->isa)->pack(mm->w, buffer_data(buffer), mm->k, mm->n, mm->transposed);
  if (keeps && !run->packs_closed && run->n_packs < MOST_PACKS)
    run->packs[run->n_packs++] = (Pack){mm->w, mm->k, mm->n, mm->transposed, buffer};
  else
    *temporary = buffer;
  return buffer_data(buffer);
}

typedef struct ProductWork {
  TcMatmulKernel *kernel;
  TcMatmul mm;
  TcPlace at;
} ProductWork;

static void product_piece(const void *state, int64_t first, int64_t n) {
  const ProductWork *work = state;
  TcMatmul mm = work->mm;
  TcPlace at = {work->at.offset + first * mm.k, work->at.total, work->at.threads};
  mm.x += first * (mm.x_step ? mm.x_step : mm.k);
  mm.out += first * mm.n;
  mm.m = n;
  work->kernel(&mm, &at);
}

/* out[m, n] = x[m, k] @ w (+ bias); uses[0] is x, uses[1] is w. */
static bool product(TcCall *tc, TcTensor *out, const TcOp *op, TcUse *uses, TcTensor *result,
                    const TcMatmul *mm) {
  const TcTensor *x = uses[0].var, *w = uses[1].var;
  TcCase whole = {.rows = whole_rows(tc, x),
                  .cols = mm->n,
                  .k = mm->k,
                  .bias = mm->bias != NULL,
                  .transposed = mm->transposed,
                  .law = tc->block->run->admitted[op - tc->func->ops].law};
  TcRule rule;
  if (!tc->block->run->products || w->rows || x->turned || w->turned ||
      !may_run(tc, recipe_of(tc, op), &whole, x->rows, &rule))
    return false;
  struct TcBuffer *temporary = NULL;
  ProductWork work = {recipe_of(tc, op)->kernel[tc->block->run->isa].matmul, *mm, place_of(tc, x)};
  work.mm.way = rule.way;
  work.mm.chain = rule.chain;
  work.mm.pieces = rule.pieces;
  if (rule.pack_elems > 0 &&
      !(work.mm.packed = packed_weight(tc, w, &work.mm, rule.pack_elems, &temporary)))
    return false;
  bool fits = result_new(tc, result, NULL, TC_F32), ok = false;
  if (fits) {
    work.mm.out = result->data;
    ok = over_rows(tc, &rule, mm->m, mm->m * mm->k, product_piece, &work);
  }
  if (temporary)
    buffer_free(temporary);
  if (!fits)
    return false;
  return ok ? finish(out, result, uses, op->n_operands) : abandon(tc, result);
}

static bool matmul(TcCall *tc, TcTensor *out, const TcOp *op, TcUse *uses) {
  const TcTensor *x = uses[0].var, *w = uses[1].var;
  bool mv = op->class == TC_MV;
  if ((x->rank == 1 && x->rows) || x->sizes[1] != (mv ? w->sizes[1] : w->sizes[0]))
    return false;
  TcMatmul mm = {.x = x->data,
                 .bias = op->n_operands > 2 ? uses[2].var->data : NULL,
                 .w = w->data,
                 .m = x->sizes[0],
                 .k = x->sizes[1],
                 .n = mv ? 1 : w->sizes[1],
                 .x_step = tc->block->x_step};
  TcTensor result = {.rank = mv || x->rank == 1 ? 1 : 2, .rows = x->rows};
  bool column = !mv || x->rows;
  result.sizes[0] = column ? mm.m : 1;
  result.sizes[1] = column ? mm.n : mm.m;
  return product(tc, out, op, uses, &result, &mm);
}

static bool linear(TcCall *tc, TcTensor *out, const TcOp *op, TcUse *uses) {
  const TcTensor *x = uses[0].var, *w = uses[1].var;
  const TcTensor *bias = op->n_operands > 2 ? uses[2].var : NULL;
  TcMatmul mm = {.x = x->data,
                 .w = w->data,
                 .bias = bias ? bias->data : NULL,
                 .m = x->sizes[0],
                 .k = x->sizes[1],
                 .n = w->sizes[0],
                 .transposed = true,
                 .x_step = tc->block->x_step};
  if (mm.k != w->sizes[1] || (bias && (bias->rows || bias->sizes[1] != mm.n)))
    return false;
  TcTensor result = {.sizes = {mm.m, mm.n}, .rank = 2, .rows = x->rows};
  return product(tc, out, op, uses, &result, &mm);
}
