"""Which native code a module gets: what was compiled from its own text, however the module is loaded, or none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from workbench import Project, environment

TEXT = '''
"""A module of numbers."""
NAMES = {"b", "a", "c"}


def steps(n: int) -> int:
    """Of the second kind."""
    assert n > -100
    return 2 * n + 1


if NAMES:
    def turn(n: int) -> int:
        return n - 1

'''
EDITED = TEXT.replace("2 * n + 1", "2 * n + 7")
CALL = "print(m.steps(5), getattr(m.steps, 'native_status', 'python'))"
RELOAD = "import importlib, os, warnings\nwarnings.simplefilter('error')\nimport m\n" + CALL + "\n{edit}\nimportlib.invalidate_caches()\ntry:\n    importlib.reload(m)\nexcept RuntimeWarning as warning:\n    print(warning)\nwarnings.simplefilter('ignore')\nimportlib.reload(m)\n" + CALL


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project", {"m.py": TEXT}).build()


def other_python(project: Project) -> None:
    """As if another release of this Python had made the build: the code may be spelled in another way."""
    loader = project.tree / "_tensorc_m_load.py"
    text = loader.read_text()
    assert f"PYTHON = {sys.hexversion}\n" in text
    loader.write_text(text.replace(f"PYTHON = {sys.hexversion}\n", "PYTHON = 1\n").replace("CODE_DIGESTS = (", "CODE_DIGESTS = ('', "))


@pytest.mark.parametrize("python", ["the same", "another"])
def test_a_file_edited_in_the_build(project: Project, python: str) -> None:
    if python == "another":
        other_python(project)
    path = project.tree / "m.py"
    edit = f"text = open({str(path)!r}).read().replace('n + 1', 'n + 7')\nopen({str(path)!r}, 'w').write(text)\nos.utime({str(path)!r}, (1, 1))"
    first, warning, second = project.run(RELOAD.format(edit=edit), mode=None).splitlines()
    assert (first, second) == ("11 accepted", "17 python") and "not the one that was compiled" in warning


def test_a_source_edited_and_built_again(project: Project) -> None:
    """The process keeps the extension that it has loaded, so the new text runs as Python until the next start."""
    project.write("next.py", EDITED)
    edit = f"import shutil, subprocess, sys\nshutil.copy({str(project.root / 'next.py')!r}, {str(project.root / 'm.py')!r})\nsubprocess.run([sys.executable, '-m', 'tensorc', 'build', '-q', {str(project.root)!r}], check=True)"
    first, warning, second = project.run(RELOAD.format(edit=edit), mode=None).splitlines()
    assert (first, second) == ("11 accepted", "17 python") and "another build" in warning
    assert project.run("import m\n" + CALL).strip() == "17 accepted"


def test_code_made_elsewhere_for_this_file(project: Project) -> None:
    """Tools that reload change the text on its way, under the file's own name."""
    code = f"""
        import sys, warnings
        warnings.simplefilter("ignore")
        path = {str(project.tree / "m.py")!r}
        text = open(path).read()
        for changed in (text, text.replace("n + 1", "n + 7")):
            names = {{"__name__": "m", "__file__": path}}
            exec(compile(changed, path, "exec"), names)
            print(names["steps"](5), getattr(names["steps"], "native_status", "python"))
        """
    assert project.run(code, mode=None).splitlines() == ["11 accepted", "17 python"]


def test_meaning_is_more_than_the_functions_own_text(tmp_path: Path) -> None:
    text = "from math import {} as g\n\n\ndef f(x: float) -> float:\n    return x + K\n\n\nK = 1.0\n"
    project = Project(tmp_path, {"m.py": text.format("floor")}).build()
    path = project.tree / "m.py"
    path.write_text(path.read_text().replace("K = 1.0", "K = 3.0"))
    assert project.run("import m\nprint(m.f(1.0))", mode=None).strip() == "4.0"


@pytest.mark.parametrize("python", ["the same", "another"])
@pytest.mark.parametrize("flags", [[], ["-O"], ["-OO"], ["-X", "no_debug_ranges"]], ids=str)
def test_native_however_python_was_started(project: Project, flags: list[str], python: str) -> None:
    if python == "another":
        other_python(project)
    for seed in ("1", "2"):  # of hashes, which order the sets of the code
        env = environment(TENSORC_MODE="native", PYTHONHASHSEED=seed)
        env["PYTHONPATH"] = os.pathsep.join([str(project.tree), env["PYTHONPATH"]])
        done = subprocess.run([sys.executable, *flags, "-W", "error", "-c", "import m\n" + CALL + "\nprint(m.turn(3), m.turn.native_status)"], env=env, capture_output=True, text=True)
        assert done.stdout.split() == ["11", "accepted", "2", "accepted"], done.stderr


def test_native_from_the_wheel(project: Project, tmp_path: Path) -> None:
    """Its source is another one: the imports of markers are rewritten."""
    project.write("m.py", "from tensorc.types import TensorF32Cpu2D\n" + TEXT)
    project.build()
    site = tmp_path / "site"
    shutil.unpack_archive(project.wheels[0], site, "zip")
    assert "tensorc.types" not in (site / "m.py").read_text()
    assert project.run("import m\n" + CALL, path=site).strip() == "11 accepted"


@pytest.mark.parametrize("name", ["m", "plugins.m", "json.m", "string.m", "a.b.c", "__main__"])
def test_native_under_any_name(project: Project, name: str) -> None:
    code = f"""
        import importlib.util, runpy, sys
        spec = importlib.util.spec_from_file_location({name!r}, {str(project.tree / "m.py")!r})
        m = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(m)
        {CALL}
        class m:
            steps = runpy.run_path({str(project.tree / "m.py")!r}, run_name={name!r})["steps"]
        {CALL}
        """
    assert project.run(code, path=project.root / "nowhere").splitlines() == ["11 accepted"] * 2


def test_modules_of_one_name_stand_side_by_side(tmp_path: Path) -> None:
    files = {"a/m.py": TEXT, "b/m.py": EDITED, "c/m.py": TEXT}
    project = Project(tmp_path, files).build()
    code = """
        import importlib, sys, tensorc
        kept = []
        for folder in "abcab":
            sys.modules.pop("m", None)
            sys.path.insert(0, folder)
            importlib.invalidate_caches()
            import m
            del sys.path[0]
            kept.append(m)
            print(folder, m.steps(5), m.steps.body)
        with tensorc.mode("fallback"):
            print(*[(m.steps(5), m.steps.body) for m in kept])
        """
    lines = project.run(f"import os; os.chdir({str(project.tree)!r})\n" + "\n".join(line[8:] for line in code.splitlines())).splitlines()
    assert lines[:5] == ["a 11 exact", "b 17 exact", "c 11 exact", "a 11 exact", "b 17 exact"]
    assert lines[5] == " ".join(str((n, "python")) for n in (11, 17, 11, 11, 17))


def test_an_extension_of_another_build(project: Project, tmp_path: Path) -> None:
    other = Project(tmp_path / "other", {"m.py": EDITED}).build()
    shutil.copy(other.extensions[0], project.extensions[0])
    done = project.python("import m\n" + CALL, mode=None)
    assert done.stdout.strip() == "11 python" and "another build" in done.stderr


def test_a_free_threaded_python_is_refused(project: Project) -> None:
    """At import, with the reason; its own files have other names, so none is there."""
    for extension in project.extensions:
        extension.unlink()
    done = project.python("import sys\nsys.abiflags += 't'\nimport m\n" + CALL, mode=None)
    assert done.stdout.strip() == "11 python" and "free-threaded Python is not supported" in done.stderr
