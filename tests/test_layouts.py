"""One body, many layouts: an operation that has no recipe, or whose operand lies in a way that none is for, runs by the wheel
inside the body; the others stay recipes. Values, strides and what ran where are held against eager."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from workbench import HEAD, Project, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

UNARY = ("relu", "tanh", "sigmoid", "exp", "abs", "neg", "square", "sqrt", "rsqrt")

SOURCE = HEAD + "".join(f"\ndef {name}(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x.{name}()\n\n" for name in UNARY) + '''
def shift(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return (b + x).relu() * b


def both(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return (x - y) / y.exp()


def rows(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.abs().sum(dim=1)


def columns(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.abs().mean(dim=0)


def kept(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.neg().sum(dim=1, keepdim=True)


def pick(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.neg().argmax(dim=1)


def soft(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.tanh().softmax(dim=1).sqrt()


def dense(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.linear(x.neg(), w, b).tanh()


def product(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return (x @ w).relu()


def vector(x: TensorF32Cpu2D, v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return (x @ v).tanh()


def turns(x: TensorF32Cpu2D, w: TensorF32Cpu2D, s: TensorF32Cpu1D, n: int) -> TensorF32Cpu2D:
    h = F.linear(x, w)
    for i in range(n):
        w = torch.rsqrt(w) * s
        h = h + F.linear(x, w)
    return h


def passed_on(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    y = x
    for i in range(n):
        y = y.relu()
    return y


def printed(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    y = x.relu()
    print(n)
    return y.tanh()


def raised(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    y = x.relu()
    if 6 // n == 2:
        raise ValueError("two")
    return y.tanh()

'''


@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    return Project(module_folder / "layouts", {"m.py": SOURCE}).build()


def layouts(rows: int, columns: int) -> dict[str, Any]:
    """The same values as views of every kind."""
    import torch

    x = torch.randn(rows, columns)
    x[0, -1] = -0.0
    wide = torch.randn(rows, columns + 5)
    wide[:, 3 : 3 + columns] = x
    tall = torch.randn(2 * rows, columns)
    tall[::2] = x
    gaps = torch.randn(rows, 2 * columns)
    gaps[:, ::2] = x
    flat = torch.empty(rows * columns + 1)[1:].view(rows, columns)
    flat.copy_(x)
    return {
        "contiguous": x,
        "turned": x.t().contiguous().t(),
        "wide rows": wide[:, 3 : 3 + columns],
        "every second row": tall[::2],
        "every second column": gaps[:, ::2],
        "one float further": flat,
        "turned, with gaps": gaps[:, ::2].t().contiguous().t()[: rows - 1] if rows > 2 else x,
        "one row, expanded": x[:1].expand(rows, columns),
        "one column, expanded": x[:, :1].expand(rows, columns),
    }


def same(want: Any, got: Any) -> bool:
    import torch

    if want.shape != got.shape or want.dtype != got.dtype or want.stride() != got.stride():
        return False
    if not want.is_floating_point():
        return bool(torch.equal(want, got))
    bits = [t.contiguous().nan_to_num(7.0).view(torch.int32) for t in (want, got)]
    return torch.equal(*bits) and torch.equal(want.isnan(), got.isnan())


SHAPES = [(1, 1), (1, 9), (7, 1), (5, 17), (16, 32), (33, 8), (70, 96), (300, 40)]


@pytest.mark.parametrize("threads", [1, 2])
def test_every_layout(built: Project, threads: int) -> None:
    """Every function on every layout: eager's bits and strides, never in Python."""
    import torch

    m = built.load("m", "native")
    torch.set_num_threads(threads)
    wrong, compared = [], 0
    for rows, columns in SHAPES:
        torch.manual_seed(rows * 1000 + columns)
        views = layouts(rows, columns)
        bias, weight, vector = torch.randn(columns), layouts(13, columns), torch.randn(2 * columns)[::2]
        calls: list[tuple[str, str, tuple[Any, ...]]] = []
        for name, x in views.items():
            calls += [(f, name, (x,)) for f in (*UNARY, "rows", "columns", "kept", "pick", "soft")]
            calls += [("shift", name, (x, b)) for b in (bias, vector)]
            calls += [("passed_on", name, (x, n)) for n in (0, 2)]
            calls += [("vector", name, (x, v)) for v in (bias, vector)]
            calls += [("both", f"{name} and {other}", (x, y)) for other, y in views.items() if y.shape == x.shape]
            calls += [("dense", f"{name} by {other}", (x, w, torch.randn(len(w)))) for other, w in weight.items()]
            calls += [("product", f"{name} by {other}", (x, w.t())) for other, w in weight.items()]
        for function, layout, args in calls:
            f = getattr(m, function)
            compared += 1
            if not same(f.__wrapped__(*args), f(*args)):
                wrong.append((function, layout, (rows, columns)))
    assert not wrong, (len(wrong), wrong[:10])
    assert compared > 2000
    for f in (getattr(m, name) for name in UNARY):
        assert f.stats()["library"] == 0 and f.stats()["python"] == {}


