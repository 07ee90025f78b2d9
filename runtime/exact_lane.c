/* exact_lane.c: what the exact body needs of a framework, and the mode that its kernels run in. */

/* What the exact body needs of a framework: one for each (torch_exact.c, tf_exact.c). */
typedef struct ExactLane {
  /* Whether this process can run exact bodies at all. Leaves the kernels that it then has to use.
   */
  bool (*load)(TcIsa *isa);
  /* The framework's own count, which decides how eager would split the work. At least 1. */
  int (*threads)(void);
  /* Every argument, tensors as blocks that borrow their memory. False: one is not contiguous. */
  bool (*take)(const TcCall *tc, const TcValue *args, TcValue *blocks);
  /* The result: a tensor of `rows` rows and the block's columns, and where its elements go. False:
   * no memory. */
  bool (*output_new)(const TcFunc *func, const TcBlock *block, int64_t rows, void **handle,
                     char **data);
  /* Runs pieces of [from, to) on up to `workers` threads, the framework's or ours. False: it
   * failed. */
  bool (*parallel)(int workers, int64_t from, int64_t to,
                   void (*run)(int64_t from, int64_t to, void *state), void *state);
  bool flushes; /* its kernels take denormals for zero */

  /* For admission: a tensor with these values, the memory of one, and the operation of a recipe by
   * the framework itself, which consumes its operands. bias: a matmul's third operand. dim: of a
   * recipe along one. */
  void *(*tensor_new)(const float *x, int64_t rows, int64_t cols, int rank);
  const void *(*tensor_data)(void *handle);
  bool (*run)(TcCall *tc, TcTensor *out, const TcOp *op, const TcUse *uses, int n, int dim);

  const char *name;             /* of the file of verdicts */
  const void *(*witness)(void); /* an address inside the image that has the kernels */

  enum { EXACT_UNKNOWN, EXACT_READY, EXACT_UNAVAILABLE } status;
  TcIsa isa; /* once it is READY */
  VerdictFile verdicts;
} ExactLane;

/* FTZ and DAZ on this thread; what was set before. Stands around kernels only: a function's own
 * arithmetic keeps denormals. Compilers move nothing over it: kernels are functions of other
 * units. */
static inline unsigned flush_enter(void) {
#if defined __x86_64__
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  return before;
#elif defined __aarch64__
  uint64_t before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  __asm__ volatile("msr fpcr, %0" : : "r"(before | 1u << 24));
  return (unsigned)before;
#else
  return 0;
#endif
}

static inline void flush_leave(unsigned before) {
#if defined __x86_64__
  _mm_setcsr(before);
#elif defined __aarch64__
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)before));
#else
  (void)before;
#endif
}

/* Whether this thread takes denormals for zero (torch.set_flush_denormal). */
static inline bool thread_flushes(void) {
#if defined __x86_64__
  return (_mm_getcsr() & 0x8040) != 0;
#elif defined __aarch64__
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return (mode & 1u << 24) != 0;
#else
  return false;
#endif
}

/* Around a kernel of the lane. */
static inline unsigned kernel_enter(const ExactLane *lane) {
  return lane->flushes ? flush_enter() : 0;
}
static inline void kernel_leave(const ExactLane *lane, unsigned before) {
  if (lane->flushes)
    flush_leave(before);
}
