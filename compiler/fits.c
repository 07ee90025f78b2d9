/* fits.c: a part of ways.c: which nodes a recipe can compute, and of what sizes it then is.
 * Fills in what of a node's home the recipe's call needs.
 */
#include "ways.h"

#include <string.h>

static bool is_f32(Type type) { return type.kind == TYPE_TENSOR && type.dtype == DTYPE_F32; }

/* Reads operand k from a copy without gaps, where eager's bits do not depend on how it lies. Asked
 * last: the copy is made then. */
static bool reads_copy(Arena *arena, const Ir *ir, Home *home, int k) {
  if (!view_is_contiguous(ir->args[k]->type))
    home->copies[k] = copied(arena, ir->args[k]);
  return true;
}

/* Whether the dimensions follow each other as in row-major memory, however far apart. */
static bool is_in_order(Type x) {
  int64_t before = INT64_MAX;
  for (int d = 0; d < x.rank; d++) {
    if (x.shape->sizes[d] == 1)
      continue;
    if (x.shape->strides[d] < 1 || x.shape->strides[d] > before)
      return false;
    before = x.shape->strides[d];
  }
  return true;
}

/* An operand with gaps: eager's loops for vectors run over what lies side by side, one such run
 * after the other. Those of MKL have the same bits however it lies. */
static bool map1_in_runs_fits(Arena *arena, const Ir *ir, Home *home) {
  Type x = ir->args[0]->type;
  bool by_mkl =
      home->op == OP_exp || home->op == OP_tanh || home->op == OP_log || home->op == OP_sqrt;
  if (!view_is_contiguous(ir->type) || type_elements(x) == 0 ||
      (!by_mkl && (!is_in_order(x) || type_elements(x) >= MOST_PLACED)))
    return no(home, "its operand has gaps");
  if (!by_mkl) {
    home->cols = 1;
    for (int d = x.rank; d-- > 0; home->cols *= x.shape->sizes[d])
      if (x.shape->sizes[d] != 1 && x.shape->strides[d] != home->cols)
        break;
    home->rows = type_elements(x) / home->cols;
  }
  return reads_copy(arena, ir, home, 0);
}

static bool map1_fits(Arena *arena, const Ir *ir, Home *home) {
  for (int i = 1; i < ir->n_attrs; i++) {
    const Attr *attr = &ir->attrs[i];
    if (home->op != OP_gelu || attr->kind != ATTR_TEXT)
      return no(home, "an option");
    home->op = strcmp(attr->text, "tanh") == 0 ? OP_gelu_tanh : OP_gelu;
  }
  if (home->op == OP_gelu && !view_is_contiguous(ir->args[0]->type))
    return no(home, "its operand has gaps"); /* oneDNN takes no other */
  if (view_is_dense(ir->type) && type_equal(ir->type, ir->args[0]->type))
    return true;
  return map1_in_runs_fits(arena, ir, home);
}

/* A matrix whose rows lie side by side, perhaps with gaps between them, of products that the wheel
 * does not see as those of vectors. */
static bool has_row_gaps(Type x, Type result) {
  return x.rank == 2 && x.shape->strides[1] == 1 && x.shape->strides[0] > x.shape->sizes[1] &&
         x.shape->sizes[0] > 1 && x.shape->sizes[1] > 1 && result.shape->sizes[1] > 1;
}

/* Contiguous, and so that dimensions of one element have the stride that such a tensor gets: which
 * of MKL's kernels eager calls goes by that, too.
 */
static bool is_plain(Type type) {
  int64_t stride = 1;
  for (int d = type.rank; d-- > 0; stride *= type.shape->sizes[d])
    if (type.shape->strides[d] != stride)
      return false;
  return true;
}

static bool linear_fits(const Ir *ir, Home *home) {
  for (int i = 0; i < ir->n_args; i++)
    if (!is_f32(ir->args[i]->type) ||
        (!is_plain(ir->args[i]->type) && (i > 0 || !has_row_gaps(ir->args[0]->type, ir->type))))
      return no(home, "an operand has gaps");
  Type x = ir->args[0]->type, w = ir->args[1]->type;
  return (x.rank >= 2 && w.rank == 2 && view_is_contiguous(ir->type) &&
          (ir->n_args == 2 || ir->args[2]->type.rank == 1)) ||
         no(home, "its ranks");
}

static bool is_transposed(Type w) {
  return w.rank == 2 && w.shape->strides[0] == 1 && w.shape->strides[1] == w.shape->sizes[0];
}

