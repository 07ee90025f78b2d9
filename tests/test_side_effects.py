"""tensorc.compile on models that do more than compute: their effects happen in each call, once, and random numbers are eager's."""

from __future__ import annotations

import copy
import os
import random
import sys
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stand_ins import each, info, same, unlike
from workbench import BODIES, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed"), pytest.mark.usefixtures("exporter")]


@pytest.fixture(autouse=True)
def _plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With a cache of its own: what an earlier run captured would not be captured again."""
    os.environ.pop("TENSORC_MODE", None)
    monkeypatch.setenv("TENSORC_CACHE_DIR", str(tmp_path / "cache"))
    yield


class Box:
    def __init__(self) -> None:
        self.seen: list[Any] = []


def effects_on_arguments() -> dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]]:
    """What a call does to its argument, beside its result."""
    import torch

    def x() -> Any:
        return torch.ones(2)

    return {
        "list": (lambda a: (a[0] * 2, a.append(1))[0], lambda: [x()]),
        "list in place": (lambda a: (a[0] * 2, a.__setitem__(1, 7))[0], lambda: [x(), 3]),
        "dictionary": (lambda a: (a["x"] * 2, a.update(y=1))[0], lambda: {"x": x()}),
        "order": (lambda a: (a["x"] * 2, a.move_to_end("x"))[0], lambda: OrderedDict(x=x(), y=1)),
        "deque": (lambda a: (a[0] * 2, a.append(1))[0], lambda: deque([x()])),
        "inner": (lambda a: (a[0][0] * 2, a[0].append(1))[0], lambda: ([x()],)),
        "requires_grad_": (lambda a: a.requires_grad_(), x),
        "attribute": (lambda a: (a * 2, setattr(a, "tag", 3))[0], x),
        "data": (lambda a: (a * 2, setattr(a, "data", torch.zeros(3)))[0], x),
    }


def test_effects_on_arguments_happen_in_each_call() -> None:
    import tensorc
    import torch

    def look(a: Any) -> Any:
        if isinstance(a, torch.Tensor):
            return a.detach().clone(), a.requires_grad, vars(a)
        return type(a).__name__, [look(v) for v in (a.items() if isinstance(a, dict) else a)] if not isinstance(a, (int, str)) else a

    def check(what: str) -> None:
        function, make = effects_on_arguments()[what]
        fast = tensorc.compile(function)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(3):
                a, b = make(), make()
                same(function(a), fast(b))
                same(str(look(a)), str(look(b)))
        unlike(str(look(make())), str(look(b)))

    each(effects_on_arguments(), check)


def keepers() -> dict[str, tuple[Any, Callable[[Any, Any], Any], tuple[str, ...]]]:
    """What a model keeps, what a call does with it, and what answers the calls after the third."""

    def cached(kept: Any, x: Any) -> Any:
        if "k" not in kept:
            kept["k"] = x * 2
        return kept["k"] + x

    return {
        "list": ([], lambda kept, x: (kept.append(x), sum(kept))[1], ("python",)),
        "count": ([0], lambda kept, x: (kept.__setitem__(0, kept[0] + 1), x * kept[0])[1], ("python",)),
        "set": (set(), lambda kept, x: (kept.add(len(kept)), x * len(kept))[1], ("python",)),
        "deque": (deque(maxlen=2), lambda kept, x: (kept.append(x), sum(kept))[1], ("python",)),
        "object": (Box(), lambda kept, x: (kept.seen.append(x), sum(kept.seen))[1], ("python",)),
        "inner": ({"a": []}, lambda kept, x: (kept["a"].append(x), sum(kept["a"]))[1], ("python",)),
        "cache": ({}, cached, BODIES),
        "read": ({"a": [2.0, (3.0,)]}, lambda kept, x: x * kept["a"][0] + kept["a"][1][0], BODIES),
    }


def test_what_a_model_keeps() -> None:
    """Nothing of a capture stays in it, and what is done to it is done in each call."""
    import tensorc
    import torch

    class Model(torch.nn.Module):
        def __init__(self, kept: Any, do: Any) -> None:
            super().__init__()
            self.kept, self.do = kept, do

        def forward(self, x: torch.Tensor) -> Any:
            return self.do(self.kept, x)

    def check(what: str) -> None:
        kept, do, bodies = keepers()[what]
        model, twin = Model(kept, do), Model(copy.deepcopy(kept), do)
        fast = tensorc.compile(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for n in range(24):
                x = torch.full((2,), float(n))
                same(twin(x), fast(x))
        same(str(vars(twin.kept) if what == "object" else twin.kept), str(vars(model.kept) if what == "object" else model.kept))
        assert info(fast).body in bodies, info(fast).stats()

    each(keepers(), check)


def test_what_a_capture_writes_is_taken_back() -> None:
    """Called with the tensor of the call before, this writes nothing; while it is captured, no tensor is that one."""
    import tensorc
    import torch

    kept: dict[str, Any] = {}
    seen = [deque([0]), {1}, Box()]

    def function(x: torch.Tensor) -> torch.Tensor:
        if kept.get("x") is not x:
            kept["x"] = x
            seen[0].append(x)
            seen[1].add(x)
            seen[2].seen.append(x)
        return x * 2

    fast, x = tensorc.compile(function), torch.ones(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            same(x * 2, fast(x))
    assert list(kept) == ["x"] and kept["x"] is x and list(seen[0]) == [0, x] and seen[1] == {1, x} and seen[2].seen == [x]


@pytest.mark.parametrize("freeze", [False, True])
def test_a_cache_that_grows_with_each_size(freeze: bool) -> None:
    """Versions that were made before it had grown make room for others."""
    import tensorc
    import torch

    class Rotary(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table: dict[int, Any] = {}

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if len(x) not in self.table:
                self.table[len(x)] = torch.arange(float(len(x))).cos()
            return x * self.table[len(x)]

    fast, twin = tensorc.compile(Rotary(), freeze=freeze), Rotary()
    n_calls = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            for size in range(1, 6):
                for other in (size, size, 1):
                    x = torch.randn(other)
                    same(twin(x), fast(x))
                    n_calls += 1
        for size in range(1, 6):
            fast(torch.randn(size))
            assert info(fast).body in BODIES, (size, info(fast).stats())
    stats = info(fast).stats()
    assert len(stats["versions"]) <= 12 and sum(stats[body] for body in BODIES) + sum(stats["python"].values()) == n_calls + 5


def test_numbers_in_lists_and_dictionaries_are_seen() -> None:
    import tensorc
    import torch

    table, factors, x = {"by": [2.0]}, [3.0], torch.ones(2)
    fast = tensorc.compile(lambda x: x * table["by"][0] + factors[0])
    results = []
    for change in (lambda: None, lambda: table["by"].__setitem__(0, 4.0), lambda: factors.__setitem__(0, 5.0), lambda: table.update(by=[7.0])):
        change()
        for _ in range(2):
            same(x * table["by"][0] + factors[0], fast(x))
            assert fast.body in BODIES
        results.append(fast(x))
    for a, b in zip(results, results[1:], strict=False):
        unlike(a, b)


def randoms() -> dict[str, Callable[[Any], Any]]:
    import numpy
    import torch

    return {
        "torch": lambda x: x + torch.rand(2),
        "dropout": lambda x: torch.nn.functional.dropout(x),
        "python": lambda x: x + random.random(),
        "numpy": lambda x: x + float(numpy.random.rand()),
        "seed": lambda x: (torch.manual_seed(7), x + 1)[1],
        "none": lambda x: x + 1,
    }


def test_random_numbers_are_eager_s() -> None:
    import numpy
    import tensorc
    import torch

    def draws(function: Callable[[Any], Any]) -> Any:
        torch.manual_seed(1)
        random.seed(1)
        numpy.random.seed(1)
        return [function(torch.ones(2)) for _ in range(3)], torch.rand(1), random.random(), float(numpy.random.rand())

    def check(what: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same(draws(randoms()[what]), draws(tensorc.compile(randoms()[what])))

    each(randoms(), check)


def test_what_is_printed_is_printed_once(capfd: pytest.CaptureFixture[str]) -> None:
    import tensorc
    import torch

    def function(x: torch.Tensor) -> torch.Tensor:
        print("seen", sys.stdout.isatty(), sys.stdout.encoding)
        return x + 1

    fast = tensorc.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            fast(torch.ones(2))
    assert capfd.readouterr().out.count("seen") == 3
