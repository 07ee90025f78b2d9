/* gather.c: tensors whose elements are picked by indices that only the call knows.
 *
 * Reads a node's arguments and types. Each dimension of the operand is either one of the result or
 * read from a tensor of indices, so that an element's place is a sum of strides times indices.
 */
#include "tensorc.h"

#include <string.h>

static bool is_index(Type type) { return type.kind == TYPE_TENSOR && type.dtype == DTYPE_I64; }

/* Dimension `dim` of the operand is read from a tensor, whose own first dimension is `first` of the
 * result. */
static bool add_index(Gather *gather, Ir *index, Type x, int dim, int first, bool wraps) {
  if (gather->n_indices == MOST_RANK || !is_index(index->type))
    return false;
  GatherIndex *to = &gather->indices[gather->n_indices++];
  *to = (GatherIndex){.operand = index,
                      .size = x.shape->sizes[dim],
                      .stride = x.shape->strides[dim],
                      .wraps = wraps};
  for (int d = 0; d < index->type.rank; d++) {
    if (first + d < 0 || first + d >= MOST_RANK)
      return false;
    to->strides[first + d] = index->type.shape->sizes[d] == 1 ? 0 : index->type.shape->strides[d];
  }
  return true;
}

static bool add_dim(Gather *gather, Type x, int dim, int to) {
  if (to < 0 || to >= MOST_RANK)
    return false;
  gather->strides[to] = x.shape->strides[dim];
  return true;
}

/* index(x, [none, i, j]): tensors of indices side by side, which broadcast. */
static bool find_index(const Ir *ir, Gather *gather) {
  Type x = ir->args[0]->type;
  const Attr *list = ir->n_attrs == 2 ? &ir->attrs[1] : NULL;
  int first = -1, last = -1, rank = 0, to = 0;
  if (!list || list->kind != ATTR_LIST || list->n_items > x.rank)
    return false;
  for (int i = 0; i < list->n_items; i++) {
    if (list->items[i].kind != ATTR_VALUE)
      continue;
    int own = ir->args[list->items[i].operand]->type.rank;
    if (last >= 0 && last != i - 1)
      return false; /* apart: their dimensions come first */
    first = first < 0 ? i : first;
    last = i;
    rank = rank > own ? rank : own;
  }
  for (int d = 0; d < x.rank; d++) {
    bool picked = d >= first && d <= last && first >= 0;
    Ir *index = picked ? ir->args[list->items[d].operand] : NULL;
    if (picked ? !add_index(gather, index, x, d, first + rank - index->type.rank, true)
               : !add_dim(gather, x, d, to++))
      return false;
    if (picked && d == last)
      to = first + rank;
  }
  return first >= 0 && to == ir->type.rank;
}

/* embedding(x, i): rows; index_select(x, dim, i). */
static bool find_select(const Ir *ir, int dim, int index, Gather *gather) {
  Type x = ir->args[0]->type;
  dim = dim < 0 ? dim + x.rank : dim;
  if (ir->n_attrs <= index || ir->attrs[index].kind != ATTR_VALUE || dim < 0 || dim >= x.rank)
    return false;
  Ir *indices = ir->args[ir->attrs[index].operand];
  for (int d = 0; d < x.rank; d++)
    if (d == dim ? !add_index(gather, indices, x, d, dim, false)
                 : !add_dim(gather, x, d, d < dim ? d : d - 1 + indices->type.rank))
      return false;
  return ir->type.rank == x.rank - 1 + indices->type.rank;
}

/* gather(x, dim, i): of the size of i, which stands for one dimension. */
static bool find_along(const Ir *ir, Gather *gather) {
  Type x = ir->args[0]->type;
  if (ir->n_attrs < 3 || ir->attrs[1].kind != ATTR_INT || ir->attrs[2].kind != ATTR_VALUE)
    return false;
  int64_t dim = ir->attrs[1].integer < 0 ? ir->attrs[1].integer + x.rank : ir->attrs[1].integer;
  Ir *indices = ir->args[ir->attrs[2].operand];
  if (dim < 0 || dim >= x.rank || indices->type.rank != x.rank)
    return false;
  for (int d = 0; d < x.rank; d++)
    if (d == dim ? !add_index(gather, indices, x, d, 0, false) : !add_dim(gather, x, d, d))
      return false;
  return true;
}

/* No option that says more. */
static bool has_options(const Ir *ir, int from) {
  for (int i = from; i < ir->n_attrs; i++)
    if (ir->attrs[i].kind != ATTR_INT && (ir->attrs[i].kind != ATTR_BOOL || ir->attrs[i].integer))
      return true;
  return false;
}