def test_what_runs_where(built: Project) -> None:
    """A turned matrix is read where it lies; of gaps, the first operation is the wheel's, and its result is as any other."""
    import torch

    m = built.load("m", "native")
    for x, function, wheel in (
        (torch.randn(6, 5), "soft", {}),
        (torch.randn(5, 6).t(), "tanh", {}),
        (torch.randn(5, 6).t(), "rows", {}),
        (torch.randn(6, 10)[:, ::2], "soft", {"tanh": 1}),
        (torch.randn(6, 10)[:, ::2], "rows", {"abs": 1}),
        (torch.randn(5, 6).t(), "soft", {"softmax": 1}),
    ):
        f = getattr(m, function)
        before = f.stats()["wheel"]
        assert same(f.__wrapped__(x), f(x)) and f.body == "exact"
        after = f.stats()["wheel"]
        assert {k: n - before.get(k, 0) for k, n in after.items() if n != before.get(k, 0)} == wheel, function


def test_a_call_that_prints_or_raises(built: Project, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither costs the recipes, and both are done once, at any size."""
    import torch

    m = built.load("m", "native")
    for rows in (3, 2000):
        x = torch.randn(rows, 33)
        assert same(m.printed.__wrapped__(x, 5), m.printed(x, 5)) and m.printed.body == "exact"
        assert capfd.readouterr().out == "5\n5\n"
        assert same(m.raised.__wrapped__(x, 5), m.raised(x, 5)) and m.raised.body == "exact"
        with pytest.raises(ValueError, match="two"):
            m.raised(x, 3)
        with pytest.raises(ZeroDivisionError):
            m.raised(x, 0)
    assert m.printed.stats()["wheel"] == m.raised.stats()["wheel"] == {}


def test_a_weight_that_changes(built: Project) -> None:
    """A weight that the function itself computes lies where the one before it lay: nothing of that one may be left."""
    import torch

    m = built.load("m", "native")
    for rows, out, inner, gaps in ((32, 32, 32, 1), (32, 32, 32, 2), (40, 96, 768, 1), (300, 64, 64, 1), (300, 64, 64, 2)):
        x, s = torch.rand(rows, inner), torch.rand(inner) + 0.5
        w = (torch.rand(out, inner * gaps) + 0.1)[:, ::gaps]
        for n in (0, 1, 3):
            assert same(m.turns.__wrapped__(x, w, s, n), m.turns(x, w, s, n)), (rows, out, inner, gaps, n)


def test_random_layouts(built: Project) -> None:
    """Random strides, offsets and sizes through the functions of two and more operations."""
    import torch

    m = built.load("m", "native")
    rng = random.Random(20261201)
    for turn in range(400):
        rows, columns = rng.choice([1, 2, 3, 8, 31, 64, 130]), rng.choice([1, 2, 5, 16, 31, 48])
        step, width = rng.choice([1, 1, 2]), columns + rng.choice([0, 0, 3])
        base = torch.randn(rows * 2 + 3, width * step + 2)
        x = base[rng.randrange(3) :, rng.randrange(2) :: step][:rows, :columns]
        if rng.random() < 0.4:
            x = x.t().contiguous().t() if rng.random() < 0.7 else x.t()
        b = torch.randn(x.shape[1] * 2)[:: rng.choice([1, 2])][: x.shape[1]]
        for function, args in [("shift", (x, b)), ("soft", (x,)), ("rows", (x,)), ("columns", (x,)), ("pick", (x,))]:
            f = getattr(m, function)
            assert same(f.__wrapped__(*args), f(*args)), (turn, function, tuple(x.shape), x.stride(), b.stride())
