"""make samples: torch's own inputs for the tests of its operators (op_db), each through a captured graph, held against eager.

Of each operator that compiler/ops.def knows, on the CPU, for float32, int64 and bool: every sample's result has eager's bits,
dtype, sizes and strides, or both raise. Many samples are one graph; where such a graph is refused its samples are graphs of
their own. Prints per operator how many samples ran natively and which way, what stayed Python and why, and what differs.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

ROOT = Path(__file__).resolve().parent.parent
DTYPES = (torch.float32, torch.int64, torch.bool)
ROW = re.compile(r'\b(?:GRAPH\(\w+,|(?:VIEW|POINT|GATHER|FOLD|ONCE) *\()\s*"aten::(\w+)')
TOGETHER = 24  # samples in one graph


def known() -> set[str]:
    """Names of the operators that have a row for graphs."""
    return set(ROW.findall((ROOT / "compiler" / "ops.def").read_text()))


@dataclass
class Sample:
    """One call of an operator."""

    name: str  # "aten::clamp float32 #3"
    function: Any
    tensors: list[torch.Tensor]
    rest: list[Any]  # what is not a tensor; a Hole where one is
    structure: Any

    def call(self, tensors: list[torch.Tensor]) -> Any:
        given = iter(tensors)
        args, kwargs = tree_unflatten([next(given) if isinstance(x, Hole) else x for x in self.rest], self.structure)
        return self.function(*args, **kwargs)


class Hole:
    pass


@dataclass
class Count:
    native: int = 0
    raised: int = 0
    python: Counter[str] = field(default_factory=Counter)  # per reason
    ways: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def samples(most: int | None = None) -> Iterator[tuple[str, Sample]]:
    """(operator, sample); of each operator and dtype the first `most`."""
    from torch.testing._internal.common_methods_invocations import op_db

    names = known()
    for op in op_db:
        if op.aten_name not in names:
            continue
        title = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        for dtype in DTYPES:
            if dtype not in op.dtypes:
                continue
            torch.manual_seed(1)
            for n, given in enumerate(op.sample_inputs("cpu", dtype)):
                if n == most:
                    break
                flat, structure = tree_flatten(((given.input, *given.args), given.kwargs))
                rest = [Hole() if isinstance(x, torch.Tensor) else x for x in flat]
                tensors = [x for x in flat if isinstance(x, torch.Tensor)]
                yield title, Sample(f"{title} {str(dtype).removeprefix('torch.')} #{n}", op.op, tensors, rest, structure)


def outcome(call: Any, *args: Any) -> Any:
    from compare import value

    try:
        return value(call(*args))
    except Exception as error:
        return "raises", type(error).__name__


def together(chosen: list[tuple[str, Sample]], counts: dict[str, Count]) -> None:
    """Runs these samples as one graph. Where that one is refused or differs, each as its own."""
    import tensorc
    from compare import difference

    good = []
    for title, sample in chosen:
        if (found := outcome(sample.call, sample.tensors))[0] == "raises":
            fast = tensorc.compile(lambda *tensors, s=sample: s.call(list(tensors)))
            counts[title].raised += 1
            if (mine := outcome(fast, *sample.tensors)) != found:
                counts[title].wrong.append(f"{sample.name}: {mine!r:.100}, eager {found!r:.100}")
        else:
            good.append((title, sample))

    def every(lists: list[list[torch.Tensor]]) -> list[Any]:
        return [sample.call(tensors) for (_, sample), tensors in zip(good, lists)]

    fast = tensorc.compile(every)
    lists = [sample.tensors for _, sample in good]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            got = fast(lists)
    if fast.body == "python" and len(good) > 1:
        for one in good:
            together([one], counts)
        return
    from compare import value

    for (title, sample), mine in zip(good, got):
        wrong = difference(outcome(sample.call, sample.tensors), value(mine))
        if wrong:
            counts[title].wrong.append(f"{sample.name}: {wrong}")
        elif fast.body == "python":
            counts[title].python[max(fast.stats()["python"], key=len)] += 1
        else:
            counts[title].native += 1
    if len({title for title, _ in good}) == 1 and fast.body != "python":
        for operations in fast.report().values():
            counts[good[0][0]].ways.update(row.way for row in operations)


def run(most: int | None = None, only: set[str] | None = None, mixed: bool = False) -> dict[str, Count]:
    """Per operator what its samples gave; `mixed`: a graph may have samples of several operators."""
    counts: dict[str, Count] = {}
    waiting: list[tuple[str, Sample]] = []
    for title, sample in samples(most):
        if only and title not in only:
            continue
        counts.setdefault(title, Count())
        if waiting and (len(waiting) == TOGETHER or (not mixed and waiting[0][0] != title)):
            together(waiting, counts)
            waiting = []
        waiting.append((title, sample))
    if waiting:
        together(waiting, counts)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", help="as op_db names them; all without")
    parser.add_argument("--most", type=int, help="samples of each operator and dtype")
    options = parser.parse_args()
    counts = run(options.most, set(options.operators))
    for title, count in counts.items():
        ways = ", ".join(f"{n} {way}" for way, n in sorted(count.ways.items()))
        print(f"{title:40} native {count.native:4}  raises {count.raised:3}  {ways}")
        for reason, n in count.python.items():
            print(f"    Python {n:4}  {reason:.150}")
        for text in count.wrong:
            print(f"    WRONG  {text:.200}")
    total = {what: sum(getattr(c, what) for c in counts.values()) for what in ("native", "raised")}
    python = sum(sum(c.python.values()) for c in counts.values())
    wrong = sum(len(c.wrong) for c in counts.values())
    print(f"{len(counts)} operators: {total['native']} samples native, {python} by Python, {total['raised']} raise, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
