"""Operands with gaps in a captured graph: copied where eager's bits do not depend on how they lie, else left to torch."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from test_graph import Writer, load, ordinary, same, tensor
from workbench import has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

SIZES = [(7, 33), (16, 16), (3, 5, 17), (40, 3, 8), (1, 40), (5, 1), (2, 1, 9), (9, 1, 70), (60, 70, 9)]
LIES = ("slice", "step", "rows", "turned", "middle", "expanded")


def lying(make: Callable[..., Any], seed: int, how: str, sizes: tuple[int, ...]) -> Any:
    """A tensor of these sizes that lies in this way."""
    if how == "slice":
        return make(seed, *sizes[:-1], sizes[-1] + 5)[..., 2 : sizes[-1] + 2]
    if how == "step":
        return make(seed, *sizes[:-1], 2 * sizes[-1])[..., ::2]
    if how == "rows":
        return make(seed, 2 * sizes[0], *sizes[1:])[::2]
    if how == "turned":
        return make(seed, *sizes[::-1]).permute(*range(len(sizes) - 1, -1, -1))
    if how == "middle":
        return make(seed, sizes[0], sizes[1] + 2, *sizes[2:])[:, 1:-1]
    return make(seed, 1, *sizes[1:]).expand(*sizes)


MAPS = ("sigmoid", "silu", "exp", "tanh", "log", "sqrt", "gelu")
ALONG = ("softmax.int", "log_softmax.int", "cumsum", "cumprod", "argmax", "sum.dim_IntList", "mean.dim")


def everything(call: Callable[..., Any], make: Callable[..., Any], seed: int, inputs: list[Any]) -> list[Any]:
    """inputs: filled at the first time, read at the others."""
    out, taken = [], iter(list(inputs))

    def given(x: Any) -> Any:
        if (known := next(taken, None)) is not None:
            return known
        inputs.append(x)
        return x

    for sizes, how in itertools.product(SIZES, LIES):
        x = given(lying(make, seed, how, sizes))
        n = sizes[-1]
        weight, bias = given(ordinary(seed, n)), given(ordinary(seed + 1, n))
        out += [call(f"aten::{name}", x) for name in MAPS]
        out.append(call("aten::gelu", x, approximate="tanh"))
        out += [call(f"aten::{name}", x, [dim] if name.startswith(("sum", "mean")) else dim) for name in ALONG for dim in (0, -1)]
        out += [call("aten::layer_norm", x, [n]), call("aten::layer_norm", x, [n], weight, bias), call("aten::rms_norm", x, [n], weight)]
    return out


@pytest.mark.parametrize("kernels", ["the host's", "default"])
def test_gaps_have_the_bits_of_eager(monkeypatch: pytest.MonkeyPatch, kernels: str) -> None:
    import torch

    if kernels == "default":
        monkeypatch.setenv("ATEN_CPU_CAPABILITY", kernels)
        assert torch.backends.cpu.get_cpu_capability() == "DEFAULT"

    class Eager(Writer):
        """Without a text."""

        def call(self, schema: str, *args: Any, **keywords: Any) -> Any:
            name, overload = (schema.removeprefix("aten::").split(".") + ["default"])[:2]
            return getattr(getattr(torch.ops.aten, name), overload)(*args, **keywords)

    with torch.no_grad():
        inputs: list[Any] = []
        everything(Eager([]).call, ordinary, 0, inputs)
        writer = Writer(inputs)
        results = everything(writer.call, ordinary, 0, inputs)
        graph, _, native = load(writer.text(results), writer.functions)
        wheels = {operation.removeprefix("aten::") for _, operation, way, _ in graph.report() if way == "wheel"}
        # Of the first three, some lie in another order; sums follow it.
        assert wheels == {"sigmoid", "silu", "rms_norm", "gelu", "sum.dim_IntList", "mean.dim"}
        lines = [line for line in writer.lines if line.startswith("%")]
        for make, threads, seed in ((ordinary, 1, 0), (tensor, 1, 7), (ordinary, 2, 7)):
            torch.set_num_threads(threads)
            inputs = []
            expected = everything(Eager([]).call, make, seed, inputs)
            got = native(*inputs)
            assert [(make.__name__, threads, line) for line, mine, eager in zip(lines, got, expected, strict=True) if not same(mine, eager)] == []
