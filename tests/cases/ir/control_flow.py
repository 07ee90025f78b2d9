# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def loop(x: TensorF32Cpu2D, n: int, phase: int) -> TensorF32Cpu2D:
    hidden = x
    for i in range(n):
        if (i + phase) % 2 == 0:
            hidden = hidden.relu()
        else:
            hidden = hidden.tanh()
    return hidden


def counted(n: int) -> int:
    total = 0
    while n > 0 and total < 100:
        n -= 1
        if n == 7:
            continue
        if n == 3:
            break
        total += n
    return total


def unbound(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    if flag:
        h = x.relu()
    return h


def raising(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    assert n > 0, "positive"
    if n > 100:
        raise ValueError("too many")
    return x if n == 1 else x.relu()


def truth(n: int, v: float) -> float:
    return v * n if n and not v else n / 2

# >>> ir
# func loop(x f32[2], n int, phase int) -> f32[2] {
#   %0 = get f32[2] x
#   set hidden %0
#   %2 = get int n
#   %3 = const int 0
#   %4 = const int 1
#   for i in range(%3, %2, %4) {
#     %6 = get int i
#     %7 = get int phase
#     %8 = arith int %6 + %7
#     %9 = const int 2
#     %10 = arith int %8 % %9
#     %11 = const int 0
#     %12 = compare bool %10 == %11
#     if %12 {
#       %14 = get f32[2] hidden
#       %15 = tensor relu f32[2] %14
#       set hidden %15
#     } else {
#       %17 = get f32[2] hidden
#       %18 = tensor tanh f32[2] %17
#       set hidden %18
#     }
#   }
#   %20 = get f32[2] hidden
#   return %20
# }
# func counted(n int) -> int {
#   %0 = const int 0
#   set total %0
#   while {
#     %3 = get int n
#     %4 = const int 0
#     %5 = compare bool %3 > %4
#     set .2 %5
#     %7 = get bool .2
#     if %7 {
#       %9 = get int total
#       %10 = const int 100
#       %11 = compare bool %9 < %10
#       set .2 %11
#     }
#     %13 = get bool .2
#   } %13 {
#     %14 = get int n
#     %15 = const int 1
#     %16 = arith int %14 - %15
#     set n %16
#     %18 = get int n
#     %19 = const int 7
#     %20 = compare bool %18 == %19
#     if %20 {
#       continue
#     }
#     %23 = get int n
#     %24 = const int 3
#     %25 = compare bool %23 == %24
#     if %25 {
#       break
#     }
#     %28 = get int total
#     %29 = get int n
#     %30 = arith int %28 + %29
#     set total %30
#   }
#   %32 = get int total
#   return %32
# }
# func unbound(x f32[2], flag bool) -> f32[2] {
#   %0 = get bool flag
#   if %0 {
#     %2 = get f32[2] x
#     %3 = tensor relu f32[2] %2
#     set h %3
#   }
#   %5 = get f32[2] h checked
#   return %5
# }
# func raising(x f32[2], n int) -> f32[2] {
#   %0 = asserts bool
#   if %0 {
#     %2 = get int n
#     %3 = const int 0
#     %4 = compare bool %2 > %3
#     %5 = not bool %4
#     if %5 {
#       raise AssertionError "positive"
#     }
#   }
#   %8 = get int n
#   %9 = const int 100
#   %10 = compare bool %8 > %9
#   if %10 {
#     raise ValueError "too many"
#   }
#   %13 = get int n
#   %14 = const int 1
#   %15 = compare bool %13 == %14
#   if %15 {
#     %17 = get f32[2] x
#     set .2 %17
#   } else {
#     %19 = get f32[2] x
#     %20 = tensor relu f32[2] %19
#     set .2 %20
#   }
#   %22 = get f32[2] .2
#   return %22
# }
# func truth(n int, v float) -> float {
#   %0 = get int n
#   %1 = cast bool %0
#   set .2 %1
#   %3 = get bool .2
#   if %3 {
#     %5 = get float v
#     %6 = cast bool %5
#     %7 = not bool %6
#     set .2 %7
#   }
#   %9 = get bool .2
#   if %9 {
#     %11 = get float v
#     %12 = get int n
#     %13 = cast float %12
#     %14 = arith float %11 * %13
#     set .3 %14
#   } else {
#     %16 = get int n
#     %17 = const int 2
#     %18 = arith float %16 / %17
#     set .3 %18
#   }
#   %20 = get float .3
#   return %20
# }
# >>> plan
# loop: exact, blocks of rows { for { if { relu } else { tanh } } }
#   x: f32[2], parameter, rows
#   n: int, parameter
#   phase: int, parameter
#   hidden: f32[2]
#   i: int
# counted: library { while { if { } if { } } }
#   n: int, parameter
#   total: int
#   temporary 2: bool
# unbound: exact, blocks of rows { if { relu } }
#   x: f32[2], parameter, rows
#   flag: bool, parameter
#   h: f32[2], may be unassigned
# raising: exact { if { if { } } if { } if { } else { relu } }
#   x: f32[2], parameter
#   n: int, parameter
#   temporary 2: f32[2]
# truth: library { if { } if { } else { } }
#   n: int, parameter
#   v: float, parameter
#   temporary 2: bool
#   temporary 3: float
