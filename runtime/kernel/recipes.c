/* recipes.c: the recipes as objects, their rules, and what of the process they depend on.
 *
 * An entry of map.def makes its object by itself. The other recipes are at the end. What a rule
 * promises is checked by tests/recipes against torch; on a user's machine by admission.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, dlinfo */
#endif
#include "kernel.h"

#include "rules.h"

#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#if !defined __x86_64__ && !defined TC_WITHOUT_AVX2
#define TC_WITHOUT_AVX2
#endif
#if !defined __x86_64__ && !defined TC_WITHOUT_AVX512
#define TC_WITHOUT_AVX512
#endif

#ifdef TC_WITHOUT_AVX2
#define AVX2(x) NULL
#define IF_AVX2(x)
#else
#define AVX2(x) x
#define IF_AVX2(x) x
#endif
#ifdef TC_WITHOUT_AVX512
#define AVX512(x) NULL
#define IF_AVX512(x)
#else
#define AVX512(x) x
#define IF_AVX512(x) x
#endif

/* ── the process ─────────────────────────────────────────────────────────────────────────────── */

TcWheelMath tc__wheel_math = {
    .scalar_exp = expf, .scalar_log = logf, .scalar_tanh = tanhf, .scalar_erf = erff};

static void find(void *field, void *image, const char *path, const char *symbol) {
  Dl_info owner;
  void *address = dlsym(image, symbol);
  if (!address || !dladdr(address, &owner) || !owner.dli_fname ||
      strcmp(owner.dli_fname, path) != 0)
    address = NULL;
  memcpy(field, &address, sizeof address);
}

void tc__wheel_math_find(void *libtorch_cpu) {
  struct link_map *map = NULL;
  if (!libtorch_cpu || dlinfo(libtorch_cpu, RTLD_DI_LINKMAP, &map) != 0)
    return;
  find(&tc__wheel_math.vml_exp, libtorch_cpu, map->l_name, "vmsExp");
  find(&tc__wheel_math.vml_tanh, libtorch_cpu, map->l_name, "vmsTanh");
  find(&tc__wheel_math.vml_ln, libtorch_cpu, map->l_name, "vmsLn");
  find(&tc__wheel_math.vml_sqrt, libtorch_cpu, map->l_name, "vmsSqrt");
  find(&tc__wheel_math.sgemm, libtorch_cpu, map->l_name, "sgemm_");
  find(&tc__wheel_math.sgemv, libtorch_cpu, map->l_name, "sgemv_");
  find(&tc__wheel_math.sgemm_batch, libtorch_cpu, map->l_name, "sgemm_batch_");
  find(&tc__wheel_math.context, libtorch_cpu, map->l_name, "_ZN2at13globalContextEv");
  find(&tc__wheel_math.onednn_enabled, libtorch_cpu, map->l_name,
       "_ZNK2at7Context17userEnabledMkldnnEv");
}

bool tc__scalar_math_find(void *image) {
  static void *found[4]; /* guarded by the GIL */
  void *now[4] = {dlsym(image, "expf"), dlsym(image, "logf"), dlsym(image, "tanhf"),
                  dlsym(image, "erff")}; /* also in what the image links */
  if (!now[0] || !now[1] || !now[2] || !now[3])
    return false;
  if (found[0])
    return memcmp(now, found, sizeof now) == 0;
  memcpy(found, now, sizeof found);
  memcpy(&tc__wheel_math.scalar_exp, &now[0], sizeof now[0]);
  memcpy(&tc__wheel_math.scalar_log, &now[1], sizeof now[1]);
  memcpy(&tc__wheel_math.scalar_tanh, &now[2], sizeof now[2]);
  memcpy(&tc__wheel_math.scalar_erf, &now[3], sizeof now[3]);
  return true;
}

IF_AVX512(extern const TcKernels tc__kernels_avx512;)
IF_AVX2(extern const TcKernels tc__kernels_avx2;)
extern const TcKernels tc__kernels_baseline;

const TcKernels *tc__kernels(int isa) {
  switch (isa) {
  case TC_ISA_AVX512:
    return AVX512(&tc__kernels_avx512);
  case TC_ISA_AVX2:
    return AVX2(&tc__kernels_avx2);
  case TC_ISA_BASELINE:
    return &tc__kernels_baseline;
  default:
    return NULL;
  }
}

int tc__isa_of_capability(const char *capability) {
  if (strcmp(capability, "AVX512") == 0)
    return TC_ISA_AVX512;
  if (strcmp(capability, "AVX2") == 0)
    return TC_ISA_AVX2;
  if (strcmp(capability, "DEFAULT") == 0)
    return TC_ISA_BASELINE;
  return -1;
}

