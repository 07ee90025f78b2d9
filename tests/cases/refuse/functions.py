# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def add_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.add(x, 2.0)


def add_from_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.add(2.0, x)


def add_ints(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return torch.add(x, k)


def add_one(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.add(x)


def add_three(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.add(x, y, x)


def add_other(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.add(x, other=y)


def add_out(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.add(x, y, out=x)


def add_method(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.add(y)


def add_method_in_place(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.add_(y)


def sub_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.sub(x, 2.0)


def sub_from_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.sub(2.0, x)


def sub_ints(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return torch.sub(x, k)


def sub_one(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.sub(x)


def sub_three(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.sub(x, y, x)


def sub_other(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.sub(x, other=y)


def sub_out(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.sub(x, y, out=x)


def sub_method(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.sub(y)


def sub_method_in_place(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.sub_(y)


def mul_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.mul(x, 2.0)


def mul_from_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.mul(2.0, x)


def mul_ints(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return torch.mul(x, k)


def mul_one(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.mul(x)


def mul_three(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.mul(x, y, x)


def mul_other(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.mul(x, other=y)


def mul_out(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.mul(x, y, out=x)


def mul_method(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.mul(y)


def mul_method_in_place(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.mul_(y)


def div_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.div(x, 2.0)


def div_from_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.div(2.0, x)


def div_ints(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return torch.div(x, k)


def div_one(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.div(x)


def div_three(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.div(x, y, x)


def div_other(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.div(x, other=y)


def div_out(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.div(x, y, out=x)


def div_method(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.div(y)


def div_method_in_place(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.div_(y)


def alpha(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.add(x, y, alpha=2)


def alpha_one(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.add(x, y, alpha=1)


def alpha_sub(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.sub(x, y, alpha=0.5)


def rounding(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.div(x, y, rounding_mode="trunc")


def rounding_none(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.div(x, y, rounding_mode=None)


def subtract(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.subtract(x, y)


def multiply(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.multiply(x, y)


def divide(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.divide(x, y)


def true_divide(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.true_divide(x, y)


def maximum(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.maximum(x, y)

# >>> check
# add_float rejected RXTP-TORCH-010 @ 8:11-8:28
# add_from_float rejected RXTP-TORCH-010 @ 12:11-12:28
# add_ints rejected RXTP-TORCH-031 @ 16:11-16:26
# add_one rejected RXTP-TORCH-031 @ 20:11-20:23
# add_three rejected RXTP-TORCH-031 @ 24:11-24:29
# add_other rejected RXTP-TORCH-031 @ 28:11-28:32
# add_out rejected RXTP-TORCH-031 @ 32:11-32:33
# add_method rejected RXT030 @ 36:11-36:19
# add_method_in_place rejected RXT030 @ 40:11-40:20
# sub_float rejected RXTP-TORCH-010 @ 44:11-44:28
# sub_from_float rejected RXTP-TORCH-010 @ 48:11-48:28
# sub_ints rejected RXTP-TORCH-032 @ 52:11-52:26
# sub_one rejected RXTP-TORCH-032 @ 56:11-56:23
# sub_three rejected RXTP-TORCH-032 @ 60:11-60:29
# sub_other rejected RXTP-TORCH-032 @ 64:11-64:32
# sub_out rejected RXTP-TORCH-032 @ 68:11-68:33
# sub_method rejected RXT030 @ 72:11-72:19
# sub_method_in_place rejected RXT030 @ 76:11-76:20
# mul_float rejected RXTP-TORCH-010 @ 80:11-80:28
# mul_from_float rejected RXTP-TORCH-010 @ 84:11-84:28
# mul_ints rejected RXTP-TORCH-033 @ 88:11-88:26
# mul_one rejected RXTP-TORCH-033 @ 92:11-92:23
# mul_three rejected RXTP-TORCH-033 @ 96:11-96:29
# mul_other rejected RXTP-TORCH-033 @ 100:11-100:32
# mul_out rejected RXTP-TORCH-033 @ 104:11-104:33
# mul_method rejected RXT030 @ 108:11-108:19
# mul_method_in_place rejected RXT030 @ 112:11-112:20
# div_float rejected RXTP-TORCH-010 @ 116:11-116:28
# div_from_float rejected RXTP-TORCH-010 @ 120:11-120:28
# div_ints rejected RXTP-TORCH-034 @ 124:11-124:26
# div_one rejected RXTP-TORCH-034 @ 128:11-128:23
# div_three rejected RXTP-TORCH-034 @ 132:11-132:29
# div_other rejected RXTP-TORCH-034 @ 136:11-136:32
# div_out rejected RXTP-TORCH-034 @ 140:11-140:33
# div_method rejected RXT030 @ 144:11-144:19
# div_method_in_place rejected RXT030 @ 148:11-148:20
# alpha rejected RXTP-TORCH-031 @ 152:11-152:35
# alpha_one rejected RXTP-TORCH-031 @ 156:11-156:35
# alpha_sub rejected RXTP-TORCH-032 @ 160:11-160:37
# rounding rejected RXTP-TORCH-034 @ 164:11-164:49
# rounding_none rejected RXTP-TORCH-034 @ 168:11-168:46
# subtract rejected RXT030 @ 172:11-172:31
# multiply rejected RXT030 @ 176:11-176:31
# divide rejected RXT030 @ 180:11-180:29
# true_divide rejected RXT030 @ 184:11-184:34
# maximum rejected RXT030 @ 188:11-188:30
# >>> run
# alpha(rand(2, 3), rand(2, 3)); alpha_one(rand(2, 3), rand(2, 3)); alpha_sub(rand(2, 3), rand(2, 3))
# rounding(rand(2, 3), rand(2, 3)); rounding_none(rand(2, 3), rand(2, 3)); add_float(any2()); mul_from_float(any2())
# add_other(rand(2, 3), rand(2, 3)); sub_out(rand(2, 3), rand(2, 3)); mul_method(rand(2, 3), rand(2, 3))
# div_method_in_place(rand(2, 3), rand(2, 3)); subtract(rand(2, 3), rand(2, 3)); maximum(rand(2, 3), rand(2, 3))
