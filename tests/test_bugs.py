"""Faults that users of tensor compilers have met: each file of bugs/ is compiled, and its own check() holds it in mode auto.

A file's header says where it was reported, the symptom, and what is right. KIND BUILD and ENV cases have procedures beyond
check(); those are tests of test_build.py, test_threads.py and test_warnings.py.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from workbench import TESTS, Project, has_torch

BUGS = sorted(p for p in (TESTS / "bugs").glob("case*.py") if p.stem[4:].isdigit())
pytestmark = pytest.mark.skipif(not has_torch(), reason="torch is not installed")

@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    project = Project(module_folder / "bugs")
    for path in (TESTS / "bugs").glob("case*.py"):
        project.write(path.name, path.read_bytes())
    return project.build()


# Where another outcome than the case's own check is allowed, and documented: which one.
DOCUMENTED = {"case40": "the names of a framework are bound when the module is compiled (docs/architecture.md)"}


def check(built: Project, path: Path) -> None:
    module = built.load(path.stem, "auto")
    spec = importlib.util.spec_from_file_location(path.stem + "_source", path)
    assert spec and spec.loader
    source = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(source)
    assert Path(module.__file__).parent == built.tree
    source.check(module)


@pytest.mark.isolated
@pytest.mark.parametrize("path", [p for p in BUGS if p.stem not in DOCUMENTED], ids=lambda p: p.stem)
def test_bug(built: Project, path: Path) -> None:
    check(built, path)


def test_patched_names_are_not_seen(built: Project) -> None:
    """Case 40: a patch of torch.nn.functional.relu changes Python, never a part of a compiled function."""
    code = """
        import torch, case40 as m
        from unittest import mock
        x = torch.ones(1, 1)
        with mock.patch.object(torch.nn.functional, "relu", lambda t: t * 7.0):
            print(m.act(x).item(), m.act.__wrapped__(x).item())
        """
    assert built.run(code).split() == ["1.0", "7.0"]


@pytest.mark.isolated
def test_a_failing_check_is_seen(tmp_path: Path) -> None:
    """The check must run on the built module: with another body than the source's it fails."""
    path = TESTS / "bugs" / "case02.py"
    project = Project(tmp_path, {"case02.py": path.read_text().replace("return x.relu()", "return x.tanh()")}).build()
    with pytest.raises(AssertionError):
        check(project, path)
