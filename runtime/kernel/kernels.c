/* kernels.c: the kernels of one instruction set. Compiled once per set, linked together with
 * recipes.c: python/tensorc/cc.py has the flags (KERNEL_FLAGS, X86_KERNELS).
 *
 * Never -ffast-math, nor anything else that lets the compiler change a result; never -march of the
 * build machine. recipes.c needs -DTC_WITHOUT_AVX2 or -DTC_WITHOUT_AVX512 where that set is left
 * out.
 */
#if defined TC_ISA_AVX512
#define V_AVX512 1
#define TC_SYMBOL(name) tc__##name##_avx512
#elif defined TC_ISA_AVX2
#define V_AVX2 1
#define TC_SYMBOL(name) tc__##name##_avx2
#else
#define V_BASELINE 1
#define TC_SYMBOL(name) tc__##name##_baseline
#endif
#undef TC_ISA_AVX512 /* in kernel.h they are numbers */
#undef TC_ISA_AVX2
#undef TC_ISA_BASELINE

/* In the order in which they need each other. */
/* clang-format off */
#include "vec.h"

#include "kernel.h"
#include "rules.h"

#include "loops.inc"
#ifndef V_BASELINE /* TensorFlow's wheels need AVX */
#include "tf_math.inc"
#include "tf_loops.inc"
#include "tf_map.def"
#endif
#include "gelu.inc"
#include "map.def"
#include "matmul.inc"
#include "bmm.inc"
#include "reduce.inc"
#include "norm.inc"
#include "softmax.inc"
#include "log_softmax.inc"
#include "scan.inc"
#include "spread.inc"
#include "extreme.inc"
#include "topk.inc"
#include "conv.inc"
#ifndef V_BASELINE
#include "tf_reduce.inc"
#include "tf_matmul.inc"
#include "tf_matmul_eigen.inc"
#include "tf_softmax.inc"
#include "tf_softmax_eigen.inc"
#include "tf_transpose.inc"
#endif
/* clang-format on */

extern const TcKernels TC_SYMBOL(kernels);
const TcKernels TC_SYMBOL(kernels) = {.lanes = W, .pack = pack};
