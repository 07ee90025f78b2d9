/* read.c: CPython's ast → arena.
 *
 * The parser is CPython's own, called on the bytes of the file, so that cookies, BOMs and every
 * rule of the grammar are the running interpreter's. The tree it returns is copied into Ast nodes
 * after ast.def and the Python objects are released. Leaves unit->tree, and through source.c the
 * text.
 *
 * A class of nodes is looked up once a file: its kind, and for each of its fields the slot of
 * struct Ast that takes it. The copy itself then only fetches from instance dictionaries.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tensorc.h"

#include <stddef.h>
#include <string.h>

enum {
  MAX_DEPTH = 1000,   /* of nested nodes; the passes behind us recurse as deep */
  CLASS_PLACES = 256, /* of the hash table; Python 3.13 has 113 classes of nodes */
};

/* ── the tables ──────────────────────────────────────────────────────────────────────────────── */

static const struct {
  const char *name, *fields;
} kind_table[AST_COUNT] = {
    [AST_Other] = {"", ""},
    [AST_Op] = {"", ""},
#define NODE(kind, fields) [AST_##kind] = {#kind, fields},
#include "ast.def"
#undef NODE
};

/* Slots that only one or two kinds have, in the notation of ast.def. */
static const struct {
  AstKind kind;
  const char *fields;
} extra_table[] = {
    {AST_arguments,
     "kwonly:kwonlyargs kw_defaults:kw_defaults defaults:defaults vararg:vararg kwarg:kwarg"},
    {AST_Global, "names:names"},
    {AST_Nonlocal, "names:names"},
};

typedef enum { FORM_REST, FORM_NODE, FORM_LIST, FORM_TEXT } SlotForm;

static const struct {
  const char *name;
  SlotForm form;
  size_t offset; /* in struct Ast */
} slot_table[] = {
    {"a", FORM_NODE, offsetof(Ast, a)},
    {"b", FORM_NODE, offsetof(Ast, b)},
    {"c", FORM_NODE, offsetof(Ast, c)},
    {"list", FORM_LIST, offsetof(Ast, list)},
    {"list2", FORM_LIST, offsetof(Ast, list2)},
    {"text", FORM_TEXT, offsetof(Ast, text)},
    {"text2", FORM_TEXT, offsetof(Ast, text2)},
    {"kwonly", FORM_LIST, offsetof(Ast, kwonly)},
    {"defaults", FORM_LIST, offsetof(Ast, defaults)},
    {"kw_defaults", FORM_LIST, offsetof(Ast, kw_defaults)},
    {"vararg", FORM_NODE, offsetof(Ast, vararg)},
    {"kwarg", FORM_NODE, offsetof(Ast, kwarg)},
    {"names", FORM_LIST, offsetof(Ast, names)},
};

static const struct {
  const char *name, *symbol;
} symbol_table[] = {
    {"Add", "+"},    {"Sub", "-"},        {"Mult", "*"},      {"MatMult", "@"},    {"Div", "/"},
    {"Mod", "%"},    {"Pow", "**"},       {"LShift", "<<"},   {"RShift", ">>"},    {"BitOr", "|"},
    {"BitXor", "^"}, {"BitAnd", "&"},     {"FloorDiv", "//"}, {"Invert", "~"},     {"Not", "not"},
    {"UAdd", "+"},   {"USub", "-"},       {"And", "and"},     {"Or", "or"},        {"Eq", "=="},
    {"NotEq", "!="}, {"Lt", "<"},         {"LtE", "<="},      {"Gt", ">"},         {"GtE", ">="},
    {"Is", "is"},    {"IsNot", "is-not"}, {"In", "in"},       {"NotIn", "not-in"},
};

static const char *const context_table[] = {"Load", "Store", "Del"}; /* Ast.integer counts these */

#define N_ITEMS(array) (int)(sizeof(array) / sizeof *(array))

/* ── classes of nodes ────────────────────────────────────────────────────────────────────────── */

typedef struct Field {
  PyObject *name; /* borrowed from the class, which outlives the copying */
  SlotForm form;
  size_t offset; /* in struct Ast, unless FORM_REST */
} Field;

