"""What bench/sweep.py measures: one function for each kind of work, so that a point shows which kind loses."""

import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def layer(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.linear(x, w, b)


def product(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x @ w


def dense(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.linear(x, w, b).relu()


def activation(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.sigmoid()


def scaled(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return (x - b) * b


def chances(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=1)


def total(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=1)


def mean(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.mean(dim=0)


def pick(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=1)


def pick_columns(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=0)


def chances_of_columns(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.softmax(dim=0)


def chain(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    hidden = F.linear(x * b, w, b).tanh()
    return F.linear(hidden, w, b).softmax(dim=1)
