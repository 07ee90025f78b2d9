# lane: torch
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def nested(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.relu(F.linear(x, w, b))


def methods(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.relu().sigmoid().softmax(dim=1).argmax(dim=1)


def receiver_is_an_expression(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return (a @ b).relu()


def sum_of_products(a: TensorF32Cpu2D, b: TensorF32Cpu2D, c: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return a * b + a / c - torch.exp(b) * c


def reuse(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    h = x.tanh()
    return h * h + h


def centered(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x - x.mean(dim=1, keepdim=True)


def normalized(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    mean = x.mean(dim=0)
    centered = x - mean
    spread = torch.sqrt(torch.square(centered).mean(dim=0))
    return centered / spread


def attention(q: TensorF32Cpu2D, k: TensorF32Cpu2D, v: TensorF32Cpu2D) -> TensorF32Cpu2D:
    scores = F.linear(q, k)
    return scores.softmax(dim=1) @ v


def vector_scores(x: TensorF32Cpu2D, w: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return (x @ w).sigmoid()


def row_times_matrix(v: TensorF32Cpu1D, w: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.tanh(v @ w) + torch.abs(v @ w)


def unused(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x.exp()
    y = x.log()
    return x.relu()


def fails_late(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    h = x.exp()
    unused = x @ w
    return h


def score(
    x: TensorF32Cpu2D,
    mean: TensorF32Cpu1D,
    scale: TensorF32Cpu1D,
    hidden_w: TensorF32Cpu2D,
    hidden_b: TensorF32Cpu1D,
    class_w: TensorF32Cpu2D,
    class_b: TensorF32Cpu1D,
    rounds: int,
    phase: int,
) -> TensorI64Cpu1D:
    """Normalize, one hidden layer, alternating activations, classes."""
    centered = x - mean
    hidden = F.linear(centered / scale, hidden_w, hidden_b)
    for i in range(rounds):
        if (i + phase) % 2 == 0:
            hidden = hidden.relu()
        else:
            hidden = hidden.tanh()
    logits = F.linear(hidden, class_w, class_b)
    return logits.softmax(dim=1).argmax(dim=1, keepdim=False)


def mlp(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D, depth: int, phase: int) -> TensorF32Cpu1D:
    hidden = x
    for i in range(depth):
        if (i + phase) % 2 == 0:
            even = hidden @ w + b
            hidden = even.relu()
        else:
            odd = hidden @ w + b
            hidden = odd.sigmoid()
    return hidden.mean(dim=1, keepdim=False)

# >>> check
# nested native rextio-torch/functional-linear-f32-cpu-2d rextio-torch/functional-relu-f32-cpu-rank1-2
# methods native rextio-torch/argmax-static-dim-i64-cpu-rank1 rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-sigmoid-f32-cpu-2d rextio-torch/tensor-softmax-dim1-f32-cpu-2d
# receiver_is_an_expression native rextio-torch/tensor-matmul-f32-cpu-2d rextio-torch/tensor-relu-f32-cpu-2d
# sum_of_products native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-div-f32-cpu-2d-1d-broadcast rextio-torch/tensor-mul-f32-cpu-2d-1d-broadcast rextio-torch/tensor-mul-f32-cpu-same-rank rextio-torch/tensor-sub-f32-cpu-same-rank rextio-torch/unary-exp-f32-cpu-rank1-2
# reuse native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-mul-f32-cpu-same-rank rextio-torch/tensor-tanh-f32-cpu-2d
# centered native rextio-torch/mean-static-dim-f32-cpu-rank1-2 rextio-torch/tensor-sub-f32-cpu-same-rank
# normalized native rextio-torch/mean-static-dim-f32-cpu-rank1-2 rextio-torch/tensor-div-f32-cpu-2d-1d-broadcast rextio-torch/tensor-sub-f32-cpu-2d-1d-broadcast rextio-torch/unary-sqrt-f32-cpu-rank1-2 rextio-torch/unary-square-f32-cpu-rank1-2
# attention native rextio-torch/functional-linear-none-f32-cpu-2d rextio-torch/tensor-matmul-f32-cpu-2d rextio-torch/tensor-softmax-dim1-f32-cpu-2d
# vector_scores native rextio-torch/tensor-matmul-f32-cpu-mixed-rank rextio-torch/tensor-sigmoid-f32-cpu-1d
# row_times_matrix native rextio-torch/function-tanh-f32-cpu-rank1-2 rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-matmul-f32-cpu-mixed-rank rextio-torch/unary-abs-f32-cpu-rank1-2
# unused native rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/unary-exp-f32-cpu-rank1-2 rextio-torch/unary-log-f32-cpu-rank1-2
# fails_late native rextio-torch/tensor-matmul-f32-cpu-2d rextio-torch/unary-exp-f32-cpu-rank1-2
# score native rextio-torch/functional-linear-f32-cpu-2d rextio-torch/tensor-argmax-dim1-keepfalse-i64-cpu-1d rextio-torch/tensor-div-f32-cpu-2d-1d-broadcast rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-softmax-dim1-f32-cpu-2d rextio-torch/tensor-sub-f32-cpu-2d-1d-broadcast rextio-torch/tensor-tanh-f32-cpu-2d
# mlp native rextio-torch/tensor-add-f32-cpu-2d-1d-broadcast rextio-torch/tensor-matmul-f32-cpu-2d rextio-torch/tensor-mean-dim1-f32-cpu-2d rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-sigmoid-f32-cpu-2d
# >>> run
# nested(any2(3, 4), any2(5, 4), any1(5)); methods(any2()); receiver_is_an_expression(any2(3, 4), any2(4, 5))
# sum_of_products(any2(3, 4), any2(3, 4), any1(4)); reuse(any2()); centered(any2()); normalized(any2())
# attention(any2(3, 4), any2(5, 4), any2(5, 6)); vector_scores(any2(3, 4), any1(4)); row_times_matrix(any1(4), any2(4, 5))
# unused(any2()); fails_late(rand(3, 4), rand(4, 5)); fails_late(rand(3, 4), rand(3, 4))
# score(any2(None, 32), rand(32), rand(32), rand(32, 32), rand(32), rand(8, 32), rand(8), each(4, 3, 1, 0, -2), 0)
# score(any2(5, 32), rand(32), rand(32), rand(32, 32), rand(32), rand(8, 32), rand(8), 4, each(0, 1, -1))
# score(rand(3, 31), rand(32), rand(32), rand(32, 32), rand(32), rand(8, 32), rand(8), 4, 0)
# mlp(any2(None, 96), rand(96, 96, scale=0.1), rand(96), 12, 1); mlp(rand(5, 7), rand(7, 7), rand(7), each(0, 1, 5), each(0, 1))
# mlp(rand(5, 7), rand(7, 6), rand(6), 3, 0)
