"""The copied source of a compiled module: byte for byte the user's, with one line that binds each native function.

The bind line takes the place of a blank line (the compiler says which), or goes to the end; no line number moves. It
asks `_tensorc_<module>_load.py`, written beside the module, for `bind`; without that file the module stays Python.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

BOM = b"\xef\xbb\xbf"


def stem(place: str) -> str:
    """The part of our file names that says which module they belong to. A C identifier, so a module called "größe" or
    "a-b" gets one made from its name and a hash."""
    name = place.rpartition("/")[2].removesuffix(".py")
    if name.isascii() and name.isidentifier():
        return name
    return (
        re.sub(r"[^A-Za-z0-9]", "_", name) + "_" + hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:8]
    )


def extension_name(place: str) -> str:
    return "_tensorc_" + stem(place)


def loader_name(place: str) -> str:
    return f"_tensorc_{stem(place)}_load"


LOADER = '''\
"""Written by tensorc for {file}: loads its native functions, or leaves them on Python."""
import functools
import importlib
import os
import warnings

_name = (__spec__.parent + "." if __spec__.parent else "") + "{extension}"
_error = None


def _mode():
    return (os.environ.get("TENSORC_MODE") or os.environ.get("REXTIO_NATIVE_MODE") or "auto").strip().lower()


def _bind_none(function):
    if _mode() != "native":
        return function

    @functools.wraps(function)
    def missing(*args, **kwargs):
        raise RuntimeError("native mode requires generated native function: " + function.__qualname__) from _error

    return missing


try:
    bind = importlib.import_module(_name).bind
except ImportError as error:
    bind = _bind_none
    _error = error
    if not (isinstance(error, ModuleNotFoundError) and error.name == _name):
        if "1" in (os.environ.get("TENSORC_DEBUG_NATIVE"), os.environ.get("REXTIO_DEBUG_NATIVE")):
            raise
        if _mode() not in ("native", "fallback"):
            message = f"{{_name}} does not load, its functions run as Python: {{error}}"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
'''


def loader(place: str) -> bytes:
    name = ascii(place.rpartition("/")[2])[1:-1].replace('"', '\\"')
    return LOADER.format(file=name, extension=extension_name(place)).encode()


def _import_bind(place: str) -> str:
    """An expression for `bind`. In mode native a missing loader is an error, else it means Python."""
    return (
        '(lambda name: __import__(name, fromlist=["bind"]).bind '
        'if __import__("importlib.util").util.find_spec(name) '
        'or (lambda get: get("TENSORC_MODE") or get("REXTIO_NATIVE_MODE") or "")(__import__("os").environ.get)'
        '.strip().lower() == "native" '
        "else lambda function: function)"
        f'((__spec__.parent + "." if __spec__ and __spec__.parent else "") + "{loader_name(place)}")'
    )


def _hook(source: bytes) -> str:
    """The name of `bind` in the module: one that the source does not use."""
    name = "_tensorc"
    while re.search(rf"\b{name}\b".encode(), source):
        name += "_"
    return name


def source_encoding(source: bytes) -> str:
    """The codec of the file, by BOM and cookie; Python has parsed it already."""
    from tokenize import detect_encoding

    return detect_encoding(iter(source.splitlines(keepends=True)[:2]).__next__)[0].removesuffix("-sig")


def bind(source: bytes, functions: Sequence[Mapping[str, Any]], place: str) -> bytes:
    """The source with the bind lines of its accepted functions (dicts as in Unit.functions)."""
    encoding = source_encoding(source)
    lines = source.splitlines(keepends=True)
    newline = next((end for end in (b"\r\n", b"\n", b"\r") if lines and lines[0].endswith(end)), b"\n")
    accepted = [f for f in functions if f["status"] == "accepted" and f["bind_line"] >= 0]
    accepted.sort(key=lambda f: f["bind_line"] or len(lines) + 1)  # stable: source order within a line
    hook, imported = _hook(source), False
    new: dict[int, tuple[bytes, list[str]]] = {}
    for function in accepted:
        line, name = function["bind_line"], function["name"]
        indent = lines[function["line"] - 1][: function["bind_column"]] if line else b""
        if indent.strip(b" \t\f"):
            indent = b" " * function["bind_column"]
        if imported:
            call = hook
        elif function["bind_column"] == 0:
            call, imported = hook, True
            new.setdefault(line, (indent, []))[1].append(f"{hook} = {_import_bind(place)}")
        else:  # this line may never run, or in another scope: it keeps to itself
            call = _import_bind(place)
        try:
            name.encode(encoding)
        except UnicodeEncodeError:  # Python's normal form of the name is not in the file's character set
            name = f"locals()[{ascii(name)}]"
        new.setdefault(line, (indent, []))[1].append(f"{name} = {call}({name})")
    for line, (indent, statements) in new.items():
        text = indent + "; ".join(statements).encode(encoding)
        if line == 0:
            if lines and not lines[-1].endswith((b"\n", b"\r")):
                lines[-1] += newline
            lines.append(text + newline)
        else:
            old = lines[line - 1]
            lines[line - 1] = text + old[len(old.rstrip(b"\r\n")) :]
    return b"".join(lines)
