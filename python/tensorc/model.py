"""tensorc.compile: what a user calls. torch is imported by its first call, not with tensorc."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

_F = TypeVar("_F", bound=Callable[..., Any])


@overload
def compile(  # noqa: A001
    model: _F, args: Sequence[Any] | None = None, kwargs: Mapping[str, Any] | None = None, *, freeze: bool = False
) -> _F: ...


@overload
def compile(*, freeze: bool = False) -> Callable[[_F], _F]: ...


def compile(  # noqa: A001
    model: _F | None = None,
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    freeze: bool = False,
) -> _F | Callable[[_F], _F]:
    """Native code with eager's bits for a torch.nn.Module, or a function over torch's tensors; also as a decorator.

    What it gives is called as the original, and a Module's stand-in has all of its attributes. Each kind of arguments
    (their structure; dtype, sizes and strides of each tensor; the values of all that is no tensor) has a version, made
    at the first such call: torch.export captures the model, a C compiler builds it, and what it gives is held against
    the original's results. There are versions for up to 8 kinds of arguments, of each for up to 32 sizes; they are
    kept in the cache folder for later processes.

    args, kwargs: a call for which a version is made now, without gradients. Values that the code reads from its module
    or from globals are constants of a version, which runs only while the module's attributes and those globals are the
    same objects; new values in the same tensors are seen. What cannot be captured, or is not as a version needs it
    (gradients, modes, subclasses of Tensor), runs the original, which .stats() and one warning tell the reason of.

    freeze: a copy of the Module, as it is now, is compiled: without gradients, and without a look at later changes.

    TypeError for what is no Module and cannot be called, or when `freeze` is asked of a function.
    """
    if model is None:
        return lambda function: compile(function, freeze=freeze)
    import torch

    from tensorc.compiled import compiled

    original: Any = model
    if freeze:
        if not isinstance(original, torch.nn.Module):
            raise TypeError("tensorc.compile: only a Module can be frozen, a function has no weights")
        original = copy.deepcopy(original).requires_grad_(False)
    stand_in = compiled(original, frozen=freeze)
    if args is not None or kwargs is not None:
        with torch.no_grad():
            stand_in(*(args or ()), **(kwargs or {}))
    return stand_in  # type: ignore[no-any-return]
