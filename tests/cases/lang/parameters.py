# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def defaults(x: TensorF32Cpu2D, n: int = 2, flag: bool = True, v: float = 0.5) -> TensorF32Cpu2D:
    for i in range(n):
        x = x.relu() + x
    if flag:
        x = x.tanh()
    if v > 1.0:
        x = x.exp()
    return x


def negative_default(x: TensorF32Cpu2D, n: int = -1) -> TensorF32Cpu2D:
    if n < 0:
        return x.relu()
    return x


def keyword_only(x: TensorF32Cpu2D, *, n: int, flag: bool = False) -> TensorF32Cpu2D:
    for i in range(n):
        x = x.relu() + x
    if flag:
        x = x.tanh()
    return x


def positional_only(x: TensorF32Cpu2D, n: int = 1, /) -> TensorF32Cpu2D:
    for i in range(n):
        x = x.tanh()
    return x


def all_kinds(x: TensorF32Cpu2D, /, y: TensorF32Cpu2D, n: int = 1, *, z: TensorF32Cpu2D, m: int = 2) -> TensorF32Cpu2D:
    for i in range(n):
        x = x + y
    for i in range(m):
        x = x * z
    return x


def computed_default(x: TensorF32Cpu2D, n: int = 1 + 2) -> TensorF32Cpu2D:
    for i in range(n):
        x = x.tanh()
    return x


LIMIT = 3


def global_default(x: TensorF32Cpu2D, n: int = LIMIT) -> TensorF32Cpu2D:
    for i in range(n):
        x = x.tanh()
    return x


def none_default(x: TensorF32Cpu2D, b: TensorF32Cpu1D = None) -> TensorF32Cpu2D:
    if b is None:
        return x.relu()
    return x + b


def tensor_default(x: TensorF32Cpu2D, b: TensorF32Cpu1D = torch.ones(3)) -> TensorF32Cpu2D:
    return x + b


def default_of_another_type(x: TensorF32Cpu2D, n: int = 2.5) -> TensorF32Cpu2D:
    return x.relu()


def variadic(x: TensorF32Cpu2D, *rest: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


def keywords(x: TensorF32Cpu2D, **rest: int) -> TensorF32Cpu2D:
    return x.relu()


def untyped(x, n: int) -> TensorF32Cpu2D:
    return x.relu()


def no_result_type(x: TensorF32Cpu2D):
    return x.relu()


def string_parameter(x: TensorF32Cpu2D, how: str) -> TensorF32Cpu2D:
    if how == "relu":
        return x.relu()
    return x.tanh()


def global_read(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    for i in range(LIMIT):
        x = x.relu()
    return x


def global_written(n: int) -> int:
    global LIMIT
    LIMIT = 3
    return n

# >>> check
# defaults native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d rextio-torch/unary-exp-f32-cpu-rank1-2
# negative_default native rextio-torch/tensor-relu-f32-cpu-2d
# keyword_only native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d
# positional_only native rextio-torch/tensor-tanh-f32-cpu-2d
# all_kinds native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-mul-f32-cpu-same-rank
# computed_default native rextio-torch/tensor-tanh-f32-cpu-2d
# global_default native rextio-torch/tensor-tanh-f32-cpu-2d
# none_default not-candidate RXT002 @ 59:56-59:60
# tensor_default native rextio-torch/tensor-add-f32-cpu-2d-1d-broadcast
# default_of_another_type not-candidate RXT002 @ 69:56-69:59
# variadic not-candidate RXT010 @ 73:33-73:53
# keywords not-candidate RXT010 @ 77:34-77:43
# untyped not-candidate RXT001 @ 81:12-81:13
# no_result_type not-candidate RXT001 @ 85:4-85:18
# string_parameter not-candidate RXT002 @ 89:45-89:48
# global_read rejected RXT010 @ 96:19-96:24
# global_written rejected RXT010 @ 102:4-102:16
# >>> run
# defaults(rand(2, 3)); defaults(rand(2, 3), 0); defaults(rand(2, 3), 3, False, 2.0); defaults(rand(2, 3), flag=False, n=1)
# defaults(v=2.0, x=rand(2, 3)); negative_default(rand(2, 3)); negative_default(rand(2, 3), 1)
# keyword_only(rand(2, 3), n=2); keyword_only(rand(2, 3), flag=True, n=1); keyword_only(n=0, x=rand(2, 3)); keyword_only(rand(2, 3))
# keyword_only(rand(2, 3), 2)
# positional_only(rand(2, 3)); positional_only(rand(2, 3), 2); positional_only(rand(2, 3), n=2); positional_only(x=rand(2, 3))
# all_kinds(rand(2, 3), rand(2, 3), z=rand(2, 3)); all_kinds(rand(2, 3), rand(2, 3), 2, z=rand(2, 3), m=0)
# all_kinds(rand(2, 3), n=0, y=rand(2, 3), z=rand(2, 3)); all_kinds(rand(2, 3), rand(2, 3))
# computed_default(rand(2, 3)); global_default(rand(2, 3)); none_default(rand(2, 3)); none_default(rand(2, 3), rand(3))
# tensor_default(rand(2, 3)); tensor_default(rand(2, 3), rand(3)); default_of_another_type(rand(2, 3))
# variadic(rand(2, 3)); variadic(rand(2, 3), rand(2, 3)); keywords(rand(2, 3), a=1); untyped(rand(2, 3), 1)
# no_result_type(rand(2, 3)); string_parameter(rand(2, 3), "relu"); global_read(rand(2, 3)); global_written(3)
# defaults(); defaults(rand(2, 3), 1, True, 0.5, 6); defaults(rand(2, 3), x=rand(2, 3)); defaults(rand(2, 3), unknown=1)
# defaults(rand(2, 3), 2.0); defaults(rand(2, 3), None); defaults(rand(2, 3), "2")
# defaults(rand(2, 3), True); defaults(rand(2, 3), torch.tensor(2)); defaults(rand(2, 3), 2, True, 1)
