"""Every recipe against torch, bit by bit, for the set of kernels that torch itself uses in this process.

The other sets run in a process each, with ATEN_CPU_CAPABILITY. TENSORC_RECIPES_RANDOM: how many random shapes of matmul
and as many of reductions, for each count of threads (300, 1,000 by make slow; the other sets run a tenth). 100,000 are in SWEEP.md, where
all floats through the unary recipes are, too (sweep.py).
"""

import ctypes as C
import itertools
import os
import random
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Iterator
from typing import Any

import kernels
import pytest
import torch
import torch.nn.functional as F
from workbench import SLOW

# In a child each: who forks a process that used torch's threads gets one in which torch waits for them, or crashes.
pytestmark = pytest.mark.isolated
RANDOM = int(os.environ.get("TENSORC_RECIPES_RANDOM", "1000" if SLOW else "300"))
MAP1, MAP2 = kernels.names("MAP1"), kernels.names("MAP2")
SPLIT = ["sum", "mean", "softmax", "argmax"]  # over threads
ALONG = [*SPLIT, "log_softmax", "cumsum", "cumprod"]

SPECIAL = [0.0, -0.0, float("inf"), -float("inf"), 1e-45, -1e-45, 1.1754942e-38, -3e-39, 3.4e38, -3.4e38]
SPECIAL += [88.8, -88.8, -104.0, 103.97, 100.0, 1.0, -1.0, 20.0, -9.1, 0.5, 2e-7]
KINDS = ["normal", "wide", "special", "nan"]
FEW = ["wide", "nan"]

WIDTHS = [*range(1, 35), 47, 48, 49, 63, 64, 65, 79, 96, 100, 127, 129, 257, 1000]
SHAPES = [(rows, cols) for rows in (1, 17) for cols in WIDTHS]
SHAPES += [(64, 96), (512, 96), (128, 8), (33, 257), (1, 4096), (17, 1), (300, 2), (1000, 13), (1000, 65)]
SHAPES += [(0, 5), (5, 0), (1, 32767), (1, 32768), (1, 70001), (2, 70000), (40000, 1), (70001, 1), (3, 32769)]


@pytest.fixture(autouse=True, params=[1, 2], ids=lambda n: f"threads{n}")
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    kernels.library()  # built once, in the parent
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    with torch.no_grad():
        yield request.param
    torch.set_num_threads(before)


only_once = pytest.mark.parametrize("threads", [1], indirect=True)


def values(kind: str, shape: tuple[int, ...], seed: int = 0) -> torch.Tensor:
    g = torch.Generator().manual_seed(seed * 1_000_003 + zlib.crc32(repr((kind, shape)).encode()))
    x = torch.randn(shape, generator=g)
    if kind == "wide":
        return x * torch.pow(10.0, torch.rand(shape, generator=g) * 76 - 38)
    if kind in ("special", "nan"):
        table = torch.tensor(SPECIAL + ([float("nan")] * 2 if kind == "nan" else []))
        chosen = table[torch.randint(len(table), shape, generator=g)]
        return torch.where(torch.rand(shape, generator=g) < 0.3, chosen, x * 4)
    return x


def same(got: torch.Tensor, wanted: torch.Tensor, *what: object) -> None:
    found = kernels.difference(got, wanted)
    assert found is None, f"{found} {what}"


@pytest.mark.parametrize("name", MAP1)
def test_map1(name: str) -> None:
    assert kernels.rule(name, rows=1, cols=1).exact
    for kind, shape in itertools.product(FEW, SHAPES):
        x = values(kind, shape)
        wanted = kernels.operation(name)(x)
        same(kernels.map1(name, x), wanted, kind, shape)
        same(kernels.map1(name, x, inplace=True), wanted, kind, shape, "in place")


@pytest.mark.parametrize("name", MAP1)
def test_map1_blocks(name: str) -> None:
    for shape, block in itertools.product([(5, 33), (64, 96), (7, 31), (3, 11000)], [1, 7, 32, 33, 96, 1000, 16384]):
        if shape[0] * shape[1] > 5000 * block:
            continue
        x = values("special", shape)
        same(kernels.map1(name, x, block), kernels.operation(name)(x), shape, block)


def test_gelu_is_onednns_where_that_runs(threads: int) -> None:
    """Elsewhere eager's is ATen's own, of other bits: where it is switched off, and of a matrix that lies by columns."""
    sizes = {"rows": 40, "cols": 33}
    x = values("normal", (33, 40)).T
    same(kernels.map1("gelu", x.contiguous()), F.gelu(x.contiguous()))
    assert kernels.difference(F.gelu(x).contiguous(), F.gelu(x.contiguous())), "a rule too strict"
    assert kernels.rule("gelu", **sizes).exact and not kernels.rule("gelu", **sizes, transposed=1).exact
    assert kernels.rule("gelu", rows=1, cols=33, transposed=1).exact
    with torch.backends.mkldnn.flags(enabled=False):
        assert kernels.difference(F.gelu(x.contiguous()), kernels.map1("gelu", x.contiguous())), "a rule too strict"
        assert not kernels.rule("gelu", **sizes).exact and not kernels.rule("gelu", rows=1, cols=1).exact
    assert kernels.rule("gelu_tanh", **sizes, transposed=1).exact
    same(kernels.map1("gelu_tanh", x.T), F.gelu(x, approximate="tanh").T)


