# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def matrix(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.sigmoid(x)


def vector(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.sigmoid(x)


def twice(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.sigmoid(tf.nn.sigmoid(x))

# >>> check
# matrix native rextio-tensorflow/sigmoid-f32-cpu-2d
# vector native rextio-tensorflow/sigmoid-f32-cpu-1d
# twice native rextio-tensorflow/sigmoid-f32-cpu-2d
# >>> run
# matrix(any2()); matrix(rand(200, 33))
# vector(any1()); vector(rand(5000))
# twice(any2()); twice(rand(200, 33))
