/* tensorc_rt.h: the contract between generated C and the runtime archive that is linked into every
 * generated module.
 *
 * A generated file includes this header and nothing else of ours. It defines, per function, its
 * parameters and one C function per body, and ends with TC_MODULE. The runtime parses calls, checks
 * arguments, guards states, runs a body, and gives its result back; see docs/architecture.md for
 * the whole path of a call.
 *
 * Names: tc_ is called by generated code, tc__ is internal to the runtime.
 * Errors: a function that returns bool returns false after it set a Python exception. Generated
 * code then leaves through its label `done`. The caller (call.c) decides whether the Python
 * original runs instead. The GIL may be released while a body runs: everything here that touches
 * Python takes it back first by itself.
 */
#ifndef TENSORC_RT_H
#define TENSORC_RT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* Bumped whenever anything below changes its meaning. Written into each module and checked when it
 * is compiled. */
#define TC_RT_VERSION 2
#define TC_EXPECT_RT(version)                                                                      \
  _Static_assert((version) == TC_RT_VERSION, "generated for another runtime of tensorc")

/* ── values ──────────────────────────────────────────────────────────────────────────────────── */

/* A tensor variable of generated code. handle is an AtenTensorHandle, or a TFE_TensorHandle * with
 * its lowest bit set; NULL while the variable is unassigned. origin: the argument object whose own
 * handle this is (borrowed, alive for the whole call), so that returning it gives that very object;
 * NULL when the handle is owned by this variable. */
typedef struct TcTensor {
  void *handle;
  PyObject *origin;
} TcTensor;

/* An operand: a handle that the operation borrows, or one that it consumes (owned), also when it
 * fails. */
typedef struct TcUse {
  void *handle;
  bool owned;
} TcUse;

/* A tensor variable of an exact body: all of a tensor, or the rows of it that the block at hand
 * covers. Contiguous. data is NULL while the variable is unassigned. */
typedef struct TcBlock {
  void *data;       /* float, or int64_t for a classification result */
  int64_t sizes[2]; /* of this block. Rank 1: {1, n}; with `rows`: {n, 1}, one element per row of
                       the batch */
  int rank;         /* of the tensor */
  bool rows;        /* a block of rows of the batch; false: all of the tensor */
  struct TcBuffer *buffer; /* the pooled memory that holds it, counted; NULL for an argument, whose
                              memory is only read */
  PyObject *origin; /* an argument: the object itself (borrowed), so that returning it gives that
                       very object */
} TcBlock;

/* An operand of an exact operation: a variable that it reads, and leaves unassigned where the
 * variable is handed over (also when the operation fails). */
typedef struct TcBlockUse {
  TcBlock *block;
  bool owned; /* handed over */
} TcBlockUse;

typedef union TcValue {
  TcTensor tensor;
  TcBlock block;
  int64_t i;
  double f;
  bool b;
} TcValue;

typedef enum { TC_NONE, TC_BOOL, TC_INT, TC_FLOAT, TC_TENSOR } TcKind;
typedef enum { TC_F32 = 6, TC_I64 = 4 } TcDType;   /* torch's ScalarType codes */
typedef enum { TC_CPU = 0, TC_CUDA = 1 } TcDevice; /* torch's DeviceType codes */
typedef enum { TC_LANE_NONE, TC_LANE_TORCH, TC_LANE_TENSORFLOW } TcLane;
typedef enum { TC_POSITIONAL_ONLY, TC_POSITIONAL_OR_KEYWORD, TC_KEYWORD_ONLY } TcPassing;

typedef struct TcType {
  TcKind kind;
  TcDType dtype;   /* tensors */
  TcDevice device; /* tensors */
  int rank;        /* tensors */
} TcType;

typedef struct TcParam {
  const char *name; /* UTF-8 */
  TcType type;
  TcPassing passing;
  bool rows; /* exact body: row i of the result needs only row i of this tensor */
} TcParam;

