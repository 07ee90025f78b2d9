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
