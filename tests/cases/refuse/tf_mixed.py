# lane: tensorflow
import rextio_tensorflow.types as tft
import rextio_torch.types as tt
import tensorflow as tf
import torch
from tensorc.types import TensorF32Cpu2D


def both_calls(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.relu(tf.nn.relu(x))


def torch_call(x: tft.TensorF32Cpu2D) -> tft.TensorF32Cpu2D:
    return torch.relu(x)


def tensorflow_call(x: tt.TensorF32Cpu2D) -> tt.TensorF32Cpu2D:
    return tf.nn.relu(x)


def both_types(x: tt.TensorF32Cpu2D, y: tft.TensorF32Cpu2D) -> tt.TensorF32Cpu2D:
    return x + y


def no_lane(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x + x


def tensorflow_by_its_call(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.relu(x) + x


def numbers_only(n: int) -> int:
    return n + 1

# >>> check
# both_calls rejected RXTP-TORCH-010 @ 10:22-10:32
# torch_call rejected RXTP-TORCH-010 @ 13:18-13:36
# tensorflow_call rejected RXTP-TENSORFLOW-010 @ 17:23-17:40
# both_types rejected RXTP-TORCH-010 @ 21:40-21:58
# no_lane rejected RXT010 @ 25:4-25:11
# tensorflow_by_its_call native rextio-tensorflow/add-binop-f32-cpu rextio-tensorflow/relu-f32-cpu-2d
# numbers_only native
