"""The process behind test_examples.py: `example_calls.py LANE CALLS` calls the examples on random arguments, beside eager.

Widths of every remainder by the vector width, few and many rows, values from tiny to saturating. Prints one line of JSON:
how many calls were made, which bodies answered, and what was not eager's, bit by bit.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import workloads  # type: ignore[import-not-found]
from workbench import difference_of_arrays

ROWS = (1, 2, 3, 16, 35, 100, 128)
MANY_ROWS = (300, 512, 1000)  # these run in blocks
WIDTHS = (32, 32, 31, 33, 96, 257)
CLASSES = (8, 8, 2, 11, 21)
SCORES = ("score", "score_logits", "score_probabilities")


def scores(rng: np.random.Generator, rows: int, torch_lane: bool) -> list[Any]:
    width, hidden, classes = int(rng.choice(WIDTHS)), int(rng.choice(WIDTHS)), int(rng.choice(CLASSES))
    scale = rng.choice([0.01, 1.0, 30.0])

    def normal(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) * scale).astype("f4")

    weights = [normal(width, hidden), normal(hidden), normal(hidden, classes), normal(classes)]
    if torch_lane:  # torch keeps weights transposed
        weights[0], weights[2] = weights[0].T.copy(), weights[2].T.copy()
    x, mean, deviation = normal(rows, width), normal(width), rng.random(width).astype("f4") + np.float32(0.1)
    return [x, mean, deviation, *weights, *((int(rng.integers(5)), int(rng.integers(2))) if torch_lane else ())]


def layers(rng: np.random.Generator, rows: int, torch_lane: bool) -> list[Any]:
    """mlp of torch, chain of TensorFlow."""
    width = int(rng.choice(WIDTHS))
    out = width if torch_lane else int(rng.choice(WIDTHS))
    scale = rng.choice([0.05, 1.0])
    w = (rng.standard_normal((out, width)) * scale).astype("f4")
    b = rng.standard_normal(out).astype("f4")
    return [rng.standard_normal((rows, width)).astype("f4"), w, b, int(rng.integers(1, 7)), int(rng.integers(2))]


def framework(lane: str) -> tuple[Callable[[Any], Any], Callable[[int], None]]:
    """What makes a tensor of an array, and what is done before each call."""
    if lane == "torch":
        import torch

        fixed = os.environ.get("EXAMPLE_THREADS")
        torch.set_num_threads(int(fixed or 2))
        return torch.from_numpy, (lambda turn: None) if fixed else (lambda turn: torch.set_num_threads(1 + turn % 2))
    import tensorflow as tf

    return tf.constant, lambda turn: None


def main() -> None:
    lane, calls = sys.argv[1], int(sys.argv[2])
    tensor, before_call = framework(lane)
    rng = np.random.default_rng(20261129)
    different: list[str] = []
    bodies: Counter[str] = Counter()
    for turn in range(calls):
        deep = turn % 4 == 3
        name = ("mlp" if lane == "torch" else "chain") if deep else SCORES[turn % 3]
        rows = int(rng.choice(MANY_ROWS if turn % 10 == 9 else ROWS))
        args = [tensor(a) if isinstance(a, np.ndarray) else a for a in (layers if deep else scores)(rng, rows, lane == "torch")]
        before_call(turn)
        function = getattr(workloads, name)
        got = function(*args)  # first: it makes the first calls into MKL, which torch's threads must not make at once
        want = function.__wrapped__(*args)
        bodies[str(function.body)] += 1
        if wrong := difference_of_arrays(want.numpy(), got.numpy()):
            different.append(f"{name}, {[tuple(a.shape) if hasattr(a, 'shape') else a for a in args]}: {wrong}")
    print(json.dumps({"different": different, "bodies": bodies, "calls": calls}))


if __name__ == "__main__":
    main()
