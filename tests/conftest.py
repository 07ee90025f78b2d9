"""Collects tests/cases/**/*.py: one pytest item per block of a case. Builds all cases of a session in one project.

`pytest --bless` rewrites the blocks check, ir and plan instead of comparing them; look at the diff before you commit it.
"""

from __future__ import annotations

import functools
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import filelock
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import casefile  # noqa: E402
import forked  # noqa: E402
import workbench  # noqa: E402
from workbench import Project  # noqa: E402

NUMERICS = ("exact", "library")  # the bodies that every case is run with
CASES = Path(__file__).resolve().parent / "cases"
FRAMEWORKS = {"torch": "torch", "tensorflow": "tensorflow"}


def _present(lane: str) -> bool:
    import importlib.util

    return lane == "none" or importlib.util.find_spec(FRAMEWORKS[lane]) is not None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the check, ir and plan blocks of the cases")


# ── collection ───────────────────────────────────────────────────────────────────────────────────────────────────────


class CaseFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        case = casefile.read(self.path)
        for block in case.blocks:
            yield CaseItem.from_parent(self, name=block.kind, case=case, block=block)


class _Nothing(pytest.File):
    def collect(self) -> list[pytest.Item]:
        return []


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".py" and CASES in file_path.parents:
        return CaseFile.from_parent(parent, path=file_path)
    return None


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    # a case named on the command line is not a test module
    return _Nothing.from_parent(parent, path=module_path) if CASES in module_path.parents else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        """What one of several processes runs whole: a file, which builds once; the cases of a lane, whose processes have its
        framework. What starts processes of its own, without a build, is apart."""

        def _split_scope(self, nodeid: str) -> str:
            path, _, name = nodeid.partition("::")
            if path.startswith("tests/cases/"):
                return _lane(config.rootpath / path)
            return nodeid if name.startswith("test_other_") else path

    return Groups(config, log)


@functools.cache
def _lane(path: Path) -> str:
    return casefile.read(path).lane


class CaseItem(pytest.Item):
    def __init__(self, *, case: casefile.Case, block: casefile.Block, **rest: Any) -> None:
        super().__init__(**rest)
        self.case, self.block = case, block

    def runtest(self) -> None:
        if self.block.kind == "run" and not _present(self.case.lane):
            pytest.skip(f"{FRAMEWORKS[self.case.lane]} is not installed")
        bench = Bench.of(self.session)
        if self.block.kind == "run":
            faults = bench.run(self.case)
            if faults:
                raise CaseFault("\n".join(f"{text}\n    {wrong}" for text, wrong in faults[:12]))
            return
        found = {"check": bench.decisions, "ir": bench.ir, "plan": bench.plan}[self.block.kind](self.case)
        if self.config.getoption("--bless"):
            casefile.rewrite(self.path, self.block.kind, found)
        elif found.rstrip() != self.block.text:
            raise CaseFault(_diff(self.block.text, found.rstrip()))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, (CaseFault, casefile.CaseError, workbench.BuildFailed)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.block.line - 1, f"{self.path.relative_to(CASES)}: {self.block.kind}"


class CaseFault(Exception):
    pass


def _diff(want: str, got: str) -> str:
    import difflib

    return "\n".join(difflib.unified_diff(want.split("\n"), got.split("\n"), "expected", "found", lineterm="", n=1))


# ── the one build and the processes that call it ─────────────────────────────────────────────────────────────────────


