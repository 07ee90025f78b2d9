# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def matrix(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.tanh(x)


def vector(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.tanh(x)


def twice(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.tanh(tf.nn.tanh(x))

# >>> check
# matrix native rextio-tensorflow/tanh-f32-cpu-2d
# vector native rextio-tensorflow/tanh-f32-cpu-1d
# twice native rextio-tensorflow/tanh-f32-cpu-2d
# >>> run
# matrix(any2()); matrix(rand(200, 33))
# vector(any1()); vector(rand(5000))
# twice(any2()); twice(rand(200, 33))
