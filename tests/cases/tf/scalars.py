# lane: tensorflow
import tensorflow as tf
from tensorc.types import TensorF32Cpu2D


def denormal(x: TensorF32Cpu2D, s: float) -> TensorF32Cpu2D:
    """TensorFlow's kernels take denormals for zero, Python's arithmetic does not."""
    if s * 0.5 > 0.0:
        return tf.exp(x)
    return tf.abs(x)


def after_a_kernel(x: TensorF32Cpu2D, s: float, n: int) -> TensorF32Cpu2D:
    total = 0.0
    for _ in range(n):
        x = tf.nn.tanh(x)
        total += s
    if total > 0.0:
        x = tf.nn.relu(x)
    return x

# >>> check
# denormal native rextio-tensorflow/abs-f32-cpu rextio-tensorflow/exp-f32-cpu
# after_a_kernel native rextio-tensorflow/relu-f32-cpu-2d rextio-tensorflow/tanh-f32-cpu-2d
# >>> run
# denormal(rand(2, 3), each(4e-323, 1e-310, 0.0, -1e-320))
# denormal(rand(200, 33), 4e-323)
# after_a_kernel(rand(2, 3), each(5e-324, -5e-324, 0.0), 3)
# after_a_kernel(rand(600, 33), 5e-324, 2)