typedef struct Class {
  PyTypeObject *type; /* NULL: a free place of the table */
  AstKind kind;
  const char *name;   /* interned */
  const char *symbol; /* of an operator, else NULL */
  int context;        /* index into context_table, else -1 */
  bool positioned;    /* its nodes have a lineno */
  Field *fields;
  int n_fields;
} Class;

typedef struct Reader {
  Unit *unit;
  Class classes[CLASS_PLACES]; /* open addressing by the type's address */
  PyObject *lineno, *col_offset, *end_lineno, *end_col_offset; /* the attribute names */
  int depth;
  bool too_deep; /* nothing else is wrong: no Python exception is set */
  Span deepest;  /* the innermost position on the way down */
} Reader;

/* Finds "slot:field" for `field` in a string of ast.def. */
static bool find_slot(const char *fields, const char *field, SlotForm *form, size_t *offset) {
  size_t length = strlen(field);
  for (const char *at = fields; *at != '\0'; at += strcspn(at, " "), at += *at == ' ') {
    size_t slot_length = strcspn(at, ":"), field_length = strcspn(at + slot_length + 1, " ");
    if (field_length != length || memcmp(at + slot_length + 1, field, length) != 0)
      continue;
    for (int i = 0; i < N_ITEMS(slot_table); i++)
      if (strlen(slot_table[i].name) == slot_length &&
          memcmp(slot_table[i].name, at, slot_length) == 0) {
        *form = slot_table[i].form;
        *offset = slot_table[i].offset;
        return true;
      }
    NEVER("ast.def names a slot that struct Ast lacks");
  }
  return false;
}

static bool describe_fields(Reader *reader, Class *class, PyObject *names) {
  if (!PyTuple_Check(names)) {
    PyErr_Format(PyExc_TypeError, "%s._fields is not a tuple", class->name);
    return false;
  }
  class->n_fields = (int)PyTuple_GET_SIZE(names);
  class->fields = ARENA_ARRAY(&reader->unit->arena, Field, class->n_fields);
  for (int i = 0; i < class->n_fields; i++) {
    Field *field = &class->fields[i];
    field->name = PyTuple_GET_ITEM(names, i);
    const char *name = PyUnicode_AsUTF8(field->name);
    if (name == NULL)
      return false;
    bool found = find_slot(kind_table[class->kind].fields, name, &field->form, &field->offset);
    for (int k = 0; k < N_ITEMS(extra_table) && !found; k++)
      if (extra_table[k].kind == class->kind)
        found = find_slot(extra_table[k].fields, name, &field->form, &field->offset);
  }
  return true;
}

static bool describe_class(Reader *reader, Class *class, PyTypeObject *type) {
  const char *dot = strrchr(type->tp_name, '.');
  const char *name = dot != NULL ? dot + 1 : type->tp_name;
  *class = (Class){.name = arena_name(&reader->unit->arena, name), .context = -1};
  for (int kind = AST_Op + 1; kind < AST_COUNT; kind++)
    if (strcmp(kind_table[kind].name, name) == 0)
      class->kind = (AstKind)kind;
  for (int i = 0; i < N_ITEMS(symbol_table); i++)
    if (strcmp(symbol_table[i].name, name) == 0)
      class->symbol = arena_name(&reader->unit->arena, symbol_table[i].symbol);
  for (int i = 0; i < N_ITEMS(context_table); i++)
    if (strcmp(context_table[i], name) == 0)
      class->context = i;
  PyObject *names = PyObject_GetAttrString((PyObject *)type, "_fields");
  PyObject *attributes = PyObject_GetAttrString((PyObject *)type, "_attributes");
  bool done = names != NULL && attributes != NULL && describe_fields(reader, class, names);
  if (done) {
    class->positioned = PyTuple_Check(attributes) && PyTuple_GET_SIZE(attributes) > 0;
    class->type = type;
  }
  Py_XDECREF(names);
  Py_XDECREF(attributes);
  return done;
}

/* The description of a node's class, made when the file first has one; NULL: an exception is set.
 */