bool tc__isa_runs(TcIsa isa) {
  if (!tc__kernels((int)isa))
    return false;
#ifdef __x86_64__
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2");
  if (isa == TC_ISA_AVX2)
    return avx2;
  if (isa == TC_ISA_AVX512)
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
  return isa == TC_ISA_BASELINE;
}

/* ── rules ───────────────────────────────────────────────────────────────────────────────────── */

static const TcRule not_exact = {.align = 1};
static const TcRule one_block = {.exact = true, .align = 1, .min_rows = 1};
static const TcRule any_blocks = {.exact = true, .blocks = true, .align = 1, .min_rows = 1};

/* Elementwise: what a block needs of the whole is in TcPlace. */
static TcRule rule_map(TcIsa isa, const TcCase *whole) {
  (void)isa, (void)whole;
  return any_blocks;
}

/* Rows of the last dimension don't know of each other; one row alone, or columns, may be split over
 * threads inside. */
static TcRule rule_along(TcIsa isa, const TcCase *whole) {
  (void)isa;
  if (whole->threads > TC_MOST_THREADS)
    return not_exact;
  return whole->axis == TC_LAST && whole->rows > 1 ? any_blocks : one_block;
}

/* Of several matrices, which range of columns a thread gets is not known. */
static TcRule rule_sum(TcIsa isa, const TcCase *whole) {
  bool split = whole->axis == TC_FIRST && whole->matrices > 1 && whole->threads > 1 &&
               whole->matrices * whole->rows * whole->cols >= TC_GRAIN;
  return split ? not_exact : rule_along(isa, whole);
}

static int64_t lines_of(const TcCase *whole) {
  return whole->axis == TC_LAST ? whole->rows : whole->cols;
}
static int64_t length_of(const TcCase *whole) {
  return whole->axis == TC_LAST ? whole->cols : whole->rows;
}

/* One result of many elements is put together from threads' parts; one column is a row. */
static TcRule rule_chain(TcIsa isa, const TcCase *whole) {
  bool row = lines_of(whole) > 1 || (whole->axis == TC_LAST && whole->cols < TC_GRAIN);
  return row && length_of(whole) > 0 ? rule_sum(isa, whole) : not_exact;
}

/* Of neighbours, more are vectors side by side. */
static TcRule rule_prod(TcIsa isa, const TcCase *whole) {
  return whole->axis == TC_LAST && whole->cols >= 32 ? not_exact : rule_chain(isa, whole);
}

/* Of one element it is no root. */
static TcRule rule_norm(TcIsa isa, const TcCase *whole) {
  return length_of(whole) > 1 ? rule_chain(isa, whole) : not_exact;
}

/* All of a tensor has another way. */
static TcRule rule_spread(TcIsa isa, const TcCase *whole) {
  return lines_of(whole) > 1 ? rule_chain(isa, whole) : not_exact;
}

/* A row or column is never split over threads. */
static TcRule rule_each(TcIsa isa, const TcCase *whole) {
  (void)isa;
  return whole->axis == TC_LAST ? any_blocks : one_block;
}

static TcRule rule_argmax(TcIsa isa, const TcCase *whole) {
  if ((whole->axis == TC_LAST ? whole->cols : whole->rows) == 0)
    return not_exact; /* eager raises */
  return rule_along(isa, whole);
}

static TcRule rule_topk(TcIsa isa, const TcCase *whole) {
  (void)isa;
  return whole->k >= 1 && whole->k <= whole->cols && whole->cols <= TC_MOST_RANKED ? any_blocks
                                                                                   : not_exact;
}

/* Statistics of nothing are NaN, or eager raises. */
static TcRule rule_normalisation(TcIsa isa, const TcCase *whole) {
  (void)isa;
  return whole->rows > 0 && whole->cols > 0 ? any_blocks : not_exact;
}

/* It is eager's mean of squares, which is split over threads where there is one long row. */
static TcRule rule_rms_norm(TcIsa isa, const TcCase *whole) {
  bool split = whole->rows == 1 && whole->threads > 1 && whole->cols >= TC_GRAIN;
  return split ? not_exact : rule_normalisation(isa, whole);
}

static bool fits_blas(const TcCase *whole) {
  return whole->rows <= TC_MOST_INT && whole->cols <= TC_MOST_INT && whole->k <= TC_MOST_INT;
}

#include "law.inc"

/* Matrix times vector: the wheel's own. */
static TcRule rule_mv(TcIsa isa, const TcCase *whole) {
  (void)isa;
  TcRule rule = one_block;
  rule.way = TC_WHEEL;
  return tc__wheel_math.sgemv && fits_blas(whole) ? rule : not_exact;
}

