/* tensorc.h: the map of the compiler.
 *
 *   source ─ read → bind → claim → fold → plan → emit → C
 *   graph text ─ graph ──────────→ fold → layout → emit_graph → C
 *
 * One section per file, in the order of the pipeline. A pass is one public function; passes do not
 * call passes: driver.c makes the calls in order and verifies the IR between them. Everything a
 * compilation allocates lives in one arena and goes with it. Only source.c, read.c and module.c
 * touch Python objects.
 *
 * Errors: a function that returns bool returns false only when the reason is already recorded (a
 * Diag, or a Python exception in source.c, read.c and module.c). What a user's source can cause is
 * a Diag; what only a bug can cause is NEVER().
 */
#ifndef TENSORC_H
#define TENSORC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define TC_NORETURN __attribute__((noreturn))
#else
#define TC_PRINTF(fmt, args)
#define TC_NORETURN
#endif

/* Ends the process with file and line: a state that no source can cause. */
#define NEVER(what) never_reached(__FILE__, __LINE__, what)
TC_NORETURN void never_reached(const char *file, int line, const char *what);

/* ── arena.c: memory of one compilation ──────────────────────────────────────────────────────── */

typedef struct Arena {
  struct ArenaBlock *blocks;         /* newest first */
  size_t used_bytes, capacity_bytes; /* of the newest block */
  struct Interned *interned;         /* open-addressing table of interned strings */
  size_t n_interned, interned_capacity;
} Arena;

void arena_init(Arena *arena);
void arena_free(Arena *arena);
/* Zeroed, 16-byte aligned. Never NULL: running out of memory ends the process. */
void *arena_alloc(Arena *arena, size_t bytes);
/* NUL-terminated copy; equal texts give the same pointer, so names compare with ==. */
const char *arena_intern(Arena *arena, const char *text, size_t length);
const char *arena_name(Arena *arena, const char *text); /* the same for a NUL-terminated text */
const char *arena_format(Arena *arena, const char *format, ...) TC_PRINTF(2, 3); /* interned */

#define ARENA_NEW(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define ARENA_ARRAY(arena, Type, n) ((Type *)arena_alloc((arena), sizeof(Type) * (size_t)(n)))
/* Appends `item` to a growing array (struct fields: items, n, capacity) held in the arena. */
#define ARENA_PUSH(arena, array, item)                                                             \
  do {                                                                                             \
    if ((array)->n == (array)->capacity)                                                           \
      (array)->items =                                                                             \
          arena_grow((arena), (array)->items, &(array)->capacity, sizeof *(array)->items);         \
    (array)->items[(array)->n++] = (item);                                                         \
  } while (0)
void *arena_grow(Arena *arena, void *items, int *capacity, size_t item_bytes);

/* ── buf.c: growing text ─────────────────────────────────────────────────────────────────────── */

typedef struct Buf {
  char *text;    /* NUL-terminated once anything was written; else NULL */
  size_t length; /* bytes, without the NUL */
  size_t capacity;
} Buf;

void buf_free(Buf *buf);
void buf_add(Buf *buf, const char *text);
void buf_add_bytes(Buf *buf, const char *text, size_t length);
void buf_add_identifier(Buf *buf, const char *name); /* of C: other bytes become _xx */
void buf_addf(Buf *buf, const char *format, ...) TC_PRINTF(2, 3);
void buf_addv(Buf *buf, const char *format, va_list args);
void buf_add_double(Buf *buf, double number); /* shortest decimal that reads back the same, in every
                                                 locale; has . or e; inf, -inf, nan */
void buf_add_c_string(Buf *buf, const char *text,
                      size_t length); /* a quoted C literal: no trigraph, no raw control byte */
void buf_add_json(Buf *buf, const char *text); /* a quoted JSON string; NULL gives null */

/* ── diag.c: what is told to the user ────────────────────────────────────────────────────────── */

/* A half-open range of the source. Lines count from 1, columns from 0 in UTF-8 bytes, as in
 * Python's ast. */
typedef struct Span {
  int line, col, end_line, end_col;
} Span;

typedef enum { OUTCOME_REJECTED, OUTCOME_NOT_COVERED } Outcome;

typedef struct Diag {
  const char *code; /* "RXTP-TORCH-015", "RXT030", "TC-LANG-003" */
  Outcome outcome;
  Span span;
  const char *message;    /* one clause, no full stop */
  const char *suggestion; /* what the user can do, or NULL */
} Diag;

typedef struct Diags {
  Diag *items;
  int n, capacity;
} Diags;

struct Unit;
struct Func;
const char *outcome_name(Outcome outcome); /* "rejected", "not-covered" */
/* Records a finding about `func` (NULL: about the module). `suggestion` may be NULL. */
void diag_add(struct Unit *unit, struct Func *func, const char *code, Outcome outcome, Span span,
              const char *suggestion, const char *format, ...) TC_PRINTF(7, 8);
