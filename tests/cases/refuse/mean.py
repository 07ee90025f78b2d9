# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def whole(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean()


def whole_function(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.mean(x)


def dim_none(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=None)


def dim2(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=2)


def dim_minus3(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=-3)


def dim_variable(x: TensorF32Cpu2D, d: int) -> TensorF32Cpu1D:
    return x.mean(dim=d)


def dim_variable_positional(x: TensorF32Cpu2D, d: int) -> TensorF32Cpu1D:
    return x.mean(d)


def dim_bool(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=True)


def dim_bool_positional(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(False)


def dim_tuple(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=(0, 1))


def dim_tuple1(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=(1,))


def dim_list(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean([1])


def dim_float(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=1.0)


def dim_twice(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.mean(x, 1, dim=1)


def dim_expression(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=0 + 1)


def two_positional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.mean(0, 1)


def keepdim_positional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.mean(1, True)


def keepdim_int(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.mean(dim=1, keepdim=1)


def keepdim_variable(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    return x.mean(dim=1, keepdim=flag)


def keepdim_none(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=1, keepdim=None)


def keepdims(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.mean(dim=1, keepdims=True)


def axis(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(axis=1)


def dtype(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=1, dtype=torch.float64)


def dtype_none(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=1, dtype=None)


def out(x: TensorF32Cpu2D, v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return torch.mean(x, 1, out=v)


def unknown(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=1, foo=2)


def keepdim_alone(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(keepdim=True)


def no_operand(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.mean()


def input_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.mean(input=x, dim=1)


def vector_dim0(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.mean(dim=0)


def vector_whole(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.mean()


def vector_keepfalse(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.mean(dim=0, keepdim=False)


def vector_dim1(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.mean(dim=1, keepdim=True)


def vector_minus(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.mean(-1, keepdim=True)


def of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.mean(dim=0, keepdim=True)


def of_ints_function(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.mean(k, 0)


def of_a_number(n: int) -> int:
    return torch.mean(n, dim=0)

# >>> check
# whole rejected RXTP-TORCH-003 @ 8:11-8:19
# whole_function rejected RXTP-TORCH-003 @ 12:11-12:24
# dim_none rejected RXTP-TORCH-003 @ 16:11-16:27
# dim2 rejected RXTP-TORCH-003 @ 20:11-20:24
# dim_minus3 rejected RXTP-TORCH-003 @ 24:11-24:25
# dim_variable rejected RXTP-TORCH-003 @ 28:11-28:24
# dim_variable_positional rejected RXTP-TORCH-003 @ 32:11-32:20
# dim_bool rejected RXTP-TORCH-003 @ 36:11-36:27
# dim_bool_positional rejected RXTP-TORCH-003 @ 40:11-40:24
# dim_tuple rejected RXTP-TORCH-003 @ 44:11-44:29
# dim_tuple1 rejected RXTP-TORCH-003 @ 48:11-48:27
# dim_list rejected RXTP-TORCH-003 @ 52:11-52:22
# dim_float rejected RXTP-TORCH-003 @ 56:11-56:26
# dim_twice rejected RXTP-TORCH-003 @ 60:11-60:34
# dim_expression rejected RXTP-TORCH-003 @ 64:11-64:28
# two_positional rejected RXTP-TORCH-003 @ 68:11-68:23
# keepdim_positional rejected RXTP-TORCH-003 @ 72:11-72:26
# keepdim_int rejected RXTP-TORCH-003 @ 76:11-76:35
# keepdim_variable rejected RXTP-TORCH-003 @ 80:11-80:38
# keepdim_none rejected RXTP-TORCH-003 @ 84:11-84:38
# keepdims rejected RXTP-TORCH-003 @ 88:11-88:39
# axis rejected RXTP-TORCH-003 @ 92:11-92:25
# dtype rejected RXTP-TORCH-003 @ 96:11-96:45
# dtype_none rejected RXTP-TORCH-003 @ 100:11-100:36
# out rejected RXTP-TORCH-003 @ 104:11-104:34
# unknown rejected RXTP-TORCH-003 @ 108:11-108:31
# keepdim_alone rejected RXTP-TORCH-003 @ 112:11-112:31
# no_operand rejected RXTP-TORCH-003 @ 116:11-116:23
# input_keyword rejected RXTP-TORCH-003 @ 120:11-120:37
# vector_dim0 rejected RXTP-TORCH-003 @ 124:11-124:24
# vector_whole rejected RXTP-TORCH-003 @ 128:11-128:19
# vector_keepfalse rejected RXTP-TORCH-003 @ 132:11-132:39
# vector_dim1 rejected RXTP-TORCH-003 @ 136:11-136:38
# vector_minus rejected RXTP-TORCH-003 @ 140:11-140:35
# of_ints rejected RXTP-TORCH-003 @ 144:11-144:38
# of_ints_function rejected RXTP-TORCH-003 @ 148:11-148:27
# of_a_number rejected RXTP-TORCH-010 @ 152:11-152:31
# >>> run
# whole(rand(2, 3)); dim_none(rand(2, 3)); dim_minus3(rand(2, 3)); dim2(rand(2, 3)); dim_variable(rand(2, 3), each(0, 1, -1, 2))
# dim_bool(rand(2, 3)); dim_tuple(rand(2, 3)); dim_tuple1(rand(2, 3)); dim_list(rand(2, 3)); dim_twice(rand(2, 3))
# dim_expression(rand(2, 3)); keepdim_positional(rand(2, 3)); keepdim_int(rand(2, 3)); keepdim_variable(rand(2, 3), each(True, False))
# axis(rand(2, 3)); dtype(rand(2, 3)); dtype_none(rand(2, 3)); out(rand(2, 3), rand(2)); keepdims(rand(2, 3))
# input_keyword(rand(2, 3)); vector_dim0(rand(3)); vector_whole(rand(3)); vector_dim1(rand(3)); vector_minus(rand(3))
# of_ints(ints(3)); unknown(rand(2, 3))
