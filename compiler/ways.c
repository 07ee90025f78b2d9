/* ways.c: how each node of a graph can come about.
 *
 * Going by the rows of ops.def and by what the node is given: dtypes, sizes, strides, constants.
 * What fits no better way is a call of torch's own function, and says why.
 */
#include "ways.h"

#include <math.h>
#include <string.h>

const char *way_name(Way way) {
  static const char *const names[WAY_COUNT] = {
      [WAY_INPUT] = "input", [WAY_WHEEL] = "wheel",   [WAY_VIEW] = "view", [WAY_LOOP] = "loop",
      [WAY_GATHER] = "loop", [WAY_RECIPE] = "recipe", [WAY_PART] = "part", [WAY_ONCE] = "once"};
  return names[way];
}

/* ── what an operation can be ────────────────────────────────────────────────────────────────── */

/* A dtype that C computes with as torch does. */
static bool is_loopable(Type type) {
  return type.kind == TYPE_TENSOR &&
         (type.dtype == DTYPE_F32 || type.dtype == DTYPE_F64 || type.dtype == DTYPE_I64 ||
          type.dtype == DTYPE_I32 || type.dtype == DTYPE_BOOL8);
}

/* Whether C's conversion is torch's: not from a float to an int, where it may be undefined. */
static bool converts(DType from, DType to) {
  return from == to || to == DTYPE_BOOL8 || is_floating(to) || !is_floating(from);
}

static bool broadcasts(Type x, Type to) {
  for (int d = 1; d <= x.rank; d++) {
    if (d > to.rank)
      return false;
    int64_t size = x.shape->sizes[x.rank - d];
    if (size != 1 && size != to.shape->sizes[to.rank - d])
      return false;
  }
  return true;
}

static bool is_result(Home *home, Type type) {
  if (!is_loopable(type))
    return no(home, "its dtype");
  return view_is_dense(type) || no(home, "its result has gaps");
}

/* Arguments that say no more than the type of the result does, or that nothing is special. */
static bool is_plain_option(const Attr *attr) {
  static const char *const said_by_type[] = {"dtype", "device", "layout", "memory_format"};
  if (attr->kind == ATTR_NONE || attr->kind == ATTR_WORD ||
      (attr->kind == ATTR_BOOL && !attr->integer))
    return true;
  for (size_t i = 0; attr->keyword && i < sizeof said_by_type / sizeof *said_by_type; i++)
    if (strcmp(attr->keyword, said_by_type[i]) == 0)
      return true;
  return attr->keyword && strcmp(attr->keyword, "alpha") == 0 && attr->kind == ATTR_INT &&
         attr->integer == 1;
}

static bool number_fits(const Attr *attr, DType dtype) {
  if (attr->kind == ATTR_FLOAT)
    return is_floating(dtype) && !isnan(attr->number);
  if (attr->kind == ATTR_INT && dtype == DTYPE_I32)
    return attr->integer >= INT32_MIN && attr->integer <= INT32_MAX;
  return attr->kind == ATTR_INT || attr->kind == ATTR_BOOL;
}

/* The dtype that the operands of OF_OWN have in common; DTYPE_COUNT: none. */
static DType own_dtype(const Ir *ir) {
  DType dtype = ir->args[0]->type.dtype;
  for (int i = 1; i < ir->n_args; i++)
    if (ir->args[i]->type.dtype != dtype)
      return DTYPE_COUNT;
  return dtype == DTYPE_BOOL8 ? DTYPE_COUNT : dtype;
}

static bool argument_fits(const Ir *ir, Home *home, char mark, int i, DType compute) {
  if (i >= ir->n_attrs || (ir->attrs[i].kind == ATTR_NONE && mark == '$')) {
    const char *optional = home->row->text; /* the text asks whether it is given */
    char asked[3] = {'?', (char)('0' + i), 0};
    return strstr(optional, asked) != NULL || mark == '?' || no(home, "an argument is missing");
  }
  const Attr *attr = &ir->attrs[i];
  if (mark == '?' && attr->kind == ATTR_NONE)
    return true;
  if (attr->keyword && attr->kind != ATTR_VALUE)
    return no(home, "an argument is given by name");
  bool is_bool = attr->kind == ATTR_BOOL ||
                 (attr->kind == ATTR_VALUE && ir->args[attr->operand]->type.dtype == DTYPE_BOOL8);
  if (is_bool && strstr(home->row->text, " - "))
    return no(home, "torch subtracts no bools");
  if (attr->kind != ATTR_VALUE)
    return (mark != '!' && number_fits(attr, compute)) || no(home, "a number that does not fit");
  Type x = ir->args[attr->operand]->type;
  if (!is_loopable(x) || !broadcasts(x, ir->type))
    return no(home, "an operand's dtype or size");
  return mark == '!' ? x.dtype == DTYPE_BOOL8 || no(home, "a condition that is no bool")
                     : converts(x.dtype, compute) || no(home, "a conversion to whole numbers");
}

