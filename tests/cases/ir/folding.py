# lane: torch
# Constants and dead code go; what could raise or change bits stays.
import torch
from tensorc.types import TensorF32Cpu2D


def constants(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    for i in range(2 * 3 - 1):
        x = x.relu()
    return x


def dead_branch(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    if 2 < 1:
        return x.tanh()
    return x.relu()


def dead_tail(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()
    return x.tanh()


def unused_may_raise(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    unused = x @ w
    return x.relu()


def unused_cannot_raise(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    unused = x.exp()
    return x.relu()


def division_stays(n: int) -> int:
    unused = n // 0
    return n

# >>> ir
# func constants(x f32[2]) -> f32[2] {
#   %0 = const int 5
#   %1 = const int 0
#   %2 = const int 1
#   for i in range(%1, %0, %2) {
#     %4 = get f32[2] x
#     %5 = tensor relu f32[2] %4
#     set x %5
#   }
#   %7 = get f32[2] x
#   return %7
# }
# func dead_branch(x f32[2]) -> f32[2] {
#   %0 = get f32[2] x
#   %1 = tensor relu f32[2] %0
#   return %1
# }
# func dead_tail(x f32[2]) -> f32[2] {
#   %0 = get f32[2] x
#   %1 = tensor relu f32[2] %0
#   return %1
# }
# func unused_may_raise(x f32[2], w f32[2]) -> f32[2] {
#   %0 = get f32[2] x
#   %1 = get f32[2] w
#   %2 = tensor matmul f32[2] %0, %1
#   set unused %2
#   %4 = get f32[2] x
#   %5 = tensor relu f32[2] %4
#   return %5
# }
# func unused_cannot_raise(x f32[2]) -> f32[2] {
#   %0 = get f32[2] x
#   %1 = tensor exp f32[2] %0
#   set unused %1
#   %3 = get f32[2] x
#   %4 = tensor relu f32[2] %3
#   return %4
# }
# func division_stays(n int) -> int {
#   %0 = get int n
#   %1 = const int 0
#   %2 = arith int %0 // %1
#   set unused %2
#   %4 = get int n
#   return %4
# }
# >>> run
# constants(rand(2, 3)); dead_branch(rand(2, 3)); dead_tail(rand(2, 3)); unused_may_raise(rand(2, 3), rand(3, 2)); unused_may_raise(rand(2, 3), rand(2, 3))
# unused_cannot_raise(any2()); division_stays(3)