void diag_addv(struct Unit *unit, struct Func *func, const char *code, Outcome outcome, Span span,
               const char *suggestion, const char *format, va_list args);
/* file:line:col: code outcome  function   message, the source line, a caret line, the suggestion.
 * Columns shown count from 1. */
void diag_print(Buf *out, const struct Unit *unit, const struct Func *func, const Diag *diag);

/* ── source.c: bytes → text and lines ────────────────────────────────────────────────────────── */

bool source_admit(struct Unit *unit, const char *source,
                  size_t n_bytes); /* false: a SyntaxError is set, for NUL bytes */
/* Fills unit->source and its lines from a file that Python has parsed. False: a SyntaxError is set.
 */
bool source_decode(struct Unit *unit, const char *source, size_t n_bytes);

/* ── read.c: CPython's ast → arena ───────────────────────────────────────────────────────────── */

typedef enum AstKind {
  AST_Other = 0, /* a class that ast.def does not name; `text` is its name */
  AST_Op,        /* an operator inside a list (Compare.ops); `text` is its symbol */
#define NODE(kind, fields) AST_##kind,
#include "ast.def"
#undef NODE
  AST_COUNT
} AstKind;

typedef enum ConstKind {
  CONST_NONE,
  CONST_BOOL,
  CONST_INT,
  CONST_BIGINT,
  CONST_FLOAT,
  CONST_STR,
  CONST_OTHER
} ConstKind;

typedef struct AstList {
  struct Ast **items;
  int n, capacity;
} AstList;

typedef struct Ast {
  AstKind kind;
  Span span;                /* zero for parts without a position (arguments) */
  const char *text, *text2; /* interned; operators as written: + - * / // % ** @ << >> | ^ &, == !=
                               < <= > >= is is-not in not-in, and or, not ~ */
  struct Ast *a, *b, *c;    /* as ast.def says; NULL when absent */
  AstList list,
      list2;        /* as ast.def says; a None inside (a default that is absent) is a NULL item */
  AstList rest;     /* every other child node, in field order, without NULLs */
  AstList kwonly;   /* arguments: keyword-only parameters */
  AstList defaults; /* arguments: the defaults of the last positional parameters */
  AstList kw_defaults; /* arguments: one per keyword-only parameter, NULL items without default */
  struct Ast *vararg, *kwarg; /* arguments: *args and **kwargs */
  AstList names;              /* Global, Nonlocal: the names, as AST_Name nodes without position */
  ConstKind constant;         /* Constant: its kind */
  int64_t integer; /* Constant bool or int; Constant str: length in bytes; Constant beyond 64 bits:
                      whether it is 2**63; ImportFrom: level; Name, Attribute, Subscript, Starred,
                      Tuple, List: 0 read, 1 assigned, 2 deleted */
  double number;   /* Constant float */
} Ast;

typedef void AstVisit(Ast *node, void *state);
void ast_each_child(const Ast *node, AstVisit *visit, void *state); /* every child, named or not */
/* Of a function, a lambda or a class: what runs in the scope around it (decorators, defaults,
 * annotations, bases). */
void ast_each_outer_child(const Ast *node, AstVisit *visit, void *state);
const char *ast_kind_name(const Ast *node); /* the class name in Python's ast */

/* Parses with CPython's own parser and copies the tree. False: a Python exception is set
 * (SyntaxError for a bad file). */
bool read_unit(struct Unit *unit, const char *source, size_t n_bytes);

/* ── tables.c: types.def, ops.def, signatures.def as arrays ──────────────────────────────────── */

typedef enum {
  TYPE_UNKNOWN,
  TYPE_NONE,
  TYPE_BOOL,
  TYPE_INT,
  TYPE_FLOAT,
  TYPE_TENSOR,
  TYPE_TUPLE,
  TYPE_OBJECT
} TypeKind;
typedef enum {
#define DTYPE(id, ...) DTYPE_##id,
#include "../runtime/dtypes.def"
  DTYPE_COUNT
} DType;
typedef enum { DEVICE_CPU, DEVICE_CUDA0 } Device;

typedef struct DTypeInfo {
  const char *text, *c_type; /* "f32"; "float" */
  int bytes;                 /* of an element */
} DTypeInfo;
extern const DTypeInfo dtype_table[DTYPE_COUNT];

/* How a tensor of a graph lies in memory; strides in elements. */
enum { MOST_RANK = 8 };
typedef struct Shape {
  int64_t sizes[MOST_RANK], strides[MOST_RANK];
} Shape;

typedef struct Type {
  TypeKind kind;
  DType dtype;              /* tensors */
  Device device;            /* tensors */
  int rank;                 /* tensors; tuples: how many they hold */
  const Shape *shape;       /* tensors whose sizes are known: those of graphs; else NULL */
  const struct Type *items; /* tuples */
} Type;

