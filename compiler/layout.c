/* layout.c: where each value of a graph lies.
 *
 * Reads a graph's IR with uses counted, and asks which way each node goes (ways.c). Leaves each
 * value's Home: views are folded into the memory of what they view, elementwise operations with one
 * reader into the loop of that reader, results of loops and recipes lie at fixed places of the
 * call's own memory; a tensor of its own is made only for what Python gets to see. All else is a
 * call of torch's own function.
 *
 * A value that is returned and lies in memory that came from outside has to be torch's own view of
 * it, so it and what it is made of stay calls.
 */
#include "tensorc.h"

#include <string.h>

/* What a view is a view of. */
static const Ir *viewed(const Ir *ir) {
  return ir->op == IR_ITEM ? ir->args[0]->args[0] : ir->args[0];
}

static bool is_from_outside(const Ir *ir) {
  while (ir->home->way == WAY_VIEW)
    ir = viewed(ir);
  return ir->home->way == WAY_INPUT || ir->home->way == WAY_WHEEL;
}

/* What a call gives may be a view of its operands, unless a table says that it is not. */
static bool may_be_view(const Ir *ir) { return !ir->home->row || ir->home->row->kind == ROW_VIEW; }

/* From the back: what has to have an object, and which views have to be torch's own. */
static void want_objects(const Block *body) {
  for (int i = body->n; i-- > 0;) {
    Ir *ir = body->items[i];
    Home *home = ir->home;
    bool view = home->way == WAY_VIEW, from_outside = view && is_from_outside(ir);
    if (from_outside && home->is_exact) {
      home->way = WAY_WHEEL;
      home->why = "returned as a view of what came from outside";
    }
    if (home->way == WAY_ONCE && home->is_object) {
      home->way = WAY_WHEEL;
      home->why = "Python gets to see it";
    }
    bool wheel = home->way == WAY_WHEEL || ir->op == IR_RESULTS;
    for (int k = 0; k < ir->n_args; k++) {
      Home *operand = ir->args[k]->home;
      operand->is_object |= wheel || (home->way == WAY_VIEW && home->is_object);
      operand->is_exact |=
          ir->op == IR_RESULTS || (home->way == WAY_WHEEL && home->is_exact && may_be_view(ir));
    }
  }
}

/* ── copies ──────────────────────────────────────────────────────────────────────────────────── */

static void push_with_operand(Arena *arena, Block *body, Ir *copy) {
  Ir *view = copy->args[0];
  if (view->home->way == WAY_VIEW)
    ARENA_PUSH(arena, body, view);
  ARENA_PUSH(arena, body, copy);
}

/* Puts what copies a recipe's operands in front of it, and makes the copies operands, too. */
static void place_copies(Unit *unit, Func *func) {
  Block old = func->body;
  func->body = (Block){0};
  for (int i = 0; i < old.n; i++) {
    Ir *ir = old.items[i];
    Home *home = ir->home;
    for (int k = 0; k < MOST_COPIES && home->way == WAY_RECIPE; k++) {
      if (!home->copies[k])
        continue;
      push_with_operand(&unit->arena, &func->body, home->copies[k]);
      Ir **args = ARENA_ARRAY(&unit->arena, Ir *, ir->n_args + 1);
      memcpy(args, ir->args, sizeof *args * (size_t)ir->n_args);
      args[ir->n_args++] = home->copies[k];
      ir->args = args;
      home->n_copies++;
    }
    ARENA_PUSH(&unit->arena, &func->body, ir);
  }
  for (int i = 0; i < func->body.n; i++)
    func->body.items[i]->id = i;
  func->n_ir = func->body.n;
}

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

static void settle_roots(const Block *body) {
  for (int i = 0; i < body->n; i++) {
    Ir *ir = body->items[i];
    Home *home = ir->home;
    if (ir->op == IR_ITEM && ir->args[0]->home->way == WAY_WHEEL)
      home->way = WAY_WHEEL;
    home->root = ir;
    home->last = -1;
    if (home->way == WAY_VIEW && ir->type.kind == TYPE_TENSOR) {
      const Ir *base = viewed(ir);
      const Ir *node = ir->op == IR_ITEM ? ir->args[0] : ir;
      int64_t offset;
      if (!view_offset(node, node->home->row->view, (int)ir->integer, &offset))
        NEVER("a view that was one");
      home->root = base->home->root;
      home->offset = base->home->offset + offset;
    } else if (home->way == WAY_INPUT || home->way == WAY_WHEEL || home->way == WAY_ONCE) {
      home->memory = MEMORY_OBJECT;
    } else if (home->way != WAY_VIEW && ir->type.kind == TYPE_TENSOR) {
      home->memory = home->is_object ? MEMORY_TENSOR : MEMORY_ARENA;
    }
  }
}

