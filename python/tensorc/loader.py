"""Loads the native functions of one module, or leaves them on Python. `tensorc build` writes the part below its
constants beside each compiled module, whose bind line calls bind_for().

What belongs to a build goes with the file and its content, never with a name: the extension is the one beside this
file, it says which C it was made from, and the code that runs must be the code that was compiled.
"""

EXTENSION = ""  # the extension module's name
C_DIGEST = ""  # of its C, as it says itself
CODE_DIGESTS: tuple[str, ...] = ()  # of the module's code: plain, under -O, under -OO
SOURCE_DIGEST = ""  # of the module's text
PYTHON = 0  # sys.hexversion of the Python that made that code: another one may spell the same source in another way

# ── what is written beside a module ──────────────────────────────────────────────────────────────────────────────────
# ruff: noqa: E402
import functools
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable
from importlib.machinery import PathFinder
from types import CodeType, FrameType
from typing import Any


def _told(value: object) -> object:
    """The same for code that does the same, in every process: without places, lines and the order of sets."""
    if isinstance(value, CodeType):
        flags = value.co_flags, value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount
        names = value.co_names, value.co_varnames, value.co_cellvars, value.co_freevars
        return value.co_qualname, value.co_code, value.co_exceptiontable, flags, names, _told(value.co_consts)
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    return [_told(part) for part in value] if isinstance(value, tuple) else repr(value)


def digest(code: CodeType) -> str:
    return text_digest(repr(_told(code)).encode(errors="surrogatepass"))


def text_digest(text: bytes) -> str:
    return importlib.util.source_hash(text).hex()


def _is_compiled(frame: FrameType) -> bool:
    """Whether the module that runs in this frame (or has a class body there) is the one that was compiled."""
    while frame.f_back and frame.f_back.f_globals is frame.f_globals:
        frame = frame.f_back
    if sys.hexversion == PYTHON:
        return digest(frame.f_code) in CODE_DIGESTS
    try:
        with open(frame.f_globals["__file__"], "rb") as file:
            return text_digest(file.read()) == SOURCE_DIGEST
    except OSError:
        return False


def _mode() -> str:
    return (os.environ.get("TENSORC_MODE") or os.environ.get("REXTIO_NATIVE_MODE") or "auto").strip().lower()


def _bind_none(function: Callable[..., Any], error: ImportError) -> Callable[..., Any]:
    if _mode() != "native":
        return function

    @functools.wraps(function)
    def missing(*args: object, **kwargs: object) -> None:
        raise RuntimeError("native mode requires generated native function: " + function.__qualname__) from error

    return missing


def _extension(frame: FrameType) -> Any:
    """ModuleNotFoundError when there is none beside this file, ImportError when it is not for the code of the frame."""
    name = f"{C_DIGEST}.{EXTENSION}"  # modules of one name, loaded from two places, stand side by side
    spec = PathFinder.find_spec(name, [os.path.dirname(__file__)])
    if spec is None or spec.loader is None:
        if "t" in sys.abiflags:
            raise ImportError("free-threaded Python is not supported")
        raise ModuleNotFoundError(f"no {EXTENSION} beside {__file__}")
    if not _is_compiled(frame):
        raise ImportError("the source is not the one that was compiled; build again")
    module = sys.modules.get(name)
    if module is None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    if getattr(module, "__tensorc_digest__", None) != C_DIGEST:
        raise ImportError("it belongs to another build")
    return module


def bind_for(frame: FrameType) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The extension's `bind` for the module of this frame; without one, what leaves each function on Python."""
    try:
        bind: Callable[[Callable[..., Any]], Callable[..., Any]] = _extension(frame).bind
        return bind
    except ImportError as error:
        if not isinstance(error, ModuleNotFoundError):
            if "1" in (os.environ.get("TENSORC_DEBUG_NATIVE"), os.environ.get("REXTIO_DEBUG_NATIVE")):
                raise
            if _mode() not in ("native", "fallback"):
                message = f"{EXTENSION} does not load, its functions run as Python: {error}"
                warnings.warn(message, RuntimeWarning, stacklevel=2)
        return functools.partial(_bind_none, error=error)
