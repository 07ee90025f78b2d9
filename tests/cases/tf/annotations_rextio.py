# lane: tensorflow
import rextio_tensorflow.types as types
import tensorflow as tf
from rextio_tensorflow.types import TensorF32Cpu1D, TensorF32Cpu2D as M, TensorI64Cpu1D


def imported(x: M, b: TensorF32Cpu1D) -> M:
    return tf.nn.bias_add(x, b)


def dotted(x: types.TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(x, axis=1)


def lane_of_the_annotation(x: M, y: M) -> M:
    return x + y


def quoted(x: "M") -> "types.TensorF32Cpu2D":
    return tf.abs(x)

# >>> check
# imported native rextio-tensorflow/bias-add-nhwc-f32-cpu-2d
# dotted native rextio-tensorflow/argmax-axis1-i64-cpu-2d
# lane_of_the_annotation native rextio-tensorflow/add-binop-f32-cpu
# quoted native rextio-tensorflow/abs-f32-cpu