static const Class *class_of(Reader *reader, PyTypeObject *type) {
  uintptr_t hash = (uintptr_t)type;
  hash = hash >> 4 ^ hash >> 12;
  for (int n = 0; n < CLASS_PLACES; n++) {
    Class *class = &reader->classes[(hash + (uintptr_t)n) % CLASS_PLACES];
    if (class->type == type)
      return class;
    if (class->type == NULL)
      return describe_class(reader, class, type) ? class : NULL;
  }
  NEVER("more classes of nodes than the table holds");
}

/* ── the copy ────────────────────────────────────────────────────────────────────────────────── */

static bool read_node(Reader *reader, PyObject *object, Ast **result);

static bool read_text(Reader *reader, PyObject *object, const char **text, Py_ssize_t *length) {
  const char *bytes = PyUnicode_AsUTF8AndSize(object, length);
  if (bytes == NULL)
    return false;
  *text = arena_intern(&reader->unit->arena, bytes, (size_t)*length);
  return true;
}

/* An attribute that every positioned node of a parsed tree has, and that is a small number. */
static bool read_position(PyObject *dict, PyObject *name, int *number) {
  PyObject *object = PyDict_GetItemWithError(dict, name);
  if (object == NULL || object == Py_None)
    return PyErr_Occurred() == NULL;
  *number = (int)PyLong_AsLong(object);
  return *number != -1 || PyErr_Occurred() == NULL;
}

static bool read_constant(Reader *reader, Ast *ast, PyObject *value) {
  ast->constant = CONST_OTHER;
  if (value == NULL)
    return true;
  if (value == Py_None)
    ast->constant = CONST_NONE;
  else if (PyBool_Check(value)) {
    ast->constant = CONST_BOOL;
    ast->integer = value == Py_True;
  } else if (PyLong_CheckExact(value)) {
    int overflow = 0;
    ast->integer = PyLong_AsLongLongAndOverflow(value, &overflow);
    ast->constant = overflow != 0 ? CONST_BIGINT : CONST_INT;
    if (overflow != 0) { /* 2**63 is kept apart: its negative has 64 bits */
      ast->integer = PyLong_AsUnsignedLongLong(value) == 1ULL << 63;
      PyErr_Clear();
    }
  } else if (PyFloat_CheckExact(value)) {
    ast->constant = CONST_FLOAT;
    ast->number = PyFloat_AS_DOUBLE(value);
  } else if (PyUnicode_CheckExact(value)) {
    Py_ssize_t length = 0;
    if (read_text(reader, value, &ast->text, &length)) {
      ast->constant = CONST_STR;
      ast->integer = length;
    } else if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
      PyErr_Clear(); /* a lone surrogate has no UTF-8 */
  }
  return PyErr_Occurred() == NULL;
}

/* Strings in a list of names (Global) become Name nodes. */
static bool read_item(Reader *reader, PyObject *object, Ast **result) {
  *result = NULL;
  if (object == Py_None)
    return true;
  if (!PyUnicode_Check(object))
    return read_node(reader, object, result);
  Py_ssize_t length = 0;
  *result = ARENA_NEW(&reader->unit->arena, Ast);
  (*result)->kind = AST_Name;
  return read_text(reader, object, &(*result)->text, &length);
}

static bool read_list(Reader *reader, Ast *ast, const Field *field, PyObject *objects) {
  Arena *arena = &reader->unit->arena;
  Py_ssize_t n = PyList_GET_SIZE(objects);
  AstList *list = &ast->rest;
  if (field->form == FORM_LIST && n > 0) {
    list = (AstList *)((char *)ast + field->offset);
    list->capacity = (int)n;
    list->items = ARENA_ARRAY(arena, Ast *, n);
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *object = PyList_GET_ITEM(objects, i);
    if (field->form == FORM_REST && PyUnicode_Check(object))
      continue; /* MatchClass.kwd_attrs: names of attributes, no nodes */
    Ast *child = NULL;
    if (!read_item(reader, object, &child))
      return false;
    if (child != NULL || field->form == FORM_LIST)
      ARENA_PUSH(arena, list, child);
  }
  return true;
}