def describe(unit: Any, report: dict[str, Any]) -> str:
    """The text of a check block: one line a function, in source order."""
    rules = {f["qualname"]: sorted({c["rule_id"] for c in f["plugin_claims"]}) for m in report["modules"] for f in m["functions"]}
    out = []
    for f in unit.functions:
        status = {"accepted": "native"}.get(f["status"], f["status"])
        if status == "native":
            what = " ".join(rules[f"{unit.module}.{f['qualname']}"])
        else:
            found = [d for d in unit.diagnostics if d["function"] == f["qualname"]]
            what = ", ".join(f"{d['code']} @ {d['line']}:{d['column']}-{d['end_line']}:{d['end_column']}" for d in found)
        out.append(f"{f['qualname']} {status} {what}".rstrip())
    out += [f"module {d['outcome']} {d['code']} @ {d['line']}:{d['column']}-{d['end_line']}:{d['end_column']}"
            for d in unit.diagnostics if d["function"] is None]
    return "\n".join(out)


class Bench:
    """The project of all collected cases: built once, called by one process per mode."""

    def __init__(self, cases: list[casefile.Case]) -> None:
        self.cases = [c for c in cases if _present(c.lane)]
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID")  # the processes of one run build the cases once
        self.folder = Path(tempfile.gettempdir()) / f"tensorc-cases-{run}" if run else Path(tempfile.mkdtemp(prefix="tensorc-cases-"))
        self.folder.mkdir(exist_ok=True)
        self.where: dict[tuple[Path, str], Project | str] = {}  # (case, numerics): built in which project, or why not
        self.workers: dict[tuple[Path, str, str], Worker] = {}
        self.made = 0
        self.built = False

    @staticmethod
    def of(session: pytest.Session) -> Bench:
        bench = getattr(session, "_bench", None)
        if bench is None:
            cases = {i.path: i.case for i in session.items if isinstance(i, CaseItem)}
            bench = session._bench = Bench(list(cases.values()))  # type: ignore[attr-defined]
        return bench

    def module(self, case: casefile.Case) -> str:
        return "cases." + ".".join(case.path.relative_to(CASES).with_suffix("").parts)

    # decisions, IR: in this process, without a build
    def unit(self, case: casefile.Case) -> Any:
        from tensorc import _tensorc

        return _tensorc.Unit(case.path.read_bytes(), str(case.path), self.module(case))

    def decisions(self, case: casefile.Case) -> str:
        from tensorc import _tensorc

        unit = self.unit(case)
        return describe(unit, json.loads(_tensorc.report([unit], str(CASES))))

    def _shown(self, case: casefile.Case, stage: str) -> str:
        unit = self.unit(case)
        return "\n".join(unit.show(f["qualname"], stage).rstrip() for f in unit.functions if f["status"] == "accepted")

    def ir(self, case: casefile.Case) -> str:
        return self._shown(case, "ir")

    def plan(self, case: casefile.Case) -> str:
        return self._shown(case, "plan")

    # values
    def _project(self, folder: Path, cases: list[casefile.Case], numerics: str) -> Project:
        project = Project(folder)
        with filelock.FileLock(f"{folder}.lock"):
            done = Path(f"{folder}.done")
            if done.exists():
                return project
            for c in cases:
                place = Path("cases") / c.path.relative_to(CASES)
                project.write(str(place), c.path.read_bytes())
                for parent in place.parents[:-1]:
                    project.write(str(parent / "__init__.py"), "")
            project.build("--numerics", numerics)
            done.touch()
        return project

    def build(self) -> None:
        if self.built:
            return
        self.built = True
        cases = [c for c in self.cases if c.block("run")]
        for numerics in NUMERICS:
            try:
                whole = self._project(self.folder / numerics, cases, numerics)
                self.where |= {(c.path, numerics): whole for c in cases}
            except workbench.BuildFailed:
                for n, c in enumerate(cases):  # find out which: slow, and only when something is broken
                    try:
                        self.where[c.path, numerics] = self._project(self.folder / f"{numerics}{n}", [c], numerics)
                    except workbench.BuildFailed as failure:
                        self.where[c.path, numerics] = str(failure)

    def run(self, case: casefile.Case) -> list[list[str]]:
        from tensorc import _tensorc

        self.build()
        usual_kernels = not any(os.environ.get(name) for name in workbench.USUAL_KERNELS)
        block = case.block("run")
        assert block is not None
        calls = [[c.text, c.native_raises] for c in casefile.calls(block)]
        report = json.loads(_tensorc.report([self.unit(case)], str(CASES)))
        exact = [f["name"] for f in report["modules"][0]["functions"] if f["body"] == "exact"]
        faults = []
        for numerics, mode in (("exact", "native"), ("library", "native"), ("exact", "auto"), ("exact", "compare")):
            project = self.where[case.path, numerics]
            if isinstance(project, str):
                return [["build", project]]
            lane = "tensorflow" if case.lane == "tensorflow" else "torch"
            key = (project.root, mode, lane)
            worker = self.workers.get(key)
            if worker is None:
                worker = self.workers[key] = Worker(project, mode, lane)
            found, made = worker.ask({"source": str(case.path), "module": self.module(case), "lane": case.lane, "calls": calls,
                                      "exact": exact if (numerics, mode) == ("exact", "native") and usual_kernels else []})
            faults += [[f"[{mode}, {numerics}] {text}", wrong] for text, wrong in found]
            self.made += made
        return faults

    def close(self) -> None:
        for w in self.workers.values():
            w.stop()
        if "PYTEST_XDIST_TESTRUNUID" not in os.environ:
            shutil.rmtree(self.folder, ignore_errors=True)


