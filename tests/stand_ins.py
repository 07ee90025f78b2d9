"""What the tests of tensorc.compile share: a model, and how two values are held together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def net(*, seed: int = 0) -> Any:
    import torch
    from torch import nn

    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3)).eval()
    model[1].running_mean.uniform_(-1, 1)
    return model


def same(want: Any, got: Any) -> None:
    from compare import difference, value

    assert difference(value(want), value(got)) is None


def unlike(a: Any, b: Any) -> None:
    from compare import value

    assert value(a) != value(b), "nothing would show that the guard is missing"


def info(fast: Any) -> Any:
    return getattr(fast, "__tensorc__", fast)


def each(names: Iterable[str], check: Callable[[str], None]) -> None:
    """One forked process for all of them, and every one that fails: a process's first exports take the longest."""
    faults = {}
    for name in names:
        try:
            check(name)
        except Exception as fault:
            faults[name] = f"{type(fault).__name__}: {str(fault)[:300]}"
    assert not faults, "\n".join(f"{name}: {fault}" for name, fault in faults.items())


def without_gradients() -> Any:
    import torch

    return torch.no_grad()
