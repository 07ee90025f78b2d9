# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def vector(x: TensorF32Cpu2D, v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.matmul(x, v)


def vectors(v: TensorF32Cpu1D, w: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.matmul(v, w)


def int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu1D:
    return tf.matmul(x, k)


def number(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(x, 2)


def none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(x, None)


def transpose_b(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(x, y, transpose_b=True)


def transpose_positional(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(x, y, True)


def adjoint(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.linalg.matmul(x, y, adjoint_a=True)


def keyword_int64(x: TensorF32Cpu2D, k: TensorI64Cpu1D) -> TensorF32Cpu2D:
    return tf.matmul(x, k, name="q")


def one(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(x)

# >>> check
# vector rejected RXTP-TENSORFLOW-010 @ 7:11-7:26
# vectors rejected RXTP-TENSORFLOW-010 @ 11:11-11:26
# int64 rejected RXTP-TENSORFLOW-010 @ 15:11-15:26
# number rejected RXTP-TENSORFLOW-010 @ 19:11-19:26
# none rejected RXTP-TENSORFLOW-010 @ 23:11-23:29
# transpose_b rejected RXTP-TENSORFLOW-001 @ 27:11-27:44
# transpose_positional rejected RXTP-TENSORFLOW-001 @ 31:11-31:32
# adjoint rejected RXTP-TENSORFLOW-001 @ 35:11-35:49
# keyword_int64 rejected RXTP-TENSORFLOW-001 @ 39:11-39:36
# one rejected RXTP-TENSORFLOW-001 @ 43:11-43:23
