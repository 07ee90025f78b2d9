"""Faults that users of tensor compilers have met: each file of bugs/ is compiled, and its own check() holds it in mode auto.

A file's header says where it was reported, the symptom, and what is right. KIND BUILD and ENV cases have procedures beyond
check(); those are tests of test_build.py, test_threads.py and test_warnings.py.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from workbench import HEAD, TESTS, Project, has_torch

BUGS = sorted(p for p in (TESTS / "bugs").glob("case*.py") if p.stem[4:].isdigit())
TF_BUGS = [p for p in BUGS if "\n# ENV: tf\n" in p.read_text(errors="replace")]
pytestmark = pytest.mark.skipif(not has_torch(), reason="torch is not installed")


@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    project = Project(module_folder / "bugs")
    for path in (TESTS / "bugs").rglob("*.py"):
        project.write(str(path.relative_to(TESTS / "bugs")), path.read_bytes())
    return project.build()


def check(built: Project, path: Path) -> None:
    module = built.load(path.stem, "auto")
    spec = importlib.util.spec_from_file_location(path.stem + "_source", path)
    assert spec and spec.loader
    source = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(source)
    assert Path(module.__file__).parent == built.tree
    source.check(module)


@pytest.mark.isolated
@pytest.mark.parametrize("path", [p for p in BUGS if p not in TF_BUGS], ids=lambda p: p.stem)
def test_bug(built: Project, path: Path) -> None:
    check(built, path)


@pytest.mark.skipif(not importlib.util.find_spec("tensorflow"), reason="tensorflow is not installed")
@pytest.mark.parametrize("path", TF_BUGS, ids=lambda p: p.stem)
def test_tensorflow_bug(built: Project, path: Path) -> None:
    """In a process of its own, which torch is not imported into."""
    code = f"""
        import {path.stem} as module, importlib.util
        spec = importlib.util.spec_from_file_location("source", {str(path)!r})
        source = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(source)
        source.check(module)
        print(module.__file__)
        """
    assert built.run(code, mode="auto").split() == [str(built.tree / path.name)]


def test_what_another_module_patches_is_not_seen(tmp_path: Path) -> None:
    """Beyond case 40, whose module patches torch itself: a patch from outside changes Python, never a part of a compiled function."""
    project = Project(tmp_path, {"m.py": HEAD + "\n\ndef act(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return F.relu(x)\n\n"}).build()
    code = """
        import torch, m
        from unittest import mock
        x = torch.ones(1, 1)
        with mock.patch.object(torch.nn.functional, "relu", lambda t: t * 7.0):
            print(m.act(x).item(), m.act.__wrapped__(x).item())
        """
    assert project.run(code).split() == ["1.0", "7.0"]


@pytest.mark.isolated
def test_a_failing_check_is_seen(tmp_path: Path) -> None:
    """The check must run on the built module: with another body than the source's it fails."""
    path = TESTS / "bugs" / "case02.py"
    project = Project(tmp_path, {"case02.py": path.read_text().replace("return x.relu()", "return x.tanh()")}).build()
    with pytest.raises(AssertionError):
        check(project, path)