class Worker:
    """case_worker.py in a process of its own: what crashes there is one failed call, not the end of the session."""

    def __init__(self, project: Project, mode: str, lane: str) -> None:
        self.project, self.mode, self.lane = project, mode, lane
        self.child: forked.Child | None = None

    def _start(self) -> None:
        env = workbench.environment(TENSORC_MODE=self.mode)
        env["PYTHONPATH"] = os.pathsep.join(map(str, (self.project.tree, workbench.PACKAGES, workbench.TESTS)))
        self.errors = tempfile.TemporaryFile()
        self.pending = b""
        read, write = os.pipe()
        back, answer = os.pipe()
        code = f"import faulthandler, case_worker\nfaulthandler.enable()\ncase_worker.main()  # {self.lane}\n"
        with open(read, "rb") as jobs, open(answer, "wb") as answers:
            self.jobs, self.answers = open(write, "wb", buffering=0), back
            self.child = forked.Child(code, env, self.project.root, (jobs, answers, self.errors))

    def stop(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.jobs.close()
            os.close(self.answers)
            self.child = None

    def _line(self, seconds: float) -> dict[str, Any] | None:
        """The next answer; None at the end of the process or of the time."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self.pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                return None
            more = os.read(self.answers, 1 << 16)
            if not more:
                return None
            self.pending += more
        line, _, self.pending = self.pending.partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        return answer if isinstance(answer, dict) else self._line(seconds)  # something that a case printed

    def ask(self, job: dict[str, Any]) -> tuple[list[list[str]], int]:
        faults: list[list[str]] = []
        calls, made = list(job["calls"]), 0
        while True:
            if self.child is None:
                self._start()
            assert self.child
            self.jobs.write(json.dumps({**job, "calls": calls}).encode() + b"\n")
            current = -1
            while (answer := self._line(120)) is not None and "done" not in answer:
                current = answer["call"]
            if answer is not None:
                return faults + answer["done"], made + answer["made"]
            ended = self.child.wait(1)
            self.errors.seek(0)
            text = self.errors.read().decode(errors="replace").strip()[-600:]
            why = f"the process ended ({self.child.status}): {text}" if ended else "no answer within 120 s"
            self.stop()
            faults.append([calls[current][0] if current >= 0 else "import", why])
            if current < 0:
                return faults, made
            calls = calls[current + 1:]  # go on behind the call that did it


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """In the process that started the others: what each of them leaves."""
    global native_calls
    done = getattr(node, "workeroutput", {})
    native_calls += done.get("native_calls", 0)
    if "cases_folder" in done:
        cases_folders.add(done["cases_folder"])


native_calls = 0  # that the cases made, in all processes of the run
cases_folders: set[str] = set()  # that they shared


def pytest_unconfigure() -> None:
    for folder in cases_folders:  # only now has none of them a use for it
        shutil.rmtree(folder, ignore_errors=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    global native_calls
    bench = getattr(session, "_bench", None)
    if bench is None:
        return
    bench.close()
    native_calls += bench.made
    output = getattr(session.config, "workeroutput", None)  # of one of several processes
    if output is not None:
        output.update(native_calls=bench.made, cases_folder=str(bench.folder))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    import contextlib
    import importlib.metadata
    import importlib.util

    for lane, name in FRAMEWORKS.items():
        version = None
        for distribution in (name, f"{name}-cpu"):
            if importlib.util.find_spec(name) and not version:
                with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                    version = importlib.metadata.version(distribution)
        if version:
            terminalreporter.write_line(f"framework {name} {version}")
        else:
            skipped = Counter(r.nodeid.split("::")[0] for r in terminalreporter.stats.get("skipped", []) if name in str(r.longrepr))
            terminalreporter.write_line(f"framework {name} IS MISSING: {sum(skipped.values())} tests skipped", yellow=True)
    if native_calls:
        terminalreporter.write_line(f"cases: {native_calls} native calls compared with eager")


# ── fixtures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture(scope="module")
def module_folder(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder that all tests of one file share: to build one project for all of them."""
    return tmp_path_factory.mktemp(Path(request.node.name).stem)


# ── tests that load compiled code ────────────────────────────────────────────────────────────────────────────────────


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "isolated: run the test in a forked child, where it may load compiled modules "
                                       "(workbench.Project.load), change process state, and crash without ending the session")


