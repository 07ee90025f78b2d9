"""What the TensorFlow kernels cost: `python tests/recipes/tf_timing.py [avx2]`. Nanoseconds per call under FTZ and DAZ,
one thread, the least of 30 rounds."""

import ctypes as C
import os
import sys

import numpy as np
import tf_kernels as kernels

WHICH = kernels.AVX2 if "avx2" in sys.argv[1:] else kernels.isa()


def report(name: str, what: str, ns: float, flops: int = 0) -> None:
    print(f"{name:9s} {what:14s} {ns:10.1f} ns", f"{flops / ns:6.1f} GFLOPS" if flops else "")


def aligned(*shape: int) -> np.ndarray:
    n = int(np.prod(shape))
    memory = np.empty(n + 16, np.float32)
    begin = -memory.ctypes.data // 4 % 16
    return memory[begin : begin + n].reshape(shape)


def filled(*shape: int) -> np.ndarray:
    x = aligned(*shape)
    x[...] = np.random.default_rng(1).standard_normal(shape, np.float32)
    return x


def main() -> None:
    library = kernels.library()
    print("set", WHICH)
    for n in (32, 96, 4096):
        x, out = np.abs(filled(n)), aligned(n)
        for name in ("relu", "tanh", "sigmoid", "exp", "log", "sqrt"):
            call = kernels.kernel(name, WHICH), kernels.at(x), kernels.at(out), C.c_int64(n), kernels.place(0, n)
            report(name, f"n={n}", library.call_map1(*call, 200000 // n))
    for m, n in ((1, 32), (128, 32)):
        x, y, out = filled(m, n), filled(n), aligned(m, n)
        for name in ("add", "div", "maximum"):
            pair = kernels.operand(x, (m, n)), kernels.operand(y, (m, n))
            call = kernels.kernel(name, WHICH), *pair, kernels.at(out), C.c_int64(m), C.c_int64(n)
            report(name, f"{m}×{n} row", library.call_map2(*call, 200000 // (m * n)))
    for m, n in ((1, 8), (16, 8), (128, 8), (1, 10), (1, 32), (32, 96)):
        x, out = filled(m, n), aligned(m, 2 * n)
        for name in ("softmax", "argmax", "sum", "mean"):
            call = kernels.kernel(name, WHICH), kernels.at(x), kernels.at(out), C.c_int64(m), C.c_int64(n), kernels.LAST
            report(name, f"{m}×{n}", library.call_along(*call, kernels.place(0, m * n), 100000 // (m * n)))
            if name != "softmax":
                call = *call[:5], kernels.FIRST
                report(name, f"{m}×{n} first", library.call_along(*call, kernels.place(0, m * n), 100000 // (m * n)))
    shapes = [
        (1, 32, 32),
        (1, 32, 8),
        (2, 32, 32),
        (8, 32, 32),
        (16, 32, 32),
        (128, 32, 32),
        (128, 32, 8),
        (128, 32, 1),
    ]
    for m, k, n in [*shapes, (16, 96, 96), (512, 96, 96), (512, 96, 10), (128, 384, 256), (1, 96, 80)]:
        x, w, out = filled(m, k), filled(k, n), aligned(m, n)
        call = kernels.Matmul(x.ctypes.data, w.ctypes.data)
        call.out, call.m, call.k, call.n = out.ctypes.data, m, k, n
        call.pieces = kernels.rule("matmul", WHICH, rows=m, cols=n, k=k).pieces
        calls = max(3, min(5000, 3000000 // (m * k * n)))
        ns = library.call_matmul(kernels.kernel("matmul", WHICH), C.byref(call), kernels.place(0, m * k), calls)
        report("matmul", f"{m}×{k}→{n}", ns, 2 * m * k * n)
    for m, n in ((32, 32), (80, 96), (100, 33)):
        x, out = filled(m, n), aligned(n, m)
        call = kernels.kernel("transpose", WHICH), kernels.at(x), kernels.at(out), C.c_int64(m), C.c_int64(n)
        report("transpose", f"{m}×{n}", library.call_transpose(*call, 1000))


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main()