bool type_equal(Type a, Type b);
const char *
type_name(Type type); /* "f32[2]", "i64[1]", "int": in messages; of a type without sizes */
void type_print(Buf *out, Type type); /* the same of any type: "f32[2,3](3,1)" */
int64_t type_elements(Type type);     /* of a tensor with sizes */

typedef enum { LANE_NONE, LANE_TORCH, LANE_TENSORFLOW, LANE_COUNT } Lane;
const char *type_key(Type type, Lane lane); /* "rextio-torch/tensor-f32-cpu-2d"; "int" */

/* What users and tools call a framework's lane. */
typedef struct LaneInfo {
  const char *plugin;    /* "rextio-torch"; NULL for LANE_NONE, as everything below */
  const char *package;   /* "torch": also the root of its dotted names */
  const char *framework; /* "PyTorch": for people */
  const char *no_tensor; /* code when an operand is no tensor */
  const char *no_device; /* code when a tensor's device is not covered */
} LaneInfo;
extern const LaneInfo lane_table[LANE_COUNT];

typedef enum {
  OPERATOR_NONE,
#define ARITH(id, ...) OPERATOR_##id,
#define COMPARISON(id, ...) OPERATOR_##id,
#include "operators.def"
#undef ARITH
#undef COMPARISON
  OPERATOR_COUNT
} OperatorId;

/* An operator on numbers: the columns of operators.def. */
typedef struct Operator {
  const char *text;                    /* in Python */
  const char *ints, *floats;           /* NULL for a comparison */
  const char *int_first, *float_first; /* NULL for the others */
} Operator;
extern const Operator operator_table[OPERATOR_COUNT];
OperatorId operator_find(const char *text); /* OPERATOR_NONE: none that numbers have */

typedef enum {
#define OP(op, class) OP_##op,
#define RUN(...)
#define TORCH(...)
#define TC_TORCH(...)
#define TF(...)
#include "ops.def"
#undef OP
#undef RUN
#undef TORCH
#undef TC_TORCH
#undef TF
  OP_COUNT
} OpId;

typedef enum {
#define CLASS(id, ...) CLASS_##id,
#include "../runtime/classes.def"
  CLASS_COUNT
} OpClass;

/* What all operations of a class have in common; the columns of classes.def. */
typedef struct ClassInfo {
  const char *name, *runtime; /* "elementwise"; "TC_MAP1" */
  int least, most;            /* tensor operands */
  bool dim, keepdim;          /* whether it has these attributes */
  DType dtype;                /* of its result */
} ClassInfo;
extern const ClassInfo class_table[CLASS_COUNT];

typedef struct Op {
  const char *name; /* "relu": in IR texts */
  OpClass class;
} Op;
extern const Op op_table[OP_COUNT];

/* How one framework runs an operation. */
typedef struct Run {
  const char *wheel; /* function of the runtime that calls the wheel's kernel; NULL: this framework
                        has no such operation */
  const char *name, *overload; /* the wheel's own name of it, or "" where `wheel` says all */
  const char *recipe; /* name of the recipe that has the wheel's own bits (runtime/kernel), or "" */
} Run;
extern const Run run_table[LANE_COUNT][OP_COUNT];

typedef enum {
#define SIGNATURE(id, ...) SIGNATURE_##id,
#include "signatures.def"
#undef SIGNATURE
  SIGNATURE_COUNT
} SignatureId;

typedef enum { SPELL_CALL, SPELL_METHOD, SPELL_OPERATOR } SpellingKind;

/* How source may write an operation. */
typedef struct Form {
  OpId op;
  Lane lane;
  SpellingKind kind;
  const char *name;      /* "torch.nn.functional.linear", "relu" (a method), "@" */
  SignatureId signature; /* index into signature_table */
  const char *
      ranks; /* "1>1 2>2", "2,1>2": operand ranks > result rank, alternatives separated by spaces */
} Form;

/* What reports and refusals call it. Part of the contract with users' tools, and of nothing else.
 */
typedef struct Label {
  const char *id;      /* with its plugin: "rextio-torch/tensor-relu-f32-cpu-2d" */
  const char *code;    /* "RXTP-TORCH-002" */
  const char *reject;  /* code when the operands are tensors of types that no rule takes */
  const char *misused; /* code when the arguments have a form that no rule takes */
} Label;

/* A row of ops.def. What it claims is an operation with attributes: the IR knows no rules. */
typedef struct Rule {
  Form form;
  Label label;
} Rule;
extern const Rule rule_table[];
extern const int n_rules;

bool form_takes(const Form *form, const int *ranks, int n_ranks); /* operands of these ranks */
bool form_mentions_rank(const Form *form, int rank);
/* As a user writes it: "x.mean(dim=1)", "torch.abs(x)", "a + b". */
const char *form_text(Arena *arena, const Form *form);

