# lane: torch
import torch
from tensorc.types import TensorF32Cpu2D


def values(x: TensorF32Cpu2D, n: int, s: float, b: bool) -> TensorF32Cpu2D:
    print("text", n, s, b, 1.5, -n, n > 1, not b)
    return x.relu()


def line_end(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    print()
    print("")
    return x.relu()


def in_a_loop(n: int) -> int:
    total = 0
    for i in range(n):
        print(i, "of", n)
        total += i
    return total


def before_an_error(n: int) -> int:
    print("before")
    print(1 // n, "never for 0")
    return n


def tensor(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    print(x)
    return x


def nothing(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    print(None)
    return x


def keyword(n: int) -> int:
    print(n, end="")
    return n


def formatted(n: int) -> int:
    print(f"{n}")
    return n


def as_a_value(n: int) -> int:
    m = print(n)
    return n


def starred(n: int) -> int:
    print(*"ab")
    return n


def hidden(print: int) -> int:
    print(1)
    return print

# >>> check
# values native rextio-torch/tensor-relu-f32-cpu-2d
# line_end native rextio-torch/tensor-relu-f32-cpu-2d
# in_a_loop native
# before_an_error native
# tensor rejected RXT010 @ 32:10-32:11
# nothing rejected RXT010 @ 37:10-37:14
# keyword rejected RXT010 @ 42:4-42:20
# formatted rejected RXT010 @ 47:10-47:16
# as_a_value rejected RXT030 @ 52:8-52:16
# starred rejected RXT010 @ 57:10-57:15
# hidden rejected RXT030 @ 62:4-62:12
# >>> ir
# func values(x f32[2], n int, s float, b bool) -> f32[2] {
#   %0 = get int n
#   %1 = get float s
#   %2 = get bool b
#   %3 = const float 1.5
#   %4 = get int n
#   %5 = neg int %4
#   %6 = get int n
#   %7 = const int 1
#   %8 = compare bool %6 > %7
#   %9 = get bool b
#   %10 = not bool %9
#   print "text", " "
#   print %0, " "
#   print %1, " "
#   print %2, " "
#   print %3, " "
#   print %5, " "
#   print %8, " "
#   print %10, "\n"
#   %19 = get f32[2] x
#   %20 = tensor relu f32[2] %19
#   return %20
# }
# func line_end(x f32[2]) -> f32[2] {
#   print "", "\n"
#   print "", "\n"
#   %2 = get f32[2] x
#   %3 = tensor relu f32[2] %2
#   return %3
# }
# func in_a_loop(n int) -> int {
#   %0 = const int 0
#   set total %0
#   %2 = get int n
#   %3 = const int 0
#   %4 = const int 1
#   for i in range(%3, %2, %4) {
#     %6 = get int i
#     %7 = get int n
#     print %6, " "
#     print "of", " "
#     print %7, "\n"
#     %11 = get int total
#     %12 = get int i
#     %13 = arith int %11 + %12
#     set total %13
#   }
#   %15 = get int total
#   return %15
# }
# func before_an_error(n int) -> int {
#   print "before", "\n"
#   %1 = const int 1
#   %2 = get int n
#   %3 = arith int %1 // %2
#   print %3, " "
#   print "never for 0", "\n"
#   %6 = get int n
#   return %6
# }
# >>> plan
# values: exact { relu }
#   x: f32[2], parameter
#   n: int, parameter
#   s: float, parameter
#   b: bool, parameter
# line_end: exact { relu }
#   x: f32[2], parameter
# in_a_loop: library { for { } }
#   n: int, parameter
#   total: int
#   i: int
# before_an_error: library { }
#   n: int, parameter
# >>> run
# values(rand(2, 3), 3, 0.1, True); line_end(rand(2, 3)); in_a_loop(3); before_an_error(2); before_an_error(0)
# tensor(rand(2, 3)); nothing(rand(2, 3)); keyword(2); formatted(2); as_a_value(2); starred(2); hidden(2)
