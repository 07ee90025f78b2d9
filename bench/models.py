"""Eager against tensorc.compile on the ten models of tests/models.py: equality first, then pairs timed in turn.

usage: python bench/models.py [--batch 1,16,128] [--threads N] [MODEL…]

Columns: medians in µs of eager under no_grad and under inference_mode, and of the compiled model under inference_mode;
how many times eager's time (the shorter one) the compiled model is; what answered; whether results have eager's bits.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import tensorc
import torch
from tensorc.same import difference
from torch.utils._pytree import tree_leaves

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests"))
import models  # noqa: E402

ROUNDS, SECONDS = 41, 0.004  # pairs, and how long each side of one runs


def calls_in(seconds: float, call: Callable[[], Any]) -> int:
    start, n = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        call()
        n += 1
    return max(n, 1)


def microseconds(call: Callable[[], Any], n: int) -> float:
    start = time.perf_counter()
    for _ in range(n):
        call()
    return (time.perf_counter() - start) / n * 1e6


def measure(name: str, batch: int) -> str:
    model, args = models.make(name, batch)
    fast = tensorc.compile(model)

    def eager_no_grad() -> Any:
        with torch.no_grad():
            return microseconds(lambda: model(*args), n_eager)

    def eager_inference() -> Any:
        with torch.inference_mode():
            return microseconds(lambda: model(*args), n_eager)

    def compiled() -> Any:
        with torch.inference_mode():
            return microseconds(lambda: fast(*args), n_fast)

    with torch.inference_mode():
        equal = True
        for seed in range(5):
            given = models.example(name, batch, seed)
            equal &= difference(tree_leaves(model(*given)), tree_leaves(fast(*given)), given) is None
        n_eager = calls_in(SECONDS, lambda: model(*args))
        n_fast = calls_in(SECONDS, lambda: fast(*args))
    sides = (eager_no_grad, eager_inference, compiled)
    rounds = [[side() for side in sides] for _ in range(ROUNDS)]
    no_grad, inference, native = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(min(a, b) / c for a, b, c in rounds)
    figures = f"{no_grad:.1f} | {inference:.1f} | {native:.2f} | {ratio:.1f}"
    return f"| {name} | {batch} | {figures} | {fast.__tensorc__.body} | {'yes' if equal else 'NO'} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--batch", default="1,16,128")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("models", nargs="*", default=models.NAMES)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print("| model | batch | eager, no_grad | eager, inference_mode | tensorc | eager / tensorc | body | same bits |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |")
    for name in options.models:
        for batch in options.batch.split(","):
            print(measure(name, int(batch)), flush=True)


if __name__ == "__main__":
    main()
