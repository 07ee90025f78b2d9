"""torch.compile(model, backend="tensorc"): Dynamo's graphs, with eager's bits."""

from __future__ import annotations

import importlib.metadata
import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from stand_ins import same
from workbench import BODIES, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed"), pytest.mark.usefixtures("exporter")]


@pytest.fixture(autouse=True)
def _plain() -> Iterator[None]:
    os.environ.pop("TENSORC_MODE", None)
    yield


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What stands in for each graph of Dynamo's."""
    from tensorc import dynamo

    seen: list[Any] = []

    class Seen(dynamo.Compiled):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            seen.append(self)

    monkeypatch.setattr(dynamo, "Compiled", Seen)
    return seen


def test_torch_finds_it() -> None:
    """Without importing it before it is asked for."""
    from torch._dynamo.backends.registry import list_backends

    (point,) = importlib.metadata.entry_points(group="torch_dynamo_backends", name="tensorc")
    assert point.value == "tensorc.dynamo:backend" and "tensorc" in list_backends()


def test_models(graphs: list[Any]) -> None:
    import models
    import torch

    for name in ("mlp_bn", "gru", "policy", "series"):
        graphs.clear()
        model, _ = models.make(name, 2)
        fast = torch.compile(model, backend="tensorc")
        with torch.no_grad():
            for batch in (2, 2, 3, 5, 2):
                args = models.example(name, batch, batch)
                same(model(*args), fast(*args))
                assert graphs[-1].body in BODIES or graphs[0].body in BODIES
        assert graphs and not any(graph.stats()["python"] for graph in graphs), name


def test_a_graph_break(graphs: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    def function(x: Any, n: int) -> Any:
        y = x * n
        print("in between")
        return {"y": y.relu() + x.shape[0], "x": x}

    fast, x = torch.compile(function, backend="tensorc"), torch.randn(2, 3)
    for n in (2, 3, 2):
        same(function(x, n), fast(x, n))
        assert fast(x, n)["x"] is x
    assert len(graphs) >= 2 and all(graph.body in BODIES for graph in graphs)
    assert capsys.readouterr().out.count("in between") == 9


def test_effects(graphs: list[Any]) -> None:
    """Writes and random numbers happen in each call, once; gradients are Dynamo's graph's own."""
    import torch

    def writes(x: Any) -> Any:
        x.add_(1)
        return x * 2

    def draws(x: Any) -> Any:
        return x + torch.rand(2)

    for function in (writes, draws):
        fast = torch.compile(function, backend="tensorc")
        a, b = torch.ones(2), torch.ones(2)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in range(3):
                torch.manual_seed(1)
                want = function(a)
                torch.manual_seed(1)
                same((want, a), (fast(b), b))
        assert not [str(w.message) for w in seen if "tensorc" in str(w.message)]
    model, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    fast = torch.compile(model, backend="tensorc")
    with pytest.warns(RuntimeWarning, match=r"torch\.inference_mode"):
        fast(x).sum().backward()
    assert model.weight.grad is not None


def test_weights_that_change(graphs: list[Any]) -> None:
    import torch

    model, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    fast = torch.compile(model, backend="tensorc")
    with torch.inference_mode():
        same(model(x), fast(x))
        model.weight.mul_(2)
        same(model(x), fast(x))
        model.weight = torch.nn.Parameter(torch.ones(2, 3))
        same(model(x), fast(x))
    assert graphs[-1].body in BODIES
