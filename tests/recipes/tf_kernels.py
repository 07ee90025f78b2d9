"""The TensorFlow recipes of runtime/kernel, built into a shared object and called through ctypes on NumPy arrays.

As kernels.py is for torch: the functions take sizes and places as the exact body gives them; nothing here knows what
the right answer is. Neither torch nor TensorFlow is imported.
"""

import ctypes as C
import functools
import os
import sys
import tempfile
from collections.abc import Iterator

import numpy as np
import shared_object
from mirror import Case, Matmul, Operand, Place, Recipe, Rule

HERE = os.path.dirname(os.path.abspath(__file__))
BASELINE, AVX2, AVX512 = range(3)
LAST, FIRST = 0, 1
THREADS = int(os.environ.get("TENSORC_TF_THREADS", 0)) or os.cpu_count() or 1  # TensorFlow's, for the rules


@functools.cache
def library() -> C.CDLL:
    """Compiles the kernels (a few seconds) into a temporary folder; TENSORC_TF_RECIPES_SO names one already built."""
    built = os.environ.get("TENSORC_TF_RECIPES_SO")
    if not built:
        built = os.path.join(tempfile.mkdtemp(prefix="tensorc-tf-recipes-"), "librecipes.so")
        shared_object.build(built, os.path.join(HERE, "tf_call.c"))
        os.environ["TENSORC_TF_RECIPES_SO"] = built  # for subprocesses
    loaded = C.CDLL(built)
    for name in ("map1", "map2", "along", "matmul", "transpose"):
        getattr(loaded, "call_" + name).restype = C.c_double
    return loaded


def runs(isa: int) -> bool:
    return bool(library().tc__isa_runs(isa))


def onednn() -> bool:
    """Whether TensorFlow's own operations of oneDNN are on in this process: told to be, or by the processor."""
    told = os.environ.get("TF_ENABLE_ONEDNN_OPTS", "").lower()
    if told in ("0", "false", "1", "true"):
        return told in ("1", "true")
    with open("/proc/cpuinfo") as file:
        flags = next((line.split() for line in file if line.startswith("flags")), [])
    return not {"avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile", "amx_int8", "amx_bf16"}.isdisjoint(flags)


def isa() -> int:
    """The set that oneDNN uses in this process."""
    limited = os.environ.get("ONEDNN_MAX_CPU_ISA", "").upper() == "AVX2"
    return AVX512 if runs(AVX512) and not limited else AVX2


@functools.cache
def recipe(name: str) -> Recipe:
    """The variant for this process."""
    variant = "_eigen" if name in ("softmax", "matmul") and not onednn() else ""
    return Recipe.in_dll(library(), f"tc_recipe_tf_{name}{variant}")


def kernel(name: str, which: int | None = None) -> C.c_void_p:
    return C.c_void_p(recipe(name).kernel[isa() if which is None else which])


def rule(name: str, which: int | None = None, **sizes: int) -> Rule:
    case = Case(**{"threads": THREADS, **sizes})
    answer: Rule = recipe(name).rule(isa() if which is None else which, C.byref(case))
    return answer


def at(x: np.ndarray, elements: int = 0) -> C.c_void_p:
    assert x.flags.c_contiguous
    return C.c_void_p(x.ctypes.data + elements * x.itemsize)


def place(offset: int, total: int) -> "C._CArgObject":
    return C.byref(Place(offset, total, THREADS))


def parts(n: int, size: int) -> Iterator[tuple[int, int]]:
    """[begin, end) of each block of `size`; one block when 0."""
    for begin in range(0, n, size) if size else [0]:
        yield begin, min(begin + size, n) if size else n


def sizes_of(shape: tuple[int, ...]) -> tuple[int, int]:
    rows, cols = (1, 1, *shape)[-2:]
    return rows, cols


