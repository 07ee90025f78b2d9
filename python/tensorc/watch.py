"""What a captured program took for granted: the attributes of its modules, and what its function reads from outside.

A capture takes numbers, flags and the parameters that it finds there as constants, also in lists and dictionaries. So a
version runs only while all of them are the objects that they were; what a tensor holds may change.
"""

import itertools
import os
import sysconfig
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules import module as modules_of_torch

from tensorc import frontend
from tensorc.capture import Uncovered
from tensorc.held import containers

if TYPE_CHECKING:
    from tensorc._tensorc import Watch

_TABLES = ("_parameters", "_buffers", "_modules")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_GLOBAL_HOOKS = tuple(f"_global{name}" for name in _HOOKS)
_OF_EVERY_MODULE = frozenset(vars(torch.nn.Module()))
_MOST_ITEMS = 1000  # of a list or dictionary that each call looks through


def _names(code: CodeType) -> Iterator[str]:
    """Names of the globals that this code may read, and the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _layers(function: Callable[..., Any]) -> Iterator[Any]:
    """A callable and what it calls first: the function of a method or partial, the __call__ of an object."""
    found: Any = function
    while found is not None and not isinstance(found, torch.nn.Module):
        yield found
        inner = getattr(found, "__func__", None) or getattr(found, "func", None)
        is_object = isinstance(found.__call__, MethodType) and not isinstance(found, MethodType)
        found = inner or (found.__call__ if is_object else None)


_PATHS = sysconfig.get_paths()
_LIBRARIES = (
    *(_PATHS[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *map(os.path.dirname, torch.__path__),
)


def _is_the_user_s(value: Any) -> bool:
    """Whether it is a function of the user's own code, whose globals may change: those of libraries do not."""
    return isinstance(value, FunctionType) and not value.__code__.co_filename.startswith((*_LIBRARIES, "<frozen"))


def _contents(cell: CellType) -> list[Any]:
    """What a cell of a closure holds; nothing as long as its variable has no value."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def _own_attributes(value: Any) -> dict[str, Any] | None:
    """Those of an object behind a method, say."""
    attributes = getattr(value, "__dict__", None)
    kinds = (torch.nn.Module, FunctionType, MethodType, ModuleType, type)
    return attributes if type(attributes) is dict and not isinstance(value, kinds) else None


class Outside:
    """What a Module or function finds outside of its arguments. `modules` are those at hand: itself, or as its self, as
    attributes of that, as globals, in its closure."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.modules: list[torch.nn.Module] = []
        self._whole: list[dict[str, Any]] = []
        self._single: list[tuple[dict[str, Any], str]] = []
        self._cells: list[CellType] = []
        found = [function, *(part for layer in _layers(function) for part in (layer, getattr(layer, "__self__", None)))]
        self._whole += {id(own): own for own in map(_own_attributes, found) if own is not None}.values()
        self._take_functions(found)
        found += self._singles()
        self.modules += dict.fromkeys(part for part in found if isinstance(part, torch.nn.Module))
        forwards = (getattr(module.forward, "__func__", None) for module in self.every_module())
        self._take_functions(list(filter(_is_the_user_s, forwards)))

    def _take_functions(self, found: list[Any]) -> None:
        """The globals and the closures that the functions among these read, and the functions that they find there."""
        waiting = [each for each in found if isinstance(each, FunctionType)]
        seen: set[int] = set()
        while waiting:
            function = waiting.pop()
            if id(function) in seen:
                continue
            seen.add(id(function))
            cells = [cell for cell in function.__closure__ or () if _contents(cell)]
            table = function.__globals__
            single = [(table, name) for name in dict.fromkeys(_names(function.__code__)) if name in table]
            self._cells += cells
            self._single += single
            waiting += filter(_is_the_user_s, (part for cell in cells for part in _contents(cell)))
            waiting += filter(_is_the_user_s, (table[name] for table, name in single))

    def _singles(self) -> Iterator[Any]:
        for cell in self._cells:
            yield from _contents(cell)
        yield from (table[name] for table, name in self._single)
        for attributes in self._whole:
            yield from attributes.values()

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        for module in self.modules:
            yield from module.parameters()

    def tensors(self) -> Iterator[torch.Tensor]:
        for module in self.modules:
            yield from itertools.chain(module.parameters(), module.buffers())

    def every_module(self) -> Iterator[torch.nn.Module]:
        """Those at hand and the modules in them, once each."""
        seen: set[torch.nn.Module] = set()
        return (part for top in self.modules for _, part in top.named_modules(memo=seen))

    def reached(self) -> list[Any]:
        """The values of all attributes, globals and variables of its closure that it may read."""
        own = (item for module in self.every_module() for item in vars(module).items())
        return [*self._singles(), *(value for name, value in own if name not in _OF_EVERY_MODULE)]

    def watch(self) -> "Watch":
        """What it holds now. Uncovered when there are hooks: they may do anything, at each call."""
        whole: list[Any] = [*self._whole, *(vars(modules_of_torch)[name] for name in _GLOBAL_HOOKS)]
        if any(whole[len(self._whole) :]):
            raise Uncovered("a hook is set on all modules")
        for module in self.every_module():
            own = vars(module)
            if any(own[name] for name in _HOOKS):
                raise Uncovered(f"a hook is set on a {type(module).__name__}")
            whole += [own, *(own[name] for name in (*_TABLES, *_HOOKS))]
        watched = {id(each) for each in whole}
        for found in containers(self.reached(), objects=False):
            if isinstance(found, (dict, list)) and id(found) not in watched and len(found) <= _MOST_ITEMS:
                whole.append(found)
        watch: Watch = frontend.extension().Watch(whole, self._single, self._cells)
        return watch
