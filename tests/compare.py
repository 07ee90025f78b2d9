"""When are two results of a function the same? Bits (a NaN equals a NaN), dtype, shape, strides and kind of value."""

from __future__ import annotations

import struct
from typing import Any

import torch


def _bits(t: torch.Tensor) -> bytes:
    t = t.detach()
    if t.is_neg():
        t = t.resolve_neg()
    if t.layout is not torch.strided:
        t = t.to_dense()
    if t.is_floating_point():
        t = torch.where(t.isnan(), torch.full_like(t, float("nan")), t)
    return t.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if t.numel() else b""


def value(r: Any) -> Any:
    """A comparable, printable picture of a result."""
    if isinstance(r, torch.Tensor):
        strides = tuple(r.stride()) if r.layout is torch.strided else str(r.layout)
        return ("tensor", type(r).__name__, str(r.dtype), tuple(r.shape), strides, _bits(r))
    if type(r).__name__ == "EagerTensor":  # TensorFlow's, without importing it
        return ("tensor", r.device, *value(torch.from_numpy(r.numpy().copy()))[2:])
    if isinstance(r, (tuple, list)):
        return (type(r).__name__, tuple(map(value, r)))
    if isinstance(r, float):
        return ("float", "nan" if r != r else struct.pack("<d", r).hex())
    return (type(r).__name__, repr(r))


def contents(r: Any) -> Any:
    """What an argument holds: as value(), but for tensors only what a caller could see change."""
    return value(r)


def difference(want: Any, got: Any) -> str | None:
    """One line that says how two pictures differ, or None."""
    if want == got:
        return None
    if want[0] == got[0] == "tensor":
        for name, a, b in zip(("class", "dtype", "shape", "strides"), want[1:5], got[1:5]):
            if a != b:
                return f"{name} {b}, eager has {a}"
        size = 8 if "64" in want[2] else 4
        a, b = want[5], got[5]
        wrong = [i for i in range(len(a) // size) if a[i * size:(i + 1) * size] != b[i * size:(i + 1) * size]]
        code = {"torch.float32": "<f", "torch.int64": "<q", "torch.float64": "<d"}.get(want[2])
        if code and wrong:
            i = wrong[0]
            one = struct.unpack(code, b[i * size:(i + 1) * size])[0]
            two = struct.unpack(code, a[i * size:(i + 1) * size])[0]
            return f"{len(wrong)} of {len(a) // size} elements; first at flat index {i}: {one!r}, eager has {two!r}"
    return f"{got!r:.200}, eager has {want!r:.200}"
