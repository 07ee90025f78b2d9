/* kernel.h: recipes, seen from the body of a function.
 *
 * A recipe is one operation as straight C on contiguous float32, written so that its bits are those
 * of the wheel's own CPU kernel (only the payload and sign of a NaN may differ). There is one text
 * per recipe (map.def, reduce.inc, softmax.inc, matmul.inc), compiled once per instruction set
 * (kernels.c), and one object per recipe that holds what came out: tc_recipe_relu and so on
 * (recipes.c). docs/numerics.md says where each order of operations comes from.
 *
 * How a body uses it, for each operation of a function (op.c, product.c):
 *
 *     TcCase whole = {.rows = m, .cols = n, .threads = threads};
 *     TcRule rule = tc_recipe_relu.rule(isa, &whole);
 *
 * - TcCase has the sizes of the WHOLE call, as eager would get it.
 * - !rule.exact: the operation runs by the wheel.
 * - rule.way, rule.chain: what a product's kernel has to do; it asks no rule itself.
 * - !rule.blocks, or too few rows: this operation, and so the function, runs as one block, outside
 *   any parallel region, because the wheel's own threaded functions may be called.
 * - rule.pack_elems: so many floats, 64-byte aligned, filled by tc__kernels(isa)->pack, once per
 *   call before the blocks.
 * - Then per block of rows: recipe->kernel[isa].map1(x, out, n, &place) and the like.
 *
 * A block is a range of whole rows (for map1: of elements); TcPlace says which. Kernels do not
 * allocate, take no locks, keep no state, touch no Python and never fail. Pointers need no
 * alignment; scratch at 64 bytes is faster.
 */
#ifndef TC_KERNEL_H
#define TC_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "../classes.h"

/* ── where code runs ─────────────────────────────────────────────────────────────────────────── */

/* The numbers index TcRecipe.kernel. Which one the recipes of a process must use is decided by the
 * wheel, not by us: the one that ATen dispatches to (ATEN_CPU_CAPABILITY included), since lanes and
 * tails differ between them. */
typedef enum { TC_ISA_BASELINE, TC_ISA_AVX2, TC_ISA_AVX512, TC_N_ISAS } TcIsa;

/* By what torch.backends.cpu.get_cpu_capability() says: "DEFAULT", "AVX2", "AVX512". -1: none of
 * ours (then no recipes). */
int tc__isa_of_capability(const char *capability);
/* Whether this CPU and operating system run the kernels of that set, and they were compiled in. */
bool tc__isa_runs(TcIsa isa);

/* ── functions of the wheel that recipes call ────────────────────────────────────────────────── */

/* Sizes are 64-bit also where BLAS says int: read through a pointer or from a register the low half
 * is the same number, so wheels with either width of integer are called right. */
typedef void TcVml(int64_t n, const float *x, float *out, int64_t mode);
typedef void TcSgemm(const char *trans_a, const char *trans_b, const int64_t *m, const int64_t *n,
                     const int64_t *k, const float *alpha, const float *a, const int64_t *lda,
                     const float *b, const int64_t *ldb, const float *beta, float *c,
                     const int64_t *ldc);
typedef void TcSgemv(const char *trans, const int64_t *m, const int64_t *n, const float *alpha,
                     const float *a, const int64_t *lda, const float *x, const int64_t *incx,
                     const float *beta, float *y, const int64_t *incy);

/* Groups of products of one size each. */
typedef void TcSgemmBatch(const char *trans_a, const char *trans_b, const int64_t *m,
                          const int64_t *n, const int64_t *k, const float *alpha,
                          const float *const *a, const int64_t *lda, const float *const *b,
                          const int64_t *ldb, const float *beta, float *const *c,
                          const int64_t *ldc, const int64_t *n_groups, const int64_t *n_each);

typedef struct TcWheelMath {
  TcVml *vml_exp, *vml_tanh, *vml_ln, *vml_sqrt; /* vmsExp … of MKL, NULL in a wheel without */
  TcSgemm *sgemm;                                /* sgemm_, NULL likewise */
  TcSgemv *sgemv;                                /* sgemv_ */
  TcSgemmBatch *sgemm_batch;                     /* sgemm_batch_ */
  /* Does torch let oneDNN run what it can? Of its context; NULL likewise. */
  const void *(*context)(void);
  bool (*onednn_enabled)(const void *context);
  /* expf, logf, tanhf and erff of the C library, which the wheel calls; never NULL. A compiler may
   * bring others of its own (zig does). */
  float (*scalar_exp)(float), (*scalar_log)(float), (*scalar_tanh)(float), (*scalar_erf)(float);
} TcWheelMath;

