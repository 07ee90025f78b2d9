/* tensorc_rt.c: the runtime as one compilation unit, so that nothing but tc_ and tc__ needs a
 * symbol.
 *
 * Built into libtensorc_rt.a and linked statically into every generated module. Needs libdl,
 * libm and libpthread; frameworks are found in the process when a function is called
 * (torch_wheel.c, tf_wheel.c).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, dlinfo, sched_getaffinity */
#endif
#include "kernel/kernel.h"
#include "tc_internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

/* In order of use: each file sees what the ones before it define. */
/* clang-format off */
#include "shared.c"
#include "fork.c"
#include "pool.c"
#include "scalar.c"
#include "print.c"
#include "thread.c"
#include "image.c"
#include "torch_wheel.c"
#include "tf_wheel.c"
#include "verdict.c"
#include "lane.h"
#include "buffer.c"
#include "variable.c"
#include "torch.c"
#include "torch_boundary.c"
#include "tf.c"
#include "tf_boundary.c"
#include "args.c"
#include "torch_guard.c"
#include "op.c"
#include "product.c"
#include "dispatch.c"
#include "run.c"
#include "torch_lane.c"
#include "tf_lane.c"
#include "scalar_lane.c"
#include "battery.c"
#include "battery_product.c"
#include "admit.c"
#include "compare.c"
#include "call.c"
#include "callable.c"
#include "graph_frame.c"
#include "graph_op.c"
#include "graph.c"
/* clang-format on */
