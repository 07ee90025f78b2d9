"""layer_norm, rms_norm and batch_norm against torch, bit by bit; test_recipes.py runs them under the other sets, too."""

import itertools

import kernels
import pytest
import torch
import torch.nn.functional as F
from test_recipes import KINDS, same, threads, values  # noqa: F401

pytestmark = pytest.mark.isolated

# Around 8 lanes, 16 vectors of them, and trees of one, two and three levels.
WIDTHS = [*range(1, 18), 24, 31, 32, 33, 64, 96, 100, 127, 128, 129, 136, 200, 255, 256, 257, 280, 344, 384, 385, 520, 768, 1000, 1025, 2048, 4099]
EPS = [1e-5, 1e-12]


def affine(kind: str, n: int) -> list[tuple[torch.Tensor | None, torch.Tensor | None]]:
    weight, bias = values(kind, (n,), 1), values(kind, (n,), 2)
    return [(weight, bias), (weight, None), (None, bias), (None, None)]


def test_layer_norm(threads: int) -> None:  # noqa: F811
    for kind, n, rows in itertools.product(KINDS, WIDTHS[:: 5 * threads - 4], [1, 7]):
        x = values(kind, (rows, n))
        assert kernels.rule("layer_norm", rows=rows, cols=n).exact
        for (weight, bias), eps in itertools.product(affine(kind, n), EPS):
            wanted = F.layer_norm(x, (n,), weight, bias, eps)
            same(kernels.norm("layer_norm", x, weight, bias, eps=eps), wanted, kind, rows, n, eps)
            same(kernels.norm("layer_norm", x, weight, bias, eps=eps, block=3, inplace=True), wanted, kind, rows, n)


def test_layer_norm_of_steps() -> None:
    """Chunks, then lanes, that are constant in themselves: all of the variance comes from adding up moments."""
    g = torch.Generator().manual_seed(1)
    for n in [9, 13, 40, 63, 100, 128, 173, 280, 328, 360, 536, 600, 1072, 2056]:
        chunks = torch.randn(500, -(-n // 128), generator=g).repeat_interleave(128, 1)[:, :n]
        lanes = torch.randn(500, 8, generator=g).repeat(1, -(-n // 8))[:, :n]
        for x in (chunks.contiguous(), lanes.contiguous()):
            same(kernels.norm("layer_norm", x, None, None, eps=0.0), F.layer_norm(x, (n,), eps=0.0), n)


def test_rms_norm(threads: int) -> None:  # noqa: F811
    for kind, n, rows in itertools.product(KINDS, WIDTHS[:: 5 * threads - 4], [1, 7]):
        x, weight = values(kind, (rows, n)), values(kind, (n,), 1)
        assert kernels.rule("rms_norm", rows=rows, cols=n).exact
        for w, eps in itertools.product((weight, None), EPS):
            wanted = F.rms_norm(x, (n,), w, eps)
            same(kernels.norm("rms_norm", x, w, None, eps=eps, block=4), wanted, kind, rows, n, eps)
    long = values("normal", (1, 70001))
    assert kernels.rule("rms_norm", rows=1, cols=70001).exact == (threads == 1)
    if threads == 1:
        same(kernels.norm("rms_norm", long, None, None), F.rms_norm(long, (70001,), None, 1e-5))


def test_batch_norm(threads: int) -> None:  # noqa: F811
    shapes = [(rows, n) for rows in (1, 7) for n in WIDTHS[:: 5 * threads - 4]]
    shapes += [(2, 3, 4), (1, 8, 32), (5, 16, 31), (3, 17, 1), (1, 9, 100), (4, 3, 7, 7), (2, 8, 4, 4), (300, 40, 20)]
    for kind, shape in itertools.product(KINDS, shapes):
        n = shape[1]
        x, mean, var = values(kind, shape), values(kind, (n,), 3), values(kind, (n,), 4)
        assert kernels.rule("batch_norm", rows=shape[0], cols=n).exact
        for (weight, bias), eps in itertools.product(affine(kind, n), EPS):
            wanted = F.batch_norm(x, mean, var, weight, bias, False, 0.1, eps)
            same(kernels.norm("batch_norm", x, weight, bias, mean, var, eps), wanted, kind, shape, eps)
            same(kernels.norm("batch_norm", x, weight, bias, mean, var, eps, block=2, inplace=True), wanted, kind, shape)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "batch_norm"])
def test_of_nothing(name: str) -> None:
    assert not kernels.rule(name, rows=0, cols=3).exact and not kernels.rule(name, rows=3, cols=0).exact
