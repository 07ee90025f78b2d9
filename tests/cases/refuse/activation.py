# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def relu_inplace(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu(x, inplace=True)


def relu_inplace_variable(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    return F.relu(x, inplace=flag)


def relu_positional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu(x, False)


def relu_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return F.relu(k)


def relu_inplace_int(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu(x, inplace=0)


def relu_input(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu(input=x)


def relu_no_argument(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu()


def gelu_tanh_positional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.gelu(x, "tanh")


def gelu_positional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.gelu(x, "none")


def gelu_variable(x: TensorF32Cpu2D, how: str) -> TensorF32Cpu2D:
    return F.gelu(x, approximate=how)


def gelu_other(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.gelu(x, approximate="None")


def gelu_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.gelu(x, approximate=None)


def gelu_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return F.gelu(k)


def gelu_method(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.gelu()


def sigmoid_functional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.sigmoid(x)


def tanh_functional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.tanh(x)


def silu(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.silu(x)


def relu6(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu6(x)


def in_place_functional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu_(x)


def dropout(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.dropout(x, 0.5, False)


def layer_norm(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.layer_norm(x, (3,))

# >>> check
# relu_inplace rejected RXTP-TORCH-050 @ 8:11-8:34
# relu_inplace_variable rejected RXTP-TORCH-050 @ 12:11-12:34
# relu_positional rejected RXTP-TORCH-050 @ 16:11-16:27
# relu_of_ints rejected RXTP-TORCH-010 @ 20:11-20:20
# relu_inplace_int rejected RXTP-TORCH-050 @ 24:11-24:31
# relu_input rejected RXTP-TORCH-050 @ 28:11-28:26
# relu_no_argument rejected RXTP-TORCH-050 @ 32:11-32:19
# gelu_tanh_positional rejected RXTP-TORCH-044 @ 36:11-36:28
# gelu_positional rejected RXTP-TORCH-044 @ 40:11-40:28
# gelu_variable not-candidate RXT002 @ 43:42-43:45
# gelu_other rejected RXTP-TORCH-044 @ 48:11-48:40
# gelu_none rejected RXTP-TORCH-044 @ 52:11-52:38
# gelu_of_ints rejected RXTP-TORCH-010 @ 56:11-56:20
# gelu_method rejected RXT030 @ 60:11-60:19
# sigmoid_functional rejected RXT030 @ 64:11-64:23
# tanh_functional rejected RXT030 @ 68:11-68:20
# silu rejected RXT030 @ 72:11-72:20
# relu6 rejected RXT030 @ 76:11-76:21
# in_place_functional rejected RXT030 @ 80:11-80:21
# dropout rejected RXT030 @ 84:11-84:35
# layer_norm rejected RXT030 @ 88:11-88:32
# >>> run
# relu_inplace(rand(2, 3)); relu_positional(rand(2, 3)); gelu_tanh_positional(rand(2, 3)); sigmoid_functional(rand(2, 3))
# in_place_functional(rand(2, 3)); gelu_positional(rand(2, 3))
