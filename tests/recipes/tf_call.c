/* tf_call.c: calls kernels as the body of a TensorFlow function does, with denormals off
 * (MXCSR |= FTZ | DAZ), and times them. For tf_kernels.py. */
#define _GNU_SOURCE
#include "kernel.h"

#include <immintrin.h>
#include <time.h>

enum { FTZ_DAZ = 0x8040 };

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* calls > 0: nanoseconds per call, the least of 30 rounds. 0: one call. */
#define CALL(call)                                                                                 \
  double least = 1e300;                                                                            \
  unsigned before = _mm_getcsr();                                                                  \
  _mm_setcsr(before | FTZ_DAZ);                                                                    \
  if (calls == 0)                                                                                  \
    call;                                                                                          \
  for (int round = 0; calls > 0 && round < 30; round++) {                                          \
    double start = now_ns();                                                                       \
    for (int i = 0; i < calls; i++)                                                                \
      call;                                                                                        \
    double each = (now_ns() - start) / calls;                                                      \
    if (each < least)                                                                              \
      least = each;                                                                                \
  }                                                                                                \
  _mm_setcsr(before);                                                                              \
  return least;

double call_map1(TcMap1 *f, const float *x, float *out, int64_t n, const TcPlace *at, int calls);
double call_map1(TcMap1 *f, const float *x, float *out, int64_t n, const TcPlace *at, int calls) {
  CALL(f(x, out, n, at))
}

double call_map2(TcMap2 *f, TcOperand a, TcOperand b, float *out, int64_t m, int64_t n, int calls);
double call_map2(TcMap2 *f, TcOperand a, TcOperand b, float *out, int64_t m, int64_t n, int calls) {
  CALL(f(a, b, out, m, n))
}

double call_along(TcAlong *f, const float *x, void *out, int64_t m, int64_t n, TcAxis axis,
                  const TcPlace *at, int calls);
double call_along(TcAlong *f, const float *x, void *out, int64_t m, int64_t n, TcAxis axis,
                  const TcPlace *at, int calls) {
  CALL(f(x, out, m, n, axis, at))
}

double call_matmul(TcMatmulKernel *f, const TcMatmul *mm, const TcPlace *at, int calls);
double call_matmul(TcMatmulKernel *f, const TcMatmul *mm, const TcPlace *at, int calls) {
  CALL(f(mm, at))
}

double call_transpose(TcTranspose *f, const float *x, float *out, int64_t m, int64_t n, int calls);
double call_transpose(TcTranspose *f, const float *x, float *out, int64_t m, int64_t n, int calls) {
  CALL(f(x, out, m, n))
}

/* As many tensors of `n` elements, one after the other. */
void call_each_map1(TcMap1 *f, const float *x, float *out, int64_t n, int64_t tensors);
void call_each_map1(TcMap1 *f, const float *x, float *out, int64_t n, int64_t tensors) {
  TcPlace at = {0, n, 1};
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | FTZ_DAZ);
  for (int64_t i = 0; i < tensors; i++)
    f(x + i * n, out + i * n, n, &at);
  _mm_setcsr(before);
}

/* The wheel's own loop for [first, last) of a tensor, as Eigen's thread pool is given it. */
typedef void Range(void *const *evaluator, const int64_t *first, const int64_t *last);

/* As many ranges of `n` < 8 elements: what the loop does with each is what it does with a tail. */
void call_each_range(Range *f, const float *x, float *out, int64_t n, int64_t tensors);
void call_each_range(Range *f, const float *x, float *out, int64_t n, int64_t tensors) {
  const void *words[16] = {[0] = out, [5] = x}; /* relu's maximum with 0: the rest */
  void *evaluator = words;
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | FTZ_DAZ);
  for (int64_t i = 0; i < tensors; i++) {
    int64_t first = i * n, last = first + n;
    f(&evaluator, &first, &last);
  }
  _mm_setcsr(before);
}
