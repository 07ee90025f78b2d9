# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def cos(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.cos(x)


def sigmoid(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.sigmoid(x)


def tanh(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.tanh(x)


def sqrt(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.sqrt(x)


def log(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.log(x)


def identity(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.identity(x)


def math_abs(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.abs(x)


def math_exp(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.exp(x)


def math_square(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.square(x)


def math_negative(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.negative(x)


def math_tanh(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.tanh(x)


def linalg_transpose(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.linalg.transpose(x)


def nn_gelu(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.gelu(x)


def nn_elu(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.elu(x)


def keras_activations_relu(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.keras.activations.relu(x)


def stop_gradient(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.stop_gradient(x)


def math_maximum(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.maximum(x, y)


def math_minimum(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.minimum(x, y)


def truediv(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.truediv(x, y)


def math_truediv(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.truediv(x, y)


def pow(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.pow(x, y)


def math_argmax(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.math.argmax(x, axis=1)


def math_softmax(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.softmax(x, axis=1)


def reduce_max(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_max(x, axis=1)


def raw_op(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.raw_ops.Relu(features=x)


def method(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


def numpy(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.numpy()


def method_of_a_result(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return (x + x).relu()


def shape(x: TensorF32Cpu2D) -> int:
    return x.shape[0]


def index(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x[0]


def constant() -> TensorF32Cpu1D:
    return tf.constant([1.0])


def branch(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    if x:
        return tf.nn.relu(x)
    return x


def inner(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.relu(tf.cos(x))


def outer(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.cos(tf.nn.relu(x))

# >>> check
# cos rejected RXT030 @ 7:11-7:20
# sigmoid rejected RXT030 @ 11:11-11:24
# tanh rejected RXT030 @ 15:11-15:21
# sqrt rejected RXT030 @ 19:11-19:21
# log rejected RXT030 @ 23:11-23:20
# identity rejected RXT030 @ 27:11-27:25
# math_abs rejected RXT030 @ 31:11-31:25
# math_exp rejected RXT030 @ 35:11-35:25
# math_square rejected RXT030 @ 39:11-39:28
# math_negative rejected RXT030 @ 43:11-43:30
# math_tanh rejected RXT030 @ 47:11-47:26
# linalg_transpose rejected RXT030 @ 51:11-51:33
# nn_gelu rejected RXT030 @ 55:11-55:24
# nn_elu rejected RXT030 @ 59:11-59:23
# keras_activations_relu rejected RXT030 @ 63:11-63:39
# stop_gradient rejected RXT030 @ 67:11-67:30
# math_maximum rejected RXT030 @ 71:11-71:32
# math_minimum rejected RXT030 @ 75:11-75:32
# truediv rejected RXT030 @ 79:11-79:27
# math_truediv rejected RXT030 @ 83:11-83:32
# pow rejected RXT030 @ 87:11-87:23
# math_argmax rejected RXT030 @ 91:11-91:36
# math_softmax rejected RXT030 @ 95:11-95:37
# reduce_max rejected RXT030 @ 99:11-99:35
# raw_op rejected RXT030 @ 103:11-103:38
# method rejected RXT030 @ 107:11-107:19
# numpy rejected RXT030 @ 111:11-111:20
# method_of_a_result rejected RXT030 @ 115:11-115:25
# shape rejected RXT010 @ 119:11-119:21
# index rejected RXT010 @ 123:11-123:15
# constant rejected RXT030 @ 127:11-127:29
# branch rejected RXT010 @ 131:7-131:8
# inner rejected RXT030 @ 137:22-137:31
# outer rejected RXT030 @ 141:11-141:32
