/* batches.c: products of tensors of any rank as products of matrices side by side. A part of
 * fits.c.
 *
 * Follows what eager makes of matmul (_matmul_impl of aten/src/ATen/native/LinearAlgebra.cpp) and
 * einsum (sumproduct_pair of aten/src/ATen/native/Linear.cpp): its operands are expanded, permuted
 * and reshaped to three dimensions, which copies them where that is no view, and given to bmm.
 */
#include "ways.h"

#include <string.h>

/* An operand on its way: memory of `of`, seen with these sizes and strides. */
typedef struct Seen {
  Ir *of;
  int rank;
  int64_t sizes[MOST_RANK], strides[MOST_RANK];
} Seen;

static Seen see(Ir *ir) {
  Seen x = {.of = ir, .rank = ir->type.rank};
  memcpy(x.sizes, ir->type.shape->sizes, sizeof x.sizes[0] * (size_t)x.rank);
  memcpy(x.strides, ir->type.shape->strides, sizeof x.strides[0] * (size_t)x.rank);
  return x;
}

static void set_sizes(Seen *x, const int64_t *sizes, int rank) {
  x->rank = rank;
  for (int64_t d = rank, step = 1; d-- > 0; step *= sizes[d] > 1 ? sizes[d] : 1) {
    x->sizes[d] = sizes[d];
    x->strides[d] = step;
  }
}

/* A node of our own, in front of the recipe that reads it. */
static Ir *new_node(Arena *arena, const char *schema, Way way, const Seen *seen, Ir *operand) {
  Ir *ir = ARENA_NEW(arena, Ir);
  Shape *shape = ARENA_NEW(arena, Shape);
  ir->op = IR_NODE;
  ir->name = operand->name;
  ir->schema = schema;
  ir->type = operand->type;
  ir->type.rank = seen->rank;
  ir->type.shape = shape;
  memcpy(shape->sizes, seen->sizes, sizeof seen->sizes);
  memcpy(shape->strides, seen->strides, sizeof seen->strides);
  ir->args = ARENA_ARRAY(arena, Ir *, 3);
  ir->args[0] = operand;
  ir->n_args = 1;
  ir->attrs = ARENA_ARRAY(arena, Attr, 1);
  ir->attrs[0].kind = ATTR_VALUE;
  ir->n_attrs = 1;
  ir->n_uses = 1;
  ir->home = ARENA_NEW(arena, Home);
  ir->home->row = graph_row(schema);
  ir->home->way = way;
  ir->home->inserted = true;
  operand->n_uses++;
  return ir;
}

/* The elements of x, side by side in their order. */
static void copy(Arena *arena, Seen *x) {
  Ir *view = new_node(arena, "aten::expand", WAY_VIEW, x, x->of);
  int64_t sizes[MOST_RANK];
  memcpy(sizes, x->sizes, sizeof sizes);
  set_sizes(x, sizes, x->rank);
  x->of = new_node(arena, "aten::clone", WAY_LOOP, x, view);
}

Ir *copied(Arena *arena, Ir *operand) {
  Seen x = see(operand);
  copy(arena, &x);
  return x.of;
}

static void reshape(Arena *arena, Seen *x, const int64_t *sizes, int rank) {
  int64_t strides[MOST_RANK];
  Shape shape;
  memcpy(shape.sizes, x->sizes, sizeof shape.sizes);
  memcpy(shape.strides, x->strides, sizeof shape.strides);
  Type type = {.kind = TYPE_TENSOR, .rank = x->rank, .shape = &shape};
  if (view_strides(type, sizes, rank, strides)) {
    x->rank = rank;
    memcpy(x->sizes, sizes, sizeof sizes[0] * (size_t)rank);
    memcpy(x->strides, strides, sizeof strides[0] * (size_t)rank);
    return;
  }
  copy(arena, x);
  set_sizes(x, sizes, rank);
}

