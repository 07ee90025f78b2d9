# lane: torch
import tensorflow as tf
import torch
from tensorc.types import TensorF32Cpu2D


def torch_by_its_call(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.relu(x) + x


def torch_by_its_name(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    y = torch.tanh(x)
    return x * y

# >>> check
# torch_by_its_call native rextio-torch/function-relu-f32-cpu-rank1-2 rextio-torch/tensor-add-f32-cpu-same-rank
# torch_by_its_name native rextio-torch/function-tanh-f32-cpu-rank1-2 rextio-torch/tensor-mul-f32-cpu-same-rank
