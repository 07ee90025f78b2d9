/* rules.h: which sizes a recipe is exact for, where both the rule (recipes.c) and the kernel
 * (matmul.inc) have to know. */
#ifndef TC_RULES_H
#define TC_RULES_H

#include "kernel.h"

enum {
  TC_MOST_THREADS = 256,   /* recipes that copy a split over threads keep its parts on the stack */
  TC_GRAIN = 32768,        /* at::internal::GRAIN_SIZE: the fewest elements for a second thread */
  TC_MOST_RANKED = 2048,   /* columns of topk: a row of it is kept on the stack */
  TC_MOST_INT = INT32_MAX, /* sizes for BLAS */
  TC_MOST_PLAIN = 512,     /* summands of a chain of bmm that is not cut: a strip of w is copied */
  TC_MOST_PIECE_K = 1024,  /* summands of a piece of TensorFlow's: a column of w is copied */
};

#endif