/* x, which has no more dimensions than that, with leading ones, and those of size 1 as often. */
static void expand(Seen *x, const int64_t *sizes, int rank) {
  int64_t strides[MOST_RANK];
  for (int d = 0; d < rank; d++) {
    int own = d - (rank - x->rank);
    strides[d] = own >= 0 && x->sizes[own] == sizes[d] ? x->strides[own] : 0;
  }
  x->rank = rank;
  memcpy(x->sizes, sizes, sizeof sizes[0] * (size_t)rank);
  memcpy(x->strides, strides, sizeof strides[0] * (size_t)rank);
}

static void permute(Seen *x, const int *order, int rank) {
  Seen from = *x;
  x->rank = rank;
  for (int d = 0; d < rank; d++) {
    x->sizes[d] = from.sizes[order[d]];
    x->strides[d] = from.strides[order[d]];
  }
}

static void bmm(Arena *arena, Home *home, const Ir *ir, const Seen *x, const Seen *w) {
  Product *product = ARENA_NEW(arena, Product);
  *product = (Product){.batch = x->sizes[0], .m = x->sizes[1], .k = x->sizes[2], .n = w->sizes[2]};
  memcpy(product->x, x->strides, sizeof product->x);
  memcpy(product->w, w->strides, sizeof product->w);
  product->x_of = x->of;
  product->w_of = w->of;
  home->op = OP_bmm;
  home->product = product;
  for (int i = 0; i < 2; i++) {
    Ir *of = i == 0 ? x->of : w->of;
    if (of != ir->args[0] && of != ir->args[1])
      home->copies[i] = of;
  }
}

static bool is_side_by_side(Type type) {
  return type_elements(type) == 0 || view_is_contiguous(type);
}

bool bmm_fits(Arena *arena, const Ir *ir, Home *home) {
  if (ir->n_args != 2 || ir->n_attrs != 2 || ir->args[0]->type.rank != 3 ||
      ir->args[1]->type.rank != 3 || !is_side_by_side(ir->type))
    return no(home, "its ranks");
  Seen x = see(ir->args[0]), w = see(ir->args[1]);
  bmm(arena, home, ir, &x, &w);
  return true;
}

/* Whether the tensor may want a gradient, by which eager goes: then it came from outside. */
static bool may_want_gradient(const Ir *ir) {
  while (ir->op != IR_INPUT && ir->n_args > 0 && ir->home->way == WAY_VIEW)
    ir = ir->args[0];
  return ir->op == IR_INPUT || ir->home->way == WAY_WHEEL;
}

/* Whether eager folds all but the last dimension into one, without a copy. */
static bool is_foldable(const Seen *x) {
  for (int d = 0; d < x->rank - 2; d++)
    if (x->strides[d] != x->strides[d + 1] * x->sizes[d + 1])
      return false;
  return true;
}

