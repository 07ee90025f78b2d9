"""The process behind test_bits_of_the_examples: calls the examples on random arguments, and prints what was not eager's."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import tensorflow as tf
import workloads  # type: ignore[import-not-found]

from workbench import difference_of_arrays


def arguments(name: str, rows: int, rng: np.random.Generator) -> list[Any]:
    given = workloads.arguments(name, rows)
    scale = rng.choice([0.1, 1.0, 20.0])
    return [tf.constant((rng.standard_normal(a.shape) * scale).astype("f4")) if hasattr(a, "shape") else a for a in given]


def main() -> None:
    rng = np.random.default_rng(20261129)
    different, bodies, calls = [], Counter(), 0
    for name in ("score", "chain"):
        function = getattr(workloads, name)
        for rows in (1, 2, 3, 16, 35, 100, 128, 512):
            for _ in range(24 if rows < 512 else 6):
                args = arguments(name, rows, rng)
                want, got = function.__wrapped__(*args), function(*args)
                calls += 1
                bodies[str(function.body)] += 1
                wrong = difference_of_arrays(want.numpy(), got.numpy())
                if wrong:
                    different.append(f"{name}, {rows} rows: {wrong}")
    print(json.dumps({"different": different, "bodies": bodies, "calls": calls}))


if __name__ == "__main__":
    main()
