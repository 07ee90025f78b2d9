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
# >>> run
# axis1(any2(empty=False)); axis1(ties(17, 33)); axis1(ties(100, 4)); axis1(full((3, 9), nan))
# axis1(full((4, 8), -inf)); axis1(rand(0, 5)); axis1(rand(600, 31))
# axis1_positional(any2(empty=False)); axis1_positional(ties(17, 33)); axis1_positional(ties(100, 4))
# axis1_positional(full((3, 9), nan)); axis1_positional(full((4, 8), -inf)); axis1_positional(rand(0, 5))
# axis1_positional(rand(600, 31))
# axis0(any2(empty=False)); axis0(ties(17, 33)); axis0(ties(100, 4)); axis0(full((3, 9), nan))
# axis0(full((4, 8), -inf)); axis0(rand(600, 31))
# axis0_positional(any2(empty=False)); axis0_positional(ties(17, 33)); axis0_positional(ties(100, 4))
# axis0_positional(full((3, 9), nan)); axis0_positional(full((4, 8), -inf)); axis0_positional(rand(600, 31))
# classify(any2(empty=False)); classify(ties(17, 33)); classify(ties(100, 4)); classify(full((3, 9), nan))
# classify(full((4, 8), -inf)); classify(rand(0, 5)); classify(rand(600, 31))
# axis0(rand(0, 5)) => RuntimeError
# axis1(rand(5, 0)) => RuntimeError
