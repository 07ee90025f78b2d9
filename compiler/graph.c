/* graph.c: the text of a captured graph → IR.
 *
 * The other door of the compiler: what read, bind and claim are for a source file, this is for a
 * graph. Its values have their types already, there are no names of Python to bind and nothing to
 * refuse: an operation that no table knows is the wheel's. One line is one instruction:
 *
 *     graph 1 torch
 *     input  %x : f32[1,32](32,1)
 *     param  %p0 : f32[128,32](32,1) "body.0.weight"
 *     %linear = aten::linear(%x, %p0, none) : f32[1,128](128,1)
 *     %item = getitem(%chunk, 0) : f32[1,64](192,1)
 *     return %linear, 3, none
 *
 * Leaves one function whose only block holds its inputs, its nodes and what it returns.
 */
#include "tensorc.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 16 }; /* of lists in lists */

typedef struct Reader {
  Unit *unit;
  Func *func;
  const char *at, *end; /* what is left of the line */
  int line;
  Buf *problem;
  struct {
    Ir **items;
    int n, capacity;
  } values; /* in order of their lines */
} Reader;

/* ── the line ────────────────────────────────────────────────────────────────────────────────── */

static bool wrong(Reader *r, const char *what) {
  if (!r->problem->length)
    buf_addf(r->problem, "line %d of the graph: %s", r->line, what);
  return false;
}

static bool skip(Reader *r, const char *text) {
  size_t n = strlen(text);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
    return false;
  r->at += n;
  return true;
}

static void skip_blanks(Reader *r) {
  while (r->at < r->end && *r->at == ' ')
    r->at++;
}

static bool is_word_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == ':';
}

/* The longest word from here, or NULL. */
static const char *read_word(Reader *r) {
  const char *start = r->at;
  while (r->at < r->end && is_word_byte(*r->at))
    r->at++;
  if (r->at == start)
    return NULL;
  return arena_intern(&r->unit->arena, start, (size_t)(r->at - start));
}

static const char *read_name(Reader *r) {
  const char *name = skip(r, "%") ? read_word(r) : NULL;
  if (!name)
    wrong(r, "a %name is missing");
  return name;
}

static bool read_int(Reader *r, int64_t *value) {
  char *end;
  errno = 0;
  *value = strtoll(r->at, &end, 10);
  if (end == r->at || end > r->end || errno)
    return wrong(r, "a whole number of 64 bits is missing");
  r->at = end;
  return true;
}

static void add_utf8(Buf *text, unsigned code) {
  char bytes[4];
  int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (int i = n - 1; i > 0; i--, code >>= 6)
    bytes[i] = (char)(0x80 | (code & 0x3f));
  bytes[0] = (char)(n == 1 ? code : (0xf00u >> n & 0xff) | code);
  buf_add_bytes(text, bytes, (size_t)n);
}

/* The four digits of \u; 0: they are none. */
static unsigned read_hex(Reader *r) {
  unsigned code = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at) : NULL;
    if (!digit)
      return 0;
    code = code * 16 + (unsigned)(digit - digits) % 16;
  }
  return code;
}

