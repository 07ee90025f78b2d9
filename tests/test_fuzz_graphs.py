"""Random programs of tensor operations (fuzz_graphs.py): some here, `make fuzz-graphs` has as many as one wants."""

from __future__ import annotations

import importlib.util
import warnings
from collections import Counter

import pytest
from workbench import SLOW

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="torch is not installed")]


def test_graphs(exporter: None) -> None:
    import fuzz_graphs

    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for number in range(1_000_000, 1_000_000 + (200 if SLOW else 12)):
        program = fuzz_graphs.Program(number)
        found = fuzz_graphs.wrong(program, counts)
        assert found is None, fuzz_graphs.cut_down(program)
    assert counts["native"] >= 8 and counts["loop"] > 50 and counts["recipe"] > 10


def test_a_difference_is_found_and_cut_down(exporter: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that gives another value when it is captured."""
    import fuzz_graphs
    import torch

    warnings.simplefilter("ignore")
    planted = lambda x: x.neg() if torch.compiler.is_compiling() else x  # noqa: E731
    program = fuzz_graphs.Program(1_000_000)
    n = len(program.inputs)
    program.inputs = [torch.ones(3)] * n
    program.fresh = lambda seed: [torch.ones(3)] * n  # type: ignore[method-assign]
    monkeypatch.setitem(fuzz_graphs.OPERATIONS, "planted", (planted, 1, fuzz_graphs.NONE))
    program.steps, program.returned = [("square", [0], ()), ("planted", [n], ()), ("exp", [n + 1], ())], [n + 2]
    assert fuzz_graphs.wrong(program, Counter()) is not None
    assert "planted(v" in fuzz_graphs.cut_down(program).splitlines()[-2]


def test_what_was_found(exporter: None) -> None:
    """Programs cut down to what differed once."""
    import tensorc
    import torch
    from tensorc.same import difference
    from torch.nn import functional as F
    from workbench import BODIES

    def randn(*sizes: int) -> torch.Tensor:
        return torch.randn(sizes, generator=torch.Generator().manual_seed(1))

    found = {
        "linear of nothing": (lambda x: F.linear(x, x), torch.zeros(1, 0)),
        "a row by a column that is turned": (lambda x: x.neg() @ torch.ones_like(x.view(1, 100)).transpose(1, 0), torch.randn(100, generator=torch.Generator().manual_seed(0)) * 5),
        "reshape of nothing": (lambda x: x.narrow(0, 3, 0).flatten(), torch.ones(3, 5).t()),
        "softmax before ones": (lambda x: (x.softmax(-2), x.log_softmax(1)), randn(3, 40, 1)),
        "gelu of columns": (lambda x: F.gelu(x), randn(7, 3).t()),
        "zero minus": (lambda x: (0.0 - x.min(0)[1], 0.0 - x.abs(), torch.zeros_like(x) - x.square()), torch.zeros(3)),
    }
    wrong = {}
    with torch.no_grad():
        for name, (function, x) in found.items():
            fast = tensorc.compile(function)
            for _ in range(2):
                want, got = (y if isinstance(y, tuple) else (y,) for y in (function(x), fast(x)))
                unlike = difference(want, got, [x])
                if unlike or fast.body not in BODIES:
                    wrong[name] = unlike or fast.stats()["python"]
    assert not wrong