/* How one operation is computed with the wheel's own bits: runtime/kernel. */
typedef struct TcRecipe TcRecipe;

/* State of one call in progress. Its fields belong to the runtime. */
typedef struct TcCall TcCall;

/* Runs one body. args: one value per parameter, in order; tensors are TcTensors for the library
 * body, TcBlocks for the exact one. On true *result holds the value of the function's type; a
 * tensor in it is owned by the caller, unless it has an origin. False from an exact body sets no
 * exception: it only says that this call is not for it. */
typedef bool TcBody(TcCall *tc, const TcValue *args, TcValue *result);

/* An operation of an exact body: its recipe, and how the framework is asked for the same. */
typedef struct TcOp {
  const TcRecipe *recipe;
  const char *name, *overload; /* what the library body's function is given; "" where nothing */
} TcOp;

typedef struct TcFunc {
  const char *name, *qualname; /* UTF-8 */
  int first_line;              /* of the Python original, decorators included: co_firstlineno */
  TcLane lane;
  const TcParam *params;
  int n_params;
  TcType result;
  TcBody *library; /* always there */
  TcBody *exact;   /* NULL: no such body */
  /* The operations of `exact`; the recipe of each is admitted on this host before it is trusted. */
  const TcOp *ops;
  int n_ops;
  bool prints; /* the text of a bool or of another library's number may differ from an int's */
  bool no_ops; /* `library` calls nothing of the framework: it is straight C itself */
  bool splits; /* `exact` may run block by block over the rows of the parameters marked `rows` */
} TcFunc;

typedef enum { TC_ON_PYTHON, TC_ON_DETACH, TC_ON_ERROR } TcOn;

typedef struct TcModuleInfo {
  const char *name; /* of the extension module, without its package: "_tensorc_score" */
  const TcFunc *const *funcs;
  int n_funcs;
  TcOn gradients;   /* TC_ON_PYTHON, TC_ON_DETACH or TC_ON_ERROR */
  TcOn on_mismatch; /* TC_ON_PYTHON or TC_ON_ERROR */
} TcModuleInfo;

/* Defines PyInit_<extension>. The module has one function, bind(function): the native callable for
 * a Python function that was compiled (same qualname and first line), any other object unchanged.
 */
PyObject *tc__module_init(const TcModuleInfo *info);
#define TC_MODULE(extension, info)                                                                 \
  PyMODINIT_FUNC PyInit_##extension(void);                                                         \
  PyMODINIT_FUNC PyInit_##extension(void) { return tc__module_init(info); }

/* ── variables ───────────────────────────────────────────────────────────────────────────────── */

/* Frees what the variable owns and leaves it unassigned. */
void tc__free_handle(void *handle);
static inline void tc_drop(TcTensor *var) {
  if (var->handle && !var->origin)
    tc__free_handle(var->handle);
  var->handle = NULL;
  var->origin = NULL;
}
/* Borrows the variable for one operation. */
static inline TcUse tc_get(const TcTensor *var) { return (TcUse){var->handle, false}; }
/* Hands the variable's handle over to one operation and leaves the variable unassigned. */
static inline TcUse tc_take(TcTensor *var) {
  TcUse use = {var->handle, var->origin == NULL};
  var->handle = NULL;
  var->origin = NULL;
  return use;
}
/* The variable's value, for the result: leaves the variable unassigned. */
static inline TcTensor tc_give(TcTensor *var) {
  TcTensor value = *var;
  var->handle = NULL;
  var->origin = NULL;
  return value;
}
/* to = from, where both go on living. */
bool tc_copy(TcCall *tc, TcTensor *to, const TcTensor *from);
/* to = from, where `from` is not read any more: it is left unassigned. */
static inline void tc_move(TcTensor *to, TcTensor *from) {
  TcTensor value = *from;
  from->handle = NULL;
  from->origin = NULL;
  tc_drop(to);
  *to = value;
}

