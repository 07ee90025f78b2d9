# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def mean_whole(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x)


def mean_axis_none(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=None)


def mean_axis_minus1(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=-1)


def mean_axis2(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=2)


def mean_axis_bool(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=True)


def mean_axis_float(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=1.0)


def mean_axis_tuple(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=(0, 1))


def mean_axis_variable(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=n)


def mean_axis_variable_positional(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, n)


def mean_axis_twice(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, 0, axis=1)


def mean_positional_keepdims(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, 1, True)


def mean_keepdims_int(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, 1, keepdims=1)


def mean_keepdims_none(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, 1, keepdims=None)


def mean_keepdims_variable(x: TensorF32Cpu2D, b: bool) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, 1, keepdims=b)


def mean_keepdim(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, 1, keepdim=True)


def mean_dim(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, dim=1)


def mean_name(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, 1, name="q")


def mean_vector(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=0)


def mean_vector_keep(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=0, keepdims=True)


def mean_vector_whole(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x)


def mean_int64(x: TensorI64Cpu1D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=0)


def mean_number(x: int) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=1)


def sum_whole(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x)


def sum_axis_none(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=None)


def sum_axis_minus1(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=-1)


def sum_axis2(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=2)


def sum_axis_bool(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=True)


def sum_axis_float(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=1.0)


def sum_axis_tuple(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=(0, 1))


def sum_axis_variable(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=n)


def sum_axis_variable_positional(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, n)


def sum_axis_twice(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, 0, axis=1)


def sum_positional_keepdims(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, 1, True)


def sum_keepdims_int(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, 1, keepdims=1)


def sum_keepdims_none(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, 1, keepdims=None)


def sum_keepdims_variable(x: TensorF32Cpu2D, b: bool) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, 1, keepdims=b)


def sum_keepdim(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, 1, keepdim=True)


def sum_dim(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, dim=1)


def sum_name(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, 1, name="q")


def sum_vector(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=0)


def sum_vector_keep(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=0, keepdims=True)


def sum_vector_whole(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x)


def sum_int64(x: TensorI64Cpu1D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=0)


def sum_number(x: int) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=1)

# >>> check
# mean_whole rejected RXTP-TENSORFLOW-004 @ 7:11-7:28
# mean_axis_none rejected RXTP-TENSORFLOW-004 @ 11:11-11:39
# mean_axis_minus1 rejected RXTP-TENSORFLOW-004 @ 15:11-15:37
# mean_axis2 rejected RXTP-TENSORFLOW-004 @ 19:11-19:36
# mean_axis_bool rejected RXTP-TENSORFLOW-004 @ 23:11-23:39
# mean_axis_float rejected RXTP-TENSORFLOW-004 @ 27:11-27:38
# mean_axis_tuple rejected RXTP-TENSORFLOW-004 @ 31:11-31:41
# mean_axis_variable rejected RXTP-TENSORFLOW-004 @ 35:11-35:36
# mean_axis_variable_positional rejected RXTP-TENSORFLOW-004 @ 39:11-39:31
# mean_axis_twice rejected RXTP-TENSORFLOW-004 @ 43:11-43:39
# mean_positional_keepdims rejected RXTP-TENSORFLOW-004 @ 47:11-47:37
# mean_keepdims_int rejected RXTP-TENSORFLOW-004 @ 51:11-51:43
# mean_keepdims_none rejected RXTP-TENSORFLOW-004 @ 55:11-55:46
# mean_keepdims_variable rejected RXTP-TENSORFLOW-004 @ 59:11-59:43
# mean_keepdim rejected RXTP-TENSORFLOW-004 @ 63:11-63:45
# mean_dim rejected RXTP-TENSORFLOW-004 @ 67:11-67:35
# mean_name rejected RXTP-TENSORFLOW-004 @ 71:11-71:41
# mean_vector rejected RXTP-TENSORFLOW-010 @ 75:11-75:36
# mean_vector_keep rejected RXTP-TENSORFLOW-010 @ 79:11-79:51
# mean_vector_whole rejected RXTP-TENSORFLOW-004 @ 83:11-83:28
# mean_int64 rejected RXTP-TENSORFLOW-010 @ 87:11-87:36
# mean_number rejected RXTP-TENSORFLOW-010 @ 91:11-91:36
# sum_whole rejected RXTP-TENSORFLOW-011 @ 95:11-95:27
# sum_axis_none rejected RXTP-TENSORFLOW-011 @ 99:11-99:38
# sum_axis_minus1 rejected RXTP-TENSORFLOW-011 @ 103:11-103:36
# sum_axis2 rejected RXTP-TENSORFLOW-011 @ 107:11-107:35
# sum_axis_bool rejected RXTP-TENSORFLOW-011 @ 111:11-111:38
# sum_axis_float rejected RXTP-TENSORFLOW-011 @ 115:11-115:37
# sum_axis_tuple rejected RXTP-TENSORFLOW-011 @ 119:11-119:40
# sum_axis_variable rejected RXTP-TENSORFLOW-011 @ 123:11-123:35
# sum_axis_variable_positional rejected RXTP-TENSORFLOW-011 @ 127:11-127:30
# sum_axis_twice rejected RXTP-TENSORFLOW-011 @ 131:11-131:38
# sum_positional_keepdims rejected RXTP-TENSORFLOW-011 @ 135:11-135:36
# sum_keepdims_int rejected RXTP-TENSORFLOW-011 @ 139:11-139:42
# sum_keepdims_none rejected RXTP-TENSORFLOW-011 @ 143:11-143:45
# sum_keepdims_variable rejected RXTP-TENSORFLOW-011 @ 147:11-147:42
# sum_keepdim rejected RXTP-TENSORFLOW-011 @ 151:11-151:44
# sum_dim rejected RXTP-TENSORFLOW-011 @ 155:11-155:34
# sum_name rejected RXTP-TENSORFLOW-011 @ 159:11-159:40
# sum_vector rejected RXTP-TENSORFLOW-010 @ 163:11-163:35
# sum_vector_keep rejected RXTP-TENSORFLOW-010 @ 167:11-167:50
# sum_vector_whole rejected RXTP-TENSORFLOW-011 @ 171:11-171:27
# sum_int64 rejected RXTP-TENSORFLOW-010 @ 175:11-175:35
# sum_number rejected RXTP-TENSORFLOW-010 @ 179:11-179:35
