# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def operator_22(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a @ b


def operator_21(a: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return a @ b


def operator_12(a: TensorF32Cpu1D, b: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return a @ b


def function_22(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.matmul(a, b)


def function_21(a: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return torch.matmul(a, b)


def function_12(a: TensorF32Cpu1D, b: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.matmul(a, b)


def method_22(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a.matmul(b)


def method_21(a: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return a.matmul(b)


def method_12(a: TensorF32Cpu1D, b: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return a.matmul(b)

# >>> check
# operator_22 native rextio-torch/tensor-matmul-f32-cpu-2d
# operator_21 native rextio-torch/tensor-matmul-f32-cpu-mixed-rank
# operator_12 native rextio-torch/tensor-matmul-f32-cpu-mixed-rank
# function_22 native rextio-torch/tensor-matmul-call-f32-cpu-2d
# function_21 native rextio-torch/tensor-matmul-call-f32-cpu-mixed-rank
# function_12 native rextio-torch/tensor-matmul-call-f32-cpu-mixed-rank
# method_22 native rextio-torch/tensor-matmul-call-f32-cpu-2d
# method_21 native rextio-torch/tensor-matmul-call-f32-cpu-mixed-rank
# method_12 native rextio-torch/tensor-matmul-call-f32-cpu-mixed-rank
# >>> run
# operator_22(any2(5, 7), any2(7, 3))
# operator_22(any2(1, 32), any2(32, 8)); operator_22(any2(17, 1), any2(1, 33))
# operator_22(rand(0, 4), rand(4, 3)); operator_22(rand(3, 0), rand(0, 4)); operator_22(rand(3, 4), rand(4, 0))
# operator_22(rand(0, 0), rand(0, 0))
# operator_22(specials(6, 6), specials(6, 6)); operator_22(rand(128, 96), rand(96, 96)); operator_22(rand(33, 769), rand(769, 5))
# operator_22(rand(16, 384), rand(384, 16).t().contiguous().t())
# operator_22(rand(3, 4), rand(5, 3)); operator_22(rand(3, 4), rand(3, 4))
# operator_21(any2(5, 7), any1(7)); operator_21(any2(1, 32), any1(32)); operator_21(any2(33, 1), any1(1))
# operator_21(rand(0, 4), rand(4)); operator_21(rand(3, 0), rand(0)); operator_21(specials(6, 6), specials(6))
# operator_21(rand(300, 200), rand(200)); operator_21(rand(200, 300).t(), rand(200))
# operator_21(rand(3, 4), rand(3)); operator_21(rand(3, 4), rand(1))
# operator_12(any1(5), any2(5, 7)); operator_12(any1(32), any2(32, 1)); operator_12(any1(1), any2(1, 33))
# operator_12(rand(4), rand(4, 0)); operator_12(rand(0), rand(0, 3)); operator_12(specials(6), specials(6, 6))
# operator_12(rand(200), rand(200, 300)); operator_12(rand(200), rand(300, 200).t())
# operator_12(rand(3), rand(4, 3)); operator_12(rand(1), rand(4, 3))
# function_22(any2(5, 7), any2(7, 3))
# function_22(any2(1, 32), any2(32, 8)); function_22(any2(17, 1), any2(1, 33))
# function_22(rand(0, 4), rand(4, 3)); function_22(rand(3, 0), rand(0, 4)); function_22(rand(3, 4), rand(4, 0))
# function_22(rand(0, 0), rand(0, 0))
# function_22(specials(6, 6), specials(6, 6)); function_22(rand(128, 96), rand(96, 96)); function_22(rand(33, 769), rand(769, 5))
# function_22(rand(16, 384), rand(384, 16).t().contiguous().t())
# function_22(rand(3, 4), rand(5, 3)); function_22(rand(3, 4), rand(3, 4))
# function_21(any2(5, 7), any1(7)); function_21(any2(1, 32), any1(32)); function_21(any2(33, 1), any1(1))
# function_21(rand(0, 4), rand(4)); function_21(rand(3, 0), rand(0)); function_21(specials(6, 6), specials(6))
# function_21(rand(300, 200), rand(200)); function_21(rand(200, 300).t(), rand(200))
# function_21(rand(3, 4), rand(3)); function_21(rand(3, 4), rand(1))
# function_12(any1(5), any2(5, 7)); function_12(any1(32), any2(32, 1)); function_12(any1(1), any2(1, 33))
# function_12(rand(4), rand(4, 0)); function_12(rand(0), rand(0, 3)); function_12(specials(6), specials(6, 6))
# function_12(rand(200), rand(200, 300)); function_12(rand(200), rand(300, 200).t())
# function_12(rand(3), rand(4, 3)); function_12(rand(1), rand(4, 3))
# method_22(any2(5, 7), any2(7, 3))
# method_22(any2(1, 32), any2(32, 8)); method_22(any2(17, 1), any2(1, 33))
# method_22(rand(0, 4), rand(4, 3)); method_22(rand(3, 0), rand(0, 4)); method_22(rand(3, 4), rand(4, 0))
# method_22(rand(0, 0), rand(0, 0))
# method_22(specials(6, 6), specials(6, 6)); method_22(rand(128, 96), rand(96, 96)); method_22(rand(33, 769), rand(769, 5))
# method_22(rand(16, 384), rand(384, 16).t().contiguous().t())
# method_22(rand(3, 4), rand(5, 3)); method_22(rand(3, 4), rand(3, 4))
# method_21(any2(5, 7), any1(7)); method_21(any2(1, 32), any1(32)); method_21(any2(33, 1), any1(1))
# method_21(rand(0, 4), rand(4)); method_21(rand(3, 0), rand(0)); method_21(specials(6, 6), specials(6))
# method_21(rand(300, 200), rand(200)); method_21(rand(200, 300).t(), rand(200))
# method_21(rand(3, 4), rand(3)); method_21(rand(3, 4), rand(1))
# method_12(any1(5), any2(5, 7)); method_12(any1(32), any2(32, 1)); method_12(any1(1), any2(1, 33))
# method_12(rand(4), rand(4, 0)); method_12(rand(0), rand(0, 3)); method_12(specials(6), specials(6, 6))
# method_12(rand(200), rand(200, 300)); method_12(rand(200), rand(300, 200).t())
# method_12(rand(3), rand(4, 3)); method_12(rand(1), rand(4, 3))
