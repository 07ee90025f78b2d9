"""The compiler, in C: compiler/module.c."""

from collections.abc import Callable, Iterable
from types import CellType
from typing import Any, TypedDict

RT_VERSION: int

class Function(TypedDict):
    name: str
    qualname: str
    status: str  # "accepted", "rejected", "not-candidate"
    line: int
    column: int
    end_line: int
    bind_line: int  # 1-based blank line; 0: the end of the file; -1: nowhere
    bind_column: int
    lane: str  # "torch", "none"
    params: list[tuple[str, str, str, bool]]  # name, type ("f32[2]", "int"), kind ("keyword-only"), has a default
    result: str

class Diagnostic(TypedDict):
    function: str | None  # qualname
    code: str
    outcome: str  # "rejected", "not-covered", "note"
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    suggestion: str | None

class Unit:
    """One source file. Raises SyntaxError, ValueError, RecursionError or MemoryError when Python cannot parse it."""

    path: str
    module: str
    text: str
    n_accepted: int
    functions: list[Function]
    diagnostics: list[Diagnostic]
    def __init__(
        self,
        source: bytes,
        path: str,
        module: str,
        *,
        marked_only: bool = False,
        gradients: str = "python",
        on_mismatch: str = "python",
        numerics: str = "exact",
    ) -> None: ...
    def emit(self, extension: str) -> str: ...
    def show(self, qualname: str, stage: str) -> str: ...
    def report_text(self) -> str: ...

class Graph:
    """A captured graph, from its text. Raises ValueError, with the line, when the text cannot be read."""

    calls: tuple[str, ...]  # the nodes whose Python function the extension's load() takes, in that order
    has_effects: bool  # it writes to what it is given, or draws random numbers
    def __init__(self, text: bytes, name: str) -> None: ...
    def show(self, stage: str) -> str: ...  # "ir", "plan", "c"
    def c(self, extension: str) -> str: ...
    def report(self) -> list[tuple[str, str, str, str]]: ...  # node, operation, way, why

class Watch:
    """What these hold now: dictionaries and lists whole, (dictionary, key) pairs, cells of closures."""

    def __init__(
        self,
        whole: Iterable[dict[str, Any] | list[Any]],
        single: Iterable[tuple[dict[str, Any], str]],
        cells: Iterable[CellType],
    ) -> None: ...
    def holds(self) -> bool: ...  # whether all of it is the object that it was, in the same order

class Front:
    """Called as a compiled model: the version that it is armed with answers, else answer(args, kwargs)."""

    def __init__(
        self,
        answer: Callable[[tuple[Any, ...], dict[str, Any]], Any],
        grad_mode: Callable[[], bool],
        dtype: Callable[[], Any],
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def arm(self, with_: tuple[Any, ...] | None, /) -> int: ...  # how many calls the version before answered

def report(units: list[Unit], project_root: str) -> bytes: ...
def capabilities() -> bytes: ...
def host() -> str: ...  # "AVX512", "AVX2", "BASELINE": -DTC_ONLY_<that> compiles a graph for this processor alone
