"""What the kernels cost: `python tests/recipes/timing.py`. Nanoseconds per call, one thread, the least of 30 rounds."""

import ctypes as C
import os
import subprocess
import tempfile

import kernels
import shared_object
import torch


def harness() -> C.CDLL:
    target = os.path.join(tempfile.mkdtemp(prefix="tensorc-timing-"), "timing.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "timing.c")
    flags = ["-std=c11", "-O2", "-fPIC", "-shared", "-I", shared_object.KERNEL]
    subprocess.run([os.environ.get("CC", "gcc"), *flags, source, "-o", target], check=True)
    loaded = C.CDLL(target)
    for name in ("time_map1", "time_map2", "time_along", "time_matmul"):
        getattr(loaded, name).restype = C.c_double
    return loaded


def address(name: str) -> C.c_void_p:
    return C.c_void_p(kernels.recipe(name).kernel[kernels.isa()])


def main() -> None:
    torch.set_num_threads(1)
    kernels.library()
    time = harness()
    print("set", kernels.isa(), "lanes", kernels.lanes())
    for n in (32, 96, 512, 4096):
        x, out = torch.randn(n), torch.empty(n)
        for name in ("relu", "tanh", "sigmoid", "exp", "sqrt", "gelu", "gelu_tanh"):
            x = x.abs()
            ns = time.time_map1(address(name), kernels.at(x), kernels.at(out), C.c_int64(n), 2000)
            print(f"{name:8s} n={n:<5d} {ns:9.1f} ns")
    for m, n in ((1, 32), (128, 32)):
        x, y, out = torch.randn(m, n), torch.randn(n), torch.empty(m, n)
        a, b = kernels.operand(x, (m, n)), kernels.operand(y, (m, n))
        for name in ("add", "div"):
            ns = time.time_map2(address(name), a, b, kernels.at(out), C.c_int64(m), C.c_int64(n), 2000)
            print(f"{name:8s} {m}×{n} row  {ns:9.1f} ns")
    for m, n in ((1, 8), (16, 8), (128, 8), (1, 32), (32, 96)):
        x, out = torch.randn(m, n), torch.empty(m, n, dtype=torch.float64)
        for name in ("softmax", "argmax", "sum", "mean"):
            size = (C.c_int64(m), C.c_int64(n))
            ns = time.time_along(address(name), kernels.at(x), kernels.at(out), *size, kernels.LAST, 1000)
            print(f"{name:8s} {m}×{n}  {ns:9.1f} ns")
    shapes = [
        (1, 32, 32),
        (1, 32, 8),
        (2, 32, 32),
        (8, 32, 32),
        (16, 32, 32),
        (128, 32, 32),
        (128, 32, 8),
        (16, 96, 96),
    ]
    for m, k, n in [*shapes, (512, 96, 96), (512, 96, 10), (128, 384, 384), (128, 768, 768), (128, 512, 512)]:
        x, out, bias = torch.randn(m, k), torch.empty(m, n), torch.randn(n)
        for kind, w in (("linear", torch.randn(n, k)), ("matmul", torch.randn(k, n))):
            turned = kind == "linear"
            rule = kernels.rule(kind, rows=m, cols=n, k=k, bias=turned, transposed=turned)
            need = rule.pack_elems
            packed = torch.empty(need + 16)
            aligned = packed.data_ptr() + -packed.data_ptr() % 64
            call = kernels.Matmul(x.data_ptr(), w.data_ptr(), aligned if need else None)
            call.bias = bias.data_ptr() if turned else None
            call.out, call.m, call.k, call.n, call.transposed = out.data_ptr(), m, k, n, turned
            pack = C.cast(kernels.library().tc__kernels(kernels.isa()).contents.pack, C.c_void_p) if need else None
            calls = max(3, 10_000_000 // (m * k * n))
            whole = time.time_matmul(address(kind), pack, C.byref(call), min(calls, 2000))
            alone = time.time_matmul(address(kind), None, C.byref(call), min(calls, 2000))
            speed = f"{2 * m * k * n / alone:6.1f} GFLOPS"
            way = "packed" if need else "direct" if rule.blocks else "wheel"
            print(f"{kind:8s} {m}×{k}→{n} {way:7s} {whole:10.1f} ns, without packing {alone:10.1f} ns, {speed}")


if __name__ == "__main__":
    main()
