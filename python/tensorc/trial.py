"""The first call of its kind: the original runs, and what it did beside giving a result decides what may be native.

Native code may write to tensors and draw random numbers as the original does; a call that changes anything else gets no
version. And where the code runs once more to be captured, it leaves nothing of it behind.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import torch

from tensorc.arguments import Arguments
from tensorc.capture import Chosen, Program, Uncovered, capture, first_line
from tensorc.effects import Before, nothing_drawn
from tensorc.held import Held
from tensorc.problem import Problem
from tensorc.warm import Memory
from tensorc.watch import Outside

CHANGES = "a call changes attributes of the model, or lists and dictionaries that it reads"
CHANGES_ARGUMENTS = "a call changes lists, dictionaries or objects among its arguments"


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
        with suppress(Exception):  # Undigestible, most often; whatever it is, the capture runs as if nothing were known
            self._memory = Memory(function, given.key, behind)
            self._remembered = self._memory.program()
        self._arguments = Held((args, kwargs))
        self._reached = Held(outside.reached())
        self.before = Before([*given.tensors, *outside.tensors()])

    def changes(self) -> str | None:
        """What the original's call has changed, if anything."""
        if not self.watch.holds() or self._reached.changed():
            return CHANGES
        if self._arguments.changed():
            return CHANGES_ARGUMENTS
        return self.before.changes()

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
            with nothing_drawn(), torch.inference_mode(False), torch.no_grad():
                return capture(self.function, self.outside.modules, self.args, self.kwargs)
        finally:
            self._reached.put_back()
            self._arguments.put_back()
