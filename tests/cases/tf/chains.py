# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def score(x: TensorF32Cpu2D, w1: TensorF32Cpu2D, b1: TensorF32Cpu1D, w2: TensorF32Cpu2D, b2: TensorF32Cpu1D) -> TensorI64Cpu1D:
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w1), b1))
    logits = tf.matmul(h, w2) + b2
    return tf.argmax(tf.nn.softmax(logits, axis=1), axis=1)


def normalize(x: TensorF32Cpu2D, eps: TensorF32Cpu1D) -> TensorF32Cpu2D:
    mean = tf.reduce_mean(x, axis=1, keepdims=True)
    d = x - mean
    var = tf.reduce_mean(tf.square(d), axis=1, keepdims=True)
    return d / tf.math.sqrt(var + eps)


def layers(x: TensorF32Cpu2D, w: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = x
    for i in range(n):
        h = tf.nn.tanh(tf.matmul(h, w))
    return h


def either(x: TensorF32Cpu2D, flag: bool) -> TensorF32Cpu2D:
    if flag:
        return tf.nn.relu(x)
    return tf.nn.sigmoid(x)


def standardize(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    mean = tf.reduce_mean(x, axis=0, keepdims=True)
    return (x - mean) / tf.math.sqrt(tf.reduce_mean(tf.square(x - mean), 0, keepdims=True))


def clipped(x: TensorF32Cpu2D, low: TensorF32Cpu2D, high: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.minimum(tf.maximum(x, low), high)


def labels(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k

# >>> check
# score native rextio-tensorflow/add-binop-f32-cpu rextio-tensorflow/argmax-axis1-i64-cpu-2d rextio-tensorflow/bias-add-nhwc-f32-cpu-2d rextio-tensorflow/matmul-f32-cpu-2d rextio-tensorflow/relu-f32-cpu-2d rextio-tensorflow/softmax-axis1-f32-cpu-2d
# normalize native rextio-tensorflow/add-binop-f32-cpu rextio-tensorflow/div-binop-f32-cpu rextio-tensorflow/reduce-mean-literal-axis-f32-cpu-2d rextio-tensorflow/sqrt-f32-cpu rextio-tensorflow/square-f32-cpu rextio-tensorflow/sub-binop-f32-cpu
# layers native rextio-tensorflow/matmul-f32-cpu-2d rextio-tensorflow/tanh-f32-cpu-2d
# either native rextio-tensorflow/relu-f32-cpu-2d rextio-tensorflow/sigmoid-f32-cpu-2d
# standardize native rextio-tensorflow/div-binop-f32-cpu rextio-tensorflow/reduce-mean-literal-axis-f32-cpu-2d rextio-tensorflow/sqrt-f32-cpu rextio-tensorflow/square-f32-cpu rextio-tensorflow/sub-binop-f32-cpu
# clipped native rextio-tensorflow/maximum-call-f32-cpu rextio-tensorflow/minimum-call-f32-cpu
# labels native
# >>> run
# score(any2(3, 32), rand(32, 16), rand(16), rand(16, 8), rand(8))
# score(rand(128, 32), rand(32, 33), rand(33), rand(33, 5), rand(5))
# score(specials(16, 32), rand(32, 16), rand(16), rand(16, 8), rand(8))
# normalize(any2(3, 17), rand(17)); normalize(rand(300, 33), rand(33)); normalize(any2(3, 17), rand(1))
# layers(any2(5, 17), rand(17, 17, scale=0.3), each(0, 1, 2, 5)); layers(rand(200, 32), rand(32, 32, scale=0.2), 3)
# either(any2(), True); either(any2(), False)
# standardize(any2(empty=False)); standardize(rand(700, 31))
# clipped(any2(3, 17), any2(3, 17), any2(3, 17)); clipped(rand(300, 33), specials(300, 33), rand(300, 33))
