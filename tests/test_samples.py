"""torch's own test inputs (samples.py), few of each operator; `make samples` takes all of them."""

from __future__ import annotations

import importlib.util

import pytest
from workbench import SLOW

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="torch is not installed")]

# Operators with a row for graphs that torch has no inputs for under this name; tests/test_graph.py has some of each row.
NO_INPUTS = {"__and__", "__or__", "_to_copy", "_unsafe_view", "alias", "detach", "detach_", "dropout", "embedding", "index", "lift_fresh_copy", "pad", "silu", "swapaxes", "type_as", "hardsigmoid", "threshold"}


def test_every_operator_is_looked_at() -> None:
    import samples
    from torch.testing._internal.common_methods_invocations import op_db

    assert samples.known() - {op.aten_name for op in op_db} == NO_INPUTS


def test_samples(exporter: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import samples
    import torch

    if not SLOW:
        monkeypatch.setattr(samples, "DTYPES", (torch.float32,))
    counts = samples.run(None if SLOW else 1, mixed=True)
    assert not [text for count in counts.values() for text in count.wrong]
    assert {title for title, count in counts.items() if not count.native} <= {"narrow"}  # whose first samples have sizes that are values
    reasons = {reason for count in counts.values() for reason in count.python}
    assert all("PendingUnbackedSymbolNotFound" in reason or "writes to its argument" in reason for reason in reasons), reasons


def test_a_difference_is_seen(exporter: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import samples
    import tensorc
    import torch

    compiled = tensorc.compile
    counts = {"neg": samples.Count()}
    sample = samples.Sample("neg", torch.neg, [torch.ones(3)], [samples.Hole()], samples.tree_flatten(((0,), {}))[1])
    monkeypatch.setattr(tensorc, "compile", lambda f: compiled(lambda *args: [torch.zeros_like(x) for x in f(*args)]))
    samples.together([("neg", sample)], counts)
    assert counts["neg"].wrong and not counts["neg"].native
