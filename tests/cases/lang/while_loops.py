# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def counted(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    i = 0
    while i < n:
        x = x.tanh()
        i += 1
    return x


def forever(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    while True:
        if n <= 0:
            break
        n -= 1
        x = x.relu() + x
    return x


def returns_from_within(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    while True:
        n = n - 1
        if n < 0:
            return x
        x = x.sigmoid()


def two_conditions(n: int, m: int) -> int:
    while n > 0 and m > 0:
        if n > m:
            n = n - m
        else:
            m = m - n
    return n + m


def continued(n: int) -> int:
    total = 0
    i = 0
    while i < n:
        i = i + 1
        if i % 2 == 0:
            continue
        total = total + i
    return total


def else_branch(n: int, stop: int) -> int:
    while n > 0:
        n = n - 1
        if n == stop:
            break
    else:
        return 100
    return n


def on_an_int(n: int) -> int:
    k = 0
    while n:
        n = n // 2
        k += 1
    return k


def on_a_float(v: float) -> int:
    k = 0
    while v > 1.0:
        v = v / 2.0
        k += 1
    return k


def never(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    while False:
        x = x.relu()
    return x


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def assigned_inside(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    while n > 0:
        h = x.relu()
        n -= 1
    return h


def on_a_tensor(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    while x.sum(dim=0).sum() > 1:
        x = x / x
    return x

# >>> check
# counted native rextio-torch/tensor-tanh-f32-cpu-2d
# forever native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d
# returns_from_within native rextio-torch/tensor-sigmoid-f32-cpu-2d
# two_conditions native
# continued native
# else_branch rejected RXT010 @ 52:4-57:18
# on_an_int native
# on_a_float native
# never native rextio-torch/tensor-relu-f32-cpu-2d
# collatz native
# assigned_inside native rextio-torch/tensor-relu-f32-cpu-2d
# on_a_tensor rejected RXTP-TORCH-013 @ 99:10-99:28
# >>> run
# counted(rand(2, 3), each(0, 1, 4, -1)); forever(rand(2, 3), each(0, 1, 4)); returns_from_within(rand(2, 3), each(0, 1, 4))
# two_conditions(12, 18); two_conditions(0, 5); continued(10); else_branch(5, 2); else_branch(5, 9); on_an_int(13); on_an_int(0)
# on_a_float(10.0); on_a_float(nan)
# never(rand(2, 3)); collatz(27); assigned_inside(rand(2, 3), 2); assigned_inside(rand(2, 3), 0); on_a_tensor(zeros(2, 2))