@only_once
@pytest.mark.skipif(not kernels.library().tc__isa_runs(1), reason="needs AVX2")
def test_gelu_by_table(threads: int) -> None:
    """What oneDNN does on AVX-512, with gathers in place of its permutations, so that each machine sees whether all numbers
    are in their places: the error of erf is that of evaluating a polynomial, nowhere more than 2e-6."""
    x = torch.linspace(-6.5, 6.5, 1_000_001)
    got = torch.empty_like(x)
    kernels.library().tc__gelu_by_table_avx2(kernels.at(x), kernels.at(got), C.c_int64(x.numel()), kernels.place(0, x.numel()))
    error = ((2 * got.double() / x.double() - 1) - torch.special.erf(x.double() / 2**0.5)).abs()[x != 0]
    size = x.abs()[x != 0]
    for end, most in [(1, 4), (2, 6), (3, 13), (4, 13), (7, 6)]:
        assert float(error[size <= end].max()) <= max(most, 0) * 2**-24, end
        error, size = error[size > end], size[size > end]
    special = torch.tensor([0.0, -0.0, float("inf"), 7.0, -7.0, 1e-45, float("nan")])
    wanted = torch.tensor([0.0, -0.0, float("inf"), 7.0, -0.0, 0.0, float("nan")])
    out = torch.empty_like(special)
    kernels.library().tc__gelu_by_table_avx2(kernels.at(special), kernels.at(out), C.c_int64(7), kernels.place(0, 7))
    same(out, wanted)


@only_once
@pytest.mark.skipif("ONEDNN_MAX_CPU_ISA" in os.environ, reason="this is already one of them")
@pytest.mark.parametrize("most", ["AVX2", "SSE41"])
def test_gelu_of_another_onednn(most: str) -> None:
    """oneDNN's code is of the set that this variable allows. Each has its variant; below AVX2 there is none."""
    code = """
        import kernels, torch
        x = torch.randn(100_003) * 3
        print(kernels.recipe("gelu").name.decode(), kernels.difference(kernels.map1("gelu", x), torch.nn.functional.gelu(x)))
    """
    kernels.library()
    environment = dict(os.environ, ONEDNN_MAX_CPU_ISA=most)
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=os.path.dirname(__file__))
    name, _, found = done.stdout.strip().partition(" ")
    assert name == "gelu_on_avx2" and (found == "None") == (most == "AVX2"), done.stdout + done.stderr


@pytest.mark.parametrize("name", MAP2)
def test_map2(name: str) -> None:
    f = getattr(torch, name)
    for kind, (m, n) in itertools.product(FEW, SHAPES[::3]):
        x, y, row, col, first, one = (
            values(kind, s, i) for i, s in enumerate([(m, n), (m, n), (n,), (m, 1), (1, n), (1,)])
        )
        for a, b in [
            (x, y),
            (x, row),
            (row, x),
            (x, col),
            (col, x),
            (x, first),
            (col, first),
            (row, col),
            (x, one),
            (one, x),
        ]:
            same(kernels.map2(name, a, b), f(a, b), kind, tuple(a.shape), tuple(b.shape))
        same(kernels.map2(name, row, one), f(row, one), kind, (n,), (1,))
        same(kernels.map2(name, row, row.flip(0)), f(row, row.flip(0)), kind, (n,), (n,))


@pytest.mark.parametrize("name", ALONG)
def test_along(name: str) -> None:
    f = getattr(torch, name)
    for kind, shape in itertools.product(KINDS, SHAPES):
        x = values(kind, shape)
        for dim in (0, -1):
            if name == "argmax" and shape[dim] == 0:
                assert not kernels.rule(name, rows=shape[0], cols=shape[1], axis=dim == 0).exact
                continue
            assert kernels.rule(name, rows=shape[0], cols=shape[1], axis=int(dim == 0)).exact
            same(kernels.along(name, x, dim), f(x, dim), kind, shape, dim)
            if name in kernels.ROWWISE:
                same(kernels.along(name, x, dim, inplace=True), f(x, dim), kind, shape, dim, "in place")
        if x.numel():
            same(kernels.along(name, x.flatten(), -1), f(x.flatten(), 0), kind, shape, "rank 1")


