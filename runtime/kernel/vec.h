/* vec.h: one vector of floats and what recipes do with it, per instruction set. Included by
 * kernels.c only.
 *
 * V is W floats, where W is the width of ATen's own vectors for that set: recipes depend on it.
 * GCC's vector extensions give
 * + - * / (one IEEE operation per lane, nothing contracted); what they lack is here, as v_
 * functions. A set is a block below: to add one (NEON: W = 4, float32x4_t, vfmaq_f32), write its
 * block and one more compile line in kernels.c.
 *
 * V_HAS_FMA: v_fma is one instruction. Without it there is no v_fma, and recipes that need one take
 * another way.
 */
#ifndef TC_VEC_H
#define TC_VEC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernel.h"

#ifdef __SSE__
#include <immintrin.h>
#endif

/* Of a loop over an array that has to stay in registers. */
#define UNROLL _Pragma("GCC unroll 16")
#define V_INLINE static inline __attribute__((always_inline, unused))

#if defined V_AVX512
enum { W = 16 };
#elif defined V_AVX2 || defined V_BASELINE
enum { W = 8 };
#else
#error "define one of V_BASELINE, V_AVX2, V_AVX512"
#endif

typedef float V __attribute__((vector_size(4 * W)));
typedef int32_t VI __attribute__((vector_size(4 * W)));
typedef float V8 __attribute__((vector_size(32))); /* eight lanes in every set: sums need them */

typedef float V_unaligned __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef float V8_unaligned __attribute__((vector_size(32), aligned(4), may_alias));

V_INLINE V v_load(const float *p) { return *(const V_unaligned *)p; }
V_INLINE void v_store(float *p, V x) { *(V_unaligned *)p = x; }
V_INLINE V8 v8_load(const float *p) { return *(const V8_unaligned *)p; }
V_INLINE void v8_store(float *p, V8 x) { *(V8_unaligned *)p = x; }

/* ── AVX-512: masks are bits ─────────────────────────────────────────────────────────────────── */
#if defined V_AVX512

#define V_HAS_FMA 1
typedef __mmask16 VM;

