"""topk, max and min over a dimension against torch: values and indices, also of equal elements."""

import itertools

import kernels
import pytest
import torch
from test_recipes import KINDS, same, threads, values  # noqa: F401

pytestmark = pytest.mark.isolated


def check_topk(x: torch.Tensor, k: int, *what: object) -> None:
    assert kernels.rule("topk", rows=x.shape[0], cols=x.shape[1], k=k).exact
    for largest, in_order in itertools.product((True, False), (True, False)):
        wanted = torch.topk(x, k, -1, largest, in_order)
        for got, right in zip(kernels.pick("topk", x, k, largest=largest, in_order=in_order), wanted, strict=True):
            same(got, right, tuple(x.shape), k, largest, in_order, *what)


def tied(rows: int, n: int, distinct: int) -> torch.Tensor:
    """Few values, with 0, -0 and NaN among them."""
    table = torch.tensor([0.0, -0.0, float("nan"), 1.0, -1.0, float("inf"), 0.5, -2.0])
    g = torch.Generator().manual_seed(rows * 1000 + n)
    return table[torch.randint(distinct, (rows, n), generator=g)]


def test_topk() -> None:
    for n in [1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 64, 100, 257]:
        for k in sorted({1, 2, 3, n // 2, n - 1, n} & set(range(1, n + 1))):
            for kind in KINDS:
                check_topk(values(kind, (7, n)), k, kind)
            for distinct in (1, 2, 3, 8):
                check_topk(tied(30, n, distinct), k, distinct)


def test_topk_by_heap() -> None:
    """From 64 elements for each one that is wanted on."""
    for n, k in [(63, 1), (64, 1), (127, 2), (128, 2), (639, 10), (640, 10), (959, 15), (1023, 16), (2047, 32), (2048, 32)]:
        for distinct in (2, 8):
            check_topk(tied(10, n, distinct), k, distinct)


def adversary(n: int, nth: int) -> list[int]:
    """Ranks that a quickselect with the median of three cuts off one or two at a time, made up while it compares (the method of
    McIlroy's "A killer adversary for quicksort": an element gets the least rank left when it has to have one)."""
    free, fixed, candidate = n, 0, 0
    rank, a, first, last = [free] * n, list(range(n)), 0, n

    def before(x: int, y: int) -> bool:
        nonlocal fixed, candidate
        if rank[x] == rank[y] == free:
            rank[x if x == candidate else y] = fixed
            fixed += 1
        candidate = x if rank[x] == free else y if rank[y] == free else candidate
        return rank[x] < rank[y]

    while last - first > 3:
        x, y, z = first + 1, first + (last - first) // 2, last - 1
        if before(a[x], a[y]):
            median = y if before(a[y], a[z]) else z if before(a[x], a[z]) else x
        else:
            median = x if before(a[x], a[z]) else z if before(a[y], a[z]) else y
        a[first], a[median] = a[median], a[first]
        cut, to = first + 1, last
        while True:
            while before(a[cut], a[first]):
                cut += 1
            to -= 1
            while before(a[first], a[to]):
                to -= 1
            if cut >= to:
                break
            a[cut], a[to] = a[to], a[cut]
            cut += 1
        first, last = (cut, last) if cut <= nth else (first, cut)
    return rank


def test_topk_that_partitions_badly() -> None:
    """Quickselect, and the sort behind it, go on by a heap where they get nowhere."""
    for n, k in [(2048, 1500), (1000, 999), (600, 500), (300, 200)]:
        ranks = torch.tensor(adversary(n, k - 1)).float()
        check_topk(torch.stack([ranks, -ranks, ranks // 3, -(ranks // 3), torch.arange(n).float()]), k)
    wanted = torch.tensor(adversary(999, 998)).float()
    check_topk(torch.stack([torch.cat([sign * wanted, torch.tensor([-sign * 1e9])]) for sign in (1, -1)]), 1000)


def test_topk_sizes() -> None:
    assert not kernels.rule("topk", rows=1, cols=4, k=5).exact and not kernels.rule("topk", rows=1, cols=4, k=0).exact
    assert kernels.rule("topk", rows=1, cols=2048, k=5).exact and not kernels.rule("topk", rows=1, cols=2049, k=5).exact


@pytest.mark.parametrize("name", ["max", "min"])
def test_extreme(name: str, threads: int) -> None:  # noqa: F811
    for rows, n in itertools.product([1, 2, 7, 16, 33], [1, 2, 3, 7, 8, 9, 16, 31, 33, 100, 1000][:: 3 * threads - 2]):
        for x in (*(values(kind, (rows, n)) for kind in KINDS), tied(rows, n, 2), tied(rows, n, 8)):
            for dim in (0, 1):
                assert kernels.rule(name, rows=rows, cols=n, axis=int(dim == 0)).exact
                for got, right in zip(kernels.pick(name, x, 1, dim), getattr(torch, name)(x, dim), strict=True):
                    same(got, right, rows, n, dim)
    assert not kernels.rule(name, rows=3, cols=0).exact
