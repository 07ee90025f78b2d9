# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def biased(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return torch.nn.functional.linear(x, w, b)


def biased_short(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.linear(x, w, b)


def plain(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.linear(x, w)


def none(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.linear(x, w, None)


def none_keyword(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.linear(x, w, bias=None)


def keywords(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.linear(x, w, bias=b)


def all_keywords(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.linear(weight=w, input=x, bias=b)

# >>> check
# biased native rextio-torch/functional-linear-f32-cpu-2d
# biased_short native rextio-torch/functional-linear-f32-cpu-2d
# plain native rextio-torch/functional-linear-none-f32-cpu-2d
# none native rextio-torch/functional-linear-none-f32-cpu-2d
# none_keyword native rextio-torch/functional-linear-none-f32-cpu-2d
# keywords rejected RXTP-TORCH-023 @ 28:11-28:33
# all_keywords rejected RXTP-TORCH-023 @ 32:11-32:46
# >>> run
# biased(any2(5, 7), any2(3, 7), any1(3))
# biased(any2(1, 32), any2(8, 32), any1(8)); biased(any2(17, 1), any2(3, 1), any1(3)); biased(any2(33, 64), any2(1, 64), any1(1))
# biased(rand(0, 4), rand(3, 4), any1(3)); biased(rand(2, 0), rand(3, 0), any1(3)); biased(rand(2, 4), rand(0, 4), rand(0))
# biased(specials(6, 6), specials(3, 6), any1(3))
# biased(rand(128, 96), rand(8, 96), any1(8)); biased(rand(33, 769), rand(3, 769), any1(3))
# biased(rand(3, 4), rand(3, 5), any1(3))
# biased_short(any2(5, 7), any2(3, 7), any1(3))
# biased_short(any2(1, 32), any2(8, 32), any1(8)); biased_short(any2(17, 1), any2(3, 1), any1(3))
# biased_short(any2(33, 64), any2(1, 64), any1(1))
# biased_short(rand(0, 4), rand(3, 4), any1(3)); biased_short(rand(2, 0), rand(3, 0), any1(3))
# biased_short(rand(2, 4), rand(0, 4), rand(0)); biased_short(specials(6, 6), specials(3, 6), any1(3))
# biased_short(rand(128, 96), rand(8, 96), any1(8)); biased_short(rand(33, 769), rand(3, 769), any1(3))
# biased_short(rand(3, 4), rand(3, 5), any1(3))
# plain(any2(5, 7), any2(3, 7))
# plain(any2(1, 32), any2(8, 32)); plain(any2(17, 1), any2(3, 1)); plain(any2(33, 64), any2(1, 64))
# plain(rand(0, 4), rand(3, 4)); plain(rand(2, 0), rand(3, 0)); plain(rand(2, 4), rand(0, 4)); plain(specials(6, 6), specials(3, 6))
# plain(rand(128, 96), rand(8, 96)); plain(rand(33, 769), rand(3, 769))
# plain(rand(3, 4), rand(3, 5))
# none(any2(5, 7), any2(3, 7))
# none(any2(1, 32), any2(8, 32)); none(any2(17, 1), any2(3, 1)); none(any2(33, 64), any2(1, 64))
# none(rand(0, 4), rand(3, 4)); none(rand(2, 0), rand(3, 0)); none(rand(2, 4), rand(0, 4)); none(specials(6, 6), specials(3, 6))
# none(rand(128, 96), rand(8, 96)); none(rand(33, 769), rand(3, 769))
# none(rand(3, 4), rand(3, 5))
# none_keyword(any2(5, 7), any2(3, 7))
# none_keyword(any2(1, 32), any2(8, 32)); none_keyword(any2(17, 1), any2(3, 1)); none_keyword(any2(33, 64), any2(1, 64))
# none_keyword(rand(0, 4), rand(3, 4)); none_keyword(rand(2, 0), rand(3, 0)); none_keyword(rand(2, 4), rand(0, 4))
# none_keyword(specials(6, 6), specials(3, 6))
# none_keyword(rand(128, 96), rand(8, 96)); none_keyword(rand(33, 769), rand(3, 769))
# none_keyword(rand(3, 4), rand(3, 5))
# biased(rand(3, 4), rand(5, 4), rand(4)); biased(rand(3, 4), rand(5, 4), rand(1)); biased(rand(3, 4), rand(5, 4), any1(5))
# keywords(any2(5, 7), any2(3, 7), any1(3)); all_keywords(any2(5, 7), any2(3, 7), any1(3))
