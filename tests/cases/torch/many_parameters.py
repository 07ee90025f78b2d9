# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def twenty(a: TensorF32Cpu2D, b: TensorF32Cpu2D, c: TensorF32Cpu2D, d: TensorF32Cpu2D, e: TensorF32Cpu2D, f: TensorF32Cpu2D,
           g: TensorF32Cpu2D, h: TensorF32Cpu2D, i: TensorF32Cpu2D, j: TensorF32Cpu2D, k: TensorF32Cpu2D, l: TensorF32Cpu2D,
           m: TensorF32Cpu2D, n: TensorF32Cpu2D, o: TensorF32Cpu2D, p: TensorF32Cpu2D, q: TensorF32Cpu2D, r: TensorF32Cpu2D,
           s: TensorF32Cpu2D, t: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s + t


def none_at_all() -> int:
    return 3


def names_of_c(int_: TensorF32Cpu2D, double: TensorF32Cpu2D, args: TensorF32Cpu2D, result: TensorF32Cpu2D, tc: TensorF32Cpu2D,
               fail: int, ok: int, static: int) -> TensorF32Cpu2D:
    register = int_ + double
    goto = register * args
    if fail > ok:
        goto = goto - result
    return goto / tc


def main(void: TensorF32Cpu2D, errno: int) -> TensorF32Cpu2D:
    NULL = void.relu()
    stdin = errno
    for i in range(stdin):
        NULL = NULL.tanh()
    return NULL

# >>> check
# twenty native rextio-torch/tensor-add-f32-cpu-same-rank
# none_at_all native
# names_of_c native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-div-f32-cpu-same-rank rextio-torch/tensor-mul-f32-cpu-same-rank rextio-torch/tensor-sub-f32-cpu-same-rank
# main native rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d
# >>> run
# twenty(*[rand(2, 3) for _ in range(20)]); none_at_all()
# names_of_c(rand(2, 3), rand(2, 3), rand(2, 3), rand(2, 3), rand(2, 3), each(1, 2), 1, 0); main(rand(2, 3), 2)
