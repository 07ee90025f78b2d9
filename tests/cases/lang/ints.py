# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def add(a: int, b: int) -> int:
    return a + b


def sub(a: int, b: int) -> int:
    return a - b


def mul(a: int, b: int) -> int:
    return a * b


def neg(a: int) -> int:
    return -a


def plus(a: int) -> int:
    return +a


def floordiv(a: int, b: int) -> int:
    return a // b


def mod(a: int, b: int) -> int:
    return a % b


def truediv(a: int, b: int) -> float:
    return a / b


def power(a: int) -> int:
    return a ** 3


def power_variable(a: int, b: int) -> int:
    return a ** b


def augmented(a: int, b: int) -> int:
    a += b
    a *= 3
    a -= 1
    a //= 2
    a %= 1000
    return a


def augmented_division(a: int, b: int) -> float:
    a /= b
    return a


def bits(a: int, b: int) -> int:
    return (a & b) | (a ^ b) << 2 >> 1


def inverted(a: int) -> int:
    return ~a


def horner(x: int, n: int) -> int:
    total = 0
    for i in range(n):
        total = total * x + i
    return total


def big_literal(a: int) -> int:
    return a + 9223372036854775807


def too_big_literal(a: int) -> int:
    return a % 9223372036854775808


def smallest_literal(a: int) -> int:
    return a - 9223372036854775808


def min_literal(a: int) -> int:
    return -9223372036854775808 + a


def absolute(a: int) -> int:
    return abs(a)


def smallest(a: int, b: int) -> int:
    return min(a, b, 3) + max(a, b)


def to_float(a: int) -> float:
    return float(a)


def branch_on_overflow(x: TensorF32Cpu2D, a: int) -> TensorF32Cpu2D:
    if a * a > 100:
        return x.relu()
    return x.tanh()

# >>> check
# add native
# sub native
# mul native
# neg native
# plus native
# floordiv native
# mod native
# truediv native
# power native
# power_variable rejected RXT010 @ 43:11-43:17
# augmented native
# augmented_division native
# bits rejected RXT010 @ 61:12-61:17, RXT010 @ 61:22-61:27
# inverted rejected RXT010 @ 65:11-65:13
# horner native
# big_literal native
# too_big_literal rejected RXT010 @ 80:15-80:34
# smallest_literal rejected RXT010 @ 84:15-84:34
# min_literal native
# absolute rejected RXT030 @ 92:11-92:17
# smallest rejected RXT030 @ 96:11-96:23, RXT030 @ 96:26-96:35
# to_float rejected RXT030 @ 100:11-100:19
# branch_on_overflow native rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d
# >>> run
# add(each(1, -5, 0, 2**62), each(2, 3, 0, 2**62 - 1)); sub(each(1, -5, 0, -2**62), each(2, 3, 0, 2**62))
# mul(each(3, -3, 0, 2**31), each(7, 7, -9, 2**31))
# add(2**63 - 1, 1) => OverflowError
# sub(-2**63, 1) => OverflowError
# mul(2**32, 2**31) => OverflowError
# mul(-2**63, -1) => OverflowError
# neg(-2**63) => OverflowError
# mul(-2**63, 1); mul(-2**62, 2); neg(5); neg(-5); neg(2**63 - 1); plus(7); plus(True)
# floordiv(each(7, -7, 7, -7, 0, 6, -6), each(2, 2, -2, -2, 5, 3, 3)); mod(each(7, -7, 7, -7, 0, 6, -6), each(3, 3, -3, -3, 5, 3, 3))
# floordiv(-2**63, 2**63 - 1); floordiv(2**63 - 1, -2**63); mod(-2**63, 2**63 - 1); mod(-2**63, -1); mod(2**63 - 1, -2**63)
# floordiv(-2**63, -1) => OverflowError
# floordiv(5, 0); mod(5, 0); truediv(5, 0); floordiv(0, 0); mod(-2**63, 0)
# truediv(each(1, -1, 7, 2**53 + 1, 2**63 - 1, -2**63), each(2, 3, -7, 3, 10, 7)); truediv(2**53 + 1, 2**53 + 3); truediv(0, -5)
# power(5); power(-5); power(0); power(2000000)
# power(3000000) => OverflowError
# power_variable(2, 10); power_variable(-2, 3); power_variable(0, 0); power_variable(7, 0)
# augmented(5, 7); augmented(-5, -7); augmented_division(7, 2); augmented_division(1, 0); bits(12, 10); bits(-1, 5); inverted(5)
# horner(3, 10); horner(-7, 12)
# horner(10, 30) => OverflowError
# big_literal(-5); big_literal(0); too_big_literal(5); too_big_literal(-5); smallest_literal(5); min_literal(3)
# big_literal(1) => OverflowError
# absolute(-5); smallest(1, 9); to_float(2**62 + 1); branch_on_overflow(rand(2, 3), each(1, 11, -11))
# branch_on_overflow(rand(2, 3), 2**40) => OverflowError
