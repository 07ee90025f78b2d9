"""Builders that the `run` blocks of cases may use. Each gives the same values whenever the same expression is evaluated.

A `Choices` stands for many arguments: the call that it is in is made once for each (several Choices in one call are
walked side by side, at two different offsets, so that layouts meet in many pairs).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import torch

SPECIAL = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-40, -1e-40, 1.17549435e-38, 3.4028235e38, -3.4028235e38,
           1.0, -1.0, 0.5, -0.5, 88.7, -88.7, 104.0, -104.0, 9.0, -9.0, 1e-8, 16777216.0, 2.7182817, -3.3e-5]

_generator = torch.Generator()


def seed(text: str) -> None:
    """Called by the runner before an expression is evaluated."""
    _generator.manual_seed(zlib.crc32(text.encode()))


class Choices(list):  # type: ignore[type-arg]
    pass


def rand(*shape: int, scale: float = 2.0) -> torch.Tensor:
    """Normal values, float32."""
    return torch.randn(shape, generator=_generator) * scale


def specials(*shape: int) -> torch.Tensor:
    """Signed zeros, infinities, NaN, denormals, ends of ranges; a different one in each place."""
    n = 1
    for s in shape:
        n *= s
    start = int(torch.randint(0, len(SPECIAL), (1,), generator=_generator)) if n else 0
    return torch.tensor([SPECIAL[(start + i) % len(SPECIAL)] for i in range(n)], dtype=torch.float32).reshape(shape)


def ints(*shape: int, lo: int = -9, hi: int = 9) -> torch.Tensor:
    """int64 values in [lo, hi)."""
    return torch.randint(lo, hi, shape, generator=_generator)


def ties(*shape: int) -> torch.Tensor:
    """Small whole numbers as float32: many equal maxima."""
    return torch.randint(0, 3, shape, generator=_generator).float()


def zeros(*shape: int) -> torch.Tensor:
    return torch.zeros(*shape)


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(*shape)


def full(shape: tuple[int, ...], v: float) -> torch.Tensor:
    return torch.full(shape, v)


def strided(t: torch.Tensor) -> torch.Tensor:
    """The same values with a last stride of 2."""
    return torch.repeat_interleave(t, 2, dim=-1)[..., ::2]


def offset(t: torch.Tensor) -> torch.Tensor:
    """The same values at a storage offset of 1 element, so unaligned."""
    return torch.cat([torch.zeros(1, dtype=t.dtype), t.reshape(-1)])[1:].view(t.shape)


def transposed(t: torch.Tensor) -> torch.Tensor:
    """The same values stored by columns."""
    return t.t().contiguous().t()


def expanded(t: torch.Tensor, *shape: int) -> torch.Tensor:
    return t.expand(*shape)


def parameter(t: torch.Tensor) -> torch.nn.Parameter:
    return torch.nn.Parameter(t, requires_grad=False)


def inference(t: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return t.clone()


def any1(n: int | None = None, make: Callable[..., torch.Tensor] = rand, empty: bool = True) -> Choices:
    """Rank-1 arguments of length n (or of many lengths): sizes, layouts, special values, empty."""
    out: list[torch.Tensor] = []
    for k in ([n] if n is not None else [1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100]):
        out.append(make(k))
    for k in ([n] if n is not None else [9, 33]):
        out += [strided(make(k)), offset(make(k)), expanded(make(1), k), torch.flip(make(k), [0])]
        if make is rand:
            out += [specials(k), strided(specials(k)), parameter(make(k)), inference(make(k))]
    if n is None and empty:
        out.append(make(0))
    return Choices(out)


def any2(rows: int | None = None, cols: int | None = None, make: Callable[..., torch.Tensor] = rand, empty: bool = True) -> Choices:
    """Rank-2 arguments: sizes around the vector widths, layouts, special values, empty where the size is free."""
    sizes = [(r, c) for r in ([rows] if rows is not None else [1, 2, 3, 17])
             for c in ([cols] if cols is not None else [1, 2, 7, 16, 17, 33, 64])]
    out: list[torch.Tensor] = [make(r, c) for r, c in sizes]
    for r, c in sizes[-1:] if rows is not None and cols is not None else [sizes[len(sizes) // 2], sizes[-1]]:
        out += [transposed(make(r, c)), strided(make(r, c)), offset(make(r, c)), expanded(make(1, c), r, c),
                expanded(make(r, 1), r, c), expanded(make(1, 1), r, c), make(c, r).t(), make(2 * r, c)[::2], make(r, c + 3)[:, 2:c + 2]]
        if make is rand:
            out += [specials(r, c), transposed(specials(r, c)), specials(r, c + 1)[:, 1:], parameter(make(r, c)), inference(make(r, c))]
    if empty:
        if rows is None:
            out += [make(0, cols if cols is not None else 4)]
        if cols is None:
            out += [make(rows if rows is not None else 3, 0)]
        if rows is None and cols is None:
            out += [make(0, 0), make(0, 5).t()]
    return Choices(out)


def each(*values: Any) -> Choices:
    """The call once for each of these values."""
    return Choices(values)


NAMES = {f.__name__: f for f in (rand, specials, ints, ties, zeros, ones, full, strided, offset, transposed, expanded, parameter,
                                 inference, any1, any2, each)}
NAMES["nan"] = float("nan")  # type: ignore[assignment]
NAMES["inf"] = float("inf")  # type: ignore[assignment]