typedef enum {
  OPTION_DIM,
  OPTION_BOOL,
  OPTION_FALSE,
  OPTION_NONE,
  OPTION_NONE_TEXT,
  OPTION_TANH_TEXT,
  OPTION_NHWC_TEXT
} OptionKind;

/* One option of a signature: an argument that is not a tensor and must be a literal. */
typedef struct Option {
  const char *name; /* NULL ends the list */
  OptionKind kind;
  bool positional; /* may also be given by position, after the tensors */
  bool required;
  int only; /* OPTION_DIM: the one value taken, or -1 for 0 and 1 */
} Option;

typedef struct Signature {
  const char *text; /* as documentation shows it: "(x, *, dim=1, keepdim=False)" */
  int n_tensors;    /* the receiver of a method counts */
  bool strict; /* a literal int or None in a tensor's place makes it another form: `misused`, not
                  "no tensor" */
  Option options[3];
} Signature;
extern const Signature signature_table[SIGNATURE_COUNT];

/* ── spelling.c: which rules a spelling has ──────────────────────────────────────────────────── */

/* The first and one-past-last index into rule_table of the lane's rules with this spelling; false
 * when there is none. */
bool spelling_find(Lane lane, SpellingKind kind, const char *name, int *first, int *end);
/* "rextio_torch.types.TensorF32Cpu2D" → its type; false when the dotted name is no marker. */
bool spelling_marker(const char *dotted, Type *type, Lane *lane);
bool spelling_marker_module(const char *module);
/* An annotation of jaxtyping: `dtype` "Float", "Float32", "Int64"; `shape` "b d". */
bool spelling_jaxtyping(const char *dtype, const char *shape, Type *type);
/* Dotted names of a framework that tensorc knows by module: "torch", "torch.nn.functional" … */
Lane spelling_lane(const char *dotted);

/* ── typing.c: the type of an operation's result ─────────────────────────────────────────────── */

/* False: the operands do not fit. `dim` and `keepdim` are looked at where the operation's class has
 * them. */
bool typing_tensor(OpId op, const Type *operands, int n, int dim, bool keepdim, Type *result);
bool typing_arith(OperatorId operator, Type a, Type b, Type *result);
bool typing_compare(OperatorId operator, Type a, Type b);
bool typing_cast(Type from, Type to);

/* ── ir.c, irtext.c: the typed intermediate representation ───────────────────────────────────── */

/* A variable of the source, or a temporary that several paths assign. One name with two types is
 * two slots. */
typedef struct Slot {
  const char *name; /* as in the source; "" for a temporary */
  Type type;
  int index;           /* in Func.slots */
  int parameter;       /* index of the parameter it starts as, or -1 */
  bool may_be_unbound; /* some read can come before every assignment: the generated code keeps a
                          flag */
} Slot;

typedef struct Block {
  struct Ir **items;
  int n, capacity;
} Block;

typedef enum IrOp {
#define IR(op, text, kind, n_args) IR_##op,
#include "ir.def"
#undef IR
  IR_COUNT
} IrOp;

typedef enum { INPUT_ARGUMENT, INPUT_PARAM, INPUT_BUFFER, INPUT_CONST, INPUT_COUNT } InputKind;

/* An argument of a graph's operation as its schema has it. */
typedef enum {
  ATTR_VALUE, /* args[operand] */
  ATTR_NONE,
  ATTR_BOOL,
  ATTR_INT,
  ATTR_FLOAT,
  ATTR_TEXT,
  ATTR_WORD, /* a dtype, device, layout or memory format */
  ATTR_LIST
} AttrKind;

typedef struct Attr {
  AttrKind kind;
  const char *keyword; /* or NULL: given by position */
  int operand;         /* VALUE */
  int64_t integer;     /* BOOL INT */
  double number;       /* FLOAT */
  const char *text;    /* TEXT WORD */
  struct Attr *items;  /* LIST */
  int n_items;
} Attr;

/* One instruction. Instructions with a type other than TYPE_NONE are values; later ones of the same
 * or an inner block name them as arguments. Evaluation order is the order in the block. */
