"""Whether a native call gave what eager gave: kinds, dtypes, sizes, strides, bits, and what shares memory with what."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

_INTEGER = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _unlike(want: torch.Tensor, got: torch.Tensor) -> torch.Tensor:
    """Where bits differ; a NaN is like any other NaN."""
    whole = _INTEGER[want.element_size()]
    unlike = want.contiguous().view(whole) != got.contiguous().view(whole)
    return unlike & ~(want.isnan() & got.isnan()) if want.is_floating_point() else unlike


def _homes(results: Sequence[Any], given: Iterable[torch.Tensor]) -> list[object]:
    """Of each result that is a tensor: which object it is, and where in whose memory it lies. Both as the place of the
    first tensor that does, of `given` and of the results up to it."""
    objects: dict[int, int] = {}
    memory: dict[int, tuple[int, int]] = {}
    homes: list[object] = []
    tensors = [*given, *(result for result in results if isinstance(result, torch.Tensor))]
    for place, tensor in enumerate(tensors):
        offset = int(tensor.storage_offset())
        first, base = memory.setdefault(tensor.untyped_storage().data_ptr() or -place, (place, offset))
        homes.append((objects.setdefault(id(tensor), place), first, offset - base))
    return homes[len(tensors) - sum(isinstance(result, torch.Tensor) for result in results) :]


def difference(
    want: Sequence[Any],
    got: Sequence[Any],
    given: Sequence[torch.Tensor],
    given_native: Sequence[torch.Tensor] | None = None,
) -> str | None:
    """How flat results differ from eager's, in a few words, or None. `given`: what results may share memory with;
    `given_native`: the same for `got`, if that is not the same."""
    if len(want) != len(got):
        return f"{len(got)} results, eager has {len(want)}"
    for place, (a, b) in enumerate(zip(want, got, strict=True)):
        if type(a) is not type(b):
            return f"result {place} is a {type(b).__name__}, eager's a {type(a).__name__}"
        if not isinstance(a, torch.Tensor):
            if repr(a) != repr(b):
                return f"result {place} is {b!r:.60}, eager's {a!r:.60}"
            continue
        for name in ("dtype", "shape", "requires_grad"):
            if getattr(a, name) != getattr(b, name):
                return f"result {place} has {name} {getattr(b, name)}, eager's {getattr(a, name)}"
        if a.stride() != b.stride():
            return f"result {place} has strides {b.stride()}, eager's {a.stride()}"
        with torch.no_grad():
            unlike = _unlike(a, b).reshape(-1).nonzero()
        if len(unlike):
            first = int(unlike[0])
            values = f"{b.reshape(-1)[first].item()!r}, eager's {a.reshape(-1)[first].item()!r}"
            return f"result {place} differs at {len(unlike)} of {a.numel()} elements, first at {first}: {values}"
    if _homes(want, given) != _homes(got, given if given_native is None else given_native):
        return "results share memory with other tensors than eager's"
    return None
