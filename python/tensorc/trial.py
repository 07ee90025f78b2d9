"""The first call of its kind: the original runs, and what it did beside giving a result decides what may be native.

Native code has no effects, so a call that has any gets no version. And where the code runs once more to be captured, it
leaves nothing of it behind.
"""

import pickle
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import torch

from tensorc.arguments import Arguments
from tensorc.capture import Chosen, Program, Uncovered, capture, first_line
from tensorc.digest import Undigestible
from tensorc.held import Held
from tensorc.problem import Problem
from tensorc.warm import Memory
from tensorc.watch import Outside

CHANGES = "a call changes attributes of the model, or lists and dictionaries that it reads"
CHANGES_ARGUMENTS = "a call changes lists, dictionaries or objects among its arguments"
_WRITES = "a call writes to an argument, parameter or buffer, or draws random numbers"


@contextmanager
def contained() -> Iterator[None]:
    """Whatever fails within, and is not the user's interrupt, is a reason to run the original, and nobody's error."""
    try:
        yield
    except (Uncovered, KeyboardInterrupt):
        raise
    except Problem as problem:
        raise Uncovered(str(problem)) from None
    except BaseException as error:
        raise Uncovered(f"{type(error).__name__}: {first_line(error)}") from error


def check_state() -> None:
    """Uncovered in states in which nothing may be captured. (Native code looks for itself, at each call.)"""
    if torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None:
        raise Chosen("tracing")
    if torch._C._functorch.peek_interpreter_stack() is not None:
        raise Chosen("functorch transform")
    if torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack():
        raise Chosen("function or dispatch mode")
    if torch.is_autocast_enabled("cpu"):
        raise Chosen("autocast")


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


def _effects(tensors: Iterable[torch.Tensor]) -> object:
    """Equal before and after a call that draws no random numbers and writes to none of the tensors."""
    return [_looks(tensor) for tensor in tensors], [state for _, state in _random_states()]


@contextmanager
def _nothing_drawn() -> Iterator[None]:
    """Whatever is traced within, the generators are as they were."""
    before = _random_states()
    try:
        yield
    finally:
        for (put, then), (_, now) in zip(before, _random_states(), strict=False):
            if then != now:
                put(pickle.loads(then))


class Trial:
    """A call that may become a version: what there was before the original ran."""

    def __init__(
        self,
        function: Callable[..., Any],
        given: Arguments,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        behind: Callable[[Any], Any],
    ) -> None:
        """`behind`: what stands behind a stand-in of ours."""
        self.function = function
        self.given = given
        self.args = args
        self.kwargs = kwargs
        self.outside = outside = Outside(function)
        self.watch = outside.watch()
        self._memory: Memory | None = None
        self._remembered: Program | str | None = None
        with suppress(Undigestible):
            self._memory = Memory(function, given.key, behind)
            self._remembered = self._memory.program()
        self._arguments = Held((args, kwargs))
        self._reached = Held(outside.reached())
        self._tensors = [*given.tensors, *outside.tensors()]
        self._effects = _effects(self._tensors)

    def changes(self) -> str | None:
        """What the original's call has changed, if anything."""
        if not self.watch.holds() or self._reached.changed():
            return CHANGES
        if self._arguments.changed():
            return CHANGES_ARGUMENTS
        return _WRITES if self._effects != _effects(self._tensors) else None

    def run(self) -> Any:
        """The original's result."""
        with nullcontext() if self._memory is None or self._remembered else self._memory.listening():
            return self.function(*self.args, **self.kwargs)

    def programs(self) -> Iterator[Program]:
        """What may be native: what an earlier process captured; then, if that will not do, what is captured now."""
        if isinstance(self._remembered, Program):
            yield self._remembered
        elif self._remembered is not None:
            raise Uncovered(self._remembered)
        memory = self._memory if self._remembered is None else None  # an entry that was wrong is none to replace
        try:
            program = self._capture()
        except Uncovered as why:
            if memory is not None and not isinstance(why.__cause__, (MemoryError, OSError)):
                memory.keep(str(why))
            raise
        if memory is not None:
            memory.keep(program)
        yield program

    def _capture(self) -> Program:
        """The code runs once more, and leaves nothing of it behind. Nothing wants gradients where native code runs:
        torch.no_grad() in the code is none that a graph has to have. Nor can anything be traced in inference mode."""
        try:
            with _nothing_drawn(), torch.inference_mode(False), torch.no_grad():
                return capture(self.function, self.outside.modules, self.args, self.kwargs)
        finally:
            self._reached.put_back()
            self._arguments.put_back()
