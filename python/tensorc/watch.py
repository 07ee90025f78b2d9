"""What a captured program took for granted: the attributes of its modules, and what its function reads from outside.

A capture takes numbers, flags and the parameters that it finds there as constants. So a version runs only while all of
them are the objects that they were; what a tensor holds may change.
"""

import itertools
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules import module as modules_of_torch

from tensorc import frontend
from tensorc.capture import Uncovered

if TYPE_CHECKING:
    from tensorc._tensorc import Watch

_TABLES = ("_parameters", "_buffers", "_modules")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_GLOBAL_HOOKS = tuple(f"_global{name}" for name in _HOOKS)


def _names(code: CodeType) -> Iterator[str]:
    """Names of the globals that this code may read, and the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _plain(function: Callable[..., Any]) -> FunctionType | None:
    """The Python function behind a method, a partial or a decorated function."""
    found: Any = function
    while found is not None and not isinstance(found, (FunctionType, torch.nn.Module)):
        found = getattr(found, "__func__", None) or getattr(found, "func", None)
    return found if isinstance(found, FunctionType) else None


def _contents(cell: CellType) -> list[Any]:
    """What a cell of a closure holds; nothing as long as its variable has no value."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


class Outside:
    """What a Module or function finds outside of its arguments. `modules` are those at hand: itself, or as its self, as
    attributes of that, as globals, in its closure."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.modules: list[torch.nn.Module] = []
        self._whole: list[dict[str, Any]] = []
        self._single: list[tuple[dict[str, Any], str]] = []
        self._cells: list[CellType] = []
        if isinstance(function, torch.nn.Module):
            self.modules.append(function)
            return
        plain = _plain(function)
        if plain is not None:
            names = dict.fromkeys(_names(plain.__code__))
            self._single += [(plain.__globals__, name) for name in names if name in plain.__globals__]
            self._cells += [cell for cell in plain.__closure__ or () if _contents(cell)]
        owner = getattr(function, "__self__", None)
        found: list[Any] = [owner, *(part for cell in self._cells for part in _contents(cell))]
        found += [table[name] for table, name in self._single]
        attributes = getattr(owner, "__dict__", None)
        if isinstance(attributes, dict) and not isinstance(owner, torch.nn.Module):
            self._whole.append(attributes)
            found += attributes.values()
        self.modules += dict.fromkeys(part for part in found if isinstance(part, torch.nn.Module))

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        for module in self.modules:
            yield from module.parameters()

    def tensors(self) -> Iterator[torch.Tensor]:
        for module in self.modules:
            yield from itertools.chain(module.parameters(), module.buffers())

    def watch(self) -> "Watch":
        """What it holds now. Uncovered when there are hooks: they may do anything, at each call."""
        whole = [*self._whole, *(vars(modules_of_torch)[name] for name in _GLOBAL_HOOKS)]
        if any(whole[len(self._whole) :]):
            raise Uncovered("a hook is set on all modules")
        seen: set[torch.nn.Module] = set()
        for module in (part for top in self.modules for _, part in top.named_modules(memo=seen)):
            own = vars(module)
            if any(own[name] for name in _HOOKS):
                raise Uncovered(f"a hook is set on a {type(module).__name__}")
            whole += [own, *(own[name] for name in (*_TABLES, *_HOOKS))]
        watch: Watch = frontend.extension().Watch(whole, self._single, self._cells)
        return watch