static bool read_field(Reader *reader, Ast *ast, const Field *field, PyObject *value) {
  if (value == NULL || value == Py_None)
    return true;
  if (PyList_CheckExact(value))
    return read_list(reader, ast, field, value);
  void *slot = (char *)ast + field->offset;
  if (PyUnicode_Check(value)) {
    Py_ssize_t length = 0;
    if (field->form == FORM_TEXT)
      return read_text(reader, value, slot, &length);
    return ast->kind != AST_Other || read_text(reader, value, &ast->text2, &length);
  }
  if (PyLong_Check(value)) {
    ast->integer =
        PyLong_AsLong(value); /* ImportFrom.level, AnnAssign.simple, comprehension.is_async */
    return ast->integer != -1 || PyErr_Occurred() == NULL;
  }
  const Class *class = class_of(reader, Py_TYPE(value));
  if (class == NULL)
    return false;
  if (class->context >= 0) {
    ast->integer = class->context;
    return true;
  }
  if (field->form == FORM_TEXT) {
    *(const char **)slot = class->symbol;
    return true;
  }
  Ast *child = NULL;
  if (!read_node(reader, value, &child))
    return false;
  if (field->form == FORM_NODE)
    *(Ast **)slot = child;
  else
    ARENA_PUSH(&reader->unit->arena, &ast->rest, child);
  return true;
}

static bool read_fields(Reader *reader, Ast *ast, const Class *class, PyObject *dict) {
  Span *span = &ast->span;
  if (class->positioned && !(read_position(dict, reader->lineno, &span->line) &&
                             read_position(dict, reader->col_offset, &span->col) &&
                             read_position(dict, reader->end_lineno, &span->end_line) &&
                             read_position(dict, reader->end_col_offset, &span->end_col)))
    return false;
  if (class->positioned)
    reader->deepest = *span;
  for (int i = 0; i < class->n_fields; i++) {
    PyObject *value = PyDict_GetItemWithError(dict, class->fields[i].name);
    if (value == NULL && PyErr_Occurred() != NULL)
      return false;
    if (class->kind ==
        AST_Constant) /* its first field is the value, its second says that it was u"" */
      return read_constant(reader, ast, value);
    if (!read_field(reader, ast, &class->fields[i], value))
      return false;
  }
  return true;
}

/* False: an exception is set, or reader->too_deep. */
static bool read_node(Reader *reader, PyObject *object, Ast **result) {
  const Class *class = class_of(reader, Py_TYPE(object));
  if (class == NULL)
    return false;
  Ast *ast = ARENA_NEW(&reader->unit->arena, Ast);
  *result = ast;
  ast->kind = class->symbol != NULL ? AST_Op : class->kind;
  if (class->symbol != NULL) {
    ast->text = class->symbol;
    return true;
  }
  if (ast->kind == AST_Other)
    ast->text = class->name;
  if (reader->depth == MAX_DEPTH) {
    reader->too_deep = true;
    return false;
  }
  reader->depth++;
  PyObject *dict = PyObject_GenericGetDict(object, NULL);
  bool done = dict != NULL && read_fields(reader, ast, class, dict);
  Py_XDECREF(dict);
  reader->depth--;
  return done;
}

/* ── the pass ────────────────────────────────────────────────────────────────────────────────── */

/* The tree, of a source that Python compiles to the end: some errors (a repeated parameter, return
 * outside a function) are only found behind the parser. */
static PyObject *parse(PyObject *filename, PyObject *bytes) {
  PyCompilerFlags whole = {.cf_flags = PyCF_SOURCE_IS_UTF8, .cf_feature_version = PY_MINOR_VERSION};
  PyObject *code =
      Py_CompileStringObject(PyBytes_AS_STRING(bytes), filename, Py_file_input, &whole, -1);
  if (code == NULL)
    return NULL;
  Py_DECREF(code);
  PyCompilerFlags flags = {.cf_flags = PyCF_ONLY_AST | PyCF_SOURCE_IS_UTF8,
                           .cf_feature_version = PY_MINOR_VERSION};
  return Py_CompileStringObject(PyBytes_AS_STRING(bytes), filename, Py_file_input, &flags, -1);
}

