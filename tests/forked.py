"""Interpreters for tests: children of this process, because importing a framework takes longer than most tests do with it.

A child has this process's modules, but for the tests' own. Nothing here may call a framework before it forks: what has
started threads does not survive in a child.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import importlib.util
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
import types
import warnings
import weakref
from pathlib import Path
from typing import IO, Any

TESTS = Path(__file__).resolve().parent
FRAMEWORKS = ("torch", "tensorflow")
# As in workbench.environment, and from the start: the OpenMP library reads them when torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


def can_run(code: str, env: dict[str, str]) -> bool:
    """Whether nothing that env says has to come before an import, and the frameworks that code names are here."""

    def outer(variables: dict[str, str]) -> dict[str, str]:
        ours = ("TENSORC_", "REXTIO_", "PYTHONPATH", "PYTEST_", "OMP_WAIT_POLICY", "TF_CPP_MIN_LOG_LEVEL")
        return {name: value for name, value in variables.items() if not name.startswith(ours)}

    return outer(env) == outer(dict(os.environ)) and all(importlib.util.find_spec(name) for name in ("torch", *_named(code)))


def _named(code: str) -> list[str]:
    return [name for name in FRAMEWORKS if name in code]


def fork() -> int:
    """os.fork(); the child's garbage collector passes by what was there before, which is large and shared with its parent."""
    gc.freeze()
    pid = os.fork()
    if pid:
        gc.unfreeze()
    return pid


class Child:
    """Runs code as `python -P -c CODE` would, with these three files, this environment, in this folder."""

    def __init__(self, code: str, env: dict[str, str], folder: Path, files: tuple[IO[Any], IO[Any], IO[Any]]) -> None:
        for name in ("torch", *_named(code)):
            importlib.import_module(name)
        sys.stdout.flush()
        sys.stderr.flush()
        self.status: int | None = None  # a signal's number, negative, when one ended it
        self.pid = fork()
        if self.pid == 0:
            status = 70
            try:
                for number, file in enumerate(files):
                    os.dup2(file.fileno(), number)
                sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)
                status = _run(code, env, folder)
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(status)

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it has ended, within so many seconds."""
        if self.status is None:
            end = os.pidfd_open(self.pid)
            ended = select.select([end], [], [], timeout)[0]
            os.close(end)
            if not ended:
                return False
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return True

    def kill(self) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()


def run(code: str, env: dict[str, str], folder: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    """Like subprocess.run with capture_output: never raises for the exit status."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, open(os.devnull, "rb") as nothing:
        child = Child(code, env, folder, (nothing, out, err))
        in_time = child.wait(timeout)
        child.kill()
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode(errors="replace"))
    if not in_time:
        raise subprocess.TimeoutExpired(["python", "-c", code], timeout, *said)
    assert child.status is not None
    return subprocess.CompletedProcess(["python", "-c", code], child.status, *said)


def _run(code: str, env: dict[str, str], folder: Path) -> int:
    """As a process begins and ends. The exit status."""
    atexit._clear()  # what this process would tidy up is not the child's
    weakref.finalize._registry.clear()  # type: ignore[attr-defined]
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    warnings._showwarnmsg_impl = lambda shown: sys.stderr.write(warnings._formatwarnmsg(shown))  # type: ignore[attr-defined]
    warnings.resetwarnings()
    for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", kind)
    warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")
    own = str(TESTS)
    sys.path[:] = env["PYTHONPATH"].split(os.pathsep) + [p for p in sys.path if p and not p.startswith(own)]
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(own):
            del sys.modules[name]
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    sys.argv = ["-c"]
    status = 0
    try:
        exec(compile(code, "<string>", "exec", dont_inherit=True), main.__dict__)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException as error:
        traceback.print_exception(type(error), error, error.__traceback__.tb_next if error.__traceback__ else None)
        status = 1
    with contextlib.suppress(Exception):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    return status
