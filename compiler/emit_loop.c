/* emit_loop.c: one loop of a graph as a C function.
 *
 * Reads the nodes that layout.c gave to one loop. They become one expression of the operands'
 * elements, in a nest over the result's dimensions in the order of its memory, with neighbours that
 * lie like one dimension made one. Sizes and strides are numbers, so that a C compiler sees what it
 * can do with several elements at once.
 */
#include "tensorc.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct Loop {
  Buf *out;
  Arena *arena;
  const Ir *root; /* the node that the loop is named after */
  struct {
    Ir **items;
    int n, capacity;
  } operands;
  /* of the nest that is being written */
  int n_dims;
  int64_t sizes[MOST_RANK];
  int64_t strides[MOST_RANK]; /* of the result */
  int order[MOST_RANK]; /* the innermost dimension of the result that each of them is made of */
  Type type;            /* what the nest runs over */
} Loop;

static const char *c_type(DType dtype) { return dtype_table[dtype].c_type; }

static bool is_inside(const Loop *loop, const Ir *ir) {
  return ir->home->way == WAY_LOOP && ir->home->into == loop->root && ir != loop->root;
}

/* ── operands ────────────────────────────────────────────────────────────────────────────────── */

static int operand_index(const Loop *loop, const Ir *ir) {
  for (int i = 0; i < loop->operands.n; i++)
    if (loop->operands.items[i] == ir)
      return i;
  return -1;
}

static void find_operands(Loop *loop, const Ir *ir) {
  for (int i = 0; i < ir->n_args; i++) {
    Ir *operand = ir->args[i];
    if (is_inside(loop, operand))
      find_operands(loop, operand);
    else if (operand_index(loop, operand) < 0)
      ARENA_PUSH(loop->arena, &loop->operands, operand);
  }
}

/* ── the nest ────────────────────────────────────────────────────────────────────────────────── */

/* The stride of an operand in a dimension of what the nest runs over. */
static int64_t operand_stride(const Loop *loop, Type x, int dim) {
  int own = dim - (loop->type.rank - x.rank);
  return own < 0 || x.shape->sizes[own] == 1 ? 0 : x.shape->strides[own];
}

/* Whether all that is read and written goes on from dimension `inner` into `outer` without a step.
 */
static bool goes_on(const Loop *loop, int outer, int inner, Ir *const *read, int n_read) {
  int64_t size = loop->type.shape->sizes[inner];
  if (loop->type.shape->strides[outer] != loop->type.shape->strides[inner] * size)
    return false;
  for (int i = 0; i < n_read; i++)
    if (operand_stride(loop, read[i]->type, outer) !=
        operand_stride(loop, read[i]->type, inner) * size)
      return false;
  return true;
}

/* The nest over the elements of `type`, from the largest stride to the smallest. */
static void start_nest(Loop *loop, Type type, Ir *const *read, int n_read) {
  int order[MOST_RANK], n = 0;
  loop->type = type;
  for (int d = 0; d < type.rank; d++) {
    if (type.shape->sizes[d] == 1)
      continue;
    int place = n++;
    for (; place > 0 && type.shape->strides[order[place - 1]] < type.shape->strides[d]; place--)
      order[place] = order[place - 1];
    order[place] = d;
  }
  loop->n_dims = 0;
  for (int i = 0; i < n; i++) {
    int d = order[i], last = loop->n_dims - 1;
    if (last >= 0 && goes_on(loop, order[i - 1], d, read, n_read)) {
      loop->sizes[last] *= type.shape->sizes[d];
    } else {
      last = loop->n_dims++;
      loop->sizes[last] = type.shape->sizes[d];
    }
    loop->order[last] = d; /* the innermost of those that are one */
    loop->strides[last] = type.shape->strides[d];
  }
}

static void print_index(Loop *loop, int64_t offset, const int64_t *strides) {
  Buf *out = loop->out;
  bool any = false;
  if (offset) {
    buf_addf(out, "%lld", (long long)offset);
    any = true;
  }
  for (int i = 0; i < loop->n_dims; i++) {
    if (strides[i] == 0)
      continue;
    buf_addf(out, "%si%d", any ? " + " : "", i);
    if (strides[i] != 1)
      buf_addf(out, " * %lld", (long long)strides[i]);
    any = true;
  }
  if (!any)
    buf_add(out, "0");
}

static void print_for(Loop *loop) {
  for (int i = 0; i < loop->n_dims; i++)
    buf_addf(loop->out, "%*sfor (int64_t i%d = 0; i%d < %lld; i%d++)\n", 2 + 2 * i, "", i, i,
             (long long)loop->sizes[i], i);
  buf_addf(loop->out, "%*s", 2 + 2 * loop->n_dims, "");
}

/* ── the expression ──────────────────────────────────────────────────────────────────────────── */

static void print_node(Loop *loop, const Ir *ir);