static bool read_tree(Unit *unit, PyObject *module) {
  Reader *reader = PyMem_Calloc(1, sizeof *reader);
  if (reader == NULL) {
    PyErr_NoMemory();
    return false;
  }
  reader->unit = unit;
  reader->lineno = PyUnicode_InternFromString("lineno");
  reader->col_offset = PyUnicode_InternFromString("col_offset");
  reader->end_lineno = PyUnicode_InternFromString("end_lineno");
  reader->end_col_offset = PyUnicode_InternFromString("end_col_offset");
  bool done = reader->lineno != NULL && reader->col_offset != NULL && reader->end_lineno != NULL &&
              reader->end_col_offset != NULL && read_node(reader, module, &unit->tree);
  if (!done && reader->too_deep) {
    unit->tree = ARENA_NEW(&unit->arena, Ast);
    unit->tree->kind = AST_Module;
    diag_add(unit, NULL, "TC-LANG-001", OUTCOME_REJECTED, reader->deepest,
             "split the expression; the whole file stays on Python until then",
             "nesting too deep: more than %d levels", MAX_DEPTH);
    done = true;
  }
  Py_XDECREF(reader->lineno);
  Py_XDECREF(reader->col_offset);
  Py_XDECREF(reader->end_lineno);
  Py_XDECREF(reader->end_col_offset);
  PyMem_Free(reader);
  return done;
}

bool read_unit(Unit *unit, const char *source, size_t n_bytes) {
  bool done = false;
  PyObject *bytes = NULL, *module = NULL;
  PyObject *filename =
      PyUnicode_DecodeUTF8(unit->path, (Py_ssize_t)strlen(unit->path), "surrogatepass");
  if (filename == NULL || !source_admit(unit, source, n_bytes))
    goto done;
  bytes = PyBytes_FromStringAndSize(source, (Py_ssize_t)n_bytes); /* with a NUL at its end */
  if (bytes == NULL)
    goto done;
  module = parse(filename, bytes);
  if (module == NULL && PyErr_ExceptionMatches(PyExc_UnicodeError)) {
    /* The parser failed while it made the text of its own error: the bytes are at fault. */
    PyErr_Clear();
    if (source_decode(unit, source, n_bytes))
      PyErr_SetString(PyExc_SyntaxError, "source code is not text");
    goto done;
  }
  done = module != NULL && source_decode(unit, source, n_bytes) && read_tree(unit, module);
done:
  Py_XDECREF(module);
  Py_XDECREF(bytes);
  Py_XDECREF(filename);
  return done;
}

/* ── walking ─────────────────────────────────────────────────────────────────────────────────── */

static void visit_list(const AstList *list, AstVisit *visit, void *state) {
  for (int i = 0; i < list->n; i++)
    if (list->items[i] != NULL)
      visit(list->items[i], state);
}

/* `names` is left out: Global and Nonlocal hold strings in Python's tree, not nodes. */
void ast_each_child(const Ast *node, AstVisit *visit, void *state) {
  Ast *const singles[] = {node->a, node->b, node->c};
  for (int i = 0; i < N_ITEMS(singles); i++)
    if (singles[i] != NULL)
      visit(singles[i], state);
  visit_list(&node->list, visit, state);
  visit_list(&node->list2, visit, state);
  if (node->vararg != NULL)
    visit(node->vararg, state);
  visit_list(&node->kwonly, visit, state);
  visit_list(&node->kw_defaults, visit, state);
  if (node->kwarg != NULL)
    visit(node->kwarg, state);
  visit_list(&node->defaults, visit, state);
  visit_list(&node->rest, visit, state);
}

void ast_each_outer_child(const Ast *node, AstVisit *visit, void *state) {
  if (node->a != NULL) /* the parameters */
    visit(node->a, state);
  if (node->kind == AST_Lambda)
    return;
  if (node->b != NULL) /* what it returns */
    visit(node->b, state);
  visit_list(&node->list2, visit, state);
  visit_list(&node->rest, visit, state);
}

const char *ast_kind_name(const Ast *node) {
  if (node->kind != AST_Op)
    return node->kind == AST_Other ? node->text : kind_table[node->kind].name;
  /* Operators stand in lists of comparisons only, where a symbol has one class. */
  for (int i = 0; i < N_ITEMS(symbol_table); i++)
    if (strcmp(symbol_table[i].symbol, node->text) == 0)
      return symbol_table[i].name;
  NEVER("an operator that no class of Python's ast has");
}
