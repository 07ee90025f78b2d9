# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def operator_22(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a - b


def function_22(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.sub(a, b)


def operator_11(a: TensorF32Cpu1D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return a - b


def function_11(a: TensorF32Cpu1D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return torch.sub(a, b)


def operator_21(a: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return a - b


def function_21(a: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return torch.sub(a, b)


def operator_12(a: TensorF32Cpu1D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a - b


def function_12(a: TensorF32Cpu1D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.sub(a, b)


def itself(a: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a - a

# >>> check
# operator_22 native rextio-torch/tensor-sub-f32-cpu-same-rank
# function_22 native rextio-torch/function-sub-f32-cpu-rank1-2
# operator_11 native rextio-torch/tensor-sub-f32-cpu-same-rank
# function_11 native rextio-torch/function-sub-f32-cpu-rank1-2
# operator_21 native rextio-torch/tensor-sub-f32-cpu-2d-1d-broadcast
# function_21 native rextio-torch/function-sub-f32-cpu-rank1-2
# operator_12 native rextio-torch/tensor-sub-f32-cpu-2d-1d-broadcast
# function_12 native rextio-torch/function-sub-f32-cpu-rank1-2
# itself native rextio-torch/tensor-sub-f32-cpu-same-rank
# >>> run
# operator_22(any2(5, 7), any2(5, 7)); operator_22(any2(17, 33), any2(17, 33))
# operator_22(any2(5, 7), rand(1, 7)); operator_22(rand(5, 1), any2(5, 7)); operator_22(rand(5, 1), rand(1, 7))
# operator_22(rand(1, 1), rand(0, 3))
# operator_11(any1(9), any1(9)); operator_11(any1(33), rand(1)); operator_11(rand(1), any1(33)); operator_11(rand(0), rand(1))
# operator_11(rand(0), rand(0))
# operator_21(any2(5, 7), any1(7)); operator_21(any2(3, 33), any1(33)); operator_21(any2(5, 7), rand(1))
# operator_21(rand(5, 1), any1(7)); operator_21(rand(0, 7), rand(7)); operator_21(rand(3, 0), rand(1))
# operator_12(any1(7), any2(5, 7)); operator_12(rand(1), any2(5, 7)); operator_12(rand(7), rand(0, 7))
# operator_12(any1(7), rand(5, 1))
# operator_22(specials(24, 24), specials(24, 24).t()); operator_21(specials(24, 24), specials(24))
# operator_11(specials(24), zeros(24))
# operator_22(rand(3, 4), rand(3, 5)); operator_22(rand(3, 4), rand(2, 4)); operator_11(rand(3), rand(4))
# operator_21(rand(3, 4), rand(3)); operator_12(rand(0), rand(3, 4))
# operator_22(rand(200, 300), rand(200, 300)); operator_21(rand(200, 300), rand(300))
# function_22(any2(5, 7), any2(5, 7)); function_22(any2(17, 33), any2(17, 33))
# function_22(any2(5, 7), rand(1, 7)); function_22(rand(5, 1), any2(5, 7)); function_22(rand(5, 1), rand(1, 7))
# function_22(rand(1, 1), rand(0, 3))
# function_11(any1(9), any1(9)); function_11(any1(33), rand(1)); function_11(rand(1), any1(33)); function_11(rand(0), rand(1))
# function_11(rand(0), rand(0))
# function_21(any2(5, 7), any1(7)); function_21(any2(3, 33), any1(33)); function_21(any2(5, 7), rand(1))
# function_21(rand(5, 1), any1(7)); function_21(rand(0, 7), rand(7)); function_21(rand(3, 0), rand(1))
# function_12(any1(7), any2(5, 7)); function_12(rand(1), any2(5, 7)); function_12(rand(7), rand(0, 7))
# function_12(any1(7), rand(5, 1))
# function_22(specials(24, 24), specials(24, 24).t()); function_21(specials(24, 24), specials(24))
# function_11(specials(24), zeros(24))
# function_22(rand(3, 4), rand(3, 5)); function_22(rand(3, 4), rand(2, 4)); function_11(rand(3), rand(4))
# function_21(rand(3, 4), rand(3)); function_12(rand(0), rand(3, 4))
# function_22(rand(200, 300), rand(200, 300)); function_21(rand(200, 300), rand(300))
# itself(any2())
