/* view.c: which part of whose memory a view is.
 *
 * Reads a node's arguments and types. A view's strides stand in its type; what is worked out here
 * is where it begins, and whether it is a view at all. What a graph's text says of a view is held
 * against its arguments: where they do not agree it is none, and the wheel runs it.
 */
#include "tensorc.h"

#include <string.h>

bool view_is_contiguous(Type type) {
  int64_t step = 1;
  for (int d = type.rank; d-- > 0;) {
    if (type.shape->sizes[d] != 1 && type.shape->strides[d] != step)
      return false;
    step *= type.shape->sizes[d];
  }
  return true;
}

bool view_is_dense(Type type) {
  int64_t step = 1;
  bool seen[MOST_RANK] = {false};
  for (int n = 0; n < type.rank; n++) {
    int next = -1;
    for (int d = 0; d < type.rank; d++)
      if (!seen[d] && (type.shape->sizes[d] == 1 || type.shape->strides[d] == step))
        next = next < 0 || type.shape->sizes[d] == 1 ? d : next;
    if (next < 0)
      return type_elements(type) == 0;
    seen[next] = true;
    step *= type.shape->sizes[next];
  }
  return true;
}

static bool is_tensor(Type type) { return type.kind == TYPE_TENSOR; }

/* The argument as an int; `otherwise` where it is not given. */
static bool int_at(const Ir *ir, int i, int64_t otherwise, int64_t *value) {
  *value = otherwise;
  if (i >= ir->n_attrs || ir->attrs[i].kind == ATTR_NONE)
    return true;
  *value = ir->attrs[i].integer;
  return ir->attrs[i].kind == ATTR_INT && !ir->attrs[i].keyword;
}

/* The argument as a dimension of the type; false where it is none. */
static bool dim_at(const Ir *ir, int i, int64_t otherwise, int rank, int *dim) {
  int64_t value;
  if (!int_at(ir, i, otherwise, &value) || value < -rank || value >= rank)
    return false;
  *dim = (int)(value < 0 ? value + rank : value);
  return true;
}

/* As Python reads the end of a slice. */
static int64_t clamp_index(int64_t index, int64_t size) {
  index = index < 0 ? index + size : index;
  return index < 0 ? 0 : index > size ? size : index;
}

static bool same_but(Type a, Type b, int dim) {
  if (a.rank != b.rank)
    return false;
  for (int d = 0; d < a.rank; d++)
    if (a.shape->strides[d] != b.shape->strides[d] ||
        (d != dim && a.shape->sizes[d] != b.shape->sizes[d]))
      return false;
  return true;
}

/* `part` is `whole` without dimension `dim`. */
static bool is_without(Type part, Type whole, int dim) {
  if (part.rank != whole.rank - 1)
    return false;
  for (int d = 0; d < part.rank; d++) {
    int from = d < dim ? d : d + 1;
    if (part.shape->sizes[d] != whole.shape->sizes[from] ||
        part.shape->strides[d] != whole.shape->strides[from])
      return false;
  }
  return true;
}

static bool select_offset(const Ir *ir, Type x, int64_t *offset) {
  int dim;
  int64_t index;
  if (!dim_at(ir, 1, 0, x.rank, &dim) || !int_at(ir, 2, 0, &index))
    return false;
  index = index < 0 ? index + x.shape->sizes[dim] : index;
  if (index < 0 || index >= x.shape->sizes[dim] || !is_without(ir->type, x, dim))
    return false;
  *offset = index * x.shape->strides[dim];
  return true;
}

static bool slice_offset(const Ir *ir, Type x, int64_t *offset) {
  int dim;
  int64_t start, end, step;
  if (!dim_at(ir, 1, 0, x.rank, &dim) || !int_at(ir, 2, 0, &start) ||
      !int_at(ir, 3, INT64_MAX, &end) || !int_at(ir, 4, 1, &step) || step < 1 ||
      ir->type.rank != x.rank)
    return false;
  int64_t size = x.shape->sizes[dim];
  start = clamp_index(start, size);
  end = clamp_index(end, size);
  int64_t n = end > start ? (end - start + step - 1) / step : 0;
  for (int d = 0; d < x.rank; d++)
    if (ir->type.shape->sizes[d] != (d == dim ? n : x.shape->sizes[d]) ||
        ir->type.shape->strides[d] != x.shape->strides[d] * (d == dim ? step : 1))
      return false;
  *offset = start * x.shape->strides[dim];
  return true;
}

