"""`tensorc build`: what it writes, what it leaves alone, and what it does when something is wrong."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from workbench import HEAD, NATIVE, PACKAGES, ROOT, Project, environment, has_torch, tensorc

pytestmark = pytest.mark.skipif(not has_torch(), reason="torch is not installed")

ACT = HEAD + "\ndef act(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x.relu()\n\n"
USE = "import torch\nfrom {module} import act\nprint(act(-torch.ones(1, 2)).tolist(), " + NATIVE.format(f="act") + ")"
DONE = "[[0.0, 0.0]] native"


def snapshot(folder: Path) -> dict[str, tuple[str, int]]:
    return {str(p.relative_to(folder)): (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns)
            for p in sorted(folder.rglob("*")) if p.is_file() and "__pycache__" not in p.parts}


def fake_compiler(folder: Path, body: str) -> Path:
    path = folder / "fakecc"
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)
    return path


# ── what is written ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_layouts(tmp_path: Path) -> None:
    files = {"flat.py": ACT, "pkg/__init__.py": "", "pkg/deep/__init__.py": "", "pkg/deep/mod.py": ACT, "pkg/data.txt": "data", "pkg/py.typed": "", "pkg/stub.pyi": "x: int\n",
             "tests/test_x.py": ACT, "notes.txt": "no"}
    flat = Project(tmp_path / "flat", files).build()
    assert {p.name.split(".")[0] for p in flat.extensions} == {"_tensorc_flat", "_tensorc_mod"}
    for name in ("flat.py", "pkg/deep/mod.py", "pkg/data.txt", "pkg/py.typed", "pkg/stub.pyi"):
        assert (flat.tree / name).exists(), name
    assert not (flat.tree / "tests").exists()
    assert flat.run(USE.format(module="flat")).strip() == DONE and flat.run(USE.format(module="pkg.deep.mod")).strip() == DONE
    src = Project(tmp_path / "src", {"src/" + k: v for k, v in files.items() if k != "notes.txt"}).build()
    assert src.run(USE.format(module="pkg.deep.mod")).strip() == DONE


def test_packages_by_name(tmp_path: Path) -> None:
    """Modules of one name in several packages, __init__ and __main__ with functions of their own."""
    project = Project(tmp_path, {"a/__init__.py": ACT, "a/mod.py": ACT, "b/__init__.py": "", "b/mod.py": ACT.replace("relu", "tanh"), "a/__main__.py": ACT + "import torch\nprint(act(-torch.ones(1, 1)).item(), act.body)\n"}).build()
    assert project.run(USE.format(module="a")).strip() == DONE
    assert project.run(USE.format(module="a.mod")).strip() == DONE
    assert "native" in project.run(USE.format(module="b.mod")) and project.run(USE.format(module="b.mod")).strip() != DONE
    assert project.run("import runpy\nrunpy.run_module('a', run_name='__main__')").split() in (["0.0", "library"], ["0.0", "exact"])


def test_nothing_in_a_source_is_too_long(tmp_path: Path) -> None:
    """Literals, names and what a refusal quotes, each of some thousand characters."""
    long = "é" * 5000
    project = Project(tmp_path, {"m.py": ACT + f'''
def speak(x: TensorF32Cpu2D, {long}: int) -> TensorF32Cpu2D:
    print("{long}")
    if {long} < 0:
        raise ValueError("{long}")
    a{long} = x.relu()
    return a{long} + a{long}


def refused(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.{long}(torch.{long})
'''}).build()
    assert project.run(f'''
        import torch, m
        assert m.speak(torch.ones(1, 1), 1).item() == 2 and m.speak.body != "python"
        try: m.speak(torch.ones(1, 1), -1)
        except ValueError as error: print(str(error) == "{long}")
    ''') == f"{long}\n{long}\nTrue\n"
    refused = project.functions()["m.refused"]
    assert refused["native_status"] == "rejected" and all(long in d["message"] for d in refused["diagnostics"]), refused["diagnostics"]


def test_source_is_untouched(tmp_path: Path) -> None:
    project = Project(tmp_path, {"m.py": ACT})
    before = snapshot(tmp_path)
    project.build()
    after = snapshot(tmp_path)
    assert {k: after[k] for k in before} == before
    assert {k.split("/")[0] for k in after} <= {"m.py", ".tensorc", "dist"}


def test_wheel(tmp_path: Path) -> None:
    pyproject = '[project]\nname = "My.Score"\nversion = "1.2.3"\ndescription = "d"\ndependencies = ["numpy>=1"]\nrequires-python = ">=3.11"\n'
    project = Project(tmp_path, {"pyproject.toml": pyproject, "my_score/__init__.py": "", "my_score/m.py": ACT, "my_score/w.bin": b"\x00\x01", "my_score/py.typed": ""}).build()
    (wheel,) = project.wheels
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert wheel.name.startswith("my_score-1.2.3-" + tag)
    with zipfile.ZipFile(wheel) as z:
        assert z.testzip() is None
        names = z.namelist()
        info = next(n for n in names if n.endswith("/METADATA"))
        metadata = z.read(info).decode()
        record = z.read(info.replace("METADATA", "RECORD")).decode()
    assert "Name: My.Score" in metadata and "Version: 1.2.3" in metadata and "Requires-Dist: numpy>=1" in metadata and "Requires-Python: >=3.11" in metadata
    assert "tensorc" not in metadata.lower()
    assert {"my_score/__init__.py", "my_score/m.py", "my_score/w.bin", "my_score/py.typed"} <= set(names)
    assert any(n.startswith("my_score/_tensorc_m.") and n.endswith(".so") for n in names)
    assert all(n.startswith(("my_score/", "my_score-1.2.3.dist-info/", "My.Score")) for n in names), names
    assert all(n in record for n in names)


def test_no_native_function_at_all(tmp_path: Path) -> None:
    project = Project(tmp_path, {"m.py": "def f(x):\n    return x\n"})
    done = project.try_build("--cc", str(tmp_path / "there-is-none"))
    assert done.returncode == 0, done.stderr
    assert project.extensions == [] and "py3-none-any" in project.wheels[0].name
    assert project.run("import m\nprint(m.f(3))").strip() == "3"


def test_empty_project(tmp_path: Path) -> None:
    done = Project(tmp_path, {"readme.txt": "x"}).try_build()
    assert done.returncode == 1 and len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr
    done = tensorc("build", tmp_path / "none")
    assert done.returncode == 1 and "none" in done.stderr and "Traceback" not in done.stderr


def test_two_builds_are_equal(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "pkg/m.py": ACT, "pkg/n.py": ACT.replace("relu", "tanh")}
    hashes = []
    for place in ("one", "two/deeper down"):
        project = Project(tmp_path / place / "proj", files).build()
        hashes.append((hashlib.sha256(project.wheels[0].read_bytes()).hexdigest(), [hashlib.sha256(p.read_bytes()).hexdigest() for p in project.extensions],
                       [hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(project.tree.rglob("*.py"))]))
        time.sleep(1.1)  # a time stamp in an output would differ
    assert hashes[0] == hashes[1]
    again = project.build("-j", "1", env=environment(PYTHONHASHSEED="7", TZ="Asia/Tokyo", LANG="C"))
    tensorc("clean", again.root)
    assert not (again.root / ".tensorc").exists()
    again.build(env=environment(PYTHONHASHSEED="8"))
    assert hashlib.sha256(again.wheels[0].read_bytes()).hexdigest() == hashes[0][0]


# ── incremental ──────────────────────────────────────────────────────────────────────────────────────────────────────


def counting_compiler(folder: Path) -> tuple[Path, Path]:
    log = folder / "compiled.log"
    return fake_compiler(folder, f'for a in "$@"; do case "$a" in *.c) echo "$a" >> "{log}";; esac; done\nexec cc "$@" -O0\n'), log


def compiled(log: Path) -> set[str]:
    names = {Path(line).name for line in log.read_text().splitlines()} if log.exists() else set()
    log.unlink(missing_ok=True)
    return {n for n in names if n.startswith("_tensorc_")}


def test_incremental(tmp_path: Path) -> None:
    cc, log = counting_compiler(tmp_path)
    project = Project(tmp_path / "p", {"pkg/__init__.py": "", "pkg/m.py": ACT, "pkg/n.py": ACT.replace("relu", "tanh")})
    arguments = ("--cc", str(cc))
    project.build(*arguments)
    assert compiled(log) == {"_tensorc_m.c", "_tensorc_n.c"}
    first = snapshot(tmp_path / "p")

    project.build(*arguments)
    assert compiled(log) == set() and snapshot(tmp_path / "p") == first, "nothing changed: nothing is written"

    os.utime(project.root / "pkg/m.py")
    project.build(*arguments)
    assert compiled(log) == set(), "only the time changed"

    # the same size and the same time, another content
    path = project.root / "pkg/m.py"
    before = path.stat()
    path.write_text(ACT.replace("relu", "tanh"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    project.build(*arguments)
    assert compiled(log) == {"_tensorc_m.c"}
    assert project.run(USE.format(module="pkg.m")).strip() != DONE, "the new code runs, also where bytecode of the old one was there"

    path.write_text("# a remark\n" + ACT)
    project.build(*arguments)
    assert compiled(log) == {"_tensorc_m.c"}, "line numbers are part of the module"

    path.write_text(ACT.replace("relu", "no_such_op"))
    project.build(*arguments)
    assert not list(project.tree.rglob("_tensorc_m*")), "what belongs to nothing any more is gone"

    (project.root / "pkg/n.py").unlink()
    path.write_text(ACT)
    project.build(*arguments)
    assert not list(project.tree.rglob("*n.py")) and {p.name.split(".")[0] for p in project.extensions} == {"_tensorc_m"}


def test_an_unchanged_build_speaks_of_the_folder_it_runs_in(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {"m.py": ACT, "bad.py": "def f(:\n"})
    said = [tensorc("build", where, cwd=cwd) for where, cwd in (("p", tmp_path), (".", project.root))]
    assert [done.returncode for done in said] == [1, 1]
    outside, inside = ((done.stdout, done.stderr) for done in said)
    assert outside[0].startswith("p/.tensorc/build/python: 1 native function") and outside[1].startswith("p/bad.py:1:7: RXT000 ")
    assert inside == tuple(text.removeprefix("p/") for text in outside)


@pytest.mark.parametrize("text", ["[]", "{}", '{"wheel": 7}', "null", "{"])
def test_damaged_record(tmp_path: Path, text: str) -> None:
    project = Project(tmp_path, {"m.py": ACT}).build()
    project.write(".tensorc/build/state.json", text)
    project.build()
    assert project.run(USE.format(module="m")).strip() == DONE


def test_compiler_by_a_relative_path(tmp_path: Path) -> None:
    cc, log = counting_compiler(tmp_path)
    done = tensorc("build", "p", "--cc", f".{os.sep}{cc.name}", cwd=Project(tmp_path / "p", {"m.py": ACT}).root.parent)
    assert done.returncode == 0 and compiled(log) == {"_tensorc_m.c"}, done.stderr


@pytest.mark.parametrize("source", [
    "def f(x: int) -> int:\n    return x + 1 \\\n\ny = 1\n",
    "def f(x: int) -> int:\n    return x + 1 \\\n# a remark\n\ny = 1\n",
    "def f(x: int) -> int:\n    return x + 1 \\\n\n",
    "if True:\n    \\\ndef f(x: int) -> int:\n        return x + 1\n\n    y = 1\n",
    "class A:\n    pass\n\ndef \\\n  f(x: int) -> int:\n    return x + 1\n\n",
])
def test_continued_lines(tmp_path: Path, source: str) -> None:
    """The line that binds goes into no line that a backslash continues."""
    project = Project(tmp_path, {"m.py": source}).build()
    found = project.functions()["m.f"]
    assert project.run("import m; print(m.f(1), hasattr(m.f, 'body'))").split() == ["2", str(found["native_status"] == "accepted")]
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "f(x" in text)
    start = found["name_range"]["start"]
    assert start == {"line": line, "column": source.splitlines()[line - 1].index("f(x")}


def test_damaged_outputs_are_made_again(tmp_path: Path) -> None:
    project = Project(tmp_path, {"m.py": ACT}).build()
    good = {k: v[0] for k, v in snapshot(tmp_path / ".tensorc" / "build" / "python").items()}
    wheel = project.wheels[0].read_bytes()
    for damage in ("delete extension", "empty extension", "delete source", "edit source", "delete wheel", "delete state", "break state", "stray file"):
        extension = project.extensions[0]
        if damage == "delete extension":
            extension.unlink()
        elif damage == "empty extension":
            extension.write_bytes(b"")
        elif damage == "delete source":
            (project.tree / "m.py").unlink()
        elif damage == "edit source":
            (project.tree / "m.py").write_text("broken(")
        elif damage == "delete wheel":
            project.wheels[0].unlink()
        elif damage == "delete state":
            (tmp_path / ".tensorc/build/state.json").unlink()
        elif damage == "break state":
            (tmp_path / ".tensorc/build/state.json").write_text("{")
        else:
            (project.tree / "stray.py").write_text("x = 1\n")
        project.build()
        assert {k: v[0] for k, v in snapshot(project.tree).items()} == good, damage
        assert [w.read_bytes() for w in project.wheels] == [wheel], damage


def test_settings_are_part_of_the_key(tmp_path: Path) -> None:
    project = Project(tmp_path, {"m.py": ACT}).build()
    code = "import torch, m\nx = torch.ones(1, 2, requires_grad=True)\nprint(m.act(x).requires_grad)"
    assert project.run(code, mode="auto").strip() == "True"
    project.build("--gradients", "detach")
    assert project.run(code, mode="auto").strip() == "False"
    project.write("pyproject.toml", '[tool.tensorc]\ngradients = "detach"\n')
    project.build()
    assert project.run(code, mode="auto").strip() == "False"
    project.build(env=environment(TENSORC_GRADIENTS="python"))
    assert project.run(code, mode="auto").strip() == "True"


# ── something is wrong ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("how", ["fails", "is missing", "is silent", "crashes", "writes nothing"])
def test_compiler(tmp_path: Path, how: str) -> None:
    if how == "is missing":
        cc = tmp_path / "nowhere" / "cc"
    else:
        cc = fake_compiler(tmp_path, {"fails": 'echo "m.c:3:1: error: mercury in retrograde" >&2; exit 1\n', "is silent": "exit 1\n", "crashes": "kill -9 $$\n", "writes nothing": "exit 0\n"}[how])
    project = Project(tmp_path / "p", {"m.py": ACT})
    for _ in range(2):
        done = project.try_build("--cc", str(cc))
        assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
        lines = [line for line in done.stderr.strip().splitlines() if line]
        assert len(lines) == 1 and lines[0].startswith("tensorc: "), done.stderr
        if how == "fails":
            assert "mercury in retrograde" in done.stderr
        if how == "is missing":
            assert str(cc) in done.stderr
        assert not project.wheels and not (project.root / "dist").exists()
        assert project.extensions == []
    assert (project.root / "m.py").read_text() == ACT
    project.build()
    assert project.run(USE.format(module="m")).strip() == DONE


def test_compiler_by_environment(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {"m.py": ACT})
    done = project.try_build(env=environment(CC="/bin/false"))
    assert done.returncode == 1 and "false" in done.stderr
    done = project.try_build(env=environment(PATH="/nonexistent", CC=None))
    assert done.returncode == 1 and len(done.stderr.strip().splitlines()) == 1 and "compiler" in done.stderr, done.stderr
    wrapper = fake_compiler(tmp_path, 'shift\nexec cc "$@" -O0\n')
    project.build(env=environment(CC=f"'{wrapper}' extra-argument", CFLAGS='-DNAME="a b"'))
    assert project.run(USE.format(module="m")).strip() == DONE
    for path in project.extensions:
        assert b"fakecc" not in path.read_bytes()


def test_a_failed_build_keeps_the_last_good_tree(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {"m.py": ACT, "n.py": ACT}).build()
    before = {k: v for k, v in snapshot(project.tree).items()}
    project.write("m.py", ACT.replace("relu", "tanh"))
    cc = fake_compiler(tmp_path, 'case "$*" in *_tensorc_m.c*) echo "error: no" >&2; exit 1;; esac\nexec cc "$@" -O0\n')
    done = project.try_build("--cc", str(cc))
    assert done.returncode == 1 and "m.py" in done.stderr
    assert snapshot(project.tree) == before, "all or nothing"
    assert not project.wheels, "a wheel of older sources must not look like the result"
    assert project.run(USE.format(module="m")).strip() == DONE


def test_interrupted_build(tmp_path: Path) -> None:
    """Killed in the middle of the C compiler: the next build is whole."""
    cc = fake_compiler(tmp_path, 'case "$*" in *_tensorc_m.c*) sleep 30;; esac\nexec cc "$@" -O0\n')
    project = Project(tmp_path / "p", {"m.py": ACT})
    process = subprocess.Popen([sys.executable, "-m", "tensorc", "build", str(project.root), "--cc", str(cc)], env=environment(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(project.root.rglob("_tensorc_m.c")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, 9)
    process.wait()
    assert not project.extensions and not project.wheels
    project.build()
    assert project.run(USE.format(module="m")).strip() == DONE


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root writes everywhere, and there is no setpriv")
@pytest.mark.parametrize("what", ["project", "tree", "dist"])
def test_unwritable_folder(tmp_path: Path, what: str) -> None:
    """Run as another user where the tests run as root. Files first: the folder a user cannot write to."""
    project = Project(tmp_path / "p", {"m.py": ACT})
    if what != "project":
        project.build()
        project.write("m.py", ACT + "\n\n")
    target = {"project": project.root, "tree": project.tree, "dist": project.root / "dist"}[what]
    command = [sys.executable, "-m", "tensorc", "build", str(project.root)]
    if os.geteuid() == 0:
        subprocess.run(["chmod", "-R", "a+rX", str(tmp_path)], check=True)
        for parent in tmp_path.parents:
            if parent.stat().st_uid == 0 and str(parent).startswith(("/tmp/", "/var/tmp/")):
                parent.chmod(parent.stat().st_mode | stat.S_IXOTH | stat.S_IROTH)
        if what != "project":
            subprocess.run(["chmod", "-R", "a+rwX", str(project.root)], check=True)
            subprocess.run(["chmod", "-R", "a-w", str(target)], check=True)
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
        probe = subprocess.run([*command[:4], sys.executable, "-c", "import tensorc._tensorc"], env=environment(HOME=str(tmp_path)), capture_output=True)
        if probe.returncode:
            pytest.skip("another user cannot read this interpreter")
    else:
        subprocess.run(["chmod", "-R", "a-w", str(target)], check=True)
    try:
        done = subprocess.run(command, env=environment(HOME=str(tmp_path), TENSORC_CACHE_DIR=str(tmp_path / "cache")), capture_output=True, text=True)
    finally:
        subprocess.run(["chmod", "-R", "u+w", str(tmp_path)], check=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and "writ" in done.stderr.lower() or "ermission" in done.stderr, done.stderr
    if what == "project":
        assert sorted(p.name for p in project.root.iterdir()) == ["m.py"]


BAD_SOURCES = {
    "not_utf8": b"x = '\xff\xe9'\n", "nul": b"x = 1\x00\n", "cut": b"x = (1 +\n", "cut_string": b"'''doc\n", "tabs": b"if 1:\n        y = 1\n\tz = 2\n", "dedent": b"if 1:\n        y = 1\n    z = 2\n",
    "cookie": b"# coding: klingon\nx = 1\n", "bom_latin": b"\xef\xbb\xbf# coding: latin-1\nx = 1\n", "utf16": "x = 1\n".encode("utf-16"), "dup_arg": b"def f(x, x):\n    return x\n",
    "ret_outside": b"return 1\n", "nonascii_op": "x = 1 \u2212 1.0\n".encode(), "brackets": b"[" * 100000, "parens": b"x = " + b"(" * 100000 + b"1" + b")" * 100000, "surrogate": b"x = '\xed\xa0\x80'\n",
}


@pytest.mark.parametrize("name", BAD_SOURCES)
def test_unparsable_file(tmp_path: Path, name: str) -> None:
    project = Project(tmp_path, {"good.py": ACT, f"bad_{name}.py": BAD_SOURCES[name]})
    for command in ("check", "build"):
        done = tensorc(command, project.root)
        assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
        lines = done.stderr.strip().splitlines()
        assert len(lines) == 1 and f"bad_{name}.py:" in lines[0] and "RXT000" in lines[0], done.stderr
    assert not project.wheels, "no wheel with a module that cannot run"
    assert [p.name.split(".")[0] for p in project.extensions] == ["_tensorc_good"], "the good module beside it is compiled"
    if name == "cut":
        project.write(f"bad_{name}.py", "x = 1\n")
        project.build()
        assert len(project.wheels) == 1 and project.run(USE.format(module="good")).strip() == DONE


DEEP = {
    "chain": "def f(x: TensorF32Cpu2D, n: int = 1) -> TensorF32Cpu2D:\n    return x" + " + x" * 300 + "\n",
    "ints": "def f(n: int) -> int:\n    return n" + " + n" * 900 + "\n",
    "parens": "def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return " + "(" * 90 + "x" + ")" * 90 + "\n",
    "ifs": "def f(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:\n" + "".join(f"    if n == {i}:\n        x = x.relu()\n" for i in range(150)) + "    return x\n",
    "elifs": "def f(n: int) -> int:\n    if n == 0:\n        n = 1\n" + "".join(f"    elif n == {i}:\n        n = {i}\n" for i in range(1, 500)) + "    return n\n",
    "nested": "def f(n: int) -> int:\n" + "".join("    " * (i + 1) + "if n > 0:\n" for i in range(18)) + "    " * 19 + "n = 2\n    return n\n",
    "statements": "def f(n: int) -> int:\n" + "    n = n * 3 % 1000003\n" * 600 + "    return n\n",
    "calls": "def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x" + ".relu()" * 150 + "\n",
    "minus": "def f(n: int) -> int:\n    return " + "-" * 500 + "n\n",
    "long_name": f"def f({'n' * 3000}: int) -> int:\n    return {'n' * 3000}\n",
    "functions": "".join(f"def f{i}(n: int) -> int:\n    return n + {i}\n\n" for i in range(400)) + "def f(n: int) -> int:\n    return n\n",
}


@pytest.fixture(scope="module")
def deep(module_folder: Path) -> Project:
    files = {f"deep_{name}.py": HEAD + "\n" + text + "\n" for name, text in DEEP.items()}
    return Project(module_folder / "deep", {**files, "good.py": ACT}).build()


@pytest.mark.isolated
@pytest.mark.parametrize("name", DEEP)
def test_deep_or_long_source(deep: Project, name: str) -> None:
    """Compiled, or left on Python with a finding; never a crash, and the value is right."""
    import torch

    f = deep.load(f"deep_{name}").f
    sys.setrecursionlimit(20000)
    arguments = [torch.ones(1, 1) if "Tensor" in DEEP[name] else 2] + [3] * ("Tensor" in DEEP[name] and "n: int)" in DEEP[name])
    assert f(*arguments) == getattr(f, "__wrapped__", f)(*arguments)
    assert deep.load("good").act.native_status == "accepted"


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    """Told, and left out; a link to a file is the file, one to a folder is not followed."""
    project = Project(tmp_path / "p", {"m.py": ACT, "pkg/__init__.py": "", "pkg/data.txt": "data"})
    links = {"gone.py": "nowhere", "loop.py": "loop.py", "pkg/gone.txt": "nowhere", "under.py": "m.py/x", "long.py": "n" * 300}
    for name, target in {**links, "linked.py": "m.py", "pkg/again": "..", "back": "."}.items():
        (project.root / name).symlink_to(target)
    for command in ("check", "build", "build"):
        done = tensorc(command, project.root)
        assert done.returncode == 0, done.stderr
        told = sorted(line.split(": ")[2] for line in done.stderr.splitlines() if line.startswith("tensorc: warning: "))
        assert [os.path.relpath(path, os.path.relpath(project.root)) for path in told] == sorted(links), done.stderr
    assert {p.name for p in project.tree.glob("*.py") if not p.name.startswith("_tensorc")} == {"m.py", "linked.py"}
    assert project.run(USE.format(module="linked")).strip() == DONE


@pytest.mark.parametrize("name", ["a b", "it's", 'q"uote', "$HOME", "größe 層", "-dash", "semi;colon", "new\nline", "x" * 120, "back\\slash", "%s", "tests", "build", ".hidden"])
def test_strange_paths(tmp_path: Path, name: str) -> None:
    project = Project(tmp_path / name, {"m.py": ACT})
    done = subprocess.run([sys.executable, "-m", "tensorc", "build", "."], cwd=project.root, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert project.run("import m, _tensorc_m\nprint(m.act.native_status)").strip() == "accepted"
    if name.startswith("-"):
        return
    done = tensorc("check", project.root)
    assert done.returncode == 0 and "native" in done.stdout


def test_strange_module_names(tmp_path: Path) -> None:
    names = ["größe", "a-b", "a b", "class", "int", "1st", "_x", "__init", "torch_", "tensorc_x", "x" * 100]
    project = Project(tmp_path, {f"{n}.py": ACT for n in names}).build()
    code = f"import importlib, torch\nfor n in {names!r}:\n    m = importlib.import_module(n)\n    print(m.act(-torch.ones(1, 2)).tolist(), {NATIVE.format(f='m.act')})"
    assert project.run(code).splitlines() == [DONE] * len(names)


@pytest.mark.parametrize("text, word", [
    ("[tool.tensorc]\nfoo = 1\n", "foo"), ('[tool.tensorc]\ngradients = "maybe"\n', "maybe"), ("[tool.tensorc\n", "TOML"), ("[tool.tensorc]\ninclude = 3\n", "include"), ('[tool.tensorc]\non_mismatch = "error"\n', "on_mismatch"),
])
def test_wrong_settings(tmp_path: Path, text: str, word: str) -> None:
    project = Project(tmp_path, {"m.py": ACT, "pyproject.toml": text})
    done = project.try_build()
    assert done.returncode == 1 and word in done.stderr and len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr, done.stderr
    assert not (project.root / "dist").exists()


def test_wrong_setting_by_variable(tmp_path: Path) -> None:
    done = Project(tmp_path, {"m.py": ACT}).try_build(env=environment(TENSORC_GRADIENTS="maybe"))
    assert done.returncode == 1 and "TENSORC_GRADIENTS" in done.stderr


def test_rextio_project(tmp_path: Path) -> None:
    """A project of the reference tool builds unchanged, with that tool's behaviour."""
    toml = '[build]\nnative_backend = "rust"\n\n[rust]\nbinding = "pyo3"\n\n[plugins]\nenabled = ["rextio-torch"]\n'
    source = ACT.replace("tensorc.types", "rextio_torch.types")
    project = Project(tmp_path, {"rextio.toml": toml, ".rextioignore": "# no\nleft_out/\nnot_this.py\n", "m.py": source, "left_out/a.py": source, "not_this.py": source})
    done = project.try_build()
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning") == 1 and "[rust]" in done.stderr
    assert not (project.tree / "left_out").exists() and not (project.tree / "not_this.py").exists()
    code = "import torch, m\nx = torch.ones(1, 2, requires_grad=True)\nprint(m.act(x).requires_grad)\ntry:\n    m.act(torch.ones(2))\nexcept ValueError as e:\n    print(e)"
    out = project.run(code, mode="auto").splitlines()
    assert out[0] == "False" and out[1].startswith("rextio-torch: expected rank-2 tensor, got rank 1")
    bad = Project(tmp_path / "bad", {"rextio.toml": "[plugin]\nx = 1\n", "m.py": source}).try_build()
    assert bad.returncode == 1 and "plugin" in bad.stderr


