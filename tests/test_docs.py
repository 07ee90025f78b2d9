"""The pages say what is so: those that are generated, and the README's session."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from workbench import ROOT, USUAL_KERNELS, environment, has_torch

README = (ROOT / "README.md").read_text(encoding="utf-8")


MODELS = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def session(console: str) -> list[tuple[str, str]]:
    """Commands and what they print. A command goes on while a quote is open."""
    found: list[tuple[str, str]] = []
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        n = 1
        while "".join(lines[:n]).count("'") % 2:
            n += 1
        found.append(("".join(lines[:n]), "".join(lines[n:])))
    return found


def test_operations_page_is_fresh() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "docs.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not has_torch(), reason="torch is not installed")
def test_the_session_of_the_readme(tmp_path: Path) -> None:
    _, source = blocks("python")
    (tmp_path / "score").mkdir()
    (tmp_path / "score" / "score.py").write_text(source)
    commands = session(blocks("console")[1])
    assert len(commands) == 3
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    for command, printed in commands:
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment(PATH=path, PYTHONPATH=None, **USUAL_KERNELS), capture_output=True, text=True)
        assert done.stdout.replace(tag, "cp311") + done.stderr == printed, command


@pytest.mark.isolated
def test_the_code_about_models(capsys: pytest.CaptureFixture[str]) -> None:
    """The README's model, and the page's blocks one after the other, in one namespace."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(blocks("python")[0], {})
        assert capsys.readouterr().out == "True exact\n"
        names: dict[str, object] = {}
        found = blocks("python", MODELS)
        assert len(found) == 7
        for block in found:
            exec(block, names)
    assert "linear aten::linear" in capsys.readouterr().out


def test_links_and_paths() -> None:
    """What a page names is there."""
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https://)([^)#]+)\)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
        for path in re.findall(r"`((?:compiler|runtime|tests|docs|python|tools|examples|bench)/[\w./-]+)`", text):
            assert (ROOT / path).exists(), f"{page.name}: {path}"
