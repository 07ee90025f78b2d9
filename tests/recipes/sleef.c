/* sleef.c: v_exp of vec.h and the wheel's Sleef function side by side, for sweep.py. One set per
 * build, as kernels.c. */
#if defined TC_ISA_AVX512
#define V_AVX512 1
#else
#define V_AVX2 1
#endif
#undef TC_ISA_AVX512 /* in kernel.h they are numbers */
#undef TC_ISA_AVX2
#include "vec.h"

void ours(const float *x, float *out, int64_t n);
void ours(const float *x, float *out, int64_t n) {
  for (int64_t i = 0; i + W <= n; i += W)
    v_store(out + i, v_exp(v_load(x + i)));
}

void sleef(V (*exp_u10)(V), const float *x, float *out, int64_t n);
void sleef(V (*exp_u10)(V), const float *x, float *out, int64_t n) {
  for (int64_t i = 0; i + W <= n; i += W)
    v_store(out + i, exp_u10(v_load(x + i)));
}
