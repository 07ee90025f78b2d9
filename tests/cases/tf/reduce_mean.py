# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def axis1(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=1)


def axis1_positional(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, 1)


def axis1_keepfalse(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=1, keepdims=False)


def axis1_keep(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.reduce_mean(x, axis=1, keepdims=True)


def axis0(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=0)


def axis0_positional(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, 0)


def axis0_keep(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.reduce_mean(x, keepdims=True, axis=0)


def positional_keep(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.reduce_mean(x, 1, keepdims=True)


def hex(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=0x1)


def math_axis1(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.math.reduce_mean(x, axis=1)


def math_axis0_keep(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.reduce_mean(x, 0, keepdims=True)

# >>> check
# axis1 native rextio-tensorflow/reduce-mean-axis1-f32-cpu-2d
# axis1_positional native rextio-tensorflow/reduce-mean-axis1-f32-cpu-2d
# axis1_keepfalse native rextio-tensorflow/reduce-mean-axis1-f32-cpu-2d
# axis1_keep native rextio-tensorflow/reduce-mean-literal-axis-f32-cpu-2d
# axis0 native rextio-tensorflow/reduce-mean-literal-axis-f32-cpu-2d
# axis0_positional native rextio-tensorflow/reduce-mean-literal-axis-f32-cpu-2d
# axis0_keep native rextio-tensorflow/reduce-mean-literal-axis-f32-cpu-2d
# positional_keep native rextio-tensorflow/reduce-mean-literal-axis-f32-cpu-2d
# hex native rextio-tensorflow/reduce-mean-axis1-f32-cpu-2d
# math_axis1 native rextio-tensorflow/reduce-mean-axis1-f32-cpu-2d
# math_axis0_keep native rextio-tensorflow/reduce-mean-literal-axis-f32-cpu-2d
# >>> run
# axis1(any2()); axis1(rand(200, 33))
# axis1_positional(any2()); axis1_positional(rand(200, 33))
# axis1_keepfalse(any2()); axis1_keepfalse(rand(200, 33))
# axis1_keep(any2()); axis1_keep(rand(200, 33))
# axis0(any2()); axis0(rand(200, 33))
# axis0_positional(any2()); axis0_positional(rand(200, 33))
# axis0_keep(any2()); axis0_keep(rand(200, 33))
# positional_keep(any2()); positional_keep(rand(200, 33))
# hex(any2()); hex(rand(200, 33))
# math_axis1(any2()); math_axis1(rand(200, 33))
# math_axis0_keep(any2()); math_axis0_keep(rand(200, 33))
