# lane: tensorflow
import tensorflow
import tensorflow as T
import tensorflow.linalg
import tensorflow.linalg as la
import tensorflow.nn as N
from tensorflow import exp, matmul as mm, nn
from tensorflow import math as M
from tensorflow.nn import relu
from tensorc.types import TensorF32Cpu2D


def long_name(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tensorflow.nn.relu(x)


def module_alias(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return T.nn.relu(x)


def nn_alias(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return N.relu(x)


def nn_from(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return nn.relu(x)


def math_from(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return M.log(x)


def linalg_import(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tensorflow.linalg.matmul(x, w)


def linalg_alias(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return la.matmul(x, w)


def name_from(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return relu(exp(x))


def name_alias(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return mm(x, w)


def add_of_math(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return M.add(x, w)

# >>> check
# long_name native rextio-tensorflow/relu-f32-cpu-2d
# module_alias native rextio-tensorflow/relu-f32-cpu-2d
# nn_alias native rextio-tensorflow/relu-f32-cpu-2d
# nn_from native rextio-tensorflow/relu-f32-cpu-2d
# math_from native rextio-tensorflow/log-f32-cpu
# linalg_import native rextio-tensorflow/matmul-f32-cpu-2d
# linalg_alias native rextio-tensorflow/matmul-f32-cpu-2d
# name_from native rextio-tensorflow/exp-f32-cpu rextio-tensorflow/relu-f32-cpu-2d
# name_alias native rextio-tensorflow/matmul-f32-cpu-2d
# add_of_math native rextio-tensorflow/add-call-f32-cpu
# >>> run
# long_name(any2()); long_name(rand(200, 33))
# module_alias(any2()); module_alias(rand(200, 33))
# nn_alias(any2()); nn_alias(rand(200, 33))
# nn_from(any2()); nn_from(rand(200, 33))
# math_from(any2()); math_from(rand(200, 33))
# linalg_import(any2(3, 17), any2(17, 5))
# linalg_alias(any2(3, 17), any2(17, 5))
# name_from(any2()); name_from(rand(200, 33))
# name_alias(any2(3, 17), any2(17, 5))
# add_of_math(any2(3, 17), any2(3, 17)); add_of_math(any2(1, 8), any2(1, 8))
# add_of_math(rand(200, 33), specials(200, 33)); add_of_math(rand(3, 0), rand(3, 0))
