# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def add(a: float, b: float) -> float:
    return a + b


def arithmetic(a: float, b: float) -> float:
    return (a - b) * (a + 2.5) / (b * b + 1.0)


def no_contraction(a: float, b: float, c: float) -> float:
    return a * b + c


def division(a: float, b: float) -> float:
    return a / b


def floordiv(a: float, b: float) -> float:
    return a // b


def mod(a: float, b: float) -> float:
    return a % b


def negative(a: float) -> float:
    return -a


def with_ints(a: float, n: int) -> float:
    return a * n + n / 2 - 3


def int_plus_float(n: int) -> float:
    return n + 0.1


def literals() -> float:
    return 0.1 + 1e308 * 10.0 - 1e-320


def compare(a: float, b: float) -> int:
    out = 0
    if a < b:
        out += 1
    if a <= b:
        out += 2
    if a == b:
        out += 4
    if a != b:
        out += 8
    if a > b:
        out += 16
    if a >= b:
        out += 32
    return out


def compare_with_int(n: int, v: float) -> int:
    out = 0
    if n < v:
        out += 1
    if n == v:
        out += 2
    if n >= v:
        out += 4
    return out


def power(a: float) -> float:
    return a ** 2


def power_float(a: float, b: float) -> float:
    return a ** b


def annotated_float_gets_int(a: float) -> float:
    return a


def truth(a: float) -> bool:
    return not a


def augmented(a: float, n: int) -> float:
    a += n
    a *= 1.5
    a /= 3.0
    a -= 0.1
    return a


def to_int(a: float) -> int:
    return int(a)


def int_from_zero(n: int) -> float:
    return 0.0 - n


def negated_int(n: int) -> float:
    return -(0.0 + n) + 0.0


def int_times_minus_one(n: int) -> float:
    return n * -1.0 + 0.0


def bool_from_zero(flag: bool) -> float:
    return 0.0 - flag

# >>> check
# add native
# arithmetic native
# no_contraction native
# division native
# floordiv native
# mod native
# negative native
# with_ints native
# int_plus_float native
# literals native
# compare native
# compare_with_int native
# power rejected RXT010 @ 75:11-75:17
# power_float rejected RXT010 @ 79:11-79:17
# annotated_float_gets_int native
# truth native
# augmented native
# to_int rejected RXT030 @ 99:11-99:17
# int_from_zero native
# negated_int native
# int_times_minus_one native
# bool_from_zero native
# >>> run
# add(each(0.1, -0.0, inf, nan, 1e308), each(0.2, 0.0, -inf, 1.0, 1e308)); arithmetic(1.25, -3.5); arithmetic(nan, inf)
# no_contraction(1.0 + 2.0**-30, 1.0 + 2.0**-30, -1.0)
# division(1.0, 3.0); division(-1.0, inf); division(1.0, 0.0); division(0.0, -0.0); floordiv(7.5, 2.0); floordiv(-7.5, 2.0)
# floordiv(7.5, -2.0); floordiv(1.0, 0.0); floordiv(1.0, 0.1); floordiv(inf, 2.0); floordiv(-0.0, 2.0); floordiv(1.0, inf)
# floordiv(-1.0, inf)
# mod(7.5, 2.0); mod(-7.5, 2.0); mod(7.5, -2.0); mod(-0.0, 2.0); mod(0.0, -2.0); mod(1.0, 0.0); mod(5.0, inf); mod(-5.0, inf)
# mod(inf, 2.0); mod(1.0, 0.1); mod(-1e-300, 1.0); floordiv(-1e-300, 1.0)
# negative(0.0); negative(-0.0); negative(nan); with_ints(0.5, 3); with_ints(0.1, 2**62 + 1); int_plus_float(2**53 + 1); literals()
# compare(each(1.0, 2.0, nan, 0.0, inf), each(2.0, 2.0, 1.0, -0.0, inf))
# compare_with_int(each(2**53 + 1, 2, 0, -1, 2**63 - 1, 5), each(float(2**53), 2.0, -0.0, nan, 9.223372036854775807e18, inf))
# power(1.5); power(-1.5); power(1e200); power_float(2.0, 0.5); power_float(-8.0, 0.5); annotated_float_gets_int(2.5)
# annotated_float_gets_int(-0.0)
# truth(0.0); truth(nan); truth(-0.0); augmented(0.7, 3); to_int(2.9); to_int(-2.9)
# int_from_zero(each(0, 1)); negated_int(each(0, 1)); int_times_minus_one(each(0, 1)); bool_from_zero(each(False, True))
