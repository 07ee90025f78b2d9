# lane: torch
import torch
import tensorc.types
import tensorc.types as tt
from tensorc import types
from tensorc import types as T
from tensorc.types import TensorF32Cpu2D as Matrix, TensorF32Cpu1D as Row


def dotted(x: tensorc.types.TensorF32Cpu2D) -> tensorc.types.TensorF32Cpu2D:
    return x.relu()


def module_alias(x: tt.TensorF32Cpu2D, b: tt.TensorF32Cpu1D) -> tt.TensorF32Cpu2D:
    return x + b


def package(x: types.TensorF32Cpu2D) -> T.TensorI64Cpu1D:
    return x.argmax(dim=1)


def names(x: Matrix, b: Row) -> Matrix:
    return x * b


def mixed(x: Matrix, b: tt.TensorF32Cpu1D) -> "T.TensorF32Cpu2D":
    return x / b

# >>> check
# dotted native rextio-torch/tensor-relu-f32-cpu-2d
# module_alias native rextio-torch/tensor-add-f32-cpu-2d-1d-broadcast
# package native rextio-torch/argmax-static-dim-i64-cpu-rank1
# names native rextio-torch/tensor-mul-f32-cpu-2d-1d-broadcast
# mixed native rextio-torch/tensor-div-f32-cpu-2d-1d-broadcast
# >>> run
# dotted(any2()); module_alias(any2(3, 4), any1(4)); package(any2()); names(any2(3, 4), any1(4)); mixed(any2(3, 4), any1(4))
