# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def dot(v: TensorF32Cpu1D, u: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v @ u


def dot_function(v: TensorF32Cpu1D, u: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return torch.matmul(v, u)


def dot_method(v: TensorF32Cpu1D, u: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.matmul(u)


def ints_2d(k: TensorI64Cpu1D, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return k @ x


def ints_mixed(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu1D:
    return x @ k


def ints(k: TensorI64Cpu1D, j: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k @ j


def ints_function(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu1D:
    return torch.matmul(x, k)


def ints_method(k: TensorI64Cpu1D, x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return k.matmul(x)


def number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x @ 2.0


def one_argument(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.matmul(x)


def three_arguments(x: TensorF32Cpu2D, y: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.matmul(x, y, w)


def keyword(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.matmul(x, other=y)


def out(x: TensorF32Cpu2D, y: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.matmul(x, y, out=w)


def method_keyword(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.matmul(other=y)


def mm(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.mm(x, y)


def mv(x: TensorF32Cpu2D, v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return torch.mv(x, v)


def mm_method(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.mm(y)


def bmm(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.bmm(x, y)


def transposed(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x @ y.t()


def transposed_property(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x @ y.T


def einsum(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.einsum("ij,jk->ik", x, y)


def in_place(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x @= y
    return x

# >>> check
# dot rejected RXTP-TORCH-035 @ 8:11-8:16
# dot_function rejected RXTP-TORCH-036 @ 12:11-12:29
# dot_method rejected RXTP-TORCH-036 @ 16:11-16:22
# ints_2d rejected RXTP-TORCH-009 @ 20:11-20:16
# ints_mixed rejected RXTP-TORCH-009 @ 24:11-24:16
# ints rejected RXTP-TORCH-009 @ 28:11-28:16
# ints_function rejected RXTP-TORCH-014 @ 32:11-32:29
# ints_method rejected RXTP-TORCH-014 @ 36:11-36:22
# number rejected RXTP-TORCH-010 @ 40:11-40:18
# one_argument rejected RXTP-TORCH-014 @ 44:11-44:26
# three_arguments rejected RXTP-TORCH-014 @ 48:11-48:32
# keyword rejected RXTP-TORCH-014 @ 52:11-52:35
# out rejected RXTP-TORCH-014 @ 56:11-56:36
# method_keyword rejected RXTP-TORCH-014 @ 60:11-60:28
# mm rejected RXT030 @ 64:11-64:25
# mv rejected RXT030 @ 68:11-68:25
# mm_method rejected RXT030 @ 72:11-72:18
# bmm rejected RXT030 @ 76:11-76:26
# transposed rejected RXT030 @ 80:15-80:20
# transposed_property rejected RXT010 @ 84:15-84:18
# einsum rejected RXT030 @ 88:11-88:42
# in_place rejected RXT010 @ 92:4-92:10
# >>> run
# dot(rand(4), rand(4)); dot_function(rand(4), rand(4)); keyword(rand(3, 4), rand(4, 2)); mm(rand(3, 4), rand(4, 2))
# transposed(rand(3, 4), rand(2, 4)); transposed_property(rand(3, 4), rand(2, 4)); number(rand(3, 4))
# in_place(rand(3, 3), rand(3, 3))
