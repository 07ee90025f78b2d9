"""Faults that users of tensor compilers have met: each file of bugs/ is compiled, and its own check() holds it in mode auto.

A file's header says where it was reported, the symptom, and what is right. KIND BUILD and ENV cases have procedures beyond
check(); those are tests of test_build.py, test_threads.py and test_warnings.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from workbench import TESTS, Project, has_torch

BUGS = sorted(p for p in (TESTS / "bugs").glob("case*.py") if p.stem[4:].isdigit())
pytestmark = pytest.mark.skipif(not has_torch(), reason="torch is not installed")

CHECK = """\
import importlib, importlib.util, sys
name, source = {name!r}, {source!r}
built = importlib.import_module(name)
spec = importlib.util.spec_from_file_location(name + "_source", source)
original = importlib.util.module_from_spec(spec)
spec.loader.exec_module(original)
assert built.__file__ != original.__file__
original.check(built)
"""


@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    project = Project(module_folder / "bugs")
    for path in (TESTS / "bugs").glob("case*.py"):
        project.write(path.name, path.read_bytes())
    return project.build()


@pytest.mark.parametrize("path", BUGS, ids=lambda p: p.stem)
def test_bug(built: Project, path: Path) -> None:
    built.run(CHECK.format(name=path.stem, source=str(path)), mode="auto")


def test_a_failing_check_is_seen(tmp_path: Path) -> None:
    """The check must run on the built module: with another body than the source's it fails."""
    source = (TESTS / "bugs" / "case02.py").read_text()
    project = Project(tmp_path, {"case02.py": source.replace("return x.relu()", "return x.tanh()")}).build()
    done = project.python(CHECK.format(name="case02", source=str(TESTS / "bugs" / "case02.py")), mode="auto")
    assert done.returncode == 1 and "AssertionError" in done.stderr
