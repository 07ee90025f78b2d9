/* rules.h: which sizes a recipe is exact for, where both the rule (recipes.c) and the kernel
 * (matmul.inc) have to know. */
#ifndef TC_RULES_H
#define TC_RULES_H

#include "kernel.h"

enum {
  TC_MOST_THREADS = 256,   /* recipes that copy a split over threads keep its parts on the stack */
  TC_MOST_K = 768,         /* up to here MKL's sgemm_ adds up each element in at most two chains */
  TC_ONE_CHAIN_K = 384,    /* up to here in one */
  TC_MOST_INT = INT32_MAX, /* sizes for BLAS */
};

/* Whether each element of x [m, k] @ w [k, n] is, in the wheel, one chain of fused multiply-adds
 * along k from zero for each block of k, where the chains are added in order to the bias (or the
 * first one is the result so far). x_elems: m × k of the whole call. Measured, not documented, for
 * MKL 2024.2 (tests/recipes): fewer than 16 rows against a transposed w take other kernels. From
 * three threads on, MKL may give a thread part of k, or so few columns of a transposed w that it
 * takes such a kernel, unless the whole is too small to split. */
static inline bool matmul_is_chains(int64_t x_elems, int64_t k, int64_t n, bool bias,
                                    bool transposed, int threads) {
  int64_t fewest = bias || transposed ? 16 : 2;
  if (k < 2 || k > TC_MOST_K || n < 2 || x_elems < fewest * k)
    return false;
  if (threads <= 2 || x_elems <= 65536 / n)
    return true;
  return k <= 256 && (!transposed || n < 16 || n % 16 == 0 || n % 16 >= 8);
}

#endif
