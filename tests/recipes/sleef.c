/* sleef.c: v_exp of vec.h and the wheel's Sleef function side by side, for sweep.py. One set per build, as kernels.c. */
#if defined TC_ISA_AVX512
#define V_AVX512 1
#elif defined TC_ISA_AVX2
#define V_AVX2 1
#else
#define V_BASELINE 1
#endif
#include "vec.h"

void ours(const float *x, float *out, int64_t n);
void ours(const float *x, float *out, int64_t n) {
  for (int64_t i = 0; i + W <= n; i += W) v_store(out + i, v_exp(v_load(x + i)));
}

#ifdef V_HAS_FMA
void sleef(V (*exp_u10)(V), const float *x, float *out, int64_t n);
void sleef(V (*exp_u10)(V), const float *x, float *out, int64_t n) {
  for (int64_t i = 0; i + W <= n; i += W) v_store(out + i, exp_u10(v_load(x + i)));
}
#endif