/* ── torch operations, library body: one call of the wheel's own kernel each ─────────────────── */
/* out may be the variable an operand was taken from. Sizes that do not fit give RuntimeError
 * "rextio-torch: …" with both shapes; any other failure of the kernel gives eager's own exception.
 */

bool tc_torch_unary(TcCall *tc, TcTensor *out, const char *aten, TcUse x);
bool tc_torch_gelu(TcCall *tc, TcTensor *out, TcUse x); /* approximate="none" */
bool tc_torch_binary(TcCall *tc, TcTensor *out, const char *aten, TcUse a, TcUse b);
bool tc_torch_matmul(TcCall *tc, TcTensor *out, TcUse a, TcUse b);      /* ranks 2/2, 2/1, 1/2 */
bool tc_torch_linear(TcCall *tc, TcTensor *out, TcUse x, TcUse weight); /* [n,k] × [m,k] → [n,m] */
bool tc_torch_linear_bias(TcCall *tc, TcTensor *out, TcUse x, TcUse weight, TcUse bias);
bool tc_torch_reduce(TcCall *tc, TcTensor *out, const char *aten, const char *overload, TcUse x,
                     int dim, bool keepdim);
bool tc_torch_rowwise(TcCall *tc, TcTensor *out, const char *aten, const char *overload, TcUse x,
                      int dim);
bool tc_torch_argmax(TcCall *tc, TcTensor *out, TcUse x, int dim, bool keepdim);

/* ── TensorFlow operations, library body: one op of Python's eager context each ──────────────── */
/* out may be the variable an operand was taken from. op: TensorFlow's own name. Sizes that do not
 * fit give RuntimeError "rextio-tensorflow: …" with both shapes; any other failure gives one with
 * TensorFlow's text. */

bool tc_tf_unary(TcCall *tc, TcTensor *out, const char *op, TcUse x);
bool tc_tf_binary(TcCall *tc, TcTensor *out, const char *op, TcUse a, TcUse b);
bool tc_tf_matmul(TcCall *tc, TcTensor *out, TcUse a, TcUse b); /* ranks 2/2 */
bool tc_tf_reduce(TcCall *tc, TcTensor *out, const char *op, TcUse x, int dim,
                  bool keepdim);                                 /* dim 0 or 1 */
bool tc_tf_softmax(TcCall *tc, TcTensor *out, TcUse x, int dim); /* the last dimension */
bool tc_tf_argmax(TcCall *tc, TcTensor *out, TcUse x, int dim,
                  bool keepdim);                          /* dim 0 or 1; keepdim false */
bool tc_tf_transpose(TcCall *tc, TcTensor *out, TcUse x); /* rank 2 */

/* ── exact body: the same operations by recipes, on blocks ───────────────────────────────────── */
/* Sizes that do not fit, or that the recipe is not known to be exact for, give false: the library
 * body then runs the call. An elementwise operation writes into the buffer of an operand that was
 * handed over. */

void tc__free_buffer(struct TcBuffer *buffer);
static inline void tc_block_drop(TcBlock *var) {
  if (var->buffer)
    tc__free_buffer(var->buffer);
  var->data = NULL;
  var->buffer = NULL;
}
static inline TcBlockUse tc_block_get(TcBlock *var) { return (TcBlockUse){var, false}; }
static inline TcBlockUse tc_block_take(TcBlock *var) { return (TcBlockUse){var, true}; }
static inline TcBlock tc_block_give(TcBlock *var) {
  TcBlock value = *var;
  var->data = NULL;
  var->buffer = NULL;
  return value;
}
static inline void tc_block_move(TcBlock *to, TcBlock *from) {
  TcBlock value = tc_block_give(from);
  tc_block_drop(to);
  *to = value;
}
bool tc_block_copy(TcCall *tc, TcBlock *to, const TcBlock *from);

