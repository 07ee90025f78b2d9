/* lane.h: what a call needs of a framework. One object for each: torch_lane.c, tf_lane.c; and one
 * for functions that touch no framework: scalar_lane. Nothing behind this file asks which it is.
 */

/* Which numbers count as an int or a float. */
typedef enum Strictness {
  STRICT_EXACT,  /* the annotated type only, and bool for int where the results are the same */
  STRICT_NATIVE, /* everything that can be converted without loss of meaning: mode native */
} Strictness;

typedef enum Mode { MODE_AUTO, MODE_NATIVE, MODE_FALLBACK, MODE_COMPARE, N_MODES } Mode;

/* One per parameter. */
typedef struct ArgSlot {
  PyObject *object; /* borrowed from the caller, or held */
  void *pin;        /* a handle of our own, while another thread may run; NULL mostly */
  bool held;        /* object came from the defaults, which may be replaced while we run */
} ArgSlot;

/* A call that may run natively. */
typedef struct Plan {
  TcCall tc;
  const struct Lane *lane;
  TcValue *values;
  ArgSlot *slots;
  bool grad_off;    /* grad mode is on and has to be off */
  bool release_gil; /* enough work for another thread to profit */
} Plan;

/* Input elements from which a body counts as long: about 10 µs of work on top of dispatch. */
enum { LONG_BODY_ELEMS = 16384 };

typedef enum Outcome {
  OUTCOME_OK,
  OUTCOME_REFUSED, /* *reason, and the exception of mode native */
  OUTCOME_ABORT,   /* an exception that goes straight to the caller */
} Outcome;

typedef struct Lane {
  const char *name;   /* of the file of verdicts */
  const char *plugin; /* in messages */

  /* ── a call ── */
  /* Finds the framework and makes this thread ready. False: *problem says why not, or an exception
   * that goes straight to the caller is set. */
  bool (*enter)(const char **problem);
  /* Arguments and state, in the order that the framework wants. */
  Outcome (*prepare)(Plan *plan, Mode mode, Reason *reason);
  /* Into value->tensor.handle and origin. False: an exception is set. *plain is left as it is, or
   * made false. */
  bool (*take_tensor)(const TcFunc *func, const TcParam *param, PyObject *object, TcValue *value,
                      void **pin, bool *plain, Reason *reason);
  /* Around a body, with the GIL. */
  void (*body_enter)(const Plan *plan);
  void (*body_leave)(const Plan *plan);
  /* Before the GIL is released: handles that no other thread can drop. False: no memory. NULL:
   * they need none. */
  bool (*pin)(Plan *plan);
  bool replays; /* what a failed operation would have raised is found by TcCall.replay */
  /* The result's object; consumes the tensor. NULL with an exception. */
  PyObject *(*give_tensor)(TcCall *tc, TcTensor *tensor);

  /* ── recipes ── */
  /* Whether this process can run recipes at all. Leaves the kernels that it then has to use. */
  bool (*load)(TcIsa *isa);
  /* The framework's own count, which decides how eager would split the work. At least 1. */
  int (*threads)(void);
  /* Whether matrix products are IEEE now. */
  bool (*is_ieee)(void);
  /* The memory of a tensor of a known rank and dtype that is plain, into var->data, sizes and rank.
   * False: it has gaps. */
  bool (*look)(const TcCall *tc, TcTensor *var, int rank, TcDType dtype);
  /* A tensor that lies over, or has a copy of, var's memory: floats of var's sizes. NULL: no
   * memory. */
  void *(*tensor_over)(const TcTensor *var);
  /* An uninitialized tensor with var's sizes, rank and layout, into var->handle and data. False: no
   * memory. */
  bool (*tensor_new)(TcTensor *var, TcDType dtype);
  /* Whether the variable's handle is the only one of its tensor. NULL: that can't be told. */
  bool (*is_sole)(const TcTensor *var);
  /* Runs pieces of [from, to) on up to `workers` threads, the framework's or ours. False: it
   * failed. */
  bool (*parallel)(int workers, int64_t from, int64_t to,
                   void (*run)(int64_t from, int64_t to, void *state), void *state);
  bool flushes; /* its kernels take denormals for zero */
  /* For admission: the memory of a tensor that an operation gave; an address inside the image that
   * has the kernels. */
  const void *(*tensor_data)(void *handle);
  const void *(*witness)(void);

  enum { RECIPES_UNKNOWN, RECIPES_READY, RECIPES_UNAVAILABLE } status;
  TcIsa isa; /* once they are READY */
  VerdictFile verdicts;
} Lane;

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
static inline unsigned kernel_enter(const Lane *lane) { return lane->flushes ? flush_enter() : 0; }
static inline void kernel_leave(const Lane *lane, unsigned before) {
  if (lane->flushes)
    flush_leave(before);
}
