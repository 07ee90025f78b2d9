"""Every TensorFlow recipe against eager TensorFlow on the CPU, bit by bit, kernels called under FTZ and DAZ.

Eigen's operations are compared with the kernels of each set that this CPU runs; oneDNN's (softmax, matmul) with the set
that oneDNN uses, the other one in a process with ONEDNN_MAX_CPU_ISA. Those two have a variant for processes where oneDNN
is off: one of the two is compared here, the other one in a process with TF_ENABLE_ONEDNN_OPTS. Thread counts are tried in
a process each too.
TENSORC_RECIPES_RANDOM: how many random shapes (300, 1,000 by make slow). All floats through the unary recipes: tf_sweep.py, SWEEP.md.
"""

import itertools
import json
import os
import random
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")

import tf_kernels as kernels  # noqa: E402
from workbench import SLOW  # noqa: E402

RANDOM = int(os.environ.get("TENSORC_RECIPES_RANDOM", "1000" if SLOW else "300"))
if "TENSORC_TF_THREADS" in os.environ:
    tf.config.threading.set_intra_op_parallelism_threads(kernels.THREADS)
MAP1 = {
    "relu": tf.nn.relu,
    "sigmoid": tf.nn.sigmoid,
    "tanh": tf.nn.tanh,
    "abs": tf.abs,
    "neg": tf.negative,
    "square": tf.square,
    "exp": tf.exp,
    "log": tf.math.log,
    "sqrt": tf.math.sqrt,
}
MAP2 = {
    "add": tf.add,
    "sub": tf.subtract,
    "mul": tf.multiply,
    "div": tf.divide,
    "maximum": tf.maximum,
    "minimum": tf.minimum,
}
ALONG = {"sum": tf.reduce_sum, "mean": tf.reduce_mean, "argmax": tf.argmax, "softmax": tf.nn.softmax}

SPECIAL = [0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 1.1754942e-38, -3e-39, 1.1754944e-38, 3.4028235e38, -3.4028235e38]
SPECIAL += [
    88.8,
    -88.8,
    88.722,
    87.0,
    -87.0,
    -87.4,
    -103.9,
    -104.0,
    -104.1,
    16.6355324,
    16.7,
    7.90738964,
    -8.0,
    1.0,
    -1.0,
]
SPECIAL += [20.0, -9.1, 0.5, 2e-7, -1e-20, 1e-20]
KINDS = ["normal", "wide", "bits", "special", "nan", "ties"]

SHAPES = [(rows, cols) for rows in (1, 2, 3, 17) for cols in range(1, 101)]
SHAPES += [(64, 96), (512, 96), (128, 8), (33, 257), (1, 4096), (17, 1), (4096, 1), (300, 2), (1000, 13), (1000, 65)]
MAP_SHAPES = [(rows, cols) for rows in (1, 3) for cols in [*range(1, 41), 47, 49, 63, 64, 65, 66, 79, 95, 96, 97, 100]]
MAP_SHAPES += [(17, cols) for cols in (1, 5, 7, 10, 15, 17, 33, 97)]
MAP_SHAPES += [(64, 96), (128, 8), (33, 257), (1, 4096), (4096, 1), (300, 2), (1000, 13), (1000, 65), (0, 5), (5, 0)]
SHAPES += [(0, 5), (5, 0), (1, 8191), (1, 8192), (1, 8193), (1, 40009), (2, 70001), (3, 20003), (20003, 3), (40000, 1)]
BIG = [(1, 99999), (99999, 1), (2, 300007), (300007, 2), (700, 1501), (1003, 1001)]

