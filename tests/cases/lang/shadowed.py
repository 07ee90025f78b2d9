# lane: torch
# range, relu and the markers of this module are not the ones their names suggest.
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D
from tensorc.types import TensorF32Cpu2D as Matrix

_range = range


class TensorF32Cpu2D:
    pass


def range(n):
    return _range(n + 1)


def relu(x: Matrix) -> Matrix:
    return x.tanh()


def own_range(x: Matrix, n: int) -> Matrix:
    for _ in range(n):
        x = x + x
    return x


def own_relu(x: Matrix) -> Matrix:
    return relu(x)


def own_marker(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


F = torch


def rebound_module(x: Matrix) -> Matrix:
    return F.relu(x)


class torch_:
    @staticmethod
    def relu(x):
        return x * 2.0


def other_class(x: Matrix) -> Matrix:
    return torch_.relu(x)

# >>> check
# range not-candidate RXT001 @ 15:10-15:11, RXT001 @ 15:4-15:9
# relu native rextio-torch/tensor-tanh-f32-cpu-2d
# own_range rejected RXT010 @ 24:13-24:21
# own_relu rejected RXT092 @ 30:11-30:18
# own_marker not-candidate RXT002 @ 33:18-33:32, RXT003 @ 33:37-33:51
# rebound_module rejected RXT030 @ 41:11-41:20
# torch_.relu not-candidate RXT010 @ 46:8-46:12
# other_class rejected RXT030 @ 51:11-51:25
# >>> run
# own_range(rand(2, 3), 2); own_relu(rand(2, 3)); own_marker(rand(2, 3)); rebound_module(rand(2, 3)); other_class(rand(2, 3))
# relu(rand(2, 3))
