# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def no_axis(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(x)


def axis_minus1(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(x, axis=-1)


def axis2(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(x, 2)


def axis_bool(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(x, axis=False)


def axis_variable(x: TensorF32Cpu2D, n: int) -> TensorI64Cpu1D:
    return tf.argmax(x, n)


def output_type(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(x, axis=1, output_type=tf.int64)


def keepdims(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(x, axis=1, keepdims=False)


def vector(x: TensorF32Cpu1D) -> TensorI64Cpu1D:
    return tf.argmax(x, axis=0)


def int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.argmax(k, axis=0)


def number(n: int) -> TensorI64Cpu1D:
    return tf.argmax(n, axis=1)

# >>> check
# no_axis rejected RXTP-TENSORFLOW-008 @ 7:11-7:23
# axis_minus1 rejected RXTP-TENSORFLOW-008 @ 11:11-11:32
# axis2 rejected RXTP-TENSORFLOW-008 @ 15:11-15:26
# axis_bool rejected RXTP-TENSORFLOW-008 @ 19:11-19:35
# axis_variable rejected RXTP-TENSORFLOW-008 @ 23:11-23:26
# output_type rejected RXTP-TENSORFLOW-008 @ 27:11-27:53
# keepdims rejected RXTP-TENSORFLOW-008 @ 31:11-31:47
# vector rejected RXTP-TENSORFLOW-008 @ 35:11-35:31
# int64 rejected RXTP-TENSORFLOW-008 @ 39:11-39:31
# number rejected RXTP-TENSORFLOW-010 @ 43:11-43:31
