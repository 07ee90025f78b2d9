"""Runs the product as a user does: `python -m tensorc` in a process of its own, on projects written to a temporary folder.

Nothing here knows how tensorc works inside. Every test file that builds something builds it through `Project`.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import forked

if TYPE_CHECKING:
    import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent

# Where this process gets tensorc from; the processes that it starts get it from there too.
if importlib.util.find_spec("tensorc") is None:
    sys.path.insert(0, str(ROOT / "python"))
_spec = importlib.util.find_spec("tensorc")
PACKAGES = Path(_spec.origin).resolve().parent.parent if _spec and _spec.origin else ROOT / "python"

IMPORTING = threading.Lock()
ISOLATED = False  # true in the child of a test marked `isolated`
BODIES = ("library", "exact")  # what `.body` says after a native call
SLOW = "SLOW" in os.environ  # make slow: more calls of the same kinds

# For environment(): without what makes a framework choose other kernels than those that the recipes are for.
USUAL_KERNELS: dict[str, str | None] = dict.fromkeys(("ATEN_CPU_CAPABILITY", "MKL_ENABLE_INSTRUCTIONS", "TF_ENABLE_ONEDNN_OPTS", "ONEDNN_MAX_CPU_ISA"))

# Code for a fresh interpreter that says whether a function's last call was native.
NATIVE = "('native' if {f}.body in ('library', 'exact') else {f}.body)"

HEAD = """\
import torch
import torch.nn.functional as F
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D

"""


def has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


def own_sets() -> dict[str, tuple[str, ...]]:
    """The instruction sets of the kernels that this CPU runs, with their flags."""
    from tensorc import cc

    flags = Path("/proc/cpuinfo").read_text().split()
    needs = {"baseline": "sse2", "avx2": "avx2", "avx512": "avx512f"}
    return {name: how for name, how in cc.kernel_sets().items() if needs[name] in flags}


def difference_of_arrays(want: Any, got: Any) -> str | None:
    """One line that says how two numpy arrays differ in dtype, shape or bits (a NaN equals a NaN), or None."""
    if (want.dtype, want.shape) != (got.dtype, got.shape):
        return f"{got.dtype}{list(got.shape)}, eager has {want.dtype}{list(want.shape)}"
    a, b = (x.ravel().view(f"u{x.itemsize}") for x in (want, got))
    wrong = a != b
    if want.dtype.kind == "f":
        wrong &= ~((want != want) & (got != got)).ravel()
    if not wrong.any():
        return None
    i = int(wrong.argmax())
    return f"{int(wrong.sum())} of {a.size} elements; first at flat index {i}: {got.ravel()[i]!r}, eager has {want.ravel()[i]!r}"


def environment(**extra: str | None) -> dict[str, str]:
    """The process environment without any setting of tensorc or the reference tool; None removes a variable."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TENSORC_", "REXTIO_")) or k == "TENSORC_CACHE_DIR"}
    env["PYTHONPATH"] = str(PACKAGES)
    env.setdefault("OMP_NUM_THREADS", "2")
    env.setdefault("OMP_WAIT_POLICY", "passive")  # on a busy machine, threads that spin cost more than the work
    for key, value in extra.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = value
    return env


