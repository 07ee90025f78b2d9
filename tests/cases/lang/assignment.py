# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def swap(x: TensorF32Cpu2D, y: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    for _ in range(n):
        x, y = y, x
    return x - y


def rotate(x: TensorF32Cpu2D, y: TensorF32Cpu2D, z: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    for _ in range(n):
        x, y, z = y, z, x
    return x - y * z


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def chained(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    p = q = n
    a = b = x.relu()
    for _ in range(p + q):
        a = a + b
    return a


def nested_targets(n: int) -> int:
    p = n
    (c, d), e = (p, 2), 3
    return c * 100 + d * 10 + e


def list_target(n: int) -> int:
    [a, b] = n, 2
    return a - b


def starred(n: int) -> int:
    a, *rest = n, 2, 3
    return a


def same_name_twice(n: int) -> int:
    a, a = n, n + 1
    return a


def retyped(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    h = x.relu()
    h = h.mean(dim=1)
    h = h.tanh()
    return h


def retyped_parameter(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu1D:
    x = x.sum(dim=0)
    return x


def retyped_to_int(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    k = x
    k = n
    for k in range(k):
        x = x.relu()
    return x


def retyped_in_a_branch(x: TensorF32Cpu2D, flag: int) -> TensorF32Cpu1D:
    if flag > 0:
        h = x.mean(dim=1)
    else:
        h = x.relu()
        h = h.mean(dim=0)
    return h


def two_types_on_two_paths(x: TensorF32Cpu2D, flag: int) -> TensorF32Cpu1D:
    if flag > 0:
        h = x.mean(dim=1)
    else:
        h = x
    return h.softmax(dim=0)


def retyped_in_a_loop(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    acc = 0
    for i in range(n):
        acc = acc + x
    return acc


def int_then_float(n: int) -> float:
    v = n
    v = v / 2
    return v


def walrus(n: int) -> int:
    if (k := n * 2) > 4:
        return k
    return n


def annotated(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h: TensorF32Cpu2D = x.relu()
    k: int = n + 1
    for _ in range(k):
        h = h + x
    return h


def annotated_wrongly(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    h: int = x.relu()
    return h


def copies(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    a = x
    b = a
    a = b.relu()
    c = b
    b = a.tanh()
    return a + b + c


def parameter_kept(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    y = x
    x = x.relu()
    return x - y


def tensor_in_place(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    h = x
    h += b
    return h


def tensor_in_place_own(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    h = x.relu()
    h *= b
    return h


def unpacked_tensor(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    a, b = x
    return a + b


def to_an_attribute(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x.note = 3
    return x


def to_an_item(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x[0, 0] = 3.0
    return x

# >>> check
# swap native rextio-torch/tensor-sub-f32-cpu-same-rank
# rotate native rextio-torch/tensor-mul-f32-cpu-same-rank rextio-torch/tensor-sub-f32-cpu-same-rank
# fibonacci native
# chained native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d
# nested_targets native
# list_target native
# starred rejected RXT010 @ 45:15-45:22, RXT010 @ 45:7-45:12
# same_name_twice native
# retyped native rextio-torch/mean-static-dim-f32-cpu-rank1-2 rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-1d
# retyped_parameter native rextio-torch/sum-static-dim-f32-cpu-rank1-2
# retyped_to_int native rextio-torch/tensor-relu-f32-cpu-2d
# retyped_in_a_branch native rextio-torch/mean-static-dim-f32-cpu-rank1-2 rextio-torch/tensor-relu-f32-cpu-2d
# two_types_on_two_paths rejected RXT010 @ 88:11-88:12
# retyped_in_a_loop rejected RXTP-TORCH-010 @ 94:14-94:21, RXT003 @ 95:11-95:14
# int_then_float native
# walrus rejected RXT010 @ 105:8-105:18, RXT010 @ 106:15-106:16
# annotated native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d
# annotated_wrongly native rextio-torch/tensor-relu-f32-cpu-2d
# copies native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d
# parameter_kept native rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-sub-f32-cpu-same-rank
# tensor_in_place rejected RXT010 @ 140:4-140:10
# tensor_in_place_own rejected RXT010 @ 146:4-146:10
# unpacked_tensor rejected RXT010 @ 151:11-151:12
# to_an_attribute rejected RXT010 @ 156:4-156:10
# to_an_item rejected RXT010 @ 161:4-161:11
# >>> run
# swap(rand(2, 3), rand(2, 3), each(0, 1, 2, 3)); rotate(rand(2, 3), rand(2, 3), rand(2, 3), each(0, 1, 2, 3, 4)); fibonacci(10)
# fibonacci(90); chained(rand(2, 3), 3)
# fibonacci(100) => OverflowError
# nested_targets(7); list_target(7); starred(7); same_name_twice(7); retyped(any2()); retyped_parameter(any2(), 1)
# retyped_to_int(rand(2, 3), 3); retyped_in_a_branch(rand(2, 3), each(0, 1))
# two_types_on_two_paths(rand(2, 3), each(0, 1)); retyped_in_a_loop(rand(2, 3), each(0, 1, 3)); int_then_float(7); walrus(1)
# walrus(5); annotated(rand(2, 3), 2); annotated_wrongly(rand(2, 3))
# copies(any2()); parameter_kept(any2()); tensor_in_place(rand(2, 3), rand(3)); tensor_in_place_own(rand(2, 3), rand(3))
# unpacked_tensor(rand(2, 3)); unpacked_tensor(rand(3, 3)); to_an_attribute(rand(2, 3)); to_an_item(rand(2, 3))
