# lane: torch
import torch
from tensorc.types import TensorF32Cpu2D, TensorF32Cuda0_1D, TensorF32Cuda0_2D


def chain(x: TensorF32Cuda0_2D, w: TensorF32Cuda0_2D, b: TensorF32Cuda0_1D) -> TensorF32Cuda0_1D:
    a = x @ w
    c = a + b
    d = c.relu()
    return d.mean(dim=1)


def relu(x: TensorF32Cuda0_2D) -> TensorF32Cuda0_2D:
    return x.relu()


def mixed(x: TensorF32Cuda0_2D, w: TensorF32Cpu2D) -> TensorF32Cuda0_2D:
    return x @ w


def passed(x: TensorF32Cuda0_2D) -> TensorF32Cuda0_2D:
    return x

# >>> check
# chain rejected RXTP-TORCH-010 @ 6:13-6:30, RXTP-TORCH-010 @ 6:35-6:52, RXTP-TORCH-010 @ 6:57-6:74, RXTP-TORCH-010 @ 6:79-6:96, RXTP-TORCH-009 @ 7:8-7:13
# relu rejected RXTP-TORCH-010 @ 13:12-13:29, RXTP-TORCH-010 @ 13:34-13:51, RXTP-TORCH-010 @ 14:11-14:19
# mixed rejected RXTP-TORCH-010 @ 17:13-17:30, RXTP-TORCH-010 @ 17:54-17:71, RXTP-TORCH-009 @ 18:11-18:16
# passed rejected RXTP-TORCH-010 @ 21:14-21:31, RXTP-TORCH-010 @ 21:36-21:53
# >>> run
# passed(rand(2, 3)); relu(rand(2, 3))
