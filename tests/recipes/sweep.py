"""Every unary recipe over all 2**32 floats against torch: `nice -n 19 python tests/recipes/sweep.py [op ...]`.

One thread, a minute or two per op. Prints a line per op when it is done; where it was stopped it goes on, from the
state file (--state, by default in the temporary folder). For another set: ATEN_CPU_CAPABILITY=avx2 (or default).

`exp-lanes` compares v_exp of vec.h, which softmax and sigmoid use, with the wheel's Sleef function (the default set has
none: it calls expf). `sigmoid` and `gelu_tanh` run whole vectors; `sigmoid-tail` and `gelu_tanh-tail` run tails of
2W - 1 floats: the wheel's as the rows of a view of 2W - 1 columns out of 2W, which it takes one by one (a sample is
compared with separate tensors first).
"""

import argparse
import ctypes as C
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import kernels
import shared_object
import torch
from tensorc import cc

CHUNK = 1 << 22
OPS = [*kernels.names("MAP1"), "exp-lanes", "sigmoid-tail", "gelu_tanh-tail"]


def floats(begin: int, n: int) -> torch.Tensor:
    bits = torch.arange(0, n, dtype=torch.int32)
    return bits.add_(begin - (1 << 32) if begin >= 1 << 31 else begin).view(torch.float32)


def build(name: str, *flags: str) -> C.CDLL:
    target = os.path.join(tempfile.mkdtemp(prefix="tensorc-sweep-"), name + ".so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".c")
    command = ["gcc", *shared_object.FLAGS, *flags, "-I", shared_object.KERNEL, "-shared", source, "-o", target]
    subprocess.run([*command, "-lm", "-ldl"], check=True)
    return C.CDLL(target)


class Lanes:
    """v_exp and Sleef's function."""

    def __init__(self) -> None:
        capability = torch.backends.cpu.get_cpu_capability()
        symbol = {"AVX512": "Sleef_expf16_u10", "AVX2": "Sleef_expf8_u10"}[capability]
        self.built = build("sleef", *cc.X86_KERNELS[capability.lower()])
        wheel = C.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))
        self.sleef = C.cast(getattr(wheel, symbol), C.c_void_p)

    def compare(self, x: torch.Tensor) -> str | None:
        got, wanted = torch.empty_like(x), torch.empty_like(x)
        n = C.c_int64(x.numel())
        self.built.ours(kernels.at(x), kernels.at(got), n)
        self.built.sleef(self.sleef, kernels.at(x), kernels.at(wanted), n)
        return kernels.difference(got, wanted)


class Tails:
    """Tensors of 2W - 1 floats; for torch they are rows of one view."""

    SAMPLE = 2000

    def __init__(self, name: str) -> None:
        self.name, self.operation = name, kernels.operation(name)
        self.built = build("tails")
        self.length = 2 * kernels.lanes() - 1
        self.rows = -(-CHUNK // self.length)  # the last one reaches into the next chunk
        self.memory = torch.zeros(self.rows, self.length + 1)
        g = torch.Generator().manual_seed(1)
        bits = torch.randint(-(1 << 31), 1 << 31, (self.SAMPLE, self.length), generator=g)
        x = bits.to(torch.int32).view(torch.float32)
        x[::2] = torch.randn(x[::2].shape, generator=g) * 8
        separate = torch.stack([self.operation(row.clone()) for row in x])
        assert kernels.difference(self.wanted(x), separate) is None
        whole = self.operation(torch.nn.functional.pad(x, (0, 1)))[:, :-1]  # no tails
        assert kernels.isa() == 0 or kernels.difference(whole, separate), "vectors and tails are alike here"

    def wanted(self, x: torch.Tensor) -> torch.Tensor:
        view = self.memory[: len(x), :-1]
        view.copy_(x)
        return self.operation(view)

    def compare(self, begin: int) -> str | None:
        x = floats(begin, self.rows * self.length).view(self.rows, self.length)
        got = torch.empty_like(x)
        sizes = C.c_int64(self.length), C.c_int64(self.rows)
        self.built.each_tensor(kernels.kernel(self.name), kernels.at(x), kernels.at(got), *sizes)
        return kernels.difference(got, self.wanted(x))


def sweep(op: str, state: dict[str, int], save: Callable[[], None]) -> str:
    lanes = Lanes() if op == "exp-lanes" else None
    tails = Tails(op.removesuffix("-tail")) if op.endswith("-tail") else None
    done = state.get(op, 0)
    while done < 1 << 32:
        if tails:
            problem = tails.compare(done)
        else:
            x = floats(done, CHUNK)
            problem = lanes.compare(x) if lanes else kernels.difference(kernels.map1(op, x), kernels.operation(op)(x))
        if problem:
            return f"DIFFERENT in the chunk from {done:#x}: {problem}"
        done += CHUNK
        state[op] = done
        save()
    return f"identical, {1 << 32:,} floats"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ops", nargs="*", default=OPS)
    parser.add_argument("--state", help="the file that remembers what is done")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    capability = torch.backends.cpu.get_cpu_capability()
    path = options.state or os.path.join(tempfile.gettempdir(), f"tensorc-sweep-{torch.__version__}-{capability}.json")
    state: dict[str, int] = {}
    if os.path.exists(path):
        with open(path, encoding="ascii") as file:
            state = json.load(file)

    def save() -> None:
        with open(path + ".new", "w", encoding="ascii") as file:
            json.dump(state, file)
        os.replace(path + ".new", path)

    failed = 0
    for op in options.ops:
        started = time.monotonic()
        result = sweep(op, state, save)
        failed += result.startswith("DIFF")
        print(
            f"{op:13s} {capability:8s} torch {torch.__version__}: {result} ({time.monotonic() - started:.0f} s)",
            flush=True,
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
