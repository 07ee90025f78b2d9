/* dispatch.c: what generated code calls for an operation: its recipe first, else the wheel. */

/* By class. True: done, and the operands that were handed over are unassigned. False: declined,
 * nothing happened; or the block is broken. */
static bool (*const by_recipe[TC_N_CLASSES])(TcCall *, TcTensor *, const TcOp *, TcUse *) = {
    [TC_MAP1] = map1,     [TC_MAP2] = map2,    [TC_REDUCE] = along,
    [TC_ROWWISE] = along, [TC_ARGMAX] = along, [TC_MATMUL] = matmul,
    [TC_LINEAR] = linear, [TC_MV] = matmul,    [TC_TRANSPOSE] = transpose};

/* A handle for the wheel's kernel. One that is made over memory is kept in the variable, for other
 * operations; such a kernel must not write into it, so it is only lent. False: no memory. */
static bool handle_of(TcCall *tc, TcUse use, TcHandle *handle) {
  TcTensor *var = use.var;
  if (!var->handle && var->data)
    var->handle = tc->block->run->lane->tensor_over(var);
  *handle = (TcHandle){var->handle, use.owned && !var->origin && !var->buffer};
  if (handle->owned)
    *var = (TcTensor){0};
  return handle->handle != NULL;
}

static bool by_wheel(TcCall *tc, TcTensor *out, const TcOp *op, TcUse *uses) {
  TcHandle operands[3];
  TcTensor result = {0};
  int n = op->n_operands;
  if (in_blocks(tc)) /* then the batch is run again, whole */
    return finish(out, &result, uses, n) && false;
  if (tc->block)
    __atomic_fetch_add(&tc->block->run->wheel_counts[op - tc->func->ops], 1, __ATOMIC_RELAXED);
  bool ok = true;
  for (int i = 0; i < n; i++)
    ok &= handle_of(tc, uses[i], &operands[i]);
  if (!ok) {
    for (int i = 0; i < n; i++)
      if (operands[i].owned)
        handle_free(operands[i].handle);
    return raise_internal(tc, op->word);
  }
  if (!op->wheel(tc, &result, op, operands))
    return finish(out, &result, uses, n) && false;
  return finish(out, &result, uses, n);
}

static inline bool run_op(TcCall *tc, TcTensor *out, const TcOp *op, TcUse *uses) {
  bool recipe = tc->block && recipe_of(tc, op);
  for (int i = 0; i < op->n_operands && recipe; i++)
    recipe = see(tc, uses[i].var);
  if (recipe && by_recipe[op->class](tc, out, op, uses))
    return true;
  if (recipe && tc->block->broken)
    return raise_internal(tc, "no threads for an operation");
  return by_wheel(tc, out, op, uses);
}

bool tc_op1(TcCall *tc, TcTensor *out, const TcOp *op, TcUse x) {
  return run_op(tc, out, op, (TcUse[]){x});
}

bool tc_op2(TcCall *tc, TcTensor *out, const TcOp *op, TcUse a, TcUse b) {
  return run_op(tc, out, op, (TcUse[]){a, b});
}

bool tc_op3(TcCall *tc, TcTensor *out, const TcOp *op, TcUse a, TcUse b, TcUse c) {
  return run_op(tc, out, op, (TcUse[]){a, b, c});
}
