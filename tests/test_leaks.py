"""Nothing grows: 100,000 calls, and every way a call can fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from workbench import HEAD, Project, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

SOURCE = HEAD + '''
def score(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D, n: int) -> TensorI64Cpu1D:
    h = F.linear(x, w, b)
    g = h
    for i in range(n):
        if i % 2 == 0:
            g = h.relu()
        else:
            h = g.tanh() - h
    return (h + g).softmax(dim=1).argmax(dim=1)


def every(x: TensorF32Cpu2D, v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    a = torch.exp(x).log().sqrt().abs().neg().square().sigmoid().relu()
    b = x.mean(dim=0) + x.sum(dim=0, keepdim=True) * v / v
    c = x @ v
    return torch.matmul(a + b, v) - c


def gelu(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.gelu(F.gelu(x, approximate="tanh"))


def same(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    y = x
    return y


def product(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    h = x.relu()
    g = h.tanh()
    return (g + h) @ w


def pick(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    h = x.tanh()
    return h.argmax(dim=1)


def unbound(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    y = x.relu()
    if n > 0:
        h = y.tanh()
    return h


def raises(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    y = x.relu()
    assert n > 0, "positive"
    return y.tanh()


def divides(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    y = x.relu()
    k = 6 // n
    return y


def keyword(x: TensorF32Cpu2D, *, n: int = 1) -> TensorF32Cpu2D:
    return x.relu()

'''


@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    return Project(module_folder, {"leaks.py": SOURCE}).build()


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def grows(call: Any, n: int) -> float:
    """Bytes that each of n calls leaves behind; Python objects too. A leak grows every time, a cache that fills does not."""
    import gc
    import sys

    for _ in range(n // 5):
        call()
    objects, size = [], []
    for _ in range(3):
        gc.collect()
        blocks, before = sys.getallocatedblocks(), resident()
        for _ in range(n):
            call()
        gc.collect()
        size.append(resident() - before)
        objects.append(sys.getallocatedblocks() - blocks)
        if size[-1] <= 0 and objects[-1] <= 0:
            break
    assert min(objects) < n // 100 + 60, f"{objects} Python objects more after {n} calls each"
    return max(0, min(size)) / n


def test_the_measure_sees_a_leak(built: Project) -> None:
    import torch

    kept: list[Any] = []
    with pytest.raises(AssertionError, match="Python objects more"):
        grows(lambda: kept.append(object()), 20_000)
    assert grows(lambda: torch._C._nn.gelu(torch.ones(1)), 100) >= 0
    import ctypes

    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    assert grows(lambda: libc.memset(libc.malloc(4096), 1, 4096), 20_000) > 2000


def test_100_000_calls(built: Project) -> None:
    import torch

    torch.set_num_threads(1)
    m = built.load("leaks")
    x, w, b = torch.randn(2, 8), torch.randn(8, 8), torch.randn(8)
    assert grows(lambda: m.score(x, w, b, 3), 100_000) < 4


@pytest.mark.parametrize("name", ["every", "gelu", "same", "keyword", "product", "unbound"])
def test_calls(built: Project, name: str) -> None:
    import torch

    torch.set_num_threads(1)
    m = built.load("leaks")
    x = torch.randn(2, 8)
    call = {"every": lambda: m.every(x, x[0]), "gelu": lambda: m.gelu(x.T[::2]), "same": lambda: m.same(x), "keyword": lambda: m.keyword(x=x, n=2), "product": lambda: m.product(x, torch.ones(8, 3)),
            "unbound": lambda: m.unbound(x, 1)}[name]
    assert grows(call, 20_000) < 8


BAD = ["sizes", "unbound", "assert", "division", "type", "dtype", "rank", "int", "keyword", "missing", "overflow"]


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("mode", ["native", "auto"])
def test_errors(built: Project, what: str, mode: str) -> None:
    import warnings

    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    m = built.load("leaks", mode)
    x = torch.randn(2, 8)
    call: Any = {"sizes": lambda: m.product(x, x), "unbound": lambda: m.unbound(x, 0), "assert": lambda: m.raises(x, 0), "division": lambda: m.divides(x, 0), "type": lambda: m.product(x, None),
                 "dtype": lambda: m.product(x, x.double()), "rank": lambda: m.product(x, torch.ones(2, 3, 4, 5)), "int": lambda: m.raises(x, 1.5), "keyword": lambda: m.keyword(x, k=1), "missing": lambda: m.raises(x),
                 "overflow": lambda: m.raises(x, 2**70)}[what]

    def attempt() -> None:
        try:
            call()
        except Exception:
            pass

    assert grows(attempt, 5_000) < 32


def test_kernel_errors(built: Project) -> None:
    """These take milliseconds each: torch formats a backtrace."""
    import torch

    m = built.load("leaks")
    x = torch.ones(3, 0)

    def attempt() -> None:
        with pytest.raises(IndexError):
            m.pick(x)

    assert grows(attempt, 100) < 4096


def test_large_tensors_are_freed(built: Project) -> None:
    """Also in the middle of a call: a chain holds what it still needs and no more."""
    import torch

    m = built.load("leaks")
    x = torch.ones(1000, 1000)
    m.product(x, x)
    before = resident()
    for _ in range(30):
        m.product(x, x)
    assert resident() - before < 40_000_000


def test_results_die_with_their_last_name(built: Project) -> None:
    import gc
    import weakref

    import torch

    m = built.load("leaks")
    r = m.product(torch.ones(2, 8), torch.ones(8, 3))
    gone = weakref.ref(r)
    del r
    gc.collect()
    assert gone() is None


def test_module_can_be_dropped(built: Project) -> None:
    import gc
    import sys
    import weakref

    m = built.load("leaks")
    gone = weakref.ref(m.gelu)
    for name in list(vars(m)):
        if not name.startswith("__"):
            delattr(m, name)
    del sys.modules["leaks"], m
    gc.collect()
    assert gone() is None
