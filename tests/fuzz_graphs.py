"""make fuzz-graphs GRAPHS=5000 SEED=0: that many random programs of tensor operations through tensorc.compile, against eager.

A program is 10 to 60 operations, each on values before it: views of views, broadcasts, reductions, products, gathers, writes in
place, sizes of zero. It is drawn while it runs in eager: what eager refuses is drawn again. Then it is captured, and called on
fresh values of the same types; results have eager's bits, dtypes, strides and sharing. One that differs is cut down: the first
operation whose own value differs is printed with the program up to it. Exits 1 when anything did.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

Step = tuple[str, list[int], tuple[Any, ...]]  # operation, which values it is given, other arguments

SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33)
MOST = 4000  # elements of a value


def _dim(r: random.Random, x: torch.Tensor) -> int:
    return r.randrange(-x.dim(), x.dim()) if x.dim() else 0


def _number(r: random.Random) -> float | int:
    return r.choice([0, 1, 2, 3, -1, 0.5, 2.0, -1.5, 1e-3, 0.0, -0.0, float("inf"), 1e30])


def _split(r: random.Random, n: int) -> list[int]:
    """n as a product of two or three."""
    divisors = [d for d in range(1, n + 1) if n % d == 0] or [1]
    d = r.choice(divisors)
    return [d, n // d] if r.random() < 0.7 else [1, d, n // d]


def _slice(r: random.Random, n: int) -> tuple[int, int, int]:
    start = r.randrange(n + 1)
    return start, r.choice([n, r.randrange(start, n + 1)]), r.choice([1, 1, 1, 2, 3])


Draw = Callable[[random.Random, torch.Tensor], tuple[Any, ...]]
NONE: Draw = lambda r, x: ()  # noqa: E731
# name: (function of tensors and what is drawn, how many tensors, what else it is given, drawn from the first)
ONE: dict[str, tuple[Callable[..., Any], Draw]] = {
    **{f.__name__: (f, NONE) for f in (torch.relu, torch.neg, torch.abs, torch.exp, torch.log, torch.sqrt, torch.rsqrt, torch.tanh, torch.sigmoid, torch.square,
                                       torch.floor, torch.ceil, torch.isnan, torch.reciprocal, torch.logical_not, torch.clone, torch.zeros_like, torch.ones_like,
                                       torch.t, torch.sum, torch.mean, F.silu, F.gelu, torch.detach, torch.flatten, torch.sin, torch.erf, torch.sign, torch.amax)},
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), NONE),
    "leaky_relu": (F.leaky_relu, NONE),
    "clamp": (lambda x, a, b: x.clamp(a, b), lambda r, x: r.choice([(None, 1), (-1, None), (-0.5, 0.5), (0.0, 1e30)])),
    "add_number": (lambda x, k: x + k, lambda r, x: (_number(r),)),
    "rsub_number": (lambda x, k: k - x, lambda r, x: (_number(r),)),
    "mul_number": (lambda x, k: x * k, lambda r, x: (_number(r),)),
    "div_number": (lambda x, k: x / k, lambda r, x: (_number(r),)),
    "rdiv_number": (lambda x, k: k / x, lambda r, x: (_number(r),)),
    "pow_number": (lambda x, k: x**k, lambda r, x: (r.choice([2, 3, 0.5, -1, 2.0]),)),
    "gt_number": (lambda x, k: x > k, lambda r, x: (_number(r),)),
    "le_number": (lambda x, k: x <= k, lambda r, x: (_number(r),)),
    "to": (lambda x, dtype: x.to(dtype), lambda r, x: (r.choice([torch.float32, torch.float32, torch.float64, torch.int64, torch.int32, torch.bool]),)),
    "transpose": (torch.transpose, lambda r, x: (_dim(r, x), _dim(r, x))),
    "permute": (lambda x, dims: x.permute(dims), lambda r, x: (r.sample(range(x.dim()), x.dim()),)),
    "unsqueeze": (torch.unsqueeze, lambda r, x: (r.randrange(-x.dim() - 1, x.dim() + 1),)),
    "squeeze": (torch.squeeze, lambda r, x: r.choice([(), (_dim(r, x),)])),
    "select": (lambda x, d, i: x.select(d, i), lambda r, x: ((d := _dim(r, x)), r.randrange(-x.size(d), x.size(d)))),
    "slice": (lambda x, d, a, b, s: x[(slice(None),) * d + (slice(a, b, s),)], lambda r, x: ((d := r.randrange(x.dim())), *_slice(r, x.size(d)))),
    "narrow": (lambda x, d, a, n: x.narrow(d, a, n), lambda r, x: ((d := r.randrange(x.dim())), (a := r.randrange(x.size(d))), r.randrange(x.size(d) - a + 1))),
    "reshape": (lambda x, sizes: x.reshape(sizes), lambda r, x: (_split(r, x.numel()),)),
    "view": (lambda x, sizes: x.view(sizes), lambda r, x: (_split(r, x.numel()),)),
    "unflatten": (lambda x, sizes: x.unflatten(-1, sizes), lambda r, x: (_split(r, x.size(-1)),)),
    "expand": (lambda x, sizes: x.expand(sizes), lambda r, x: ([r.choice([2, 3]), *(r.choice([n, -1]) if n != 1 else r.choice([1, 3]) for n in x.shape)],)),
    "contiguous": (lambda x: x.contiguous(), NONE),
    "chunk": (lambda x, n, d, i: x.chunk(n, d)[i], lambda r, x: (2, _dim(r, x), 0)),
    "unbind": (lambda x, d, i: x.unbind(d)[i], lambda r, x: ((d := _dim(r, x)), r.randrange(x.size(d)))),
    "flip": (lambda x, d: x.flip(d), lambda r, x: (_dim(r, x),)),
    "pad": (lambda x, p, k: F.pad(x, p, value=k), lambda r, x: ([r.choice([0, 1, 2, -1]) for _ in range(2 * r.randrange(1, x.dim() + 1))], _number(r))),
    "sum_dim": (lambda x, d, keep: x.sum(d, keepdim=keep), lambda r, x: (_dim(r, x), r.random() < 0.5)),
    "sum_dims": (lambda x, d: x.sum(d), lambda r, x: (r.sample(range(x.dim()), r.randrange(1, x.dim() + 1)),)),
    "mean_dim": (lambda x, d, keep: x.mean(d, keepdim=keep), lambda r, x: (_dim(r, x), r.random() < 0.5)),
    "amax_dim": (lambda x, d, keep: x.amax(d, keepdim=keep), lambda r, x: (_dim(r, x), r.random() < 0.5)),
    "max_dim": (lambda x, d: x.max(d)[0], lambda r, x: (_dim(r, x),)),
    "min_dim_indices": (lambda x, d: x.min(d)[1], lambda r, x: (_dim(r, x),)),
    "argmax": (lambda x, d, keep: x.argmax(d, keepdim=keep), lambda r, x: (_dim(r, x), r.random() < 0.5)),
    "topk": (lambda x, k: x.topk(k)[0], lambda r, x: (r.randrange(1, x.size(-1) + 1),)),
    "prod_dim": (lambda x, d: x.prod(d), lambda r, x: (_dim(r, x),)),
    "norm": (lambda x, d: torch.linalg.vector_norm(x, dim=d), lambda r, x: (_dim(r, x),)),
    "var": (lambda x, d: x.var(d), lambda r, x: (_dim(r, x),)),
    "softmax": (lambda x, d: x.softmax(d), lambda r, x: (_dim(r, x),)),
    "log_softmax": (lambda x, d: x.log_softmax(d), lambda r, x: (_dim(r, x),)),
    "cumsum": (lambda x, d: x.cumsum(d), lambda r, x: (_dim(r, x),)),
    "layer_norm": (lambda x: F.layer_norm(x, x.shape[-1:]), NONE),
    "rms_norm": (lambda x: F.rms_norm(x, x.shape[-1:]), NONE),
    "avg_pool1d": (lambda x, k: F.avg_pool1d(x, k), lambda r, x: (r.choice([1, 2, 3]),)),
    "max_pool1d": (lambda x, k: F.max_pool1d(x, k), lambda r, x: (r.choice([1, 2, 3]),)),
    "index_list": (lambda x, i: x[i], lambda r, x: ([r.randrange(-x.size(0), x.size(0)) for _ in range(r.randrange(1, 5))],)),
    # writes to a value of the program's own
    "relu_": (lambda x: x.clone().relu_(), NONE),
    "add_": (lambda x, k: x.clone().add_(k), lambda r, x: (_number(r),)),
    "write_slice": (lambda x, k: _write(x, k), lambda r, x: (r.choice([0, 1, 2]),)),
}
TWO: dict[str, tuple[Callable[..., Any], Draw]] = {
    **{f.__name__: (f, NONE) for f in (torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.minimum, torch.pow, torch.eq, torch.lt, torch.ge,
                                       torch.logical_and, torch.matmul, torch.atan2)},
    "add_alpha": (lambda x, y, k: torch.add(x, y, alpha=k), lambda r, x: (r.choice([2, 3, -1]),)),
    "where": (lambda x, y: torch.where(x > 0, x, y), NONE),
    "masked_fill": (lambda x, y, k: x.masked_fill(y.bool(), k), lambda r, x: (_number(r),)),
    "cat": (lambda x, y, d: torch.cat([x, y, x], d), lambda r, x: (_dim(r, x),)),
    "stack": (lambda x, y, d: torch.stack([x, y], d), lambda r, x: (_dim(r, x),)),
    "matmul_t": (lambda x, y: x @ y.transpose(-1, -2), NONE),
    "matmul_turned": (lambda x, y: x.transpose(-1, -2) @ y, NONE),
    "bmm": (lambda x, y: torch.bmm(x, y), NONE),
    "linear": (lambda x, y: F.linear(x, y), NONE),
    "linear_bias": (lambda x, y: F.linear(x, y, y[:, 0]), NONE),
    "embedding": (lambda x, y: F.embedding(x.abs().long() % max(y.size(0), 1), y), NONE),
    "gather": (lambda x, y, d: x.gather(d, y.abs().long() % max(x.size(d), 1)), lambda r, x: (_dim(r, x),)),
    "index_select": (lambda x, y, d: x.index_select(d, y.reshape(-1).abs().long() % max(x.size(d), 1)), lambda r, x: (_dim(r, x),)),
    "index": (lambda x, y: x[y.reshape(-1).abs().long() % max(x.size(0), 1)], NONE),
    "expand_as": (lambda x, y: x.expand_as(y), NONE),
    "conv1d": (lambda x, y: F.conv1d(x, y), NONE),
    "mul_": (lambda x, y: x.clone().mul_(y), NONE),
    "einsum": (lambda x, y: torch.einsum("...i,ji->...j", x, y), NONE),
}


def _write(x: torch.Tensor, k: int) -> torch.Tensor:
    y = x.clone()
    y[..., k:] = 1
    return y


OPERATIONS = {**{name: (f, 1, draw) for name, (f, draw) in ONE.items()}, **{name: (f, 2, draw) for name, (f, draw) in TWO.items()}}


def values(r: random.Random, sizes: list[int], dtype: torch.dtype, seed: int) -> torch.Tensor:
    g = torch.Generator().manual_seed(seed)
    if dtype is torch.bool:
        return torch.randint(0, 2, sizes, generator=g).bool()
    if not dtype.is_floating_point:
        return torch.randint(-9, 10, sizes, generator=g).to(dtype)
    x = torch.randn(sizes, generator=g, dtype=dtype) * r.choice([1, 1, 1, 30])
    if r.random() < 0.3 and x.numel():
        flat = x.reshape(-1)
        for special in (0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-42, 3e38):
            flat[r.randrange(x.numel())] = special
    return x


def arguments(r: random.Random, seed: int) -> list[torch.Tensor]:
    """Sizes and layouts by r, values by r and the seed."""
    common = [r.choice(SIZES) for _ in range(3)]
    out = []
    for n in range(r.randrange(1, 4)):
        sizes = [r.choice([k, k, r.choice(SIZES), 1]) for k in common[: r.randrange(4)]]
        dtype = r.choice([torch.float32] * 8 + [torch.float64, torch.int64, torch.int32, torch.bool])
        layout = r.randrange(5)
        if layout == 1 and len(sizes) >= 2:
            x = values(r, [*sizes[:-2], sizes[-1], sizes[-2]], dtype, seed + n).transpose(-1, -2)
        elif layout == 2 and sizes:
            x = values(r, [*sizes[:-1], 2 * sizes[-1]], dtype, seed + n)[..., ::2]
        elif layout == 3 and sizes:
            x = values(r, [*sizes[:-1], sizes[-1] + 1], dtype, seed + n)[..., 1:]
        else:
            x = values(r, sizes, dtype, seed + n)
        out.append(x)
    return out


class Program:
    """Random operations, as a function of its inputs that returns some values, or all."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.steps: list[Step] = []
        r = random.Random(number)
        self.inputs = self.fresh(0)
        found = list(self.inputs)
        length = r.randrange(10, 61)
        for _ in range(12 * length):
            if len(self.steps) == length:
                break
            name = r.choice(list(OPERATIONS))
            function, n, draw = OPERATIONS[name]
            which = [r.choice([r.randrange(len(found)), max(0, len(found) - 1 - r.randrange(4))]) for _ in range(n)]
            try:
                rest = draw(r, found[which[0]])
                result = function(*(found[i] for i in which), *rest)
            except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
                continue
            if result.numel() <= MOST and result.dim() <= 6 and not result.is_complex():
                self.steps.append((name, which, rest))
                found.append(result)
        used = {i for _, which, _ in self.steps for i in which}
        last = range(len(self.inputs), len(found))
        self.returned = [i for i in last if i not in used or r.random() < 0.1] or [len(found) - 1]

    def fresh(self, seed: int) -> list[torch.Tensor]:
        return arguments(random.Random(f"arguments {self.number}"), self.number * 1000 + seed * 10)

    def __call__(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = list(inputs)
        for name, which, rest in self.steps:
            found.append(OPERATIONS[name][0](*(found[i] for i in which), *rest))
        return tuple(found[i] for i in self.returned)

    def text(self, most: int | None = None) -> Iterator[str]:
        n = len(self.inputs)
        for i, x in enumerate(self.inputs):
            yield f"v{i} = {str(x.dtype)}{list(x.shape)} strides {x.stride()}"
        for k, (name, which, rest) in enumerate(self.steps[:most]):
            yield f"v{n + k} = {name}({', '.join([*(f'v{i}' for i in which), *map(repr, rest)])})"


def wrong(program: Program, counts: Counter[str]) -> str | None:
    """How the compiled program differs from eager, or None."""
    import tensorc
    from tensorc.same import difference

    fast = tensorc.compile(lambda *inputs: program(*inputs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(3):
            given = program.fresh(seed)
            want, got = program(*given), fast(*given)
            unlike = difference(want, got, given)
            if unlike:
                return f"call {seed}: {unlike}"
    why = fast.stats()["python"]
    if why:
        counts["python: " + max(why, key=len)[:90]] += 1
        return "what was captured differs" if any("differs from eager" in reason or "fails" in reason for reason in why) else None
    counts["native"] += 1
    for operations in fast.report().values():
        counts.update(row.way for row in operations)
    return None


def cut_down(program: Program) -> str:
    """The first operation whose own value differs when it is returned."""
    whole, returned = program.steps, program.returned
    n = len(program.inputs)
    for k in range(1, len(whole) + 1):
        program.steps, program.returned = whole[:k], [n + k - 1]
        if found := wrong(program, Counter()):
            return "\n".join([*program.text(), f"  -> {found}"])
    program.steps, program.returned = whole, returned
    return "\n".join([*program.text(), f"  returned {returned}: only together"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    bad = 0
    for number in range(options.seed, options.seed + options.graphs):
        program = Program(number)
        counts["operations"] += len(program.steps)
        if found := wrong(program, counts):
            bad += 1
            print(f"graph {number} DIFFERS: {found}\n{cut_down(program)}\n", flush=True)
    for what, n in counts.most_common():
        print(f"{n:8} {what}")
    print(f"{options.graphs} graphs from {options.seed}: {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