# ── markers, decorators, include and exclude ─────────────────────────────────────────────────────────────────────────


def test_include_and_exclude(tmp_path: Path) -> None:
    project = Project(tmp_path, {"pyproject.toml": '[tool.tensorc]\nexclude = ["pkg/b.py"]\n', "pkg/__init__.py": "", "pkg/a.py": ACT, "pkg/b.py": ACT}).build()
    assert [p.name.split(".")[0] for p in project.extensions] == ["_tensorc_a"]
    assert project.run("import pkg.b, torch\nprint(pkg.b.act(torch.ones(1, 1)).item())").strip() == "1.0", "excluded modules are there, as Python"
    project.write("pyproject.toml", '[tool.tensorc]\ninclude = ["pkg/b.py"]\n')
    project.build()
    assert [p.name.split(".")[0] for p in project.extensions] == ["_tensorc_b"]


def test_marker_decorator(tmp_path: Path) -> None:
    source = "import tensorc\n" + HEAD + "\n@tensorc.native\ndef marked(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x.relu()\n\n\ndef plain(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x.relu()\n\n"
    project = Project(tmp_path, {"m.py": source, "pyproject.toml": '[tool.tensorc]\nmarker = "decorator"\n'}).build()
    assert project.run("import m\nprint(hasattr(m.marked, 'body'), hasattr(m.plain, 'body'))").split() == ["True", "False"]


