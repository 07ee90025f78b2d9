/* tensorc_rt.h: the contract between generated C and the runtime archive that is linked into every
 * generated module.
 *
 * A generated file includes this header and nothing else of ours. It defines, per function, its
 * parameters, its operations and its body, and ends with TC_MODULE. The runtime parses calls,
 * checks arguments, guards states, runs the body, and gives its result back; see
 * docs/architecture.md for the whole path of a call.
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

#include "classes.h"

#ifdef Py_GIL_DISABLED
#error "free-threaded Python is not supported: much of what stands here is guarded by the GIL"
#endif

/* Bumped whenever anything below changes its meaning. Written into each module and checked when it
 * is compiled. */
#define TC_RT_VERSION 5
#define TC_EXPECT_RT(version)                                                                      \
  _Static_assert((version) == TC_RT_VERSION, "generated for another runtime of tensorc")

/* ── values ──────────────────────────────────────────────────────────────────────────────────── */

/* A tensor variable of generated code: known by its handle, by its memory, or by both. All zero
 * while it is unassigned. Only the first field is read outside of calls of operations: state is the
 * runtime's. */
typedef struct TcTensor {
  void *handle;     /* an AtenTensorHandle, or a TFE_TensorHandle * with its lowest bit set; NULL
                       where only the memory is known */
  PyObject *origin; /* the argument object whose own handle this is (borrowed, alive for the whole
                       call), so that returning it gives that very object; NULL when the handle is
                       owned by this variable */
  void *data; /* the elements, without a gap: float, or int64_t for a classification result. NULL:
                 not looked for, or they have gaps */
  struct TcBuffer *buffer; /* the pooled memory that `data` lies in, counted; NULL: it is the
                              handle's own */
  int64_t sizes[2];        /* with `data`. Rank 1: {1, n}; with `rows`: {n, 1}, one element per row
                              of the batch */
  int rank;                /* with `data` */
  bool rows;               /* a block of rows of the batch; false: all of the tensor */
  bool turned;             /* `data` has one column after the other: a transposed matrix */
  bool seen;               /* `data` was looked for */
} TcTensor;

/* An operand: a variable that the operation reads, or one that is handed over: it is unassigned
 * afterwards, also when the operation fails. */
typedef struct TcUse {
  TcTensor *var;
  bool owned; /* handed over */
} TcUse;

typedef union TcValue {
  TcTensor tensor;
  int64_t i;
  double f;
  bool b;
} TcValue;

typedef enum { TC_NONE, TC_BOOL, TC_INT, TC_FLOAT, TC_TENSOR } TcKind;
typedef enum {
#define DTYPE(id, text, c_type, bytes, code) TC_##id = code,
#include "dtypes.def"
} TcDType;                                         /* torch's ScalarType codes */
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
  bool rows; /* row i of the result needs only row i of this tensor */
} TcParam;

/* How one operation is computed with the wheel's own bits: runtime/kernel. */
typedef struct TcRecipe TcRecipe;

/* State of one call in progress. Its fields belong to the runtime. */
typedef struct TcCall TcCall;

/* A handle that the wheel's kernel borrows, or one that it consumes (owned), also when it fails. */
typedef struct TcHandle {
  void *handle;
  bool owned;
} TcHandle;

typedef struct TcOp TcOp;

/* Runs op by one call of the wheel's own kernel. On true out->handle holds the result; an
 * exception is set on false. */
typedef bool TcWheel(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands);

/* One operation of a body. */
struct TcOp {
  TcClass class;
  const char *word;       /* "relu": in stats() */
  const TcRecipe *recipe; /* NULL: it has none */
  TcWheel *wheel;
  const char *name, *overload; /* what the wheel calls it, where `wheel` serves several */
  int n_operands;
  int dim; /* 0 or 1, where the class has one; a convolution's padding */
  bool keepdim;
  double number; /* what else it needs: a normalisation's eps; topk's k, -k for the least ones;
                    a convolution's dilation; the correction of var and std, 0 or 1 */
};

/* Runs the function. args: one value per parameter, in order. On true *result holds the value of
 * its type; a tensor in it belongs to the caller, unless it has an origin. On false an exception is
 * set, or this block of rows is not for blocks (run.c). */
typedef bool TcBody(TcCall *tc, const TcValue *args, TcValue *result);

