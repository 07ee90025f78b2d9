"""What the user's own code calls: two decorators that only mark, and the switch between native and Python."""

import os
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, overload

_F = TypeVar("_F", bound=Callable[..., Any])
MODES = ("auto", "native", "fallback", "compare")


def _check_function(function: object, decorator: str) -> None:
    if not isinstance(function, FunctionType):
        raise TypeError(
            f"@tensorc.{decorator} can only decorate functions and methods, not {type(function).__name__} objects; "
            f"apply it directly to the function, below @staticmethod or @classmethod"
        )


@overload
def native(function: _F) -> _F: ...


@overload
def native(*, target: str | None = None) -> Callable[[_F], _F]: ...


def native(function: _F | None = None, *, target: str | None = None) -> _F | Callable[[_F], _F]:
    """Marks a function to be compiled, also where the project compiles marked functions only. Nothing is wrapped."""
    if target is not None and str(target).strip().lower() not in ("c", "rust"):
        raise ValueError(f"@tensorc.native target {target!r} is not supported; leave it out")

    def mark(marked: _F) -> _F:
        _check_function(marked, "native")
        setattr(marked, "__rextio_native__", True)  # noqa: B010
        if target is not None:
            setattr(marked, "__rextio_native_target__", target.strip().lower())  # noqa: B010
        return marked

    return mark if function is None else mark(function)


def exempt(function: _F) -> _F:
    """Marks a function that is never compiled. Nothing is wrapped."""
    _check_function(function, "exempt")
    setattr(function, "__rextio_exempt__", True)  # noqa: B010
    return function


class mode:  # noqa: N801 (used as a function: `with tensorc.mode("fallback"):`)
    """How compiled functions run inside the block: "auto", "native", "fallback" (Python only) or "compare" (both).

    Holds for the whole process: for modules that are loaded already and for those loaded inside.
    """

    def __init__(self, name: str) -> None:
        if name not in MODES:
            raise ValueError(f"no mode {name!r}: use one of {', '.join(MODES)}")
        self._name = name
        self._before: list[str | None] = []

    @staticmethod
    def _switch(name: str) -> None:
        for module in list(sys.modules.values()):
            # By dictionary: torch.ops and its like make up any attribute that they are asked for.
            names = getattr(module, "__dict__", {})
            if "__tensorc_rt__" in names and "_set_mode" in names:
                names["_set_mode"](name)

    def __enter__(self) -> None:
        self._before.append(os.environ.get("TENSORC_MODE"))
        os.environ["TENSORC_MODE"] = self._name
        self._switch(self._name)

    def __exit__(self, *error: object) -> None:
        before = self._before.pop()
        if before is None:
            os.environ.pop("TENSORC_MODE", None)
        else:
            os.environ["TENSORC_MODE"] = before
        name = (before or os.environ.get("REXTIO_NATIVE_MODE") or "auto").strip().lower()
        self._switch(name if name in MODES else "auto")
