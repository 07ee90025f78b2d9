"""The copied source of a compiled module: byte for byte the user's, with one line that binds each native function.

The bind line takes the place of a blank line (the compiler says which), or goes to the end; no line number moves. It
asks `_tensorc_<module>_load.py`, written beside the module, for `bind`; without that file the module stays Python.
"""

import hashlib
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from tensorc import loader as _loader

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


def loader(place: str, bound: bytes, c_digest: str) -> bytes:
    """The text of loader.py for the module with this bound source, whose extension was made from C of this digest."""
    with open(_loader.__file__, encoding="utf-8") as file:
        text = file.read()
    head, mark, rest = text.partition("# ── what is written beside a module")
    assert mark
    name = ascii(place.rpartition("/")[2])[1:-1].replace('"', '\\"')
    return (
        f'"""Written by tensorc for {name}: loads its native functions, or leaves them on Python."""\n'
        f'EXTENSION = "{extension_name(place)}"\n'
        f'C_DIGEST = "{c_digest}"\n'
        f"CODE_DIGESTS = {_code_digests(bound)}\n"
        f'SOURCE_DIGEST = "{_loader.text_digest(bound)}"\n'
        f"PYTHON = {sys.hexversion}\n" + rest.partition("\n")[2]
    ).encode()


def _code_digests(source: bytes) -> tuple[str, ...]:
    """One for each level of optimization. None of a source that is parsed but not compiled: it cannot be imported."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the user's source: Python says so when it runs
            codes = [compile(source, "", "exec", dont_inherit=True, optimize=level) for level in (0, 1, 2)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(dict.fromkeys(map(_loader.digest, codes)))


def c_digest(c_text: bytes) -> str:
    """What the C says of itself (emit.c)."""
    found = re.search(rb'\.digest = "([0-9a-f]+)"', c_text)
    assert found
    return found.group(1).decode()


def _import_bind(place: str) -> str:
    """An expression for `bind`: the loader beside the file that runs is asked for it. In mode native a missing loader
    is an error, else it means Python."""
    name = loader_name(place)
    return (
        "(lambda frame, util, os: (lambda spec: "
        "[module := util.module_from_spec(spec), spec.loader.exec_module(module)][0].bind_for(frame) if spec "
        'else (_ for _ in ()).throw(ImportError("mode native: no {name}")) '
        'if (os.environ.get("TENSORC_MODE") or os.environ.get("REXTIO_NATIVE_MODE") or "").strip().lower() == "native" '
        "else lambda function: function)"
        '(__import__("importlib.machinery").machinery.PathFinder.find_spec('
        '"{name}", [os.path.dirname(frame.f_globals.get("__file__") or "")])))'
        '(__import__("sys")._getframe(), __import__("importlib.util").util, __import__("os"))'
    ).replace("{name}", name)


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
