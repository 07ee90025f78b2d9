# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D
import functools

import tensorc

_range = range


def parameter_hides_module(x: TensorF32Cpu2D, torch: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.relu() + x


def local_hides_module(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    torch = x
    return torch.relu()


def local_hides_module_late(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    y = torch.relu(x)
    torch = y
    return torch


def twice(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


def twice(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.tanh()


if len("ab") == 3:
    def conditional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
        return x.relu()
else:
    def conditional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
        return x.sigmoid()

kept = twice


def rebound(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


rebound = conditional


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) * 2.0

    return wrapper


@doubled
def decorated(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


@tensorc.native
def marked(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


@tensorc.exempt
def exempted(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


class Model:
    def method(self, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
        return x.relu()

    @staticmethod
    def static(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
        return x.relu()

    @classmethod
    def of_class(cls, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
        return x.relu()

    @property
    def size(self) -> int:
        return 3


def größe(données: TensorF32Cpu2D, ﬁx: int) -> TensorF32Cpu2D:
    ℋ = données
    for _ in range(fix):
        ℋ = H + données
    return H


def 層(入力: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 入力.relu()


TABLE = {"marked": marked, "twice": twice}


def __private(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()

# >>> check
# parameter_hides_module native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d
# local_hides_module native rextio-torch/tensor-relu-f32-cpu-2d
# local_hides_module_late rejected RXT010 @ 21:8-21:13
# twice native rextio-torch/tensor-tanh-f32-cpu-2d
# twice native rextio-torch/tensor-tanh-f32-cpu-2d
# conditional not-candidate TC-LANG-002 @ 35:8-35:19
# conditional native rextio-torch/tensor-sigmoid-f32-cpu-2d
# rebound native rextio-torch/tensor-relu-f32-cpu-2d
# doubled not-candidate RXT001 @ 51:12-51:20, RXT001 @ 51:4-51:11
# doubled.<locals>.wrapper not-candidate RXT010 @ 53:8-53:15
# decorated not-candidate RXT091 @ 59:1-59:8
# marked native rextio-torch/tensor-relu-f32-cpu-2d
# exempted not-candidate RXT010 @ 70:4-70:12
# Model.method not-candidate RXT010 @ 75:8-75:14
# Model.static not-candidate RXT010 @ 79:8-79:14
# Model.of_class not-candidate RXT010 @ 83:8-83:16
# Model.size not-candidate RXT010 @ 87:8-87:12
# größe native rextio-torch/tensor-add-f32-cpu-same-rank
# 層 native rextio-torch/tensor-relu-f32-cpu-2d
# __private native rextio-torch/tensor-relu-f32-cpu-2d
# >>> run
# parameter_hides_module(rand(2, 3), rand(2, 3)); local_hides_module(rand(2, 3)); local_hides_module_late(rand(2, 3))
# twice(rand(2, 3)); kept(rand(2, 3)); conditional(rand(2, 3)); rebound(rand(2, 3)); decorated(rand(2, 3))
# marked(rand(2, 3)); exempted(rand(2, 3)); Model().method(rand(2, 3)); Model.static(rand(2, 3)); Model().static(rand(2, 3))
# Model.of_class(rand(2, 3)); größe(rand(2, 3), 3); größe(rand(2, 3), fix=2); 層(rand(2, 3)); TABLE["marked"](rand(2, 3))
# TABLE["twice"](rand(2, 3))