typedef struct TcFunc {
  const char *name, *qualname; /* UTF-8 */
  int first_line;              /* of the Python original, decorators included: co_firstlineno */
  TcLane lane;
  const TcParam *params;
  int n_params;
  TcType result;
  TcBody *body;
  const TcOp *ops; /* of the body, in the order of its text */
  int n_ops;       /* 0: the body is straight C */
  bool prints;     /* the text of a bool or of another library's number may differ from an int's */
  bool splits;     /* it may run block by block over the rows of the parameters marked `rows` */
} TcFunc;

typedef enum { TC_ON_PYTHON, TC_ON_DETACH, TC_ON_ERROR } TcOn;

typedef struct TcModuleInfo {
  const char *name; /* of the extension module, without its package: "_tensorc_score" */
  const TcFunc *const *funcs;
  int n_funcs;
  TcOn gradients;     /* TC_ON_PYTHON, TC_ON_DETACH or TC_ON_ERROR */
  TcOn on_mismatch;   /* TC_ON_PYTHON or TC_ON_ERROR */
  const char *digest; /* of the C text up to here: how the loader knows its own extension */
} TcModuleInfo;

/* Defines PyInit_<extension>. The module has one function, bind(function): the native callable for
 * a Python function that was compiled (same qualname and first line), any other object unchanged.
 */
PyObject *tc__module_init(const TcModuleInfo *info);
#define TC_MODULE(extension, info)                                                                 \
  PyMODINIT_FUNC PyInit_##extension(void);                                                         \
  PyMODINIT_FUNC PyInit_##extension(void) { return tc__module_init(info); }

/* ── graphs ──────────────────────────────────────────────────────────────────────────────────── */
/* A captured graph is static: the sizes and strides of each of its values are known. A value is
 * known by its number: first come the inputs of a call, then the model's own tensors (constants),
 * then what the body computes. */

enum {
  TC_MOST_RANK = 8,
  TC_SEVERAL = -1, /* rank of what is several tensors */
  TC_OBJECT = -2   /* of what only a call tells: any object */
};

/* What a value is: for an input what it has to be, for a result what it will be. */
typedef struct TcSpec {
  TcDType dtype;
  int rank;
  int64_t sizes[TC_MOST_RANK], strides[TC_MOST_RANK]; /* elements */
} TcSpec;

/* The arguments of a call of Python's function, in the schema's order, as numbers: a value's, or
 * one of these. */
#define TC_CONSTANT (-1)      /* the call's next constant (load's argument) */
#define TC_LIST(n) (-2 - (n)) /* a list of the n arguments that follow */

/* An operation that torch's own Python function runs. */
typedef struct TcGraphCall {
  const char *name; /* of the node */
  int result;       /* a value */
  const int *args;  /* positional ones first */
  int n_positional, n_keywords;
  const char *const *keywords;
  bool has_effect; /* behind it nothing can run again */
} TcGraphCall;

/* What a graph returns: a value, or a constant of Python's. */
typedef struct TcGraphResult {
  TcKind kind; /* TENSOR; BOOL, INT: i; FLOAT: f; NONE: text, or None */
  int value;
  int64_t i;
  double f;
  const char *text;
} TcGraphResult;

typedef struct TcGraphValue {
  PyObject *object; /* of an input or a constant: borrowed; else owned. NULL: not made */
  void *data;       /* NULL: not looked for */
} TcGraphValue;

/* One call of a graph. Its fields belong to the runtime. */
typedef struct TcFrame TcFrame;
/* v: the values, of which those of inputs and constants have their memory. arena: the graph's own
 * memory, at 64 bytes. False: an exception is set. */
typedef bool TcGraphBody(TcFrame *frame, const TcGraphValue *v, char *arena);

#define TC_INLINE static inline __attribute__((always_inline))
/* The same body for each set of instructions: arithmetic without contraction has one result.
 * TC_ONLY_...: for one set alone, where the module is not to leave this host. */
#if defined TC_ONLY_AVX2 || defined TC_ONLY_AVX512
#ifdef TC_ONLY_AVX2
#define TC_TARGET "avx2,fma"
#define TC_BODIES {NULL, body, NULL}
#else
#define TC_TARGET "avx512f,avx512dq,avx512bw,avx512vl,fma"
#define TC_BODIES {NULL, NULL, body}
#endif
#define TC_GRAPH_BODIES(run)                                                                       \
  __attribute__((target(TC_TARGET))) static bool body(TcFrame *f, const TcGraphValue *v,           \
                                                      char *arena) {                               \
    return run(f, v, arena);                                                                       \
  }
