# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def method_dim1(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=1)


def method_keepfalse1(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(keepdim=False, dim=1)


def method_positional1(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(1)


def function_dim1(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, dim=1)


def function_positional1(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, 1, keepdim=False)


def method_dim0(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=0)


def method_keepfalse0(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(keepdim=False, dim=0)


def method_positional0(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(0)


def function_dim0(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, dim=0)


def function_positional0(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return torch.argmax(x, 0, keepdim=False)


def vector_method(x: TensorF32Cpu1D) -> TensorI64Cpu1D:
    return x.argmax(dim=0, keepdim=True)


def vector_function(x: TensorF32Cpu1D) -> TensorI64Cpu1D:
    return torch.argmax(x, 0, keepdim=True)


def negative(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=-1)

# >>> check
# method_dim1 native rextio-torch/argmax-static-dim-i64-cpu-rank1
# method_keepfalse1 native rextio-torch/tensor-argmax-dim1-keepfalse-i64-cpu-1d
# method_positional1 native rextio-torch/argmax-static-dim-i64-cpu-rank1
# function_dim1 native rextio-torch/argmax-static-dim-i64-cpu-rank1
# function_positional1 native rextio-torch/argmax-static-dim-i64-cpu-rank1
# method_dim0 native rextio-torch/argmax-static-dim-i64-cpu-rank1
# method_keepfalse0 native rextio-torch/argmax-static-dim-i64-cpu-rank1
# method_positional0 native rextio-torch/argmax-static-dim-i64-cpu-rank1
# function_dim0 native rextio-torch/argmax-static-dim-i64-cpu-rank1
# function_positional0 native rextio-torch/argmax-static-dim-i64-cpu-rank1
# vector_method native rextio-torch/argmax-static-dim-i64-cpu-rank1
# vector_function native rextio-torch/argmax-static-dim-i64-cpu-rank1
# negative rejected RXTP-TORCH-016 @ 56:11-56:27
# >>> run
# method_dim1(any2()); method_dim1(any2(make=ties)); method_dim1(specials(24, 24)); method_dim1(specials(5, 3))
# method_dim1(full((3, 9), nan)); method_dim1(full((3, 9), -inf)); method_dim1(rand(40, 1000)); method_dim1(rand(1000, 40))
# method_dim1(rand(300, 300).t())
# method_keepfalse1(any2()); method_keepfalse1(any2(make=ties)); method_keepfalse1(specials(24, 24))
# method_keepfalse1(specials(5, 3)); method_keepfalse1(full((3, 9), nan)); method_keepfalse1(full((3, 9), -inf))
# method_keepfalse1(rand(40, 1000)); method_keepfalse1(rand(1000, 40)); method_keepfalse1(rand(300, 300).t())
# method_positional1(any2()); method_positional1(any2(make=ties)); method_positional1(specials(24, 24))
# method_positional1(specials(5, 3)); method_positional1(full((3, 9), nan)); method_positional1(full((3, 9), -inf))
# method_positional1(rand(40, 1000)); method_positional1(rand(1000, 40)); method_positional1(rand(300, 300).t())
# function_dim1(any2()); function_dim1(any2(make=ties)); function_dim1(specials(24, 24)); function_dim1(specials(5, 3))
# function_dim1(full((3, 9), nan)); function_dim1(full((3, 9), -inf)); function_dim1(rand(40, 1000)); function_dim1(rand(1000, 40))
# function_dim1(rand(300, 300).t())
# function_positional1(any2()); function_positional1(any2(make=ties)); function_positional1(specials(24, 24))
# function_positional1(specials(5, 3)); function_positional1(full((3, 9), nan)); function_positional1(full((3, 9), -inf))
# function_positional1(rand(40, 1000)); function_positional1(rand(1000, 40)); function_positional1(rand(300, 300).t())
# method_dim0(any2()); method_dim0(any2(make=ties)); method_dim0(specials(24, 24)); method_dim0(specials(5, 3))
# method_dim0(full((3, 9), nan)); method_dim0(full((3, 9), -inf)); method_dim0(rand(40, 1000)); method_dim0(rand(1000, 40))
# method_dim0(rand(300, 300).t())
# method_keepfalse0(any2()); method_keepfalse0(any2(make=ties)); method_keepfalse0(specials(24, 24))
# method_keepfalse0(specials(5, 3)); method_keepfalse0(full((3, 9), nan)); method_keepfalse0(full((3, 9), -inf))
# method_keepfalse0(rand(40, 1000)); method_keepfalse0(rand(1000, 40)); method_keepfalse0(rand(300, 300).t())
# method_positional0(any2()); method_positional0(any2(make=ties)); method_positional0(specials(24, 24))
# method_positional0(specials(5, 3)); method_positional0(full((3, 9), nan)); method_positional0(full((3, 9), -inf))
# method_positional0(rand(40, 1000)); method_positional0(rand(1000, 40)); method_positional0(rand(300, 300).t())
# function_dim0(any2()); function_dim0(any2(make=ties)); function_dim0(specials(24, 24)); function_dim0(specials(5, 3))
# function_dim0(full((3, 9), nan)); function_dim0(full((3, 9), -inf)); function_dim0(rand(40, 1000)); function_dim0(rand(1000, 40))
# function_dim0(rand(300, 300).t())
# function_positional0(any2()); function_positional0(any2(make=ties)); function_positional0(specials(24, 24))
# function_positional0(specials(5, 3)); function_positional0(full((3, 9), nan)); function_positional0(full((3, 9), -inf))
# function_positional0(rand(40, 1000)); function_positional0(rand(1000, 40)); function_positional0(rand(300, 300).t())
# vector_method(any1()); vector_method(any1(make=ties)); vector_method(specials(24)); vector_method(full((9,), nan))
# vector_method(rand(100000))
# vector_function(any1()); vector_function(any1(make=ties)); vector_function(specials(24)); vector_function(full((9,), nan))
# vector_function(rand(100000))
# negative(any2()); negative(any2(make=ties)); negative(specials(24, 24)); negative(specials(5, 3)); negative(full((3, 9), nan))
# negative(full((3, 9), -inf)); negative(rand(40, 1000)); negative(rand(1000, 40)); negative(rand(300, 300).t())