static bool same_sizes(Type a, Type b) {
  if (a.rank != b.rank)
    return false;
  return memcmp(a.shape->sizes, b.shape->sizes, sizeof a.shape->sizes[0] * (size_t)a.rank) == 0;
}

enum { MOST_FUSED = 24 }; /* nodes of a loop */

/* What is made once for all calls must stay as it is: no operation may write to it. */
static void make_anew(const Block *body) {
  bool writes = false;
  for (int i = 0; i < body->n; i++)
    writes |= body->items[i]->has_effect;
  for (int i = 0; writes && i < body->n; i++)
    if (body->items[i]->home->way == WAY_ONCE) {
      body->items[i]->home->way = WAY_WHEEL;
      body->items[i]->home->why = "an operation has an effect";
    }
}

/* A loop's only reader, if it is a loop over the same elements that can compute it on the way. */
static Ir *fusing_reader(const Block *body, const Ir *ir) {
  if (ir->n_uses != 1 || ir->home->is_object || loop_is_placed(ir) ||
      loop_has_pieces(ir->home->row) || loop_is_alone(ir))
    return NULL;
  for (int i = ir->id + 1; i < body->n; i++) {
    Ir *reader = body->items[i];
    if (reader->has_effect) /* it may write to what the loop reads */
      return NULL;
    for (int k = 0; k < reader->n_args; k++) {
      if (reader->args[k] != ir)
        continue;
      bool joins = reader->home->way == WAY_LOOP && loop_has_pieces(reader->home->row);
      return reader->home->way == WAY_LOOP && !loop_is_placed(reader) && !loop_is_alone(reader) &&
                     (joins || same_sizes(reader->type, ir->type))
                 ? reader
                 : NULL;
    }
  }
  return NULL;
}

/* From the back, so that a reader's own loop is known. */
static void fuse_loops(const Block *body) {
  for (int i = body->n; i-- > 0;) {
    Ir *ir = body->items[i];
    if (ir->home->way != WAY_LOOP)
      continue;
    ir->home->into = ir;
    ir->home->n_fused = 1;
    Ir *reader = fusing_reader(body, ir);
    if (!reader || reader->home->into->home->n_fused >= MOST_FUSED)
      continue;
    ir->home->into = reader->home->into;
    ir->home->into->home->n_fused++;
    ir->home->memory = MEMORY_NONE;
  }
}

static void note_reads(const Block *body) {
  for (int i = 0; i < body->n; i++) {
    const Ir *ir = body->items[i];
    int at = ir->home->way == WAY_LOOP ? ir->home->into->id : i;
    for (int k = 0; k < ir->n_args; k++) {
      Home *root = ir->args[k]->home->root->home;
      root->last = root->last > at ? root->last : at;
    }
  }
}

/* Bytes from the first element to behind the last one, to 64. */
static int64_t bytes_of(Type type) {
  int64_t elements = 1;
  for (int d = 0; d < type.rank; d++)
    elements += type.shape->sizes[d] > 0 ? (type.shape->sizes[d] - 1) * type.shape->strides[d] : 0;
  return (elements * dtype_table[type.dtype].bytes + 63) / 64 * 64;
}

void layout_parts(const Block *body, const Ir *node, Ir *parts[2]) {
  parts[0] = parts[1] = NULL;
  for (int i = node->id + 1; i < body->n; i++)
    if (body->items[i]->op == IR_ITEM && body->items[i]->args[0] == node)
      parts[body->items[i]->integer] = body->items[i];
}

/* Values that live, by their places. */
typedef struct Live {
  Ir **values;
  int n;
  int64_t most; /* bytes that there have been */
} Live;

