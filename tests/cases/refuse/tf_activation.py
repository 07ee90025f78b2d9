# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def relu_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.nn.relu(k)


def relu_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.relu(x, name="q")


def relu_keyword_vector(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.relu(x, name="q")


def relu_second(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.relu(x, 1)


def relu_nothing(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.relu()


def relu_int(n: int, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.relu(n)


def relu_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.relu(None)


def relu_named(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.relu(features=x)


def sigmoid_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.nn.sigmoid(k)


def sigmoid_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.sigmoid(x, name="q")


def sigmoid_keyword_vector(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.sigmoid(x, name="q")


def sigmoid_second(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.sigmoid(x, 1)


def sigmoid_nothing(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.sigmoid()


def sigmoid_int(n: int, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.sigmoid(n)


def sigmoid_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.sigmoid(None)


def sigmoid_named(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.sigmoid(features=x)


def tanh_int64(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return tf.nn.tanh(k)


def tanh_keyword(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.tanh(x, name="q")


def tanh_keyword_vector(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.tanh(x, name="q")


def tanh_second(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.tanh(x, 1)


def tanh_nothing(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.tanh()


def tanh_int(n: int, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.tanh(n)


def tanh_none(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.tanh(None)


def tanh_named(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.tanh(features=x)

# >>> check
# relu_int64 rejected RXTP-TENSORFLOW-018 @ 7:11-7:24
# relu_keyword rejected RXTP-TENSORFLOW-002 @ 11:11-11:34
# relu_keyword_vector rejected RXTP-TENSORFLOW-002 @ 15:11-15:34
# relu_second rejected RXTP-TENSORFLOW-002 @ 19:11-19:27
# relu_nothing rejected RXTP-TENSORFLOW-002 @ 23:11-23:23
# relu_int rejected RXTP-TENSORFLOW-010 @ 27:11-27:24
# relu_none rejected RXTP-TENSORFLOW-010 @ 31:11-31:27
# relu_named rejected RXTP-TENSORFLOW-002 @ 35:11-35:33
# sigmoid_int64 rejected RXTP-TENSORFLOW-019 @ 39:11-39:27
# sigmoid_keyword rejected RXTP-TENSORFLOW-005 @ 43:11-43:37
# sigmoid_keyword_vector rejected RXTP-TENSORFLOW-005 @ 47:11-47:37
# sigmoid_second rejected RXTP-TENSORFLOW-005 @ 51:11-51:30
# sigmoid_nothing rejected RXTP-TENSORFLOW-005 @ 55:11-55:26
# sigmoid_int rejected RXTP-TENSORFLOW-010 @ 59:11-59:27
# sigmoid_none rejected RXTP-TENSORFLOW-010 @ 63:11-63:30
# sigmoid_named rejected RXTP-TENSORFLOW-005 @ 67:11-67:36
# tanh_int64 rejected RXTP-TENSORFLOW-020 @ 71:11-71:24
# tanh_keyword rejected RXTP-TENSORFLOW-009 @ 75:11-75:34
# tanh_keyword_vector rejected RXTP-TENSORFLOW-009 @ 79:11-79:34
# tanh_second rejected RXTP-TENSORFLOW-009 @ 83:11-83:27
# tanh_nothing rejected RXTP-TENSORFLOW-009 @ 87:11-87:23
# tanh_int rejected RXTP-TENSORFLOW-010 @ 91:11-91:24
# tanh_none rejected RXTP-TENSORFLOW-010 @ 95:11-95:27
# tanh_named rejected RXTP-TENSORFLOW-009 @ 99:11-99:33
