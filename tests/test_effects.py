"""Models that write to tensors, draw random numbers, or have sizes that depend on values: natively, as eager does it, once."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from workbench import BODIES

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="torch is not installed")]


def writers() -> dict[str, tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]]:
    """Functions of what they may write to, and their arguments for each call."""
    import torch
    from torch.nn import functional as F

    def x(n: int) -> Any:
        return torch.randn(4, 6, generator=torch.Generator().manual_seed(n))

    def one(n: int) -> Any:
        return (x(n),)

    def twice(n: int) -> Any:
        a = x(n)
        return a, a

    def overlapping(n: int) -> Any:
        a = torch.randn(30, generator=torch.Generator().manual_seed(n))
        return a[:24].view(4, 6), a[6:].view(4, 6)

    def between(a: torch.Tensor) -> Any:
        """What was read before a write keeps its value; a view does not."""
        before, view, later = a * 2 + 1, a[1], a.exp()
        a.add_(1)
        return before, view, later + a, view * 2

    def halves(a: torch.Tensor) -> Any:
        a[:2].mul_(3)
        a[2:] = a[:2] + 1
        return a.sum(0)

    def own(a: torch.Tensor) -> Any:
        y = torch.zeros(4, 6)
        y[:, 1:] = a[:, 1:].relu()
        y[0].fill_(7)
        return y, y.t()

    def made_once(a: torch.Tensor) -> Any:
        y = torch.zeros(6)
        y[0] += a[0, 0]
        return y

    def both(a: torch.Tensor, b: torch.Tensor) -> Any:
        c = b.relu()
        a.mul_(b + 2)
        return c + a, b - 1

    def order(a: torch.Tensor) -> Any:
        v = a.view(-1)
        u = v + 1
        v.sigmoid_()
        w = v + 1
        a.zero_()
        return u, w, v

    def scatter(a: torch.Tensor) -> Any:
        index = torch.tensor([[0, 1, 2, 3, 0, 1]])
        out = torch.zeros(4, 6).scatter_add_(0, index, a[:1])
        a.index_put_((torch.tensor([1, 1]),), a[0].clone(), accumulate=True)
        a.masked_fill_(a > 1, -1.0).clamp_(-0.5, 0.5)
        a[torch.tensor([3, 0])] = torch.zeros(2, 6)
        return out, a.copy_(a.flip(0))

    def random(a: torch.Tensor) -> Any:
        noise = torch.randn_like(a)
        return F.dropout(a, 0.5) + noise, torch.bernoulli(a.sigmoid()), torch.rand(3), a.uniform_(0, 1)

    return {"between": (between, one), "halves": (halves, one), "own": (own, one), "made once": (made_once, one), "both": (both, overlapping), "given twice": (both, twice),
            "order": (order, one), "scatter": (scatter, one), "random": (random, one)}  # fmt: skip


def dependers() -> dict[str, Callable[[Any], Any]]:
    """Functions whose sizes depend on values."""
    import torch

    def keep(a: torch.Tensor) -> Any:
        kept = a[a[:, 0] > 0]
        return kept * 2 + 1, kept.sum(0), kept.shape[0], kept.mean()

    def places(a: torch.Tensor) -> Any:
        at = (a > 0.5).nonzero()
        return at, at.size(0) + 1, a.exp().sum(1)

    def item(a: torch.Tensor) -> Any:
        return a * a.max().item(), a.min().item()

    def unique(a: torch.Tensor) -> Any:
        values, counts = (a * 2).long().unique(return_counts=True)
        return values, counts, values.to(torch.float32) / counts

    def fill(a: torch.Tensor) -> Any:
        b = torch.sigmoid(a)
        b[a > 0] = 0.0
        return b

    return {"keep": keep, "places": places, "item": item, "unique": unique, "fill": fill}


def picture(results: Any, arguments: Any) -> Any:
    import torch
    from compare import value

    return value(results), value(arguments), value(torch.get_rng_state())


def differences(function: Callable[..., Any], fast: Callable[..., Any], make: Callable[[int], tuple[Any, ...]]) -> list[str]:
    import torch
    from compare import difference

    out = []
    for n in range(4):
        pictures = []
        for call in (function, fast):
            torch.manual_seed(n)
            arguments = make(n)
            with torch.inference_mode(n == 3):
                pictures.append(picture(call(*arguments), arguments))
        wrong = difference(*pictures)
        if wrong:
            out.append(f"call {n}: {wrong}")
    return out


@pytest.mark.parametrize("mode", ["auto", "native", "compare"])
def test_writes(exporter: None, mode: str) -> None:
    import tensorc

    wrong = {}
    with tensorc.mode(mode):
        for name, (function, make) in writers().items():
            fast = tensorc.compile(function)
            found = differences(function, fast, make)
            if found or fast.body not in BODIES:
                wrong[name] = found, fast.stats()["python"]
    assert not wrong


@pytest.mark.parametrize("mode", ["auto", "native", "compare"])
def test_sizes_that_depend_on_values(exporter: None, mode: str) -> None:
    import tensorc
    import torch

    wrong = {}
    with tensorc.mode(mode):
        for name, function in dependers().items():
            fast = tensorc.compile(function)
            found = differences(function, fast, lambda n: (torch.randn(5, 3, generator=torch.Generator().manual_seed(n)),))
            if found or fast.body not in BODIES:
                wrong[name] = found, fast.stats()["python"]
    assert not wrong


def test_buffers(exporter: None) -> None:
    """Statistics, counters and caches of a model: each call's write is seen by the next, and by the model itself."""
    import tensorc
    import torch

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(3)
            self.register_buffer("count", torch.zeros((), dtype=torch.int64))
            self.register_buffer("cache", torch.zeros(8, 3))

        def forward(self, x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
            y = self.norm(x).relu()
            self.count += 1
            self.cache.index_copy_(0, at, y)
            return y + self.cache.mean(0) * self.count

    torch.manual_seed(0)
    model = Model()
    twin = Model()
    twin.load_state_dict(model.state_dict())
    fast = tensorc.compile(model)
    with torch.no_grad():
        for n in range(4):
            x, at = torch.randn(2, 3), torch.tensor([n, n + 1])
            assert torch.equal(fast(x, at), twin(x, at))
            for name, want in twin.state_dict().items():
                assert torch.equal(model.state_dict()[name], want), (n, name)
    assert fast.body in BODIES and int(model.count) == 4


def test_what_fails_has_happened_once(exporter: None) -> None:
    """An error behind a write is eager's, and the write is not made again."""
    import tensorc
    import torch

    def function(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x.index_select(0, at)

    fast = tensorc.compile(function)
    with torch.no_grad():
        fast(torch.zeros(3), torch.tensor([1]))
        x = torch.zeros(3)
        with pytest.raises(IndexError):
            fast(x, torch.tensor([5]))
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_changes_that_no_graph_has() -> None:
    import tensorc
    import torch

    def function(x: torch.Tensor) -> torch.Tensor:
        x.mul_(2)
        x.tag = 1
        return x

    fast = tensorc.compile(function)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            x = torch.ones(2)
            assert fast(x).tolist() == [2.0, 2.0] and x.tag == 1
    assert fast.body == "python"
