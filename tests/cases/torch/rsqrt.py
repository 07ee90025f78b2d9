# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def method_2d(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.rsqrt()


def method_1d(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return x.rsqrt()


def function_2d(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.rsqrt(x)


def function_1d(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return torch.rsqrt(x)


def ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.rsqrt(k)

# >>> check
# method_2d native tensorc-torch/unary-rsqrt-f32-cpu-rank1-2
# method_1d native tensorc-torch/unary-rsqrt-f32-cpu-rank1-2
# function_2d native tensorc-torch/unary-rsqrt-f32-cpu-rank1-2
# function_1d native tensorc-torch/unary-rsqrt-f32-cpu-rank1-2
# ints rejected RXT030 @ 23:11-23:25
# >>> run
# method_2d(any2())
# function_2d(any2())
# method_1d(any1())
# function_1d(any1())
# method_2d(rand(64, 600)); function_1d(rand(40000))
# function_2d(specials(24, 24)); method_1d(specials(24))