/* At the first gap among those that live when instruction i computes it. */
static void place_value(Live *live, Ir *ir, int i) {
  if (!ir || ir->home->memory != MEMORY_ARENA)
    return;
  int n = 0;
  for (int k = 0; k < live->n; k++)
    if (live->values[k]->home->last >= i)
      live->values[n++] = live->values[k];
  live->n = n;
  int64_t at = 0, bytes = bytes_of(ir->type);
  int place = 0;
  for (; place < n && live->values[place]->home->arena - at < bytes; place++)
    at = live->values[place]->home->arena + bytes_of(live->values[place]->type);
  memmove(&live->values[place + 1], &live->values[place],
          sizeof *live->values * (size_t)(n - place));
  live->values[place] = ir;
  live->n++;
  ir->home->arena = at;
  ir->home->last = ir->home->last > i ? ir->home->last : i;
  live->most = live->most > at + bytes ? live->most : at + bytes;
}

/* What a loop reads lives until it is done; several results of one recipe are written at once. */
static int64_t place_values(Arena *arena, const Block *body) {
  Live live = {.values = ARENA_ARRAY(arena, Ir *, body->n + 1)};
  for (int i = 0; i < body->n; i++) {
    Ir *ir = body->items[i], *parts[2] = {ir, NULL};
    if (ir->home->way == WAY_PART)
      continue;
    if (ir->home->way == WAY_RECIPE && ir->type.kind == TYPE_TUPLE)
      layout_parts(body, ir, parts);
    place_value(&live, parts[0], i);
    place_value(&live, parts[1], i);
  }
  return live.most;
}

/* ── the pass ────────────────────────────────────────────────────────────────────────────────── */

void layout_func(Unit *unit, Func *func) {
  const Block *body = &func->body;
  for (int i = 0; i < body->n; i++) {
    Ir *ir = body->items[i];
    ir->home = ARENA_NEW(&unit->arena, Home);
    ir->home->way = way_of(&unit->arena, ir);
  }
  place_copies(unit, func);
  make_anew(body);
  want_objects(body);
  settle_roots(body);
  fuse_loops(body);
  note_reads(body);
  func->arena_bytes = place_values(&unit->arena, body);
  int n_calls = 0, n_once = 0, n_recipes = 0;
  for (int i = 0; i < body->n; i++) {
    Ir *ir = body->items[i];
    Way way = ir->home->way;
    bool calls = way != WAY_INPUT && way != WAY_VIEW && way != WAY_LOOP;
    ir->home->call = ir->op == IR_NODE && calls ? n_calls++ : -1;
    ir->home->once = way == WAY_ONCE ? n_once++ : -1;
    ir->home->recipe = way == WAY_RECIPE ? n_recipes++ : -1;
  }
  func->n_once = n_once;
  func->n_ops = n_recipes;
}

static void print_place(Buf *out, const Ir *ir) {
  const Home *home = ir->home;
  if (home->way == WAY_VIEW && ir->type.kind == TYPE_TENSOR)
    buf_addf(out, " of %%%s + %lld", home->root->name, (long long)home->offset);
  else if (home->way == WAY_LOOP && home->into != ir)
    buf_addf(out, " in that of %%%s", home->into->name);
  else if (home->memory == MEMORY_ARENA)
    buf_addf(out, " at %lld", (long long)home->arena);
  else if (home->memory == MEMORY_TENSOR)
    buf_add(out, " into a tensor");
}

void layout_print(Buf *out, const Func *func) {
  buf_addf(out, "graph %s: %lld bytes of its own\n", func->qualname, (long long)func->arena_bytes);
  for (int i = 0; i < func->body.n; i++) {
    const Ir *ir = func->body.items[i];
    if (ir->op != IR_NODE && ir->op != IR_ITEM)
      continue;
    if (ir->home->inserted && ir->home->way == WAY_VIEW)
      continue;
    if (ir->home->inserted)
      buf_addf(out, "  a copy of %%%s: loop", ir->name);
    else
      buf_addf(out, "  %%%s = %s: %s", ir->name, ir->op == IR_NODE ? ir->schema : "getitem",
               way_name(ir->home->way));
    print_place(out, ir);
    if (ir->home->why)
      buf_addf(out, " (%s)", ir->home->why);
    buf_add(out, "\n");
  }
}
