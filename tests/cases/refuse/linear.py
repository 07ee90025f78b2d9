# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def vector_input(v: TensorF32Cpu1D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return F.linear(v, w, b)


def vector_weight(x: TensorF32Cpu2D, v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return F.linear(x, v)


def matrix_bias(x: TensorF32Cpu2D, w: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.linear(x, w, y)


def int_bias(x: TensorF32Cpu2D, w: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return F.linear(x, w, k)


def number_bias(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.linear(x, w, 1.0)


def one_argument(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.linear(x)


def four_arguments(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.linear(x, w, b, b)


def wrong_keyword(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.linear(x, w, bais=b)


def false_bias(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.linear(x, w, bias=False)


def vector_none(v: TensorF32Cpu1D, w: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return F.linear(v, w, None)


def vector_none_keyword(v: TensorF32Cpu1D, w: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return F.linear(v, w, bias=None)


def ints(k: TensorI64Cpu1D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.linear(k, w)


def twice(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.linear(x, w, b, bias=None)


def starred(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.linear(*(x, w))


def bilinear(x: TensorF32Cpu2D, y: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.bilinear(x, y, w)

# >>> check
# vector_input rejected RXTP-TORCH-010 @ 8:11-8:28
# vector_weight rejected RXTP-TORCH-010 @ 12:11-12:25
# matrix_bias rejected RXTP-TORCH-010 @ 16:11-16:28
# int_bias rejected RXTP-TORCH-010 @ 20:11-20:28
# number_bias rejected RXTP-TORCH-010 @ 24:11-24:30
# one_argument rejected RXTP-TORCH-023 @ 28:11-28:22
# four_arguments rejected RXTP-TORCH-023 @ 32:11-32:31
# wrong_keyword rejected RXTP-TORCH-023 @ 36:11-36:33
# false_bias rejected RXTP-TORCH-023 @ 40:11-40:37
# vector_none rejected RXTP-TORCH-010 @ 44:11-44:31
# vector_none_keyword rejected RXTP-TORCH-010 @ 48:11-48:36
# ints rejected RXTP-TORCH-010 @ 52:11-52:25
# twice rejected RXTP-TORCH-023 @ 56:11-56:39
# starred rejected RXTP-TORCH-023 @ 60:20-60:27
# bilinear rejected RXT030 @ 64:11-64:30
# >>> run
# vector_input(rand(4), rand(3, 4), rand(3)); vector_weight(rand(2, 4), rand(4)); matrix_bias(rand(2, 4), rand(3, 4), rand(2, 3))
# vector_none(rand(4), rand(3, 4)); starred(rand(2, 4), rand(3, 4)); number_bias(rand(2, 4), rand(3, 4))
# wrong_keyword(rand(2, 4), rand(3, 4), rand(3))
