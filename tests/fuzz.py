"""make fuzz PROGRAMS=20000 SEED=0: that many random programs (programs.py), each compiled and held against Python, to the bit.

Programs are compiled many to a module; a module runs in a process of its own. Mode auto: every call gives Python's value or
exception, whichever body answers. Prints what differs with its source, and a count; exits 1 when anything did.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from typing import Any

from programs import Chain, Choosing, Numbers, Rows, rows_arguments
from workbench import BODIES, HEAD, PACKAGES, TESTS, Project, environment

KINDS = {"numbers": Numbers, "choosing": Choosing, "chains": Chain, "rows": Rows}
SHARE = {"numbers": 240, "choosing": 60, "chains": 60, "rows": 40}  # programs in a module


def number_arguments(r: random.Random) -> tuple[Any, ...]:
    def integer() -> int:
        return r.choice([r.randrange(-10, 11), r.randrange(-10, 11), r.randrange(-(2**63), 2**63), r.choice([2**62, -(2**63), 2**63 - 1, 2**53 + 1])])

    v = r.choice([r.uniform(-10, 10), r.choice([0.0, -0.0, 1.0, 3.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1e308]), r.uniform(-1e19, 1e19)])
    return tuple(numpy_scalar(r, a) if r.random() < 0.1 else a for a in (integer(), integer(), v))


def numpy_scalar(r: random.Random, number: int | float) -> Any:
    """A numpy scalar near `number`, of a type that is no int or float, or is one by inheritance only (float64)."""
    import numpy as np

    if isinstance(number, float):
        return r.choice([np.float64, np.float32, np.float16])(number)
    kind = r.choice([np.int64, np.int32, np.int16, np.uint8, np.uint64, np.bool_])
    if kind is np.bool_:
        return kind(number % 2)
    return kind(number % (int(np.iinfo(kind).max) + 1))


def chain_arguments(r: random.Random, tensors: Any) -> tuple[Any, ...]:
    n = r.choice([1, 2, 3, 5, 16, 17, 33])
    x, y = (r.choice([lambda t: t, tensors.transposed, tensors.strided, tensors.offset])(tensors.rand(n, n) if r.random() < 0.7 else tensors.specials(n, n)) for _ in range(2))
    return x, y, r.choice([lambda t: t, tensors.strided, tensors.offset])(tensors.rand(n)), r.randrange(4)


def arguments(kind: str, r: random.Random, tensors: Any) -> tuple[Any, ...]:
    if kind == "rows":
        return rows_arguments(r, tensors)
    if kind == "chains":
        return chain_arguments(r, tensors)
    return *number_arguments(r), *([tensors.specials(2, 3)] if kind == "choosing" else [])


def outcome(f: Any, args: tuple[Any, ...]) -> Any:
    """The value, with its own type; or the exception; and the warnings on the way there."""
    from compare import value

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            r = f(*args)
            seen = (*value(r), type(r).__name__)
        except Exception as e:
            seen = ("raised", type(e).__name__, str(e))
    return *seen, *sorted({f"{w.category.__name__}: {w.message}" for w in told})


def run(kind: str, folder: str, seeds: range) -> None:
    """In the child: every function of the module in `folder`, several calls each; a line of JSON with what was seen."""
    sys.path.insert(0, str(Project(folder).tree))
    import compare
    import programs_ as m
    import tensors
    import torch

    seen, wrong = Counter[str](), []
    for seed in seeds:
        f, r = getattr(m, f"f{seed}"), random.Random(seed)
        seen["programs"] += 1
        native = hasattr(f, "native_status")
        seen["native programs"] += native
        for turn in range({"numbers": 12, "choosing": 12, "chains": 4, "rows": 3}[kind]):
            torch.set_num_threads(1 + turn % 2)
            tensors.seed(f"{seed} {turn}")
            args = arguments(kind, r, tensors)
            before = [compare.contents(a) for a in args]
            want, got = outcome(getattr(f, "__wrapped__", f), args), outcome(f, args)
            seen["calls"] += 1
            seen["native calls"] += native and f.body in BODIES
            seen["calls that raise"] += want[0] == "raised"
            if want != got or [compare.contents(a) for a in args] != before:
                shown = [tuple(a.shape) if isinstance(a, torch.Tensor) else f"{type(a).__name__}({a})" for a in args]
                wrong.append([f.__name__, f"{shown}: {want[:2] + want[6:]} in Python, {got[:2] + got[6:]} compiled" if want[0] != "tensor" or want[:6] == got[:6] else f"{shown}: {compare.difference(want, got)}"])
                break
    print(json.dumps([seen, wrong]))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--run", nargs=4, metavar=("KIND", "FOLDER", "FIRST", "END"))
    options = parser.parse_args()
    if options.run:
        kind, folder, first, end = options.run
        run(kind, folder, range(int(first), int(end)))
        return 0
    total, n_wrong, seed, last = Counter[str](), 0, options.seed, options.seed + options.programs
    while seed < last:
        for kind, share in SHARE.items():
            seeds = range(seed, min(seed + share, last))
            seed = seeds.stop
            texts = {f"f{i}": KINDS[kind](i).function(f"f{i}") for i in seeds}
            if not texts:
                continue
            with tempfile.TemporaryDirectory() as folder:
                Project(folder, {"programs_.py": HEAD + "\n" + "\n".join(texts.values())}).build()
                env = environment(TENSORC_MODE="auto")
                env["PYTHONPATH"] = f"{PACKAGES}:{TESTS}"
                command = [sys.executable, __file__, "--run", kind, folder, str(seeds.start), str(seeds.stop)]
                done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=1800)
            if done.returncode:
                print(f"{kind} {seeds}: exit {done.returncode}\n{done.stderr[-2000:]}", flush=True)
                n_wrong += 1
                continue
            seen, wrong = json.loads(done.stdout.splitlines()[-1])
            total.update(seen)
            n_wrong += len(wrong)
            for name, what in wrong:
                print(f"{texts[name]}{name}{what}\n", flush=True)
        print(", ".join(f"{n:,} {what}" for what, n in total.items()) + f", {n_wrong} differ", flush=True)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
