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