static bool is_two(const Attr *attr) {
  return attr->kind == ATTR_INT ? attr->integer == 2
                                : attr->kind == ATTR_FLOAT && attr->number == 2;
}

/* Its bits depend on where in the loop an element stands, as torch's do: never part of another
 * loop.
 */
bool loop_is_placed(const Ir *ir) {
  return ir->home->row && ir->home->row->kind == ROW_POINT &&
         strstr(ir->home->row->text, "vector") != NULL;
}

bool loop_is_alone(const Ir *ir) {
  return ir->home->fold || (ir->home->row && ir->home->row->kind == ROW_POOL);
}

bool loop_has_pieces(const GraphRow *row) {
  return row->kind == ROW_VIEW && (row->view == VIEW_RESHAPE || row->view >= VIEW_CAT);
}

static bool point_fits(const Ir *ir, Home *home) {
  const GraphRow *row = home->row;
  uint32_t used = 0;
  if (!is_result(home, ir->type))
    return false;
  DType compute = row->of == OF_OWN     ? (ir->n_args ? own_dtype(ir) : DTYPE_COUNT)
                  : row->of == OF_TRUTH ? DTYPE_BOOL8
                                        : ir->type.dtype;
  if (compute == DTYPE_COUNT || (row->of == OF_RESULT && compute == DTYPE_BOOL8) ||
      (row->of != OF_RESULT && ir->type.dtype != DTYPE_BOOL8))
    return no(home, "its operands' dtypes");
  for (const char *at = row->text; *at; at++) {
    if ((*at != '$' && *at != '?' && *at != '!') || at[1] < '0' || at[1] > '9')
      continue;
    if (!argument_fits(ir, home, *at, at[1] - '0', compute))
      return false;
    used |= 1u << (at[1] - '0');
  }
  bool like = !strchr(row->text, '$') || strcmp(row->text, "$1") == 0; /* zeros_like and such */
  bool power = strcmp(row->schema, "aten::pow.Tensor_Scalar") == 0;
  for (int i = 0; i < ir->n_attrs; i++) {
    if (i < 10 && used & 1u << i)
      continue;
    if (!is_plain_option(&ir->attrs[i]) && !(i == 0 && like && row->of == OF_RESULT) &&
        !(i == 1 && power && is_two(&ir->attrs[i])))
      return no(home, "an option");
  }
  if (strstr(row->text, "1 /") && !is_floating(compute))
    return no(home, "its dtype");
  if (strchr(row->text, '/') && !is_floating(compute))
    return no(home, "its dtype");
  if (loop_is_placed(ir) && (compute != DTYPE_F32 || type_elements(ir->type) > MOST_PLACED))
    return no(home, "its dtype or size");
  return true;
}

static bool copy_fits(const Ir *ir, Home *home) {
  if (!is_result(home, ir->type) || ir->n_args < 1 || ir->attrs[0].kind != ATTR_VALUE)
    return false;
  Type x = ir->args[0]->type;
  for (int i = 1; i < ir->n_attrs; i++) {
    const Attr *attr = &ir->attrs[i];
    if (attr->kind == ATTR_BOOL && attr->integer && home->row->view == VIEW_ITSELF)
      return no(home, "an option");
  }
  return (is_loopable(x) && broadcasts(x, ir->type) && x.rank == ir->type.rank &&
          converts(x.dtype, ir->type.dtype)) ||
         no(home, "a conversion");
}

static bool pieces_fit(Arena *arena, const Ir *ir, Home *home) {
  Piece *pieces;
  int n;
  if (!is_result(home, ir->type) || !view_pieces(arena, ir, home->row->view, &pieces, &n))
    return no(home, home->why ? home->why : "its arguments");
  for (int i = 0; i < n; i++) {
    Type x = ir->args[pieces[i].operand]->type;
    if (!is_loopable(x) || !converts(x.dtype, ir->type.dtype))
      return no(home, "an operand's dtype");
  }
  if (home->row->view != VIEW_PAD)
    return true;
  for (int i = 2; i < ir->n_attrs; i++) { /* mode, value */
    const Attr *attr = &ir->attrs[i];
    bool constant = attr->kind == ATTR_TEXT && strcmp(attr->text, "constant") == 0;
    if (!constant && attr->kind != ATTR_NONE && !number_fits(attr, ir->type.dtype))
      return no(home, "its mode");
  }
  return true;
}

static bool gather_fits(const Ir *ir, Home *home) {
  Gather gather;
  return is_result(home, ir->type) &&
         (gather_find(ir, home->row->gather, &gather) || no(home, "its indices"));
}

/* Sums and products of whole numbers, and the product of two floats: their order does not matter.
 */
