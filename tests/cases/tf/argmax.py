# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu2D, TensorI64Cpu1D


def axis1(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(x, axis=1)


def axis1_positional(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(x, 1)


def axis0(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(x, axis=0)


def axis0_positional(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(x, 0)


def classify(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(tf.nn.softmax(x, axis=1), axis=1)

# >>> check
# axis1 native rextio-tensorflow/argmax-axis1-i64-cpu-2d
# axis1_positional native rextio-tensorflow/argmax-axis1-i64-cpu-2d
# axis0 native rextio-tensorflow/argmax-axis0-i64-cpu-2d
# axis0_positional native rextio-tensorflow/argmax-axis0-i64-cpu-2d
# classify native rextio-tensorflow/argmax-axis1-i64-cpu-2d rextio-tensorflow/softmax-axis1-f32-cpu-2d
