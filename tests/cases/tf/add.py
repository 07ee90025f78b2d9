# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def operator_22(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a + b


def operator_11(a: TensorF32Cpu1D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return a + b


def operator_21(a: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return a + b


def operator_12(a: TensorF32Cpu1D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a + b


def function_22(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.add(a, b)


def function_11(a: TensorF32Cpu1D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.add(a, b)


def function_21(a: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.add(a, b)


def function_12(a: TensorF32Cpu1D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.add(a, b)


def math_function_22(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.add(a, b)


def math_function_11(a: TensorF32Cpu1D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.math.add(a, b)


def math_function_21(a: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.math.add(a, b)


def math_function_12(a: TensorF32Cpu1D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.add(a, b)


def itself(a: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a + a

# >>> check
# operator_22 native rextio-tensorflow/add-binop-f32-cpu
# operator_11 native rextio-tensorflow/add-binop-f32-cpu
# operator_21 native rextio-tensorflow/add-binop-f32-cpu
# operator_12 native rextio-tensorflow/add-binop-f32-cpu
# function_22 native rextio-tensorflow/add-call-f32-cpu
# function_11 native rextio-tensorflow/add-call-f32-cpu
# function_21 native rextio-tensorflow/add-call-f32-cpu
# function_12 native rextio-tensorflow/add-call-f32-cpu
# math_function_22 native rextio-tensorflow/add-call-f32-cpu
# math_function_11 native rextio-tensorflow/add-call-f32-cpu
# math_function_21 native rextio-tensorflow/add-call-f32-cpu
# math_function_12 native rextio-tensorflow/add-call-f32-cpu
# itself native rextio-tensorflow/add-binop-f32-cpu
# >>> run
# operator_22(any2(3, 17), any2(3, 17)); operator_22(any2(1, 8), any2(1, 8))
# operator_22(rand(200, 33), specials(200, 33)); operator_22(rand(3, 0), rand(3, 0))
# operator_11(any1(17), any1(17)); operator_11(any1(8), any1(8)); operator_11(rand(1000), specials(1000))
# operator_11(rand(0), rand(0))
# operator_21(any2(3, 17), any1(17)); operator_21(any2(16, 8), any1(8)); operator_21(rand(200, 33), specials(33))
# operator_21(rand(0, 5), rand(5)); operator_21(rand(3, 4), rand(1))
# operator_12(any1(17), any2(3, 17)); operator_12(any1(8), any2(16, 8)); operator_12(specials(33), rand(200, 33))
# operator_12(rand(1), rand(3, 4))
# function_22(any2(3, 17), any2(3, 17)); function_22(any2(1, 8), any2(1, 8))
# function_22(rand(200, 33), specials(200, 33)); function_22(rand(3, 0), rand(3, 0))
# function_11(any1(17), any1(17)); function_11(any1(8), any1(8)); function_11(rand(1000), specials(1000))
# function_11(rand(0), rand(0))
# function_21(any2(3, 17), any1(17)); function_21(any2(16, 8), any1(8)); function_21(rand(200, 33), specials(33))
# function_21(rand(0, 5), rand(5)); function_21(rand(3, 4), rand(1))
# function_12(any1(17), any2(3, 17)); function_12(any1(8), any2(16, 8)); function_12(specials(33), rand(200, 33))
# function_12(rand(1), rand(3, 4))
# math_function_22(any2(3, 17), any2(3, 17)); math_function_22(any2(1, 8), any2(1, 8))
# math_function_22(rand(200, 33), specials(200, 33)); math_function_22(rand(3, 0), rand(3, 0))
# math_function_11(any1(17), any1(17)); math_function_11(any1(8), any1(8)); math_function_11(rand(1000), specials(1000))
# math_function_11(rand(0), rand(0))
# math_function_21(any2(3, 17), any1(17)); math_function_21(any2(16, 8), any1(8))
# math_function_21(rand(200, 33), specials(33)); math_function_21(rand(0, 5), rand(5))
# math_function_21(rand(3, 4), rand(1))
# math_function_12(any1(17), any2(3, 17)); math_function_12(any1(8), any2(16, 8))
# math_function_12(specials(33), rand(200, 33)); math_function_12(rand(1), rand(3, 4))
# itself(any2()); itself(rand(200, 33))
# operator_22(rand(2, 3), rand(2, 4)) => RuntimeError
# operator_11(rand(2), rand(3)) => RuntimeError
# operator_21(rand(2, 3), rand(2)) => RuntimeError
