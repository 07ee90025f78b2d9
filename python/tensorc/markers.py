"""Imports of marker modules, so that they never become a dependency.

The build tree gets an alias of a marker module that is not installed. In a wheel the import itself is rewritten, on its
own line, to a module private to the user's package, which holds the markers and decorators of tensorc.
"""

import ast
import os
import re
from collections.abc import Iterable

from tensorc.binding import BOM, source_encoding, stem
from tensorc.types import __all__ as MARKERS

# What each module offers of what the private module has.
OFFERS: dict[str, tuple[str, ...]] = {
    "tensorc": ("native", "exempt", "mode", "types"),
    "tensorc.types": tuple(MARKERS),
    "rextio": ("native", "exempt"),
    "rextio_torch": ("types",),
    "rextio_torch.types": tuple(MARKERS),
    "rextio_tensorflow": ("types",),
    "rextio_tensorflow.types": tuple(MARKERS),
}
_MENTIONS = re.compile(rb"\b(?:tensorc|rextio|rextio_torch|rextio_tensorflow)\b")
_SPACE = r"(?:[ \t\f]|\\\r\n|\\\r|\\\n)*"
_HERE = os.path.dirname(os.path.abspath(__file__))


def _own_text(name: str) -> str:
    with open(os.path.join(_HERE, name), encoding="utf-8") as file:
        return file.read()


def private_text() -> bytes:
    """The private module: tensorc's own types.py and api.py, and itself as its attribute `types`."""
    head = '"""Written by tensorc: the markers that this package uses, so that it needs no other package for them."""\n'
    return (
        head + _own_text("types.py") + "\n\n" + _own_text("api.py") + "\n\ntypes = sys.modules[__name__]\n"
    ).encode()


def private_place(place: str, packages: Iterable[str]) -> str:
    """Where the private module of this source goes: in its package, or beside a module that is in none (or in a
    namespace, which other wheels may share)."""
    folder = place.rpartition("/")[0]
    if folder and folder in packages:
        return folder + "/_tensorc_types.py"
    return (folder + "/" if folder else "") + f"_tensorc_{stem(place)}_types.py"


def imported(source: bytes) -> set[str]:
    """The marker modules that a source imports."""
    if not _MENTIONS.search(source):
        return set()
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found & set(OFFERS)


def aliases(names: set[str], taken: set[str]) -> dict[str, bytes]:
    """Files of the build tree that stand in for marker modules: those imported, not installed here, not the user's own.
    `taken`: top-level names of the build tree."""
    from importlib.util import find_spec

    files: dict[str, bytes] = {}
    for top in sorted({name.partition(".")[0] for name in names}):
        if top == "tensorc" or top in taken or find_spec(top) is not None:
            continue
        head = f'"""Written by tensorc: stands in for {top}, which is not installed."""\n'
        api = _own_text("api.py") if top == "rextio" else ""
        files[f"{top}/__init__.py"] = (head + api).encode()
        if top != "rextio":
            files[f"{top}/types.py"] = (head + _own_text("types.py")).encode()
    return files


def _ours(name: str | None) -> bool:
    return name is not None and name.partition(".")[0] in OFFERS


def _position(lines: list[str], starts: list[int], line: int, column: int) -> int:
    return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())


def rewrite(source: bytes, private: str, kept: list[str]) -> bytes:
    """The source with its marker imports turned to the module `private` ("pkg._tensorc_types"), line for line. Imports
    of anything else from those packages stay, and are described in `kept`."""
    if not _MENTIONS.search(source):
        return source
    tree = ast.parse(source)
    bom = BOM if source.startswith(BOM) else b""
    encoding = source_encoding(source)
    raw = source[len(bom) :].splitlines(keepends=True)
    lines = [line.decode(encoding) for line in raw]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = "".join(lines)
    used: dict[str, set[str]] = {}  # attributes taken of each plain name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used.setdefault(node.value.id, set()).add(node.attr)

    edits: list[tuple[int, int, str]] = []

    def edit(start: int, name: str, new: str, before: str = "") -> None:
        pattern = before + "(" + re.escape(name).replace(r"\.", _SPACE + r"\." + _SPACE) + ")"
        found = re.compile(pattern).match(text, start)
        assert found, name
        breaks = "".join(re.findall(r"\\(?:\r\n|\r|\n)", found.group(1)))
        edits.append((found.start(1), found.end(1), new + (" " + breaks if breaks else "")))

    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and _ours(node.module):
            assert node.module is not None
            offers = OFFERS.get(node.module, ())
            names = [alias.name for alias in node.names]
            start = _position(lines, starts, node.lineno, node.col_offset)
            if names == ["*"] and offers:
                star = _position(lines, starts, node.names[0].lineno, node.names[0].col_offset)
                edits.append((star, star + 1, ", ".join(offers)))
            elif not set(names) <= set(offers):
                kept.append(f"line {node.lineno}: from {node.module} import {', '.join(names)}")
                continue
            edit(start, node.module, private, "from" + _SPACE)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if not _ours(alias.name):
                    continue
                top = alias.name.partition(".")[0]
                offers = OFFERS[top] if not alias.asname else OFFERS.get(alias.name, ())
                if alias.name not in OFFERS or not used.get(alias.asname or top, set()) <= {*offers, "types"}:
                    kept.append(f"line {alias.lineno}: import {alias.name}")
                    continue
                start = _position(lines, starts, alias.lineno, alias.col_offset)
                edit(start, alias.name, private if alias.asname else f"{private} as {top}")
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    changed = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text)
    out = [old if new == line else new.encode(encoding) for old, line, new in zip(raw, lines, changed, strict=True)]
    return bom + b"".join(out)
