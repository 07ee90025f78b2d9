# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def helper(x):
    return x * 2


def cosine(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.cos(x)


def cosine_method(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.cos()


def view(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.view(-1)


def reshape(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.reshape(-1)


def flatten(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.flatten()


def item(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x[0]


def sliced(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x[:, 1:]


def transposed(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.t()


def shape(x: TensorF32Cpu2D) -> int:
    return x.shape[0]


def size(x: TensorF32Cpu2D) -> int:
    return x.size(0)


def length(x: TensorF32Cpu2D) -> int:
    return len(x)


def contiguous(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.contiguous()


def clone(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.clone()


def detached(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.detach()


def clamped(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.clamp(min=0)


def where(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.where(x > 0, x, y)


def cat(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.cat([x, y])


def stack(v: TensorF32Cpu1D, u: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return torch.stack([v, u])


def zeros_like(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.zeros_like(x)


def zeros(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.zeros(2, 3)


def to_float(k: TensorI64Cpu1D) -> TensorF32Cpu1D:
    return k.float()


def to_double(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.to(torch.float64)


def to_cuda(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.cuda()


def number(x: TensorF32Cpu2D) -> float:
    return x.sum().item()


def unknown_function(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.no_such_function(x)


def unknown_method(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.no_such_method()


def own_global(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return helper(x)


def builtin(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return print(x)


def unknown_name(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return undefined_name(x)


def module(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.nn.ReLU()(x)


def unsqueezed(v: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return v.unsqueeze(0)


def attribute(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.data


def wrong_result(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.relu()


def wrong_result_dtype(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.argmax(dim=1)


def rank3(x: torch.Tensor) -> torch.Tensor:
    return x.relu()


def list_of_tensors(xs: list[TensorF32Cpu2D]) -> TensorF32Cpu2D:
    return xs[0]


def optional(x: TensorF32Cpu2D | None) -> TensorF32Cpu2D:
    return x.relu()

# >>> check
# helper not-candidate RXT001 @ 7:11-7:12, RXT001 @ 7:4-7:10
# cosine rejected RXT030 @ 12:11-12:23
# cosine_method rejected RXT030 @ 16:11-16:18
# view rejected RXT030 @ 20:11-20:21
# reshape rejected RXT030 @ 24:11-24:24
# flatten rejected RXT030 @ 28:11-28:22
# item rejected RXT010 @ 32:11-32:15
# sliced rejected RXT010 @ 36:11-36:19
# transposed rejected RXT030 @ 40:11-40:16
# shape rejected RXT010 @ 44:11-44:21
# size rejected RXT030 @ 48:11-48:20
# length rejected RXT030 @ 52:11-52:17
# contiguous rejected RXT030 @ 56:11-56:25
# clone rejected RXT030 @ 60:11-60:20
# detached rejected RXT030 @ 64:11-64:21
# clamped rejected RXT030 @ 68:11-68:25
# where rejected RXT030 @ 72:11-72:35
# cat rejected RXT030 @ 76:11-76:28
# stack rejected RXT030 @ 80:11-80:30
# zeros_like rejected RXT030 @ 84:11-84:30
# zeros rejected RXT030 @ 88:11-88:28
# to_float rejected RXT030 @ 92:11-92:20
# to_double rejected RXT030 @ 96:11-96:30
# to_cuda rejected RXT030 @ 100:11-100:19
# number rejected RXTP-TORCH-013 @ 104:11-104:18
# unknown_function rejected RXT030 @ 108:11-108:36
# unknown_method rejected RXT030 @ 112:11-112:29
# own_global rejected RXT092 @ 116:11-116:20
# builtin rejected RXT030 @ 120:11-120:19
# unknown_name rejected RXT030 @ 124:11-124:28
# module rejected RXT030 @ 128:11-128:29
# unsqueezed rejected RXT030 @ 132:11-132:25
# attribute rejected RXT010 @ 136:11-136:17
# wrong_result rejected RXT003 @ 140:11-140:19
# wrong_result_dtype rejected RXT003 @ 144:11-144:26
# rank3 not-candidate RXT002 @ 147:13-147:25, RXT003 @ 147:30-147:42
# list_of_tensors not-candidate RXT002 @ 151:24-151:44
# optional not-candidate RXT002 @ 155:16-155:37
# >>> run
# cosine(rand(2, 3)); view(rand(2, 3)); item(rand(2, 3)); sliced(rand(2, 3)); transposed(rand(2, 3)); shape(rand(2, 3))
# size(rand(2, 3)); length(rand(2, 3)); clone(rand(2, 3)); clamped(rand(2, 3)); where(rand(2, 3), rand(2, 3))
# cat(rand(2, 3), rand(2, 3)); zeros(rand(2, 3)); to_float(ints(3)); to_double(rand(2, 3)); number(rand(2, 3))
# unknown_function(rand(2, 3)); unknown_method(rand(2, 3)); module(rand(2, 3)); wrong_result(rand(2, 3))
# wrong_result_dtype(rand(2, 3)); rank3(rand(2, 3, 4)); unknown_name(rand(2, 3)); own_global(rand(2, 3))
