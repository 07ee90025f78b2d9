# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def no_axis(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.softmax(x)


def axis0(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.softmax(x, axis=0)


def axis_minus1(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.softmax(x, axis=-1)


def axis_bool(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.softmax(x, axis=True)


def axis_variable(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    return tf.nn.softmax(x, n)


def axis_twice(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.softmax(x, 1, axis=1)


def name(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.softmax(x, axis=1, name="q")


def named(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.softmax(logits=x, axis=1)


def vector_axis1(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.softmax(x, axis=1)


def vector_axis_minus1(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.softmax(x, axis=-1)


def vector_name(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.softmax(x, name="q")


def int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.nn.softmax(k)


def int64_name(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.nn.softmax(k, name="q")


def number(s: float) -> TensorF32Cpu1D:
    return tf.nn.softmax(s)

# >>> check
# no_axis rejected RXTP-TENSORFLOW-007 @ 7:11-7:27
# axis0 rejected RXTP-TENSORFLOW-007 @ 11:11-11:35
# axis_minus1 rejected RXTP-TENSORFLOW-007 @ 15:11-15:36
# axis_bool rejected RXTP-TENSORFLOW-007 @ 19:11-19:38
# axis_variable rejected RXTP-TENSORFLOW-007 @ 23:11-23:30
# axis_twice rejected RXTP-TENSORFLOW-007 @ 27:11-27:38
# name rejected RXTP-TENSORFLOW-007 @ 31:11-31:45
# named rejected RXTP-TENSORFLOW-007 @ 35:11-35:42
# vector_axis1 rejected RXTP-TENSORFLOW-025 @ 39:11-39:35
# vector_axis_minus1 rejected RXTP-TENSORFLOW-025 @ 43:11-43:36
# vector_name rejected RXTP-TENSORFLOW-025 @ 47:11-47:37
# int64 rejected RXTP-TENSORFLOW-007 @ 51:11-51:27
# int64_name rejected RXTP-TENSORFLOW-007 @ 55:11-55:37
# number rejected RXTP-TENSORFLOW-010 @ 59:11-59:27
