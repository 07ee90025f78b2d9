# lane: torch
from __future__ import annotations

import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def plain(x: TensorF32Cpu2D, b: TensorF32Cpu1D, n: int, flag: bool = True) -> TensorF32Cpu2D:
    for i in range(n):
        x = x + b
    return x.relu()


def quoted_as_well(x: "TensorF32Cpu2D") -> "TensorF32Cpu2D":
    return x.tanh()

# >>> check
# plain native rextio-torch/tensor-add-f32-cpu-2d-1d-broadcast rextio-torch/tensor-relu-f32-cpu-2d
# quoted_as_well native rextio-torch/tensor-tanh-f32-cpu-2d
# >>> run
# plain(any2(3, 4), any1(4), 2); plain(rand(3, 4), rand(4), 0, flag=False); quoted_as_well(any2())
