/* ways.h: what the files share that say how a node of a graph can come about. */
#ifndef TENSORC_WAYS_H
#define TENSORC_WAYS_H

#include "tensorc.h"

enum { MOST_PLACED = 32768 }; /* elements from which torch splits a loop over threads */

static inline bool no(Home *home, const char *why) {
  home->why = why;
  return false;
}

static inline bool is_floating(DType dtype) { return dtype == DTYPE_F32 || dtype == DTYPE_F64; }

/* fits.c: whether the operation of the node's row has a recipe that fits the node. */
bool recipe_fits(Arena *arena, const Ir *ir, Home *home);

/* batches.c: products that eager makes of bmm. */
bool bmm_fits(Arena *arena, const Ir *ir, Home *home);
bool matmul_batch_fits(Arena *arena, const Ir *ir, Home *home);
bool einsum_fits(Arena *arena, const Ir *ir, Home *home);
/* A node that copies the operand's elements side by side. */
Ir *copied(Arena *arena, Ir *operand);

#endif