/* What the kernels call. All NULL, but for the scalar functions, until tc__wheel_math_find ran. */
extern TcWheelMath tc__wheel_math;
/* Fills tc__wheel_math from libtorch_cpu.so: its handle of dlopen. Functions that another library
 * defines stay NULL, and so the recipes that need them are not exact. Call once, before any rule is
 * asked. */
void tc__wheel_math_find(void *libtorch_cpu);
/* The scalar functions, of the C library that this image of a wheel links. False: it links another
 * one than the image of an earlier call, whose functions stay. */
bool tc__scalar_math_find(void *image);

/* ── one operation ───────────────────────────────────────────────────────────────────────────── */

/* Where a block lies in its whole tensor, flattened: elements before it, elements in all. For map1,
 * along and matmul this is the tensor x. threads: the framework's count for the whole call
 * (torch_get_num_threads; TensorFlow: of operations' own work), also when blocks run in parallel.
 */
typedef struct TcPlace {
  int64_t offset, total;
  int threads; /* >= 1 */
} TcPlace;

/* out[i] = f(x[i]) for i < n. out may be x, otherwise they don't overlap. */
typedef void TcMap1(const float *x, float *out, int64_t n, const TcPlace *at);

/* An operand of map2: element (i, j) is p[i * row + j * col]. The strides are those of broadcasting
 * over a [rows, cols] result: full (cols, 1), one row (0, 1), one column (1, 0), one number (0, 0).
 * No others. */
typedef struct TcOperand {
  const float *p;
  int64_t row, col; /* elements */
} TcOperand;

/* out[i, j] = f(a(i, j), b(i, j)), out contiguous [rows, cols]. out may be the p of a full operand.
 * A rank-1 operation is one row. */
typedef void TcMap2(TcOperand a, TcOperand b, float *out, int64_t rows, int64_t cols);

/* Along one dimension of x [rows, cols]. TC_LAST: each row by itself (dim 1, also dim -1, and rank
 * 1 as one row). TC_FIRST: each column by itself (dim 0). Along a dimension in the middle of more:
 * TC_FIRST on each matrix of it, a block of the whole (TcCase.matrices). */
typedef enum { TC_LAST, TC_FIRST } TcAxis;

/* out: sum, mean, prod, norm, var, std: float, one per row (TC_LAST) or column (TC_FIRST). argmax:
 * int64_t, likewise; the reduced length must not be 0. softmax, log_softmax, cumsum: float [rows,
 * cols], may be x. */
typedef void TcAlong(const float *x, void *out, int64_t rows, int64_t cols, TcAxis axis,
                     const TcPlace *at);

/* x [rows, cols, inner] normalised: layer_norm and rms_norm each row over its columns (inner is 1;
 * rms_norm has no bias), batch_norm each column, which is a channel, by statistics that are given
 * (evaluation). */
typedef struct TcNorm {
  const float *x;
  const float *weight, *bias; /* [cols], or NULL */
  const float *mean, *var;    /* batch_norm: [cols] */
  float *out;                 /* [rows, cols, inner]; may be x, but for rms_norm */
  int64_t rows, cols, inner;
  double eps;
} TcNorm;
typedef void TcNormKernel(const TcNorm *norm);

/* Elements of x [rows, cols] and where they stand. topk: k of each row, the greatest or the least
 * first. max, min: one of each row or column, the first of equal ones; k is 1. */
typedef struct TcPick {
  const float *x;
  float *values;
  int64_t *indices;
  int64_t rows, cols, k;
  TcAxis axis;
  bool largest, sorted; /* topk; where it is not sorted, the order is the wheel's own */
} TcPick;
typedef void TcPickKernel(const TcPick *pick);

/* Matrices of one size: element (r, c) of matrix i is p[i * step + r * row + c * col]. */
typedef struct TcMatrices {
  const float *p;
  int64_t step, row, col; /* elements */
} TcMatrices;