static bool narrow_offset(const Ir *ir, Type x, int64_t *offset) {
  int dim;
  int64_t start, length;
  if (!dim_at(ir, 1, 0, x.rank, &dim) || !int_at(ir, 2, 0, &start) || !int_at(ir, 3, -1, &length) ||
      !same_but(ir->type, x, dim))
    return false;
  int64_t size = x.shape->sizes[dim];
  start = start < 0 ? start + size : start;
  if (start < 0 || length < 0 || start + length > size || ir->type.shape->sizes[dim] != length)
    return false;
  *offset = start * x.shape->strides[dim];
  return true;
}

/* Of parts side by side, those before `item` say where it begins. */
static bool part_offset(const Ir *ir, Type x, int item, int64_t *offset) {
  int dim;
  int64_t begin = 0, all = 0;
  if (ir->type.kind != TYPE_TUPLE || !dim_at(ir, 2, 0, x.rank, &dim))
    return false;
  for (int i = 0; i < ir->type.rank; i++) {
    Type part = ir->type.items[i];
    if (!is_tensor(part) || !same_but(part, x, dim))
      return false;
    begin = i == item ? all : begin;
    all += part.shape->sizes[dim];
  }
  *offset = begin * x.shape->strides[dim];
  return all == x.shape->sizes[dim];
}

static bool unbind_offset(const Ir *ir, Type x, int item, int64_t *offset) {
  int dim;
  if (ir->type.kind != TYPE_TUPLE || !dim_at(ir, 1, 0, x.rank, &dim) ||
      ir->type.rank != x.shape->sizes[dim] || !is_tensor(ir->type.items[item]) ||
      !is_without(ir->type.items[item], x, dim))
    return false;
  *offset = item * x.shape->strides[dim];
  return true;
}

/* The last element that the type reaches, counted from its first. */
static int64_t reach(Type type) {
  int64_t last = 0;
  for (int d = 0; d < type.rank; d++)
    last += type.shape->sizes[d] > 0 ? (type.shape->sizes[d] - 1) * type.shape->strides[d] : 0;
  return last;
}

/* Each run of dimensions of x that lies like one is cut into dimensions of the other sizes. */
bool view_strides(Type x, const int64_t *sizes, int rank, int64_t *strides) {
  if (type_elements(x) == 0)
    return false;
  int at = rank - 1;
  int64_t run = 1, taken = 1, step = x.rank > 0 ? x.shape->strides[x.rank - 1] : 1;
  for (int d = x.rank - 1; d >= 0; d--) {
    run *= x.shape->sizes[d];
    bool ends = d == 0 || (x.shape->sizes[d - 1] != 1 && x.shape->strides[d - 1] != run * step);
    if (!ends)
      continue;
    while (at >= 0 && (taken < run || sizes[at] == 1)) {
      strides[at] = taken * step;
      taken *= sizes[at--];
    }
    if (taken != run)
      return false;
    if (d > 0)
      step = x.shape->strides[d - 1];
    run = taken = 1;
  }
  for (; at >= 0 && sizes[at] == 1; at--)
    strides[at] = 1;
  return at < 0;
}

static bool reshapes_to(Type x, Type to) {
  int64_t strides[MOST_RANK];
  if (type_elements(x) != type_elements(to))
    return false;
  if (type_elements(x) == 0)
    return true; /* however it lies */
  if (!view_strides(x, to.shape->sizes, to.rank, strides))
    return false;
  for (int d = 0; d < to.rank; d++)
    if (to.shape->sizes[d] != 1 && to.shape->strides[d] != strides[d])
      return false;
  return true;
}

/* Whether an option is on: to's copy, dropout's train. */
static bool has_true(const Ir *ir) {
  for (int i = 0; i < ir->n_attrs; i++)
    if (ir->attrs[i].kind == ATTR_BOOL && ir->attrs[i].integer)
      return true;
  return false;
}

bool view_offset(const Ir *ir, ViewKind kind, int item, int64_t *offset) {
  *offset = 0;
  if (ir->n_attrs < 1 || ir->attrs[0].kind != ATTR_VALUE || !is_tensor(ir->args[0]->type))
    return false;
  Type x = ir->args[0]->type;
  if (is_tensor(ir->type) && ir->type.dtype != x.dtype)
    return false;
  switch (kind) {
  case VIEW_SAME:
    return is_tensor(ir->type) && (reach(ir->type) <= reach(x) || type_elements(ir->type) == 0);
  case VIEW_SELECT:
    return select_offset(ir, x, offset);
  case VIEW_SLICE:
    return slice_offset(ir, x, offset);
  case VIEW_NARROW:
    return narrow_offset(ir, x, offset);
  case VIEW_PARTS:
    return part_offset(ir, x, item, offset);
  case VIEW_UNBIND:
    return unbind_offset(ir, x, item, offset);
  case VIEW_RESHAPE:
    return reshapes_to(x, ir->type);
  case VIEW_ITSELF:
    return type_equal(x, ir->type) && !has_true(ir);
  default:
    return false;
  }
}