@pytest.fixture(scope="session")
def exporter() -> None:
    """The seconds that a process's first torch.export takes, once, for all forked tests. It only follows an operation on
    descriptions of tensors: no thread is started that a child would miss."""
    if not _present("torch"):
        return
    import torch

    threads = len(os.listdir("/proc/self/task"))
    torch.export.export(torch.nn.Identity(), (torch.zeros(1),), strict=False)
    assert len(os.listdir("/proc/self/task")) == threads


class ChildFailed(Exception):
    pass


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs `isolated` tests in a forked child. The parent imports torch but never calls it, so forking is safe."""
    if pyfuncitem.get_closest_marker("isolated") is None:
        return None
    if not _present("torch"):
        pytest.skip("torch is not installed")
    import torch  # noqa: F401  once, in the parent: importing takes longer than most tests

    read, write = os.pipe()
    child = forked.fork()
    if child == 0:
        code, text = 1, ""
        try:
            os.close(read)
            workbench.ISOLATED = True
            names = pyfuncitem._fixtureinfo.argnames
            try:
                pyfuncitem.obj(**{n: pyfuncitem.funcargs[n] for n in names})
                code = 0
            except pytest.skip.Exception as e:
                code, text = 3, str(e)
            except BaseException:
                text = str(pyfuncitem.repr_failure(pytest.ExceptionInfo.from_current()))
            data = text.encode()
            while data:
                data = data[os.write(write, data):]
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    os.close(write)
    deadline, chunks = time.monotonic() + 180, []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([read], [], [], left)[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(read)
            raise ChildFailed("the test did not end within 180 s")
        data = os.read(read, 1 << 16)
        if not data:
            break
        chunks.append(data)
    os.close(read)
    status = os.waitpid(child, 0)[1]
    text = b"".join(chunks).decode(errors="replace")
    if os.WIFSIGNALED(status):
        raise ChildFailed(f"the test's process was ended by {signal.Signals(os.WTERMSIG(status)).name}\n{text}")
    if os.WEXITSTATUS(status) == 3:
        pytest.skip(text)
    if status:
        raise ChildFailed(text)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, ChildFailed):
        report.longrepr = str(call.excinfo.value)
    return report
