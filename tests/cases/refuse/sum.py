# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def whole(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum()


def whole_function(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.sum(x)


def dim_none(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=None)


def dim2(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=2)


def dim_minus3(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=-3)


def dim_variable(x: TensorF32Cpu2D, d: int) -> TensorF32Cpu1D:
    return x.sum(dim=d)


def dim_variable_positional(x: TensorF32Cpu2D, d: int) -> TensorF32Cpu1D:
    return x.sum(d)


def dim_bool(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=True)


def dim_bool_positional(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(False)


def dim_tuple(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=(0, 1))


def dim_tuple1(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=(1,))


def dim_list(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum([1])


def dim_float(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=1.0)


def dim_twice(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.sum(x, 1, dim=1)


def dim_expression(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=0 + 1)


def two_positional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.sum(0, 1)


def keepdim_positional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.sum(1, True)


def keepdim_int(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.sum(dim=1, keepdim=1)


def keepdim_variable(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    return x.sum(dim=1, keepdim=flag)


def keepdim_none(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=1, keepdim=None)


def keepdims(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.sum(dim=1, keepdims=True)


def axis(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(axis=1)


def dtype(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=1, dtype=torch.float64)


def dtype_none(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=1, dtype=None)


def out(x: TensorF32Cpu2D, v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return torch.sum(x, 1, out=v)


def unknown(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=1, foo=2)


def keepdim_alone(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(keepdim=True)


def no_operand(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.sum()


def input_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.sum(input=x, dim=1)


def vector_dim0(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.sum(dim=0)


def vector_whole(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.sum()


def vector_keepfalse(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.sum(dim=0, keepdim=False)


def vector_dim1(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.sum(dim=1, keepdim=True)


def vector_minus(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.sum(-1, keepdim=True)


def of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.sum(dim=0, keepdim=True)


def of_ints_function(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.sum(k, 0)


def of_a_number(n: int) -> int:
    return torch.sum(n, dim=0)

# >>> check
# whole rejected RXTP-TORCH-013 @ 8:11-8:18
# whole_function rejected RXTP-TORCH-013 @ 12:11-12:23
# dim_none rejected RXTP-TORCH-013 @ 16:11-16:26
# dim2 rejected RXTP-TORCH-013 @ 20:11-20:23
# dim_minus3 rejected RXTP-TORCH-013 @ 24:11-24:24
# dim_variable rejected RXTP-TORCH-013 @ 28:11-28:23
# dim_variable_positional rejected RXTP-TORCH-013 @ 32:11-32:19
# dim_bool rejected RXTP-TORCH-013 @ 36:11-36:26
# dim_bool_positional rejected RXTP-TORCH-013 @ 40:11-40:23
# dim_tuple rejected RXTP-TORCH-013 @ 44:11-44:28
# dim_tuple1 rejected RXTP-TORCH-013 @ 48:11-48:26
# dim_list rejected RXTP-TORCH-013 @ 52:11-52:21
# dim_float rejected RXTP-TORCH-013 @ 56:11-56:25
# dim_twice rejected RXTP-TORCH-013 @ 60:11-60:33
# dim_expression rejected RXTP-TORCH-013 @ 64:11-64:27
# two_positional rejected RXTP-TORCH-013 @ 68:11-68:22
# keepdim_positional rejected RXTP-TORCH-013 @ 72:11-72:25
# keepdim_int rejected RXTP-TORCH-013 @ 76:11-76:34
# keepdim_variable rejected RXTP-TORCH-013 @ 80:11-80:37
# keepdim_none rejected RXTP-TORCH-013 @ 84:11-84:37
# keepdims rejected RXTP-TORCH-013 @ 88:11-88:38
# axis rejected RXTP-TORCH-013 @ 92:11-92:24
# dtype rejected RXTP-TORCH-013 @ 96:11-96:44
# dtype_none rejected RXTP-TORCH-013 @ 100:11-100:35
# out rejected RXTP-TORCH-013 @ 104:11-104:33
# unknown rejected RXTP-TORCH-013 @ 108:11-108:30
# keepdim_alone rejected RXTP-TORCH-013 @ 112:11-112:30
# no_operand rejected RXTP-TORCH-013 @ 116:11-116:22
# input_keyword rejected RXTP-TORCH-013 @ 120:11-120:36
# vector_dim0 rejected RXTP-TORCH-013 @ 124:11-124:23
# vector_whole rejected RXTP-TORCH-013 @ 128:11-128:18
# vector_keepfalse rejected RXTP-TORCH-013 @ 132:11-132:38
# vector_dim1 rejected RXTP-TORCH-013 @ 136:11-136:37
# vector_minus rejected RXTP-TORCH-013 @ 140:11-140:34
# of_ints rejected RXTP-TORCH-013 @ 144:11-144:37
# of_ints_function rejected RXTP-TORCH-013 @ 148:11-148:26
# of_a_number rejected RXTP-TORCH-010 @ 152:11-152:30
# >>> run
# whole(rand(2, 3)); dim_none(rand(2, 3)); dim_minus3(rand(2, 3)); dim2(rand(2, 3)); dim_variable(rand(2, 3), each(0, 1, -1, 2))
# dim_bool(rand(2, 3)); dim_tuple(rand(2, 3)); dim_tuple1(rand(2, 3)); dim_list(rand(2, 3)); dim_twice(rand(2, 3))
# dim_expression(rand(2, 3)); keepdim_positional(rand(2, 3)); keepdim_int(rand(2, 3)); keepdim_variable(rand(2, 3), each(True, False))
# axis(rand(2, 3)); dtype(rand(2, 3)); dtype_none(rand(2, 3)); out(rand(2, 3), rand(2)); keepdims(rand(2, 3))
# input_keyword(rand(2, 3)); vector_dim0(rand(3)); vector_whole(rand(3)); vector_dim1(rand(3)); vector_minus(rand(3))
# of_ints(ints(3)); unknown(rand(2, 3))
