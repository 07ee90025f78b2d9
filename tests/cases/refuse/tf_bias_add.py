# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def nchw(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(x, b, data_format="NCHW")


def format_none(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(x, b, data_format=None)


def format_positional(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(x, b, "NHWC")


def nul(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(x, b, data_format="NHWC\0")


def name(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(x, b, name="q")


def matrices(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(x, y)


def swapped(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(b, x)


def vectors(x: TensorF32Cpu1D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.bias_add(x, b)


def int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(x, k)


def number(x: TensorF32Cpu2D, s: float) -> TensorF32Cpu2D:
    return tf.nn.bias_add(x, s)


def literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(x, 1)

# >>> check
# nchw rejected RXTP-TENSORFLOW-021 @ 7:11-7:51
# format_none rejected RXTP-TENSORFLOW-021 @ 11:11-11:49
# format_positional rejected RXTP-TENSORFLOW-021 @ 15:11-15:39
# nul rejected RXTP-TENSORFLOW-021 @ 19:11-19:53
# name rejected RXTP-TENSORFLOW-021 @ 23:11-23:41
# matrices rejected RXTP-TENSORFLOW-021 @ 27:11-27:31
# swapped rejected RXTP-TENSORFLOW-021 @ 31:11-31:31
# vectors rejected RXTP-TENSORFLOW-021 @ 35:11-35:31
# int64 rejected RXTP-TENSORFLOW-021 @ 39:11-39:31
# number rejected RXTP-TENSORFLOW-010 @ 43:11-43:31
# literal rejected RXTP-TENSORFLOW-021 @ 47:11-47:31
