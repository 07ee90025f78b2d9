"""Operations of captured graphs with two results, values and their indices: where each of them lies, and who reads it."""

from __future__ import annotations

from typing import Any

import pytest
from test_graph import Writer, load, same, tensor
from workbench import has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

CALLS: list[tuple[str, tuple[int, ...], tuple[Any, ...]]] = [
    ("aten::topk", (6, 10), (4,)),
    ("aten::topk", (6, 10), (4, -1, False)),
    ("aten::topk", (2, 3, 33), (33, 2, True, False)),
    ("aten::topk", (2, 3000), (5,)),  # more columns than the recipe takes
    ("aten::topk", (7,), (0,)),
    ("aten::topk", (300, 12), (2,)),
    ("aten::max.dim", (6, 10), (1,)),
    ("aten::max.dim", (6, 10), (0, True)),
    ("aten::min.dim", (3, 4, 5), (1,)),
    ("aten::min.dim", (3, 4, 5), (-3, True)),
    ("aten::max.dim", (1,), (0,)),
    ("aten::max.dim", (0, 3), (1,)),
]


def write(w: Writer, x: list[Any], reads: tuple[int, ...]) -> list[Any]:
    results = []
    for (schema, _, a), t in zip(CALLS, x, strict=True):
        both = w.call(schema, w.call("aten::mul.Tensor", t, 1), *a)
        results += [w.call("aten::neg", both[i]) for i in reads]  # from the call's own memory
        results += [both[i] for i in reads if schema != "aten::topk"]  # tensors
    return results


@pytest.mark.parametrize("reads", [(0, 1), (0,), (1,)], ids=["both", "values", "indices"])
def test_bits_of_eager(reads: tuple[int, ...]) -> None:
    import torch

    with torch.no_grad():
        for seed in (0, 100):
            inputs = [tensor(seed + i, *sizes) for i, (_, sizes, _) in enumerate(CALLS)]
            inputs[5] = inputs[5].round()  # many that are equal
            if seed == 0:
                writer = Writer(inputs)
                unread = [f"getitem(%n{i}, {1 - reads[0]})" for i in range(999)] if len(reads) == 1 else []
                results = write(writer, inputs, reads)
                writer.lines = [line for line in writer.lines if not any(part in line for part in unread)]
                graph, _, native = load(writer.text(results), writer.functions)
                assert [way for _, operation, way, _ in graph.report() if operation in ("aten::topk", "aten::max.dim", "aten::min.dim")] == ["recipe"] * 11 + ["wheel"]
            expected = write(Writer(inputs), inputs, reads)
            wrong = [i for i, (mine, eager) in enumerate(zip(native(*inputs), expected, strict=True)) if not same(mine, eager)]
            assert not wrong


def test_parts_are_written_with_their_node() -> None:
    """What comes between an operation and the reading of its parts must not lie where they do, nor they where it reads."""
    import torch

    with torch.no_grad():
        x = tensor(3, 64, 16)
        w = Writer([x])
        doubled = w.call("aten::mul.Tensor", x, 2)
        indices = w.call("aten::topk", doubled, 8)[1]  # as many bytes as what they are the indices of
        between = w.call("aten::cumsum", x, 1)
        results = [w.call("aten::neg", indices), w.call("aten::neg", between)]
        parts = [line for line in w.lines if "getitem" in line]
        at = next(i for i, line in enumerate(w.lines) if "cumsum" in line)
        w.lines = [line for line in w.lines[: at + 1] if line not in parts] + parts + w.lines[at + 1 :]
        graph, _, native = load(w.text(results), w.functions)
        assert "wheel" not in {way for _, _, way, _ in graph.report()}
        assert all(map(same, native(x), results))