#elif defined __x86_64__ && !defined TC_ONLY_BASELINE
#define TC_GRAPH_BODIES(run)                                                                       \
  static bool body_baseline(TcFrame *f, const TcGraphValue *v, char *arena) {                      \
    return run(f, v, arena);                                                                       \
  }                                                                                                \
  __attribute__((target("avx2,fma"))) static bool body_avx2(TcFrame *f, const TcGraphValue *v,     \
                                                            char *arena) {                         \
    return run(f, v, arena);                                                                       \
  }                                                                                                \
  __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"))) static bool body_avx512(       \
      TcFrame *f, const TcGraphValue *v, char *arena) {                                            \
    return run(f, v, arena);                                                                       \
  }
#define TC_BODIES {body_baseline, body_avx2, body_avx512}
#else
#define TC_GRAPH_BODIES(run)                                                                       \
  static bool body_baseline(TcFrame *f, const TcGraphValue *v, char *arena) {                      \
    return run(f, v, arena);                                                                       \
  }
#define TC_BODIES {body_baseline, NULL, NULL}
#endif

typedef struct TcGraph {
  const char *name;       /* of the extension module, without its package */
  TcGraphBody *bodies[3]; /* by TcIsa; NULL: not compiled */
  int64_t arena_bytes;
  int n_inputs, n_constants, n_values, n_once;
  const TcSpec *specs; /* by value */
  const TcGraphCall *calls;
  int n_calls;
  const TcOp *ops; /* that have recipes */
  int n_ops;
  const TcGraphResult *results;
  int n_results;
  const char *digest; /* of the C text up to here */
} TcGraph;

/* Runs calls[call], whose operands all have objects. */
bool tc_graph_call(TcFrame *frame, int call);
/* value to = value from, which is several, [index]. */
bool tc_graph_item(TcFrame *frame, int to, int from, int64_t index);
/* The memory of a value that has an object. NULL: an exception is set; of an empty one it is some
 * other address. */
void *tc_graph_data(TcFrame *frame, int value);
/* A new tensor for the value; its memory. NULL: an exception is set. */
void *tc_graph_tensor(TcFrame *frame, int value);
/* An object for a value that lies in that of `root`, `offset` elements behind its first. */
bool tc_graph_view(TcFrame *frame, int value, int root, int64_t offset);
/* The memory of what calls[call] gives, which is the same at every call of the graph: run at the
 * first. NULL: an exception is set. */
void *tc_graph_once(TcFrame *frame, int index, int call);
/* Floats in a vector of the wheel's loops. */
int tc_graph_lanes(const TcFrame *frame);

/* ops[op] by its recipe, into `out`. False: not here, now, or for these sizes; no exception is set.
 */
bool tc_graph_map1(TcFrame *frame, int op, const float *x, float *out, int64_t n, bool contiguous);
/* In runs of so many elements, each a loop of the wheel's own. */
bool tc_graph_map1_runs(TcFrame *frame, int op, const float *x, float *out, int64_t runs,
                        int64_t n);
bool tc_graph_along(TcFrame *frame, int op, const float *x, void *out, int64_t outer, int64_t rows,
                    int64_t cols); /* of [outer, rows, cols] */
bool tc_graph_norm(TcFrame *frame, int op, const float *x, const float *weight, const float *bias,
                   const float *mean, const float *variance, float *out, int64_t rows, int64_t cols,
                   int64_t inner); /* of [rows, cols, inner] */
bool tc_graph_product(TcFrame *frame, int op, const float *x, const float *w, const float *bias,
                      float *out, int64_t m, int64_t k, int64_t n,
                      int64_t x_step); /* from a row of x to the next; 0: k */
/* Of x [batch, m, k] and w [batch, k, n], whose elements are so many apart, in that order. */
bool tc_graph_bmm(TcFrame *frame, int op, const float *x, const int64_t x_apart[3], const float *w,
                  const int64_t w_apart[3], float *out, int64_t batch, int64_t m, int64_t k,
                  int64_t n);
/* sizes: batch, channels, length, filters, width, length of the result, stride, dilation, padding.
 */
bool tc_graph_conv(TcFrame *frame, int op, const float *x, const float *w, const float *bias,
                   float *out, const int64_t sizes[9]);
/* Of [outer, rows, cols]. values, indices: NULL where nobody asks. */
bool tc_graph_pick(TcFrame *frame, int op, const float *x, float *values, int64_t *indices,
                   int64_t outer, int64_t rows, int64_t cols, bool sorted);
