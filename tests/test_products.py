"""Products of tensors of any rank in a captured graph: eager's bits, at one thread and at two, and where they are recipes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from test_graph import Writer, load, ordinary, same, tensor
from workbench import SLOW, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

# batch, rows, summands, columns: ATen's own loops, chains, short chains, what stays the wheel's
SIZES = [(1, 9, 16, 9), (2, 9, 16, 9), (3, 16, 16, 16), (2, 5, 4, 7), (4, 1, 40, 16), (2, 17, 200, 24), (2, 3, 100, 8), (3, 33, 3, 40), (1, 1, 32, 64),
         (2, 64, 32, 1), (0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5), (6, 1, 1, 500), (2, 30, 1, 20), (2, 12, 530, 3), (1, 20, 30, 40), (2, 7, 7, 7), (1, 7, 8, 7), (2, 10, 8, 5)]  # fmt: skip
LIES = ("rows", "columns", "gaps", "steps", "heads", "one")


def lying(make: Callable[..., Any], seed: int, how: str, batch: int, rows: int, cols: int) -> Any:
    """[batch, rows, cols] that lies in this way."""
    if how == "rows":
        return make(seed, batch, rows, cols)
    if how == "columns":
        return make(seed, batch, cols, rows).transpose(1, 2)
    if how == "gaps":
        return make(seed, batch, rows, cols + 3)[:, :, 2 : cols + 2]
    if how == "steps":
        return make(seed, batch, rows, 2 * cols)[:, :, ::2]
    if how == "heads":
        return make(seed, rows, batch, cols).transpose(0, 1)
    return make(seed, 1, rows, cols).expand(batch, rows, cols)


@dataclass
class Computed:
    """An operand that does not come from outside: it wants no gradient."""

    of: Any


def products(make: Callable[..., Any], seed: int) -> tuple[list[Any], list[tuple[str, list[Any]]]]:
    """Inputs, and calls that name them by number."""
    inputs: list[Any] = []
    calls: list[tuple[str, list[Any]]] = []

    def add(schema: str, *arguments: Any) -> None:
        def kept(argument: Any) -> Any:
            if isinstance(argument, list):
                return [kept(item) for item in argument]
            if isinstance(argument, Computed):
                return Computed(kept(argument.of))
            if not hasattr(argument, "stride"):
                return argument
            inputs.append(argument)
            return ("input", len(inputs) - 1)

        calls.append((schema, [kept(argument) for argument in arguments]))

    for (batch, m, k, n), turn in itertools.product(SIZES, range(3)):
        of_x, of_w = LIES[(seed + turn) % 6], LIES[(seed // 6 + turn * 5 + batch + k) % 6]
        x, w = lying(make, seed, of_x, batch, m, k), lying(make, seed + 1, of_w, batch, k, n)
        add("aten::bmm", x, w)
        add("aten::matmul", x, w)
        add("aten::einsum", "bij,bjk->bik", [x, w])
        add("aten::einsum", "bij,bjk->kib", [x, w])
    q, k, v = (make(seed + i, 2, 10, 3, 4, 16)[:, :, i].transpose(1, 2) for i in range(3))
    add("aten::matmul", q, k.transpose(-1, -2))
    add("aten::matmul", q.transpose(-1, -2), v)
    add("aten::matmul", q[:1], k[:1].transpose(-1, -2))
    add("aten::matmul", q, k[:1].transpose(-1, -2))
    add("aten::matmul", q, k[0, :1].transpose(-1, -2))
    add("aten::matmul", make(seed, 2, 3, 8), make(seed + 1, 8, 5))
    add("aten::matmul", make(seed, 2, 3, 8), make(seed + 1, 5, 8).t())
    add("aten::matmul", make(seed, 2, 3, 8), make(seed + 1, 8))
    add("aten::matmul", make(seed, 5, 8), make(seed + 1, 8))
    add("aten::matmul", make(seed, 8), make(seed + 1, 8, 5))
    add("aten::mv", make(seed, 5, 8), make(seed + 1, 8))
    for (batch, m, k, n), how in itertools.product([(3, 5, 6, 7), (1, 5, 6, 7), (2, 17, 20, 24), (2, 1, 9, 5), (2, 3, 1, 4)], (*LIES, "folds")):
        x = make(seed, batch, m, 2 * k)[:, :, :k] if how == "folds" else lying(make, seed, how, batch, m, k)
        for other in ((make(seed + 1, k, n),), (make(seed + 1, n, k).t(),), (make(seed + 1, k),), (make(seed + 1, 1, k, n),)):
            add("aten::matmul", x, *map(Computed, other))
        for other in (make(seed + 1, n, m), make(seed + 1, m), make(seed + 1, 1, n, m)):
            add("aten::matmul", Computed(other), x)
    for (m, k, n), gap in itertools.product([(4, 16, 12), (33, 32, 40), (2, 31, 8), (3, 8, 5), (9, 200, 24), (9, 16, 8), (1, 8, 8), (5, 1, 6), (6, 7, 1)], (1, 4)):
        x = make(seed, m, 2, k + gap)[:, seed % 2, :k]
        add("aten::linear", x, make(seed + 1, n, k), make(seed + 2, n))
        add("aten::linear", x, make(seed + 1, n, k))
        add("aten::mm", x, make(seed + 1, k, n))
        add("aten::addmm", make(seed + 2, n), x, make(seed + 1, k, n))
        add("aten::addmm", make(seed + 2, n), x, make(seed + 1, n, k).t())
        add("aten::matmul", x, make(seed + 1, n, k).t())
    for equation, a, b in (
        ("bkoi,bi->bko", (2, 4, 16, 16), (2, 16)),
        ("bkoi,bi->bko", (1, 4, 16, 16), (1, 16)),
        ("bqhd,bkhd->bhqk", (2, 9, 4, 16), (2, 12, 4, 16)),
        ("bhqk,bkhd->bqhd", (2, 4, 9, 12), (2, 12, 4, 16)),
        ("i,j i -> j", (40,), (30, 40)),
        ("nabc,bcd->nad", (3, 4, 5, 6), (5, 6, 7)),
        ("ij,ij->i", (20, 30), (20, 30)),
        ("ij,kj->ki", (20, 30), (25, 30)),
        ("aij,jk->aik", (2, 20, 30), (30, 15)),
    ):
        add("aten::einsum", equation, [make(seed, *a), make(seed + 1, *b)])
    return inputs, calls


def call_all(call: Callable[..., Any], inputs: list[Any], calls: list[tuple[str, list[Any]]]) -> list[Any]:
    def given(argument: Any) -> Any:
        if isinstance(argument, list):
            return [given(item) for item in argument]
        if isinstance(argument, Computed):
            return call("aten::neg", given(argument.of))
        return inputs[argument[1]] if isinstance(argument, tuple) else argument

    return [call(schema, *map(given, arguments)) for schema, arguments in calls]


@pytest.mark.parametrize("kernels", ["the host's", "default"])
def test_products_have_the_bits_of_eager(monkeypatch: pytest.MonkeyPatch, kernels: str) -> None:
    import torch

    if kernels == "default":
        monkeypatch.setenv("ATEN_CPU_CAPABILITY", kernels)
        assert torch.backends.cpu.get_cpu_capability() == "DEFAULT"
    with torch.no_grad():
        for seed in (0, 11, 20) if SLOW else (11,):
            inputs, calls = products(ordinary, seed)
            writer = Writer(inputs)
            results = call_all(writer.call, inputs, calls)
            graph, _, native = load(writer.text(results), writer.functions)
            wheels = {why for _, _, way, why in graph.report() if way == "wheel"}
            assert wheels <= {"eager's way depends on whether an operand wants a gradient", "a sum of one operand", "its result is empty", "nothing to compute with", "an operand has gaps", "a matrix that has gaps"}
            for make, threads in ((ordinary, 1), (tensor, 1), (ordinary, 2), (tensor, 2), (ordinary, 3)):
                torch.set_num_threads(threads)
                inputs, calls = products(make, seed)
                expected = call_all(Writer(inputs).call, inputs, calls)
                wrong = [
                    (seed, make.__name__, threads, schema, [inputs[a[1]].shape if isinstance(a, tuple) else a for a in arguments])
                    for (schema, arguments), mine, eager in zip(calls, native(*inputs), expected, strict=True)
                    if not same(mine, eager)
                ]
                assert wrong == []


def test_products_are_no_calls() -> None:
    """Wherever eager does not copy a matrix to multiply it."""
    import torch

    def never(*args: Any, **keywords: Any) -> Any:
        raise AssertionError("torch's own function was called")

    calls: list[tuple[Any, ...]] = []
    for batch, m, k, n in [(1, 9, 16, 9), (2, 9, 16, 9), (4, 16, 16, 16), (2, 5, 4, 7), (2, 64, 32, 1), (3, 1, 32, 64), (2, 3, 100, 8)]:
        for of_x, of_w in itertools.product(("rows", "columns", "gaps"), repeat=2):
            calls.append(("aten::bmm", lying(ordinary, 0, of_x, batch, m, k), lying(ordinary, 1, of_w, batch, k, n)))
    q, k = (ordinary(i, 2, 10, 4, 16).transpose(1, 2) for i in range(2))
    calls += [
        ("aten::matmul", q, k.transpose(-1, -2)),
        ("aten::matmul", ordinary(0, 2, 3, 8), ordinary(1, 5, 8).t()),
        ("aten::matmul", ordinary(0, 2, 3, 8), ordinary(1, 8)),
        ("aten::linear", ordinary(0, 5, 3, 32)[:, -1], ordinary(1, 8, 32), ordinary(2, 8)),
        ("aten::addmm", ordinary(2, 16), ordinary(0, 5, 32), ordinary(1, 32, 16)),
        ("aten::addmm", ordinary(2, 16), ordinary(0, 5, 32), ordinary(1, 16, 32).t()),
        ("aten::mm", ordinary(0, 5, 3, 32)[:, -1], ordinary(1, 32, 16)),
        ("aten::einsum", "bkoi,bi->bko", [ordinary(0, 2, 4, 16, 16), ordinary(1, 2, 16)]),
        ("aten::einsum", "bqhd,bkhd->bhqk", [ordinary(0, 2, 9, 4, 16), ordinary(1, 2, 12, 4, 16)]),
    ]
    inputs = [x for _, *arguments in calls for argument in arguments for x in (argument if isinstance(argument, list) else [argument]) if isinstance(x, torch.Tensor)]
    with torch.no_grad():
        writer = Writer(inputs)
        expected = [writer.call(*call) for call in calls]
        _, _, native = load(writer.text(expected), {name: (never, constants) for name, (_, constants) in writer.functions.items()})
        for threads in (1, 2):
            torch.set_num_threads(threads)
            expected = [Writer(inputs).call(*call) for call in calls]
            assert [call for call, mine, eager in zip(calls, native(*inputs), expected, strict=True) if not same(mine, eager)] == []


def test_plan() -> None:
    """Copies where eager makes some, and what is left to torch, with its reason."""
    from tensorc import _tensorc

    text = """graph 1 torch
input %q : f32[2,4,3,5](60,5,20,1)
input %k : f32[2,4,5,3](60,5,1,20)
input %x : f32[5,7](7,1)
%heads = aten::matmul(%q, %k) : f32[2,4,3,3](36,9,3,1)
%one = aten::matmul(%x, %heads) : f32[2,4,5,3](60,15,3,1)
%attention = aten::scaled_dot_product_attention(%q, %q, %q) : f32[2,4,3,5](60,15,5,1)
%outer = aten::einsum("ab,cd->abcd", [%x, %x]) : f32[5,7,5,7](245,35,7,1)
return %one, %attention, %outer"""
    plan = _tensorc.Graph(text.encode(), "g").show("plan")
    assert plan.splitlines()[1:] == [
        "  a copy of %q: loop at 0",
        "  a copy of %k: loop at 512",
        "  %heads = aten::matmul: recipe into a tensor",
        "  %one = aten::matmul: wheel (eager's way depends on whether an operand wants a gradient)",
        "  %attention = aten::scaled_dot_product_attention: wheel (one kernel with an order of its own)",
        "  %outer = aten::einsum: wheel (not one product of matrices)",
    ]