typedef struct Ir {
  IrOp op;
  Type type;
  Span span;        /* of the source expression or statement */
  int id;           /* %id in texts; unique in the function */
  struct Ir **args; /* room for three at least */
  int n_args;
  Slot *slot;          /* GET SET FOR */
  bool checked;        /* GET: the slot may be unassigned here, so the read is checked */
  OpId tensor_op;      /* TENSOR */
  const Rule *rule;    /* TENSOR: the rule that claimed it */
  int dim;             /* TENSOR with a dim */
  bool keepdim;        /* TENSOR with keepdim */
  OperatorId operator; /* ARITH COMPARE */
  const char *text;    /* RAISE: the exception's name; PRINT: what follows, " " or "\n" */
  const char
      *message; /* RAISE: its argument as a text, or NULL; PRINT: a text in place of a value */
  int64_t message_bytes; /* RAISE, PRINT: length of `message` */
  int64_t integer;       /* CONST int and bool; INPUT, ITEM: its index */
  double number;         /* CONST float */
  Block body, orelse; /* IF FOR WHILE: `body`; IF: `orelse`; WHILE: `orelse` computes the condition
                         (args[0]) before each turn */
  const char *name;   /* INPUT NODE ITEM: in the graph, without % */
  const char *schema; /* NODE: "aten::add.Tensor" */
  bool has_effect;    /* NODE: writes to an operand, or draws random numbers */
  InputKind input; /* INPUT; of a parameter, buffer or constant, `text` is where the model has it */
  struct Attr
      *attrs; /* NODE: all its arguments, in the schema's order. RESULTS: what is returned */
  int n_attrs;
  struct Home *home; /* layout: where the value lies and how it comes there */
  /* written by plan */
  int n_uses;
  bool last_use; /* GET of a tensor: nothing reads the slot afterwards before it is assigned */
  Slot *into;    /* value computed straight into this slot (by the SET that follows) */
  bool alias;    /* GET: the slot is not assigned before the value's last use, so the name itself is
                    used */
} Ir;

const char *ir_name(IrOp op);
bool ir_is_value(const Ir *ir);
bool ir_is_jump(const Ir *ir); /* what stands behind it in its block never runs */
/* Does it, or something inside of it, assign the slot? */
bool ir_assigns(const Ir *ir, const Slot *slot);
bool ir_block_assigns(const Block *block, const Slot *slot);
void ir_verify(struct Unit *unit, struct Func *func,
               const char *after); /* ends the process on a broken invariant */
void ir_print(Buf *out, const struct Func *func);

/* ── bind.c: names ───────────────────────────────────────────────────────────────────────────── */

typedef enum { FACT_NONE, FACT_ANNOTATION, FACT_OBSERVATION } FactOrigin;

/* What is known of a value from outside the function's own text. claim reads types from here only.
 */
typedef struct Fact {
  Type type;
  Lane lane; /* of the marker's module, LANE_NONE for scalars and tensorc.types */
  FactOrigin origin;
  Span span; /* where it is stated */
} Fact;

typedef enum { PARAM_POSITIONAL_ONLY, PARAM_POSITIONAL_OR_KEYWORD, PARAM_KEYWORD_ONLY } ParamKind;

typedef struct Param {
  const char *name;
  ParamKind kind;
  const struct Ast *default_value; /* or NULL */
  bool rows;                       /* rows_func: carries the batch */
  Fact fact;
  Span span;
} Param;

typedef enum { PLACE_MODULE, PLACE_CLASS, PLACE_FUNCTION } Place;

typedef enum { STATUS_NOT_CANDIDATE, STATUS_REJECTED, STATUS_ACCEPTED } Status;
const char *status_name(Status status); /* record.c: "not-candidate", "rejected", "accepted" */

typedef enum {
  SKIP_NONE,
  SKIP_EXEMPT,
  SKIP_ACCELERATOR,
  SKIP_NOT_MARKED,
  SKIP_ASYNC,
  SKIP_METHOD
} Skip;

/* A tensor operation that a rule claimed, for the report. */
typedef struct Claim {
  const Rule *rule;
  Span span;
  const char *target; /* as written: "hidden.relu", "torch.relu", "+" */
  Type result;
  Type operands[6]; /* of the receiver and the positional arguments, literals included */
  int n_operands;
} Claim;

typedef struct Func {
  Ast *def;
  const char *name, *qualname; /* "score"; "C.score" */
  const char *c_name;          /* emit: valid in C and unique in the unit */
  Place place;
  Status status;
  Skip skip;
  bool marked; /* @tensorc.native or @rextio.native */
  Lane lane;
  Span name_span;
  Param *params;
  int n_params;
  Fact result;
  Diags diags;
  struct {
    Claim *items;
    int n, capacity;
  } claims;
  struct {
    const char **items;
    int n, capacity;
  } locals; /* names that the function assigns */
  /* claim → */
  struct {
    Slot **items;
    int n, capacity;
  } slots;
  Block body;
  int n_ir;             /* ids given out */
  bool exact;           /* plan: recipes are wanted, and an operation has one */
  const char *by_wheel; /* plan: with `exact`, the operations that have none, "gelu"; or NULL */
  int n_by_wheel;       /* plan: how many instructions these are */
  bool splits;          /* plan: the body may run block by block */
  int n_ops;            /* emit: rows of its table of operations */
  int64_t arena_bytes;  /* layout: of a graph's own memory */
  int n_once;           /* layout: values that are made once */
  /* place: where the binding goes in the copied source: a 1-based blank line, 0 for the end of the
   * file, -1 for nowhere */
  int bind_line, bind_col;
} Func;

