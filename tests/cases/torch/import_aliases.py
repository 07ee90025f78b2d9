# lane: torch
import torch
import torch as T
import torch.nn
import torch.nn as nn
import torch.nn.functional
import torch.nn.functional as NF
from torch import matmul, nn as NN, tanh as squash
from torch.nn import functional
from torch.nn import functional as G
from torch.nn.functional import linear, relu as rectify
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def module_alias(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return T.relu(x)


def long_name(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.nn.functional.linear(x, w)


def functional_alias(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return NF.linear(x, w)


def functional_from(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return functional.gelu(x)


def functional_from_alias(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return G.softmax(x, dim=1)


def through_nn(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return nn.functional.relu(x)


def through_nn_from(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return NN.functional.relu(x)


def name_from(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return linear(x, w, b)


def name_from_alias(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return rectify(x)


def torch_name_from(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return squash(matmul(x, w))


def method_spelled_as_function(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.Tensor.relu(x)

# >>> check
# module_alias native rextio-torch/function-relu-f32-cpu-rank1-2
# long_name native rextio-torch/functional-linear-none-f32-cpu-2d
# functional_alias native rextio-torch/functional-linear-none-f32-cpu-2d
# functional_from native rextio-torch/functional-gelu-none-f32-cpu-rank1-2
# functional_from_alias native rextio-torch/functional-softmax-f32-cpu-rank1-2
# through_nn native rextio-torch/functional-relu-f32-cpu-rank1-2
# through_nn_from native rextio-torch/functional-relu-f32-cpu-rank1-2
# name_from native rextio-torch/functional-linear-f32-cpu-2d
# name_from_alias native rextio-torch/functional-relu-f32-cpu-rank1-2
# torch_name_from native rextio-torch/function-tanh-f32-cpu-rank1-2 rextio-torch/tensor-matmul-call-f32-cpu-2d
# method_spelled_as_function rejected RXT030 @ 56:11-56:31
# >>> run
# module_alias(any2()); long_name(any2(3, 4), any2(5, 4)); functional_alias(any2(3, 4), any2(5, 4))
# functional_from(rand(3, 4)); functional_from_alias(any2()); through_nn(any2()); through_nn_from(any2())
# name_from(any2(3, 4), any2(5, 4), any1(5)); name_from_alias(any2()); torch_name_from(any2(3, 4), any2(4, 5))
# method_spelled_as_function(any2())
