# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def method_dim1(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=1)


def method_dim1_keepfalse(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=1, keepdim=False)


def method_dim0(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=0)


def method_positional(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(1)


def method_positional0(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(0)


def method_keep1(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.sum(dim=1, keepdim=True)


def method_keep0(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.sum(keepdim=True, dim=0)


def method_positional_keep(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.sum(0, keepdim=True)


def function_dim1(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.sum(x, dim=1)


def function_positional(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.sum(x, 0)


def function_keep(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.sum(x, keepdim=True, dim=1)


def function_keepfalse(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.sum(x, dim=0, keepdim=False)


def vector_method(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return x.sum(dim=0, keepdim=True)


def vector_function(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return torch.sum(x, 0, keepdim=True)


def negative(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=-1)


def negative_keep(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.sum(x, -2, keepdim=True)


def positional_keepdim(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.sum(1, True)


def input_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.sum(input=x, dim=1)

# >>> check
# method_dim1 native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# method_dim1_keepfalse native rextio-torch/tensor-sum-dim1-f32-cpu-2d
# method_dim0 native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# method_positional native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# method_positional0 native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# method_keep1 native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# method_keep0 native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# method_positional_keep native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# function_dim1 native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# function_positional native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# function_keep native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# function_keepfalse native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# vector_method native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# vector_function native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# negative rejected RXTP-TORCH-013 @ 64:11-64:24
# negative_keep rejected RXTP-TORCH-013 @ 68:11-68:41
# positional_keepdim rejected RXTP-TORCH-013 @ 72:11-72:25
# input_keyword rejected RXTP-TORCH-013 @ 76:11-76:36
# >>> run
# method_dim1(any2()); method_dim1(specials(24, 24)); method_dim1(specials(5, 3)); method_dim1(rand(40, 1000))
# method_dim1(rand(1000, 40)); method_dim1(rand(300, 300).t()); method_dim1(full((2, 4096), 3e38)); method_dim1(full((3, 70000), 0.1))
# method_dim1_keepfalse(any2()); method_dim1_keepfalse(specials(24, 24)); method_dim1_keepfalse(specials(5, 3))
# method_dim1_keepfalse(rand(40, 1000)); method_dim1_keepfalse(rand(1000, 40)); method_dim1_keepfalse(rand(300, 300).t())
# method_dim1_keepfalse(full((2, 4096), 3e38)); method_dim1_keepfalse(full((3, 70000), 0.1))
# method_dim0(any2()); method_dim0(specials(24, 24)); method_dim0(specials(5, 3)); method_dim0(rand(40, 1000))
# method_dim0(rand(1000, 40)); method_dim0(rand(300, 300).t()); method_dim0(full((2, 4096), 3e38)); method_dim0(full((3, 70000), 0.1))
# method_positional(any2()); method_positional(specials(24, 24)); method_positional(specials(5, 3)); method_positional(rand(40, 1000))
# method_positional(rand(1000, 40)); method_positional(rand(300, 300).t()); method_positional(full((2, 4096), 3e38))
# method_positional(full((3, 70000), 0.1))
# method_positional0(any2()); method_positional0(specials(24, 24)); method_positional0(specials(5, 3))
# method_positional0(rand(40, 1000)); method_positional0(rand(1000, 40)); method_positional0(rand(300, 300).t())
# method_positional0(full((2, 4096), 3e38)); method_positional0(full((3, 70000), 0.1))
# method_keep1(any2()); method_keep1(specials(24, 24)); method_keep1(specials(5, 3)); method_keep1(rand(40, 1000))
# method_keep1(rand(1000, 40)); method_keep1(rand(300, 300).t()); method_keep1(full((2, 4096), 3e38))
# method_keep1(full((3, 70000), 0.1))
# method_keep0(any2()); method_keep0(specials(24, 24)); method_keep0(specials(5, 3)); method_keep0(rand(40, 1000))
# method_keep0(rand(1000, 40)); method_keep0(rand(300, 300).t()); method_keep0(full((2, 4096), 3e38))
# method_keep0(full((3, 70000), 0.1))
# method_positional_keep(any2()); method_positional_keep(specials(24, 24)); method_positional_keep(specials(5, 3))
# method_positional_keep(rand(40, 1000)); method_positional_keep(rand(1000, 40)); method_positional_keep(rand(300, 300).t())
# method_positional_keep(full((2, 4096), 3e38)); method_positional_keep(full((3, 70000), 0.1))
# function_dim1(any2()); function_dim1(specials(24, 24)); function_dim1(specials(5, 3)); function_dim1(rand(40, 1000))
# function_dim1(rand(1000, 40)); function_dim1(rand(300, 300).t()); function_dim1(full((2, 4096), 3e38))
# function_dim1(full((3, 70000), 0.1))
# function_positional(any2()); function_positional(specials(24, 24)); function_positional(specials(5, 3))
# function_positional(rand(40, 1000)); function_positional(rand(1000, 40)); function_positional(rand(300, 300).t())
# function_positional(full((2, 4096), 3e38)); function_positional(full((3, 70000), 0.1))
# function_keep(any2()); function_keep(specials(24, 24)); function_keep(specials(5, 3)); function_keep(rand(40, 1000))
# function_keep(rand(1000, 40)); function_keep(rand(300, 300).t()); function_keep(full((2, 4096), 3e38))
# function_keep(full((3, 70000), 0.1))
# function_keepfalse(any2()); function_keepfalse(specials(24, 24)); function_keepfalse(specials(5, 3))
# function_keepfalse(rand(40, 1000)); function_keepfalse(rand(1000, 40)); function_keepfalse(rand(300, 300).t())
# function_keepfalse(full((2, 4096), 3e38)); function_keepfalse(full((3, 70000), 0.1))
# vector_method(any1()); vector_method(specials(24)); vector_method(rand(100000)); vector_method(full((70000,), 0.1))
# vector_function(any1()); vector_function(specials(24)); vector_function(rand(100000)); vector_function(full((70000,), 0.1))
# negative(any2()); negative(specials(24, 24)); negative(specials(5, 3)); negative(rand(40, 1000)); negative(rand(1000, 40))
# negative(rand(300, 300).t()); negative(full((2, 4096), 3e38)); negative(full((3, 70000), 0.1))
# negative_keep(any2()); negative_keep(specials(24, 24)); negative_keep(specials(5, 3)); negative_keep(rand(40, 1000))
# negative_keep(rand(1000, 40)); negative_keep(rand(300, 300).t()); negative_keep(full((2, 4096), 3e38))
# negative_keep(full((3, 70000), 0.1))
# positional_keepdim(any2()); positional_keepdim(specials(24, 24)); positional_keepdim(specials(5, 3))
# positional_keepdim(rand(40, 1000)); positional_keepdim(rand(1000, 40)); positional_keepdim(rand(300, 300).t())
# positional_keepdim(full((2, 4096), 3e38)); positional_keepdim(full((3, 70000), 0.1))
# input_keyword(any2()); input_keyword(specials(24, 24)); input_keyword(specials(5, 3)); input_keyword(rand(40, 1000))
# input_keyword(rand(1000, 40)); input_keyword(rand(300, 300).t()); input_keyword(full((2, 4096), 3e38))
# input_keyword(full((3, 70000), 0.1))
# method_dim1(zeros(2**62, 0)); method_dim0(zeros(0, 2**62))
