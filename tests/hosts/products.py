"""Eager's bits of matrix products on a host, recorded so that every other host can hold the recipes against them.

    python tests/hosts/products.py FILE.npz      on the host itself: what torch gives for each case of the grid

Inputs come from exact arithmetic on a seeded integer stream, so they are the same everywhere. A file keeps, per case, four
bytes of SHA-256 over the result, and what the host is.
"""

import functools
import hashlib
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROWS = (*range(1, 13), 15, 16, 17, 20, 24, 31, 32, 33, 48, 64, 100, 128)
COLS = (1, 2, 3, 4, 7, 8, 9, 11, 12, 13, 15, 16, 17, 20, 24, 31, 32, 33, 48, 64, 96, 100, 300)
DEPTHS = (2, 3, 8, 16, 31, 32, 64, 96, 128, 191, 192, 193, 250, 256, 257, 384, 385, 512, 768, 1000, 2048)
FORMS = (("linear", True), ("linear", False), ("matmul", False))  # and whether there is a bias
THREADS = (1, 2, 4)

Case = tuple[int, tuple[str, bool], int, int, int]  # threads, form, depth, rows, columns
Floats = np.ndarray[Any, np.dtype[np.float32]]


def cases() -> list[Case]:
    return list(itertools.product(THREADS, FORMS, DEPTHS, ROWS, COLS))


def aligned(n: int) -> Floats:
    """Memory that begins at 64 bytes, as the framework's does: bits of small products depend on it."""
    memory = np.empty(n + 16, np.float32)
    begin = -memory.ctypes.data % 64 // 4
    return memory[begin : begin + n]


@functools.lru_cache(maxsize=200)
def floats(seed: int, *shape: int) -> Floats:
    """In [-2, 2), the same on every host."""
    whole = np.random.Generator(np.random.PCG64(seed)).integers(0, 1 << 24, shape, dtype=np.int64)
    x = aligned(whole.size).reshape(shape)
    x[...] = (whole - (1 << 23)) / float(1 << 22)
    return x


def operands(form: str, bias: bool, k: int, m: int, n: int) -> tuple[Floats, Floats, Floats | None]:
    x = floats(k * 1000003 + m, m, k)
    w = floats(k * 1000003 + n + 500, n, k) if form == "linear" else floats(k * 1000003 + n + 900, k, n)
    return x, w, floats(n + 77, n) if bias else None


def digest(result: Floats) -> int:
    return int.from_bytes(hashlib.sha256(np.ascontiguousarray(result).tobytes()).digest()[:4], "little")


def read(path: Path) -> dict[Case, int]:
    return dict(zip(cases(), np.load(path)["digests"].tolist(), strict=True))


def record(path: str) -> None:
    import torch

    out = []
    for count, (form, bias), k, m, n in cases():
        if torch.get_num_threads() != count:
            torch.set_num_threads(count)
        x, w, b = (None if a is None else torch.from_numpy(a) for a in operands(form, bias, k, m, n))
        out.append(digest((torch.nn.functional.linear(x, w, b) if form == "linear" else x @ w).numpy()))
    cpu = dict(line.split("\t: ", 1) for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines() if "\t: " in line)
    meta = {
        "torch": torch.__version__,
        "mkl": next((line.strip(" -") for line in torch.__config__.show().splitlines() if "Math Kernel" in line), ""),
        "cpu": {key.strip(): cpu.get(key, "") for key in ("vendor_id", "cpu family", "model\t", "model name")},
        "capability": torch.backends.cpu.get_cpu_capability(),
    }
    np.savez_compressed(path, digests=np.array(out, np.uint32), meta=json.dumps([meta]))
    print(meta)


if __name__ == "__main__":
    record(sys.argv[1])
