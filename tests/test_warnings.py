"""The compiler, the runtime and the generated C compile without a warning, by every C compiler that is here."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from workbench import ROOT, TESTS, Project

FLAGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Wundef", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"]
INCLUDE = "-I" + sysconfig.get_path("include")


def compilers() -> list[list[str]]:
    found = [[name] for name in ("gcc", "clang") if shutil.which(name)]
    if not shutil.which("clang") and subprocess.run([sys.executable, "-m", "ziglang", "version"], capture_output=True).returncode == 0:
        found.append([sys.executable, "-m", "ziglang", "cc"])  # clang, from a wheel
    return found


EVERY = pytest.mark.parametrize("cc", compilers(), ids=lambda c: Path(c[0]).name if len(c) == 1 else "clang (zig)")


def test_compilers_are_here(record_property: object) -> None:
    assert compilers(), "no gcc and no clang"


def clean(cc: list[str], sources: list[Path], *flags: str) -> None:
    def one(source: Path) -> str:
        done = subprocess.run([*cc, "-std=c11", "-O1", "-fPIC", *FLAGS, INCLUDE, *flags, "-c", str(source), "-o", "/dev/null"], capture_output=True, text=True)
        return done.stderr if done.returncode else ""

    with ThreadPoolExecutor(2) as pool:
        said = [text for text in pool.map(one, sources) if text]
    assert not said, "\n".join(said)[:3000]


@EVERY
def test_compiler(cc: list[str]) -> None:
    sources = sorted((ROOT / "compiler").glob("*.c"))
    assert len(sources) > 15
    clean(cc, sources, f"-I{ROOT / 'compiler'}")


@EVERY
def test_runtime(cc: list[str]) -> None:
    """Everything in the archive, with the flags it is built with, for every instruction set. What only an optimizer sees is for
    test_a_build_with_warnings_as_errors."""
    from tensorc.cc import _runtime_units

    units = _runtime_units(str(ROOT / "runtime"), "key")
    assert {Path(source).name for _, source, _ in units} >= {"tensorc_rt.c"}
    for _, source, flags in units:
        clean(cc, [Path(source)], f"-I{ROOT / 'runtime'}", *flags, "-fsyntax-only")


@pytest.fixture(scope="module")
def generated(module_folder: Path) -> list[Path]:
    """The C of every case and of a part of the conformance functions."""
    sys.path.insert(0, str(TESTS / "conformance"))
    import decisions
    from tensorc import _tensorc

    project = Project(module_folder)
    decisions.write_project([c for c in decisions.load(TESTS / "conformance" / "torch.jsonl")][::8], project.root)
    out = []
    for n, path in enumerate([*sorted((TESTS / "cases").rglob("*.py")), *sorted(project.root.rglob("m_*.py"))]):
        unit = _tensorc.Unit(path.read_bytes(), str(path), path.stem)
        if unit.n_accepted:
            out.append(project.write(f"c/_tensorc_m{n}.c", unit.emit(f"_tensorc_m{n}")))
    assert len(out) > 40
    return out


@EVERY
def test_generated_code(cc: list[str], generated: list[Path]) -> None:
    clean(cc, generated, f"-I{ROOT / 'runtime'}", "-fsyntax-only")


@EVERY
def test_generated_code_is_plain_c11(cc: list[str], generated: list[Path]) -> None:
    clean(cc, generated[:6], f"-I{ROOT / 'runtime'}", "-O0", "-Wpedantic", "-Wno-error=pedantic", "-Wvla", "-Wno-variadic-macros")


def test_a_warning_is_seen(tmp_path: Path) -> None:
    bad = tmp_path / "bad.c"
    bad.write_text("int f(long x);\nint f(long x) { int y = x; return y; }\n")
    with pytest.raises(AssertionError, match="conversion"):
        clean(compilers()[0], [bad])


def test_a_build_with_warnings_as_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = TESTS / "cases" / "torch" / "chains.py"
    Project(tmp_path, {"chains.py": path.read_bytes()}).build_with_runtime(monkeypatch, tmp_path / "cache", " ".join(FLAGS))
