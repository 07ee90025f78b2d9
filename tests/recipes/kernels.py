"""The recipes of runtime/kernel, built into a shared object and called through ctypes on torch tensors.

Every function here takes the sizes and places that a body would give, so that a test can say "this block of
that whole". What is right is for torch to say: operation() is its function.
"""

import ctypes as C
import functools
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator

import shared_object
import torch
from mirror import CHAINS as CHAINS
from mirror import CHAINS_TO_0 as CHAINS_TO_0
from mirror import LANES as LANES
from mirror import PLAIN as PLAIN
from mirror import ROW_LANES as ROW_LANES
from mirror import WHEEL as WHEEL
from mirror import Bmm, Case, Conv, Law, Matmul, Norm, Operand, Pick, Place, Recipe, Rule
from shared_object import KERNEL

LAST, FIRST = 0, 1
ROWWISE = ("softmax", "log_softmax", "cumsum", "cumprod")


class Kernels(C.Structure):
    _fields_ = [("lanes", C.c_int)]
    _fields_ += [("pack", C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_int64, C.c_int64, C.c_bool))]


MAP1 = C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_int64, C.POINTER(Place))
MAP2 = C.CFUNCTYPE(None, Operand, Operand, C.c_void_p, C.c_int64, C.c_int64)
ALONG = C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_int64, C.c_int64, C.c_int, C.POINTER(Place))
MATMUL = C.CFUNCTYPE(None, C.POINTER(Matmul), C.POINTER(Place))
NORM = C.CFUNCTYPE(None, C.POINTER(Norm))
PICK = C.CFUNCTYPE(None, C.POINTER(Pick))
CONV = C.CFUNCTYPE(None, C.POINTER(Conv))
BMM = C.CFUNCTYPE(None, C.POINTER(Bmm))
TYPES = (MAP1, MAP2, *[ALONG] * 3, *[MATMUL] * 3, NORM, PICK, CONV, BMM)  # by TcClass


def names(kind: str) -> list[str]:
    """The elementwise recipes of map.def."""
    with open(os.path.join(KERNEL, "map.def"), encoding="ascii") as file:
        return re.findall(rf"^{kind}(?:_[A-Z]+)?\((\w+)[,)]", file.read(), re.MULTILINE)


def operation(name: str) -> Callable[..., torch.Tensor]:
    """What such a recipe has the bits of."""
    if name == "gelu_tanh":
        return functools.partial(torch.nn.functional.gelu, approximate="tanh")
    found: Callable[..., torch.Tensor] = getattr(torch.nn.functional if name in ("gelu", "silu") else torch, name)
    return found


@functools.cache
def library() -> C.CDLL:
    """Compiles the kernels (a few seconds) into a temporary folder; TENSORC_RECIPES_SO names one already built."""
    built = os.environ.get("TENSORC_RECIPES_SO")
    if not built:
        folder = tempfile.mkdtemp(prefix="tensorc-recipes-")
        built = os.path.join(folder, "librecipes.so")
        shared_object.build(built)
        os.environ["TENSORC_RECIPES_SO"] = built  # for subprocesses
    loaded = C.CDLL(built)
    wheel = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    loaded.tc__wheel_math_find(C.c_void_p(C.CDLL(wheel)._handle))
    loaded.tc__kernels.restype = C.POINTER(Kernels)
    loaded.tc__known_laws.restype = C.POINTER(Law)
    loaded.tc__isa_runs.restype = C.c_bool
    return loaded


def isa() -> int:
    """The set that the recipes of this process must use."""
    return int(library().tc__isa_of_capability(torch.backends.cpu.get_cpu_capability().encode()))


def lanes() -> int:
    return int(library().tc__kernels(isa()).contents.lanes)


@functools.cache
def recipe(name: str) -> Recipe:
    """Of several variants the first that has torch's bits in this process, or the last; those are elementwise."""
    found = Recipe.in_dll(library(), "tc_recipe_" + name)
    x = torch.linspace(-4, 4, 1001)
    while found.next:
        if found.rule(isa(), C.byref(Case(rows=1, cols=x.numel(), threads=1))).exact:
            out = torch.empty_like(x)
            MAP1(found.kernel[isa()])(at(x), at(out), x.numel(), place(0, x.numel()))
            if difference(out, operation(name)(x)) is None:
                break
        found = Recipe.from_address(found.next)
    return found


@functools.cache
def kernel(name: str) -> "C._FuncPointer":
    found = recipe(name)
    return TYPES[getattr(found, "class")](found.kernel[isa()])


