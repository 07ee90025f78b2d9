"""`tensorc build`: sources → build tree and wheel. Incremental by content; everything or nothing.

Order of work: read and compile to C; C to extensions in a scratch folder; only when all of them are there are files put
in place, one atomic replacement each. The record of what was made (state.json) holds the hashes that it was made from,
so an unchanged build reads and hashes the project and does nothing else.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tensorc import __version__, atomic, cc, project
from tensorc.config import Config
from tensorc.problem import Problem
from tensorc.project import File, shown

_HERE = os.path.dirname(os.path.abspath(__file__))


class Job(NamedTuple):
    """One extension module to compile."""

    place: str  # in the tree: "pkg/_tensorc_score.cpython-311-x86_64-linux-gnu.so"
    c_name: str  # "_tensorc_score.c"
    c_text: bytes
    source: str  # for messages
    key: str  # hash of all that it is made from


class Build:
    """One build of one project. Paths are absolute."""

    def __init__(self, root: str, config: Config, compiler: str | None, jobs: int | None) -> None:
        self.root = root
        self.config = config
        self.wanted = compiler
        self.jobs = jobs or len(os.sched_getaffinity(0))
        self.own = os.path.join(root, ".tensorc")
        self.tree = os.path.join(self.own, "build", "python")
        self.c_folder = os.path.join(self.own, "build", "c")
        self.state_path = os.path.join(self.own, "build", "state.json")
        self.dist = os.path.join(root, "dist")
        self.state: dict[str, Any] = {}
        self.wheels: set[str] = set()  # file names in dist/ that this build or the one before wrote

    # ── what the build depends on ────────────────────────────────────────────────────────────────────────────────

    def key(self) -> str:
        """Of everything but the project's files: tensorc itself, the compiler, Python, the settings."""
        key = hashlib.sha256(repr((__version__, sys.version, os.path.realpath(sys.executable), self.config)).encode())
        for folder in (_HERE, cc.runtime_dir()):
            for name in sorted(os.listdir(folder)):
                found = os.stat(os.path.join(folder, name))
                key.update(repr((name, found.st_size, found.st_mtime_ns)).encode() if "." in name else b"")
        try:
            key.update(cc.find(self.wanted).fingerprint().encode())
        except Problem as problem:  # only a project with native functions needs one
            key.update(str(problem).encode())
        project_table = self.config.pyproject.get("project", {})
        readme = project_table.get("readme", "")
        readme = readme.get("file", "") if isinstance(readme, dict) else readme
        for name in (
            readme,
            *(
                n
                for n in sorted(os.listdir(self.root))
                if n.upper().startswith(("LICEN", "COPYING", "NOTICE", "AUTHORS"))
            ),
        ):
            path = os.path.join(self.root, name)
            if name and os.path.isfile(path):
                with open(path, "rb") as file:
                    key.update(hashlib.sha256(file.read()).digest())
        return key.hexdigest()

    def load_state(self) -> None:
        try:
            with open(self.state_path, encoding="utf-8") as file:
                self.state = json.load(file)
        except (OSError, ValueError):
            self.state = {}
        if self.state.get("wheel"):
            self.wheels.add(self.state["wheel"][0])

    def intact(self, path: str, made: list[int] | None) -> bool:
        """Whether the file is the one that we wrote: same size and time."""
        try:
            found = os.stat(path)
        except OSError:
            return False
        return made == [found.st_size, found.st_mtime_ns]

    def is_current(self, key: str, inputs: dict[str, str]) -> bool:
        state = self.state
        if state.get("key") != key or state.get("inputs") != inputs:
            return False
        outputs = state["outputs"]
        present = {place for place in self._present() if not place.endswith(".pyc")}
        if present != set(outputs) or not all(
            self.intact(os.path.join(self.tree, p), made) for p, made in outputs.items()
        ):
            return False
        wheel = state["wheel"]
        return wheel is None or self.intact(os.path.join(self.dist, wheel[0]), wheel[1:])

    def _present(self) -> Iterator[str]:
        for folder, _, names in os.walk(self.tree):
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.tree).replace(os.sep, "/")

    # ── the work ─────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self, quiet: bool) -> int:
        """Exit code: 0, or 1 when a file could not be parsed (the rest is built, without a wheel)."""
        modules, chosen, data = project.tree(self.root, self.config)
        if not modules:
            raise Problem(f"{shown(self.root)}: no Python modules to build: name a folder that has some")
        from tensorc.frontend import read

        contents = {file.place: read(file.path) for file in [*modules, *data]}
        inputs = {place: hashlib.sha256(text).hexdigest() for place, text in contents.items()}
        key = self.key()
        self.load_state()
        if self.is_current(key, inputs):
            for line in self.state["unparsed"]:
                print(line, file=sys.stderr)
            if not quiet:
                print(self.state["summary"])
            return 1 if self.state["unparsed"] else 0
        try:
            return self._make(key, inputs, modules, chosen, data, contents, quiet)
        except BaseException:
            self._remove_wheels()
            raise

    def _make(
        self,
        key: str,
        inputs: dict[str, str],
        modules: list[File],
        chosen: set[str],
        data: list[File],
        contents: dict[str, bytes],
        quiet: bool,
    ) -> int:
        from importlib.machinery import EXTENSION_SUFFIXES

        from tensorc import binding, frontend, markers, wheel

        about = wheel.metadata(self.root, self.config)
        self.wheels.add(wheel.file_name(about, native=True))
        units: list[Any] = []
        unparsed: list[frontend.Unparsed] = []
        files: dict[str, bytes] = {file.place: contents[file.place] for file in data}
        wheel_files: dict[str, bytes] = dict(files)
        work: list[Job] = []
        packages = {f.place.rpartition("/")[0] for f in modules if f.place.endswith("/__init__.py")}
        used_markers: set[str] = set()
        kept: list[str] = []
        compiler: cc.Compiler | None = None
        made_from = ""
        archive = ""
        for file in modules:
            source = contents[file.place]
            unit = frontend.compile_source(file, source, self.config)
            if isinstance(unit, frontend.Unparsed):
                unparsed.append(unit)
                files[file.place] = wheel_files[file.place] = source
                continue
            bound = source
            if file.place in chosen:
                units.append(unit)
                if unit.n_accepted:
                    if compiler is None:
                        compiler = cc.find(self.wanted)
                        archive = cc.archive(compiler)
                        with open(archive + ".key", encoding="ascii") as key_file:
                            made_from = repr((key_file.read(), compiler.fingerprint(), cc.MODULE_FLAGS, sys.version))
                    folder = file.place.rpartition("/")[0]
                    prefix = folder + "/" if folder else ""
                    name = binding.extension_name(file.place)
                    text = unit.emit(name).encode()
                    job_key = hashlib.sha256(made_from.encode() + text).hexdigest()
                    work.append(
                        Job(prefix + name + EXTENSION_SUFFIXES[0], name + ".c", text, shown(file.path), job_key)
                    )
                    bound = binding.bind(source, unit.functions, file.place)
                    files[prefix + binding.loader_name(file.place) + ".py"] = binding.loader(file.place)
                    wheel_files[prefix + binding.loader_name(file.place) + ".py"] = binding.loader(file.place)
            files[file.place] = bound
            used_markers |= markers.imported(source)
            private = markers.private_place(file.place, packages)
            left: list[str] = []
            rewritten = markers.rewrite(bound, project.text(private).removesuffix(".py").replace("/", "."), left)
            kept += [f"{shown(file.path)}: {text}" for text in left]
            if rewritten != bound:
                wheel_files[private] = markers.private_text()
            wheel_files[file.place] = rewritten
        taken = {place.partition("/")[0].removesuffix(".py") for place in files}
        files.update(markers.aliases(used_markers, taken))
        wheel_name = wheel.file_name(about, bool(work))
        wheel_path = os.path.join(self.dist, wheel_name)
        with self._extensions(work, compiler, archive) as made:
            if not unparsed:
                for job in work:
                    wheel_files[job.place] = frontend.read(made.get(job.place) or os.path.join(self.tree, job.place))
                for_wheel = {project.text(place): content for place, content in wheel_files.items()}
                self.wheels.add(wheel_name)
                atomic.write(wheel_path, wheel.contents(about, for_wheel, bool(work)))
            outputs = self._install(files, made, work)
        wheel_record: list[Any] | None = None
        if not unparsed:
            found = os.stat(wheel_path)
            wheel_record = [wheel_name, found.st_size, found.st_mtime_ns]
        self._remove_wheels(but=None if unparsed else wheel_name)
        report = frontend.report(units, unparsed, self.root)
        accepted = sum(unit.n_accepted for unit in units)
        rejected = sum(f["status"] == "rejected" for unit in units for f in unit.functions)
        self._write_reports(report, work, compiler, wheel_record, accepted, rejected, [bad.text() for bad in unparsed])
        summary = f"{shown(self.tree)}: {_count(accepted, 'native function')} in {_count(len(work), 'module')}"
        summary += f", {rejected} rejected (tensorc check says why)" if rejected else ""
        if wheel_record:
            summary += f"\n{shown(os.path.join(self.dist, wheel_record[0]))}"
        new_state = {
            "key": key,
            "inputs": inputs,
            "outputs": outputs,
            "extensions": {job.place: job.key for job in work},
            "wheel": wheel_record,
            "unparsed": [bad.text() for bad in unparsed],
            "summary": summary,
        }
        atomic.write(self.state_path, json.dumps(new_state).encode())
        for line in kept:
            print(f"tensorc: warning: {line}: the wheel needs that package at run time", file=sys.stderr)
        for bad in unparsed:
            print(bad.text(), file=sys.stderr)
        if not quiet:
            print(summary)
        return 1 if unparsed else 0

    @contextmanager
    def _extensions(self, work: list[Job], compiler: cc.Compiler | None, archive: str) -> Iterator[dict[str, str]]:
        """Compiles what is not current, in parallel, in a scratch folder: {place in the tree: file there}. Problem,
        with nothing changed, as soon as one fails."""
        old, outputs = self.state.get("extensions", {}), self.state.get("outputs", {})
        todo = [
            job
            for job in work
            if old.get(job.place) != job.key
            or not self.intact(os.path.join(self.tree, job.place), outputs.get(job.place))
        ]
        scratch = os.path.join(self.own, "build", "scratch")
        shutil.rmtree(scratch, ignore_errors=True)
        made: dict[str, str] = {}
        try:
            if todo:
                assert compiler is not None
                commands = []
                for number, job in enumerate(todo):
                    folder = os.path.join(scratch, str(number))
                    atomic.write(os.path.join(folder, job.c_name), job.c_text)
                    output = os.path.basename(job.place)
                    commands.append((cc.module_command(compiler, archive, job.c_name, output), folder, job.source))
                    made[job.place] = os.path.join(folder, output)
                if len(commands) == 1:
                    cc.run(*commands[0])
                else:
                    from concurrent.futures import ThreadPoolExecutor

                    with ThreadPoolExecutor(self.jobs) as pool:
                        results = [pool.submit(cc.run, *command) for command in commands]
                        try:
                            for result in results:
                                result.result()
                        except BaseException:
                            pool.shutdown(cancel_futures=True)
                            raise
            yield made
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _install(self, files: dict[str, bytes], made: dict[str, str], work: list[Job]) -> dict[str, list[int]]:
        """Puts the tree into its new state; returns size and time of every file in it. Extensions go first, so that a
        source never meets an older extension for long; what belongs to nothing any more goes last."""
        old = self.state.get("outputs", {})
        for place, path in made.items():
            target = os.path.join(self.tree, place)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.replace(path, target)
        for place, text in sorted(files.items(), key=lambda item: not item[0].endswith("_load.py")):
            target = os.path.join(self.tree, place)
            if self.intact(target, old.get(place)):
                with open(target, "rb") as present:
                    if present.read() == text:
                        continue
            self._clear_way(target)
            atomic.write(target, text)
        wanted = {*files, *(job.place for job in work)}
        for place in list(self._present()):
            if place not in wanted and not (place.endswith(".pyc") and self._source_of(place) in wanted):
                os.unlink(os.path.join(self.tree, place))
        for folder, _, _ in os.walk(self.tree, topdown=False):
            if folder != self.tree and not os.listdir(folder):
                os.rmdir(folder)
        c_files = {job.place.rpartition("/")[0] + "/" + job.c_name: job.c_text for job in work}
        shutil.rmtree(self.c_folder, ignore_errors=True)
        for place, text in c_files.items():
            atomic.write(os.path.join(self.c_folder, place.lstrip("/")), text)
        stats = {place: os.stat(os.path.join(self.tree, place)) for place in sorted(wanted)}
        return {place: [found.st_size, found.st_mtime_ns] for place, found in stats.items()}

    def _clear_way(self, target: str) -> None:
        """Removes a folder where a file has to be, a file where a folder has to be, and bytecode of the file before:
        Python takes it for current when size and second are the same."""
        if os.path.isdir(target):
            shutil.rmtree(target)
        folder = os.path.dirname(target)
        cached = os.path.join(folder, "__pycache__")
        if target.endswith(".py") and os.path.isdir(cached):
            start = os.path.basename(target).removesuffix("py")
            for name in os.listdir(cached):
                if name.startswith(start):
                    os.unlink(os.path.join(cached, name))
        while len(folder) > len(self.tree):
            if os.path.isfile(folder):
                os.unlink(folder)
            folder = os.path.dirname(folder)

    @staticmethod
    def _source_of(place: str) -> str:
        """pkg/__pycache__/a.cpython-311.pyc → pkg/a.py"""
        folder, _, name = place.rpartition("/")
        return folder.removesuffix("__pycache__") + name.split(".")[0] + ".py"

    def _remove_wheels(self, but: str | None = None) -> None:
        """One version at a time, and after a failure nothing of ours in dist/."""
        for name in self.wheels - {but}:
            path = os.path.join(self.dist, name)
            if os.path.exists(path):
                os.unlink(path)
                if not os.listdir(self.dist):
                    os.rmdir(self.dist)

    def _write_reports(
        self,
        report: bytes,
        work: list[Job],
        compiler: cc.Compiler | None,
        wheel_record: list[Any] | None,
        accepted: int,
        rejected: int,
        unparsed: list[str],
    ) -> None:
        reports = os.path.join(self.own, "reports")
        wheel_path = os.path.join(self.dist, wheel_record[0]) if wheel_record else None
        build = {
            "contract_version": "3.0.0",
            "status": "analysis-failed" if unparsed else "built",
            "accepted_native_count": accepted,
            "rejected_native_count": rejected,
            "build_python": self.tree,
            "project_root": self.root,
            "tensorc_version": __version__,
            "target_language": "c",
            "native_build": {
                "status": "built" if work else "skipped",
                "tool": compiler.shown() if compiler else None,
                "command": [*compiler.command, *cc.MODULE_FLAGS, *compiler.cflags, *compiler.ldflags] if compiler else [],
                "artifacts": [os.path.join(self.tree, job.place) for job in work],
                "message": None,
            },
            "wheel_build": {
                "status": "built" if wheel_path else "skipped",
                "path": wheel_path,
                "message": "; ".join(unparsed) or None,
            },
        }
        atomic.write(os.path.join(reports, "check.json"), report)
        text = json.dumps(build, indent=2, sort_keys=True) + "\n"
        atomic.write(os.path.join(reports, "build.json"), text.encode(errors="replace"))


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def build(root: str, config: Config, compiler: str | None, jobs: int | None, quiet: bool) -> int:
    """Builds the project in folder `root`; one build at a time. Exit code; Problem when it cannot be done."""
    work = Build(root, config, compiler, jobs)
    try:
        os.makedirs(work.own, exist_ok=True)
        ignore = os.path.join(work.own, ".gitignore")
        if not os.path.exists(ignore):
            atomic.write(ignore, b"*\n")
        import filelock

        lock = filelock.FileLock(os.path.join(work.own, "lock"))
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            print(f"tensorc: another build of {shown(root)} is running, waiting for it", file=sys.stderr)
            lock.acquire()
        try:
            return work.run(quiet)
        finally:
            lock.release()
    except OSError as error:
        where = shown(os.fsdecode(error.filename)) if error.filename else shown(root)
        raise Problem(
            f"cannot write {where}: {error.strerror}: make the folder writable, or build a copy elsewhere"
        ) from None
