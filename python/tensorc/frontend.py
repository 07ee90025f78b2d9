"""Sources through the compiler: units, the findings of files that Python cannot parse, the JSON report."""

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorc import project
from tensorc.config import Config
from tensorc.problem import Problem
from tensorc.project import File, shown


class Unparsed(NamedTuple):
    """A file that Python refuses."""

    file: File
    line: int  # from 1
    column: int  # from 0, in UTF-8 bytes
    message: str

    def text(self) -> str:
        return f"{shown(self.file.path)}:{self.line}:{self.column + 1}: RXT000 {self.message}"


def extension() -> Any:
    """The module tensorc._tensorc."""
    try:
        import tensorc._tensorc as _tensorc
    except ImportError as error:
        raise Problem(f"the compiler tensorc._tensorc does not load ({error}): install tensorc again") from None
    return _tensorc


def read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Problem(f"cannot read {shown(path)}: {error.strerror}: change its permissions, or leave it out") from None


def compile_source(file: File, source: bytes, config: Config, path: str | None = None) -> Any:
    """A _tensorc.Unit, or an Unparsed. `path` is how messages name the file (default: its absolute path)."""
    make = extension().Unit
    name = project.text(path or file.path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the user's source: Python says so when it runs
            return make(
                source,
                name,
                file.module,
                marked_only=config.marker == "decorator",
                gradients=config.gradients,
                on_mismatch=config.on_mismatch,
                numerics=config.numerics,
            )
    except SyntaxError as error:
        offset = max((error.offset or 1) - 1, 0)  # in characters
        column = len((error.text or "")[:offset].encode()) if error.text else offset
        return Unparsed(file, error.lineno or 1, column, f"Python parse error: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        said = str(error) or f"too deeply nested for Python's parser ({type(error).__name__})"
        return Unparsed(file, 1, 0, f"Python parse error: {said}")


def summary(units: Sequence[Any], unparsed: Sequence[Unparsed]) -> str:
    """The last line of check's text: how many functions of each status there are."""
    counts = Counter(function["status"] for unit in units for function in unit.functions)
    files = f", not parsed: {len(unparsed)}" if unparsed else ""
    return f"{counts['accepted']} native, {counts['rejected']} rejected, {counts['not-candidate']} not-candidate{files}"


def report(units: Sequence[Any], unparsed: Sequence[Unparsed], root: str) -> bytes:
    """check.json. The compiler writes it; files that it never saw are added here."""
    text: bytes = extension().report(list(units), project.text(root))
    if not unparsed:
        return text
    import json

    found = json.loads(text)
    for bad in unparsed:
        diagnostic = {
            "code": "RXT000",
            "column": bad.column,
            "file_path": project.text(bad.file.path),
            "function_name": None,
            "line": bad.line,
            "message": bad.message,
            "severity": "error",
            "suggestion": None,
        }
        found["diagnostics"].append(diagnostic)
    return (json.dumps(found, indent=2, sort_keys=True) + "\n").encode()
