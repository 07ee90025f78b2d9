# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cuda0_1D, TensorF32Cuda0_2D


def relu(x: TensorF32Cuda0_2D) -> TensorF32Cuda0_2D:
    return tf.nn.relu(x)


def plus(x: TensorF32Cuda0_2D, b: TensorF32Cuda0_1D) -> TensorF32Cuda0_2D:
    return x + b

# >>> check
# relu rejected RXTP-TENSORFLOW-034 @ 6:12-6:29, RXTP-TENSORFLOW-034 @ 6:34-6:51, RXTP-TENSORFLOW-018 @ 7:11-7:24
# plus rejected RXTP-TENSORFLOW-034 @ 10:12-10:29, RXTP-TENSORFLOW-034 @ 10:34-10:51, RXTP-TENSORFLOW-034 @ 10:56-10:73, RXTP-TENSORFLOW-006 @ 11:11-11:16