/* A value of the nest's element, as `dtype`. */
static void print_value(Loop *loop, const Ir *ir, DType dtype) {
  Buf *out = loop->out;
  DType from = ir->type.dtype;
  bool inside = is_inside(loop, ir);
  bool truth = dtype == DTYPE_BOOL8 || from == DTYPE_BOOL8; /* bytes of a bool may be any */
  if (dtype != from || truth)
    buf_addf(out, truth && dtype != DTYPE_BOOL8 ? "(%s)(" : truth ? "(" : "(%s)", c_type(dtype));
  if (inside) {
    print_node(loop, ir);
  } else {
    int64_t strides[MOST_RANK];
    for (int i = 0; i < loop->n_dims; i++)
      strides[i] = operand_stride(loop, ir->type, loop->order[i]);
    buf_addf(out, "a%d[", operand_index(loop, ir));
    print_index(loop, 0, strides);
    buf_add(out, "]");
  }
  if (truth)
    buf_add(out, " != 0)");
}

static void print_number(Buf *out, const Attr *attr, DType dtype) {
  bool is_float = dtype == DTYPE_F32 || dtype == DTYPE_F64;
  if (!is_float) {
    if (attr->integer == INT64_MIN)
      buf_add(out, "INT64_MIN");
    else
      buf_addf(out, dtype == DTYPE_I64 ? "(INT64_C(%lld))" : "(%lld)", (long long)attr->integer);
    return;
  }
  double number = dtype == DTYPE_F32 ? (double)(attr->kind == ATTR_FLOAT ? (float)attr->number
                                                                         : (float)attr->integer)
                  : attr->kind == ATTR_FLOAT ? attr->number
                                             : (double)attr->integer;
  if (number == 0 && !signbit(number))
    buf_addf(out, "tc_zero_%s", dtype_table[dtype].text);
  else if (isinf(number))
    buf_addf(out, "(%sINFINITY)", number < 0 ? "-" : "");
  else
    buf_addf(out, dtype == DTYPE_F32 ? "(%af)" : "(%a)", number);
}

static void print_argument(Loop *loop, const Ir *ir, char mark, int i, DType compute) {
  const Attr *attr = i < ir->n_attrs ? &ir->attrs[i] : NULL;
  bool given = attr && attr->kind != ATTR_NONE;
  if (mark == '?')
    buf_add(loop->out, given ? "1" : "0");
  else if (!given)
    buf_add(loop->out, "0");
  else if (attr->kind == ATTR_VALUE)
    print_value(loop, ir->args[attr->operand], mark == '!' ? DTYPE_BOOL8 : compute);
  else
    print_number(loop->out, attr, compute);
}

/* The text of a POINT with its arguments. */
static void print_point(Loop *loop, const Ir *ir) {
  const GraphRow *row = ir->home->row;
  DType compute = row->of == OF_OWN ? ir->args[0]->type.dtype : ir->type.dtype;
  for (const char *at = row->text; *at; at++) {
    if ((*at == '$' || *at == '?' || *at == '!') && at[1] >= '0' && at[1] <= '9') {
      print_argument(loop, ir, *at, at[1] - '0', compute);
      at++;
    } else if (*at == '@') {
      buf_add(loop->out, dtype_table[compute].text);
    } else {
      buf_add_bytes(loop->out, at, 1);
    }
  }
}

static void print_node(Loop *loop, const Ir *ir) {
  buf_addf(loop->out, "(%s)(", c_type(ir->type.dtype));
  if (ir->home->row->kind == ROW_POINT)
    print_point(loop, ir);
  else
    print_value(loop, ir->args[0], ir->type.dtype);
  buf_add(loop->out, ")");
}

/* ── loops ───────────────────────────────────────────────────────────────────────────────────── */

/* torch's loops are vectors and a tail only where what they read and write lies side by side, or is
 * one number for all. Which elements that are, by the innermost index. */
static void print_vector_part(Loop *loop, const Ir *ir) {
  int inner = loop->n_dims - 1, n_still = 0;
  bool side_by_side = inner >= 0 && loop->strides[inner] == 1;
  for (int i = 0; i < ir->n_args && inner >= 0; i++) {
    int64_t stride = operand_stride(loop, ir->args[i]->type, loop->order[inner]);
    n_still += stride == 0;
    side_by_side = side_by_side && (stride == 1 || stride == 0);
  }
  if (side_by_side && n_still < 2)
    buf_addf(loop->out, "  const int64_t split = %lld - %lld %% (2 * lanes);\n",
             (long long)loop->sizes[inner], (long long)loop->sizes[inner]);
  else
    buf_add(loop->out, "  const int64_t split = 0;\n  (void)lanes;\n");
}

static void print_assignment(Loop *loop, int64_t offset, bool placed) {
  if (placed && loop->n_dims > 0)
    buf_addf(loop->out, "{\n%*sconst bool vector = i%d < split;\n%*s", 4 + 2 * loop->n_dims, "",
             loop->n_dims - 1, 4 + 2 * loop->n_dims, "");
  else if (placed)
    buf_add(loop->out, "const bool vector = split > 0;\n  ");
  buf_add(loop->out, "out[");
  print_index(loop, offset, loop->strides);
  buf_add(loop->out, "] = ");
}

