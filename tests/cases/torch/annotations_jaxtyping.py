# lane: torch
import jaxtyping
import torch
from jaxtyping import Float, Float32, Int64
from jaxtyping import Float as Fl
from torch import Tensor


def float_tensor(x: Float[Tensor, "b d"], w: Float[Tensor, "h d"], c: Float[Tensor, "h"]) -> Float[Tensor, "b h"]:
    return torch.nn.functional.linear(x, w, c)


def float32_tensor(x: Float32[torch.Tensor, "b 32"]) -> Int64[Tensor, "b"]:
    return x.argmax(dim=1)


def dotted(x: jaxtyping.Float32[torch.Tensor, "b d"]) -> jaxtyping.Float32[torch.Tensor, "b"]:
    return x.mean(dim=1)


def aliased(x: Fl[Tensor, "n"]) -> Fl[Tensor, "n"]:
    return x.relu()


def fixed_sizes(x: Float32[Tensor, "3 4"], y: Float32[Tensor, "4"]) -> Float32[Tensor, "3 4"]:
    return x + y


def quoted(x: "Float[Tensor, 'b d']") -> "Float[Tensor, 'b d']":
    return x.tanh()


def any_rank(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    return x.tanh()


def star_rank(x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
    return x.tanh()


def broadcast_mark(x: Float32[Tensor, "#b d"]) -> Float32[Tensor, "#b d"]:
    return x.tanh()


def scalar(x: Float32[Tensor, ""]) -> Float32[Tensor, ""]:
    return x.tanh()


def half_type(x: jaxtyping.Float16[Tensor, "b d"]) -> jaxtyping.Float16[Tensor, "b d"]:
    return x.tanh()

# >>> check
# float_tensor native rextio-torch/functional-linear-f32-cpu-2d
# float32_tensor native rextio-torch/argmax-static-dim-i64-cpu-rank1
# dotted native rextio-torch/mean-static-dim-f32-cpu-rank1-2
# aliased native rextio-torch/tensor-relu-f32-cpu-1d
# fixed_sizes native rextio-torch/tensor-add-f32-cpu-2d-1d-broadcast
# quoted native rextio-torch/tensor-tanh-f32-cpu-2d
# any_rank not-candidate RXT002 @ 33:16-33:36, RXT003 @ 33:41-33:61
# star_rank not-candidate RXT002 @ 37:17-37:38, RXT003 @ 37:43-37:64
# broadcast_mark native rextio-torch/tensor-tanh-f32-cpu-2d
# scalar not-candidate RXT002 @ 45:14-45:33, RXT003 @ 45:38-45:57
# half_type not-candidate RXT002 @ 49:17-49:49, RXT003 @ 49:54-49:86
# >>> run
# float_tensor(any2(3, 4), any2(5, 4), any1(5)); float32_tensor(any2(None, 32)); dotted(any2()); aliased(any1())
# fixed_sizes(any2(3, 4), any1(4)); quoted(any2()); any_rank(rand(2, 3, 4)); star_rank(rand(2, 3)); broadcast_mark(any2())
# scalar(rand()); half_type(rand(2, 3).half())
