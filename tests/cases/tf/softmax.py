# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def matrix(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.softmax(x, axis=1)


def matrix_positional(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.softmax(x, 1)


def vector(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.softmax(x)


def vector_axis0(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.softmax(x, axis=0)


def vector_positional(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.softmax(x, 0)

# >>> check
# matrix native rextio-tensorflow/softmax-axis1-f32-cpu-2d
# matrix_positional native rextio-tensorflow/softmax-axis1-f32-cpu-2d
# vector native rextio-tensorflow/softmax-axis0-f32-cpu-1d
# vector_axis0 native rextio-tensorflow/softmax-axis0-f32-cpu-1d
# vector_positional native rextio-tensorflow/softmax-axis0-f32-cpu-1d
# >>> run
# matrix(any2()); matrix(rand(200, 33))
# matrix_positional(any2()); matrix_positional(rand(200, 33))
# vector(any1()); vector(rand(5000))
# vector_axis0(any1()); vector_axis0(rand(5000))
# vector_positional(any1()); vector_positional(rand(5000))
