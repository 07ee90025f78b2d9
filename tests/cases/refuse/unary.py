# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def relu_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.relu()


def relu_function_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.relu(k)


def sigmoid_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.sigmoid()


def sigmoid_function_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.sigmoid(k)


def tanh_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.tanh()


def tanh_function_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.tanh(k)


def abs_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.abs()


def abs_function_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.abs(k)


def neg_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.neg()


def neg_function_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.neg(k)


def negative_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.negative()


def negative_function_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.negative(k)


def square_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.square()


def square_function_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.square(k)


def exp_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.exp()


def exp_function_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.exp(k)


def log_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.log()


def log_function_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.log(k)


def sqrt_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k.sqrt()


def sqrt_function_of_ints(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return torch.sqrt(k)


def two_arguments(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.relu(x, x)


def none_argument(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.relu()


def method_argument(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu(1)


def out_keyword(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.exp(x, out=y)


def input_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.exp(input=x)


def wrong_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.exp(xs=x)


def of_a_number(n: int) -> int:
    return torch.abs(n)


def of_a_float(s: float) -> float:
    return torch.exp(s)


def literal() -> TensorF32Cpu2D:
    return torch.exp(2.0)


def in_place(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu_()


def in_place_function(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.relu_(x)


def in_place_exp(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.exp_()

# >>> check
# relu_of_ints rejected RXTP-TORCH-010 @ 8:11-8:19
# relu_function_of_ints rejected RXTP-TORCH-010 @ 12:11-12:24
# sigmoid_of_ints rejected RXTP-TORCH-010 @ 16:11-16:22
# sigmoid_function_of_ints rejected RXTP-TORCH-010 @ 20:11-20:27
# tanh_of_ints rejected RXTP-TORCH-010 @ 24:11-24:19
# tanh_function_of_ints rejected RXTP-TORCH-010 @ 28:11-28:24
# abs_of_ints rejected RXTP-TORCH-010 @ 32:11-32:18
# abs_function_of_ints rejected RXTP-TORCH-010 @ 36:11-36:23
# neg_of_ints rejected RXTP-TORCH-010 @ 40:11-40:18
# neg_function_of_ints rejected RXTP-TORCH-010 @ 44:11-44:23
# negative_of_ints rejected RXTP-TORCH-010 @ 48:11-48:23
# negative_function_of_ints rejected RXTP-TORCH-010 @ 52:11-52:28
# square_of_ints rejected RXTP-TORCH-010 @ 56:11-56:21
# square_function_of_ints rejected RXTP-TORCH-010 @ 60:11-60:26
# exp_of_ints rejected RXTP-TORCH-010 @ 64:11-64:18
# exp_function_of_ints rejected RXTP-TORCH-010 @ 68:11-68:23
# log_of_ints rejected RXTP-TORCH-010 @ 72:11-72:18
# log_function_of_ints rejected RXTP-TORCH-010 @ 76:11-76:23
# sqrt_of_ints rejected RXTP-TORCH-010 @ 80:11-80:19
# sqrt_function_of_ints rejected RXTP-TORCH-010 @ 84:11-84:24
# two_arguments rejected RXTP-TORCH-024 @ 88:11-88:27
# none_argument rejected RXTP-TORCH-024 @ 92:11-92:23
# method_argument rejected RXTP-TORCH-002 @ 96:11-96:20
# out_keyword rejected RXTP-TORCH-041 @ 100:11-100:30
# input_keyword rejected RXTP-TORCH-041 @ 104:11-104:29
# wrong_keyword rejected RXTP-TORCH-041 @ 108:11-108:26
# of_a_number rejected RXTP-TORCH-010 @ 112:11-112:23
# of_a_float rejected RXTP-TORCH-010 @ 116:11-116:23
# literal rejected RXTP-TORCH-010 @ 120:11-120:25
# in_place rejected RXT030 @ 124:11-124:20
# in_place_function rejected RXT030 @ 128:11-128:25
# in_place_exp rejected RXT030 @ 132:11-132:19
