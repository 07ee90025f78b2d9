"""What `tensorc build model.pt2` puts into a wheel: the part below the line is written beside the extension and the
program, with constants of its own above it. It needs torch, and nothing of ours.
"""

from typing import Any

import torch

EXTENSION = ""  # the extension module's name
WEIGHTS = ""  # file name: the program's tensors, by their names
PROGRAM = ""  # file name: the program, with small tensors in the place of these; it runs whatever is not native
IN_SPEC, OUT_SPEC = "", ""  # the structure of arguments and results
CONSTANTS: tuple[str, ...] = ()  # the program's names of the tensors that the extension takes
CALLS: tuple[tuple[str, tuple[Any, ...]], ...] = ()  # torch's operations that it calls, with their constant arguments
HAS_EFFECTS = False  # it writes to tensors or draws random numbers: a call that began is not made again
LEAVES: tuple[Any, ...] = ()  # per flat argument: ... for a tensor, else the only value that native code takes

# ── what is written into a wheel ─────────────────────────────────────────────────────────────────────────────────────
# ruff: noqa: E402
import importlib
import os
import warnings
from collections.abc import Callable
from functools import cache

from torch.utils._pytree import tree_flatten, tree_unflatten, treespec_loads

_MODE = (os.environ.get("TENSORC_MODE") or "auto").strip().lower()


_HERE = os.path.dirname(os.path.abspath(__file__))
_in_spec, _out_spec = treespec_loads(IN_SPEC), treespec_loads(OUT_SPEC)
_keys = _in_spec.child(1).context  # of the arguments by name, in the program's order
_tensors: dict[str, torch.Tensor] = torch.load(os.path.join(_HERE, WEIGHTS), weights_only=True)
for _tensor in _tensors.values():
    _tensor.requires_grad_(False)
_is_simple = all(leaf is ... for leaf in LEAVES) and _in_spec == tree_flatten((tuple(LEAVES), {}))[1]


@cache
def _original() -> Any:
    """The program, which takes torch a while to read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.load(os.path.join(_HERE, PROGRAM))
    for own in (program.state_dict, program.constants):
        own.update((name, _tensors[name]) for name in own)
    return program.module()


def _operation(name: str) -> Any:
    first, _, rest = name.partition(".")
    found: Any = importlib.import_module(first) if first in ("math", "operator", "torch") else getattr(torch.ops, first)
    for part in rest.split("."):
        found = getattr(found, part)
    return getattr(found, "_op", found)


def _native() -> tuple[Callable[..., Any] | None, type[Exception]]:
    """The native code, and what it raises before anything has happened where it was not made for a call."""
    try:
        extension = importlib.import_module(f"{__name__}.{EXTENSION}")
        calls = tuple((_operation(name), given) for name, given in CALLS)
        return extension.load(tuple(_tensors[name] for name in CONSTANTS), calls), extension.Unfit
    except (ImportError, RuntimeError) as error:
        if _MODE == "native":
            raise
        warnings.warn(f"{__name__} runs by torch: {error}", RuntimeWarning, stacklevel=3)
        return None, Exception


_run, Unfit = _native() if _MODE != "fallback" else (None, Exception)


def _tensors_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Of a call; Unfit when it is of another kind."""
    if kwargs.keys() == set(_keys):
        kwargs = {key: kwargs[key] for key in _keys}
    leaves, spec = tree_flatten((args, kwargs))
    if spec != _in_spec:
        raise Unfit("the arguments have another structure")
    for leaf, wanted in zip(leaves, LEAVES, strict=True):
        if wanted is not ... and (type(leaf) is not type(wanted) or repr(leaf) != repr(wanted)):
            raise Unfit(f"an argument is {leaf!r:.60}, not {wanted!r:.60}")
    return [leaf for leaf, wanted in zip(leaves, LEAVES, strict=True) if wanted is ...]


def _results(flat: tuple[Any, ...]) -> Any:
    return flat[0] if _out_spec.is_leaf() else tree_unflatten(list(flat), _out_spec)


def forward(*args: Any, **kwargs: Any) -> Any:
    """What the program gives, without gradients. Natively for the sizes, strides and dtypes that it was built for; for
    others that the program takes, by torch. Errors are the program's. With TENSORC_MODE=native, Unfit instead."""
    if _run is not None:
        try:
            if _is_simple and not kwargs and len(args) == len(LEAVES):
                return _results(_run(*args))
            return _results(_run(*_tensors_of(args, kwargs)))
        except Unfit:
            if _MODE == "native":
                raise
        except Exception:
            if _MODE == "native" or HAS_EFFECTS:
                raise
    return _original()(*args, **kwargs)
