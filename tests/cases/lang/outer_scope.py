# lane: torch
# What runs in the scope around a function, a lambda or a class: defaults, annotations, decorators, bases.
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu2D


class Other:
    @staticmethod
    def relu(x):
        return x - x


def helper(a=(torch := Other)):
    return a


other = lambda a=(range := lambda n: [0]): a  # noqa: E731


def rebound(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.relu(x)


def counted(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    for i in range(n):
        x = x + x
    return x


def local_by_default(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu(x)

    def g(a=(F := 1)):
        return a


def local_by_lambda(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu(x)
    lambda a=(F := 1): a


def local_by_base(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu(x)

    class A((F := object)):
        pass


def local_by_annotation(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu(x)

    def g(a: (F := int)) -> None:
        pass


def generator_by_default(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()
    lambda a=(yield 1): a


def generator_by_decorator(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()

    @(yield)
    def g(a):
        return a


def inner_scope(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()
    lambda a: (x := a)


# >>> check
# Other.relu not-candidate RXT010 @ 10:8-10:12
# helper not-candidate RXT001 @ 14:11-14:12, RXT001 @ 14:4-14:10
# rebound rejected RXT030 @ 22:11-22:24
# counted rejected RXT010 @ 26:13-26:21
# local_by_default rejected RXT010 @ 32:11-32:12
# local_by_default.<locals>.g not-candidate RXT010 @ 34:8-34:9
# local_by_lambda rejected RXT010 @ 39:11-39:12
# local_by_base rejected RXT010 @ 44:11-44:12
# local_by_annotation rejected RXT010 @ 51:11-51:12
# local_by_annotation.<locals>.g not-candidate RXT010 @ 53:8-53:9
# generator_by_default not-candidate RXT010 @ 57:4-57:24
# generator_by_decorator not-candidate RXT010 @ 62:4-62:26
# generator_by_decorator.<locals>.g not-candidate RXT010 @ 66:8-66:9
# inner_scope native rextio-torch/tensor-relu-f32-cpu-2d
# >>> run
# rebound(rand(2, 3)); counted(rand(2, 3), 3); inner_scope(rand(2, 3))
# local_by_default(rand(2, 3)); local_by_lambda(rand(2, 3)); local_by_base(rand(2, 3)); local_by_annotation(rand(2, 3))
