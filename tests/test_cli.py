"""The command line: results on stdout, problems on stderr, exit codes 0, 1 and 2, one line for what a user can cause."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from workbench import HEAD, Project, environment, has_torch, tensorc

SOURCE = HEAD + '''
def act(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


def rank(x: TensorF32Cpu2D, axis: int) -> TensorF32Cpu2D:
    größe = 1; return x.softmax(dim=axis)


def view(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.view(-1)


def untyped(x):
    return x

'''


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "p", {"score.py": SOURCE})


def natives(text: str) -> int:
    return len(re.findall(r"^\S+:\d+:\d+: native ", text, re.MULTILINE))


def quiet(done: subprocess.CompletedProcess[str]) -> bool:
    return "Traceback" not in done.stderr


# ── check ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_check_text(project: Project) -> None:
    done = subprocess.run([sys.executable, "-m", "tensorc", "check", "score.py"], cwd=project.root, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("score.py:6:5: native") and "act" in lines[0]
    i = next(i for i, line in enumerate(lines) if "RXTP-TORCH-015" in line)
    assert lines[i].startswith("score.py:11:23: RXTP-TORCH-015 rejected") and "rank" in lines[i]
    source, caret = lines[i + 1], lines[i + 2]
    assert "größe = 1; return x.softmax(dim=axis)" in source
    assert caret.index("^") == source.index("x.softmax"), "the caret counts characters, not bytes"
    assert caret.count("^") == len("x.softmax(dim=axis)")
    assert any("RXT030" in line and "view" in line for line in lines)
    assert any("untyped" in line for line in lines)


def test_check_json(project: Project) -> None:
    for flags in (["--json"], ["--format", "json"]):
        done = tensorc("check", *flags, project.root)
        assert done.returncode == 0 and not done.stderr
        report = json.loads(done.stdout)
        assert report["contract_version"] == "3.0.0"
        assert {f["name"] for m in report["modules"] for f in m["functions"]} == {"act", "rank", "view", "untyped"}


def test_check_is_reproducible(project: Project) -> None:
    one = tensorc("check", "--json", project.root, env=environment(PYTHONHASHSEED="1")).stdout
    two = tensorc("check", "--json", project.root, env=environment(PYTHONHASHSEED="2")).stdout
    assert one == two and one


def test_check_paths(project: Project) -> None:
    project.write("pkg/__init__.py", "")
    project.write("pkg/deep.py", SOURCE)
    done = tensorc("check", "--json", project.root / "pkg" / "deep.py")
    report = json.loads(done.stdout)
    assert [m["module_name"] for m in report["modules"]] == ["pkg.deep"]
    done = tensorc("check", project.root / "pkg", project.root / "score.py")
    assert done.returncode == 0 and natives(done.stdout) == 2
    done = tensorc("check", project.root / "score.py", project.root / "score.py")
    assert natives(done.stdout) == 1
    done = subprocess.run([sys.executable, "-m", "tensorc", "check"], cwd=project.root, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0 and "score.py" in done.stdout


@pytest.mark.parametrize("level, source, code", [
    ("rejected", "rank", 1), ("rejected", "act", 0), ("rejected", "untyped", 0), ("not-candidate", "untyped", 1), ("not-candidate", "act", 0), ("not-candidate", "rank", 1),
])
def test_fail_on(tmp_path: Path, level: str, source: str, code: int) -> None:
    start = SOURCE.index(f"def {source}(")
    text = HEAD + "\n" + SOURCE[start:].split("\n\n\n")[0] + "\n\n"
    project = Project(tmp_path, {"m.py": text})
    done = tensorc("check", project.root)
    word = {"rank": "rejected", "act": "native", "untyped": "not-candidate"}[source]
    assert done.returncode == 0 and f" {word}  {source} " in done.stdout
    assert done.stdout.splitlines()[-1] == ", ".join(f"{int(w == word)} {w}" for w in ("native", "rejected", "not-candidate"))
    assert tensorc("check", "--fail-on", level, project.root).returncode == code


def test_a_model_is_told_of_compile(tmp_path: Path) -> None:
    project = Project(tmp_path, {"m.py": "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n\n    def other(self, x):\n        return x\n"})
    said = tensorc("check", project.root).stdout
    assert said.count("methods stay Python") == 2 and said.count("= help: a model is compiled as it is: tensorc.compile(model)") == 1


def test_no_torch_is_needed_to_check(project: Project) -> None:
    code = "import sys\nimport tensorc.__main__ as m\ncode = m.main(['check', 'score.py'])\nassert 'torch' not in sys.modules and 'numpy' not in sys.modules\nsys.exit(code)"
    done = subprocess.run([sys.executable, "-c", code], cwd=project.root, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_check_writes_nothing(project: Project) -> None:
    tensorc("check", project.root)
    tensorc("check", "--json", project.root)
    assert sorted(p.name for p in project.root.iterdir()) == ["score.py"]


# ── usage and problems ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("arguments", [[], ["frobnicate"], ["check", "--format", "xml"], ["check", "--json", "--format", "text"], ["build", "--nope"], ["show"], ["show", "x.py:f", "--stage", "llvm"],
                                       ["check", "--fail-on", "warning"], ["bench"], ["build", "--gradients", "maybe"]])
def test_usage(arguments: list[str]) -> None:
    done = tensorc(*arguments)
    assert done.returncode == 2 and "usage:" in done.stderr and not done.stdout and quiet(done)


@pytest.mark.parametrize("arguments", [["check", "nowhere"], ["build", "nowhere"], ["build", "score.py"], ["show", "nowhere.py:f"], ["show", "score.py:nope"], ["show", "score.py"], ["bench", "score.py:nope"],
                                       ["clean", "nowhere"], ["init", "nowhere"], ["bench", "score.py:act", "--rows", "x"], ["bench", "score.py:act", "--rows", "0"]])
def test_problems_are_one_line(project: Project, arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", "tensorc", *arguments], cwd=project.root, env=environment(), capture_output=True, text=True)
    assert done.returncode in (1, 2) and not done.stdout, done.stdout
    assert len(done.stderr.strip().splitlines()) == 1 and done.stderr.startswith("tensorc: "), done.stderr


@pytest.mark.skipif(not has_torch(), reason="torch is not installed")
def test_bench_prints_its_own_table_only(tmp_path: Path) -> None:
    project = Project(tmp_path, {"m.py": HEAD + 'def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    print("said")\n    return x.relu()\n\n'})
    done = tensorc("bench", project.root / "m.py:f", "--rows", "1")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 3 and "said" not in done.stdout, done.stdout[:500] + done.stderr


def test_help() -> None:
    done = tensorc("--help")
    assert done.returncode == 0 and all(c in done.stdout for c in ("check", "build", "show", "bench", "init", "clean", "capabilities"))
    for command in ("check", "build", "show", "bench", "init", "clean", "capabilities"):
        assert tensorc(command, "--help").returncode == 0


def test_closed_pipe(project: Project) -> None:
    project.write("big.py", HEAD + "".join(f"\ndef f{i}(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x.cos()\n\n" for i in range(2000)))
    command = f"'{sys.executable}' -m tensorc check . | head -n 1"
    done = subprocess.run(["sh", "-c", command], cwd=project.root, env=environment(), capture_output=True, text=True)
    assert done.stdout.count("\n") == 1 and not done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_output_in_any_encoding(project: Project, encoding: str) -> None:
    done = subprocess.run([sys.executable, "-m", "tensorc", "check", "."], cwd=project.root, env=environment(PYTHONIOENCODING=encoding, LC_ALL="C"), capture_output=True)
    assert done.returncode == 0 and b"RXTP-TORCH-015" in done.stdout and not done.stderr


# ── show ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("stage, word", [("ast", "FunctionDef"), ("ir", "tensor relu"), ("plan", "exact"), ("c", "tc_torch_unary")])
def test_show(project: Project, stage: str, word: str) -> None:
    done = tensorc("show", f"{project.root / 'score.py'}:act", "--stage", stage)
    assert done.returncode == 0 and word in done.stdout and not done.stderr


def test_show_a_function_that_is_not_native(project: Project) -> None:
    for stage in ("ir", "plan", "c"):
        done = tensorc("show", f"{project.root / 'score.py'}:rank", "--stage", stage)
        assert quiet(done) and done.returncode in (0, 1)


# ── init, clean, capabilities ────────────────────────────────────────────────────────────────────────────────────────


def test_init(project: Project) -> None:
    import tomllib

    path = project.root / "pyproject.toml"
    assert tensorc("init", project.root).returncode == 0
    assert "tensorc" in tomllib.loads(path.read_text())["tool"]
    path.write_text('# mine\n[project]\nname = "x"\nversion = "1"\n\n[tool.tensorc]\ngradients = "detach"\n\n[tool.other]\nkey = 1  # keep\n')
    before = path.read_text()
    done = tensorc("init", project.root)
    assert path.read_text() == before and quiet(done)
    done = tensorc("init", "--force", project.root)
    assert done.returncode == 0
    data = tomllib.loads(path.read_text())
    assert data["project"] == {"name": "x", "version": "1"} and data["tool"]["other"] == {"key": 1} and "# keep" in path.read_text() and "# mine" in path.read_text()
    assert data["tool"]["tensorc"].get("gradients", "python") == "python"
    assert tensorc("check", project.root).returncode == 0


@pytest.mark.skipif(not has_torch(), reason="torch is not installed")
def test_clean(project: Project) -> None:
    project.build()
    assert tensorc("clean", project.root).returncode == 0
    assert not (project.root / ".tensorc").exists() and (project.root / "score.py").read_text() == SOURCE
    assert tensorc("clean", project.root).returncode == 0


def test_clean_cache_takes_what_is_ours(project: Project) -> None:
    """The cache may be a folder that others use, too."""
    cache = project.root / "cache"
    for name in ("rt-1/libtensorc_rt.a", "admission-torch-1", "keep.txt", "other/keep.txt"):
        project.write(f"cache/{name}", "")
    assert tensorc("clean", "--cache", project.root, env=environment(TENSORC_CACHE_DIR=str(cache))).returncode == 0
    assert sorted(str(p.relative_to(cache)) for p in cache.rglob("*")) == ["keep.txt", "other", "other/keep.txt"]


def test_capabilities() -> None:
    done = tensorc("capabilities", "--json")
    assert done.returncode == 0
    data = json.loads(done.stdout)
    assert data["contract_version"] == "3.0.0"
    codes = {r["diagnostic_code"] for r in data["rules"]}
    assert {f"RXTP-TORCH-{n:03d}" for n in (*range(1, 10), *range(11, 45), 50, 51)} <= codes
    ids = [r["id"] for r in data["rules"]]
    assert len(ids) == len(set(ids)) or all(r["diagnostic_code"] for r in data["rules"])
    for rule in data["rules"]:
        assert set(rule) >= {"id", "provider", "diagnostic_code", "constraint", "guidance", "outcome", "stability", "scope"}
        assert rule["outcome"] in ("native", "fallback", "reject", "boundary", "shim") and rule["scope"]["kind"] in ("call", "binop", "type", "decorator", "syntax")


def test_every_rule_is_claimed_by_a_case() -> None:
    """A rule that no case shows is a rule that no test looks at."""
    from workbench import TESTS

    rules = {r["id"] for r in json.loads(tensorc("capabilities", "--json").stdout)["rules"] if r["outcome"] == "native" and (r["diagnostic_code"] or "").startswith(("RXTP-TORCH", "TC-"))}
    shown = {word for path in (TESTS / "cases").rglob("*.py") for line in path.read_text().split("# >>> check")[-1].splitlines() if " native " in line for word in line.split()}
    cuda = {r for r in rules if "cuda0" in r}
    assert rules - cuda <= shown, sorted(rules - cuda - shown)


# ── build and bench ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(not has_torch(), reason="torch is not installed")
def test_build_says_what_it_made(project: Project) -> None:
    done = project.try_build()
    assert done.returncode == 0 and not done.stderr
    assert "1 native function" in done.stdout and project.wheels[0].name in done.stdout
    assert project.try_build("-q").stdout == ""
    report = json.loads((project.root / ".tensorc/reports/build.json").read_text())
    assert report["status"] == "built" and report["accepted_native_count"] == 1 and report["build_python"].endswith(".tensorc/build/python")
    assert json.loads((project.root / ".tensorc/reports/check.json").read_text())["accepted_native"] == ["score.act"]


@pytest.mark.skipif(not has_torch(), reason="torch is not installed")
def test_bench(project: Project) -> None:
    done = tensorc("bench", f"{project.root / 'score.py'}:act", "--rows", "1,4", "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data and "eager" in done.stdout
    done = tensorc("bench", f"{project.root / 'score.py'}:rank")
    assert done.returncode == 1 and len(done.stderr.strip().splitlines()) == 1 and quiet(done)


@pytest.mark.skipif(not importlib.util.find_spec("tensorflow"), reason="tensorflow is not installed")
def test_bench_finds_arguments_for_tensorflow(project: Project) -> None:
    path = project.write("post.py", """
        import tensorflow as tf
        from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


        def clip(x: TensorF32Cpu2D, low: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
            return tf.nn.softmax(tf.maximum(x, low) + b, axis=1)

        """)
    done = tensorc("bench", f"{path}:clip", "--rows", "3", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["equal"] and row["body"] == "exact"


def test_a_virtual_environment_is_no_part_of_a_project(project: Project) -> None:
    project.write("env/pyvenv.cfg", "home = /usr\n")
    project.write("env/lib/other.py", SOURCE)
    done = tensorc("check", project.root)
    assert done.returncode == 0 and natives(done.stdout) == 1 and "other" not in done.stdout


def test_check_counts_the_recipes(project: Project) -> None:
    path = project.write("head.py", HEAD + "\ndef head(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return F.gelu(x).tanh()\n\n")
    shown = tensorc("check", path).stdout
    assert "exact  2 ops" in shown and "by the wheel" not in shown
