# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu2D


def function(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(a, b)


def linalg(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.linalg.matmul(a, b)


def transposed(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(a, tf.transpose(b))


def square(a: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(a, a)

# >>> check
# function native rextio-tensorflow/matmul-f32-cpu-2d
# linalg native rextio-tensorflow/matmul-f32-cpu-2d
# transposed native rextio-tensorflow/matmul-f32-cpu-2d rextio-tensorflow/transpose-f32-cpu-2d
# square native rextio-tensorflow/matmul-f32-cpu-2d
