# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def quoted(x: "TensorF32Cpu2D", n: "int") -> "TensorF32Cpu2D":
    for i in range(n):
        x = x.relu()
    return x


def half(x: "TensorF32Cpu2D", b: TensorF32Cpu1D) -> 'TensorF32Cpu2D':
    return x + b


def blanks(x: " TensorF32Cpu2D ") -> "(TensorF32Cpu2D)":
    return x.tanh()


def result(x: TensorF32Cpu2D) -> "TensorI64Cpu1D":
    return x.argmax(dim=1)

# >>> check
# quoted native rextio-torch/tensor-relu-f32-cpu-2d
# half native rextio-torch/tensor-add-f32-cpu-2d-1d-broadcast
# blanks not-candidate RXT003 @ 16:37-16:55
# result native rextio-torch/argmax-static-dim-i64-cpu-rank1
# >>> run
# quoted(any2(), 2); half(any2(3, 4), any1(4)); blanks(any2()); result(any2())
