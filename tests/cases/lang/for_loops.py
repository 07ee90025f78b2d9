# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def up_to(x: TensorF32Cpu2D, u: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = x
    for i in range(n):
        h = h + u
    return h


def from_to(x: TensorF32Cpu2D, u: TensorF32Cpu2D, a: int, b: int) -> TensorF32Cpu2D:
    h = x
    for i in range(a, b):
        h = h + u
    return h


def stepped(x: TensorF32Cpu2D, u: TensorF32Cpu2D, v: TensorF32Cpu2D, a: int, b: int, s: int) -> TensorF32Cpu2D:
    h = x
    for i in range(a, b, s):
        h = h + u
        for _ in range(i % 100):
            h = h + v
    return h


def turns(a: int, b: int, s: int) -> int:
    n = 0
    for i in range(a, b, s):
        n = n + 1
        if n > 50:
            break
    return n


def last_value(n: int, s: int) -> int:
    i = 77
    for i in range(0, n, s):
        pass
    return i


def last_value_unbound(n: int) -> int:
    for i in range(n):
        pass
    return i


def backwards(x: TensorF32Cpu2D, u: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = x
    for i in range(n, 0, -1):
        if i % 2 == 1:
            h = h * u
        else:
            h = h + u
    return h


def variable_changed_inside(n: int) -> int:
    total = 0
    for i in range(n):
        i = i * 10
        total += i
    return total


def bound_changed_inside(n: int) -> int:
    total = 0
    for i in range(n):
        n = n + 1
        total += 1
    return total + n


def else_branch(x: TensorF32Cpu2D, n: int, stop: int) -> TensorF32Cpu2D:
    for i in range(n):
        x = x.relu()
        if i == stop:
            break
    else:
        x = x.tanh()
    return x


def continued(x: TensorF32Cpu2D, u: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = x
    for i in range(n):
        if i % 3 == 0:
            continue
        h = h + u
        if i == 7:
            break
    return h


def nested(x: TensorF32Cpu2D, u: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = x
    for i in range(n):
        for j in range(i):
            if j == 2:
                break
            h = h + u
        if i == 4:
            return h
    return h.relu()


def step_of_zero_literal(n: int) -> int:
    for i in range(0, n, 0):
        pass
    return n


def float_bound(n: float) -> int:
    k = 0
    for i in range(n):
        k += 1
    return k


def starred(n: int) -> int:
    k = 0
    for i in range(*(0, n)):
        k += i
    return k


def over_a_tensor(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    h = x
    for row in x:
        h = h + row
    return h


def over_a_list(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    for k in [1, 2, 3]:
        x = x + x
    return x


def bool_bound(flag: bool) -> int:
    k = 10
    for i in range(flag):
        k += 1
    return k

# >>> check
# up_to native rextio-torch/tensor-add-f32-cpu-same-rank
# from_to native rextio-torch/tensor-add-f32-cpu-same-rank
# stepped native rextio-torch/tensor-add-f32-cpu-same-rank
# turns native
# last_value native
# last_value_unbound native
# backwards native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-mul-f32-cpu-same-rank
# variable_changed_inside native
# bound_changed_inside native
# else_branch rejected RXT010 @ 78:4-83:20
# continued native rextio-torch/tensor-add-f32-cpu-same-rank
# nested native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d
# step_of_zero_literal native
# float_bound rejected RXT010 @ 118:19-118:20
# starred rejected RXT010 @ 125:19-125:26
# over_a_tensor rejected RXT010 @ 132:15-132:16
# over_a_list rejected RXT010 @ 138:13-138:22
# bool_bound native
# >>> run
# up_to(rand(2, 3), rand(2, 3), each(0, 1, 2, 5, -1, -100)); from_to(rand(2, 3), rand(2, 3), each(0, 3, -2, 5), each(3, 3, 1, -5))
# stepped(zeros(1, 1), full((1, 1), 1000.0), ones(1, 1), 5, 0, -2); stepped(zeros(1, 1), full((1, 1), 1000.0), ones(1, 1), 0, 5, 2)
# stepped(zeros(1, 1), full((1, 1), 1000.0), ones(1, 1), 2**63 - 2, 2**63 - 1, 7)
# stepped(zeros(1, 1), full((1, 1), 1000.0), ones(1, 1), 1 - 2**63, -2**63, -5)
# stepped(zeros(1, 1), full((1, 1), 1000.0), ones(1, 1), 0, 3, 0)
# turns(0, 10, 3); turns(0, 9, 3); turns(10, 0, -3); turns(0, -10, 3); turns(0, 10, -1); turns(-5, 5, 4); turns(3, 3, 1); turns(0, 5, 0)
# turns(-2**63, 2**63 - 1, 1); turns(-2**63, 2**63 - 1, 2**62); turns(2**63 - 1, -2**63, -2**62); turns(0, 1, 2**63 - 1)
# turns(0, 1, -2**63); turns(2**63 - 1, -2**63, -2**63)
# last_value(0, 1); last_value(5, 1); last_value(5, 2); last_value(-5, -2); last_value(5, 100); last_value(2**63 - 1, 2**62)
# last_value_unbound(3); last_value_unbound(1); last_value_unbound(0); last_value_unbound(-4)
# backwards(rand(2, 3), rand(2, 3), each(0, 1, 2, 5, -3)); variable_changed_inside(5); bound_changed_inside(4)
# else_branch(rand(2, 3), each(0, 1, 3, 3), each(0, 5, 1, 2)); continued(rand(2, 3), rand(2, 3), each(0, 1, 4, 20))
# nested(rand(2, 3), rand(2, 3), each(0, 1, 3, 9))
# step_of_zero_literal(3); float_bound(2.0); starred(4); over_a_tensor(rand(3, 3)); over_a_list(rand(2, 2)); bool_bound(True)
# bool_bound(False)
