/* tc_internal.h: what the files of the runtime share. Generated code never sees it.
 *
 * All files are one compilation unit (tensorc_rt.c), so functions here are static. Each extension
 * module has its own copy of the runtime and of its state; what has to be shared by all modules of
 * a process is said where it is (shared.c).
 */
#ifndef TC_INTERNAL_H
#define TC_INTERNAL_H

#include "tensorc_rt.h"

/* Why a call runs Python, or why native code refuses it. */
typedef enum Reason {
  REASON_NONE,
  REASON_MODE,          /* mode fallback */
  REASON_CODE,          /* the Python function was given other code */
  REASON_COMPARE,       /* mode compare runs Python beside the native body */
  REASON_TYPE,          /* annotation broken: not a tensor, or no number where one is wanted */
  REASON_DEVICE,        /* annotation broken: device */
  REASON_DTYPE,         /* annotation broken: dtype */
  REASON_RANK,          /* annotation broken: rank */
  REASON_LAYOUT,        /* annotation broken: layout */
  REASON_SCALAR_TYPE,   /* a number of another type, with which Python might give another result */
  REASON_INT_RANGE,     /* an int beyond 64 bits */
  REASON_SUBCLASS,      /* a subclass of torch.Tensor, or what stands in for tensors */
  REASON_GRADIENTS,     /* grad mode is on and an input requires grad; a tape records an input */
  REASON_FORWARD_AD,    /* an input is a dual tensor */
  REASON_FUNCTORCH,     /* inside torch.func.grad, jvp or the like */
  REASON_TRACING,       /* inside torch.jit.trace, or in a graph of TensorFlow */
  REASON_FUNCTION_MODE, /* a TorchFunctionMode other than a default device */
  REASON_DEVICE_SCOPE,  /* inside tf.device */
  REASON_OP_CALLBACK,   /* TensorFlow op callbacks want to see each op */
  REASON_ASYNC,         /* TensorFlow ops of this thread run asynchronously */
  REASON_CONTEXT,       /* a tensor of another eager context */
  REASON_UNAVAILABLE,   /* the framework is missing, or lacks what we need of it */
  REASON_ERROR, /* the native body raised: Python repeats the call, for its own value or error */
  N_REASONS
} Reason;

/* What a state lets run. */
typedef enum Verdict {
  VERDICT_PLAIN,   /* recipes, and kernels past the dispatcher */
  VERDICT_LIBRARY, /* only ops through the dispatcher: it knows what to do */
  VERDICT_REFUSED, /* not natively; *reason and a Python exception say why */
  VERDICT_FAILED,  /* asking failed: a Python exception that is not ours */
} Verdict;

/* What this thread knows. Freed when the thread ends. */
typedef struct Thread {
  uint64_t *dispatch_keys; /* torch's {included, excluded} words of this thread, NULL before the
                              first look */
  uint8_t *last_body;      /* per callable: a Body, 0 before its first call in this thread */
  size_t n_last_body;
  struct TfThread *tf; /* NULL before its first call of the TensorFlow lane */
} Thread;

/* Everything about one call in progress; lives on the stack of call.c. */
struct TcCall {
  const TcFunc *func;
  Thread *thread;
  PyThreadState *released; /* what PyEval_SaveThread gave; NULL while this thread holds the GIL */
  uint64_t yielded_ns;   /* when another thread last had a chance to run; 0 before the first look */
  uint64_t hand_over_ns; /* for how long a loop keeps the GIL */
  uint32_t n_turns;      /* of loops, so far */
  bool plain;            /* no state or input that a kernel called past the dispatcher would miss */
  bool replay;           /* run each op as torch's own Python function, for its exceptions */
  bool interrupted;      /* a signal handler raised: that exception is the caller's */
  bool op_failed;        /* a kernel failed; which error eager gives is not known yet */
  PyObject *printed;     /* text that the body printed and nobody has seen yet, or NULL */
  struct Block *block;   /* recipes may run, on these rows; NULL: all operations run by the wheel */
};

/* Whether the body runs on one of several blocks of rows, perhaps on another thread: what would
 * raise then just fails, and the batch is run whole. */
static bool in_blocks(const TcCall *tc);

/* The module's own settings; set when it is imported. */
static const TcModuleInfo *module_info;

/* Takes the GIL back for the rest of the call; no-op when it is held. */
static void gil_take(TcCall *tc) {
  if (!tc->released)
    return;
  PyEval_RestoreThread(tc->released);
  tc->released = NULL;
}

/* Reaching one of these is a bug of ours: an exception rather than a crash in somebody's service.
 */
static bool raise_internal(TcCall *tc, const char *what) {
  gil_take(tc);
  PyErr_Format(PyExc_SystemError, "tensorc: internal error in %s: %s", tc->func->name, what);
  return false;
}

#endif