static bool matmul_fits(Arena *arena, const Ir *ir, Home *home) {
  if (ir->n_args != 2 || ir->n_attrs != 2)
    return no(home, "its arguments");
  Type x = ir->args[0]->type, w = ir->args[1]->type;
  if (!is_f32(x) || !is_f32(w))
    return no(home, "its dtype");
  bool folds = x.rank >= 3 && w.rank <= 2 && is_plain(x);
  if ((x.rank > 2 || w.rank > 2) && !folds)
    return matmul_batch_fits(arena, ir, home);
  if (!view_is_contiguous(ir->type))
    return no(home, "its result has gaps");
  if (w.rank == 1 && x.rank >= 2 && is_plain(x) && is_plain(w)) {
    home->op = OP_mv;
    return true;
  }
  if (x.rank < 1 || w.rank != 2)
    return no(home, "its ranks");
  if (!is_plain(x) && !has_row_gaps(x, ir->type))
    return no(home, "an operand has gaps");
  if (is_plain(w))
    return true;
  home->op = OP_linear; /* without a bias: the same product */
  return is_transposed(w) || no(home, "an operand has gaps");
}

/* addmm(bias, x, w, beta=1, alpha=1), of a transposed w: what linear is to eager, too. */
static bool addmm_fits(const Ir *ir, Home *home) {
  for (int i = 3; i < ir->n_attrs; i++)
    if (ir->attrs[i].kind != ATTR_INT || ir->attrs[i].integer != 1)
      return no(home, "an option");
  if (ir->n_args != 3)
    return no(home, "its arguments");
  Type bias = ir->args[0]->type, x = ir->args[1]->type, w = ir->args[2]->type;
  if (!is_f32(x) || !is_f32(w) || bias.rank != 1 || x.rank != 2 || w.rank != 2 ||
      bias.shape->sizes[0] != ir->type.shape->sizes[1] || type_elements(ir->type) == 0)
    return no(home, "its ranks");
  if (!view_is_contiguous(ir->type) || !is_plain(bias) ||
      (!is_plain(x) && !has_row_gaps(x, ir->type)))
    return no(home, "an operand has gaps");
  home->bias_first = true;
  if (is_plain(w))
    return true;
  home->op = OP_linear;
  return is_transposed(w) || no(home, "an operand has gaps");
}

/* The dimensions of attribute `at`, one or several side by side, which lie like one: what is
 * before, in and behind them. None: all. */
static bool range_fits(const Ir *ir, int at, Home *home) {
  Type x = ir->args[0]->type;
  const Attr *dims = at < ir->n_attrs ? &ir->attrs[at] : NULL;
  bool all = !dims || dims->kind == ATTR_NONE || (dims->kind == ATTR_LIST && dims->n_items == 0);
  const Attr *items = dims && dims->kind == ATTR_LIST ? dims->items : dims;
  int n = all ? x.rank : items == dims ? 1 : dims->n_items;
  int64_t reduced = 0, outer = 1, inner = 1, length = 1;
  if (dims && dims->keyword)
    return no(home, "an argument is given by name");
  for (int i = 0; i < n; i++) {
    if (!all && (items[i].kind != ATTR_INT || x.rank == 0))
      return no(home, "not along one dimension");
    reduced |= INT64_C(1) << (all ? i : (items[i].integer + x.rank) % x.rank);
  }
  bool begun = false, ended = false;
  for (int d = 0; d < x.rank; d++) {
    bool in = reduced >> d & 1;
    if (in && ended)
      return no(home, "along dimensions apart");
    begun |= in;
    ended = begun && !in;
    *(in ? &length : begun ? &inner : &outer) *= x.shape->sizes[d];
  }
  if (type_elements(x) == 0)
    return no(home, "nothing to run along");
  /* Of a softmax, eager asks whether the dimension is the last, not whether others follow. */
  bool softmax = home->op == OP_softmax || home->op == OP_log_softmax;
  home->first = inner > 1 || (softmax && ended);
  home->outer = home->first ? outer : 1;
  home->rows = home->first ? length : outer;
  home->cols = home->first ? inner : length;
  /* torch shares the columns of many matrices out to threads as of one; an element that is part of
   * no other sum does not care. */
  bool sum = op_table[home->op].class == CLASS_REDUCE;
  return !sum || outer == 1 || inner == 1 || type_elements(x) < MOST_PLACED ||
         no(home, "along a dimension in the middle");
}

static bool is_number(const Attr *attr, double *number) {
  *number = attr->kind == ATTR_INT ? (double)attr->integer : attr->number;
  return attr->kind == ATTR_INT || attr->kind == ATTR_FLOAT;
}

/* By so many less than there are elements, 1 or 0: var.dim(x, dim, unbiased, keepdim),
 * var.correction(x, dim, correction=, keepdim=). */
