"""What a capture depends on, as a digest: two processes in which it is the same capture the same program.

That is the code that may run and what this code reads: from the called object on, every function that can be reached by
the names in the code, with its globals, closure and defaults; every attribute of modules, classes and objects that the
code names; of tensors their types (and the values of those that are no parameters and buffers). Torch, NumPy and
harmless parts of Python stand for themselves, by their versions. What cannot be followed for certain is Undigestible.
"""

import ctypes
import dis
import os
import sys
import sysconfig
import weakref
from collections import deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from logging import Logger
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any

import torch
from torch.utils._contextlib import _DecoratorContextManager

_MOST = 20_000  # values, and items of one of them
_MOST_BYTES = 1 << 24  # of a tensor that is neither parameter nor buffer, or an array
# Whose code does the same in each process, given the versions.
_NAMES = """torch numpy math cmath typing typing_extensions functools itertools collections operator dataclasses enum
abc contextlib copy warnings numbers types builtins _operator _functools _collections __future__"""
_KNOWN = frozenset(_NAMES.split())
PLAIN: tuple[type, ...] = (bool, int, float, complex, str, bytes, type(None), type(...), range)
PLAIN += (torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size)
_OF_C = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType, GetSetDescriptorType, MemberDescriptorType)
# Builtins and attributes by which code may reach, or find out, anything; and those that read attributes of any name.
_ANYTHING = frozenset(
    ["eval", "exec", "globals", "locals", "vars", "dir", "open", "input", "id", "hash", "compile", "__import__"]
)
_ANYTHING_OF = frozenset(["__dict__", "__globals__", "__builtins__", "__subclasses__", "__code__"])
_ANY_NAME = frozenset(["getattr", "hasattr", "setattr", "delattr", "attrgetter", "methodcaller", "__getattribute__"])
# Methods that run unnamed when an object is made, or never in a call.
_OF_MAKING = frozenset(["__init__", "__new__", "__post_init__"])
_NEVER = frozenset(
    [
        "__del__",
        "__repr__",
        "__str__",
        "__reduce__",
        "__reduce_ex__",
        "__getstate__",
        "__setstate__",
        "__init_subclass__",
    ]
)
_CALLED = ("forward", "_call_impl", "_wrapped_call_impl", "_slow_forward")  # of a Module, by torch
_OF_EVERY_MODULE = tuple(vars(torch.nn.Module()))
_STDLIB = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib"))


class Undigestible(Exception):
    """What the code depends on that has no digest."""


def _home(name: object) -> str:
    return str(name or "").partition(".")[0]


def _is_stdlib(home: str) -> bool:
    return home in sys.stdlib_module_names and home != "__main__"


def is_known(code: CodeType) -> bool:
    """Whether the code is torch's, NumPy's, Python's own or ours: it stands for itself by its version."""
    name = code.co_filename
    packages = (sys.modules.get(package) for package in ("torch", "numpy", "tensorc"))
    folders = tuple(os.path.dirname(str(package.__file__)) + os.sep for package in packages if package is not None)
    return name.startswith((*folders, "<frozen")) or (name.startswith(_STDLIB) and "-packages" not in name)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_library_s(value: Any) -> bool:
    """Of what a module of torch, say, holds: whether it is its own, and no patch."""
    code = getattr(value, "__code__", None)
    if isinstance(code, CodeType):
        return is_known(code)
    return _home(value.__module__ if isinstance(value, type) else type(value).__module__) in _KNOWN


def _is_derived(kind: type) -> bool:
    """Whether the class comes from one of a library, whose code may use any attribute."""
    return any(_home(part.__module__) in _KNOWN and part not in (object, torch.nn.Module) for part in kind.__mro__)


def _slots(kind: type) -> list[str]:
    parts = (item for part in kind.__mro__ for item in vars(part).items())
    return [name for name, value in parts if isinstance(value, MemberDescriptorType) and name[:2] != "__"]


