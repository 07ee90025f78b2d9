# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu2D, TensorI64Cpu1D


def abs_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.abs(k)


def abs_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.abs(x, name="q")


def abs_second(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.abs(x, 1)


def abs_float(s: float, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.abs(s)


def abs_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.abs(-1)


def negative_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.negative(k)


def negative_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.negative(x, name="q")


def negative_second(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.negative(x, 1)


def negative_float(s: float, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.negative(s)


def negative_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.negative(-1)


def square_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.square(k)


def square_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.square(x, name="q")


def square_second(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.square(x, 1)


def square_float(s: float, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.square(s)


def square_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.square(-1)


def exp_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.exp(k)


def exp_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.exp(x, name="q")


def exp_second(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.exp(x, 1)


def exp_float(s: float, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.exp(s)


def exp_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.exp(-1)


def log_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.math.log(k)


def log_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.log(x, name="q")


def log_second(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.log(x, 1)


def log_float(s: float, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.log(s)


def log_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.log(-1)


def sqrt_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.math.sqrt(k)


def sqrt_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.sqrt(x, name="q")


def sqrt_second(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.sqrt(x, 1)


def sqrt_float(s: float, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.sqrt(s)


def sqrt_literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.sqrt(-1)

# >>> check
# abs_int64 rejected RXTP-TENSORFLOW-026 @ 7:11-7:20
# abs_keyword rejected RXTP-TENSORFLOW-026 @ 11:11-11:30
# abs_second rejected RXTP-TENSORFLOW-026 @ 15:11-15:23
# abs_float rejected RXTP-TENSORFLOW-010 @ 19:11-19:20
# abs_literal rejected RXTP-TENSORFLOW-026 @ 23:11-23:21
# negative_int64 rejected RXTP-TENSORFLOW-027 @ 27:11-27:25
# negative_keyword rejected RXTP-TENSORFLOW-027 @ 31:11-31:35
# negative_second rejected RXTP-TENSORFLOW-027 @ 35:11-35:28
# negative_float rejected RXTP-TENSORFLOW-010 @ 39:11-39:25
# negative_literal rejected RXTP-TENSORFLOW-027 @ 43:11-43:26
# square_int64 rejected RXTP-TENSORFLOW-028 @ 47:11-47:23
# square_keyword rejected RXTP-TENSORFLOW-028 @ 51:11-51:33
# square_second rejected RXTP-TENSORFLOW-028 @ 55:11-55:26
# square_float rejected RXTP-TENSORFLOW-010 @ 59:11-59:23
# square_literal rejected RXTP-TENSORFLOW-028 @ 63:11-63:24
# exp_int64 rejected RXTP-TENSORFLOW-029 @ 67:11-67:20
# exp_keyword rejected RXTP-TENSORFLOW-029 @ 71:11-71:30
# exp_second rejected RXTP-TENSORFLOW-029 @ 75:11-75:23
# exp_float rejected RXTP-TENSORFLOW-010 @ 79:11-79:20
# exp_literal rejected RXTP-TENSORFLOW-029 @ 83:11-83:21
# log_int64 rejected RXTP-TENSORFLOW-030 @ 87:11-87:25
# log_keyword rejected RXTP-TENSORFLOW-030 @ 91:11-91:35
# log_second rejected RXTP-TENSORFLOW-030 @ 95:11-95:28
# log_float rejected RXTP-TENSORFLOW-010 @ 99:11-99:25
# log_literal rejected RXTP-TENSORFLOW-030 @ 103:11-103:26
# sqrt_int64 rejected RXTP-TENSORFLOW-031 @ 107:11-107:26
# sqrt_keyword rejected RXTP-TENSORFLOW-031 @ 111:11-111:36
# sqrt_second rejected RXTP-TENSORFLOW-031 @ 115:11-115:29
# sqrt_float rejected RXTP-TENSORFLOW-010 @ 119:11-119:26
# sqrt_literal rejected RXTP-TENSORFLOW-031 @ 123:11-123:27
