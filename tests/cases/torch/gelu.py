# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def plain_2d(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.gelu(x)


def plain_1d(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return F.gelu(x)


def none_2d(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.gelu(x, approximate="none")


def none_1d(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return F.gelu(x, approximate='none')

# >>> check
# plain_2d native rextio-torch/functional-gelu-none-f32-cpu-rank1-2
# plain_1d native rextio-torch/functional-gelu-none-f32-cpu-rank1-2
# none_2d native rextio-torch/functional-gelu-none-f32-cpu-rank1-2
# none_1d native rextio-torch/functional-gelu-none-f32-cpu-rank1-2
# >>> run
# plain_2d(any2()); plain_1d(any1())
# none_2d(any2()); none_1d(any1())
# plain_2d(rand(64, 600)); plain_1d(rand(1)); plain_1d(specials(24))
