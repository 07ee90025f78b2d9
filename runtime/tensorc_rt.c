/* tensorc_rt.c: the runtime as one compilation unit, so that nothing but tc_ and tc__ needs a
 * symbol.
 *
 * Built into libtensorc_rt-<isa>.a and linked statically into every generated module. Needs libdl,
 * libm and libpthread; frameworks are found in the process when a function is called (wheel.c).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, dlinfo */
#endif
#include "kernel/kernel.h"
#include "tc_internal.h"

#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* In order of use: each file sees what the ones before it define. */
/* clang-format off */
#include "scalar.c"
#include "wheel.c"
#include "guard.c"
#include "torch.c"
#include "boundary.c"
#include "exact.c"
#include "admit.c"
#include "compare.c"
#include "call.c"
#include "callable.c"
/* clang-format on */