static bool spread_fits(const Ir *ir, Home *home) {
  home->number = 1;
  for (int i = 2; i < ir->n_attrs; i++) {
    const Attr *attr = &ir->attrs[i];
    if (attr->keyword && strcmp(attr->keyword, "correction") == 0 && attr->kind != ATTR_NONE) {
      if (!is_number(attr, &home->number))
        return no(home, "an option");
    } else if (i == 2 && !attr->keyword && attr->kind == ATTR_BOOL) {
      home->number = attr->integer != 0;
    }
  }
  if (home->number == 0)
    home->op = home->op == OP_var ? OP_var_biased : OP_std_biased;
  return home->number == 0 || home->number == 1 || no(home, "its correction");
}

static bool along_fits(Arena *arena, const Ir *ir, Home *home) {
  bool reduces = op_table[home->op].class == CLASS_REDUCE;
  int dim = home->op == OP_norm ? 2 : 1;
  double order;
  if (!view_is_contiguous(ir->type) || (reduces && !view_is_contiguous(ir->args[0]->type)))
    return no(home, "its operand has gaps"); /* by which sums differ */
  if ((home->op == OP_var || home->op == OP_std) && !spread_fits(ir, home))
    return false;
  if (home->op == OP_norm && ir->n_attrs > 1 && (!is_number(&ir->attrs[1], &order) || order != 2))
    return no(home, "its order");
  bool one = op_table[home->op].class == CLASS_ROWWISE || home->op == OP_prod;
  if (one && (ir->n_attrs < 2 || ir->attrs[1].kind != ATTR_INT))
    return no(home, "not along one dimension");
  for (int i = dim; i < ir->n_attrs; i++) {
    const Attr *attr = &ir->attrs[i];
    bool is_correction = attr->keyword && strcmp(attr->keyword, "correction") == 0;
    if (i != dim && attr->kind != ATTR_NONE && attr->kind != ATTR_BOOL && !is_correction)
      return no(home, "an option");
  }
  return range_fits(ir, dim, home) && reads_copy(arena, ir, home, 0);
}

static bool is_on(const Ir *ir, int i) {
  return i >= ir->n_attrs || (ir->attrs[i].kind == ATTR_BOOL && ir->attrs[i].integer);
}

/* topk(x, k, dim, largest, sorted) of rows; max(x, dim, keepdim) and min; argmin has but one of
 * their results. */
static bool pick_fits(Arena *arena, const Ir *ir, Home *home) {
  Type x = ir->args[0]->type;
  const Type *types = ir->type.items;
  bool two = ir->type.kind == TYPE_TUPLE;
  if (two ? ir->type.rank != 2 || !is_f32(types[0]) || !view_is_contiguous(types[0]) ||
                types[1].dtype != DTYPE_I64 || !view_is_contiguous(types[1])
          : ir->type.dtype != DTYPE_I64 || !view_is_contiguous(ir->type))
    return no(home, "its result has gaps");
  home->number = 1;
  if (home->op != OP_topk)
    return (!two || (ir->n_attrs > 1 && ir->attrs[1].kind == ATTR_INT) ||
            no(home, "not along one dimension")) &&
           range_fits(ir, 1, home) && reads_copy(arena, ir, home, 0);
  const Attr *k = ir->n_attrs > 1 ? &ir->attrs[1] : NULL,
             *dim = ir->n_attrs > 2 ? &ir->attrs[2] : NULL;
  for (int i = 1; i < ir->n_attrs; i++)
    if (ir->attrs[i].keyword || ir->attrs[i].kind != (i < 3 ? ATTR_INT : ATTR_BOOL))
      return no(home, "an option");
  if (!k || x.rank == 0 || (dim && dim->integer != -1 && dim->integer != x.rank - 1))
    return no(home, "not along the last dimension");
  if (type_elements(x) == 0)
    return no(home, "nothing to run along");
  home->cols = x.shape->sizes[x.rank - 1];
  home->rows = type_elements(x) / home->cols;
  home->outer = 1;
  home->sorted = is_on(ir, 4);
  home->number = (double)(is_on(ir, 3) ? k->integer : -k->integer);
  return reads_copy(arena, ir, home, 0);
}

/* batch_norm(x, weight, bias, mean, variance, training, momentum, eps, ...): of [rows, cols,
 * inner].
 */
static bool batch_norm_fits(const Ir *ir, Home *home) {
  Type x = ir->args[0]->type;
  if (ir->n_attrs < 8 || x.rank < 2 || ir->attrs[3].kind != ATTR_VALUE ||
      ir->attrs[4].kind != ATTR_VALUE || ir->attrs[5].kind != ATTR_BOOL || ir->attrs[5].integer)
    return no(home, "its statistics are the batch's own");
  home->rows = x.shape->sizes[0];
  home->cols = x.shape->sizes[1];
  home->inner = 1;
  for (int d = 2; d < x.rank; d++)
    home->inner *= x.shape->sizes[d];
  for (int i = 1; i < ir->n_args; i++)
    if (ir->args[i]->type.rank != 1 || type_elements(ir->args[i]->type) != home->cols)
      return no(home, "the sizes of its weights");
  return is_number(&ir->attrs[7], &home->number) || no(home, "its eps");
}

