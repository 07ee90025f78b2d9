/* timing.c: nanoseconds per call of one kernel, for timing.py: the least of several rounds. */
#define _GNU_SOURCE
#include "kernel.h"

#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define LEAST_OF_ROUNDS(call)                                                                      \
  double least = 1e300;                                                                            \
  for (int round = 0; round < 30; round++) {                                                       \
    double start = now_ns();                                                                       \
    for (int i = 0; i < calls; i++)                                                                \
      call;                                                                                        \
    double each = (now_ns() - start) / calls;                                                      \
    if (each < least)                                                                              \
      least = each;                                                                                \
  }                                                                                                \
  return least;

double time_map1(TcMap1 *f, const float *x, float *out, int64_t n, int calls);
double time_map1(TcMap1 *f, const float *x, float *out, int64_t n, int calls) {
  TcPlace at = {0, n, 1};
  LEAST_OF_ROUNDS(f(x, out, n, &at))
}

double time_map2(TcMap2 *f, TcOperand a, TcOperand b, float *out, int64_t m, int64_t n, int calls);
double time_map2(TcMap2 *f, TcOperand a, TcOperand b, float *out, int64_t m, int64_t n, int calls) {
  LEAST_OF_ROUNDS(f(a, b, out, m, n))
}

double time_along(TcAlong *f, const float *x, void *out, int64_t m, int64_t n, TcAxis axis,
                  int calls);
double time_along(TcAlong *f, const float *x, void *out, int64_t m, int64_t n, TcAxis axis,
                  int calls) {
  TcPlace at = {0, m * n, 1};
  LEAST_OF_ROUNDS(f(x, out, m, n, axis, &at))
}

/* pack: NULL to leave packing out. */
typedef void Pack(const float *w, float *packed, int64_t k, int64_t n, bool transposed);
double time_matmul(TcMatmulKernel *f, Pack *pack, const TcMatmul *mm, int calls);
double time_matmul(TcMatmulKernel *f, Pack *pack, const TcMatmul *mm, int calls) {
  TcPlace at = {0, mm->m * mm->k, 1};
  if (!pack) {
    LEAST_OF_ROUNDS(f(mm, &at))
  }
  LEAST_OF_ROUNDS((pack(mm->w, (float *)mm->packed, mm->k, mm->n, mm->transposed), f(mm, &at)))
}
