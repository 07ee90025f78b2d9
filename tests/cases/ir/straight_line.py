# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def chain(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorI64Cpu1D:
    hidden = F.linear(x, w, b)
    logits = hidden.relu()
    return logits.softmax(dim=1).argmax(dim=1)


def copies(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    a = b = x
    a, b = b, y
    return a - b


def retyped(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    h = x.relu()
    h = h.mean(dim=0)
    return h

# >>> ir
# func chain(x f32[2], w f32[2], b f32[1]) -> i64[1] {
#   %0 = get f32[2] x
#   %1 = get f32[2] w
#   %2 = get f32[1] b
#   %3 = tensor linear f32[2] %0, %1, %2
#   set hidden %3
#   %5 = get f32[2] hidden
#   %6 = tensor relu f32[2] %5
#   set logits %6
#   %8 = get f32[2] logits
#   %9 = tensor softmax f32[2] %8 dim=1
#   %10 = tensor argmax i64[1] %9 dim=1
#   return %10
# }
# func copies(x f32[2], y f32[2]) -> f32[2] {
#   %0 = get f32[2] x
#   set a %0
#   set b %0
#   %3 = get f32[2] b
#   %4 = get f32[2] y
#   set a %3
#   set b %4
#   %7 = get f32[2] a
#   %8 = get f32[2] b
#   %9 = tensor sub f32[2] %7, %8
#   return %9
# }
# func retyped(x f32[2]) -> f32[1] {
#   %0 = get f32[2] x
#   %1 = tensor relu f32[2] %0
#   set h.1 %1
#   %3 = get f32[2] h.1
#   %4 = tensor mean f32[1] %3 dim=0
#   set h.2 %4
#   %6 = get f32[1] h.2
#   return %6
# }
# >>> plan
# chain: exact, blocks of rows { linear relu softmax argmax }
#   x: f32[2], parameter, rows
#   w: f32[2], parameter
#   b: f32[1], parameter
#   hidden: f32[2]
#   logits: f32[2]
# copies: exact, blocks of rows { sub }
#   x: f32[2], parameter, rows
#   y: f32[2], parameter, rows
#   a: f32[2]
#   b: f32[2]
# retyped: exact { relu mean }
#   x: f32[2], parameter
#   h: f32[2]
#   h: f32[1]
