# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def add_int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return tf.add(x, k)


def add_both_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.add(k, k)


def add_keyword(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.add(x, y, name="q")


def add_number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.add(x, 2.0)


def add_int(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return tf.add(n, x)


def add_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.add(x, 1)


def add_one(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.add(x)


def add_three(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.add(x, y, y)


def subtract_int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return tf.subtract(x, k)


def subtract_both_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.subtract(k, k)


def subtract_keyword(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.subtract(x, y, name="q")


def subtract_number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.subtract(x, 2.0)


def subtract_int(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return tf.subtract(n, x)


def subtract_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.subtract(x, 1)


def subtract_one(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.subtract(x)


def subtract_three(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.subtract(x, y, y)


def multiply_int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return tf.multiply(x, k)


def multiply_both_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.multiply(k, k)


def multiply_keyword(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.multiply(x, y, name="q")


def multiply_number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.multiply(x, 2.0)


def multiply_int(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return tf.multiply(n, x)


def multiply_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.multiply(x, 1)


def multiply_one(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.multiply(x)


def multiply_three(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.multiply(x, y, y)


def divide_int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return tf.divide(x, k)


def divide_both_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.divide(k, k)


def divide_keyword(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.divide(x, y, name="q")


def divide_number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.divide(x, 2.0)


def divide_int(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return tf.divide(n, x)


def divide_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.divide(x, 1)


def divide_one(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.divide(x)


def divide_three(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.divide(x, y, y)


def maximum_int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return tf.maximum(x, k)


def maximum_both_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.maximum(k, k)


def maximum_keyword(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.maximum(x, y, name="q")


def maximum_number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.maximum(x, 2.0)


def maximum_int(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return tf.maximum(n, x)


def maximum_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.maximum(x, 1)


def maximum_one(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.maximum(x)


def maximum_three(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.maximum(x, y, y)


def minimum_int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return tf.minimum(x, k)


def minimum_both_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.minimum(k, k)


def minimum_keyword(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.minimum(x, y, name="q")


def minimum_number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.minimum(x, 2.0)


def minimum_int(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return tf.minimum(n, x)


def minimum_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.minimum(x, 1)


def minimum_one(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.minimum(x)


def minimum_three(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.minimum(x, y, y)


def maximum_mixed(x: TensorF32Cpu2D, v: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.maximum(x, v)


def minimum_mixed(x: TensorF32Cpu2D, v: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.minimum(v, x)

# >>> check
# add_int64 rejected RXTP-TENSORFLOW-003 @ 7:11-7:23
# add_both_int64 rejected RXTP-TENSORFLOW-003 @ 11:11-11:23
# add_keyword rejected RXTP-TENSORFLOW-003 @ 15:11-15:33
# add_number rejected RXTP-TENSORFLOW-010 @ 19:11-19:25
# add_int rejected RXTP-TENSORFLOW-010 @ 23:11-23:23
# add_literal rejected RXTP-TENSORFLOW-010 @ 27:11-27:23
# add_one rejected RXTP-TENSORFLOW-003 @ 31:11-31:20
# add_three rejected RXTP-TENSORFLOW-003 @ 35:11-35:26
# subtract_int64 rejected RXTP-TENSORFLOW-014 @ 39:11-39:28
# subtract_both_int64 rejected RXTP-TENSORFLOW-014 @ 43:11-43:28
# subtract_keyword rejected RXTP-TENSORFLOW-014 @ 47:11-47:38
# subtract_number rejected RXTP-TENSORFLOW-010 @ 51:11-51:30
# subtract_int rejected RXTP-TENSORFLOW-010 @ 55:11-55:28
# subtract_literal rejected RXTP-TENSORFLOW-010 @ 59:11-59:28
# subtract_one rejected RXTP-TENSORFLOW-014 @ 63:11-63:25
# subtract_three rejected RXTP-TENSORFLOW-014 @ 67:11-67:31
# multiply_int64 rejected RXTP-TENSORFLOW-013 @ 71:11-71:28
# multiply_both_int64 rejected RXTP-TENSORFLOW-013 @ 75:11-75:28
# multiply_keyword rejected RXTP-TENSORFLOW-013 @ 79:11-79:38
# multiply_number rejected RXTP-TENSORFLOW-010 @ 83:11-83:30
# multiply_int rejected RXTP-TENSORFLOW-010 @ 87:11-87:28
# multiply_literal rejected RXTP-TENSORFLOW-010 @ 91:11-91:28
# multiply_one rejected RXTP-TENSORFLOW-013 @ 95:11-95:25
# multiply_three rejected RXTP-TENSORFLOW-013 @ 99:11-99:31
# divide_int64 rejected RXTP-TENSORFLOW-016 @ 103:11-103:26
# divide_both_int64 rejected RXTP-TENSORFLOW-016 @ 107:11-107:26
# divide_keyword rejected RXTP-TENSORFLOW-016 @ 111:11-111:36
# divide_number rejected RXTP-TENSORFLOW-010 @ 115:11-115:28
# divide_int rejected RXTP-TENSORFLOW-010 @ 119:11-119:26
# divide_literal rejected RXTP-TENSORFLOW-010 @ 123:11-123:26
# divide_one rejected RXTP-TENSORFLOW-016 @ 127:11-127:23
# divide_three rejected RXTP-TENSORFLOW-016 @ 131:11-131:29
# maximum_int64 rejected RXTP-TENSORFLOW-032 @ 135:11-135:27
# maximum_both_int64 rejected RXTP-TENSORFLOW-032 @ 139:11-139:27
# maximum_keyword rejected RXTP-TENSORFLOW-032 @ 143:11-143:37
# maximum_number rejected RXTP-TENSORFLOW-010 @ 147:11-147:29
# maximum_int rejected RXTP-TENSORFLOW-010 @ 151:11-151:27
# maximum_literal rejected RXTP-TENSORFLOW-032 @ 155:11-155:27
# maximum_one rejected RXTP-TENSORFLOW-032 @ 159:11-159:24
# maximum_three rejected RXTP-TENSORFLOW-032 @ 163:11-163:30
# minimum_int64 rejected RXTP-TENSORFLOW-033 @ 167:11-167:27
# minimum_both_int64 rejected RXTP-TENSORFLOW-033 @ 171:11-171:27
# minimum_keyword rejected RXTP-TENSORFLOW-033 @ 175:11-175:37
# minimum_number rejected RXTP-TENSORFLOW-010 @ 179:11-179:29
# minimum_int rejected RXTP-TENSORFLOW-010 @ 183:11-183:27
# minimum_literal rejected RXTP-TENSORFLOW-033 @ 187:11-187:27
# minimum_one rejected RXTP-TENSORFLOW-033 @ 191:11-191:24
# minimum_three rejected RXTP-TENSORFLOW-033 @ 195:11-195:30
# maximum_mixed rejected RXTP-TENSORFLOW-032 @ 199:11-199:27
# minimum_mixed rejected RXTP-TENSORFLOW-033 @ 203:11-203:27
