"""What lists, dictionaries, sets and objects hold that a call can reach: whether it changed them, and putting it back.

Native code repeats no write to them, so a call that writes has none. And while the code is captured it runs once more,
which must leave nothing of itself behind.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

_DEPTH = 6  # of containers in containers
_MOST = 10_000  # containers looked into: an object may know the whole process
_LEAVES = (torch.Tensor, ModuleType, type, FunctionType, MethodType, BuiltinFunctionType, str, bytes, int, float)


def _own(value: Any) -> dict[str, Any] | None:
    """The attributes of an object of the user's classes; None of one of Python's or torch's."""
    home = type(value).__module__.partition(".")[0]
    if home in ("torch", "builtins", "tensorc") or home in sys.stdlib_module_names - {"__main__"}:
        return None
    own = getattr(value, "__dict__", None)
    return own if type(own) is dict else None


def _parts(value: Any, objects: bool) -> Iterable[Any]:
    if isinstance(value, dict):  # copies: another thread may change it
        return list(dict.values(value))
    if isinstance(value, (list, tuple, set, deque)):
        return list(value)
    return [_own(value)] if objects and _own(value) is not None else ()


def containers(roots: Iterable[Any], objects: bool) -> Iterator[Any]:
    """Each list, dictionary, set and deque among these and in them, once; those of attributes too when `objects`."""
    seen: set[int] = set()
    waiting: deque[tuple[Any, int]] = deque((root, 0) for root in roots)
    while waiting and len(seen) < _MOST:
        value, depth = waiting.popleft()
        if isinstance(value, _LEAVES) or value is None or id(value) in seen:
            continue
        parts = _parts(value, objects)
        if isinstance(value, (dict, list, set, deque)):
            yield value
        seen.add(id(value))
        if depth < _DEPTH:
            waiting.extend((part, depth + 1) for part in parts)


def _same(now: Any, then: Any) -> bool:
    """Whether two shallow copies hold the same objects, or equal numbers and texts, in the same order."""
    if isinstance(now, dict):
        return _same(list(now), list(then)) and _same(list(now.values()), list(then.values()))
    if isinstance(now, set):
        return {id(part) for part in now} == {id(part) for part in then}
    return len(now) == len(then) and all(
        a is b or (type(a) is type(b) and type(a) in (int, float, str) and repr(a) == repr(b))
        for a, b in zip(now, then, strict=True)
    )


_COPY: dict[type, Callable[[Any], Any]] = {dict: dict, list: list, set: set, deque: list}


def _copy(container: Any) -> Any:
    return next(make for kind, make in _COPY.items() if isinstance(container, kind))(container)


def _put_back(container: Any, then: Any) -> None:
    container.clear()
    if isinstance(container, (dict, set)):
        container.update(then)
    else:
        container.extend(then)


class Held:
    """What is in the containers that can be reached from `roots`."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._then = [(container, _copy(container)) for container in containers(roots, objects=True)]

    def changed(self) -> bool:
        return any(not _same(_copy(container), then) for container, then in self._then)

    def put_back(self) -> None:
        for container, then in self._then:
            if not _same(_copy(container), then):
                _put_back(container, then)
