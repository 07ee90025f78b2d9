"""Every unary TensorFlow recipe over all 2**32 floats: `nice -n 19 python tests/recipes/tf_sweep.py [op ...]`.

As packets (whole tensors of 2**22 elements, kernels of every set that this CPU runs) and as tails (tensors of 7
elements; eager needs some 15 µs for each, so one float in TAIL_STEP). One thread. Prints a line per op when it is done;
where it was stopped it goes on, from the state file (--state, by default in the temporary folder).
"""

import argparse
import ctypes as C
import json
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
import tf_kernels as kernels

CHUNK, TAIL = 1 << 22, 7
OPS = {
    "relu": tf.nn.relu,
    "abs": tf.abs,
    "neg": tf.negative,
    "square": tf.square,
    "sqrt": tf.math.sqrt,
    "exp": tf.exp,
    "log": tf.math.log,
    "sigmoid": tf.nn.sigmoid,
    "tanh": tf.nn.tanh,
}
TAIL_STEP = {name: 512 if name in ("relu", "exp", "log", "sigmoid") else 4096 for name in OPS}
SETS = [which for which in (kernels.AVX2, kernels.AVX512) if kernels.runs(which)]


def packets(name: str, begin: int) -> tuple[int, str | None]:
    x = np.arange(begin, begin + CHUNK, dtype=np.uint32).view(np.float32)
    wanted = OPS[name](tf.constant(x)).numpy()
    found = [kernels.difference(kernels.map1(name, x, which=which), wanted) for which in SETS]
    return CHUNK, next(filter(None, found), None)


def tails(name: str, begin: int) -> tuple[int, str | None]:
    """Out of [begin, begin + CHUNK): the floats at odd distances, so that all low bits occur."""
    step = TAIL_STEP[name]
    x = np.arange(begin, begin + CHUNK, step, dtype=np.uint32)
    x += np.arange(x.size, dtype=np.uint32) * 5 % step
    tensors = x.size // TAIL
    x = x[: tensors * TAIL].view(np.float32)
    wanted, f = np.empty_like(x), OPS[name]
    for i in range(0, x.size, TAIL):
        wanted[i : i + TAIL] = f(tf.constant(x[i : i + TAIL])).numpy()
    for which in SETS:
        out = np.empty_like(x)
        pointers = kernels.kernel(name, which), kernels.at(x), kernels.at(out)
        kernels.library().call_each_map1(*pointers, C.c_int64(TAIL), C.c_int64(tensors))
        if found := kernels.difference(out, wanted):
            return 0, found
    return x.size, None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = [*OPS, *(name + "-tail" for name in OPS)]
    parser.add_argument("ops", nargs="*", default=everything, metavar="op", help=", ".join(everything))
    parser.add_argument("--state", default=os.path.join(tempfile.gettempdir(), "tensorc-tf-sweep.json"))
    arguments = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    state: dict[str, list[int]] = {}
    if os.path.exists(arguments.state):
        with open(arguments.state) as file:
            state = json.load(file)
    bad = 0
    for op in arguments.ops:
        step, name = (tails, op.removesuffix("-tail")) if op.endswith("-tail") else (packets, op)
        done, count = state.get(op, [0, 0])
        found = None
        while done < 1 << 32 and not found:
            compared, found = step(name, done)
            done, count = done + CHUNK, count + compared
            state[op] = [done, count]
            if not found:
                with open(arguments.state, "w") as file:
                    json.dump(state, file)
        bad += found is not None
        outcome = f"DIFFERENT in the chunk from {done - CHUNK:#x}: {found}" if found else f"identical, {count:,} floats"
        print(f"{time.strftime('%Y-%m-%d')} TensorFlow {tf.__version__} sets {SETS} {op}: {outcome}", flush=True)
    return bad


if __name__ == "__main__":
    raise SystemExit(main())