@pytest.mark.parametrize("name", ALONG)
def test_along_matrices(name: str) -> None:
    """The second dimension of three; threads may begin in the middle of a matrix."""
    shapes = [(2, 2, 32), (3, 5, 7), (4, 16, 16), (1, 9, 33), (5, 64, 3), (2, 100, 8), (3, 7, 1), (40, 3, 64), (7, 33, 40)]
    for kind, shape in itertools.product(KINDS, [*shapes, (128, 2, 32), (30, 40, 50)]):
        if kernels.rule(name, rows=shape[1], cols=shape[2], matrices=shape[0], axis=kernels.FIRST).exact:
            x = values(kind, shape)
            same(kernels.along(name, x, 1), getattr(torch, name)(x, 1), kind, shape)
        else:
            assert shape == (30, 40, 50) and name in ("sum", "mean") and torch.get_num_threads() > 1


@pytest.mark.parametrize("name", ALONG)
def test_along_blocks(name: str) -> None:
    for (m, n), block in itertools.product([(40, 8), (33, 96), (17, 1), (3, 40000), (20, 1000)], [1, 3, 5, 16, 17]):
        rule = kernels.rule(name, rows=m, cols=n, axis=kernels.LAST)
        assert rule.blocks and rule.min_rows == 1
        x = values("special", (m, n))
        same(kernels.along(name, x, -1, block), getattr(torch, name)(x, -1), (m, n), block)
    assert not kernels.rule(name, rows=40, cols=8, axis=kernels.FIRST).blocks


def test_argmax_ties() -> None:
    for n in (1, 5, 8, 15, 16, 17, 40, 100):
        x = torch.randint(-2, 3, (64, n)).float()
        x[x == 0] = -0.0 if n % 2 else 0.0
        x[::3] = torch.where(torch.rand(22, n) < 0.1, torch.nan, x[::3])
        x[1::7] = -torch.inf
        same(kernels.along("argmax", x, -1), x.argmax(-1), n)
        same(kernels.along("argmax", x, 0), x.argmax(0), n)


def test_random_reductions(threads: int) -> None:
    """Some are long enough that the wheel splits one row, or the rows, over threads."""
    pick = random.Random(threads)
    most = [(20, 300), (300, 20), (3, 3000), (2000, 40), (3, 80000)]
    for i in range(RANDOM):
        m, n = pick.choices(most, [25, 25, 24, 24, 2])[0]
        shape = (pick.randint(1, m), pick.randint(1, n))
        x = values(pick.choice(KINDS), shape, i)
        for name, dim in itertools.product(SPLIT, (0, -1)):
            same(kernels.along(name, x, dim), getattr(torch, name)(x, dim), name, shape, dim)


# name, x, the other operands, options of kernels.matmul, what torch gives
MatmulCase = tuple[str, torch.Tensor, tuple[torch.Tensor, ...], dict[str, Any], torch.Tensor]


def matmul_cases(m: int, k: int, n: int, kind: str, seed: int) -> Iterator[MatmulCase]:
    x, w, wt, bias, v = (values(kind, s, seed + i) for i, s in enumerate([(m, k), (k, n), (n, k), (n,), (k,)]))
    yield "matmul", x, (w,), {}, x @ w
    yield "matmul", x, (wt,), {"transposed": True}, x @ wt.T
    yield "linear", x, (wt,), {"transposed": True}, F.linear(x, wt)
    yield "linear", x, (wt, bias), {"transposed": True}, F.linear(x, wt, bias)
    yield "mv", x, (v,), {}, x @ v
    yield "matmul", v, (w,), {}, v @ w


def check_matmul(m: int, k: int, n: int, kind: str, seed: int, block: int) -> int:
    """Also in blocks of about `block` rows, where the rule allows them. How many calls were our own tiles."""
    own = 0
    for name, x, arguments, options, wanted in matmul_cases(m, k, n, kind, seed):
        what = (name, options, len(arguments) == 2, (m, k, n), kind, seed)
        same(kernels.matmul(name, x, *arguments, **options), wanted, *what)
        rows, cols = (1 if x.dim() == 1 else m), (1 if name == "mv" else n)
        rule = kernels.rule(name, rows=rows, cols=cols, k=k, bias=len(arguments) == 2, transposed=bool(options))
        assert rule.exact
        size = max(block, rule.min_rows)
        if rule.blocks and (rows % size == 0 or rows % size >= rule.min_rows):
            same(kernels.matmul(name, x, *arguments, block=size, **options), wanted, *what, "blocks of", size)
            own += rule.min_rows == 1
    return own


