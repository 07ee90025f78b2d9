"""The arguments of one call of a captured program, taken apart: its tensors, and what a version is chosen by."""

from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from tensorc.capture import WORDS, Chosen, Uncovered

# Types whose values are told apart by their text (0.0 and -0.0 differ, a NaN is itself).
_PLAIN = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    torch.dtype,
    torch.device,
    torch.layout,
    torch.memory_format,
)


class Arguments:
    """`tensors`: the tensors in all of `args` and `kwargs`, in the order of torch's pytree. `key`: equal for calls that
    one version serves, which are those of the same structure, dtypes, sizes and strides, with the same values of all
    that is no tensor. `kind`: the same but for sizes and strides. Uncovered names what no version takes."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.tensors: list[torch.Tensor] = []
        self._parts: list[object] = [torch.get_default_dtype(), torch.is_grad_enabled()]
        self._take(args)
        self._take(kwargs)
        self.key = tuple(self._parts)

    @property
    def kind(self) -> tuple[object, ...]:
        shapes = [at for at, part in enumerate(self._parts) if isinstance(part, torch.Size)]
        left_out = {*shapes, *(at + 1 for at in shapes)}
        return tuple(part for at, part in enumerate(self._parts) if at not in left_out)

    def _take(self, value: Any) -> None:
        kind = type(value)
        if kind is torch.Tensor or kind is torch.nn.Parameter:
            self._take_tensor(value)
        elif kind in _PLAIN:
            self._parts += (kind, repr(value))
        elif kind is tuple or kind is list:
            self._parts += (kind, len(value))
            for part in value:
                self._take(part)
        elif kind is dict:
            self._parts += (kind, len(value), *value, *map(type, value))  # 1, 1.0 and True are equal, as keys too
            for part in value.values():
                self._take(part)
        elif isinstance(value, torch.Tensor):
            raise Chosen(f"an argument is a {kind.__name__}, not a plain tensor")
        else:
            leaves, structure = tree_flatten(value)
            if structure.is_leaf():
                raise Uncovered(f"an argument is a {kind.__module__}.{kind.__qualname__}")
            self._parts.append(structure)
            for part in leaves:
                self._take(part)

    def _take_tensor(self, tensor: torch.Tensor) -> None:
        if tensor.layout is not torch.strided or not tensor.is_cpu or tensor.dtype not in WORDS:
            raise Uncovered(f"an argument has dtype {tensor.dtype}, layout {tensor.layout}, device {tensor.device}")
        self.tensors.append(tensor)
        self._parts += (tensor.dtype, tensor.shape, tensor.stride())