bool tc_exact_map1(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x);
bool tc_exact_map2(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse a, TcBlockUse b);
bool tc_exact_reduce(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x, int dim,
                     bool keepdim);
bool tc_exact_rowwise(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x, int dim);
bool tc_exact_argmax(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x, int dim,
                     bool keepdim);
bool tc_exact_transpose(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x);
bool tc_exact_matmul(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse a, TcBlockUse b);
bool tc_exact_linear(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x,
                     TcBlockUse weight);
bool tc_exact_linear_bias(TcCall *tc, TcBlock *out, const TcRecipe *recipe, TcBlockUse x,
                          TcBlockUse weight, TcBlockUse bias);

/* Whether Python runs assert statements: not under -O. */
extern bool tc_asserts;

/* ── scalars: Python's arithmetic on 64-bit ints and doubles ─────────────────────────────────── */
/* Ints raise OverflowError where Python's int would leave 64 bits; division by zero and the like
 * raise what Python raises. */

bool tc_int_add(TcCall *tc, int64_t *out, int64_t a, int64_t b);
bool tc_int_sub(TcCall *tc, int64_t *out, int64_t a, int64_t b);
bool tc_int_mul(TcCall *tc, int64_t *out, int64_t a, int64_t b);
bool tc_int_neg(TcCall *tc, int64_t *out, int64_t a);
bool tc_int_floordiv(TcCall *tc, int64_t *out, int64_t a, int64_t b); /* floors, like Python */
bool tc_int_mod(TcCall *tc, int64_t *out, int64_t a,
                int64_t b); /* sign of the divisor, like Python */
bool tc_int_pow(TcCall *tc, int64_t *out, int64_t a, int64_t b); /* b >= 0 */
bool tc_int_truediv(TcCall *tc, double *out, int64_t a,
                    int64_t b); /* correctly rounded also beyond 2**53 */
bool tc_float_truediv(TcCall *tc, double *out, double a, double b);
bool tc_float_floordiv(TcCall *tc, double *out, double a, double b);
bool tc_float_mod(TcCall *tc, double *out, double a, double b);
int tc_compare_int_float(int64_t a,
                         double b); /* -1, 0, 1; 2 when b is NaN: exact, without rounding a */

/* for i in range(start, stop, step) */
typedef struct TcRange {
  int64_t value, step;
  uint64_t left; /* turns */
} TcRange;
bool tc_range(TcCall *tc, TcRange *range, int64_t start, int64_t stop,
              int64_t step); /* ValueError for step 0 */
static inline bool tc_range_next(TcRange *range, int64_t *value) {
  if (range->left == 0)
    return false;
  *value = range->value;
  if (--range->left)
    range->value += range->step;
  return true;
}
/* At the top of each turn of a loop: lets Ctrl-C through. False: KeyboardInterrupt (or what the
 * handler raised). */
bool tc_turn(TcCall *tc);

/* ── print: one argument each, then `end`; print.c ───────────────────────────────────────────── */

bool tc_print_int(TcCall *tc, int64_t value, const char *end);
bool tc_print_float(TcCall *tc, double value, const char *end);
bool tc_print_bool(TcCall *tc, bool value, const char *end);
bool tc_print_text(TcCall *tc, const char *text, int64_t n, const char *end); /* n bytes of UTF-8 */

/* ── raising ─────────────────────────────────────────────────────────────────────────────────── */
/* Each returns false, so that `return tc_raise…` and TC_TRY(tc_raise…) read well. */

bool tc_raise_unbound(TcCall *tc, const char *name); /* UnboundLocalError, Python's text */
bool tc_raise(TcCall *tc, const char *exception, const char *message,
              int64_t n); /* a builtin exception by name; message NULL: no argument */

/* Leaves through the function's cleanup when a step failed. */
#define TC_TRY(step)                                                                               \
  do {                                                                                             \
    if (!(step))                                                                                   \
      goto done;                                                                                   \
  } while (0)

#endif
