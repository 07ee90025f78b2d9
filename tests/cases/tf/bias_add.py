# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def plain(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(x, b)


def nhwc(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(x, b, data_format="NHWC")


def dense(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.bias_add(tf.matmul(x, w), b)

# >>> check
# plain native rextio-tensorflow/bias-add-nhwc-f32-cpu-2d
# nhwc native rextio-tensorflow/bias-add-nhwc-f32-cpu-2d
# dense native rextio-tensorflow/bias-add-nhwc-f32-cpu-2d rextio-tensorflow/matmul-f32-cpu-2d
# >>> run
# plain(any2(3, 17), any1(17)); plain(any2(16, 8), any1(8)); plain(rand(100, 33), specials(33))
# plain(rand(0, 5), rand(5))
# plain(rand(3, 5), rand(4)) => RuntimeError
# plain(rand(3, 5), rand(1)) => RuntimeError
# nhwc(any2(3, 17), any1(17)); nhwc(rand(64, 40), rand(40))
# dense(any2(3, 17), any2(17, 9), any1(9)); dense(rand(128, 32), rand(32, 8), rand(8))