/* layer_norm(x, sizes, weight, bias, eps, ...), rms_norm(x, sizes, weight, eps): of [rows, cols].
 */
static bool row_norm_fits(const Ir *ir, Home *home) {
  Type x = ir->args[0]->type;
  int eps = home->op == OP_layer_norm ? 4 : 3;
  if (ir->n_attrs < 2 || ir->attrs[1].kind != ATTR_LIST || ir->attrs[1].n_items > x.rank)
    return no(home, "its sizes");
  int n_sizes = ir->attrs[1].n_items;
  home->cols = home->rows = home->inner = 1;
  for (int d = 0; d < x.rank; d++)
    *(d < x.rank - n_sizes ? &home->rows : &home->cols) *= x.shape->sizes[d];
  for (int i = 1; i < ir->n_args; i++)
    if (type_elements(ir->args[i]->type) != home->cols)
      return no(home, "the sizes of its weights");
  bool given = eps < ir->n_attrs && ir->attrs[eps].kind != ATTR_NONE;
  home->number = home->op == OP_layer_norm ? 1e-5 : 0x1p-23;
  return !given || is_number(&ir->attrs[eps], &home->number) || no(home, "its eps");
}

static bool norm_fits(Arena *arena, const Ir *ir, Home *home) {
  /* rms_norm is a mean of squares, which lie in x's order. */
  bool copies =
      home->op == OP_layer_norm || (home->op == OP_rms_norm && is_in_order(ir->args[0]->type));
  for (int i = 0; i < ir->n_args; i++)
    if (!is_f32(ir->args[i]->type) ||
        (!view_is_contiguous(ir->args[i]->type) && (i > 0 || !copies)))
      return no(home, "an operand has gaps");
  for (int i = 0; i < ir->n_attrs; i++)
    if (ir->attrs[i].keyword)
      return no(home, "an argument is given by name");
  if (!view_is_contiguous(ir->type))
    return no(home, "its result has gaps");
  return (home->op == OP_batch_norm ? batch_norm_fits(ir, home) : row_norm_fits(ir, home)) &&
         reads_copy(arena, ir, home, 0);
}

/* The class says what fits; some have several spellings. */
static bool product_fits(Arena *arena, const Ir *ir, Home *home) {
  if (strcmp(ir->schema, "aten::einsum") == 0)
    return einsum_fits(arena, ir, home);
  return bmm_fits(arena, ir, home);
}

static bool conv_fits(const Ir *ir, Home *home) {
  Window window;
  for (int i = 0; i < ir->n_args; i++)
    if (!is_f32(ir->args[i]->type) || !view_is_contiguous(ir->args[i]->type))
      return no(home, "an operand has gaps");
  return (window_find(ir, POOL_NONE, &window) && view_is_contiguous(ir->type)) ||
         no(home, "its arguments");
}

bool recipe_fits(Arena *arena, const Ir *ir, Home *home) {
  if (ir->n_args < 1 || !is_f32(ir->args[0]->type) ||
      (ir->attrs[0].kind != ATTR_VALUE && home->row->op != OP_bmm) ||
      (ir->type.kind != TYPE_TENSOR && op_table[home->row->op].class != CLASS_PICK))
    return no(home, "its dtype");
  for (int i = 0; i < ir->n_args; i++)
    if (type_elements(ir->args[i]->type) == 0)
      return no(home, "nothing to compute with");
  home->op = home->row->op;
  switch (op_table[home->op].class) {
  case CLASS_MAP1:
    return is_f32(ir->type) && map1_fits(arena, ir, home);
  case CLASS_BMM:
    return is_f32(ir->type) && is_f32(ir->args[ir->n_args - 1]->type) &&
           product_fits(arena, ir, home);
  case CLASS_LINEAR:
    return is_f32(ir->type) && linear_fits(ir, home);
  case CLASS_MATMUL:
    return is_f32(ir->type) &&
           (home->op == OP_addmm ? addmm_fits(ir, home) : matmul_fits(arena, ir, home));
  case CLASS_REDUCE:
  case CLASS_ROWWISE:
    return (is_f32(ir->type) || no(home, "its dtype")) && along_fits(arena, ir, home);
  case CLASS_ARGMAX:
    return along_fits(arena, ir, home);
  case CLASS_PICK:
    return pick_fits(arena, ir, home);
  case CLASS_NORM:
    return is_f32(ir->type) && norm_fits(arena, ir, home);
  case CLASS_CONV:
    return is_f32(ir->type) && conv_fits(ir, home);
  default:
    return no(home, "no recipe of this class");
  }
}