static bool read_escape(Reader *r, Buf *text) {
  static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
  if (r->at == r->end)
    return false;
  const char *found = *r->at ? strchr(names, *r->at) : NULL;
  bool unicode = *r->at == 'u';
  r->at++;
  if (found)
    buf_add_bytes(text, &bytes[found - names], 1);
  if (found || !unicode)
    return found != NULL;
  unsigned code = read_hex(r);
  if (code >= 0xd800 && code < 0xdc00 && skip(r, "\\u")) {
    unsigned low = read_hex(r);
    if (low < 0xdc00 || low >= 0xe000)
      return false;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (code)
    add_utf8(text, code);
  return code != 0; /* no text of ours holds a NUL */
}

/* A text of JSON, whose first quote is behind us. NULL: it does not end, or not as JSON's do. */
static const char *read_text(Reader *r) {
  Buf text = {0};
  const char *result = NULL;
  buf_add(&text, "");
  while (r->at < r->end && *r->at != '"') {
    char byte = *r->at++;
    if (byte != '\\')
      buf_add_bytes(&text, &byte, 1);
    else if (!read_escape(r, &text))
      goto done;
  }
  if (skip(r, "\""))
    result = arena_intern(&r->unit->arena, text.text, text.length);
done:
  if (!result)
    wrong(r, "a text does not end");
  buf_free(&text);
  return result;
}

/* ── types ───────────────────────────────────────────────────────────────────────────────────── */

/* "[1,32]": as many numbers as there are, or -1. */
static int read_numbers(Reader *r, const char *open, const char *close, int64_t *numbers) {
  int n = 0;
  if (!skip(r, open))
    return wrong(r, "sizes or strides are missing") - 1;
  while (!skip(r, close)) {
    if (n == MOST_RANK)
      return wrong(r, "more than 8 dimensions") - 1;
    if ((n > 0 && !skip(r, ",")) || !read_int(r, &numbers[n]))
      return wrong(r, "sizes or strides do not end") - 1;
    n++;
  }
  return n;
}

/* Whether all elements of the tensor can be counted, and reached, in 64 bits. */
static bool is_sane(const Shape *shape, int rank) {
  int64_t elements = 1, reach = 0, step;
  for (int i = 0; i < rank; i++) {
    if (shape->sizes[i] < 0 || shape->strides[i] < 0 ||
        __builtin_mul_overflow(elements, shape->sizes[i] ? shape->sizes[i] : 1, &elements) ||
        __builtin_mul_overflow(shape->sizes[i], shape->strides[i], &step) ||
        __builtin_add_overflow(reach, step, &reach))
      return false;
  }
  return elements < INT64_MAX / 64 && reach < INT64_MAX / 64;
}

static bool read_tensor_type(Reader *r, Type *type) {
  const char *word = read_word(r);
  *type = (Type){.kind = TYPE_TENSOR, .dtype = DTYPE_COUNT, .device = DEVICE_CPU};
  for (DType dtype = 0; word && dtype < DTYPE_COUNT; dtype++)
    if (strcmp(dtype_table[dtype].text, word) == 0)
      type->dtype = dtype;
  if (type->dtype == DTYPE_COUNT)
    return wrong(r, "no dtype that is known");
  Shape *shape = ARENA_NEW(&r->unit->arena, Shape);
  type->rank = read_numbers(r, "[", "]", shape->sizes);
  if (type->rank < 0)
    return false;
  int n_strides = read_numbers(r, "(", ")", shape->strides);
  if (n_strides < 0)
    return false;
  if (n_strides != type->rank || !is_sane(shape, type->rank))
    return wrong(r, "strides do not go with the sizes");
  type->shape = shape;
  return true;
}

static bool read_type(Reader *r, Type *type) {
  struct {
    Type *items;
    int n, capacity;
  } types = {NULL, 0, 0};
  skip_blanks(r);
  if (!skip(r, ":"))
    return wrong(r, "a type is missing");
  skip_blanks(r);
  if (skip(r, "object")) {
    *type = (Type){.kind = TYPE_OBJECT};
    return true;
  }
  if (!skip(r, "("))
    return read_tensor_type(r, type);
  while (!skip(r, ")")) {
    Type item;
    if (types.n > 0 && !skip(r, ", "))
      return wrong(r, "a list of types does not end");
    if (skip(r, "none"))
      item = (Type){.kind = TYPE_NONE};
    else if (skip(r, "object"))
      item = (Type){.kind = TYPE_OBJECT};
    else if (!read_tensor_type(r, &item))
      return false;
    ARENA_PUSH(&r->unit->arena, &types, item);
  }
  *type = (Type){.kind = TYPE_TUPLE, .rank = types.n, .items = types.items};
  return true;
}

/* ── arguments ───────────────────────────────────────────────────────────────────────────────── */

static Ir *find_value(Reader *r, const char *name) {
  for (int i = r->values.n; i-- > 0;)
    if (r->values.items[i]->name == name)
      return r->values.items[i];
  wrong(r, "a %name that no line before it defines");
  return NULL;
}

/* A number: an int unless its text has more than digits. */
static bool read_number(Reader *r, Attr *attr) {
  const char *start = r->at, *stop = r->at;
  char *end;
  while (stop < r->end && (is_word_byte(*stop) || *stop == '-' || *stop == '+'))
    stop++;
  bool whole = true;
  for (const char *byte = start; byte < stop; byte++)
    whole = whole && ((*byte >= '0' && *byte <= '9') || (byte == start && *byte == '-'));
  if (whole) {
    attr->kind = ATTR_INT;
    return read_int(r, &attr->integer);
  }
  attr->kind = ATTR_FLOAT;
  attr->number = strtod(start, &end); /* the process of a compiler reads numbers as C does */
  if (end != stop)
    return wrong(r, "no argument that is known");
  r->at = stop;
  return true;
}

static bool read_attr(Reader *r, Ir *ir, Attr *attr, int depth);

/* Up to `close`, a byte. */
static bool read_attrs(Reader *r, Ir *ir, const char *close, Attr **items, int *n, int depth) {
  struct {
    Attr *items;
    int n, capacity;
  } attrs = {NULL, 0, 0};
  while (!(*close ? skip(r, close) : r->at == r->end)) {
    Attr attr = {0};
    if ((attrs.n > 0 && !skip(r, ", ")) || !read_attr(r, ir, &attr, depth))
      return wrong(r, "a list of arguments does not end");
    ARENA_PUSH(&r->unit->arena, &attrs, attr);
  }
  *items = attrs.items;
  *n = attrs.n;
  return true;
}

static bool add_operand(Reader *r, Ir *ir, const char *name, Attr *attr) {
  Ir *value = name ? find_value(r, name) : NULL;
  if (!value)
    return false;
  struct {
    Ir **items;
    int n, capacity;
  } args = {ir->args, ir->n_args, ir->n_args};
  ARENA_PUSH(&r->unit->arena, &args, value);
  ir->args = args.items;
  attr->kind = ATTR_VALUE;
  attr->operand = ir->n_args++;
  return true;
}

static bool read_attr(Reader *r, Ir *ir, Attr *attr, int depth) {
  if (depth > MOST_DEPTH)
    return wrong(r, "lists are too deep");
  if (r->at < r->end && *r->at == '%')
    return add_operand(r, ir, read_name(r), attr);
  if (skip(r, "\"")) {
    attr->kind = ATTR_TEXT;
    attr->text = read_text(r);
    return attr->text != NULL;
  }
  if (skip(r, "[")) {
    attr->kind = ATTR_LIST;
    return read_attrs(r, ir, "]", &attr->items, &attr->n_items, depth + 1);
  }
  const char *start = r->at;
  bool letter = start < r->end && ((*start >= 'a' && *start <= 'z') || *start == '_');
  const char *word = letter ? read_word(r) : NULL;
  if (word && skip(r, "=")) {
    bool read = read_attr(r, ir, attr, depth + 1);
    attr->keyword = word;
    return read;
  }
  if (!word || strcmp(word, "inf") == 0 || strcmp(word, "nan") == 0) {
    r->at = start;
    return read_number(r, attr);
  }
  bool is_true = strcmp(word, "true") == 0;
  attr->integer = is_true;
  attr->text = word;
  attr->kind = is_true || strcmp(word, "false") == 0 ? ATTR_BOOL
               : strcmp(word, "none") == 0           ? ATTR_NONE
                                                     : ATTR_WORD;
  return true;
}

/* ── lines ───────────────────────────────────────────────────────────────────────────────────── */

static Ir *add_ir(Reader *r, IrOp op, const char *name) {
  Ir *ir = ARENA_NEW(&r->unit->arena, Ir);
  ir->op = op;
  ir->name = name;
  ir->span = (Span){r->line, 0, r->line, 0};
  ir->id = r->func->n_ir++;
  ir->type = (Type){.kind = TYPE_NONE};
  ARENA_PUSH(&r->unit->arena, &r->func->body, ir);
  return ir;
}

static bool is_new(Reader *r, const char *name) {
  for (int i = 0; i < r->values.n; i++)
    if (r->values.items[i]->name == name)
      return wrong(r, "a %name is defined again");
  return true;
}

static bool read_input(Reader *r, InputKind kind) {
  skip_blanks(r);
  const char *name = read_name(r);
  if (!name || !is_new(r, name))
    return false;
  const Block *body = &r->func->body;
  const Ir *before = body->n > 0 ? body->items[body->n - 1] : NULL;
  if (before &&
      (before->op != IR_INPUT || (kind == INPUT_ARGUMENT && before->input != INPUT_ARGUMENT)))
    return wrong(r, "inputs come first, then parameters, buffers and constants, then the nodes");
  Ir *ir = add_ir(r, IR_INPUT, name);
  ir->input = kind;
  bool goes_on = before && (kind == INPUT_ARGUMENT) == (before->input == INPUT_ARGUMENT);
  ir->integer = goes_on ? before->integer + 1 : 0;
  if (!read_type(r, &ir->type))
    return false;
  if (ir->type.kind != TYPE_TENSOR)
    return wrong(r, "an input that is no tensor");
  skip_blanks(r);
  if (kind != INPUT_ARGUMENT && (!skip(r, "\"") || !(ir->text = read_text(r))))
    return wrong(r, "where the model has it is missing");
  ARENA_PUSH(&r->unit->arena, &r->values, ir);
  return true;
}

static bool read_item(Reader *r, Ir *ir) {
  if (ir->n_attrs != 2 || ir->n_args != 1 || ir->attrs[0].kind != ATTR_VALUE ||
      ir->attrs[1].kind != ATTR_INT)
    return wrong(r, "getitem takes a %name and a number");
  Type tuple = ir->args[0]->type;
  int64_t index = ir->attrs[1].integer;
  if (index < 0 || (tuple.kind != TYPE_OBJECT && (tuple.kind != TYPE_TUPLE || index >= tuple.rank ||
                                                  !type_equal(tuple.items[index], ir->type))))
    return wrong(r, "getitem of what is not there, or of another type");
  ir->op = IR_ITEM;
  ir->integer = index;
  ir->attrs = NULL;
  ir->n_attrs = 0;
  return true;
}

static bool read_node(Reader *r) {
  const char *name = read_name(r);
  if (!name || !is_new(r, name))
    return false;
  skip_blanks(r);
  if (!skip(r, "= "))
    return wrong(r, "= is missing");
  Ir *ir = add_ir(r, IR_NODE, name);
  ir->schema = read_word(r);
  ir->has_effect = skip(r, "!");
  if (!ir->schema || !skip(r, "("))
    return wrong(r, "an operation is missing");
  if (!read_attrs(r, ir, ")", &ir->attrs, &ir->n_attrs, 0) || !read_type(r, &ir->type))
    return false;
  if (strcmp(ir->schema, "getitem") == 0 && !read_item(r, ir))
    return false;
  ARENA_PUSH(&r->unit->arena, &r->values, ir);
  return true;
}

static bool read_results(Reader *r) {
  skip_blanks(r);
  Ir *ir = add_ir(r, IR_RESULTS, NULL);
  if (!read_attrs(r, ir, "", &ir->attrs, &ir->n_attrs, 0))
    return false;
  for (int i = 0; i < ir->n_attrs; i++)
    if (ir->attrs[i].kind == ATTR_LIST || ir->attrs[i].kind == ATTR_WORD ||
        (ir->attrs[i].kind == ATTR_VALUE &&
         ir->args[ir->attrs[i].operand]->type.kind == TYPE_TUPLE))
      return wrong(r, "a result is neither a tensor nor a number, text or none");
  return true;
}

static bool read_line(Reader *r) {
  static const char *const inputs[INPUT_COUNT] = {"input ", "param ", "buffer ", "const "};
  bool read = false, known = false;
  if (r->line == 1) {
    known = skip(r, "graph 1 torch");
    read = known;
  }
  for (InputKind kind = 0; kind < INPUT_COUNT && !known && r->line > 1; kind++)
    if (skip(r, inputs[kind])) {
      known = true;
      read = read_input(r, kind);
    }
  if (!known && r->line > 1) {
    known = true;
    read = skip(r, "return") ? read_results(r) : read_node(r);
  }
  if (!known)
    return wrong(r, "no graph of a version that is known");
  if (!read)
    return wrong(r, "it cannot be read");
  return r->at == r->end || wrong(r, "something behind its end");
}

bool graph_read(Unit *unit, const char *text, size_t n_bytes, Buf *problem) {
  Func *func = ARENA_NEW(&unit->arena, Func);
  func->name = func->qualname = unit->module;
  func->status = STATUS_ACCEPTED;
  func->lane = LANE_TORCH;
  ARENA_PUSH(&unit->arena, &unit->funcs, func);
  /* A copy that ends with a NUL, where numbers stop being read. */
  const char *copy = arena_intern(&unit->arena, text, n_bytes);
  Reader reader = {.unit = unit, .func = func, .problem = problem};
  for (const char *at = copy, *stop = copy + n_bytes; at < stop; at = reader.end + 1) {
    const char *end = memchr(at, '\n', (size_t)(stop - at));
    reader.at = at;
    reader.end = end ? end : stop;
    reader.line++;
    if (func->body.n > 0 && func->body.items[func->body.n - 1]->op == IR_RESULTS)
      return wrong(&reader, "something behind the return");
    if (!read_line(&reader))
      return false;
  }
  if (func->body.n == 0 || func->body.items[func->body.n - 1]->op != IR_RESULTS)
    return wrong(&reader, "no return");
  return true;
}
