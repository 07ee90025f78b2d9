# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def method_no_dim(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax()


def method_dim2(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=2)


def method_variable(x: TensorF32Cpu2D, d: int) -> TensorF32Cpu2D:
    return x.softmax(dim=d)


def method_bool(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=True)


def method_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=None)


def method_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=1.0)


def method_dtype(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=1, dtype=torch.float64)


def method_dtype_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=1, dtype=None)


def method_minus3(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=-3)


def method_unknown(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=1, foo=1)


def method_twice(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(1, dim=1)


def function_no_dim(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x)


def function_dim2(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, dim=2)


def function_variable(x: TensorF32Cpu2D, d: int) -> TensorF32Cpu2D:
    return torch.softmax(x, dim=d)


def function_bool(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, dim=True)


def function_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, dim=None)


def function_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, dim=1.0)


def function_dtype(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, dim=1, dtype=torch.float64)


def function_dtype_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, dim=1, dtype=None)


def function_minus3(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, dim=-3)


def function_unknown(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, dim=1, foo=1)


def function_twice(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, 1, dim=1)


def functional_no_dim(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x)


def functional_dim2(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=2)


def functional_variable(x: TensorF32Cpu2D, d: int) -> TensorF32Cpu2D:
    return F.softmax(x, dim=d)


def functional_bool(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=True)


def functional_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=None)


def functional_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=1.0)


def functional_dtype(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=1, dtype=torch.float64)


def functional_dtype_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=1, dtype=None)


def functional_minus3(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=-3)


def functional_unknown(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=1, foo=1)


def functional_twice(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, 1, dim=1)


def vector_dim1(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v.softmax(dim=1)


def of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.softmax(dim=0)


def of_ints_functional(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return F.softmax(k, dim=0)


def stacklevel(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, 1, 3)


def log_softmax(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.log_softmax(x, dim=1)


def nn_softmax(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.nn.Softmax(dim=1)(x)


def softmin(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmin(x, dim=1)

# >>> check
# method_no_dim rejected RXTP-TORCH-015 @ 8:11-8:22
# method_dim2 rejected RXTP-TORCH-015 @ 12:11-12:27
# method_variable rejected RXTP-TORCH-015 @ 16:11-16:27
# method_bool rejected RXTP-TORCH-015 @ 20:11-20:30
# method_none rejected RXTP-TORCH-015 @ 24:11-24:30
# method_float rejected RXTP-TORCH-015 @ 28:11-28:29
# method_dtype rejected RXTP-TORCH-015 @ 32:11-32:48
# method_dtype_none rejected RXTP-TORCH-015 @ 36:11-36:39
# method_minus3 rejected RXTP-TORCH-015 @ 40:11-40:28
# method_unknown rejected RXTP-TORCH-015 @ 44:11-44:34
# method_twice rejected RXTP-TORCH-015 @ 48:11-48:30
# function_no_dim rejected RXTP-TORCH-015 @ 52:11-52:27
# function_dim2 rejected RXTP-TORCH-015 @ 56:11-56:34
# function_variable rejected RXTP-TORCH-015 @ 60:11-60:34
# function_bool rejected RXTP-TORCH-015 @ 64:11-64:37
# function_none rejected RXTP-TORCH-015 @ 68:11-68:37
# function_float rejected RXTP-TORCH-015 @ 72:11-72:36
# function_dtype rejected RXTP-TORCH-015 @ 76:11-76:55
# function_dtype_none rejected RXTP-TORCH-015 @ 80:11-80:46
# function_minus3 rejected RXTP-TORCH-015 @ 84:11-84:35
# function_unknown rejected RXTP-TORCH-015 @ 88:11-88:41
# function_twice rejected RXTP-TORCH-015 @ 92:11-92:37
# functional_no_dim rejected RXTP-TORCH-015 @ 96:11-96:23
# functional_dim2 rejected RXTP-TORCH-015 @ 100:11-100:30
# functional_variable rejected RXTP-TORCH-015 @ 104:11-104:30
# functional_bool rejected RXTP-TORCH-015 @ 108:11-108:33
# functional_none rejected RXTP-TORCH-015 @ 112:11-112:33
# functional_float rejected RXTP-TORCH-015 @ 116:11-116:32
# functional_dtype rejected RXTP-TORCH-015 @ 120:11-120:51
# functional_dtype_none native rextio-torch/functional-softmax-f32-cpu-rank1-2
# functional_minus3 rejected RXTP-TORCH-015 @ 128:11-128:31
# functional_unknown rejected RXTP-TORCH-015 @ 132:11-132:37
# functional_twice rejected RXTP-TORCH-015 @ 136:11-136:33
# vector_dim1 rejected RXTP-TORCH-015 @ 140:11-140:27
# of_ints rejected RXTP-TORCH-015 @ 144:11-144:27
# of_ints_functional rejected RXTP-TORCH-015 @ 148:11-148:30
# stacklevel rejected RXTP-TORCH-015 @ 152:11-152:29
# log_softmax rejected RXT030 @ 156:11-156:34
# nn_softmax rejected RXT030 @ 160:11-160:37
# softmin rejected RXT030 @ 164:11-164:30
# >>> run
# functional_no_dim(rand(2, 3)); method_variable(rand(2, 3), each(0, 1, -1, -2, 2)); function_bool(rand(2, 3))
# method_dtype(rand(2, 3)); method_dtype_none(rand(2, 3)); method_minus3(rand(2, 3)); method_dim2(rand(2, 3)); vector_dim1(rand(3))
# of_ints(ints(3)); stacklevel(rand(2, 3)); log_softmax(rand(2, 3)); method_no_dim(rand(2, 3)); functional_twice(rand(2, 3))
