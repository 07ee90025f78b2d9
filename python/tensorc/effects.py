"""What a call does to tensors and to generators of random numbers, beside giving a result; and how to try one without.

A native call has the effects that the original's has, once. So before native code may take the original's place it is
rehearsed: on copies of the tensors as they were before the original's call, from the same random numbers.
"""

import pickle
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

WRITES = "a call writes to an argument, parameter or buffer, or draws random numbers"
CHANGES_TENSORS = "a call changes an argument, parameter or buffer otherwise than in its values"
_MOST_BYTES = 1 << 30  # of the memory that is copied for a rehearsal


def _looks(tensor: torch.Tensor) -> tuple[object, ...]:
    """What a call may change of a tensor, but for the values of one that was made in inference mode."""
    version = None if tensor.is_inference() else tensor._version
    own = [(name, id(value)) for name, value in vars(tensor).items()]
    storage = tensor.untyped_storage().data_ptr(), tensor.storage_offset(), tensor.shape, tensor.stride()
    return version, tensor.requires_grad, id(tensor.grad) if tensor.is_leaf else None, storage, own


def _random_states() -> list[tuple[Callable[[Any], object], bytes]]:
    """Of each generator that a process has by itself: what sets its state, and its state, pickled."""
    found: list[tuple[Callable[[Any], object], Any]] = [
        (lambda state: torch.set_rng_state(torch.tensor(state, dtype=torch.uint8)), torch.get_rng_state().tolist()),
        (random.setstate, random.getstate()),
    ]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        found.append((numpy.random.set_state, numpy.random.get_state(legacy=False)))
    return [(put, pickle.dumps(state)) for put, state in found]


def random_states() -> list[bytes]:
    """Of each generator that a process has by itself."""
    return [state for _, state in _random_states()]


@contextmanager
def nothing_drawn() -> Iterator[None]:
    """Whatever runs within, the generators are as they were."""
    before = _random_states()
    try:
        yield
    finally:
        _put(before)


def _put(states: list[tuple[Callable[[Any], object], bytes]]) -> None:
    for (put, then), (_, now) in zip(states, _random_states(), strict=False):
        if then != now:
            put(pickle.loads(then))


class Copies:
    """Of tensors, with their values of now; what shares memory has copies that share memory."""

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        self._memory: dict[int, torch.UntypedStorage] = {}
        for tensor in tensors:
            self._copy(tensor)

    def _copy(self, tensor: torch.Tensor) -> torch.UntypedStorage:
        own = tensor.untyped_storage()
        if own.data_ptr() not in self._memory:
            self._memory[own.data_ptr()] = own.clone()  # type: ignore[no-untyped-call]
        return self._memory[own.data_ptr()]

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """The copy; made now of memory that none of the tensors was in."""
        with torch.no_grad():
            copy = torch.empty(0, dtype=tensor.dtype)
            return copy.set_(self._copy(tensor), tensor.storage_offset(), tensor.shape, tensor.stride())


class Before:
    """What there was before a call: of these tensors, and of the generators."""

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        self._tensors = list(tensors)
        self._looked = [_looks(tensor) for tensor in self._tensors]
        self._states = _random_states()
        plain = [tensor for tensor in self._tensors if tensor.layout is torch.strided and tensor.device.type == "cpu"]
        memory = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in plain}
        self._copies = Copies(plain) if sum(memory.values()) <= _MOST_BYTES else None

    def changes(self) -> str | None:
        """What a call has changed since, if it can be told: not of a tensor that was made in inference mode."""
        now = [_looks(tensor) for tensor in self._tensors]
        if [looks[1:] for looks in now] != [looks[1:] for looks in self._looked]:
            return CHANGES_TENSORS
        return WRITES if now != self._looked or random_states() != [state for _, state in self._states] else None

    @contextmanager
    def again(self) -> Iterator[Copies | None]:
        """Within, random numbers are those of before; behind, those of now. Copies of the tensors as they were, if
        there is room for them."""
        with nothing_drawn():
            _put(self._states)
            yield self._copies
