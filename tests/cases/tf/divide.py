# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def operator_22(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a / b


def operator_11(a: TensorF32Cpu1D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return a / b


def operator_21(a: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return a / b


def operator_12(a: TensorF32Cpu1D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a / b


def function_22(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.divide(a, b)


def function_11(a: TensorF32Cpu1D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.divide(a, b)


def function_21(a: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.divide(a, b)


def function_12(a: TensorF32Cpu1D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.divide(a, b)


def math_function_22(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.divide(a, b)


def math_function_11(a: TensorF32Cpu1D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.math.divide(a, b)


def math_function_21(a: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.math.divide(a, b)


def math_function_12(a: TensorF32Cpu1D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.divide(a, b)


def itself(a: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a / a

# >>> check
# operator_22 native rextio-tensorflow/div-binop-f32-cpu
# operator_11 native rextio-tensorflow/div-binop-f32-cpu
# operator_21 native rextio-tensorflow/div-binop-f32-cpu
# operator_12 native rextio-tensorflow/div-binop-f32-cpu
# function_22 native rextio-tensorflow/div-call-f32-cpu
# function_11 native rextio-tensorflow/div-call-f32-cpu
# function_21 native rextio-tensorflow/div-call-f32-cpu
# function_12 native rextio-tensorflow/div-call-f32-cpu
# math_function_22 native rextio-tensorflow/div-call-f32-cpu
# math_function_11 native rextio-tensorflow/div-call-f32-cpu
# math_function_21 native rextio-tensorflow/div-call-f32-cpu
# math_function_12 native rextio-tensorflow/div-call-f32-cpu
# itself native rextio-tensorflow/div-binop-f32-cpu
