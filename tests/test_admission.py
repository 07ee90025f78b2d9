"""A recipe that does not have the wheel's bits is found out before it is used: its functions keep the library body."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from workbench import Project, has_torch

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(not has_torch(), reason="torch is not installed")

SOURCE = """\
import torch
from tensorc.types import TensorF32Cpu2D


def broken(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


def whole(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.tanh()


def both(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.tanh().relu()

"""
# The right text of a recipe, and one that is wrong for few inputs: -0, NaN, or the last elements of a row.
BREAKS = {
    "relu": ("kernel/map.inc", "MAP1(relu, v_select(v_lt(x, v_zero), v_zero, x))", "MAP1(relu, v_select(v_lt(v_zero, x), x, v_zero))"),
    "tanh": ("kernel/map.inc", "MAP1_VML(tanh, vml_tanh)", "MAP1_VML(tanh, vml_exp)"),
}
CALL = """
import torch, m
x = torch.tensor([[-0.0, 1.0, -2.0, float("nan"), 0.5]])
for f in (m.broken, m.whole, m.both):
    same = f(x).nan_to_num(7.0).view(torch.int32).equal(f.__wrapped__(x).nan_to_num(7.0).view(torch.int32))
    print(f.__name__, same, f.body, f.stats()["not_admitted"])
"""


def bodies(folder: Path, monkeypatch: pytest.MonkeyPatch, broken: str | None) -> dict[str, list[str]]:
    """What each function says of itself after a call, with one recipe broken in a runtime of its own."""
    from tensorc import __main__, cc

    runtime = folder / "runtime"
    shutil.copytree(ROOT / "runtime", runtime)
    if broken:
        name, right, wrong = BREAKS[broken]
        text = (runtime / name).read_text()
        assert right in text
        (runtime / name).write_text(text.replace(right, wrong))
    project = Project(folder / "project", {"m.py": SOURCE})
    monkeypatch.setattr(cc, "runtime_dir", lambda: str(runtime))
    monkeypatch.setenv("TENSORC_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setattr(sys, "argv", ["tensorc"])
    assert __main__.main(["build", "-q", str(project.root)]) == 0
    lines = project.run(CALL, mode="native").splitlines()
    return {line.split()[0]: line.split(maxsplit=1)[1].split(maxsplit=2) for line in lines}


@pytest.mark.parametrize("broken", [None, *BREAKS])
def test_a_broken_recipe_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str | None) -> None:
    found = bodies(tmp_path, monkeypatch, broken)
    for name, recipes in {"broken": {"relu"}, "whole": {"tanh"}, "both": {"relu", "tanh"}}.items():
        same, body, not_admitted = found[name]
        assert same == "True"
        assert body == ("library" if broken in recipes else "exact"), (name, found)
        assert not_admitted == (f"['{broken}']" if broken in recipes else "[]")


def test_verdicts_are_kept_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies(tmp_path, monkeypatch, "relu")
    (kept,) = (tmp_path / "cache").glob("admission-torch-*")
    lines = sorted(line.split()[0] + line.split()[2] for line in kept.read_text().splitlines())
    assert lines == ["relu0", "tanh1"]
    # What the file says is believed: nothing is examined twice.
    kept.write_text("".join(f"{line.rsplit(' ', 1)[0]} 0\n" for line in kept.read_text().splitlines()))
    project = Project(tmp_path / "project")
    assert [line.split()[2] for line in project.run(CALL, mode="native").splitlines()] == ["library"] * 3
    assert kept.read_text().count("\n") == 2