class Digest:
    """Of `root`. `codes`: all that was followed. `tensors`: those that were found, in the order in which each process
    finds them. `unwrap` gives what stands behind an object. Undigestible when there is something that has none."""

    def __init__(self, root: Any, unwrap: Callable[[Any], Any]) -> None:
        self.codes: set[CodeType] = set()
        self.tensors: list[torch.Tensor] = []
        self._unwrap = unwrap
        self._hash = sha256()
        self._numbers: dict[int, int] = {}  # of each value that was met, by its id
        self._kept: list[Any] = []  # these values: no other gets the id of one
        self._waiting: deque[Any] = deque()
        self._names = dict.fromkeys(_CALLED)  # that the code so far has
        self._every_name = False
        self._by_name: dict[str, list[Any]] = {}  # of a name that the code has not (yet): what it gives
        self._classes: set[type] = set()
        self._storages: dict[int, int] = {}
        self._put(root)
        while self._waiting:
            self._take(self._waiting.popleft())

    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def _say(self, *parts: object) -> None:
        self._hash.update(repr(parts).encode("utf-8", "backslashreplace"))

    def _number(self, value: Any) -> tuple[int, bool]:
        """The value's number, and whether it is new."""
        known = self._numbers.get(id(value))
        if known is not None:
            return known, False
        if len(self._kept) == _MOST:
            raise Undigestible("too much")
        self._kept.append(value)
        return self._numbers.setdefault(id(value), len(self._numbers)), True

    def _put(self, value: Any) -> None:
        """Says which value it is. What it consists of is said in its turn."""
        if type(value) in PLAIN:
            self._say(type(value).__name__, value)
            return
        value = self._unwrap(value)
        number, is_new = self._number(value)
        self._say("number", number)
        if is_new:
            self._waiting.append(value)

    def _put_all(self, values: Iterable[Any]) -> None:
        for value in values:
            self._put(value)

    def _put_named(self, items: Iterable[tuple[str, Any]]) -> None:
        """Values that count if the code has their names."""
        for name, value in items:
            if self._every_name or name in self._names:
                self._say(name)
                self._put(value)
            else:
                self._by_name.setdefault(name, []).append(value)

    def _has(self, names: Iterable[str]) -> None:
        for name in names:
            self._names[name] = None
            self._every_name = self._every_name or name in _ANY_NAME
        for name in list(self._by_name) if self._every_name else names:
            for value in self._by_name.pop(name, ()):
                self._say(name)
                self._put(value)

    def _take(self, value: Any) -> None:
        self._say("of", type(value).__module__, type(value).__qualname__)
        for kinds, take in _TAKERS:
            if isinstance(value, kinds):
                take(self, value)
                return
        self._object(value)

    # ── code ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _function(self, function: FunctionType) -> None:
        known = is_known(function.__code__)
        if known and _home(function.__module__) not in _KNOWN and "__wrapped__" not in function.__dict__:
            raise Undigestible(f"{function.__module__}.{function.__qualname__}")
        self._say(function.__qualname__ if known else "")
        self._put(function.__dict__.get("__wrapped__"))
        for cell in function.__closure__ or ():
            try:
                self._put(cell.cell_contents)
            except ValueError:
                self._say("empty")
        if not known:
            self._put_all((function.__code__, function.__defaults__, function.__kwdefaults__))
            self._reads(function)

    def _reads(self, function: FunctionType) -> None:
        """What the function's code finds by its names."""
        codes = list(_codes(function.__code__))
        names = list(dict.fromkeys(name for code in codes for name in code.co_names))
        table = function.__globals__
        modules = [table[name] for name in names if isinstance(table.get(name), ModuleType)]
        for instruction in (each for code in codes for each in dis.get_instructions(code)):
            name = instruction.argval
            if instruction.opname == "IMPORT_NAME":
                if name not in sys.modules:
                    raise Undigestible(f"an import of {name}")
                modules.append(sys.modules[name])
            is_global = instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") and name not in table
            if name in _ANYTHING_OF or (is_global and name in _ANYTHING):
                raise Undigestible(f"the code uses {name}")
        self._has(names)
        for name in names:
            if name in table and not isinstance(table[name], ModuleType):
                self._say(name)
                self._put(table[name])
        for module in modules:
            self._module_of_python(module, names, set())

    def _module_of_python(self, module: ModuleType, names: list[str], seen: set[int]) -> None:
        """What it gives for these names, and for the names in these."""
        self._say("module", module.__name__)
        known = _home(module.__name__) in _KNOWN
        if module.__name__ == "numpy.random" or (not known and _is_stdlib(_home(module.__name__))):
            raise Undigestible(f"the module {module.__name__}")
        if not known and self._every_name:
            raise Undigestible(f"getattr beside the module {module.__name__}")
        if id(module) in seen:
            return
        seen.add(id(module))
        for name in names:
            if name not in vars(module):
                continue
            value = vars(module)[name]
            if isinstance(value, ModuleType):
                self._module_of_python(value, names, seen)
            elif not (known and _is_library_s(value)):
                self._say(name)
                self._put(value)

    def _code(self, code: CodeType) -> None:
        self.codes.add(code)
        self._say(code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags)
        self._say(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_exceptiontable)
        self._put_all(code.co_consts)

    def _wrapper(self, value: Any) -> None:
        """A method, a property, a partial."""
        for name in ("__func__", "__self__", "fget", "fset", "func", "args", "keywords"):
            self._put(getattr(value, name, None))

    def _builtin(self, value: Any) -> None:
        owner = getattr(value, "__self__", None)
        home = getattr(value, "__module__", None) or getattr(value, "__objclass__", type(owner)).__module__
        if _home(owner.__name__ if isinstance(owner, ModuleType) else home) not in _KNOWN:
            raise Undigestible(f"{home}.{value.__qualname__}")
        self._say(home, value.__qualname__)
        if not isinstance(owner, ModuleType):
            self._put(owner)

    # ── classes and objects ──────────────────────────────────────────────────────────────────────────────────────────

    def _class(self, kind: type) -> None:
        """One that the code has at hand: it may make objects."""
        self._class_of(kind)
        for part in kind.__mro__:
            if _home(part.__module__) not in _KNOWN:
                made_by = (value for name, value in vars(part).items() if name in _OF_MAKING)
                self._put_all(value for value in made_by if not isinstance(value, _OF_C))

    def _class_of(self, kind: type) -> None:
        """What objects of it run: the methods that need no name, and what the code names."""
        self._say("class", kind.__module__, kind.__qualname__)
        if kind in self._classes:
            return
        self._classes.add(kind)
        if _home(kind.__module__) in _KNOWN:
            code = getattr(getattr(kind, "forward", None), "__code__", None)
            if isinstance(code, CodeType) and not is_known(code):
                raise Undigestible(f"{kind.__qualname__} has another forward")
            return
        if _is_stdlib(_home(kind.__module__)):
            raise Undigestible(f"{kind.__module__}.{kind.__qualname__}")
        for base in kind.__mro__[1:]:
            self._class_of(base)
        for name, value in vars(kind).items():
            is_special = name[:2] == name[-2:] == "__"
            if is_special and isinstance(value, FunctionType) and name not in _OF_MAKING | _NEVER:
                self._put_all((name, value))
            elif not is_special and not isinstance(value, _OF_C):
                self._put_all((name, value)) if _is_derived(kind) else self._put_named([(name, value)])

    def _attributes(self, kind: type, items: Iterable[tuple[str, Any]]) -> None:
        """Of an object: what is named; all where its class comes from a library's, whose code may read any."""
        self._class_of(kind)
        if _is_derived(kind):
            self._put_all(part for item in items for part in item)
        else:
            self._put_named(items)

    def _object(self, value: Any) -> None:
        kind = type(value)
        if kind.__module__ == "torch._ops":
            self._say(str(value))
        elif isinstance(value, _DecoratorContextManager) and _home(kind.__module__) == "torch":
            self._put(vars(value))
        elif kind.__module__ == "numpy" and not value.dtype.hasobject and value.nbytes <= _MOST_BYTES:
            self._say(value.dtype, value.shape, value.tobytes())
        elif _home(kind.__module__) in _KNOWN or not hasattr(value, "__dict__") and not _slots(kind):
            raise Undigestible(f"a {kind.__module__}.{kind.__qualname__}")
        else:
            slots = [(name, getattr(value, name)) for name in _slots(kind) if hasattr(value, name)]
            self._attributes(kind, [*getattr(value, "__dict__", {}).items(), *slots])

    def _items(self, value: Any) -> None:
        """A list, a dictionary, and what is derived from them."""
        items = [part for item in value.items() for part in item] if isinstance(value, dict) else list(value)
        if len(items) > _MOST:
            raise Undigestible("too much")
        self._say(len(items))
        self._put_all(items)
        if _home(type(value).__module__) not in _KNOWN:
            self._attributes(type(value), getattr(value, "__dict__", {}).items())

    def _set(self, value: Iterable[Any]) -> None:
        if any(type(item) not in PLAIN for item in value):
            raise Undigestible("a set of objects")
        self._say(sorted(repr((type(item).__name__, item)) for item in value))

    # ── torch's ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _module(self, module: torch.nn.Module) -> None:
        if isinstance(module, torch.jit.ScriptModule):
            raise Undigestible("TorchScript")
        own = vars(module)
        for tensor in own["_buffers"].values():
            if isinstance(tensor, torch.Tensor) and self._number(tensor)[1]:
                self._tensor(tensor, has_values=False)
        self._put_all(own[name] for name in _OF_EVERY_MODULE if "state_dict" not in name)  # those hooks run in no call
        self._attributes(type(module), [item for item in own.items() if item[0] not in _OF_EVERY_MODULE])

    def _tensor(self, tensor: torch.Tensor, has_values: bool = True) -> None:
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or not tensor.is_cpu or vars(tensor):
            raise Undigestible("a tensor that is not plain")
        if tensor.layout is not torch.strided or tensor.is_neg() or tensor.is_conj():
            raise Undigestible("a tensor that is not plain")
        self.tensors.append(tensor)
        storage = self._storages.setdefault(tensor.untyped_storage()._cdata, len(self._storages))
        self._say(tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset(), storage, tensor.requires_grad)
        self._say(type(tensor).__name__, tensor.is_inference())
        if has_values and type(tensor) is torch.Tensor:
            n_bytes = tensor.numel() * tensor.element_size()
            if n_bytes > _MOST_BYTES:
                raise Undigestible("a large tensor that is neither parameter nor buffer")
            whole = tensor.detach().contiguous()
            self._hash.update(ctypes.string_at(whole.data_ptr(), n_bytes) if n_bytes else b"")


_TAKERS: tuple[tuple[Any, Callable[[Digest, Any], None]], ...] = (
    (torch.Tensor, Digest._tensor),
    (torch.nn.Module, Digest._module),
    (FunctionType, Digest._function),
    (CodeType, Digest._code),
    ((MethodType, property, classmethod, staticmethod, partial), Digest._wrapper),
    (_OF_C, Digest._builtin),
    (type, Digest._class),
    (type(namedtuple("_", "x").x), lambda digest, value: digest._say(repr(value))),  # type: ignore[attr-defined]
    (SimpleNamespace, lambda digest, value: digest._put(vars(value))),
    (weakref.ref, lambda digest, value: digest._put(value())),
    (Logger, lambda digest, value: digest._say(value.name)),
    ((set, frozenset), Digest._set),
    ((dict, list, tuple, deque), Digest._items),
)
