"""Every unary TensorFlow recipe over all 2**32 floats: `nice -n 19 python tests/recipes/tf_sweep.py [op ...]`.

As packets (whole tensors of 2**22 elements) and as tails, kernels of every set that this CPU runs. One thread. Prints a
line per op when it is done; where it was stopped it goes on, from the state file (--state, by default in the temporary
folder).

Eager needs some 15 µs for each tensor of 7 elements, 4 µs through its C API. So tails go through the wheel's own loop,
the function that eager gives to Eigen's thread pool, called for ranges of up to 7 elements. It is a local symbol, so
this takes nm. A sample is compared with eager first: tensors of 1 to 7 elements and of some packets more.
"""

import argparse
import ctypes as C
import functools
import itertools
import json
import os
import subprocess
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
import tf_kernels as kernels

CHUNK, TAILS = 1 << 22, 1 << 18
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
FUNCTOR = {name: f"scalar_{name}_op" for name in OPS}
FUNCTOR |= {"neg": "scalar_opposite_op", "sigmoid": "scalar_logistic_op", "relu": "scalar_max_op"}
SETS = [which for which in (kernels.AVX2, kernels.AVX512) if kernels.runs(which)]


def packets(name: str, begin: int) -> tuple[int, str | None]:
    x = np.arange(begin, begin + CHUNK, dtype=np.uint32).view(np.float32)
    wanted = OPS[name](tf.constant(x)).numpy()
    found = [kernels.difference(kernels.map1(name, x, which=which), wanted) for which in SETS]
    return CHUNK, next(filter(None, found), None)


def loop_name(name: str) -> str:
    """The start of the mangled name of the loop's std::function."""
    start = "_ZNSt17_Function_handlerIFvllEZN5Eigen8internal14TensorExecutorIKNS1_14TensorAssignOpINS1_9TensorMapINS1_6"
    start += "TensorIfLi1ELi1ElEELi16ENS1_11MakePointerEEEKNS1_"
    functor = f"{len(FUNCTOR[name])}{FUNCTOR[name]}I"
    if name == "relu":
        operands = "KfSC_Li1EEEKNS5_INS6_ISC_Li1ELi1ElEELi16ES8_EEKNS1_20TensorCwiseNullaryOp"
        return f"{start}19TensorCwiseBinaryOpINS2_{functor}{operands}"
    return f"{start}18TensorCwiseUnaryOpINS2_{functor}fEEKNS5_INS6_IKfLi1ELi1ElEELi16ES8_EEEEEENS1_16ThreadPoolDevice"


@functools.cache
def loops() -> dict[str, C.c_void_p]:
    path = os.path.join(os.path.dirname(tf.__file__), "libtensorflow_cc.so.2")
    names, found, anchor = {name: loop_name(name) for name in OPS}, {}, 0
    with subprocess.Popen(["nm", "--defined-only", path], stdout=subprocess.PIPE, text=True) as nm:
        for line in nm.stdout:
            address, _, symbol = line.split()[:3]
            if symbol.startswith("TF_Version"):
                anchor = int(address, 16)
            elif "9_M_invokeERKSt9_Any_data" in symbol and symbol.startswith("_ZNSt17_Function_handlerIFvllE"):
                for name, start in names.items():
                    if symbol.startswith(start):
                        assert name not in found
                        found[name] = int(address, 16)
    base = C.cast(C.CDLL(path).TF_Version, C.c_void_p).value - anchor
    return {name: C.c_void_p(base + found[name]) for name in OPS}


def each(caller: str, function: C.c_void_p, x: np.ndarray, length: int) -> np.ndarray:
    out = np.empty_like(x)
    sizes = C.c_int64(length), C.c_int64(x.size // length)
    getattr(kernels.library(), caller)(function, kernels.at(x), kernels.at(out), *sizes)
    return out


@functools.cache
def check_loop(name: str) -> None:
    """That the loop gives what eager gives, on a sample."""
    g, f = np.random.default_rng(1), OPS[name]
    for length, before in itertools.product(range(1, 8), (0, 8, 40)):
        x = g.integers(0, 1 << 32, (500, before + length), np.uint32).view(np.float32)
        x[::2] = g.standard_normal(x[::2].shape) * 10.0 ** g.integers(-3, 3, x[::2].shape)
        x[::7] = np.where(x[::7] < 0, np.float32(-0.0), np.float32(1e-40))
        tail = np.ascontiguousarray(x[:, before:]).ravel()
        eager = np.stack([f(tf.constant(row)).numpy()[before:] for row in x]).ravel()
        assert kernels.difference(each("call_each_range", loops()[name], tail, length), eager) is None


def lengths(name: str, begin: int) -> dict[int, int]:
    """Of tails, and how many neighbouring places of them each float has. relu's loop treats the first of an odd number
    one way (so 1: 1), and the two of each pair after it another (so 7: 3); the other loops are the same for each
    element."""
    if begin >> 23 & 255 in (0, 255):  # zeros, denormals, infinities, NaNs
        return {n: n for n in range(1, 8)}
    return {1: 1, 3: 1, 5: 1, 7: 3} if name == "relu" else {7: 1}


def tails(name: str, begin: int) -> tuple[int, str | None]:
    check_loop(name)
    compared = 0
    for length, places in lengths(name, begin).items():
        for start, place in itertools.product(range(begin, begin + CHUNK, TAILS), range(places)):
            n = (TAILS + place + length - 1) // length * length  # reaches into the neighbours
            x = np.arange(start - place, start - place + n).astype(np.uint32).view(np.float32)
            wanted = each("call_each_range", loops()[name], x, length)
            for which in SETS:
                got = each("call_each_map1", kernels.kernel(name, which), x, length)
                if np.array_equal(got.view(np.uint32), wanted.view(np.uint32)):
                    continue
                if found := kernels.difference(got, wanted):
                    return compared, f"{found}, tails of {length} from {start - place:#x}"
        compared += CHUNK * places
    return compared, None  # a float counts in each place


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
        found, started = None, time.monotonic()
        while done < 1 << 32 and not found:
            compared, found = step(name, done)
            done, count = done + CHUNK, count + compared
            state[op] = [done, count]
            if not found:
                with open(arguments.state, "w") as file:
                    json.dump(state, file)
        bad += found is not None
        outcome = f"DIFFERENT in the chunk from {done - CHUNK:#x}: {found}" if found else f"identical, {count:,} floats"
        outcome += f" ({time.monotonic() - started:.0f} s)"
        print(f"{time.strftime('%Y-%m-%d')} TensorFlow {tf.__version__} sets {SETS} {op}: {outcome}", flush=True)
    return bad


if __name__ == "__main__":
    raise SystemExit(main())
