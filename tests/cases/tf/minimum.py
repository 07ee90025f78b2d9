# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def matrices(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.minimum(a, b)


def vectors(a: TensorF32Cpu1D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.minimum(a, b)


def itself(a: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.minimum(a, a)

# >>> check
# matrices native rextio-tensorflow/minimum-call-f32-cpu
# vectors native rextio-tensorflow/minimum-call-f32-cpu
# itself native rextio-tensorflow/minimum-call-f32-cpu
# >>> run
# matrices(any2(3, 17), any2(3, 17)); matrices(any2(1, 8), any2(1, 8)); matrices(rand(200, 33), specials(200, 33))
# matrices(rand(3, 0), rand(3, 0))
# vectors(any1(17), any1(17)); vectors(any1(8), any1(8)); vectors(rand(1000), specials(1000)); vectors(rand(0), rand(0))
# itself(any2()); itself(rand(200, 33))
# matrices(rand(2, 3), rand(2, 4)) => RuntimeError
# vectors(rand(2), rand(3)) => RuntimeError