SETS = [which for which in (kernels.AVX2, kernels.AVX512) if kernels.runs(which)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "which" in metafunc.fixturenames:
        metafunc.parametrize("which", SETS, ids=lambda which: ["baseline", "avx2", "avx512"][which])


def values(kind: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    g = np.random.default_rng([seed, KINDS.index(kind), *shape])
    if kind == "bits":
        return g.integers(0, 1 << 32, shape, np.uint32).view(np.float32)
    if kind == "ties":
        return np.where(g.random(shape) < 0.3, np.float32(-0.0), g.integers(-2, 3, shape)).astype(np.float32)
    x = g.standard_normal(shape, np.float32)
    if kind == "wide":
        x = x * 10.0 ** (g.random(shape) * 76 - 38)
    if kind in ("special", "nan"):
        table = np.array(SPECIAL + ([np.nan] * 2 if kind == "nan" else []), np.float32)
        x = np.where(g.random(shape) < 0.3, g.choice(table, shape), x * 4)
    with np.errstate(over="ignore"):
        return np.asarray(x, np.float32)


def same(got: np.ndarray, wanted: "tf.Tensor", *what: object) -> None:
    found = kernels.difference(got, wanted.numpy())
    assert found is None, f"{found} {what}"


# ── elementwise ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", MAP1)
def test_map1(name: str, which: int) -> None:
    assert kernels.rule(name, which, rows=3, cols=5).blocks
    for kind, shape in itertools.product(KINDS, MAP_SHAPES):
        x = values(kind, shape)
        wanted = MAP1[name](tf.constant(x))
        same(kernels.map1(name, x, which=which), wanted, kind, shape)
        same(kernels.map1(name, x, inplace=True, which=which), wanted, kind, shape, "in place")
        same(kernels.map1(name, x.flatten(), which=which), MAP1[name](tf.constant(x.flatten())), kind, shape, "rank 1")


@pytest.mark.parametrize("name", MAP1)
def test_map1_blocks(name: str, which: int) -> None:
    for kind, n, block in itertools.product(KINDS, [1, 7, 8, 9, 15, 31, 100, 1001], [1, 2, 3, 5, 8, 13, 16, 30, 96]):
        x = values(kind, (n,))
        same(kernels.map1(name, x, block, which=which), MAP1[name](tf.constant(x)), kind, n, block)


@pytest.mark.parametrize("name", MAP1)
def test_map1_big(name: str, which: int) -> None:
    for n in (100003, 1000001, 1048579):
        x = values("special", (n,))
        same(kernels.map1(name, x, which=which), MAP1[name](tf.constant(x)), n)


def tails_of_8() -> dict[str, list[list[int]]]:
    """8 + 7 elements as eager has them and as the recipe has them, as bits. e^x, log x > 0; sigmoid(x) is e^x here."""
    bits = {}
    for name, begin, end in (("exp", 0, 30), ("log", 2, 90), ("sigmoid", -80, -20)):
        x = np.linspace(begin, end, 15, dtype=np.float32)
        both = MAP1[name](tf.constant(x)).numpy(), *(kernels.map1(name, x, which=which) for which in SETS)
        bits[name] = [found.view(np.int32).tolist() for found in both]
    return bits


SHIFTED = """#define _GNU_SOURCE
#include <dlfcn.h>
#define SHIFT(f) float f(float x) { \\
  union { float (*call)(float); void *found; } wheel = {.found = dlsym(RTLD_NEXT, #f)}; \\
  union { float y; int bits; } result = {wheel.call(x)}; \\
  result.bits++; \\
  return result.y; }
SHIFT(expf)
SHIFT(logf)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="takes LD_PRELOAD")
def test_tails_call_the_c_library(tmp_path: Path) -> None:
    """exp, log, sigmoid: with another expf and logf eager's tails and ours change alike, and packets don't."""
    source, shim = tmp_path / "shifted.c", tmp_path / "shifted.so"
    source.write_text(SHIFTED)
    compiler = shlex.split(os.environ.get("CC", "gcc"))
    flags = ["-O1", "-fPIC", "-fno-builtin", "-shared", "-Wl,--no-as-needed"]
    subprocess.run([*compiler, *flags, source, "-o", shim, "-lm", "-ldl"], check=True)
    plain = tails_of_8()  # builds the kernels for both
    preload = [*os.environ.get("LD_PRELOAD", "").split(), str(shim)]
    code = "import json, test_tf_recipes; print(json.dumps(test_tf_recipes.tails_of_8()))"
    options = {"env": dict(os.environ, LD_PRELOAD=" ".join(preload)), "cwd": os.path.dirname(__file__)}
    done = subprocess.run([sys.executable, "-c", code], **options, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    for name, shifted in json.loads(done.stdout.splitlines()[-1]).items():
        for before, now in zip(plain[name], shifted, strict=True):
            assert now == plain[name][0][:8] + [bits + 1 for bits in plain[name][0][8:]], name
            assert before == plain[name][0], name


def operands(shape: tuple[int, int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    rows, cols = shape
    for other in (shape, (cols,), (1, cols), (rows, 1), (1, 1), ()):
        yield shape, other
        if other != shape:
            yield other, shape


@pytest.mark.parametrize("name", MAP2)
def test_map2(name: str, which: int) -> None:
    tails = name in ("maximum", "minimum")
    assert kernels.rule(name, which, rows=3, cols=5).align == (8 if tails else 1)
    for i, (kind, shape) in enumerate(itertools.product(KINDS, MAP_SHAPES)):
        for left, right in operands(shape):
            exact = kernels.rule(name, which, rows=shape[0], cols=shape[1], full=left == right).exact
            assert exact or (tails and left != right)
            if not exact:
                continue
            a, b = values(kind, left, 1), values(kind, right, 2)
            wanted = MAP2[name](tf.constant(a), tf.constant(b))
            same(kernels.map2(name, a, b, which=which), wanted, kind, left, right)
            full = "ab"[i % 2] if left == right else "a" if left == shape else "b"
            same(kernels.map2(name, a, b, inplace=full, which=which), wanted, kind, left, right, "in place")


@pytest.mark.parametrize("name", MAP2)
def test_map2_blocks(name: str, which: int) -> None:
    for cols, block in itertools.product([1, 3, 5, 8, 12, 33], [1, 2, 4, 8, 16]):
        if block * cols % kernels.rule(name, which, rows=40, cols=cols).align:
            continue
        for kind, (left, right) in itertools.product(KINDS, operands((43, cols))):
            a, b = values(kind, left, 1), values(kind, right, 2)
            got = kernels.map2(name, a, b, block, which=which)
            same(got, MAP2[name](tf.constant(a), tf.constant(b)), kind, left, right, block)


@pytest.mark.parametrize("name", MAP2)
def test_map2_big(name: str, which: int) -> None:
    for shape in [
        (1, 100003),
        (1003, 1001),
        (250001, 3),
        (3, 250001),
        (7, 40001),
        (1000, 72),
        (300, 808),
        (40, 8192),
        (1, 8191),
    ]:
        for left, right in operands(shape):
            if not kernels.rule(name, which, rows=shape[0], cols=shape[1], full=left == right).exact:
                continue
            a, b = values("ties", left, 1), values("ties", right, 2)
            same(kernels.map2(name, a, b, which=which), MAP2[name](tf.constant(a), tf.constant(b)), left, right)


def test_bias_add(which: int) -> None:
    for kind, (m, n) in itertools.product(KINDS, MAP_SHAPES):
        x, bias = values(kind, (m, n)), values(kind, (n,))
        wanted = tf.nn.bias_add(tf.constant(x), tf.constant(bias))
        same(kernels.map2("bias_add", x, bias, which=which), wanted, kind, (m, n))
        same(kernels.map2("bias_add", x, bias, 3, which=which), wanted, kind, (m, n), "blocks")


# ── along a dimension ────────────────────────────────────────────────────────────────────────────────────────────────


def sets_of(name: str) -> list[int]:
    return [kernels.isa()] if name == "softmax" else SETS


def check_along(name: str, x: np.ndarray, *what: object) -> None:
    for axis in (0, -1) if name != "softmax" else (-1,):
        sizes = {"rows": x.shape[0], "cols": x.shape[1], "axis": int(axis == 0)}
        if name == "argmax" and x.shape[axis] == 0:
            assert not kernels.rule(name, **sizes).exact
            continue
        wanted = ALONG[name](tf.constant(x), axis=axis)
        for which in sets_of(name):
            if not kernels.rule(name, which, **sizes).exact:
                assert name == "softmax" and not kernels.onednn() and x.size > 6952
                continue
            same(kernels.along(name, x, axis, which=which), wanted, name, x.shape, axis, which, *what)


@pytest.mark.parametrize("name", ALONG)
def test_along(name: str) -> None:
    for kind, shape in itertools.product(KINDS, SHAPES):
        x = values(kind, shape)
        check_along(name, x, kind)
        if 0 < x.size <= 100000:
            flat = x.flatten()
            if not kernels.rule(name, rows=1, cols=flat.size).exact:
                assert name == "softmax" and not kernels.onednn() and x.size > 6952
                continue
            same(kernels.along(name, flat, -1), ALONG[name](tf.constant(flat), axis=0), kind, shape, "rank 1")


@pytest.mark.parametrize("name", ALONG)
def test_along_big(name: str) -> None:
    for kind, shape in itertools.product(("normal", "special"), BIG):
        check_along(name, values(kind, shape), kind)


@pytest.mark.parametrize("name", ALONG)
def test_along_blocks(name: str) -> None:
    for (m, n), block in itertools.product(
        [(40, 8), (33, 96), (17, 1), (3, 40001), (20, 1000), (50, 10)], [1, 3, 5, 16, 17]
    ):
        rule = kernels.rule(name, rows=m, cols=n, axis=kernels.LAST)
        if name == "softmax" and not kernels.onednn() and n > 6952:
            assert not rule.exact
            continue
        assert rule.blocks and rule.min_rows == 1 and rule.align == 1
        for kind, which in itertools.product(("special", "nan"), sets_of(name)):
            x = values(kind, (m, n))
            got = kernels.along(name, x, -1, block, which=which)
            same(got, ALONG[name](tf.constant(x), axis=-1), kind, (m, n), block, which)
    assert not kernels.rule(name, rows=40, cols=8, axis=kernels.FIRST).blocks


def test_argmax_ties(which: int) -> None:
    g = np.random.default_rng(5)
    for n in (1, 5, 8, 15, 16, 17, 40, 100):
        x = g.integers(-2, 3, (64, n)).astype(np.float32)
        x[x == 0] = [-0.0, 0.0, 1e-40][n % 3]
        x[::3][g.random((22, n)) < 0.1] = np.nan
        x[1::7] = -np.inf
        x[2::7] = np.nan
        x[4::7, n // 2] = np.finfo(np.float32).min
        same(kernels.along("argmax", x, -1, which=which), tf.argmax(x, axis=-1), n)
        same(kernels.along("argmax", x, 0, which=which), tf.argmax(x, axis=0), n)


def test_random_along() -> None:
    pick = random.Random(7)
    for i in range(RANDOM):
        m, n = pick.choice([(20, 300), (300, 20), (3, 3000), (2000, 40)])
        shape = (pick.randint(1, m), pick.randint(1, n))
        x = values(pick.choice(KINDS), shape, i)
        for name in ALONG:
            check_along(name, x, i)


def test_sum_beyond(which: int) -> None:
    assert not kernels.rule("sum", which, rows=1, cols=110000, threads=2).exact
    assert not kernels.rule("mean", which, rows=110000, cols=1, axis=kernels.FIRST, threads=2).exact
    assert kernels.rule("sum", which, rows=1, cols=110000, threads=1).exact


# ── matmul, transpose ────────────────────────────────────────────────────────────────────────────────────────────────


def check_matmul(m: int, k: int, n: int, kind: str, seed: int, block: int) -> None:
    x, w = values(kind, (m, k), seed), values(kind, (k, n), seed + 1)
    rule = kernels.rule("matmul", rows=m, cols=n, k=k)
    if not rule.exact:
        assert not kernels.onednn() and kernels.THREADS > 1 and m * k * n > 16384
        return
    assert rule.blocks and rule.min_rows == 1
    wanted = tf.matmul(tf.constant(x), tf.constant(w))
    same(kernels.matmul(x, w), wanted, (m, k, n), kind, seed)
    same(kernels.matmul(x, w, block), wanted, (m, k, n), kind, seed, "blocks of", block)


def test_matmul_small() -> None:
    rows = [0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 33]
    for m, k, n in itertools.product(rows, [0, 1, 2, 3, 5, 7, 8, 32, 96], [0, 1, 2, 7, 8, 9, 10, 15, 16, 17, 32, 33]):
        check_matmul(m, k, n, "normal", 1, 5)
    shapes = [
        (1, 32, 32),
        (16, 33, 65),
        (64, 96, 96),
        (16, 384, 10),
        (16, 385, 10),
        (33, 767, 50),
        (20, 768, 97),
        (9, 769, 5),
    ]
    shapes += [
        (1, 1000, 128),
        (1, 2000, 7),
        (2, 2000, 1),
        (100, 257, 1),
        (49, 255, 16),
        (96, 256, 17),
        (145, 513, 24),
        (7, 1200, 9),
    ]
    for (m, k, n), kind in itertools.product(shapes, KINDS):
        check_matmul(m, k, n, kind, 2, 7)


def test_matmul_random() -> None:
    pick = random.Random(3)
    for i in range(RANDOM):
        while True:
            most = pick.choices(
                [(20, 40, 40), (130, 400, 130), (300, 1000, 300), (1, 1500, 300), (400, 900, 1), (4, 60, 5000)]
            )[0]
            m, k, n = (pick.randint(1, size) for size in most)
            if kernels.rule("matmul", rows=m, cols=n, k=k).exact:
                break
        check_matmul(m, k, n, kind=pick.choice(KINDS), seed=i, block=pick.randint(1, m))


def test_matmul_beyond() -> None:
    for m, k, n in [(600, 1, 600), (300, 600, 300), (1, 512, 512)]:
        assert not kernels.rule("matmul", rows=m, cols=n, k=k).exact
    if not kernels.onednn():  # shared by threads, in ways that depend on their number
        for m, k, n in [(1, 300, 65), (129, 300, 1), (2000, 17, 1), (1, 17, 2000), (200, 900, 10), (200, 96, 96)]:
            assert kernels.rule("matmul", rows=m, cols=n, k=k, threads=1).exact
            assert not kernels.rule("matmul", rows=m, cols=n, k=k, threads=2).exact
    assert not kernels.rule("matmul", rows=2, cols=2, k=2, transposed=1).exact


def test_transpose(which: int) -> None:
    for kind, shape in itertools.product(
        ("bits", "special"), [*SHAPES, (16, 16), (32, 48), (100, 100), (8, 24), (257, 130)]
    ):
        x = values(kind, shape)
        got, wanted = kernels.transpose(x, which), tf.transpose(tf.constant(x)).numpy()
        assert (got.view(np.uint32) == wanted.view(np.uint32)).all(), (kind, shape)


# ── sets ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_baseline_has_none() -> None:
    for name in [*MAP1, *MAP2, *ALONG, "bias_add", "matmul", "transpose"]:
        assert not kernels.rule(name, kernels.BASELINE, rows=3, cols=3, k=3).exact
        assert kernels.recipe(name).kernel[kernels.BASELINE] is None


@pytest.mark.skipif("TENSORC_TF_THREADS" in os.environ, reason="this is already one of them")
@pytest.mark.parametrize("most", ["ALL", "AVX2"])
@pytest.mark.parametrize(("onednn", "threads"), [(onednn, n) for n in (1, 2, 5) for onednn in (False, True) if SLOW or n == (2 if onednn else 5)])
def test_other_process(onednn: bool, threads: int, most: str) -> None:
    if most == "AVX2" and kernels.AVX512 not in SETS:
        pytest.skip("all that this processor has is AVX2")
    environment = dict(os.environ, TF_ENABLE_ONEDNN_OPTS=str(int(onednn)), ONEDNN_MAX_CPU_ISA=most)
    environment["TENSORC_TF_THREADS"] = str(threads)
    environment["TENSORC_RECIPES_RANDOM"] = str(RANDOM // 10)
    chosen = "softmax or random or big or (matmul and small)" if threads == 2 else "random or big"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", chosen, __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