/* matmul where one operand has more than two dimensions and is not folded into a matrix. */
bool matmul_batch_fits(Arena *arena, const Ir *ir, Home *home) {
  Seen x = see(ir->args[0]), w = see(ir->args[1]);
  int x_batch = x.rank > 2 ? x.rank - 2 : 0, w_batch = w.rank > 2 ? w.rank - 2 : 0;
  int n_batch = x_batch > w_batch ? x_batch : w_batch;
  int64_t sizes[MOST_RANK], batch = 1;
  if (!is_side_by_side(ir->type) || x.rank < 1 || w.rank < 1 || n_batch < 1)
    return no(home, "its ranks");
  bool by_gradient = (x.rank <= 2 && may_want_gradient(ir->args[0])) ||
                     (w.rank <= 2 && may_want_gradient(ir->args[1])) ||
                     (x.rank == 3 && w.rank == 3 && x.sizes[0] != w.sizes[0] &&
                      may_want_gradient(ir->args[x.sizes[0] == 1 ? 0 : 1]));
  if (by_gradient)
    return no(home, "eager's way depends on whether an operand wants a gradient");
  Seen turned = w; /* of a vector and w, eager looks at w's columns */
  if (w.rank > 1) {
    turned.sizes[w.rank - 1] = w.sizes[w.rank - 2];
    turned.sizes[w.rank - 2] = w.sizes[w.rank - 1];
    turned.strides[w.rank - 1] = w.strides[w.rank - 2];
    turned.strides[w.rank - 2] = w.strides[w.rank - 1];
  }
  if ((w.rank <= 2 && is_foldable(&x)) || (x.rank == 1 && is_foldable(&turned)))
    return no(home, "a matrix that has gaps");
  for (int d = 0; d < n_batch; d++) {
    int in_x = d - (n_batch - x_batch), in_w = d - (n_batch - w_batch);
    int64_t of_x = in_x < 0 ? 1 : x.sizes[in_x], of_w = in_w < 0 ? 1 : w.sizes[in_w];
    sizes[d] = of_x == 1 ? of_w : of_x;
    batch *= sizes[d];
  }
  bool row = x.rank == 1, column = w.rank == 1;
  const int64_t m = row ? 1 : x.sizes[x.rank - 2], k = x.sizes[x.rank - 1];
  const int64_t n = column ? 1 : w.sizes[w.rank - 1];
  if (row)
    expand(&x, (int64_t[]){1, k}, 2); /* its stride is never asked for */
  sizes[n_batch] = m;
  sizes[n_batch + 1] = k;
  expand(&x, sizes, n_batch + 2);
  reshape(arena, &x, (int64_t[]){batch, m, k}, 3);
  sizes[n_batch] = k;
  sizes[n_batch + 1] = n;
  expand(&w, sizes, n_batch + (column ? 1 : 2));
  reshape(arena, &w, (int64_t[]){batch, k, n}, column ? 2 : 3);
  if (column) {
    w.rank = 3;
    w.sizes[2] = 1;
    w.strides[2] = 1;
  }
  bmm(arena, home, ir, &x, &w);
  return true;
}

/* ── einsum ──────────────────────────────────────────────────────────────────────────────────── */

/* The place of a letter among those of the equation: first the result's. */
static int letter_at(const char *letters, char letter) {
  const char *at = letter ? strchr(letters, letter) : NULL;
  return at ? (int)(at - letters) : -1;
}

/* x with one dimension for each letter, in their order; its own may be repeated nowhere. */
static bool spread(Seen *x, const char *own, const char *letters) {
  Seen from = *x;
  int n_own = (int)strlen(own), n = (int)strlen(letters);
  if (n_own != from.rank)
    return false;
  x->rank = n;
  for (int d = 0; d < n; d++) {
    int at = letter_at(own, letters[d]);
    x->sizes[d] = at < 0 ? 1 : from.sizes[at];
    x->strides[d] = at < 0 ? 0 : from.strides[at];
  }
  return true;
}

/* "ab,bc->ac" into its three words. */
static bool read_equation(const char *text, char words[3][MOST_RANK + 1]) {
  int word = 0, n = 0;
  for (const char *at = text; *at; at++) {
    if (*at == ' ')
      continue;
    bool comma = *at == ',', arrow = *at == '-' && at[1] == '>';
    if (comma || arrow) {
      if (comma ? word != 0 : word != 1)
        return false;
      words[word++][n] = 0;
      n = 0;
      at += arrow;
      continue;
    }
    bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
    words[word][n] = 0;
    if (!letter || n == MOST_RANK || letter_at(words[word], *at) >= 0)
      return false;
    words[word][n++] = *at;
  }
  words[word][n] = 0;
  return word == 2;
}

/* Of which dimensions the three of an operand of bmm are made. */
typedef struct Group {
  int dims[MOST_RANK], n;
  int64_t size;
} Group;

