"""Is any size slower than eager? Small functions over rows × widths, contiguous and transposed, on torch's threads.

usage: python bench/sweep.py [--rows 1,16,...] [--widths 8,32,...] [--threads N] [FUNCTION ...]

Equality first, then pairs of eager and compiled in turn. Prints, per function and layout, the ratio eager / compiled
for each size, then the points below 0.97: more than 3 % slower. Such a point is measured again, with more pairs: a
machine that others use says so of some by chance.
"""

import argparse
import inspect
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch
from tensorc import bench, cc
from tensorc.config import Config

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = "1,2,4,8,16,48,128,512,2048,4096"
WIDTHS = "8,32,64,128,512,2048"
MOST_FLOP = 4e9  # of one call: larger products take seconds, and are the wheel's own on both sides
LOSS = 0.97


def layouts(function: Callable[..., Any], rows: int, width: int) -> dict[str, tuple[Any, ...]]:
    """Arguments by layout: everything contiguous; every matrix but a batch of one row transposed."""
    generator = torch.Generator().manual_seed(rows * 4099 + width)
    sizes = {"x": (rows, width), "w": (width, width), "b": (width,)}
    given = [torch.rand(sizes[name], generator=generator) - 0.5 for name in inspect.signature(function).parameters]
    return {
        "contiguous": tuple(given),
        "transposed": tuple(t.t().contiguous().t() if t.dim() == 2 else t for t in given),
    }


def ratio(eager: Callable[..., Any], native: Callable[..., Any], args: tuple[Any, ...], pairs: int) -> float:
    """The median of eager / native over pairs that each last some milliseconds, in alternating order."""

    def once(function: Callable[..., Any], turns: int) -> float:
        start = time.perf_counter_ns()
        for _ in range(turns):
            function(*args)
        return (time.perf_counter_ns() - start) / turns

    def turns_of(function: Callable[..., Any]) -> int:
        return max(1, round(1e6 / max(once(function, 3), 100.0)))

    of_eager, of_native = turns_of(eager), turns_of(native)
    found = []
    for pair in range(pairs):
        if pair % 2:
            after = once(native, of_native)
            found.append(once(eager, of_eager) / after)
        else:
            found.append(once(eager, of_eager) / once(native, of_native))
    return statistics.median(found)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--widths", default=WIDTHS)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("functions", nargs="*")
    chosen = parser.parse_args()
    all_rows, widths = ([int(n) for n in text.split(",")] for text in (chosen.rows, chosen.widths))
    os.environ["TENSORC_MODE"] = "native"
    torch.set_grad_enabled(False)
    torch.set_num_threads(chosen.threads)
    file, source, unit = bench.compile_unit(os.path.join(HERE, "sweep_functions.py"), Config())
    losses, n_points, differs = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="tensorc-sweep-") as folder:
        module = bench.build_module(file, source, unit, cc.find(None), folder)
        for name in chosen.functions or [f["qualname"] for f in unit.functions]:
            native = getattr(module, name)
            eager = native.__wrapped__
            for layout in ("contiguous", "transposed"):
                print(f"\n{name}, {layout}, {chosen.threads} threads: eager / tensorc\n")
                print("| rows \\ width | " + " | ".join(map(str, widths)) + " |\n| ---: |" + " ---: |" * len(widths))
                for rows in all_rows:
                    cells = []
                    for width in widths:
                        args = layouts(eager, rows, width)[layout]
                        if len(args) > 1 and args[1].dim() == 2 and 2 * rows * width * width > MOST_FLOP:
                            cells.append("–")
                            continue
                        differs += not bench.same(eager(*args), native(*args))
                        found = ratio(eager, native, args, 9)
                        if found < LOSS:
                            found = ratio(eager, native, args, 41)
                        n_points += 1
                        cells.append(f"{found:.2f}")
                        if found < LOSS:
                            losses.append((found, name, layout, rows, width, native.stats()["wheel"]))
                    print(f"| {rows} | " + " | ".join(cells) + " |", flush=True)
    print(f"\n{n_points} points, {differs} with other bits, {len(losses)} slower than eager by more than 3 %")
    for found, name, layout, rows, width, _ in sorted(losses):
        print(f"  {found:.2f}  {name}, {layout}, {rows} × {width}")
    return 1 if differs else 0


if __name__ == "__main__":
    raise SystemExit(main())
