"""print() in native functions: what Python prints, once, whoever answers the call in the end."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from workbench import HEAD, Project, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

SOURCE = HEAD + '''
def values(n: int, s: float, b: bool) -> int:
    print("\\u00e9\\u4e00\\ttext", n, s, b, n > 1, not b, -n, 1.5, 7, True)
    print()
    for i in range(n):
        print(i, "of", n)
    return n


def divides(n: int) -> int:
    print("n =", n)
    print("1 // n =", 1 // n)
    return n


def adds(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    print("before")
    z = x + y
    print("after")
    return z.relu()

'''


@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    return Project(module_folder / "prints", {"prints.py": SOURCE}).build()


def printed(f: Callable[..., Any], *args: Any) -> tuple[str, Any]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            result = f(*args)
        except Exception as e:
            result = type(e)
    return out.getvalue(), result


@pytest.mark.parametrize("mode", ["native", "auto", "compare", "fallback"])
def test_same_text_once(built: Project, mode: str) -> None:
    import tensorc
    import torch

    m = built.load("prints")
    fits, other = torch.ones(2, 3), torch.ones(5, 7)
    for f, *args in [(m.values, 3, 0.1, True), (m.values, 0, float("inf"), False), (m.values, 1, 1e22, True), (m.divides, 2),
                     (m.divides, 0), (m.adds, fits, other)]:
        want = printed(f.__wrapped__, *args)
        with tensorc.mode(mode):
            assert printed(f, *args) == want, (f.__name__, args)
        assert want[0]
    with tensorc.mode(mode):
        text, result = printed(m.adds, fits, fits)
    assert text == "before\nafter\n" and result.sum() == 12


def test_no_stdout(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorc

    m = built.load("prints")
    with tensorc.mode("native"):
        monkeypatch.setattr(sys, "stdout", None)
        assert m.divides(1) == 1
        monkeypatch.delattr(sys, "stdout")
        with pytest.raises(RuntimeError, match="lost sys.stdout"):
            m.divides(1)


def test_a_stream_that_fails(built: Project) -> None:
    import tensorc

    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("no space")

    m = built.load("prints")
    with tensorc.mode("native"), contextlib.redirect_stdout(Broken()):
        with pytest.raises(OSError, match="no space"):
            m.divides(2)
        with pytest.raises(OSError, match="no space"):  # it comes first: Python would not have got to the division
            m.divides(0)

