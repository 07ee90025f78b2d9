# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def chain(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    if n == 0:
        x = x.relu()
    elif n == 1:
        x = x.tanh()
    elif n > 5:
        return x
    else:
        x = x.sigmoid()
    return x


def early(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    if n < 0:
        return x.relu()
    if n > 10:
        return x.tanh()
    return x.exp()


def no_else(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    if flag:
        x = x.relu()
    return x


def nested(x: TensorF32Cpu2D, a: int, b: int) -> TensorF32Cpu2D:
    if a > 0:
        if b > 0:
            h = x.relu()
        else:
            h = x.tanh()
    else:
        if b > 0:
            h = x.exp()
        else:
            return x
    return h + x


def conditional(x: TensorF32Cpu2D, y: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return (x.relu() if n > 0 else y.tanh()) + (x if n == 0 else y)


def conditional_int(a: int, b: int) -> int:
    return a if a < b else b


def conditional_lazy(a: int, b: int) -> int:
    return a // b if b != 0 else -1


def conditional_mixed(a: int, b: float, flag: bool) -> float:
    return a if flag else b


def truth(n: int, v: float, flag: bool) -> int:
    out = 0
    if n:
        out += 1
    if v:
        out += 2
    if not flag:
        out += 4
    if n and v:
        out += 8
    return out


def constant(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    if 1 > 2:
        x = x.relu()
    if True:
        x = x.tanh()
    if 0:
        x = x.exp()
    return x


def both_return(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    if flag:
        return x.relu()
    else:
        return x.tanh()


def code_behind(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()
    x = x.tanh()
    return x


def on_a_tensor(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    if x.sum() > 0:
        return x.relu()
    return x


def tensor_truth(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    if x:
        return x.relu()
    return x


def is_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    if x is None:
        return x
    return x.relu()


def same_object(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    if x is y:
        return x.relu()
    return x.tanh()


def falls_through(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    if n > 0:
        return x.relu()

# >>> check
# chain native rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-sigmoid-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d
# early native rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d rextio-torch/unary-exp-f32-cpu-rank1-2
# no_else native rextio-torch/tensor-relu-f32-cpu-2d
# nested native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d rextio-torch/unary-exp-f32-cpu-rank1-2
# conditional native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d
# conditional_int native
# conditional_lazy native
# conditional_mixed rejected RXT010 @ 59:11-59:27
# truth native
# constant native rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d rextio-torch/unary-exp-f32-cpu-rank1-2
# both_return native rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d
# code_behind native rextio-torch/tensor-relu-f32-cpu-2d
# on_a_tensor rejected RXTP-TORCH-013 @ 99:7-99:14
# tensor_truth rejected RXT010 @ 105:7-105:8
# is_none native rextio-torch/tensor-relu-f32-cpu-2d
# same_object rejected RXT010 @ 117:7-117:13
# falls_through rejected RXT003 @ 122:4-122:17
# >>> run
# chain(rand(2, 3), each(0, 1, 2, 6, -1)); early(rand(2, 3), each(-1, 0, 11)); no_else(rand(2, 3), each(True, False))
# nested(rand(2, 3), each(1, 1, 0, 0), each(1, 0, 1, 0))
# conditional(rand(2, 3), rand(2, 3), each(-1, 0, 1)); conditional_int(1, 2); conditional_int(2, 1); conditional_lazy(7, 2)
# conditional_lazy(7, 0)
# conditional_mixed(3, 2.5, True); conditional_mixed(3, 2.5, False); truth(each(0, 1, -1), each(0.0, -0.0, nan, 1.5), each(True, False))
# constant(rand(2, 3)); both_return(rand(2, 3), each(True, False)); code_behind(rand(2, 3)); on_a_tensor(rand(2, 3))
# tensor_truth(rand(1)); tensor_truth(rand(2)); is_none(rand(2, 3))
# same_object(rand(2, 3), rand(2, 3)); falls_through(rand(2, 3), 1); falls_through(rand(2, 3), 0)