# ── at run time ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("first", ["", "import numpy; ", "import torch; ", "import torch.nn; ", "import m as again; "])
def test_import_order(module_folder: Path, first: str) -> None:
    project = Project(module_folder / "order", {"m.py": "import torch.nn.functional as F\nimport torch\nfrom tensorc.types import *\n" + ACT.split("\n\n", 1)[1]}).build()
    assert project.run(first + "import m as c, torch as t; print(c.act(-t.ones(1, 2)).tolist(), " + NATIVE.format(f="c.act") + ")").strip() == DONE


def test_extension_before_torch(module_folder: Path) -> None:
    """The extension itself, and a module whose functions need torch but which imports it only for types."""
    project = Project(module_folder / "order", {"m.py": "import torch.nn.functional as F\nimport torch\nfrom tensorc.types import *\n" + ACT.split("\n\n", 1)[1]}).build()
    out = project.run("import _tensorc_m, sys\nprint('torch' in sys.modules)\nimport torch, m\nprint(m.act(-torch.ones(1, 2)).tolist(), " + NATIVE.format(f="m.act") + ")", fresh=True).splitlines()
    assert out == ["False", DONE]


def test_function_of_numbers_needs_no_torch(tmp_path: Path) -> None:
    project = Project(tmp_path, {"m.py": "def f(n: int) -> int:\n    return n * 2\n\n"}).build()
    assert project.run("import m, sys\nprint(m.f(3), m.f.body in ('library', 'exact'), 'torch' in sys.modules)", fresh=True).strip() == "6 True False"


