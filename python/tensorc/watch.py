"""The state of a model that a captured program was made for: whether it still is so.

A capture takes what the code reads from its module as constants: numbers, flags, which parameters there are. So a
version runs only while every attribute of every module is the object that it was; what a tensor holds may change.
"""

import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch
from torch.nn.modules import module as torch_module

from tensorc.capture import Uncovered

_TABLES = ("_parameters", "_buffers", "_modules")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_GLOBAL_HOOKS = ("_global_forward_hooks", "_global_forward_pre_hooks", "_global_backward_hooks", "_global_backward_pre_hooks")
_PLAIN = (bool, int, float, str, type(None))


def _names(code: CodeType) -> Iterator[str]:
    """Names of globals that the code, or a function in it, may read."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def plain_function(function: Callable[..., Any]) -> FunctionType | None:
    """The Python function behind a method, a partial or a decorated one."""
    while not isinstance(function, FunctionType):
        inner = getattr(function, "__func__", None) or getattr(function, "func", None)
        if inner is None or isinstance(function, torch.nn.Module):
            return None
        function = inner
    return function


def reads(function: Callable[..., Any]) -> list[tuple[dict[str, Any], str]]:
    """Where a function finds what it reads from outside: dictionaries and keys in them that are there."""
    plain = plain_function(function)
    if plain is None:
        return []
    names = dict.fromkeys(_names(plain.__code__))
    return [(plain.__globals__, name) for name in names if name in plain.__globals__]


def modules_of(function: Callable[..., Any]) -> list[torch.nn.Module]:
    """The modules that a function has at hand: as its self, in its closure, in its globals. For a Module: itself."""
    if isinstance(function, torch.nn.Module):
        return [function]
    found: list[Any] = [getattr(function, "__self__", None)]
    plain = plain_function(function)
    if plain is not None:
        found += inspect.getclosurevars(plain).nonlocals.values()
    found += [table[name] for table, name in reads(function)]
    return list(dict.fromkeys(part for part in found if isinstance(part, torch.nn.Module)))