V_INLINE V v_set1(float x) { return _mm512_set1_ps(x); }
V_INLINE VM v_first(int64_t n) {
  return (VM)_bzhi_u32(0xffff, (unsigned)n);
} /* the first n lanes, 0 <= n <= W */
V_INLINE V v_load_n(const float *p, int64_t n) {
  return _mm512_maskz_loadu_ps(v_first(n), p);
} /* others 0 */
V_INLINE void v_store_n(float *p, V x, int64_t n) { _mm512_mask_storeu_ps(p, v_first(n), x); }
V_INLINE V v_select(VM m, V yes, V no) { return _mm512_mask_blend_ps(m, no, yes); }
V_INLINE VM v_lt(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
V_INLINE VM v_le(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
V_INLINE VM v_eq(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
V_INLINE VM v_unordered(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }
V_INLINE VM v_or(VM a, VM b) { return (VM)(a | b); }
V_INLINE unsigned v_bits(VM m) { return m; } /* lane i in bit i */
V_INLINE V v_sqrt(V x) { return _mm512_sqrt_ps(x); }
V_INLINE V v_fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
V_INLINE V v_round(V x) {
  return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
V_INLINE V v_floor(V x) {
  return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
V_INLINE VI v_to_int(V x) { return (VI)_mm512_cvttps_epi32(x); }
V_INLINE V v_power_of_2(V e) {
  return (V)((v_to_int(e) + 0x7f) << 23);
} /* e integral, -126 … 127 */
/* table[i], 0 <= i < 32; the table is 64-byte aligned */
V_INLINE V v_lookup(const float table[32], VI i) {
  return _mm512_permutex2var_ps(_mm512_load_ps(table), (__m512i)i, _mm512_load_ps(table + 16));
}
V_INLINE V v_max_number(V a, V b) { return _mm512_max_ps(a, b); } /* b where either is NaN */
/* x * 2^e, e integral: one rounding, also into the denormals. */
V_INLINE V v_scale(V x, V e) { return _mm512_scalef_ps(x, e); }

/* The sum of all lanes as vec::vec_reduce_all takes it: halves folded 16 → 8 → 4 → 2 → 1. */
V_INLINE float v_sum_lanes(V x) {
  x += (V)_mm512_shuffle_f32x4(x, x, 0x4e);
  x += (V)_mm512_shuffle_f32x4(x, x, 0xb1);
  x += (V)_mm512_shuffle_ps(x, x, 0x4e);
  x += (V)_mm512_shuffle_ps(x, x, 0xb1);
  return _mm512_cvtss_f32(x);
}

V_INLINE float v_max_lanes(V x) { /* of numbers: with a NaN in it, any of them */
  x = v_max_number(x, _mm512_shuffle_f32x4(x, x, 0x4e));
  x = v_max_number(x, _mm512_shuffle_f32x4(x, x, 0xb1));
  x = v_max_number(x, _mm512_shuffle_ps(x, x, 0x4e));
  return _mm512_cvtss_f32(v_max_number(x, _mm512_shuffle_ps(x, x, 0xb1)));
}

/* x[i] = column i of W rows at p, `step` floats apart, of which W columns are read. Quarters of
 * four rows are put together by the loads, then each 4 × 4 in 128 bits is turned: half the shuffles
 * of v_transpose. */
V_INLINE void v_load_columns(const float *p, int64_t step, V x[W]) {
  UNROLL for (int g = 0; g < 4; g++) {
    V row[4];
    UNROLL for (int i = 0; i < 4; i++) {
      const float *q = p + i * step + 4 * g;
      V v = _mm512_castps128_ps512(_mm_loadu_ps(q));
      v = _mm512_insertf32x4(v, _mm_loadu_ps(q + 4 * step), 1);
      v = _mm512_insertf32x4(v, _mm_loadu_ps(q + 8 * step), 2);
      row[i] = _mm512_insertf32x4(v, _mm_loadu_ps(q + 12 * step), 3);
    }
    __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(row[0], row[1]));
    __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(row[0], row[1]));
    __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(row[2], row[3]));
    __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(row[2], row[3]));
    x[4 * g] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    x[4 * g + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    x[4 * g + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    x[4 * g + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  }
}

/* The 16 × 16 matrix in x, transposed in place. */
V_INLINE void v_transpose(V x[W]) {
  V t[W];
  UNROLL for (int i = 0; i < W; i += 2) {
    t[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
  }
  UNROLL for (int i = 0; i < W; i += 4) UNROLL for (int j = 0; j < 2; j++) {
    __m512d lo = _mm512_castps_pd(t[i + j]), hi = _mm512_castps_pd(t[i + j + 2]);
    x[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(lo, hi));
    x[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(lo, hi));
  }
  UNROLL for (int i = 0; i < 4;
              i++) { /* x[4g + i]: column 4q + i of rows 4g … 4g + 3 in 128-bit quarter q */
    t[i] = _mm512_shuffle_f32x4(x[i], x[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_f32x4(x[i], x[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0xdd);
  }
  UNROLL for (int i = 0; i < 4; i++) {
    x[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
    x[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
    x[i + 4] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88);
    x[i + 12] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

#else

/* ── the others: a mask is a vector of 0 and -1 ──────────────────────────────────────────────── */

typedef VI VM;

V_INLINE V v_select(VM m, V yes, V no) { return (V)((m & (VI)yes) | (~m & (VI)no)); }
V_INLINE VM v_lt(V a, V b) { return a < b; }
V_INLINE VM v_le(V a, V b) { return a <= b; }
V_INLINE VM v_eq(V a, V b) { return a == b; }
V_INLINE VM v_or(VM a, VM b) { return a | b; }
V_INLINE VM v_first(int64_t n) {
  int32_t k = (int32_t)n;
  return (VI){0, 1, 2, 3, 4, 5, 6, 7} < (VI){k, k, k, k, k, k, k, k};
}

#if defined V_AVX2

#define V_HAS_FMA 1

V_INLINE V v_set1(float x) { return _mm256_set1_ps(x); }
V_INLINE V v_load_n(const float *p, int64_t n) {
  return _mm256_maskload_ps(p, (__m256i)v_first(n));
}
V_INLINE void v_store_n(float *p, V x, int64_t n) {
  _mm256_maskstore_ps(p, (__m256i)v_first(n), x);
}
V_INLINE VM v_unordered(V a, V b) { return (VM)_mm256_cmp_ps(a, b, _CMP_UNORD_Q); }
V_INLINE unsigned v_bits(VM m) { return (unsigned)_mm256_movemask_ps((V)m); }
V_INLINE V v_sqrt(V x) { return _mm256_sqrt_ps(x); }
V_INLINE V v_fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
V_INLINE V v_round(V x) {
  return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
V_INLINE V v_floor(V x) { return _mm256_floor_ps(x); }
V_INLINE VI v_to_int(V x) { return (VI)_mm256_cvttps_epi32(x); }
V_INLINE V v_power_of_2(V e) { return (V)((v_to_int(e) + 0x7f) << 23); }
V_INLINE V v_lookup(const float table[32], VI i) {
  return _mm256_i32gather_ps(table, (__m256i)i, sizeof *table);
}
V_INLINE V v_max_number(V a, V b) { return _mm256_max_ps(a, b); }

/* x * 2^e in two steps, as Sleef's vldexp2: the halves of e always make a normal number. */
V_INLINE V v_scale(V x, V e) {
  VI q = (VI)_mm256_cvtps_epi32(e), half = q >> 1;
  return x * (V)((half + 0x7f) << 23) * (V)((q - half + 0x7f) << 23);
}

V_INLINE float v_sum_lanes(V x) {
  x += (V)_mm256_permute2f128_ps(x, x, 1);
  x += (V)_mm256_shuffle_ps(x, x, 0x4e);
  x += (V)_mm256_shuffle_ps(x, x, 0xb1);
  return _mm256_cvtss_f32(x);
}

V_INLINE float v_max_lanes(V x) {
  x = v_max_number(x, _mm256_permute2f128_ps(x, x, 1));
  x = v_max_number(x, _mm256_shuffle_ps(x, x, 0x4e));
  return _mm256_cvtss_f32(v_max_number(x, _mm256_shuffle_ps(x, x, 0xb1)));
}

V_INLINE void v_load_columns(const float *p, int64_t step, V x[W]) {
  UNROLL for (int g = 0; g < 2; g++) {
    V row[4], t[4];
    UNROLL for (int i = 0; i < 4; i++) {
      const float *q = p + i * step + 4 * g;
      row[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(q)),
                                    _mm_loadu_ps(q + 4 * step), 1);
    }
    t[0] = _mm256_unpacklo_ps(row[0], row[1]);
    t[1] = _mm256_unpackhi_ps(row[0], row[1]);
    t[2] = _mm256_unpacklo_ps(row[2], row[3]);
    t[3] = _mm256_unpackhi_ps(row[2], row[3]);
    UNROLL for (int j = 0; j < 2; j++) {
      x[4 * g + 2 * j] = _mm256_shuffle_ps(t[j], t[j + 2], 0x44);
      x[4 * g + 2 * j + 1] = _mm256_shuffle_ps(t[j], t[j + 2], 0xee);
    }
  }
}

V_INLINE void v_transpose(V x[W]) {
  V t[W];
  UNROLL for (int i = 0; i < W; i += 2) {
    t[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
  }
  UNROLL for (int i = 0; i < W; i += 4) UNROLL for (int j = 0; j < 2; j++) {
    x[i + 2 * j] = _mm256_shuffle_ps(t[i + j], t[i + j + 2], 0x44);
    x[i + 2 * j + 1] = _mm256_shuffle_ps(t[i + j], t[i + j + 2], 0xee);
  }
  UNROLL for (int i = 0; i < 4; i++) {
    V lo = x[i], hi = x[i + 4];
    x[i] = _mm256_permute2f128_ps(lo, hi, 0x20);
    x[i + 4] = _mm256_permute2f128_ps(lo, hi, 0x31);
  }
}

#else /* baseline: ATen's plain C++ vectors of 8, one lane after the other */

V_INLINE V v_set1(float x) { return (V){x, x, x, x, x, x, x, x}; }
V_INLINE V v_load_n(const float *p, int64_t n) {
  float t[W] = {0};
  for (int64_t i = 0; i < n; i++)
    t[i] = p[i];
  return v_load(t);
}
V_INLINE void v_store_n(float *p, V x, int64_t n) {
  for (int i = 0; i < n; i++)
    p[i] = x[i];
}
V_INLINE VM v_unordered(V a, V b) { return (a != a) | (b != b); }
V_INLINE unsigned v_bits(VM m) {
  unsigned bits = 0;
  for (int i = 0; i < W; i++)
    bits |= (unsigned)(m[i] & 1) << i;
  return bits;
}
V_INLINE V v_sqrt(V x) {
  for (int i = 0; i < W; i++)
    x[i] = sqrtf(x[i]);
  return x;
}
V_INLINE V v_max_number(V a, V b) { return v_select(b < a, a, b); }

V_INLINE float v_sum_lanes(V x) {
  float sum = x[0];
  for (int i = 1; i < W; i++)
    sum += x[i];
  return sum;
}

V_INLINE float v_max_lanes(V x) {
  float top = x[0];
  for (int i = 1; i < W; i++)
    top = x[i] > top ? x[i] : top;
  return top;
}

V_INLINE void v_transpose(V x[W]) {
  for (int i = 0; i < W; i++)
    for (int j = 0; j < i; j++) {
      float t = x[i][j];
      x[i][j] = x[j][i];
      x[j][i] = t;
    }
}

#endif
#endif

/* ── the same for all ────────────────────────────────────────────────────────────────────────── */

#define v_one v_set1(1.0f)
#define v_zero v_set1(0.0f)
V_INLINE V v_add(V a, V b) { return a + b; }
V_INLINE V v_sub(V a, V b) { return a - b; }
V_INLINE V v_mul(V a, V b) { return a * b; }
V_INLINE V v_div(V a, V b) { return a / b; }
V_INLINE V v_abs(V x) { return (V)((VI)x & 0x7fffffff); }
V_INLINE V v_neg(V x) { return (V)((VI)x ^ (int32_t)0x80000000); }
V_INLINE V v_flip(V x, V sign) { return (V)((VI)x ^ ((VI)sign & (int32_t)0x80000000)); }

/* The greater one; NaN where either is: at::vec::maximum. */
V_INLINE V v_max(V a, V b) { return v_select(v_unordered(a, b), v_set1(NAN), v_max_number(a, b)); }

/* Of one float as the wheel's scalar code has it: the C library's. */
V_INLINE float scalar_exp(float x) { return tc__wheel_math.scalar_exp(x); }
V_INLINE float scalar_log(float x) { return tc__wheel_math.scalar_log(x); }
V_INLINE float scalar_tanh(float x) { return tc__wheel_math.scalar_tanh(x); }

/* e^x as the wheel's vectors have it: Sleef_expf16_u10, Sleef_expf8_u10 (sleefsimdsp.c, xexpf),
 * written out so that it is inlined; checked against them over all 2^32 floats. ATen's plain
 * vectors call expf for each lane. */
V_INLINE V v_exp(V x) {
#ifdef V_HAS_FMA
  V q = v_round(x * v_set1(0x1.715476p+0f)); /* 1 / ln 2 */
  V s = v_fma(q, v_set1(-0x1.62e4p-1f), x);  /* ln 2, upper and lower part */
  s = v_fma(q, v_set1(-0x1.7f7d1cp-20f), s);
  V u = v_set1(0.000198527617612853646278381f);
  u = v_fma(u, s, v_set1(0.00139304355252534151077271f));
  u = v_fma(u, s, v_set1(0.00833336077630519866943359f));
  u = v_fma(u, s, v_set1(0.0416664853692054748535156f));
  u = v_fma(u, s, v_set1(0.166666671633720397949219f));
  u = v_fma(u, s, v_set1(0.5f));
  u = v_one + v_fma(s * s, u, s);
  u = v_scale(u, q);
  u = v_select(v_lt(x, v_set1(-104.0f)), v_zero, u);
  return v_select(v_lt(v_set1(100.0f), x), v_set1(INFINITY), u);
#else
  for (int i = 0; i < W; i++)
    x[i] = scalar_exp(x[i]);
  return x;
#endif
}

#endif