static void add(Group *group, int dim, int64_t size) {
  group->dims[group->n++] = dim;
  group->size *= size;
}

static void reshape_groups(Arena *arena, Seen *x, const Group *a, const Group *b, const Group *c,
                           const Group *rest) {
  int order[MOST_RANK], n = 0;
  const Group *groups[] = {a, b, c, rest};
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < groups[i]->n; d++)
      order[n++] = groups[i]->dims[d];
  permute(x, order, n);
  reshape(arena, x, (int64_t[]){a->size, b->size, c->size}, 3);
}

bool einsum_fits(Arena *arena, const Ir *ir, Home *home) {
  char words[3][MOST_RANK + 1], letters[MOST_RANK + 1] = "";
  if (ir->n_args != 2 || ir->n_attrs < 2 || ir->attrs[0].kind != ATTR_TEXT ||
      ir->attrs[1].kind != ATTR_LIST || ir->attrs[1].n_items != 2 ||
      ir->attrs[1].items[0].kind != ATTR_VALUE || ir->attrs[1].items[1].kind != ATTR_VALUE)
    return no(home, "its arguments");
  for (int i = 2; i < ir->n_attrs; i++)
    if (ir->attrs[i].kind != ATTR_NONE)
      return no(home, "its path");
  if (!read_equation(ir->attrs[0].text, words))
    return no(home, "its equation");
  strcpy(letters, words[2]);
  int n_out = (int)strlen(letters), n = n_out;
  for (int i = 'A'; i <= 'z'; i++) { /* those that are summed over follow in alphabetical order */
    bool in_x = letter_at(words[0], (char)i) >= 0, in_w = letter_at(words[1], (char)i) >= 0;
    if ((!in_x && !in_w) || letter_at(letters, (char)i) >= 0)
      continue;
    if (n == MOST_RANK)
      return no(home, "its dimensions");
    letters[n++] = (char)i;
    letters[n] = 0;
  }
  Seen x = see(ir->args[ir->attrs[1].items[0].operand]);
  Seen w = see(ir->args[ir->attrs[1].items[1].operand]);
  if (!spread(&x, words[0], letters) || !spread(&w, words[1], letters) || n_out == n)
    return no(home, "not one product of matrices");
  if (type_elements(ir->type) == 0)
    return no(home, "its result is empty");
  Group both = {.size = 1}, left = {.size = 1}, right = {.size = 1}, summed = {.size = 1};
  for (int d = 0; d < n; d++) {
    bool in_x = x.sizes[d] != 1, in_w = w.sizes[d] != 1;
    if (d >= n_out && !(in_x && in_w && x.sizes[d] == w.sizes[d]))
      return no(home, "a sum of one operand");
    if (d >= n_out)
      add(&summed, d, x.sizes[d]);
    else if (in_x && in_w)
      add(&both, d, x.sizes[d]);
    else if (in_x)
      add(&left, d, x.sizes[d]);
    else
      add(&right, d, w.sizes[d]);
  }
  if (left.n > 0 && right.n > 0 && right.dims[right.n - 1] < left.dims[0]) {
    Seen seen = x;
    Group group = left;
    x = w;
    w = seen;
    left = right;
    right = group;
  }
  int64_t step = 1;
  const Group *groups[] = {&right, &left, &both}; /* the result's, from its last dimension on */
  for (int i = 0; i < 3; i++)
    for (int d = groups[i]->n; d-- > 0;) {
      int dim = groups[i]->dims[d];
      int64_t size = ir->type.rank == n_out ? ir->type.shape->sizes[dim] : 0;
      if (size != 1 && ir->type.shape->strides[dim] != step)
        return no(home, "its result lies otherwise");
      step *= size;
    }
  reshape_groups(arena, &x, &both, &left, &summed, &right);
  reshape_groups(arena, &w, &both, &summed, &right, &left);
  bmm(arena, home, ir, &x, &w);
  return true;
}
