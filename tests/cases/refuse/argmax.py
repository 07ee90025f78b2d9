# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def method_whole(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax()


def method_none(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=None)


def method_dim2(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=2)


def method_variable(x: TensorF32Cpu2D, d: int) -> TensorI64Cpu1D:
    return x.argmax(dim=d)


def method_bool(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=False)


def method_keep(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=1, keepdim=True)


def method_keep_positional(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(1, False)


def method_keep_int(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=1, keepdim=0)


def method_minus3(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=-3)


def method_twice(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(1, dim=1)


def method_unknown(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=1, axis=1)


def function_whole(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x)


def function_none(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, dim=None)


def function_dim2(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, dim=2)


def function_variable(x: TensorF32Cpu2D, d: int) -> TensorI64Cpu1D:
    return torch.argmax(x, dim=d)


def function_bool(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, dim=False)


def function_keep(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, dim=1, keepdim=True)


def function_keep_positional(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, 1, False)


def function_keep_int(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, dim=1, keepdim=0)


def function_minus3(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, dim=-3)


def function_twice(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, 1, dim=1)


def function_unknown(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, dim=1, axis=1)


def vector_whole(v: TensorF32Cpu1D) -> TensorI64Cpu1D:
    return v.argmax()


def vector_dim0(v: TensorF32Cpu1D) -> TensorI64Cpu1D:
    return v.argmax(dim=0)


def vector_keepfalse(v: TensorF32Cpu1D) -> TensorI64Cpu1D:
    return v.argmax(dim=0, keepdim=False)


def vector_dim1(v: TensorF32Cpu1D) -> TensorI64Cpu1D:
    return v.argmax(dim=1, keepdim=True)


def of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.argmax(dim=0, keepdim=True)


def argmin(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmin(dim=1)


def max_pair(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.max(dim=1)

# >>> check
# method_whole rejected RXTP-TORCH-016 @ 8:11-8:21
# method_none rejected RXTP-TORCH-016 @ 12:11-12:29
# method_dim2 rejected RXTP-TORCH-016 @ 16:11-16:26
# method_variable rejected RXTP-TORCH-016 @ 20:11-20:26
# method_bool rejected RXTP-TORCH-016 @ 24:11-24:30
# method_keep rejected RXTP-TORCH-016 @ 28:11-28:40
# method_keep_positional rejected RXTP-TORCH-016 @ 32:11-32:29
# method_keep_int rejected RXTP-TORCH-016 @ 36:11-36:37
# method_minus3 rejected RXTP-TORCH-016 @ 40:11-40:27
# method_twice rejected RXTP-TORCH-016 @ 44:11-44:29
# method_unknown rejected RXTP-TORCH-016 @ 48:11-48:34
# function_whole rejected RXTP-TORCH-016 @ 52:11-52:26
# function_none rejected RXTP-TORCH-016 @ 56:11-56:36
# function_dim2 rejected RXTP-TORCH-016 @ 60:11-60:33
# function_variable rejected RXTP-TORCH-016 @ 64:11-64:33
# function_bool rejected RXTP-TORCH-016 @ 68:11-68:37
# function_keep rejected RXTP-TORCH-016 @ 72:11-72:47
# function_keep_positional rejected RXTP-TORCH-016 @ 76:11-76:36
# function_keep_int rejected RXTP-TORCH-016 @ 80:11-80:44
# function_minus3 rejected RXTP-TORCH-016 @ 84:11-84:34
# function_twice rejected RXTP-TORCH-016 @ 88:11-88:36
# function_unknown rejected RXTP-TORCH-016 @ 92:11-92:41
# vector_whole rejected RXTP-TORCH-016 @ 96:11-96:21
# vector_dim0 rejected RXTP-TORCH-016 @ 100:11-100:26
# vector_keepfalse rejected RXTP-TORCH-016 @ 104:11-104:41
# vector_dim1 rejected RXTP-TORCH-016 @ 108:11-108:40
# of_ints rejected RXTP-TORCH-016 @ 112:11-112:40
# argmin rejected RXT030 @ 116:11-116:26
# max_pair rejected RXT030 @ 120:11-120:23
# >>> run
# method_whole(rand(2, 3)); method_none(rand(2, 3)); method_dim2(rand(2, 3)); method_variable(rand(2, 3), each(0, 1, -1, 2))
# method_keep(rand(2, 3)); function_keep_positional(rand(2, 3)); vector_whole(rand(3)); vector_dim0(rand(3)); of_ints(ints(3))
# argmin(rand(2, 3)); max_pair(rand(2, 3)); method_twice(rand(2, 3))