/* How a product comes to the wheel's bits. */
typedef enum {
  TC_ONE_WAY,     /* the kernel knows no other */
  TC_WHEEL,       /* sgemm_ or sgemv_, as ATen calls it */
  TC_CHAINS,      /* chains of fused multiply-adds along k, each of at most TcMatmul.chain */
  TC_CHAINS_TO_0, /* likewise, the first is added to 0 where there is no bias: never -0 */
  TC_PLAIN,       /* one chain along k, multiplied, then added */
  TC_LANES,       /* four such chains, against a transposed w, more than one row */
  TC_ROW_LANES,   /* likewise, one row */
} TcWay;

/* out[i] = x[i] @ w[i] for i < batch. Nothing may overlap out. */
typedef struct TcBmm {
  TcMatrices x, w; /* each [m, k]; each [k, n] */
  float *out;      /* [batch, m, n] */
  void *scratch;   /* as many floats as rule.pack_elems says; 0: NULL */
  int64_t batch, m, k, n;
  TcWay way;     /* of the rule */
  int64_t chain; /* likewise */
} TcBmm;
typedef void TcBmmKernel(const TcBmm *bmm);

/* out[b, f] = the sum over channels of w[f] along x[b]. Nothing may overlap out. */
typedef struct TcConv {
  const float *x;    /* [batch, channels, length] */
  const float *w;    /* [filters, channels, width] */
  const float *bias; /* [filters], or NULL */
  float *out;        /* [batch, filters, out_length] */
  float *columns;    /* scratch: as many floats as rule.pack_elems says; 0: NULL */
  int64_t batch, channels, length, filters, width, out_length;
  int64_t stride, dilation;
  int64_t padding; /* zeros at either end of x */
} TcConv;
typedef void TcConvKernel(const TcConv *conv);

/* The pieces in which a wheel works a product out, one by one: rows and columns of the result, and
 * summands; the last ones are smaller. */
typedef struct TcPieces {
  int64_t rows, cols, k;
} TcPieces;

/* out[m, n] = x[m, k] @ w (+ bias). Nothing may overlap out. */
typedef struct TcMatmul {
  const float *x;      /* [m, k] */
  const float *w;      /* [k, n]; transposed: [n, k], as in linear and x @ w.T; mv: [k], n is 1 */
  const float *packed; /* w as pack left it, where the rule asks for that, else NULL */
  const float *bias;   /* [n], or NULL */
  float *out;          /* [m, n] */
  int64_t m, k, n;     /* m: rows of this block; vm (ranks 1/2) has m = 1 */
  int64_t x_step;      /* floats from a row of x to the next; 0: k. Else n is not 1; not for mv */
  bool transposed;
  TcWay way;       /* of the rule */
  int64_t chain;   /* likewise */
  TcPieces pieces; /* likewise */
} TcMatmul;
/* at: the block of x, so offset is a multiple of k and total / k is the number of rows of the whole
 * call. The bits of TC_LANES and TC_ROW_LANES depend on where x and w begin, as the wheel's do:
 * what stands in for one of the framework's own tensors has to begin at 64 bytes, and a block of it
 * at 16 where the row of the whole does. */
typedef void TcMatmulKernel(const TcMatmul *mm, const TcPlace *at);

/* out [cols, rows] = x [rows, cols] transposed. Nothing may overlap out. */
typedef void TcTranspose(const float *x, float *out, int64_t rows, int64_t cols);

/* ── recipes ─────────────────────────────────────────────────────────────────────────────────── */

/* What a wheel does in products at a thread count: one row of numbers for each kind of host that is
 * known (law.inc), or as admission measured them. [0]: against w [k, n], [1]: against a transposed
 * w. */
typedef struct TcLaw {
  char name[12]; /* "": none */
  /* Enough rows and columns: each element is chains of fused multiply-adds along k from zero, added
   * in order to the bias, or the first is the result so far. One chain up to k = chain; beyond,
   * each is min(chain, (k + up) / 2) long, the last one what is left. Known up to most_k. to_0: the
   * first is added to 0 where there is no bias. */
  int chain, up, most_k, to_0;
  /* Which numbers of rows (columns) are enough, and leave enough where the wheel splits them over
   * threads: bit i says it of i, for 48 and more bit 48 + i % 16. */
  uint64_t rows[2], cols[2];
  /* Fewer rows or columns than any of those: TC_PLAIN, TC_LANES, TC_ROW_LANES. */
  bool small;
} TcLaw;