/* Then: calls[call] over the memory of its operands, in the order of its arguments, into `out`. */
bool tc_graph_wheel(TcFrame *frame, int call, const void *const *operands, void *out);
/* Likewise, of two results: as which values they lie where; -1: nowhere. */
bool tc_graph_wheel_two(TcFrame *frame, int call, const void *const *operands, const int values[2],
                        void *const out[2]);

/* Defines PyInit_<extension>. The module has load(constants, calls) and Unfit: graph.c. */
PyObject *tc__graph_module_init(const TcGraph *graph);
#define TC_GRAPH_MODULE(extension, graph)                                                          \
  PyMODINIT_FUNC PyInit_##extension(void);                                                         \
  PyMODINIT_FUNC PyInit_##extension(void) { return tc__graph_module_init(graph); }

/* ── variables ───────────────────────────────────────────────────────────────────────────────── */

void tc__tensor_free(TcTensor *var);
static inline bool tc_is_set(const TcTensor *var) { return var->handle || var->data; }
/* Frees what the variable owns and leaves it unassigned. */
static inline void tc_drop(TcTensor *var) {
  if (tc_is_set(var))
    tc__tensor_free(var);
}
static inline TcUse tc_get(TcTensor *var) { return (TcUse){var, false}; }
static inline TcUse tc_take(TcTensor *var) { return (TcUse){var, true}; }
/* The variable's value, for the result: leaves the variable unassigned. */
static inline TcTensor tc_give(TcTensor *var) {
  TcTensor value = *var;
  *var = (TcTensor){0};
  return value;
}
/* to = from, where both go on living. */
bool tc_copy(TcCall *tc, TcTensor *to, const TcTensor *from);
/* to = from, where `from` is not read any more: it is left unassigned. */
static inline void tc_move(TcTensor *to, TcTensor *from) {
  TcTensor value = tc_give(from);
  tc_drop(to);
  *to = value;
}

/* ── operations ──────────────────────────────────────────────────────────────────────────────── */

/* op on its operands, by its recipe where the state of the call, the host and these sizes admit
 * it, else by the wheel. out may be the variable an operand was taken from. Sizes that do not fit
 * give RuntimeError "rextio-torch: …" or "rextio-tensorflow: …" with both shapes. For any other
 * failure torch's lane finds eager's own exception, TensorFlow's has one with TensorFlow's text. */
bool tc_op1(TcCall *tc, TcTensor *out, const TcOp *op, TcUse x);
bool tc_op2(TcCall *tc, TcTensor *out, const TcOp *op, TcUse a, TcUse b);
bool tc_op3(TcCall *tc, TcTensor *out, const TcOp *op, TcUse a, TcUse b, TcUse c);

/* torch: what TcOp.wheel can be. */
TcWheel tc_torch_unary, tc_torch_gelu, tc_torch_binary, tc_torch_add, tc_torch_sub, tc_torch_mul,
    tc_torch_reduce, tc_torch_rowwise, tc_torch_argmax;
TcWheel tc_torch_matmul;     /* ranks 2/2, 2/1, 1/2 */
TcWheel tc_torch_linear;     /* [n,k] × [m,k] → [n,m], with or without a bias */
TcWheel tc_torch_layer_norm; /* x [n,c], then weight, bias, as many as there are */
TcWheel tc_torch_rms_norm;   /* x [n,c], then weight */
TcWheel tc_torch_prod, tc_torch_norm, tc_torch_spread; /* reductions, of other arguments */
TcWheel tc_torch_conv1d;                 /* x [n,c,l], filters [f,c,w], perhaps a bias */
TcWheel tc_torch_addmm;                  /* x [m,k], w [k,n], bias [n] */
TcWheel tc_torch_bmm;                    /* x [b,m,k], w [b,k,n] */
TcWheel tc_torch_topk, tc_torch_extreme; /* out[0]: values, out[1]: indices; dim of x [n,c] */
TcWheel tc_torch_batch_norm; /* x [n,c], mean, variance, then weight and bias: evaluation */

/* TensorFlow: likewise, each one op of Python's eager context. */
TcWheel tc_tf_unary, tc_tf_binary, tc_tf_bias_add, tc_tf_reduce, tc_tf_argmax;
TcWheel tc_tf_matmul;    /* ranks 2/2 */
TcWheel tc_tf_softmax;   /* the last dimension */
TcWheel tc_tf_transpose; /* rank 2 */

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