/* ── copies of several ───────────────────────────────────────────────────────────────────────── */

static Type part_of(Arena *arena, Type whole, Type sizes, int skipped) {
  Shape *shape = ARENA_NEW(arena, Shape);
  Type part = {.kind = TYPE_TENSOR, .dtype = whole.dtype, .rank = sizes.rank, .shape = shape};
  for (int d = 0; d < sizes.rank; d++) {
    shape->sizes[d] = sizes.shape->sizes[d];
    shape->strides[d] = whole.shape->strides[d < skipped ? d : d + 1];
  }
  return part;
}

static bool joined_pieces(Arena *arena, const Ir *ir, bool stack, Piece *pieces) {
  int dim;
  int64_t begin = 0;
  if (!dim_at(ir, 1, 0, ir->type.rank, &dim))
    return false;
  const Attr *list = &ir->attrs[0];
  for (int i = 0; i < list->n_items; i++) {
    if (list->items[i].kind != ATTR_VALUE)
      return false;
    int operand = list->items[i].operand;
    Type x = ir->args[operand]->type;
    if (!is_tensor(x) || x.rank != ir->type.rank - stack)
      return false;
    for (int d = 0; d < x.rank; d++) {
      int to = stack && d >= dim ? d + 1 : d;
      if ((stack || d != dim) && x.shape->sizes[d] != ir->type.shape->sizes[to])
        return false;
    }
    pieces[i] = (Piece){operand, part_of(arena, ir->type, x, stack ? dim : MOST_RANK),
                        begin * ir->type.shape->strides[dim]};
    begin += stack ? 1 : x.shape->sizes[dim];
  }
  return begin == ir->type.shape->sizes[dim];
}

/* pad(x, [before last, behind last, before the one before, ...], "constant", value) */
static bool padded_piece(Arena *arena, const Ir *ir, Piece *piece) {
  Type x = ir->args[0]->type, out = ir->type;
  const Attr *pads = &ir->attrs[1];
  if (ir->n_attrs < 2 || pads->kind != ATTR_LIST || pads->n_items > 2 * x.rank ||
      pads->n_items % 2 || x.rank != out.rank || x.dtype != out.dtype)
    return false;
  int64_t offset = 0;
  for (int d = 0; d < x.rank; d++) {
    int64_t sides[2] = {0, 0};
    int pair = x.rank - 1 - d;
    for (int k = 0; k < 2 && 2 * pair < pads->n_items; k++) {
      if (pads->items[2 * pair + k].kind != ATTR_INT || pads->items[2 * pair + k].integer < 0)
        return false;
      sides[k] = pads->items[2 * pair + k].integer;
    }
    if (x.shape->sizes[d] + sides[0] + sides[1] != out.shape->sizes[d])
      return false;
    offset += sides[0] * out.shape->strides[d];
  }
  *piece = (Piece){0, part_of(arena, out, x, MOST_RANK), offset};
  return true;
}

/* A copy with other sizes: the operand's elements in their order, side by side. */
static bool reshaped_piece(Arena *arena, const Ir *ir, Piece *piece) {
  Type x = ir->args[0]->type;
  Shape *shape = ARENA_NEW(arena, Shape);
  if (!view_is_contiguous(ir->type) || type_elements(x) != type_elements(ir->type))
    return false;
  int64_t step = 1;
  for (int d = x.rank; d-- > 0;) {
    shape->sizes[d] = x.shape->sizes[d];
    shape->strides[d] = step;
    step *= x.shape->sizes[d];
  }
  *piece = (Piece){0, {.kind = TYPE_TENSOR, .dtype = x.dtype, .rank = x.rank, .shape = shape}, 0};
  return true;
}

bool view_pieces(Arena *arena, const Ir *ir, ViewKind kind, Piece **pieces, int *n) {
  if (ir->n_attrs < 1 || !is_tensor(ir->type))
    return false;
  const Attr *first = &ir->attrs[0];
  *n = first->kind == ATTR_LIST ? first->n_items : 1;
  *pieces = ARENA_ARRAY(arena, Piece, *n + 1);
  if (kind == VIEW_PAD || kind == VIEW_RESHAPE)
    return first->kind == ATTR_VALUE && is_tensor(ir->args[0]->type) &&
           (kind == VIEW_PAD ? padded_piece : reshaped_piece)(arena, ir, *pieces);
  return first->kind == ATTR_LIST && *n > 0 &&
         joined_pieces(arena, ir, kind == VIEW_STACK, *pieces);
}
