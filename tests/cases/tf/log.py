# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def matrix(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.log(x)


def vector(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.math.log(x)

# >>> check
# matrix native rextio-tensorflow/log-f32-cpu
# vector native rextio-tensorflow/log-f32-cpu
# >>> run
# matrix(any2()); matrix(rand(200, 33))
# vector(any1()); vector(rand(5000))
