# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def vector(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.transpose(x)


def int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.transpose(k)


def perm(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.transpose(x, perm=[1, 0])


def perm_positional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.transpose(x, [1, 0])


def perm_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.transpose(x, perm=None)


def conjugate(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.transpose(x, conjugate=False)


def number(n: int, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.transpose(n)


def literal(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.transpose(1)

# >>> check
# vector rejected RXTP-TENSORFLOW-039 @ 7:11-7:26
# int64 rejected RXTP-TENSORFLOW-039 @ 11:11-11:26
# perm rejected RXTP-TENSORFLOW-039 @ 15:11-15:39
# perm_positional rejected RXTP-TENSORFLOW-039 @ 19:11-19:34
# perm_none rejected RXTP-TENSORFLOW-039 @ 23:11-23:37
# conjugate rejected RXTP-TENSORFLOW-039 @ 27:11-27:43
# number rejected RXTP-TENSORFLOW-010 @ 31:11-31:26
# literal rejected RXTP-TENSORFLOW-039 @ 35:11-35:26
