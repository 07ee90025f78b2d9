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
# >>> run
# imported(any2(3, 17), any1(17)); imported(any2(16, 8), any1(8)); imported(rand(200, 33), specials(33))
# imported(rand(0, 5), rand(5))
# dotted(any2(empty=False)); dotted(rand(200, 33))
# lane_of_the_annotation(any2(3, 17), any2(3, 17)); lane_of_the_annotation(any2(1, 8), any2(1, 8))
# lane_of_the_annotation(rand(200, 33), specials(200, 33)); lane_of_the_annotation(rand(3, 0), rand(3, 0))
# quoted(any2()); quoted(rand(200, 33))
