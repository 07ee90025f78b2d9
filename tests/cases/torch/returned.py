# lane: torch
# What comes back: the very object of a parameter, or a value of one's own.
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def same(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x


def second(x: TensorF32Cpu2D, y: TensorF32Cpu1D, z: TensorI64Cpu1D) -> TensorF32Cpu1D:
    return y


def third(x: TensorF32Cpu2D, y: TensorF32Cpu1D, z: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return z


def renamed(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    y = x
    z = y
    return z


def picked(x: TensorF32Cpu2D, y: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    return x if flag else y


def through_a_loop(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    for i in range(n):
        x = x.relu()
    return x


def either(x: TensorF32Cpu2D, y: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    if n > 0:
        return x
    elif n == 0:
        return y
    return x + y


def swapped(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x, y = y, x
    return x


def replaced(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x = y
    return x


def nothing(x: TensorF32Cpu2D) -> None:
    return None


def falls_off(x: TensorF32Cpu2D) -> None:
    x.relu()


def pair(x: TensorF32Cpu2D) -> tuple[TensorF32Cpu2D, TensorF32Cpu2D]:
    return x, x.relu()


def number(x: TensorF32Cpu2D, n: int) -> int:
    x.relu()
    return n * 2

# >>> check
# same native
# second native
# third native
# renamed native
# picked native
# through_a_loop native rextio-torch/tensor-relu-f32-cpu-2d
# either native rextio-torch/tensor-add-f32-cpu-same-rank
# swapped native
# replaced native
# nothing native
# falls_off native rextio-torch/tensor-relu-f32-cpu-2d
# pair not-candidate RXT003 @ 61:31-61:68
# number native rextio-torch/tensor-relu-f32-cpu-2d
# >>> run
# same(any2()); second(rand(2, 3), any1(), ints(4)); third(rand(2, 3), rand(2), any1(make=ints)); renamed(any2())
# picked(rand(2, 3), rand(3, 2), each(True, False)); through_a_loop(any2(), each(0, 1, 3, -1))
# either(rand(2, 3), rand(2, 3), each(1, 0, -1))
# swapped(rand(2, 3), rand(3, 2)); replaced(rand(2, 3), rand(3, 2)); nothing(rand(2, 3)); falls_off(rand(2, 3)); pair(rand(2, 3))
# number(rand(2, 3), 4)