typedef enum { NAME_UNKNOWN, NAME_IMPORT, NAME_FUNCTION, NAME_OTHER } NameKind;

/* A name of the module's scope. */
typedef struct ModuleName {
  const char *name;
  NameKind kind; /* UNKNOWN once it was bound twice to different things, or by something we do not
                    follow */
  const char *target; /* NAME_IMPORT: the dotted thing it stands for, "torch.nn.functional" */
  Span span;
} ModuleName;

typedef struct Options {
  bool marked_only;        /* marker = "decorator": compile only functions under @tensorc.native */
  const char *gradients;   /* "python", "detach", "error": what a call does that needs gradients */
  const char *on_mismatch; /* "python", "error": what an argument does that breaks its annotation */
  const char *numerics;    /* "exact", "library": whether operations run by their recipes */
} Options;

typedef struct Unit {
  Arena arena;
  Options options;
  const char *path, *module; /* as reports name them */
  const char *source; /* UTF-8, decoded by the file's cookie, without a BOM, NUL-terminated */
  size_t source_bytes;
  const char **lines; /* start of each line of `source`; lines[n_lines] is its end */
  int n_lines;
  Ast *tree;
  struct {
    ModuleName *items;
    int n, capacity;
  } names;
  bool hidden_names; /* the text does not hold every binding: import *, exec */
  struct {
    const char **items;
    int n, capacity;
  } changed; /* changes.c: names of attributes that the module may assign */
  struct {
    Func **items;
    int n, capacity;
  } funcs;
  Diags diags;
} Unit;

void bind_unit(Unit *unit);
const ModuleName *
bind_find(const Unit *unit,
          const char *name); /* interned name; NULL when the module does not bind it */
/* The dotted thing an expression names ("F.relu" → "torch.nn.functional.relu"), or NULL when a
 * local or a rebound name is in the way. */
const char *bind_dotted(Unit *unit, const Func *func, const Ast *expr);
/* The same for reports, in `arena`: a name that stands for no import stands for itself. */
const char *bind_shown(Arena *arena, const Unit *unit, const Func *func, const Ast *expr);
bool bind_is_local(const Func *func, const char *name);
/* Does `expr` name the builtin `name`, which nothing of the module or function hides? func may be
 * NULL. */
bool bind_is_builtin(const Unit *unit, const Func *func, const Ast *expr, const char *name);

/* ── changes.c: what a module changes behind its names, a part of binding ────────────────────── */

void changes_unit(Unit *unit);                             /* reads the names that bind found */
bool changes_name(const Unit *unit, const char *name);     /* an attribute of this name */
bool changes_dotted(const Unit *unit, const char *dotted); /* one that a part of `dotted` names */
bool changes_method(const Unit *unit, const char *name);   /* a tensor's */
bool changes_operators(const Unit *unit);                  /* those of tensors: __add__, … */

/* ── claim.c … emit.c ────────────────────────────────────────────────────────────────────────── */

void claim_func(Unit *unit, Func *func); /* decides: func->status, its claims, diags and IR */
void place_func(Unit *unit, Func *func); /* where it is bound; without a place it stays Python */
void fold_func(Unit *unit, Func *func);  /* also counts uses */
bool rows_func(Unit *unit, Func *func);  /* rows.c, a part of planning */
void plan_func(Unit *unit, Func *func);
bool plan_is_inline(const Ir *ir); /* printed as a C expression where it is used */
/* The operation that the runtime runs for a TENSOR: a matrix times a vector is one of its own. */
OpId plan_op(const Ir *ir);
void plan_print(Buf *out, const Func *func);
enum { RT_VERSION = 5 };     /* TC_RT_VERSION of the runtime/tensorc_rt.h that emit writes for */
void emit_names(Unit *unit); /* gives each function its c_name */
void emit_unit(Buf *out, Unit *unit,
               const char *extension); /* the whole C file of extension module `extension` */
void emit_func(Buf *out, Unit *unit, Func *func); /* one function's C */
const char *emit_file_name(const Unit *unit);     /* of the source, without its folder */
uint64_t emit_digest(const char *text);           /* by which a loader knows an extension */

/* ── graph.c: graph text → IR ────────────────────────────────────────────────────────────────── */

/* Reads a graph's text into the only function of the unit. False: `problem` says which line is
 * wrong, and how. */
bool graph_read(Unit *unit, const char *text, size_t n_bytes, Buf *problem);

/* ── view.c, ways.c, layout.c: a graph's plan ────────────────────────────────────────────────── */

