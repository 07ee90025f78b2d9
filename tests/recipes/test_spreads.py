"""prod, norm, var and std over a dimension against torch, bit by bit."""

import itertools
from collections.abc import Callable

import kernels
import pytest
import torch
from test_recipes import KINDS, same, threads, values  # noqa: F401

pytestmark = pytest.mark.isolated

WIDTHS = [*range(1, 34), 47, 64, 100, 257, 1000]
OPERATIONS: dict[str, Callable[[torch.Tensor, int], torch.Tensor]] = {
    "prod": lambda x, dim: torch.prod(x, dim),
    "norm": lambda x, dim: torch.linalg.vector_norm(x, 2, dim),
    "var": lambda x, dim: torch.var(x, dim),
    "std": lambda x, dim: torch.std(x, dim),
    "var_biased": lambda x, dim: torch.var(x, dim, correction=0),
    "std_biased": lambda x, dim: torch.std(x, dim, unbiased=False),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_spread(name: str, threads: int) -> None:  # noqa: F811
    shapes = [(rows, n) for rows in (1, 2, 7, 33) for n in WIDTHS[:: 9 * threads - 8]]
    for kind, shape, dim in itertools.product(KINDS, [*shapes, (300, 200), (1, 40000), (40000, 1), (2, 40000)], (0, -1)):
        n, lines = shape[dim], shape[-1 - dim]
        exact = lines > 1 or (dim == -1 and n < 32768 and name in ("prod", "norm"))
        exact &= n > 1 if name == "norm" else n < 32 or dim == 0 or name != "prod"
        assert kernels.rule(name, rows=shape[0], cols=shape[1], axis=int(dim == 0)).exact == exact, (shape, dim)
        if not exact:
            continue
        x = values(kind, shape)
        got = kernels.along(name, x, dim, 5 if dim else 0)
        same(got, OPERATIONS[name](x, dim), kind, shape, dim)


@pytest.mark.parametrize("name", OPERATIONS)
def test_of_nothing(name: str) -> None:
    assert not kernels.rule(name, rows=3, cols=0).exact