def test_nothing_is_needed_at_run_time(module_folder: Path) -> None:
    """No compiler, no home, no temporary folder, no bytecode, an unreadable cache."""
    project = Project(module_folder / "bare", {"m.py": ACT}).build()
    env = {"PATH": "/nonexistent", "HOME": "/nonexistent", "TMPDIR": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1", "CC": "/bin/false"}
    before = snapshot(project.root)
    assert project.run(USE.format(module="m"), env=env).strip() == DONE
    assert snapshot(project.root) == before, "a run writes nothing"


def test_needed_libraries(module_folder: Path) -> None:
    if not shutil.which("objdump"):
        pytest.skip("objdump is missing")
    project = Project(module_folder / "bare", {"m.py": ACT}).build()
    (extension,) = project.extensions
    text = subprocess.run(["objdump", "-p", str(extension)], capture_output=True, text=True, check=True).stdout
    needed = {line.split()[1] for line in text.splitlines() if line.split()[:1] == ["NEEDED"]}
    assert needed <= {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}, needed
    assert "RPATH" not in text and "RUNPATH" not in text
    exported = subprocess.run(["objdump", "-T", str(extension)], capture_output=True, text=True, check=True).stdout
    ours = {line.split()[-1] for line in exported.splitlines() if " .text" in line and " g " in line}
    assert ours == {"PyInit__tensorc_m"}, ours
    strings = extension.read_bytes()
    for path in (project.root, ROOT, PACKAGES):
        assert str(path).encode() not in strings, f"{path} is in the product"


def test_baseline_code_is_baseline(module_folder: Path, tmp_path: Path) -> None:
    """No AVX outside the kernels that are chosen by a look at the CPU."""
    if not shutil.which("objdump") or "x86_64" not in os.uname().machine:
        pytest.skip("objdump is missing, or this is no x86-64")
    archive = next((PACKAGES / "tensorc" / "rt").glob("*.a"))
    subprocess.run(["ar", "x", str(archive)], cwd=tmp_path, check=True)
    wide = {p.name for p in tmp_path.glob("*.o") if any(r in subprocess.run(["objdump", "-d", str(p)], capture_output=True, text=True, check=True).stdout for r in ("%ymm", "%zmm"))}
    assert all("avx" in name for name in wide), wide
    project = Project(module_folder / "bare", {"m.py": ACT})
    c = project.root / ".tensorc/build/c/_tensorc_m.c"
    if not c.exists():
        project.build()
    import sysconfig

    from tensorc import cc

    subprocess.run(["cc", *cc.MODULE_FLAGS, "-I" + sysconfig.get_path("include"), f"-I{cc.runtime_dir()}", "-c", str(c), "-o", str(tmp_path / "m.obj")], check=True)
    text = subprocess.run(["objdump", "-d", str(tmp_path / "m.obj")], capture_output=True, text=True, check=True).stdout
    assert "%ymm" not in text and "%zmm" not in text


def test_two_wheels_in_one_environment_without_tensorc(tmp_path: Path) -> None:
    """Both wheels are unpacked into one folder; neither tensorc nor the reference tool can be imported."""
    site = tmp_path / "site"
    for n, markers in ((1, "tensorc.types"), (2, "rextio_torch.types")):
        source = ACT.replace("tensorc.types", markers)
        project = Project(tmp_path / f"p{n}", {"pyproject.toml": f'[project]\nname = "wheel{n}"\nversion = "{n}.0"\n', f"wheel{n}/__init__.py": f"from wheel{n}.m import act\n", f"wheel{n}/m.py": source, f"top{n}.py": source}).build()
        with zipfile.ZipFile(project.wheels[0]) as z:
            names = set(z.namelist())
            assert not site.exists() or not {n for n in names if (site / n).exists()}, "two wheels own one file"
            z.extractall(site)
    code = """
        import importlib.abc, sys
        class No(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name.partition(".")[0] in ("tensorc", "rextio", "rextio_torch"):
                    raise ModuleNotFoundError(name, name=name)
        sys.meta_path.insert(0, No())
        import torch, wheel1, wheel2, top1, top2
        x = -torch.ones(1, 2)
        for f in (wheel1.act, wheel2.act, top1.act, top2.act):
            print(f(x).tolist(), 'native' if f.body in ('library', 'exact') else f.body)
        assert wheel1.m.TensorF32Cpu2D.__name__ == "TensorF32Cpu2D"
        assert not any(m.partition(".")[0] in ("tensorc", "rextio", "rextio_torch") for m in sys.modules)
    """
    env = environment(TENSORC_MODE="native")
    env["PYTHONPATH"] = str(site)
    import textwrap

    done = subprocess.run([sys.executable, "-P", "-c", textwrap.dedent(code)], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [DONE] * 4


def test_wheel_installs_with_pip(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {"pyproject.toml": '[project]\nname = "installs"\nversion = "1.0"\n', "installs/__init__.py": "", "installs/m.py": ACT}).build()
    target = tmp_path / "target"
    done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", str(target), str(project.wheels[0])], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert project.run(USE.format(module="installs.m"), path=target).strip() == DONE


def test_concurrent_builds(tmp_path: Path) -> None:
    project = Project(tmp_path, {"m.py": ACT, "n.py": ACT})
    command = [sys.executable, "-m", "tensorc", "build", "-q", str(tmp_path)]
    running = [subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    for process in running:
        process.communicate(timeout=120)
    assert [p.returncode for p in running] == [0, 0, 0]
    assert project.run(USE.format(module="m")).strip() == DONE and len(project.wheels) == 1


def test_another_compiler_gets_its_own_archive(tmp_path: Path) -> None:
    cc = fake_compiler(tmp_path, 'exec cc -DOTHER_COMPILER "$@" -O0\n')
    project = Project(tmp_path / "p", {"m.py": ACT})
    cache = tmp_path / "cache"
    project.build("--cc", str(cc), env=environment(TENSORC_CACHE_DIR=str(cache)))
    assert any(cache.rglob("*.a")) and project.run(USE.format(module="m")).strip() == DONE
    tensorc("clean", project.root, "--cache", env=environment(TENSORC_CACHE_DIR=str(cache)))
    assert not any(cache.rglob("*.a"))


def test_build_uses_this_tensorc() -> None:
    done = tensorc("--version")
    assert done.returncode == 0 and done.stdout.startswith("tensorc ")
    import tensorc as package

    assert Path(package.__file__).resolve().parent.parent == PACKAGES


@pytest.mark.skipif(not has_torch(), reason="torch is not installed")
def test_the_module_may_use_our_name(project: Project) -> None:
    """The bind lines need a name in the module: one that the source doesn't have."""
    project.write("m.py", HEAD + """
_tensorc = 5

def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()

def _tensorc_(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.exp()

def g(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.tanh()

""")
    project.build()
    code = "import torch, m; x = torch.ones(2, 2); print(m._tensorc, *[f(x) is not None and f.body for f in (m.f, m._tensorc_, m.g)])"
    assert project.run(code).split() == ["5", "exact", "exact", "exact"]