/* The indices broadcast to the result, and the operand's other dimensions are as long as it. */
static bool is_covered(const Ir *ir, const Gather *gather) {
  for (int i = 0; i < gather->n_indices; i++) {
    Type index = gather->indices[i].operand->type;
    for (int d = 0; d < index.rank; d++)
      if (index.shape->sizes[d] == 0)
        return false;
  }
  return type_elements(ir->type) > 0 && ir->args[0]->type.dtype == ir->type.dtype;
}

bool gather_find(const Ir *ir, GatherKind kind, Gather *gather) {
  *gather = (Gather){.n_indices = 0};
  if (ir->n_args < 2 || ir->attrs[0].kind != ATTR_VALUE || ir->args[0]->type.kind != TYPE_TENSOR ||
      ir->type.kind != TYPE_TENSOR)
    return false;
  bool found = false;
  switch (kind) {
  case GATHER_INDEX:
    found = find_index(ir, gather);
    break;
  case GATHER_EMBEDDING:
    found = ir->args[0]->type.rank == 2 && !has_options(ir, 2) && find_select(ir, 0, 1, gather);
    break;
  case GATHER_SELECT:
    found = ir->n_attrs == 3 && ir->attrs[1].kind == ATTR_INT && ir->args[1]->type.rank == 1 &&
            find_select(ir, (int)ir->attrs[1].integer, 2, gather);
    break;
  case GATHER_ALONG:
    found = !has_options(ir, 3) && find_along(ir, gather);
    break;
  }
  return found && is_covered(ir, gather);
}

/* ── its C ───────────────────────────────────────────────────────────────────────────────────── */

static void print_place(Buf *out, Type type, const int64_t *strides) {
  bool any = false;
  for (int d = 0; d < type.rank; d++) {
    if (strides[d] == 0 || type.shape->sizes[d] == 1)
      continue;
    buf_addf(out, "%si%d * %lld", any ? " + " : "", d, (long long)strides[d]);
    any = true;
  }
  if (!any)
    buf_add(out, "0");
}

static int print_for(Buf *out, Type type, const int64_t *strides) {
  int depth = 0;
  for (int d = 0; d < type.rank; d++) {
    if (type.shape->sizes[d] == 1 || (strides && strides[d] == 0))
      continue;
    buf_addf(out, "%*sfor (int64_t i%d = 0; i%d < %lld; i%d++)\n", 2 + 2 * depth++, "", d, d,
             (long long)type.shape->sizes[d], d);
  }
  return depth;
}

static void print_index(Buf *out, Type type, const GatherIndex *index, int i) {
  buf_addf(out, "a%d[", i + 1);
  print_place(out, type, index->strides);
  buf_add(out, "]");
}

void emit_gather(Buf *out, const Ir *ir) {
  Gather gather;
  if (!gather_find(ir, ir->home->row->gather, &gather))
    NEVER("a gather that was one");
  Type type = ir->type;
  const char *c_type = dtype_table[type.dtype].c_type;
  buf_addf(out, "\n/* %s = %s; false: an index is out of range */\nTC_INLINE bool loop_%d(",
           ir->name, ir->schema, ir->id);
  buf_addf(out, "%s *restrict out, const %s *restrict a0", c_type, c_type);
  for (int i = 0; i < gather.n_indices; i++)
    buf_addf(out, ", const int64_t *restrict a%d", i + 1);
  buf_add(out, ")\n{\n  bool fits = true;\n");
  for (int i = 0; i < gather.n_indices; i++) {
    const GatherIndex *index = &gather.indices[i];
    int depth = print_for(out, type, index->strides);
    buf_addf(out, "%*sfits &= ", 2 + 2 * depth, "");
    print_index(out, type, index, i);
    buf_addf(out, " >= %lld && ", index->wraps ? -(long long)index->size : 0);
    print_index(out, type, index, i);
    buf_addf(out, " < %lld;\n", (long long)index->size);
  }
  buf_add(out, "  if (!fits)\n    return false;\n");
  int depth = print_for(out, type, NULL);
  buf_addf(out, "%*sout[", 2 + 2 * depth, "");
  print_place(out, type, type.shape->strides);
  buf_add(out, "] = a0[");
  print_place(out, type, gather.strides);
  for (int i = 0; i < gather.n_indices; i++) {
    const GatherIndex *index = &gather.indices[i];
    buf_addf(out, " + %lld * ", (long long)index->stride);
    if (index->wraps) {
      buf_add(out, "tc_wrap(");
      print_index(out, type, index, i);
      buf_addf(out, ", %lld)", (long long)index->size);
    } else {
      print_index(out, type, index, i);
    }
  }
  buf_add(out, "];\n  return true;\n}\n");
}
