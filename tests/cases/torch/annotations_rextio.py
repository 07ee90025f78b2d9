# lane: torch
# The reference tool's markers: its sources compile unchanged.
import torch
import rextio_torch.types
import rextio_torch.types as rt
from rextio_torch import types as R
from rextio_torch.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D
from rextio_torch.types import TensorF32Cpu2D as M


def plain(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorI64Cpu1D:
    hidden = (x + b).relu()
    return hidden.argmax(dim=1, keepdim=False)


def dotted(x: rextio_torch.types.TensorF32Cpu2D) -> rt.TensorF32Cpu2D:
    return x.relu()


def alias(x: M) -> "R.TensorF32Cpu2D":
    return x.tanh()


def passed(labels: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return labels

# >>> check
# plain native rextio-torch/tensor-add-f32-cpu-2d-1d-broadcast rextio-torch/tensor-argmax-dim1-keepfalse-i64-cpu-1d rextio-torch/tensor-relu-f32-cpu-2d
# dotted native rextio-torch/tensor-relu-f32-cpu-2d
# alias native rextio-torch/tensor-tanh-f32-cpu-2d
# passed native
# >>> run
# plain(any2(3, 4), any1(4)); dotted(any2()); alias(any2()); passed(ints(4)); passed(any1(make=ints))
