# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def add_ints(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return x + k


def add_two_ints(k: TensorI64Cpu1D, j: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k + j


def add_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x + 2.0


def add_int(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x + 2


def add_from_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 2.0 + x


def add_variable(x: TensorF32Cpu2D, s: float) -> TensorF32Cpu2D:
    return x + s


def add_int_variable(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return n + x


def add_bool(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    return x + flag


def add_vector_float(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v + 0.5


def add_negative(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x + -1.0


def add_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x + None


def add_in_place(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x += y
    return x


def add_in_place_number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x += 2.0
    return x


def sub_ints(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return x - k


def sub_two_ints(k: TensorI64Cpu1D, j: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k - j


def sub_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x - 2.0


def sub_int(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x - 2


def sub_from_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 2.0 - x


def sub_variable(x: TensorF32Cpu2D, s: float) -> TensorF32Cpu2D:
    return x - s


def sub_int_variable(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return n - x


def sub_bool(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    return x - flag


def sub_vector_float(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v - 0.5


def sub_negative(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x - -1.0


def sub_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x - None


def sub_in_place(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x -= y
    return x


def sub_in_place_number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x -= 2.0
    return x


def mul_ints(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return x * k


def mul_two_ints(k: TensorI64Cpu1D, j: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k * j


def mul_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x * 2.0


def mul_int(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x * 2


def mul_from_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 2.0 * x


def mul_variable(x: TensorF32Cpu2D, s: float) -> TensorF32Cpu2D:
    return x * s


def mul_int_variable(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return n * x


def mul_bool(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    return x * flag


def mul_vector_float(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v * 0.5


def mul_negative(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x * -1.0


def mul_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x * None


def mul_in_place(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x *= y
    return x


def mul_in_place_number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x *= 2.0
    return x


def div_ints(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return x / k


def div_two_ints(k: TensorI64Cpu1D, j: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k / j


def div_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x / 2.0


def div_int(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x / 2


def div_from_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 2.0 / x


def div_variable(x: TensorF32Cpu2D, s: float) -> TensorF32Cpu2D:
    return x / s


def div_int_variable(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return n / x


def div_bool(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    return x / flag


def div_vector_float(v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return v / 0.5


def div_negative(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x / -1.0


def div_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x / None


def div_in_place(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x /= y
    return x


def div_in_place_number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x /= 2.0
    return x


def power(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x ** 2


def floor(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x // y


def modulo(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x % y


def minus(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return -x


def plus(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return +x


def inverted(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return ~k


def less(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x < y


def equal(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x == y


def absolute(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return abs(x)


def both(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x and y


def shift(k: TensorI64Cpu1D, j: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k << j

# >>> check
# add_ints rejected RXTP-TORCH-010 @ 8:11-8:16
# add_two_ints rejected RXTP-TORCH-010 @ 12:11-12:16
# add_float rejected RXTP-TORCH-010 @ 16:11-16:18
# add_int rejected RXTP-TORCH-010 @ 20:11-20:16
# add_from_float rejected RXTP-TORCH-010 @ 24:11-24:18
# add_variable rejected RXTP-TORCH-010 @ 28:11-28:16
# add_int_variable rejected RXTP-TORCH-010 @ 32:11-32:16
# add_bool rejected RXTP-TORCH-010 @ 36:11-36:19
# add_vector_float rejected RXTP-TORCH-010 @ 40:11-40:18
# add_negative rejected RXTP-TORCH-010 @ 44:11-44:19
# add_none rejected RXTP-TORCH-010 @ 48:11-48:19
# add_in_place rejected RXT010 @ 52:4-52:10
# add_in_place_number rejected RXT010 @ 57:4-57:12
# sub_ints rejected RXTP-TORCH-010 @ 62:11-62:16
# sub_two_ints rejected RXTP-TORCH-010 @ 66:11-66:16
# sub_float rejected RXTP-TORCH-010 @ 70:11-70:18
# sub_int rejected RXTP-TORCH-010 @ 74:11-74:16
# sub_from_float rejected RXTP-TORCH-010 @ 78:11-78:18
# sub_variable rejected RXTP-TORCH-010 @ 82:11-82:16
# sub_int_variable rejected RXTP-TORCH-010 @ 86:11-86:16
# sub_bool rejected RXTP-TORCH-010 @ 90:11-90:19
# sub_vector_float rejected RXTP-TORCH-010 @ 94:11-94:18
# sub_negative rejected RXTP-TORCH-010 @ 98:11-98:19
# sub_none rejected RXTP-TORCH-010 @ 102:11-102:19
# sub_in_place rejected RXT010 @ 106:4-106:10
# sub_in_place_number rejected RXT010 @ 111:4-111:12
# mul_ints rejected RXTP-TORCH-010 @ 116:11-116:16
# mul_two_ints rejected RXTP-TORCH-010 @ 120:11-120:16
# mul_float rejected RXTP-TORCH-010 @ 124:11-124:18
# mul_int rejected RXTP-TORCH-010 @ 128:11-128:16
# mul_from_float rejected RXTP-TORCH-010 @ 132:11-132:18
# mul_variable rejected RXTP-TORCH-010 @ 136:11-136:16
# mul_int_variable rejected RXTP-TORCH-010 @ 140:11-140:16
# mul_bool rejected RXTP-TORCH-010 @ 144:11-144:19
# mul_vector_float rejected RXTP-TORCH-010 @ 148:11-148:18
# mul_negative rejected RXTP-TORCH-010 @ 152:11-152:19
# mul_none rejected RXTP-TORCH-010 @ 156:11-156:19
# mul_in_place rejected RXT010 @ 160:4-160:10
# mul_in_place_number rejected RXT010 @ 165:4-165:12
# div_ints rejected RXTP-TORCH-010 @ 170:11-170:16
# div_two_ints rejected RXTP-TORCH-010 @ 174:11-174:16
# div_float rejected RXTP-TORCH-010 @ 178:11-178:18
# div_int rejected RXTP-TORCH-010 @ 182:11-182:16
# div_from_float rejected RXTP-TORCH-010 @ 186:11-186:18
# div_variable rejected RXTP-TORCH-010 @ 190:11-190:16
# div_int_variable rejected RXTP-TORCH-010 @ 194:11-194:16
# div_bool rejected RXTP-TORCH-010 @ 198:11-198:19
# div_vector_float rejected RXTP-TORCH-010 @ 202:11-202:18
# div_negative rejected RXTP-TORCH-010 @ 206:11-206:19
# div_none rejected RXTP-TORCH-010 @ 210:11-210:19
# div_in_place rejected RXT010 @ 214:4-214:10
# div_in_place_number rejected RXT010 @ 219:4-219:12
# power rejected RXT030 @ 224:11-224:17
# floor rejected RXT030 @ 228:11-228:17
# modulo rejected RXT030 @ 232:11-232:16
# minus rejected RXT010 @ 236:11-236:13
# plus rejected RXT010 @ 240:11-240:13
# inverted rejected RXT010 @ 244:11-244:13
# less rejected RXT010 @ 248:11-248:16
# equal rejected RXT010 @ 252:11-252:17
# absolute rejected RXT030 @ 256:11-256:17
# both rejected RXT010 @ 260:11-260:12
# shift rejected RXT030 @ 264:11-264:17
# >>> run
# add_float(any2()); add_int(any2()); add_from_float(any2()); add_variable(rand(2, 3), each(0.1, -0.0, inf, nan, 1e300, 1e-320))
# add_int_variable(rand(2, 3), each(3, 0, -5, 16777217, 2**62)); add_bool(rand(2, 3), True); add_vector_float(any1())
# add_negative(any2()); add_in_place(rand(2, 3), rand(2, 3)); add_in_place_number(rand(2, 3)); add_ints(rand(2, 3), ints(3))
# add_two_ints(ints(3), ints(3, lo=1)); add_none(rand(2, 3))
# sub_float(any2()); sub_int(any2()); sub_from_float(any2()); sub_variable(rand(2, 3), each(0.1, -0.0, inf, nan, 1e300, 1e-320))
# sub_int_variable(rand(2, 3), each(3, 0, -5, 16777217, 2**62)); sub_bool(rand(2, 3), True); sub_vector_float(any1())
# sub_negative(any2()); sub_in_place(rand(2, 3), rand(2, 3)); sub_in_place_number(rand(2, 3)); sub_ints(rand(2, 3), ints(3))
# sub_two_ints(ints(3), ints(3, lo=1)); sub_none(rand(2, 3))
# mul_float(any2()); mul_int(any2()); mul_from_float(any2()); mul_variable(rand(2, 3), each(0.1, -0.0, inf, nan, 1e300, 1e-320))
# mul_int_variable(rand(2, 3), each(3, 0, -5, 16777217, 2**62)); mul_bool(rand(2, 3), True); mul_vector_float(any1())
# mul_negative(any2()); mul_in_place(rand(2, 3), rand(2, 3)); mul_in_place_number(rand(2, 3)); mul_ints(rand(2, 3), ints(3))
# mul_two_ints(ints(3), ints(3, lo=1)); mul_none(rand(2, 3))
# div_float(any2()); div_int(any2()); div_from_float(any2()); div_variable(rand(2, 3), each(0.1, -0.0, inf, nan, 1e300, 1e-320))
# div_int_variable(rand(2, 3), each(3, 0, -5, 16777217, 2**62)); div_bool(rand(2, 3), True); div_vector_float(any1())
# div_negative(any2()); div_in_place(rand(2, 3), rand(2, 3)); div_in_place_number(rand(2, 3)); div_ints(rand(2, 3), ints(3))
# div_two_ints(ints(3), ints(3, lo=1)); div_none(rand(2, 3))
# power(any2()); floor(rand(2, 3), rand(2, 3)); modulo(rand(2, 3), rand(2, 3)); minus(any2()); plus(any2()); inverted(ints(3))
# less(rand(2, 3), rand(2, 3)); equal(rand(2, 3), rand(2, 3)); absolute(any2()); shift(ints(3, lo=0), ints(3, lo=0))
