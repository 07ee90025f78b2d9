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