static bool fold_fits(const Ir *ir, Home *home, char operator) {
  Type x = ir->args[0]->type;
  if (ir->n_attrs < 2 || ir->n_args != 1 || ir->attrs[0].kind != ATTR_VALUE || !is_loopable(x) ||
      !is_result(home, ir->type))
    return no(home, "its dtype");
  const Attr *dim = &ir->attrs[1];
  dim = dim->kind == ATTR_LIST && dim->n_items == 1 ? dim->items : dim;
  for (int i = 2; i < ir->n_attrs; i++)
    if (ir->attrs[i].kind != ATTR_BOOL && !is_plain_option(&ir->attrs[i]))
      return no(home, "an option");
  if (dim->kind != ATTR_INT || x.rank == 0)
    return no(home, "not along one dimension");
  home->dim = (int)(dim->integer < 0 ? dim->integer + x.rank : dim->integer);
  bool whole = !is_floating(x.dtype) && ir->type.dtype == DTYPE_I64;
  bool two = operator == '*' && x.dtype == ir->type.dtype && x.shape->sizes[home->dim] <= 2;
  if (!whole && !two)
    return no(home, "its order");
  home->fold = operator;
  return true;
}

/* An average over all is torch's mean. */
static Way way_of_pool(const Ir *ir, Home *home) {
  Window window;
  if (!window_find(ir, home->row->pool, &window) || ir->type.dtype != DTYPE_F32 ||
      ir->args[0]->type.dtype != DTYPE_F32 || !view_is_contiguous(ir->args[0]->type) ||
      !view_is_contiguous(ir->type)) {
    home->why = "its arguments, or an operand has gaps";
    return WAY_WHEEL;
  }
  if (home->row->pool != POOL_ADAPTIVE || window.out[0] != 1 || window.out[1] != 1)
    return WAY_LOOP;
  home->op = OP_mean;
  home->outer = 1;
  home->rows = window.outer;
  home->cols = window.size[0] * window.size[1];
  return WAY_RECIPE;
}

/* ── ways ────────────────────────────────────────────────────────────────────────────────────── */

static bool is_view(const Ir *ir, ViewKind kind) {
  int64_t offset;
  int n = ir->type.kind == TYPE_TUPLE ? ir->type.rank : 1;
  for (int i = 0; i < n; i++)
    if (!view_offset(ir, kind, i, &offset))
      return false;
  return n > 0;
}

/* Whether all that the node takes and gives is known before a call. */
static bool is_known(const Ir *ir) {
  bool known = ir->type.kind != TYPE_OBJECT;
  for (int i = 0; i < ir->n_args; i++)
    known = known && ir->args[i]->type.kind != TYPE_OBJECT;
  return known;
}

static Way way_of_node(Arena *arena, const Ir *ir, Home *home) {
  if (ir->has_effect || !is_known(ir)) {
    home->why = ir->has_effect ? "it has an effect" : "sizes that depend on values";
    return WAY_WHEEL;
  }
  if (!home->row) {
    home->why = strcmp(ir->schema, "aten::scaled_dot_product_attention") == 0
                    ? "one kernel with an order of its own"
                    : "no other way is known";
    return WAY_WHEEL;
  }
  switch (home->row->kind) {
  case ROW_VIEW:
    if (home->row->view < VIEW_COPY && is_view(ir, home->row->view))
      return WAY_VIEW;
    if (loop_has_pieces(home->row))
      return pieces_fit(arena, ir, home) ? WAY_LOOP : WAY_WHEEL;
    if (home->row->view >= VIEW_ITSELF)
      return copy_fits(ir, home) ? WAY_LOOP : WAY_WHEEL;
    home->why = "not as its arguments say";
    return WAY_WHEEL;
  case ROW_POINT:
    return point_fits(ir, home) ? WAY_LOOP : WAY_WHEEL;
  case ROW_GATHER:
    return gather_fits(ir, home) ? WAY_GATHER : WAY_WHEEL;
  case ROW_RECIPE:
    if ((home->row->op == OP_sum && fold_fits(ir, home, '+')) ||
        (home->row->op == OP_prod && fold_fits(ir, home, '*')))
      return WAY_LOOP;
    home->why = NULL;
    return recipe_fits(arena, ir, home) ? WAY_RECIPE : WAY_WHEEL;
  case ROW_POOL:
    return way_of_pool(ir, home);
  case ROW_ONCE:
    return ir->n_args == 0 && is_loopable(ir->type) ? WAY_ONCE : WAY_WHEEL;
  }
  NEVER("a row for graphs");
}

Way way_of(Arena *arena, const Ir *ir) {
  Home *home = ir->home;
  switch (ir->op) {
  case IR_INPUT:
    return WAY_INPUT;
  case IR_ITEM:
    return ir->args[0]->home->way == WAY_VIEW     ? WAY_VIEW
           : ir->args[0]->home->way == WAY_RECIPE ? WAY_PART
                                                  : WAY_WHEEL;
  case IR_NODE:
    home->row = graph_row(ir->schema);
    return way_of_node(arena, ir, home);
  default:
    return WAY_WHEEL;
  }
}
