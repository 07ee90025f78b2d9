"""Convolutions and pools in captured graphs: what a window reaches of its operand, with the bits of eager."""

from __future__ import annotations

from typing import Any

import pytest
from test_graph import Writer, load, ordinary, same, tensor
from workbench import has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

LINE, PLANE = (2, 3, 23), (2, 3, 9, 14)
POOLS: list[tuple[str, tuple[int, ...], tuple[Any, ...]]] = [
    *(("aten::max_pool1d", LINE, a) for a in (([3],), ([3], [1]), ([4], [2], [2]), ([2], [3], [1], [3]), ([3], [2], [1], [1], True), ([5], [4], 0, 1, True))),
    *(("aten::max_pool1d", sizes, ([2],)) for sizes in ((3, 8), (1, 1, 2), (0, 2, 6))),
    *(("aten::max_pool2d", PLANE, a) for a in (([2, 2],), ([3, 3], [2, 2], [1, 1]), ([2, 3], [1, 2], [1, 0], [2, 2]), ([3], [2], [1], [1], True), ([2, 5], []))),
    *(("aten::avg_pool1d", LINE, a) for a in (([3],), ([3], [1]), ([4], [2], [2]), ([4], [2], [2], False, False), ([5], [4], [1], True), ([5], [4], [2], True, False))),
    *(("aten::avg_pool2d", PLANE, a) for a in (([2, 2],), ([3, 3], [2, 2], [1, 1]), ([3, 2], [1, 1], [1, 0], False, False), ([3], [2], [1], True, True, 7), ([3], [2], [1], True, False, -7))),
    *(("aten::avg_pool2d", sizes, ([2, 2],)) for sizes in ((3, 4, 6), (0, 2, 4, 4))),
    *(("aten::adaptive_avg_pool1d", sizes, ([n],)) for n in (1, 4, 23, 30) for sizes in (LINE, (3, 23), (1, 1, 1))),
    *(("aten::adaptive_avg_pool2d", sizes, (n,)) for n in ([1, 1], [1, 5], [4, 1], [3, 4], [9, 14], [12, 20]) for sizes in (PLANE, (5, 9, 14))),
]  # fmt: skip
#          x, filters, arguments
CONVOLUTIONS: list[tuple[str, tuple[int, ...], tuple[int, ...], tuple[Any, ...]]] = [
    ("aten::conv1d", (batch, 5, 23), (7, 5, width), ([stride], [padding], [dilation]))
    for batch, width, stride in ((1, 3, 1), (1, 4, 2), (1, 1, 1), (3, 3, 1), (2, 5, 1))
    for padding in (0, 2, 7)
    for dilation in (1, 2)
]  # fmt: skip
CONVOLUTIONS += [
    ("aten::conv1d", (5, 23), (7, 5, 3), ([1], [1])),
    ("aten::conv1d.padding", (2, 5, 23), (7, 5, 3), ([1], "same", [2])),
    ("aten::conv1d.padding", (1, 5, 23), (7, 5, 4), ([1], "valid")),
    ("aten::conv1d", (16, 9, 36), (20, 9, 3), ([1], [4], [2])),
]


def write(w: Writer, x: list[Any]) -> list[Any]:
    def moved(t: Any) -> Any:
        """Computed inside, so that what reads it reads memory of the graph's own."""
        return w.call("aten::mul.Tensor", t, 1)

    pools = [w.call(schema, moved(t), *a) for (schema, _, a), t in zip(POOLS, x, strict=False)]
    convolutions = []
    for (schema, _, _, a), t, filters, bias in zip(CONVOLUTIONS, *(x[len(POOLS) + i :: 3] for i in range(3)), strict=True):
        convolutions += [w.call(schema, moved(t), filters, b, *a) for b in (bias, None)]
    return pools + convolutions


def arguments(seed: int, make: Any) -> list[Any]:
    pools = [tensor(seed + i, *sizes) for i, (_, sizes, _) in enumerate(POOLS)]
    sizes = [sizes for _, x, w, _ in CONVOLUTIONS for sizes in (x, w, (w[0],))]
    return pools + [make(seed + 100 + i, *s) for i, s in enumerate(sizes)]


@pytest.mark.parametrize("kernels", ["the host's", "default"])
def test_bits_of_eager(monkeypatch: pytest.MonkeyPatch, kernels: str) -> None:
    import torch

    if kernels == "default":  # torch asks at its first operation
        monkeypatch.setenv("ATEN_CPU_CAPABILITY", kernels)
        assert torch.backends.cpu.get_cpu_capability() == "DEFAULT"
    with torch.no_grad():
        writer = Writer(arguments(0, ordinary))
        results = write(writer, writer.kept[:])
        graph, _, native = load(writer.text(results), writer.functions)
        assert {(operation, way) for _, operation, way, _ in graph.report() if "pool" in operation or "conv" in operation} == (
            {(schema, "loop") for schema, _, _ in POOLS} | {(schema, "recipe") for schema, *_ in [*CONVOLUTIONS, *POOLS[-24:]]}
        )
        lines = {line.split(" ")[0]: line for line in writer.lines}
        for seed, make in ((0, ordinary), (1000, tensor), (2000, tensor)):
            inputs = arguments(seed, make)
            expected = write(Writer(inputs), inputs)
            got = native(*inputs)
            wrong = [lines[writer.argument(r)] for r, mine, eager in zip(results, got, expected, strict=True) if not same(mine, eager)]
            assert not wrong, "\n".join(map(str, wrong))