static void print_nest_of_node(Loop *loop, const Ir *ir) {
  bool placed = loop_is_placed(ir);
  start_nest(loop, ir->type, loop->operands.items, loop->operands.n);
  if (placed)
    print_vector_part(loop, ir);
  print_for(loop);
  print_assignment(loop, 0, placed);
  print_node(loop, ir);
  buf_add(loop->out, ";\n");
  if (placed && loop->n_dims > 0)
    buf_addf(loop->out, "%*s}\n", 2 + 2 * loop->n_dims, "");
}

static void print_padding(Loop *loop, const Ir *ir) {
  static const Attr zero = {.kind = ATTR_INT};
  const Attr *value = &zero;
  for (int i = 2; i < ir->n_attrs; i++)
    if (ir->attrs[i].kind == ATTR_INT || ir->attrs[i].kind == ATTR_FLOAT ||
        ir->attrs[i].kind == ATTR_BOOL)
      value = &ir->attrs[i];
  start_nest(loop, ir->type, NULL, 0);
  print_for(loop);
  print_assignment(loop, 0, false);
  print_number(loop->out, value, ir->type.dtype);
  buf_add(loop->out, ";\n");
}

static void print_nests_of_pieces(Loop *loop, const Ir *ir) {
  Piece *pieces;
  int n;
  if (!view_pieces(loop->arena, ir, ir->home->row->view, &pieces, &n))
    NEVER("pieces that were some");
  if (ir->home->row->view == VIEW_PAD)
    print_padding(loop, ir);
  for (int i = 0; i < n; i++) {
    Ir *operand = ir->args[pieces[i].operand];
    Loop part = *loop; /* what this piece alone reads decides how its dimensions join */
    part.operands.items = NULL;
    part.operands.n = part.operands.capacity = 0;
    if (is_inside(loop, operand))
      find_operands(&part, operand);
    else
      ARENA_PUSH(loop->arena, &part.operands, operand);
    start_nest(loop, pieces[i].type, part.operands.items, part.operands.n);
    print_for(loop);
    print_assignment(loop, pieces[i].offset, false);
    print_value(loop, operand, ir->type.dtype);
    buf_add(loop->out, ";\n");
  }
}

/* One result for each line of the operand along a dimension. */
static void print_fold(Loop *loop, const Ir *ir) {
  Type x = ir->args[0]->type, to = ir->type;
  Buf *out = loop->out;
  int dim = ir->home->dim, depth = 0;
  const char *type = c_type(to.dtype);
  for (int d = 0; d < x.rank; d++) {
    if (d == dim)
      continue;
    depth++;
    buf_addf(out, "%*sfor (int64_t i%d = 0; i%d < %lld; i%d++)%s\n", 2 * depth, "", d, d,
             (long long)x.shape->sizes[d], d, depth == x.rank - 1 ? " {" : "");
  }
  buf_addf(out, "  %s folded = %d;\n  for (int64_t i%d = 0; i%d < %lld; i%d++)\n", type,
           ir->home->fold == '*', dim, dim, (long long)x.shape->sizes[dim], dim);
  buf_addf(out, "    folded = (%s)(folded %c (%s)(a0[0", type, ir->home->fold, type);
  for (int d = 0; d < x.rank; d++)
    buf_addf(out, " + i%d * %lld", d, (long long)x.shape->strides[d]);
  buf_addf(out, "]%s));\n  out[0", x.dtype == DTYPE_BOOL8 ? " != 0" : "");
  for (int d = 0; d < x.rank; d++) {
    int own = to.rank == x.rank || d < dim ? d : d - 1;
    if (d != dim)
      buf_addf(out, " + i%d * %lld", d, (long long)to.shape->strides[own]);
  }
  buf_addf(out, "] = folded;\n%s", depth > 0 ? "  }\n" : "");
}

void emit_loop(Buf *out, Arena *arena, Ir *ir, Ir ***operands, int *n_operands) {
  Buf nests = {0};
  Loop loop = {.out = &nests, .arena = arena, .root = ir};
  find_operands(&loop, ir);
  buf_addf(out, "\n/* %s = %s */\nTC_INLINE void loop_%d(", ir->name, ir->schema, ir->id);
  if (loop_is_placed(ir))
    buf_add(out, "int lanes, ");
  buf_addf(out, "%s *restrict out", c_type(ir->type.dtype));
  for (int i = 0; i < loop.operands.n; i++)
    buf_addf(out, ", const %s *restrict a%d", c_type(loop.operands.items[i]->type.dtype), i);
  if (type_elements(ir->type) > 0 && loop_has_pieces(ir->home->row))
    print_nests_of_pieces(&loop, ir);
  else if (ir->home->fold)
    print_fold(&loop, ir);
  else if (ir->home->row->kind == ROW_POOL)
    emit_pool(&nests, ir);
  else
    print_nest_of_node(&loop, ir);
  bool has_zero = nests.text && strstr(nests.text, "tc_zero_");
  buf_addf(out, ")\n{\n%s%s}\n", has_zero ? "  TC_ZEROS;\n" : "", nests.text ? nests.text : "");
  buf_free(&nests);
  *operands = loop.operands.items;
  *n_operands = loop.operands.n;
}
