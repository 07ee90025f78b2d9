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
from collections import Counter
from typing import Any

from programs import Chain, Numbers, Rows, rows_arguments
from workbench import BODIES, HEAD, PACKAGES, TESTS, Project, environment

KINDS = {"numbers": Numbers, "chains": Chain, "rows": Rows}
SHARE = {"numbers": 300, "chains": 60, "rows": 40}  # programs in a module


def number_arguments(r: random.Random) -> tuple[Any, ...]:
    def integer() -> int:
        return r.choice([r.randrange(-10, 11), r.randrange(-10, 11), r.randrange(-(2**63), 2**63), r.choice([2**62, -(2**63), 2**63 - 1, 2**53 + 1])])

    v = r.choice([r.uniform(-10, 10), r.choice([0.0, -0.0, 1.0, 3.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1e308]), r.uniform(-1e19, 1e19)])
    return integer(), integer(), v


def chain_arguments(r: random.Random, tensors: Any) -> tuple[Any, ...]:
    n = r.choice([1, 2, 3, 5, 16, 17, 33])
    x, y = (r.choice([lambda t: t, tensors.transposed, tensors.strided, tensors.offset])(tensors.rand(n, n) if r.random() < 0.7 else tensors.specials(n, n)) for _ in range(2))
    return x, y, r.choice([lambda t: t, tensors.strided, tensors.offset])(tensors.rand(n)), r.randrange(4)


def outcome(f: Any, args: tuple[Any, ...]) -> Any:
    from compare import value

    try:
        return value(f(*args))
    except Exception as e:
        return ("raised", type(e).__name__, str(e))


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
        for turn in range({"numbers": 12, "chains": 4, "rows": 3}[kind]):
            torch.set_num_threads(1 + turn % 2)
            tensors.seed(f"{seed} {turn}")
            args = number_arguments(r) if kind == "numbers" else chain_arguments(r, tensors) if kind == "chains" else rows_arguments(r, tensors)
            before = [compare.contents(a) for a in args]
            want, got = outcome(getattr(f, "__wrapped__", f), args), outcome(f, args)
            seen["calls"] += 1
            seen["native calls"] += native and f.body in BODIES
            seen["calls that raise"] += want[0] == "raised"
            if want != got or [compare.contents(a) for a in args] != before:
                shown = [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in args]
                wrong.append([f.__name__, f"{shown}: {want} in Python, {got} compiled" if kind == "numbers" else f"{shown}: {compare.difference(want, got)}"])
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
                Project(folder, {"programs_.py": (HEAD if kind != "numbers" else "") + "\n" + "\n".join(texts.values())}).build()
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
