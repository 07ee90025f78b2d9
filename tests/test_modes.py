"""The four modes: from the environment at import, by tensorc.mode(), and what each does when the native code is missing."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from workbench import BODIES, HEAD, USUAL_KERNELS, Project, environment, has_torch

pytestmark = pytest.mark.skipif(not has_torch(), reason="torch is not installed")

SOURCE = HEAD + '''
def act(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


def pick(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=1)


def count(n: int) -> int:
    return n * 2


def part(v: float) -> float:
    return v / 3.0


def fails(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    if n < 0:
        raise ValueError("negative")
    return x @ x


def same(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x


def python_only(x):
    return x + 1

'''
@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    return Project(module_folder / "modes", {"modes.py": SOURCE}).build()


def load_from(tree: Path, variables: dict[str, str]) -> Any:
    """Imports `modes` from a tree, with no setting but these; for the child of an isolated test."""
    import importlib
    import sys

    for key in list(os.environ):
        if key.startswith(("TENSORC_", "REXTIO_")):
            del os.environ[key]
    os.environ.update(variables)
    sys.path.insert(0, str(tree))
    module = importlib.import_module("modes")
    assert Path(module.__file__ or "").parent == tree
    return module


# ── the mode of a process ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.isolated
@pytest.mark.parametrize("variables, body", [
    ({}, "native"), ({"TENSORC_MODE": "auto"}, "native"), ({"TENSORC_MODE": "native"}, "native"), ({"TENSORC_MODE": "fallback"}, "python"),
    ({"TENSORC_MODE": "FallBack"}, "python"), ({"TENSORC_MODE": " fallback\n"}, "python"), ({"TENSORC_MODE": ""}, "native"), ({"REXTIO_NATIVE_MODE": "fallback"}, "python"),
    ({"REXTIO_NATIVE_MODE": "native"}, "native"), ({"TENSORC_MODE": "native", "REXTIO_NATIVE_MODE": "fallback"}, "native"),
])
def test_mode_from_the_environment(built: Project, variables: dict[str, str], body: str) -> None:
    import torch

    m = load_from(built.tree, variables)
    m.act(torch.ones(2, 3))
    assert m.act.body == "python" if body == "python" else m.act.body in BODIES


@pytest.mark.isolated
def test_unknown_mode_warns_once(built: Project) -> None:
    import torch

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = load_from(built.tree, {"TENSORC_MODE": "fast"})
        for _ in range(3):
            m.act(torch.ones(1, 2))
    assert m.act.body in BODIES
    assert [c.category for c in caught] == [RuntimeWarning] and "fast" in str(caught[0].message) and "auto" in str(caught[0].message)


@pytest.mark.isolated
def test_mode_manager(built: Project) -> None:
    import tensorc
    import torch

    m = built.load("modes", "auto")
    x = torch.randn(2, 3)
    seen = []
    for name in ("native", "fallback", "auto", "compare", "fallback"):
        with tensorc.mode(name):
            m.act(x)
            seen.append(m.act.body)
    assert [s == "python" for s in seen] == [False, True, False, False, True]
    m.act(x)
    assert m.act.body in BODIES
    with tensorc.mode("fallback"):
        with tensorc.mode("native"):
            m.act(x)
            assert m.act.body in BODIES
        m.act(x)
        assert m.act.body == "python"
    with pytest.raises(KeyError), tensorc.mode("fallback"):
        raise KeyError
    m.act(x)
    assert m.act.body in BODIES
    for bad in ("", "NATIVE?", "python"):
        with pytest.raises(ValueError):
            tensorc.mode(bad)
    assert os.environ["TENSORC_MODE"] == "auto"


@pytest.mark.isolated
def test_mode_manager_governs_later_imports(built: Project) -> None:
    import tensorc
    import torch

    os.environ.pop("TENSORC_MODE", None)
    sys.path.insert(0, str(built.tree))
    with tensorc.mode("fallback"):
        m = importlib.import_module("modes")
        m.act(torch.ones(1, 2))
        assert m.act.body == "python"


# ── fallback ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.isolated
def test_fallback_is_python(built: Project) -> None:
    import torch

    m = built.load("modes", "fallback")
    p = torch.randn(2, 3, requires_grad=True)
    m.act(p).sum().backward()
    assert p.grad is not None
    assert m.act(torch.ones(2, 2, 2)).shape == (2, 2, 2) and m.count("ab") == "abab"
    assert Project.native_calls(m.act) == 0


# ── native ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_uncompiled_functions_are_python_in_mode_native(built: Project) -> None:
    assert built.run("import modes\nprint(modes.python_only(1))", mode="native").strip() == "2"


# ── compare ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.isolated
def test_compare_agrees(built: Project) -> None:
    import torch

    m = built.load("modes", "compare")
    nan = torch.tensor([[float("nan"), 1.0], [-0.0, float("inf")]])
    for f, args in ((m.act, (nan,)), (m.pick, (nan,)), (m.count, (3,)), (m.part, (float("nan"),)), (m.part, (1.0,)), (m.fails, (torch.eye(2), 1)), (m.same, (nan,)), (m.act, (torch.ones(0, 3),))):
        result = f(*args)
        assert type(result) is type(f.__wrapped__(*args)) and f.body in BODIES
    assert m.same(nan) is nan
    with pytest.raises(ValueError, match="negative"):
        m.fails(torch.eye(2), -1)
    with pytest.raises(RuntimeError):
        m.fails(torch.ones(2, 3), 1)
    with pytest.raises(IndexError):
        m.pick(torch.ones(2, 0))
    assert sum(m.act.stats()["python"].values()) >= 2 and Project.native_calls(m.act) >= 2


PLANTED = [
    ("act", "x.relu()", "x.abs()", "torch.tensor([[1.0, 2.0], [3.0, -4.0]])", ["act", "4"], "value"),
    ("act", "x.relu()", "x * -1.0", "torch.tensor([[0.0]])", ["act"], "sign of zero"),
    ("act", "x.relu()", "x.double().relu()", "torch.ones(1, 2)", ["act", "float64"], "dtype"),
    ("act", "x.relu()", "x.relu().reshape(-1)", "torch.ones(1, 2)", ["act"], "shape"),
    ("pick", "x.argmax(dim=1)", "x.argmin(dim=1)", "torch.tensor([[1.0, 2.0, 3.0]])", ["pick", "2", "0"], "index"),
    ("count", "n * 2", "n * 3", "5", ["count", "10", "15"], "int"),
    ("part", "v / 3.0", "v / 4.0", "1.0", ["part"], "float"),
    ("fails", "x @ x", "x + None", "torch.eye(2), 1", ["fails", "TypeError"], "only Python raises"),
    ("same", "return x", "raise KeyError('k')", "torch.eye(2)", ["same", "KeyError"], "Python raises at once"),
]


def planted(built: Project, tree: Path, name: str, old: str, new: str) -> Any:
    """The built module with another Python source than its native code was made from, and a loader that takes it all the same."""
    import importlib
    import re
    import shutil
    import sys

    from tensorc import binding

    shutil.copytree(built.tree, tree)
    source = (tree / "modes.py").read_text()
    start = source.index(f"def {name}(")
    assert old in source[start:]
    changed = source[:start] + source[start:].replace(old, new, 1)
    (tree / "modes.py").write_text(changed)
    loader = tree / (binding.loader_name("modes.py") + ".py")
    digest = re.search(r'C_DIGEST = "(.*)"', loader.read_text())
    assert digest
    loader.write_bytes(binding.loader("modes.py", changed.encode(), digest[1]))
    sys.path.insert(0, str(tree))
    os.environ["TENSORC_MODE"] = "compare"
    module = importlib.import_module("modes")
    assert module.__file__ == str(tree / "modes.py")
    return module


@pytest.mark.isolated
@pytest.mark.parametrize("name, old, new, args, words, what", PLANTED, ids=[p[-1] for p in PLANTED])
def test_compare_finds_a_planted_difference(tmp_path: Path, built: Project, name: str, old: str, new: str, args: str, words: list[str], what: str) -> None:
    """What is compared is the source with the native code: with another one each kind of difference is told."""
    import torch

    m = planted(built, tmp_path / "tree", name, old, new)
    values = eval(f"({args},)", {"torch": torch})
    with pytest.raises(Exception) as caught:
        getattr(m, name)(*values)
    text = str(caught.value)
    for word in words:
        assert word in text, (word, text)
    assert not isinstance(caught.value, KeyError), "the difference is what is raised"
    import tensorc

    for quiet in ("native", "auto"):
        with tensorc.mode(quiet):
            getattr(m, name)(*values)


@pytest.mark.isolated
def test_compare_names_the_first_index(tmp_path: Path, built: Project) -> None:
    import torch

    m = planted(built, tmp_path / "tree", "act", "return x.relu()", "y = x.relu(); y[1, 2] += 1.0; return y")
    with pytest.raises(Exception) as caught:
        m.act(torch.ones(3, 4))
    text = str(caught.value).replace(" ", "")
    assert ("[1,2]" in text or "(1,2)" in text) and "native1(" in text and "Python2(" in text, text


# ── the native code is missing or broken ─────────────────────────────────────────────────────────────────────────────


def broken(tmp_path: Path, built: Project, how: str) -> Path:
    import shutil

    tree = tmp_path / "tree"
    shutil.copytree(built.tree, tree)
    extension = next(tree.glob("_tensorc_modes*.so"))
    if how == "missing":
        extension.unlink()
    elif how == "empty":
        extension.write_bytes(b"")
    elif how == "corrupt":
        extension.write_bytes(b"\x7fELF" + b"garbage" * 100)
    elif how == "text":
        extension.write_text("hello")
    else:
        (tree / "_tensorc_modes_load.py").unlink()
    return tree


HOWS = ["missing", "empty", "corrupt", "text", "no loader"]


def answers(m: Any) -> tuple[Any, ...]:
    import torch

    return m.act(-torch.ones(1, 2)).tolist(), m.count(2), m.python_only(1), m.act.__name__


@pytest.mark.isolated
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("mode", ["auto", "fallback", "compare"])
def test_broken_extension_runs_python(tmp_path: Path, built: Project, how: str, mode: str) -> None:
    tree = broken(tmp_path, built, how)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = load_from(tree, {"TENSORC_MODE": mode})
    assert answers(m) == ([[0.0, 0.0]], 4, 2, "act")
    if how in ("missing", "no loader") or mode == "fallback":
        assert caught == []
    else:
        assert [c.category for c in caught] == [RuntimeWarning] and "modes" in str(caught[0].message)


@pytest.mark.isolated
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("variable, value", [("TENSORC_MODE", "native"), ("TENSORC_MODE", " Native "), ("REXTIO_NATIVE_MODE", "native")])
def test_broken_extension_in_mode_native(tmp_path: Path, built: Project, how: str, variable: str, value: str) -> None:
    import torch

    tree = broken(tmp_path, built, how)
    if how == "no loader":
        with pytest.raises(ImportError):
            load_from(tree, {variable: value})
        return
    m = load_from(tree, {variable: value})
    assert m.python_only(1) == 2
    for f, argument in ((m.act, torch.ones(1, 2)), (m.count, 2)):
        with pytest.raises(RuntimeError, match=f"^native mode requires generated native function: {f.__name__}$"):
            f(argument)


@pytest.mark.isolated
@pytest.mark.parametrize("variable", ["TENSORC_DEBUG_NATIVE", "REXTIO_DEBUG_NATIVE"])
@pytest.mark.parametrize("value", ["1", "0"])
def test_debug_raises_the_load_failure(tmp_path: Path, built: Project, variable: str, value: str) -> None:
    tree = broken(tmp_path, built, "corrupt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if value == "1":
            with pytest.raises(ImportError):
                load_from(tree, {variable: value})
        else:
            assert answers(load_from(tree, {variable: value}))[1] == 4


@pytest.mark.isolated
def test_gradients_warn_in_auto_only(built: Project) -> None:
    import torch

    m = built.load("modes", "native")
    x = torch.randn(2, 3, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result: Any = m.act(x)
    assert not result.requires_grad and not caught


def test_numerics_library(tmp_path: Path) -> None:
    """The setting that leaves everything to the wheel's own kernels; two builds of one source side by side."""
    for numerics in ("library", "exact"):
        project = Project(tmp_path / numerics, {"modes.py": SOURCE}).build("--numerics", numerics)
        out = project.run("import torch, modes as m\nm.act(torch.ones(2, 3)); m.pick(torch.ones(2, 3))\nprint(m.act.body, m.pick.body)", env=environment(**USUAL_KERNELS))
        assert set(out.split()) == {numerics}