def rule(name: str, by: Law | None = None, **sizes: int) -> Rule:
    """by: the law of a product; None: this host's."""
    case = Case(**{"threads": torch.get_num_threads(), **sizes})
    if sizes.get("k") and (by or (by := law(case.threads))):
        case.law = C.pointer(by)
    answer: Rule = recipe(name).rule(isa(), C.byref(case))
    return answer


@functools.cache
def known_laws(threads: int) -> list[Law]:
    n = C.c_int()
    laws = library().tc__known_laws(threads, C.byref(n))
    return [laws[i] for i in range(n.value)]


@functools.cache
def law(threads: int) -> Law | None:
    """The known law of products that this host follows at a thread count; the rules are asked with it."""
    g = torch.Generator().manual_seed(3)
    for found in known_laws(threads):
        for m, k, n in [(16, 32, 32), (48, 400, 48), (16, 2, 64), (12, 200, 8), (2, 50, 20), (16, 501, 64), (5, 96, 64), (9, 96, 32)]:
            x, w = torch.randn(m, k, generator=g), torch.randn(n, k, generator=g)
            tiny = torch.full((m, k), -1e-30), torch.full((n, k), 1e-30)
            if any(difference(matmul("linear", *a, transposed=True, by=found), torch.nn.functional.linear(*a)) for a in [(x, w), tiny]):
                break
        else:
            return found
    return None


def at(x: torch.Tensor, elements: int = 0) -> C.c_void_p:
    return C.c_void_p(x.data_ptr() + elements * x.element_size())


def place(offset: int, total: int) -> "C._CArgObject":
    return C.byref(Place(offset, total, torch.get_num_threads()))


def parts(n: int, size: int) -> Iterator[tuple[int, int]]:
    """[begin, end) of each block of `size`."""
    for begin in range(0, n, size):
        yield begin, min(begin + size, n)


def map1(name: str, x: torch.Tensor, block: int = 0, inplace: bool = False) -> torch.Tensor:
    n = x.numel()
    out = x.clone() if inplace else torch.empty_like(x)
    source = out if inplace else x
    for begin, end in parts(n, block or max(n, 1)):
        kernel(name)(at(source, begin), at(out, begin), end - begin, place(begin, n))
    return out


def operand(x: torch.Tensor, shape: tuple[int, int]) -> Operand:
    rows, cols = (1, *x.shape)[-2:] if x.dim() else (1, 1)
    return Operand(x.data_ptr(), 0 if rows == 1 else cols, 0 if cols == 1 and shape[1] != 1 else 1)


