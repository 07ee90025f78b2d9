# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def method_2d(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


def method_1d(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return x.relu()


def function_2d(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.relu(x)


def function_1d(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return torch.relu(x)


def functional_2d(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu(x)


def functional_1d(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return F.relu(x)


def functional_inplace_false(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu(x, inplace=False)

# >>> check
# method_2d native rextio-torch/tensor-relu-f32-cpu-2d
# method_1d native rextio-torch/tensor-relu-f32-cpu-1d
# function_2d native rextio-torch/function-relu-f32-cpu-rank1-2
# function_1d native rextio-torch/function-relu-f32-cpu-rank1-2
# functional_2d native rextio-torch/functional-relu-f32-cpu-rank1-2
# functional_1d native rextio-torch/functional-relu-f32-cpu-rank1-2
# functional_inplace_false native rextio-torch/functional-relu-f32-cpu-rank1-2
# >>> run
# method_2d(any2())
# function_2d(any2())
# method_1d(any1())
# function_1d(any1())
# method_2d(rand(64, 600)); function_1d(rand(40000))
# function_2d(specials(24, 24)); method_1d(specials(24))
# functional_2d(any2()); functional_1d(any1()); functional_inplace_false(any2())
