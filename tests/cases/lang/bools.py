# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def negation(flag: bool) -> bool:
    return not flag


def both(a: bool, b: bool) -> bool:
    return a and b


def either(a: bool, b: bool) -> bool:
    return a or b


def int_and(a: int, b: int) -> int:
    return a and b


def int_or(a: int, b: int) -> int:
    return a or b


def lazy(a: int, b: int) -> bool:
    return b != 0 and a // b > 1


def lazy_or(a: int, b: int) -> bool:
    return b == 0 or a % b == 1


def compare(a: int, b: int) -> bool:
    return a < b


def chained(a: int, b: int, c: int) -> bool:
    return a < b <= c


def chained_long(a: int, b: int) -> bool:
    return 0 <= a < b != 7 > -1


def chained_evaluates_once(a: int, b: int) -> bool:
    return 0 < a // b < 10


def of_bools(a: bool, b: bool) -> bool:
    return a == b


def bool_less(a: bool, b: bool) -> bool:
    return a < b


def arithmetic(a: bool, b: bool) -> int:
    return a + b


def counts(a: bool, n: int) -> int:
    return a * n + (n > 2)


def constant(n: int) -> bool:
    return True


def in_a_variable(x: TensorF32Cpu2D, n: int, m: int) -> TensorF32Cpu2D:
    big = n > 3
    odd = n % 2 == 1
    if big and not odd or m > n:
        x = x.relu()
    return x


def identity(flag: bool) -> bool:
    return flag


def is_true(flag: bool) -> bool:
    return flag is True


def truth_of_int(n: int) -> bool:
    return not not n


def converted(n: int) -> bool:
    return bool(n)


def mixed_or(a: int, flag: bool) -> int:
    return flag or a


def bits(a: bool, b: bool) -> bool:
    return a & b | a ^ b

# >>> check
# negation native
# both native
# either native
# int_and rejected RXT010 @ 19:11-19:12
# int_or rejected RXT010 @ 23:11-23:12
# lazy native
# lazy_or native
# compare native
# chained native
# chained_long native
# chained_evaluates_once native
# of_bools native
# bool_less native
# arithmetic native
# counts native
# constant native
# in_a_variable native rextio-torch/tensor-relu-f32-cpu-2d
# identity native
# is_true rejected RXT010 @ 83:11-83:23
# truth_of_int native
# converted rejected RXT030 @ 91:11-91:18
# mixed_or rejected RXT010 @ 95:19-95:20
# bits rejected RXT010 @ 99:11-99:16, RXT010 @ 99:19-99:24
# >>> run
# negation(each(True, False)); both(each(True, True, False, False), each(True, False))
# either(each(True, True, False, False), each(True, False))
# int_and(each(0, 3, 5), each(7, 0, 9)); int_or(each(0, 3, 0), each(7, 0, 0)); lazy(5, 0); lazy(5, 2); lazy_or(5, 0); lazy_or(5, 2)
# lazy_or(6, 2)
# compare(1, 2); compare(2, 2); compare(-2**63, 2**63 - 1); chained(1, 2, 3); chained(2, 2, 3); chained(1, 4, 3); chained_long(1, 2)
# chained_long(-1, 2); chained_long(1, 7)
# chained_evaluates_once(5, 2); chained_evaluates_once(5, 0); of_bools(each(True, False), each(True, True)); bool_less(False, True)
# bool_less(True, True); arithmetic(True, True); counts(True, 5); counts(False, 1)
# constant(1); in_a_variable(rand(2, 3), each(4, 5, 1, 0), each(0, 9)); identity(True); is_true(True); is_true(False); truth_of_int(5)
# truth_of_int(0); converted(3); mixed_or(5, False); mixed_or(5, True); bits(True, False)
# identity(1) => TypeError
# negation(0) => TypeError
# negation("x") => TypeError
