# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def method_dim1(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=1)


def method_positional1(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(1)


def function_dim1(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, dim=1)


def function_positional1(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, 1)


def functional_dim1(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=1)


def functional_none1(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=1, dtype=None)


def method_dim0(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=0)


def method_positional0(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(0)


def function_dim0(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, dim=0)


def function_positional0(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.softmax(x, 0)


def functional_dim0(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=0)


def functional_none0(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=0, dtype=None)


def vector_method(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return x.softmax(dim=0)


def vector_function(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return torch.softmax(x, 0)


def vector_functional(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return F.softmax(x, dim=0)


def functional_positional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, 1)


def negative(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(-1)


def negative_functional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.softmax(x, dim=-2)

# >>> check
# method_dim1 native rextio-torch/tensor-softmax-dim1-f32-cpu-2d
# method_positional1 native rextio-torch/softmax-static-dim-f32-cpu-rank1-2
# function_dim1 native rextio-torch/softmax-static-dim-f32-cpu-rank1-2
# function_positional1 native rextio-torch/softmax-static-dim-f32-cpu-rank1-2
# functional_dim1 native rextio-torch/functional-softmax-f32-cpu-rank1-2
# functional_none1 native rextio-torch/functional-softmax-f32-cpu-rank1-2
# method_dim0 native rextio-torch/softmax-static-dim-f32-cpu-rank1-2
# method_positional0 native rextio-torch/softmax-static-dim-f32-cpu-rank1-2
# function_dim0 native rextio-torch/softmax-static-dim-f32-cpu-rank1-2
# function_positional0 native rextio-torch/softmax-static-dim-f32-cpu-rank1-2
# functional_dim0 native rextio-torch/functional-softmax-f32-cpu-rank1-2
# functional_none0 native rextio-torch/functional-softmax-f32-cpu-rank1-2
# vector_method native rextio-torch/softmax-static-dim-f32-cpu-rank1-2
# vector_function native rextio-torch/softmax-static-dim-f32-cpu-rank1-2
# vector_functional native rextio-torch/functional-softmax-f32-cpu-rank1-2
# functional_positional native rextio-torch/functional-softmax-f32-cpu-rank1-2
# negative rejected RXTP-TORCH-015 @ 72:11-72:24
# negative_functional rejected RXTP-TORCH-015 @ 76:11-76:31
# >>> run
# method_dim1(any2()); method_dim1(specials(24, 24)); method_dim1(rand(5, 1, scale=80.0)); method_dim1(rand(40, 1000))
# method_dim1(rand(1000, 40)); method_dim1(rand(300, 300).t()); method_dim1(full((3, 5), -inf)); method_dim1(full((3, 5), 3e38))
# method_positional1(any2()); method_positional1(specials(24, 24)); method_positional1(rand(5, 1, scale=80.0))
# method_positional1(rand(40, 1000)); method_positional1(rand(1000, 40)); method_positional1(rand(300, 300).t())
# method_positional1(full((3, 5), -inf)); method_positional1(full((3, 5), 3e38))
# function_dim1(any2()); function_dim1(specials(24, 24)); function_dim1(rand(5, 1, scale=80.0)); function_dim1(rand(40, 1000))
# function_dim1(rand(1000, 40)); function_dim1(rand(300, 300).t()); function_dim1(full((3, 5), -inf))
# function_dim1(full((3, 5), 3e38))
# function_positional1(any2()); function_positional1(specials(24, 24)); function_positional1(rand(5, 1, scale=80.0))
# function_positional1(rand(40, 1000)); function_positional1(rand(1000, 40)); function_positional1(rand(300, 300).t())
# function_positional1(full((3, 5), -inf)); function_positional1(full((3, 5), 3e38))
# functional_dim1(any2()); functional_dim1(specials(24, 24)); functional_dim1(rand(5, 1, scale=80.0)); functional_dim1(rand(40, 1000))
# functional_dim1(rand(1000, 40)); functional_dim1(rand(300, 300).t()); functional_dim1(full((3, 5), -inf))
# functional_dim1(full((3, 5), 3e38))
# functional_none1(any2()); functional_none1(specials(24, 24)); functional_none1(rand(5, 1, scale=80.0))
# functional_none1(rand(40, 1000)); functional_none1(rand(1000, 40)); functional_none1(rand(300, 300).t())
# functional_none1(full((3, 5), -inf)); functional_none1(full((3, 5), 3e38))
# method_dim0(any2()); method_dim0(specials(24, 24)); method_dim0(rand(5, 1, scale=80.0)); method_dim0(rand(40, 1000))
# method_dim0(rand(1000, 40)); method_dim0(rand(300, 300).t()); method_dim0(full((3, 5), -inf)); method_dim0(full((3, 5), 3e38))
# method_positional0(any2()); method_positional0(specials(24, 24)); method_positional0(rand(5, 1, scale=80.0))
# method_positional0(rand(40, 1000)); method_positional0(rand(1000, 40)); method_positional0(rand(300, 300).t())
# method_positional0(full((3, 5), -inf)); method_positional0(full((3, 5), 3e38))
# function_dim0(any2()); function_dim0(specials(24, 24)); function_dim0(rand(5, 1, scale=80.0)); function_dim0(rand(40, 1000))
# function_dim0(rand(1000, 40)); function_dim0(rand(300, 300).t()); function_dim0(full((3, 5), -inf))
# function_dim0(full((3, 5), 3e38))
# function_positional0(any2()); function_positional0(specials(24, 24)); function_positional0(rand(5, 1, scale=80.0))
# function_positional0(rand(40, 1000)); function_positional0(rand(1000, 40)); function_positional0(rand(300, 300).t())
# function_positional0(full((3, 5), -inf)); function_positional0(full((3, 5), 3e38))
# functional_dim0(any2()); functional_dim0(specials(24, 24)); functional_dim0(rand(5, 1, scale=80.0)); functional_dim0(rand(40, 1000))
# functional_dim0(rand(1000, 40)); functional_dim0(rand(300, 300).t()); functional_dim0(full((3, 5), -inf))
# functional_dim0(full((3, 5), 3e38))
# functional_none0(any2()); functional_none0(specials(24, 24)); functional_none0(rand(5, 1, scale=80.0))
# functional_none0(rand(40, 1000)); functional_none0(rand(1000, 40)); functional_none0(rand(300, 300).t())
# functional_none0(full((3, 5), -inf)); functional_none0(full((3, 5), 3e38))
# vector_method(any1()); vector_method(specials(24)); vector_method(rand(100000)); vector_method(full((70000,), 0.1))
# vector_function(any1()); vector_function(specials(24)); vector_function(rand(100000)); vector_function(full((70000,), 0.1))
# vector_functional(any1()); vector_functional(specials(24)); vector_functional(rand(100000)); vector_functional(full((70000,), 0.1))
# functional_positional(any2()); functional_positional(specials(24, 24)); functional_positional(rand(5, 1, scale=80.0))
# functional_positional(rand(40, 1000)); functional_positional(rand(1000, 40)); functional_positional(rand(300, 300).t())
# functional_positional(full((3, 5), -inf)); functional_positional(full((3, 5), 3e38))
# negative(any2()); negative(specials(24, 24)); negative(rand(5, 1, scale=80.0)); negative(rand(40, 1000)); negative(rand(1000, 40))
# negative(rand(300, 300).t()); negative(full((3, 5), -inf)); negative(full((3, 5), 3e38))
# negative_functional(any2()); negative_functional(specials(24, 24)); negative_functional(rand(5, 1, scale=80.0))
# negative_functional(rand(40, 1000)); negative_functional(rand(1000, 40)); negative_functional(rand(300, 300).t())
# negative_functional(full((3, 5), -inf)); negative_functional(full((3, 5), 3e38))