/* The laws that are known for so many threads. */
const TcLaw *tc__known_laws(int threads, int *n);

/* The sizes of one whole call. */
typedef struct TcCase {
  int64_t rows,
      cols;         /* map, along: of x (map2: of the result). matmul: of the result, so m and n */
  int64_t k;        /* matmul; topk */
  TcAxis axis;      /* along */
  int64_t matrices; /* along, TC_FIRST: how many matrices like this; 0 or 1: no others */
  bool bias;        /* matmul */
  bool transposed;  /* matmul: w; map1: x lies column by column */
  int threads;      /* the framework's count */
  bool full;        /* map2: both operands have the size of the result */
  bool row;         /* map2: the second one is one row, of rank 1 and as wide as the result */
  const TcConv *conv; /* conv1d: its sizes, strides, and whether there is a bias */
  const TcBmm *bmm;   /* bmm: its sizes and strides */
  const TcLaw *law; /* matmul: the wheel's on this host at this thread count; NULL: none is known */
} TcCase;

typedef struct TcRule {
  bool exact; /* these sizes are known to give the wheel's bits, once the recipe is admitted on this
                 host */
  bool blocks; /* … also block of rows by block of rows, in any order, on any thread */
  int64_t
      min_rows; /* of each block, the last one included: a shorter tail joins the block before it */
  int64_t align;      /* rows × cols of each block but the last must be a multiple of this: 8 for
                         TensorFlow's maximum and minimum, else 1 (tails are worked out from TcPlace) */
  int64_t pack_elems; /* matmul: floats of scratch that `packed` must point to; 0: packed is NULL.
                         conv1d: likewise, `columns`; bmm: `scratch` */
  TcWay way;          /* matmul: what the kernel has to do */
  int64_t chain;      /* of chains: the longest */
  TcPieces pieces;    /* TensorFlow's matmul by Eigen: its pieces */
} TcRule;

/* By the recipe's class. */
typedef union TcKernel {
  TcMap1 *map1;
  TcMap2 *map2;
  TcAlong *along;         /* REDUCE, ROWWISE, ARGMAX */
  TcMatmulKernel *matmul; /* MATMUL, LINEAR, MV */
  TcNormKernel *norm;     /* NORM */
  TcPickKernel *pick;     /* PICK */
  TcConvKernel *conv;     /* CONV */
  TcBmmKernel *bmm;       /* BMM */
  TcTranspose *transpose;
} TcKernel;

typedef struct TcRecipe {
  const char *name; /* of the object, without tc_recipe_ */
  TcClass class;    /* also what rule reads of a TcCase */
  TcRule (*rule)(TcIsa isa, const TcCase *whole);
  TcKernel kernel[TC_N_ISAS]; /* NULL where that set was not compiled in */
  /* The same operation as wheels have it in other processes: tried where this one has not the
   * wheel's bits. NULL: none is left, the wheel itself runs. */
  const struct TcRecipe *next;
} TcRecipe;

/* The elementwise ones are in map.def and tf_map.def, the others at the end of recipes.c and of
 * tf_recipes.inc. linear and matmul differ in nothing but their classes (transposed and bias say
 * what is meant).
 *
 * The bits of TensorFlow's (tf_) are the wheel's only under FTZ and DAZ: MXCSR |= 0x8040 around the
 * kernel. They have no kernel for TC_ISA_BASELINE. tf_softmax: TC_LAST. tf_matmul: no bias, not
 * transposed. */
#define TC_RECIPE(name) extern const TcRecipe tc_recipe_##name

/* ── the rest of a set of kernels ────────────────────────────────────────────────────────────── */

typedef struct TcKernels {
  int lanes; /* W: floats per vector of ATen's kernels for this set: 16 for AVX-512, else 8 */
  /* w [k, n] (transposed: [n, k]) into the layout that the kernels read fastest: rule.pack_elems
   * floats. */
  void (*pack)(const float *w, float *packed, int64_t k, int64_t n, bool transposed);
} TcKernels;

/* NULL when that set was not compiled in. */
const TcKernels *tc__kernels(int isa);

#endif