def map1(name: str, x: np.ndarray, block: int = 0, inplace: bool = False, which: int | None = None) -> np.ndarray:
    n = x.size
    out = x.copy() if inplace else np.empty_like(x)
    source = out if inplace else x
    for begin, end in parts(n, block):
        where = place(begin, n)
        library().call_map1(kernel(name, which), at(source, begin), at(out, begin), C.c_int64(end - begin), where, 0)
    return out


def operand(x: np.ndarray, shape: tuple[int, int], row: int = 0) -> Operand:
    """From that row of the result on."""
    rows, cols = sizes_of(x.shape)
    strides = 0 if rows == 1 else cols, 0 if cols == 1 and shape[1] != 1 else 1
    return Operand(x.ctypes.data + 4 * row * strides[0], *strides)


def map2(
    name: str, a: np.ndarray, b: np.ndarray, block: int = 0, inplace: str = "", which: int | None = None
) -> np.ndarray:
    """block: of rows. inplace: "a" or "b", a full operand to be overwritten."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    out = a.copy() if inplace == "a" else b.copy() if inplace == "b" else np.empty(shape, np.float32)
    a, b = out if inplace == "a" else a, out if inplace == "b" else b
    rows, cols = sizes_of(shape)
    for begin, end in parts(rows, block):
        pair = (operand(x, (rows, cols), begin) for x in (a, b))
        size = C.c_int64(end - begin), C.c_int64(cols)
        library().call_map2(kernel(name, which), *pair, at(out, begin * cols), *size, 0)
    return out


def along(name: str, x: np.ndarray, axis: int, block: int = 0, which: int | None = None) -> np.ndarray:
    """axis -1: the last; 0: the first of two. A block is of rows."""
    first = axis == 0 and x.ndim == 2
    rows, cols = sizes_of(x.shape)
    reduced = x.shape[1:] if first else x.shape[:-1]
    out = np.empty(x.shape if name == "softmax" else reduced, np.int64 if name == "argmax" else np.float32)
    for begin, end in parts(rows, block):
        to = at(out, begin * (cols if name == "softmax" else 1))
        size = C.c_int64(end - begin), C.c_int64(cols), FIRST if first else LAST
        library().call_along(kernel(name, which), at(x, begin * cols), to, *size, place(begin * cols, rows * cols), 0)
    return out


def matmul(x: np.ndarray, w: np.ndarray, block: int = 0, which: int | None = None) -> np.ndarray:
    """block: of rows; 0 the whole call."""
    (m, k), n = x.shape, w.shape[1]
    out = np.full((m, n), np.nan, np.float32)
    pieces = rule("matmul", which, rows=m, cols=n, k=k).pieces
    for begin, end in parts(m, block):
        call = Matmul(x.ctypes.data + 4 * begin * k, w.ctypes.data)
        call.out, call.m, call.k, call.n = out.ctypes.data + 4 * begin * n, end - begin, k, n
        call.pieces = pieces
        library().call_matmul(kernel("matmul", which), C.byref(call), place(begin * k, m * k), 0)
    return out


def transpose(x: np.ndarray, which: int | None = None) -> np.ndarray:
    out = np.empty(x.shape[::-1], np.float32)
    library().call_transpose(kernel("transpose", which), at(x), at(out), *map(C.c_int64, x.shape), 0)
    return out


def difference(got: np.ndarray, wanted: np.ndarray) -> str | None:
    """None where the bits agree; a NaN may be any NaN."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.shape} {got.dtype} instead of {wanted.shape} {wanted.dtype}"
    if got.dtype == np.float32:
        bad = (got.view(np.uint32) != wanted.view(np.uint32)) & ~(np.isnan(got) & np.isnan(wanted))
    else:
        bad = got != wanted
    if not bad.any():
        return None
    first = int(np.flatnonzero(bad)[0])
    pair = f"{got.flat[first]!r} instead of {wanted.flat[first]!r}"
    return f"{int(bad.sum())} of {bad.size} differ, the first at {first}: {pair}"


if __name__ == "__main__":
    shared_object.build(sys.argv[1], os.path.join(HERE, "tf_call.c"))
