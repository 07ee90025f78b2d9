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
# >>> run
# function(any2(3, 17), any2(17, 5)); function(any2(1, 32), any2(32, 8)); function(rand(17, 33), rand(33, 96))
# function(rand(64, 257), rand(257, 31)); function(rand(5, 1), rand(1, 7)); function(rand(4, 500), rand(500, 1))
# function(specials(9, 20), specials(20, 18))
# function(rand(0, 3), rand(3, 4)); function(rand(2, 0), rand(0, 4)); function(rand(2, 3), rand(3, 0))
# function(rand(2, 3), rand(2, 3)) => RuntimeError
# linalg(any2(16, 32), any2(32, 16)); linalg(rand(128, 32), rand(32, 32))
# transposed(any2(5, 17), any2(6, 17)); transposed(rand(33, 96), rand(80, 96))
# square(any2(7, 7)); square(rand(40, 40))