def test_matmul_small() -> None:
    for m, k, n in itertools.product(
        [0, 1, 2, 3, 15, 16, 17, 33], [0, 1, 2, 5, 32, 96], [0, 1, 2, 8, 10, 16, 17, 32, 33]
    ):
        check_matmul(m, k, n, "normal", 1, 16)
    for m, k, n in [
        (1, 32, 32),
        (16, 33, 65),
        (64, 96, 96),
        (16, 384, 10),
        (16, 385, 10),
        (33, 767, 50),
        (20, 768, 97),
    ]:
        for kind in KINDS:
            check_matmul(m, k, n, kind, 2, 5)


def test_matmul_underflow(threads: int) -> None:
    """Products that vanish: which zero depends on the wheel's kernel, and that on what counts as transposed."""
    tiny = torch.tensor([1e-45, -1e-45, 1e-30, -1e-30, 3e-39, -2e-40])
    for m, k, n in itertools.product([1, 2, 3, 16, 17], [1, 2, 3, 16], [1, 2, 3, 8, 16, 17]):
        for seed in range(6):
            g = torch.Generator().manual_seed(seed)
            x, w, wt, v = (tiny[torch.randint(6, s, generator=g)] for s in [(m, k), (k, n), (n, k), (k,)])
            what = (m, k, n), seed, threads
            same(kernels.matmul("matmul", x, w), x @ w, *what)
            same(kernels.matmul("matmul", x, wt, transposed=True), x @ wt.T, *what)
            same(kernels.matmul("mv", x, v), x @ v, *what)
            same(kernels.matmul("matmul", v, w), v @ w, *what)


K_LIMITS = [1, 2, 3, *range(382, 388), *range(766, 772)]  # one chain, two, and the wheel's own from 769 on


def test_matmul_random(threads: int) -> None:
    pick = random.Random(threads)
    own = 0
    for i in range(RANDOM):
        m, k, n = pick.choices([(20, 40, 40), (130, 400, 130), (300, 1000, 300), (600, 768, 1100)], [40, 45, 12, 3])[0]
        k = pick.choice(K_LIMITS) if pick.random() < 0.03 else pick.randint(1, k)
        kind, block = pick.choice(KINDS), pick.randint(1, m)
        own += check_matmul(pick.randint(1, m), k, pick.randint(1, n), kind, i, block)
    assert own > RANDOM or kernels.isa() == 0 or kernels.law(threads) is None


def test_matmul_deep(threads: int) -> None:
    """Around what a law knows."""
    for m, k, n in [(40, 769, 30), (64, 1024, 96), (17, 2000, 5)]:
        check_matmul(m, k, n, "normal", 3, 16)
    intel = next(law for law in kernels.known_laws(1) if law.name == b"intel")
    for k, way in [(384, kernels.CHAINS), (768, kernels.CHAINS), (769, kernels.WHEEL)]:
        rule = kernels.rule("linear", intel, rows=40, cols=30, k=k, transposed=1)
        assert rule.way == (way if kernels.isa() else kernels.WHEEL)
        assert not (way == kernels.WHEEL and rule.blocks)


@only_once
def test_many_threads() -> None:
    """More threads than two split matmuls along k and down to a few columns: the rule must know which."""
    torch.set_num_threads(8)
    pick = random.Random(8)
    for i in range(RANDOM // 10):
        k = pick.choice([pick.randint(1, 768), pick.randint(1, 256), 96, 384])
        n = pick.choice([pick.randint(1, 130), 18, 33, 66, 8, 10, 32, 96])
        check_matmul(pick.randint(1, 130), k, n, "normal", i, pick.randint(1, 130))
    for shape in [(1, 32768), (1, 70001), (70001, 1), (3, 32769), (40, 1000), (1000, 65), (8, 100), (64, 513)]:
        x = values("normal", shape)
        for name in ("sigmoid", "silu", "gelu_tanh", "gelu"):
            wanted = kernels.operation(name)(x)
            same(kernels.map1(name, x), wanted, shape)
            same(kernels.map1(name, x, 1000), wanted, shape, "blocks")
        for name, dim in itertools.product(ALONG, (0, -1)):
            same(kernels.along(name, x, dim), getattr(torch, name)(x, dim), name, shape, dim)


@only_once
@pytest.mark.skipif("ATEN_CPU_CAPABILITY" in os.environ, reason="this is already one of them")
@pytest.mark.parametrize("capability", ["avx2", "default"])
def test_other_set(capability: str) -> None:
    if capability == torch.backends.cpu.get_cpu_capability().lower():
        pytest.skip("this host's own, which the other tests look at")
    kernels.library()
    environment = dict(os.environ, ATEN_CPU_CAPABILITY=capability, TENSORC_RECIPES_RANDOM=str(RANDOM // 30))
    files = [os.path.join(os.path.dirname(__file__), name) for name in ("test_recipes.py", "test_norms.py", "test_picks.py", "test_convs.py", "test_spreads.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", "not another" if SLOW else "not another and not threads2", *files]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