def tensorc(*args: str | Path, cwd: str | Path | None = None, env: dict[str, str] | None = None,
            timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Runs `python -m tensorc ARGS`; never raises for its exit code."""
    return subprocess.run([sys.executable, "-m", "tensorc", *map(str, args)], cwd=cwd, env=env or environment(),
                          capture_output=True, text=True, timeout=timeout)


class BuildFailed(AssertionError):
    pass


class Project:
    """A project folder: write sources, check, build, and run Python on what was built."""

    def __init__(self, root: str | Path, files: dict[str, str | bytes] | None = None) -> None:
        self.root = Path(root)
        self.root.mkdir(parents=True, exist_ok=True)
        for name, text in (files or {}).items():
            self.write(name, text)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        return path

    @property
    def tree(self) -> Path:
        """The importable build tree."""
        return self.root / ".tensorc" / "build" / "python"

    @property
    def wheels(self) -> list[Path]:
        return sorted((self.root / "dist").glob("*.whl"))

    @property
    def extensions(self) -> list[Path]:
        return sorted(self.tree.rglob("_tensorc_*.so"))

    def check(self, *args: str, env: dict[str, str] | None = None) -> dict[str, Any]:
        done = tensorc("check", "--json", self.root, *args, env=env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def functions(self) -> dict[str, dict[str, Any]]:
        """The check report's functions by qualified name."""
        return {f["qualname"]: f for m in self.check()["modules"] for f in m["functions"]}

    def build(self, *args: str, env: dict[str, str] | None = None, timeout: float = 600) -> Project:
        done = self.try_build(*args, env=env, timeout=timeout)
        if done.returncode:
            raise BuildFailed(f"tensorc build failed ({done.returncode}):\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}")
        return self

    def try_build(self, *args: str, env: dict[str, str] | None = None, timeout: float = 600) -> subprocess.CompletedProcess[str]:
        return tensorc("build", self.root, *args, env=env, timeout=timeout)

    def build_with_runtime(self, monkeypatch: pytest.MonkeyPatch, cache: Path, cflags: str, ldflags: str = "") -> Project:
        """Builds in this process, with a runtime compiled under these flags and for the instruction sets of this CPU alone."""
        from tensorc import __main__, cc

        with monkeypatch.context() as changed:
            sets = own_sets()
            changed.setattr(cc, "kernel_sets", lambda: sets)
            changed.setenv("TENSORC_CACHE_DIR", str(cache))
            changed.setenv("CFLAGS", cflags)
            changed.setenv("LDFLAGS", ldflags)
            changed.setattr(sys, "argv", ["tensorc"])
            if __main__.main(["build", "-q", str(self.root)]) != 0:
                raise BuildFailed("tensorc build failed: what it said is in the captured output")
        return self

    @staticmethod
    def native_calls(function: Any) -> int:
        """How many calls a native body has answered."""
        stats = function.stats()
        return sum(stats[body] for body in BODIES)

    def load(self, module: str, mode: str = "native", **variables: str) -> Any:
        """Imports a module of the build tree into this process, which must be the child of an `isolated` test."""
        assert ISOLATED, "mark the test with @pytest.mark.isolated"
        os.environ["TENSORC_MODE"] = mode
        os.environ.update(variables)
        if str(self.tree) not in sys.path:
            sys.path.insert(0, str(self.tree))
        if module not in sys.modules:
            with IMPORTING:  # two threads in invalidate_caches() delete the same entries
                importlib.invalidate_caches()
        return importlib.import_module(module)

    def python(self, code: str, *, mode: str | None = "native", env: dict[str, str] | None = None, path: Path | None = None,
               fresh: bool = False, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """Runs code as an interpreter of its own would that imports from the build tree (-P: not from the sources in its folder).

        It is one of its own (fresh) where the code must import a framework by itself, or the environment holds what a
        framework reads when it is imported; else a child of this process, which has imported torch and never called it.
        """
        env = dict(env if env is not None else environment())
        env["PYTHONPATH"] = os.pathsep.join([str(path or self.tree), str(PACKAGES), str(TESTS)])
        if mode:
            env["TENSORC_MODE"] = mode
        code = textwrap.dedent(code)
        if not fresh and forked.can_run(code, env):
            return forked.run(code, env, self.root, timeout)
        return subprocess.run([sys.executable, "-P", "-c", code], cwd=self.root, env=env, capture_output=True, text=True,
                              timeout=timeout)

    def run(self, code: str, **options: Any) -> str:
        """Like python(), and the code must end well; gives its standard output."""
        done = self.python(code, **options)
        assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def script(self, name: str, *arguments: str, mode: str, **variables: str) -> Any:
        """Runs a script of the tests' folder that imports from the build tree; gives the JSON in its last line of output."""
        env = environment(TENSORC_MODE=mode, **variables)
        env["PYTHONPATH"] = os.pathsep.join([str(self.tree), env["PYTHONPATH"]])
        command = [sys.executable, "-X", "faulthandler", str(TESTS / name), *arguments]
        done = subprocess.run(command, env=env, text=True, capture_output=True, timeout=3600)
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout.splitlines()[-1])