/* What part of its operand's memory a node is. */
typedef enum {
  VIEW_SAME,   /* from its first element on, as the type says */
  VIEW_SELECT, /* one index of a dimension */
  VIEW_SLICE,
  VIEW_NARROW,
  VIEW_PARTS,   /* several, side by side along a dimension */
  VIEW_UNBIND,  /* several, one for each index of a dimension */
  VIEW_RESHAPE, /* the same elements in order, where that is a view; else a copy */
  VIEW_ITSELF,  /* all of it, where dtype and strides are those; else a copy */
  VIEW_COPY,    /* these and the following are copies, as loops */
  VIEW_CAT,
  VIEW_STACK,
  VIEW_PAD
} ViewKind;

/* Whose dimensions are read from which tensors of indices. */
typedef enum {
  GATHER_EMBEDDING,
  GATHER_INDEX,
  GATHER_SELECT, /* index_select */
  GATHER_ALONG   /* gather */
} GatherKind;

/* The dtype in which a POINT computes. */
typedef enum { OF_RESULT, OF_OWN, OF_TRUTH } PointOf;

/* A row of ops.def for graphs. */
typedef enum { POOL_NONE, POOL_MAX, POOL_AVERAGE, POOL_ADAPTIVE } PoolKind;

typedef struct GraphRow {
  const char *schema;
  enum { ROW_RECIPE, ROW_VIEW, ROW_POINT, ROW_GATHER, ROW_POOL, ROW_ONCE } kind;
  OpId op;           /* RECIPE */
  ViewKind view;     /* VIEW */
  GatherKind gather; /* GATHER */
  PoolKind pool;     /* POOL */
  PointOf of;        /* POINT */
  const char *text;  /* POINT */
} GraphRow;
extern const GraphRow graph_table[];
extern const int n_graph_rows;
const GraphRow *graph_row(const char *schema); /* tables.c; NULL: it is the wheel's */

/* Where the memory of a view of an operand begins, in elements behind the operand's. False: it is
 * no view, or not as its arguments say. `item`: which one, of several. */
bool view_offset(const Ir *ir, ViewKind kind, int item, int64_t *offset);
/* Whether the elements lie without gaps and none twice, in whatever order of dimensions. */
bool view_is_dense(Type type);
bool view_is_contiguous(Type type);
/* The strides with which x's elements, in their order, have other sizes. False: with none. */
bool view_strides(Type x, const int64_t *sizes, int rank, int64_t *strides);

/* One copy of a RESHAPE, CAT, STACK or PAD: an operand's elements to a place in the result. */
typedef struct Piece {
  int operand;
  Type type;      /* the part of the result, with its strides */
  int64_t offset; /* of that part, in elements */
} Piece;
/* False: its arguments are not as the node's type says. */
bool view_pieces(Arena *arena, const Ir *ir, ViewKind kind, Piece **pieces, int *n);

/* window.c: what an operation with windows does in the last dimensions, [0] of which is one long
 * where there is but one. */
typedef struct Window {
  int n_dims;
  int64_t outer; /* of its operand: elements in the dimensions before */
  int64_t size[2], out[2], width[2], stride[2], padding[2], dilation[2];
  bool counts_padding; /* AVERAGE: by how many is divided; */
  int64_t divisor;     /* ... or by this, where it is not 0 */
} Window;

/* False: its arguments are none that are known. POOL_NONE: a convolution. */
bool window_find(const Ir *ir, PoolKind kind, Window *window);
void emit_pool(Buf *out, const Ir *ir); /* the body of its loop */

/* gather.c: a dimension of an operand that is read from a tensor. */
typedef struct GatherIndex {
  Ir *operand;                /* int64 */
  int64_t size, stride;       /* of the dimension */
  bool wraps;                 /* -1 is the last one */
  int64_t strides[MOST_RANK]; /* of the indices, by the result's dimensions */
} GatherIndex;

typedef struct Gather {
  int64_t strides[MOST_RANK]; /* of the operand's other dimensions, by the result's */
  GatherIndex indices[MOST_RANK];
  int n_indices;
} Gather;

/* False: its arguments are none that are known. */
bool gather_find(const Ir *ir, GatherKind kind, Gather *gather);
void emit_gather(Buf *out, const Ir *ir); /* loop_<id>(out, operand, indices...) */

/* How a value of a graph comes about. */
typedef enum {
  WAY_INPUT,
  WAY_WHEEL,
  WAY_VIEW,
  WAY_LOOP,
  WAY_GATHER,
  WAY_RECIPE,
  WAY_PART, /* one of several results of a recipe */
  WAY_ONCE,
  WAY_COUNT
} Way;
const char *way_name(Way way);

/* Where the memory of a value lies that is no view. */
typedef enum {
  MEMORY_NONE,   /* it has none: part of another loop, several tensors */
  MEMORY_OBJECT, /* in a tensor that came from outside: an input, or what Python's function gave */
  MEMORY_TENSOR, /* in a tensor that the body makes */
  MEMORY_ARENA   /* in the call's own memory */
} Memory;

