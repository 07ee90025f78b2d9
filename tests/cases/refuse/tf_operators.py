# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu2D, TensorI64Cpu1D


def add_int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return x + k


def add_both_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k + k


def add_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x + 2.0


def add_float_first(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 2.0 + x


def add_int(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return n + x


def add_text(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x + 'a'


def add_text_first(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 'a' + x


def add_in_place(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x += 2.0
    return x


def sub_int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return x - k


def sub_both_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k - k


def sub_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x - 2.0


def sub_float_first(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 2.0 - x


def sub_int(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return n - x


def sub_text(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x - 'a'


def sub_text_first(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 'a' - x


def sub_in_place(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x -= 2.0
    return x


def mul_int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return x * k


def mul_both_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k * k


def mul_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x * 2.0


def mul_float_first(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 2.0 * x


def mul_int(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return n * x


def mul_text(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x * 'a'


def mul_text_first(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 'a' * x


def mul_in_place(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x *= 2.0
    return x


def div_int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return x / k


def div_both_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k / k


def div_float(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x / 2.0


def div_float_first(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 2.0 / x


def div_int(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return n / x


def div_text(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x / 'a'


def div_text_first(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return 'a' / x


def div_in_place(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x /= 2.0
    return x


def matmul(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x @ y


def matmul_in_place(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x @= y
    return x


def power(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x ** 2


def floor(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x // y


def minus(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return -x


def less(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x < y

# >>> check
# add_int64 rejected RXTP-TENSORFLOW-006 @ 7:11-7:16
# add_both_int64 rejected RXTP-TENSORFLOW-006 @ 11:11-11:16
# add_float rejected RXTP-TENSORFLOW-010 @ 15:11-15:18
# add_float_first rejected RXTP-TENSORFLOW-010 @ 19:11-19:18
# add_int rejected RXTP-TENSORFLOW-010 @ 23:11-23:16
# add_text rejected RXTP-TENSORFLOW-010 @ 27:11-27:18
# add_text_first rejected RXTP-TENSORFLOW-010 @ 31:11-31:18
# add_in_place rejected RXTP-TENSORFLOW-010 @ 35:4-35:12
# sub_int64 rejected RXTP-TENSORFLOW-015 @ 40:11-40:16
# sub_both_int64 rejected RXTP-TENSORFLOW-015 @ 44:11-44:16
# sub_float rejected RXTP-TENSORFLOW-010 @ 48:11-48:18
# sub_float_first rejected RXTP-TENSORFLOW-010 @ 52:11-52:18
# sub_int rejected RXTP-TENSORFLOW-010 @ 56:11-56:16
# sub_text rejected RXTP-TENSORFLOW-010 @ 60:11-60:18
# sub_text_first rejected RXTP-TENSORFLOW-010 @ 64:11-64:18
# sub_in_place rejected RXTP-TENSORFLOW-010 @ 68:4-68:12
# mul_int64 rejected RXTP-TENSORFLOW-012 @ 73:11-73:16
# mul_both_int64 rejected RXTP-TENSORFLOW-012 @ 77:11-77:16
# mul_float rejected RXTP-TENSORFLOW-010 @ 81:11-81:18
# mul_float_first rejected RXTP-TENSORFLOW-010 @ 85:11-85:18
# mul_int rejected RXTP-TENSORFLOW-010 @ 89:11-89:16
# mul_text rejected RXTP-TENSORFLOW-010 @ 93:11-93:18
# mul_text_first rejected RXTP-TENSORFLOW-010 @ 97:11-97:18
# mul_in_place rejected RXTP-TENSORFLOW-010 @ 101:4-101:12
# div_int64 rejected RXTP-TENSORFLOW-017 @ 106:11-106:16
# div_both_int64 rejected RXTP-TENSORFLOW-017 @ 110:11-110:16
# div_float rejected RXTP-TENSORFLOW-010 @ 114:11-114:18
# div_float_first rejected RXTP-TENSORFLOW-010 @ 118:11-118:18
# div_int rejected RXTP-TENSORFLOW-010 @ 122:11-122:16
# div_text rejected RXTP-TENSORFLOW-010 @ 126:11-126:18
# div_text_first rejected RXTP-TENSORFLOW-010 @ 130:11-130:18
# div_in_place rejected RXTP-TENSORFLOW-010 @ 134:4-134:12
# matmul rejected RXT030 @ 139:11-139:16
# matmul_in_place rejected RXT030 @ 143:4-143:10
# power rejected RXT030 @ 148:11-148:17
# floor rejected RXT030 @ 152:11-152:17
# minus rejected RXT010 @ 156:11-156:13
# less rejected RXT010 @ 160:11-160:16
