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


def tanh_2d(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.gelu(x, approximate="tanh")


def tanh_1d(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return F.gelu(x, approximate='tanh')


def inside(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.gelu(x.neg()) + F.gelu(x.neg(), approximate="tanh")


def of_row(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.gelu(x + F.gelu(b))


def tanh_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return F.gelu(k, approximate="tanh")

# >>> check
# plain_2d native rextio-torch/functional-gelu-none-f32-cpu-rank1-2
# plain_1d native rextio-torch/functional-gelu-none-f32-cpu-rank1-2
# none_2d native rextio-torch/functional-gelu-none-f32-cpu-rank1-2
# none_1d native rextio-torch/functional-gelu-none-f32-cpu-rank1-2
# tanh_2d native tensorc-torch/functional-gelu-tanh-f32-cpu-rank1-2
# tanh_1d native tensorc-torch/functional-gelu-tanh-f32-cpu-rank1-2
# inside native rextio-torch/functional-gelu-none-f32-cpu-rank1-2 rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/unary-neg-f32-cpu-rank1-2 tensorc-torch/functional-gelu-tanh-f32-cpu-rank1-2
# of_row native rextio-torch/functional-gelu-none-f32-cpu-rank1-2 rextio-torch/tensor-add-f32-cpu-2d-1d-broadcast
# tanh_of_ints rejected RXTP-TORCH-044 @ 40:11-40:40
# >>> run
# plain_2d(any2()); plain_1d(any1())
# none_2d(any2()); none_1d(any1())
# plain_2d(rand(64, 600)); plain_1d(rand(1)); plain_1d(specials(24))
# tanh_2d(any2()); tanh_1d(any1())
# tanh_2d(rand(64, 600)); tanh_1d(rand(20001)); tanh_1d(specials(24))
# inside(any2()); inside(rand(200, 65)); inside(transposed(rand(200, 65))); inside(rand(1, 9).t())
# of_row(rand(5, 1), rand(1)); of_row(rand(1, 1), rand(1)); of_row(rand(200, 33), rand(33))