enum { MOST_COPIES = 3 };

/* Products of matrices side by side: how these lie in what is read. */
typedef struct Product {
  int64_t batch, m, k, n;
  int64_t x[3], w[3]; /* from a matrix, row, column to the next */
  struct Ir *x_of, *w_of;
} Product;

typedef struct Home {
  Way way;
  const char *why; /* it is no better way; or NULL */
  int call;        /* of a NODE that Python's function may run: its index among these; else -1 */
  int once;        /* ONCE: its index among these */
  int recipe;      /* RECIPE: its index among the operations */
  OpId op;         /* RECIPE: what runs */
  const GraphRow *row;
  Ir *root;       /* whose memory it lies in: its own, or that of what it is a view of */
  int64_t offset; /* in elements of the root */
  Ir *into;       /* LOOP: the loop that computes it, its own or that of its only reader */
  Memory memory;  /* of a root */
  int64_t arena;  /* ARENA: in bytes */
  bool is_object; /* a Python object of it is wanted: by Python's functions, or as a result */
  bool is_exact;  /* ... and it is returned, or what is returned is a view of it */
  int n_fused;    /* LOOP: nodes that this loop computes */
  /* RECIPE along a dimension: so many matrices, along whose columns (first) or rows it runs. Of a
   * normalisation: rows, cols and what lies behind each of them. Elementwise: runs of eager's loop;
   * rows is 0 where it is one. */
  int64_t outer, rows, cols, inner;
  bool first;
  bool sorted;      /* RECIPE: topk */
  double number;    /* RECIPE: of its TcOp */
  Product *product; /* RECIPE of class BMM */
  /* RECIPE: copies of operands that it reads in their place, which are operands themselves, behind
   * those of the schema; NULL: none. */
  Ir *copies[MOST_COPIES];
  bool bias_first; /* RECIPE: a product whose first operand is its bias */
  bool inserted;   /* part of such a copy: no node of the graph's text */
  int n_copies;
  char fold; /* LOOP along a dimension, of what has one result in any order: '+' or '*'; else 0 */
  int dim;   /* likewise */
  int last;  /* of a root: the last instruction that reads its memory; -1: none */
} Home;

/* How the node comes about; also fills in what of its home that needs. */
Way way_of(Arena *arena, const Ir *ir);
void layout_func(Unit *unit, Func *func);
/* The values that are parts of a node with two results; NULL: nothing reads that one. */
void layout_parts(const Block *body, const Ir *node, Ir *parts[2]);
void layout_print(Buf *out, const Func *func);
bool loop_is_alone(const Ir *ir);          /* never part of another, nor is one part of it */
bool loop_is_placed(const Ir *ir);         /* the loop has to know torch's lanes */
bool loop_has_pieces(const GraphRow *row); /* it is several nests: view_pieces */

/* ── emit_graph.c, emit_loop.c: its C ────────────────────────────────────────────────────────── */

void emit_graph(Buf *out, Unit *unit, const Func *func, const char *extension);
/* The C function of a loop, loop_<id>(out, operands...), and the operands it takes in order. */
void emit_loop(Buf *out, Arena *arena, Ir *ir, Ir ***operands, int *n_operands);

/* ── driver.c: the sequence ──────────────────────────────────────────────────────────────────── */

Unit *driver_new(const char *path, const char *module, const Options *options);
void driver_free(Unit *unit);
bool driver_compile(Unit *unit, const char *source,
                    size_t n_bytes); /* false: a Python exception is set */
bool driver_graph(Unit *unit, const char *text, size_t n_bytes, Buf *problem); /* as graph_read */
typedef enum { STAGE_AST, STAGE_IR, STAGE_PLAN, STAGE_C } Stage;
bool driver_show(Buf *out, Unit *unit, const char *qualname,
                 Stage stage); /* false: no such function */

/* ── json.c: nested JSON ─────────────────────────────────────────────────────────────────────── */

/* {.out = buf} is ready. Keys are NULL inside lists and for the outermost value. */
typedef struct Json {
  Buf *out;
  int depth;  /* containers open */
  bool empty; /* nothing in the innermost one yet */
} Json;

void json_open(Json *json, const char *key, char bracket); /* '{' or '[' */
void json_close(Json *json, char bracket);
void json_text(Json *json, const char *key, const char *text); /* NULL gives null */
void json_int(Json *json, const char *key, int number);
void json_bool(Json *json, const char *key, bool value);
void json_list(Json *json, const char *key); /* an empty list */

/* ── record.c, record_func.c, capabilities.c: JSON ───────────────────────────────────────────── */

void record_report(Buf *out, Unit *const *units, int n_units,
                   const char *project_root); /* check.json */
void record_text(
    Buf *out, const Unit *unit); /* the same for people: one line a function, then its findings */
void capabilities_print(Buf *out);

#endif
