# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def add_in_place(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    h = x
    h += b
    return h


def parameter(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    x += b
    return x


def own_value(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    h = tf.nn.relu(x)
    h *= h
    h -= x
    h /= x
    return h


def in_a_loop(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = x
    for i in range(n):
        h += x
    return h


def other_keeps(x: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    h = x
    g = h
    h += b
    return h * g


def grows(v: TensorF32Cpu1D, m: TensorF32Cpu2D) -> TensorF32Cpu2D:
    h = v
    h += m
    return h

# >>> check
# add_in_place native rextio-tensorflow/add-binop-f32-cpu
# parameter native rextio-tensorflow/add-binop-f32-cpu
# own_value native rextio-tensorflow/div-binop-f32-cpu rextio-tensorflow/mul-binop-f32-cpu rextio-tensorflow/relu-f32-cpu-2d rextio-tensorflow/sub-binop-f32-cpu
# in_a_loop native rextio-tensorflow/add-binop-f32-cpu
# other_keeps native rextio-tensorflow/add-binop-f32-cpu rextio-tensorflow/mul-binop-f32-cpu
# grows native rextio-tensorflow/add-binop-f32-cpu
# >>> run
# add_in_place(any2(3, 17), any1(17)); add_in_place(any2(16, 8), any1(8)); add_in_place(rand(200, 33), specials(33))
# add_in_place(rand(0, 5), rand(5)); add_in_place(rand(3, 4), rand(1))
# parameter(any2(3, 17), any1(17)); parameter(any2(16, 8), any1(8)); parameter(rand(200, 33), specials(33))
# parameter(rand(0, 5), rand(5)); parameter(rand(3, 4), rand(1))
# own_value(any2()); own_value(rand(200, 33))
# in_a_loop(any2(), 3); in_a_loop(rand(3, 5), 0)
# other_keeps(any2(3, 17), any2(3, 17)); other_keeps(any2(1, 8), any2(1, 8))
# other_keeps(rand(200, 33), specials(200, 33)); other_keeps(rand(3, 0), rand(3, 0))
# grows(any1(17), any2(3, 17)); grows(rand(1), rand(4, 6))