def map2(name: str, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    shape = torch.broadcast_tensors(a, b)[0].shape
    out = torch.empty(shape)
    rows, cols = (1, *shape)[-2:]
    kernel(name)(operand(a, (rows, cols)), operand(b, (rows, cols)), at(out), rows, cols)
    return out


def along(name: str, x: torch.Tensor, dim: int, block: int = 0, inplace: bool = False) -> torch.Tensor:
    """dim -1: the last; 0: the first of two, or of the matrices of three. A block is of rows. inplace: those of ROWWISE."""
    if x.dim() == 3:
        return along_matrices(name, x)
    axis = FIRST if dim == 0 and x.dim() == 2 else LAST
    rows, cols = (1, *x.shape)[-2:]
    reduced = x.shape[:-1] if axis == LAST else x.shape[1:]
    out = torch.empty(x.shape if name in ROWWISE else reduced, dtype=torch.int64 if name == "argmax" else None)
    each = cols if name in ROWWISE else 1
    if inplace:
        x = out.copy_(x)
    blocks = [(0, rows)] if not block else parts(rows, block)
    for begin, end in blocks:
        where = place(begin * cols, rows * cols)
        kernel(name)(at(x, begin * cols), at(out, begin * each), end - begin, cols, axis, where)
    return out


def along_matrices(name: str, x: torch.Tensor) -> torch.Tensor:
    """Over the second dimension of three."""
    matrices, rows, cols = x.shape
    dtype = torch.int64 if name == "argmax" else None
    out = torch.empty(x.shape if name in ROWWISE else (matrices, cols), dtype=dtype)
    for i in range(matrices):
        where = place(i * rows * cols, x.numel())
        kernel(name)(at(x[i]), at(out[i]), rows, cols, FIRST, where)
    return out


def matmul(
    name: str,
    x: torch.Tensor,
    w: torch.Tensor,
    bias: torch.Tensor | None = None,
    transposed: bool = False,
    block: int = 0,
    by: Law | None = None,
) -> torch.Tensor:
    """block: of rows; 0 the whole call. by: a law; None: this host's."""
    m, k = (1, *x.shape)[-2:]
    n = 1 if name == "mv" else w.shape[0] if transposed else w.shape[1]
    said = rule(name, by, rows=m, cols=n, k=k, bias=bias is not None, transposed=transposed)
    need = said.pack_elems
    packed = torch.full((need,), float("nan"))
    if need:
        library().tc__kernels(isa()).contents.pack(at(w), at(packed), k, n, transposed)
    out = torch.full((m, n), float("nan"))
    for begin, end in parts(m, block or max(m, 1)):
        call = Matmul(x.data_ptr() + 4 * begin * k, w.data_ptr(), packed.data_ptr() if need else None)
        call.bias = None if bias is None else bias.data_ptr()
        call.out = out.data_ptr() + 4 * begin * n
        call.m, call.k, call.n, call.transposed = end - begin, k, n, transposed
        call.way, call.chain = said.way, said.chain
        kernel(name)(C.byref(call), place(begin * k, m * k))
    return out.view(m) if name == "mv" else out.view(n) if x.dim() == 1 else out


def norm(
    name: str,
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mean: torch.Tensor | None = None,
    var: torch.Tensor | None = None,
    eps: float = 1e-5,
    block: int = 0,
    inplace: bool = False,
) -> torch.Tensor:
    """layer_norm, rms_norm over the last dimension; batch_norm over the second. block: of rows."""
    rows, cols = (x.numel() // x.shape[-1], x.shape[-1]) if mean is None else x.shape[:2]
    inner = x.numel() // (rows * cols)
    out = x.clone() if inplace else torch.full_like(x, float("nan"))
    source = out if inplace else x
    pointers = [None if t is None else t.data_ptr() for t in (weight, bias, mean, var)]
    for begin, end in parts(rows, block or rows):
        skip = 4 * begin * cols * inner
        call = Norm(source.data_ptr() + skip, *pointers, out.data_ptr() + skip, end - begin, cols, inner, eps)
        kernel(name)(C.byref(call))
    return out


def pick(
    name: str, x: torch.Tensor, k: int = 1, dim: int = -1, largest: bool = True, in_order: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """topk over the last dimension of two, max and min over either: values and indices."""
    rows, cols = x.shape
    shape = (rows, k) if name == "topk" else (cols if dim == 0 else rows,)
    values, indices = torch.full(shape, float("nan")), torch.full(shape, -1)
    call = Pick(x.data_ptr(), values.data_ptr(), indices.data_ptr(), rows, cols, k)
    call.axis, call.largest, call.sorted = FIRST if dim == 0 else LAST, largest, in_order
    kernel(name)(C.byref(call))
    return values, indices


def conv1d(name: str, x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None, stride: int, dilation: int, padding: int = 0) -> torch.Tensor | None:
    """None: the rule says that this is not exact. name: conv1d, or its variant conv1d_columns."""
    (batch, channels, length), (filters, _, width) = x.shape, w.shape
    out_length = (length + 2 * padding - dilation * (width - 1) - 1) // stride + 1
    out = torch.full((batch, filters, max(out_length, 0)), float("nan"))
    call = Conv(x.data_ptr(), w.data_ptr(), None if bias is None else bias.data_ptr(), out.data_ptr(), None)
    call.batch, call.channels, call.length, call.filters, call.width = batch, channels, length, filters, width
    call.out_length, call.stride, call.dilation, call.padding = out_length, stride, dilation, padding
    found = Recipe.in_dll(library(), "tc_recipe_" + name)
    said = found.rule(isa(), C.byref(Case(threads=torch.get_num_threads(), conv=C.pointer(call))))
    if not said.exact:
        return None
    scratch = torch.full((said.pack_elems,), float("nan"))
    call.columns = scratch.data_ptr() if said.pack_elems else None
    CONV(found.kernel[isa()])(C.byref(call))
    return out


def difference(got: torch.Tensor, wanted: torch.Tensor) -> str | None:
    """None where the bits agree; a NaN may be any NaN."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{tuple(got.shape)} {got.dtype} instead of {tuple(wanted.shape)} {wanted.dtype}"
    if got.dtype == torch.float32:
        if torch.equal(got.view(torch.int32), wanted.contiguous().view(torch.int32)):
            return None
        bad = (got.view(torch.int32) != wanted.contiguous().view(torch.int32)) & ~(got.isnan() & wanted.isnan())
    else:
        bad = got != wanted
    if not bool(bad.any()):
        return None
    first = int(bad.flatten().nonzero()[0])
    pair = f"{got.flatten()[first].item()!r} instead of {wanted.flatten()[first].item()!r}"
    return f"{int(bad.sum())} of {bad.numel()} differ, the first at {first}: {pair}"


if __name__ == "__main__":
    shared_object.build(sys.argv[1])
