# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def branch(x: TensorF32Cpu2D, flag: int) -> TensorF32Cpu2D:
    if flag > 0:
        h = x.relu()
    return h


def both_branches(x: TensorF32Cpu2D, flag: int) -> TensorF32Cpu2D:
    if flag > 0:
        h = x.relu()
    else:
        h = x.tanh()
    return h


def int_in_a_branch(x: TensorF32Cpu2D, flag: int) -> TensorF32Cpu2D:
    if flag > 0:
        k = 3
    for _ in range(k):
        x = x.relu()
    return x


def float_in_a_branch(flag: bool) -> float:
    if flag:
        v = 2.5
    return v * 2.0


def bool_in_a_branch(flag: bool) -> bool:
    if flag:
        v = False
    return v


def carried(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    for i in range(n):
        if i > 1:
            out = z.relu()
        else:
            z = x
    return out


def before_assignment(n: int) -> int:
    k = k + n
    return k


def used_before(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    y = h.relu()
    h = x
    return y


def after_the_loop(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    for i in range(n):
        h = x.relu()
    return h


def moved_then_read(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = x.relu()
    for i in range(n):
        if i == 0:
            g = h
        h = g + x
    return h


def deleted(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    h = x.relu()
    del h
    return h


def only_declared(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    h: TensorF32Cpu2D
    return h


def assigned_after_return(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    if flag:
        return h
    h = x
    return h


def not_in_the_first_turn(n: int) -> int:
    h = 0
    for i in range(n):
        if i > 0:
            x = y
            y = x + 1
        else:
            x = 1
            y = x
        h = h + x
    return h


def not_in_the_first_turns(n: int) -> int:
    h = 0
    for i in range(n):
        for j in range(n):
            if j > 0:
                x = y
                z = x
            elif i > 0:
                z = x
                y = z + 1
            else:
                y = 4
            h = h + y
    return h


def not_by_the_first_turns_side(n: int) -> int:
    for i in range(n):
        x = (y + 1 if i > 0 else w) if i != 0 else 0
        y = x
        w = 3
    return y


def not_by_the_first_turns_condition(n: int) -> int:
    c = 0
    for i in range(n):
        b = i > 0 and q
        if b or i > 2 and y > 1 < z:
            c = c + 1
            y = c
        q = not b
        z = c
        if i < 3:
            y = 3
    return c


def not_in_the_first_turn_of_a_while(n: int) -> int:
    h = 0
    while h < n:
        if h > 0:
            x = y
            z = x
            y = z + 1
        else:
            y = 4
        h = h + 1
    return x

# >>> check
# branch native rextio-torch/tensor-relu-f32-cpu-2d
# both_branches native rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d
# int_in_a_branch native rextio-torch/tensor-relu-f32-cpu-2d
# float_in_a_branch native
# bool_in_a_branch native
# carried native rextio-torch/tensor-relu-f32-cpu-2d
# before_assignment rejected RXT010 @ 50:8-50:9
# used_before rejected RXT010 @ 55:8-55:9
# after_the_loop native rextio-torch/tensor-relu-f32-cpu-2d
# moved_then_read native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d
# deleted rejected RXT010 @ 77:4-77:9
# only_declared rejected RXT010 @ 83:11-83:12
# assigned_after_return rejected RXT010 @ 88:15-88:16
# not_in_the_first_turn native
# not_in_the_first_turns native
# not_by_the_first_turns_side native
# not_by_the_first_turns_condition native
# not_in_the_first_turn_of_a_while native
# >>> run
# branch(rand(2, 3), 1); branch(rand(2, 3), 0); both_branches(rand(2, 3), each(0, 1)); int_in_a_branch(rand(2, 3), 1)
# int_in_a_branch(rand(2, 3), 0)
# float_in_a_branch(True); float_in_a_branch(False); bool_in_a_branch(True); bool_in_a_branch(False)
# carried(rand(2, 3), 3); carried(rand(2, 3), 2); carried(rand(2, 3), 0); before_assignment(1); used_before(rand(2, 3))
# after_the_loop(rand(2, 3), 2); after_the_loop(rand(2, 3), 0)
# moved_then_read(rand(2, 3), each(0, 1, 3)); deleted(rand(2, 3)); only_declared(rand(2, 3)); assigned_after_return(rand(2, 3), True)
# assigned_after_return(rand(2, 3), False)
# not_in_the_first_turn(each(0, 1, 2, 5)); not_in_the_first_turns(each(0, 1, 2, 5))
# not_by_the_first_turns_side(each(0, 1, 2, 5)); not_by_the_first_turns_condition(each(0, 1, 2, 5))
# not_in_the_first_turn_of_a_while(each(0, 1, 2, 5))
