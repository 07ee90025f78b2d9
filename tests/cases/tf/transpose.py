# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu2D


def matrix(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.transpose(x)


def twice(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.transpose(tf.transpose(x))


def gram(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(tf.transpose(x), x)

# >>> check
# matrix native rextio-tensorflow/transpose-f32-cpu-2d
# twice native rextio-tensorflow/transpose-f32-cpu-2d
# gram native rextio-tensorflow/matmul-f32-cpu-2d rextio-tensorflow/transpose-f32-cpu-2d
# >>> run
# matrix(any2()); matrix(rand(200, 33))
# twice(any2()); twice(rand(200, 33))
# gram(any2()); gram(rand(200, 33))