/* ── objects ─────────────────────────────────────────────────────────────────────────────────── */

#define RECIPE(recipe_name, recipe_class, type, member, rule_function, kernel_name)                \
  extern type tc__##kernel_name##_baseline;                                                        \
  IF_AVX2(extern type tc__##kernel_name##_avx2;)                                                   \
  IF_AVX512(extern type tc__##kernel_name##_avx512;)                                               \
  TC_RECIPE(recipe_name);                                                                          \
  const TcRecipe tc_recipe_##recipe_name = {                                                       \
      .name = #recipe_name,                                                                        \
      .class = recipe_class,                                                                       \
      .rule = rule_function,                                                                       \
      .kernel = {[TC_ISA_BASELINE] = {.member = tc__##kernel_name##_baseline},                     \
                 [TC_ISA_AVX2] = {.member = AVX2(tc__##kernel_name##_avx2)},                       \
                 [TC_ISA_AVX512] = {.member = AVX512(tc__##kernel_name##_avx512)}},                \
  };

#define MAP1(name, f) RECIPE(name, TC_MAP1, TcMap1, map1, rule_map, name)
#define MAP1_PAIRS(name, f, scalar, grain) RECIPE(name, TC_MAP1, TcMap1, map1, rule_map, name)
#define MAP1_VML(name, function)                                                                   \
  static TcRule rule_##name(TcIsa isa, const TcCase *whole) {                                      \
    return tc__wheel_math.function ? rule_map(isa, whole) : not_exact;                             \
  }                                                                                                \
  RECIPE(name, TC_MAP1, TcMap1, map1, rule_##name, name)
#define MAP1_ONEDNN(name) /* below */
#define MAP2(name, f) RECIPE(name, TC_MAP2, TcMap2, map2, rule_map, name)
#include "map.def"

RECIPE(sum, TC_REDUCE, TcAlong, along, rule_sum, sum)
RECIPE(mean, TC_REDUCE, TcAlong, along, rule_sum, mean)
RECIPE(prod, TC_REDUCE, TcAlong, along, rule_prod, prod)
RECIPE(norm, TC_REDUCE, TcAlong, along, rule_norm, norm)
RECIPE(var, TC_REDUCE, TcAlong, along, rule_spread, var)
RECIPE(std, TC_REDUCE, TcAlong, along, rule_spread, std)
RECIPE(var_biased, TC_REDUCE, TcAlong, along, rule_spread, var_biased)
RECIPE(std_biased, TC_REDUCE, TcAlong, along, rule_spread, std_biased)
RECIPE(softmax, TC_ROWWISE, TcAlong, along, rule_along, softmax)
RECIPE(log_softmax, TC_ROWWISE, TcAlong, along, rule_each, log_softmax)
RECIPE(cumsum, TC_ROWWISE, TcAlong, along, rule_each, cumsum)
RECIPE(cumprod, TC_ROWWISE, TcAlong, along, rule_each, cumprod)
RECIPE(argmax, TC_ARGMAX, TcAlong, along, rule_argmax, argmax)

RECIPE(max, TC_PICK, TcPickKernel, pick, rule_argmax, max)
RECIPE(min, TC_PICK, TcPickKernel, pick, rule_argmax, min)
RECIPE(topk, TC_PICK, TcPickKernel, pick, rule_topk, topk)

RECIPE(layer_norm, TC_NORM, TcNormKernel, norm, rule_normalisation, layer_norm)
RECIPE(rms_norm, TC_NORM, TcNormKernel, norm, rule_rms_norm, rms_norm)
RECIPE(batch_norm, TC_NORM, TcNormKernel, norm, rule_normalisation, batch_norm)

RECIPE(matmul, TC_MATMUL, TcMatmulKernel, matmul, rule_matmul, matmul)
RECIPE(addmm, TC_MATMUL, TcMatmulKernel, matmul, rule_matmul, matmul)
RECIPE(linear, TC_LINEAR, TcMatmulKernel, matmul, rule_matmul, matmul)
RECIPE(mv, TC_MV, TcMatmulKernel, matmul, rule_mv, mv)
RECIPE(bmm, TC_BMM, TcBmmKernel, bmm, rule_bmm, bmm)

/* ── oneDNN ──────────────────────────────────────────────────────────────────────────────────── */

/* What torch does not give to oneDNN is ATen's: all, where torch.backends.mkldnn is off, and a
 * transposed matrix. One number is, too, but alone it must not admit the others. */
static TcRule rule_onednn(TcIsa set, const TcCase *whole) {
  bool onednn = tc__isa_runs(set) && tc__wheel_math.context && tc__wheel_math.onednn_enabled &&
                tc__wheel_math.onednn_enabled(tc__wheel_math.context());
  bool contiguous = !whole->transposed || whole->rows <= 1 || whole->cols <= 1;
  return onednn && contiguous ? any_blocks : not_exact;
}

static inline void one_or_more(TcMap1 *onednn, const float *x, float *out, int64_t n,
                               const TcPlace *at) {
  if (at->total == 1 && n == 1)
    *out = *x * 0.5f * (1.0f + tc__wheel_math.scalar_erf(*x * 0x1.6a09e6p-1f));
  else
    onednn(x, out, n, at);
}

/* Which set oneDNN's code is for follows the CPU and ONEDNN_MAX_CPU_ISA, not ATen's set: a variant
 * for each, whatever that is. another: the next one, or NULL. */
#define GELU(recipe_name, SET, kernel_name, another)                                               \
  static TcRule rule_##recipe_name(TcIsa isa, const TcCase *whole) {                               \
    (void)isa;                                                                                     \
    return rule_onednn(TC_ISA_##SET, whole);                                                       \
  }                                                                                                \
  IF_##SET(extern TcMap1 kernel_name;                                                              \
           static void recipe_name(const float *x, float *out, int64_t n, const TcPlace *at) {     \
             one_or_more(kernel_name, x, out, n, at);                                              \
           }) TC_RECIPE(recipe_name);                                                              \
  const TcRecipe tc_recipe_##recipe_name = {                                                       \
      .name = #recipe_name,                                                                        \
      .class = TC_MAP1,                                                                            \
      .rule = rule_##recipe_name,                                                                  \
      .kernel = {{.map1 = SET(recipe_name)},                                                       \
                 {.map1 = SET(recipe_name)},                                                       \
                 {.map1 = SET(recipe_name)}},                                                      \
      .next = another,                                                                             \
  };

GELU(gelu_on_avx2, AVX2, tc__gelu_by_exp_avx2, NULL)
GELU(gelu, AVX512, tc__gelu_by_table_avx512, &tc_recipe_gelu_on_avx2)

/* One sample of up to so many numbers is no case for oneDNN: ConvParams::use_mkldnn of
 * aten/src/ATen/native/Convolution.cpp. */
enum { MOST_NOT_ONEDNN = 20480 };

static TcRule rule_conv1d_columns(TcIsa isa, const TcCase *whole) {
  const TcConv *c = whole->conv;
  (void)isa;
  TcRule rule = one_block;
  if (!c || c->batch != 1 || c->channels < 1 || c->filters < 1 || c->width < 1 ||
      c->out_length < 1 || c->channels * c->length > MOST_NOT_ONEDNN || !tc__wheel_math.sgemm)
    return not_exact;
  rule.pack_elems = c->channels * c->width * c->out_length;
  return rule;
}

/* A filter of width 1, long steps, large sizes and more padding than a filter reaches over or than
 * places are computed at once are other kernels of oneDNN's. */
static TcRule rule_conv1d(TcIsa isa, const TcCase *whole) {
  enum { MOST = 256, PLACES = 3 };
  const TcConv *c = whole->conv;
  TcRule onednn = rule_onednn(TC_ISA_AVX2, whole), columns = rule_conv1d_columns(isa, whole);
  if (columns.exact || !c || !onednn.exact)
    return onednn.exact ? columns : not_exact;
  bool small = c->channels <= MOST && c->filters <= MOST && c->length <= MOST && c->width <= 16 &&
               c->padding <= PLACES && c->padding <= c->out_length &&
               c->padding <= c->dilation * (c->width - 1);
  return c->batch > 1 && c->channels > 0 && c->filters > 0 && c->out_length > 0 && c->width > 1 &&
                 c->stride == 1 && small
             ? one_block
             : not_exact;
}

RECIPE(conv1d_columns, TC_CONV, TcConvKernel, conv, rule_conv1d_columns, conv1d_columns)
IF_AVX2(extern TcConvKernel tc__conv1d_avx2;)
TC_RECIPE(conv1d);
const TcRecipe tc_recipe_conv1d = {
    .name = "conv1d",
    .class = TC_CONV,
    .rule = rule_conv1d,
    .kernel = {{.conv = AVX2(tc__conv1d_avx2)},
               {.conv = AVX2(tc__conv1d_avx2)},
               {.conv = AVX2(tc__conv1d_avx2)}},
    .next = &tc_recipe_conv1d_columns,
};

#include "tf_recipes.inc"
