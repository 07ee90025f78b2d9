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
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorc import __version__, atomic, cc, project
from tensorc.config import Config
from tensorc.problem import Problem
from tensorc.project import File, shown

if TYPE_CHECKING:
    from tensorc import frontend, wheel

_HERE = os.path.dirname(os.path.abspath(__file__))
# The record of a build, state.json, which is only believed whole.
STATE: dict[str, type | tuple[type, ...]] = {
    "key": str,
    "inputs": dict,
    "outputs": dict,
    "extensions": dict,
    "wheel": (list, type(None)),
    "said": dict,
}
LICENCES = ("LICEN", "COPYING", "NOTICE", "AUTHORS")  # starts of the names of files that wheels carry


class Job(NamedTuple):
    """One extension module to compile."""

    place: str  # in the tree: "pkg/_tensorc_score.cpython-311-x86_64-linux-gnu.so"
    c_name: str  # "_tensorc_score.c"
    c_text: bytes
    source: str  # for messages


class Compiled:
    """What the compiler made of a project, before anything is written."""

    def __init__(self) -> None:
        self.units: list[Any] = []
        self.unparsed: list[frontend.Unparsed] = []
        self.tree: dict[str, bytes] = {}  # files of the build tree, without the extensions
        self.wheel: dict[str, bytes] = {}  # the same of the wheel
        self.work: list[Job] = []
        # (file, its import): what makes the wheel depend on a marker package
        self.kept: list[tuple[str, str]] = []


class Build:
    """One build of one project. Paths are absolute."""

    def __init__(self, root: str, config: Config, compiler: str | None, jobs: int | None, quiet: bool) -> None:
        self.root = root
        self.config = config
        self.wanted = compiler
        self.quiet = quiet
        self.compiler: cc.Compiler | None = None  # found when there is something to compile
        self.made_from = ""  # what every extension depends on: archive, compiler, flags, Python
        self.jobs = max(jobs or len(os.sched_getaffinity(0)), 1)
        self.own = os.path.join(root, ".tensorc")
        self.tree = os.path.join(self.own, "build", "python")
        self.c_folder = os.path.join(self.own, "build", "c")
        self.reports = os.path.join(self.own, "reports")
        self.state_path = os.path.join(self.own, "build", "state.json")
        self.dist = os.path.join(root, "dist")
        self.state: dict[str, Any] = {}
        self.wheels: set[str] = set()  # file names in dist/ that this build or the one before wrote

    # ── what the build depends on ────────────────────────────────────────────────────────────────────────────────

    def _key(self) -> str:
        """Of everything but the project's files: tensorc itself, the compiler, Python, the settings."""
        key = hashlib.sha256(
            repr((__version__, sys.version, os.path.realpath(sys.executable), self.root, self.config)).encode()
        )
        own = [os.path.join(_HERE, name) for name in sorted(os.listdir(_HERE)) if name.endswith((".py", ".so"))]
        for path in own + cc.runtime_files(cc.runtime_dir()):
            found = os.stat(path)
            key.update(repr((path, found.st_size, found.st_mtime_ns)).encode())
        try:
            key.update(cc.find(self.wanted).fingerprint().encode())
        except Problem as problem:  # only a project with native functions needs one
            key.update(str(problem).encode())
        readme = self.config.pyproject.get("project", {}).get("readme", "")
        names = [readme.get("file", "") if isinstance(readme, dict) else readme]
        names += [n for n in sorted(os.listdir(self.root)) if n.upper().startswith(LICENCES)]
        for path in [os.path.join(self.root, name) for name in names if name]:
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    key.update(hashlib.sha256(file.read()).digest())
        return key.hexdigest()

    def _load_state(self) -> None:
        try:
            with open(self.state_path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            found = None
        whole = isinstance(found, dict) and all(isinstance(found.get(key), kind) for key, kind in STATE.items())
        self.state = found if whole else {}
        if self.state.get("wheel"):
            self.wheels.add(self.state["wheel"][0])

    def _intact(self, path: str, made: list[int] | None) -> bool:
        """Whether the file is the one that we wrote: same size and time."""
        try:
            found = os.stat(path)
        except OSError:
            return False
        return made == [found.st_size, found.st_mtime_ns]

    def _is_current(self) -> bool:
        state = self.state
        if state.get("key") != self.key or state.get("inputs") != self.inputs:
            return False
        outputs = state["outputs"]
        if {place for place in self._present() if not place.endswith(".pyc")} != set(outputs):
            return False
        if not all(self._intact(os.path.join(self.tree, place), made) for place, made in outputs.items()):
            return False
        if not all(os.path.exists(os.path.join(self.reports, name)) for name in ("check.json", "build.json")):
            return False
        wheel = state["wheel"]
        return wheel is None or self._intact(os.path.join(self.dist, wheel[0]), wheel[1:])

    def _present(self) -> Iterator[str]:
        for folder, _, names in os.walk(self.tree):
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.tree).replace(os.sep, "/")

    # ── the work ─────────────────────────────────────────────────────────────────────────────────────────────────

    def scan(self) -> None:
        """Reads the project. Problem when it has no module or a file cannot be read."""
        from tensorc.frontend import read

        self.modules, self.chosen, self.data = project.tree(self.root, self.config)
        if not self.modules:
            raise Problem(f"{shown(self.root)}: no Python modules to build: name a folder that has some")
        self.contents = {file.place: read(file.path) for file in [*self.modules, *self.data]}
        self.inputs = {place: hashlib.sha256(text).hexdigest() for place, text in self.contents.items()}
        self.key = self._key()
        self._load_state()

    def current(self) -> int | None:
        """When nothing changed: says again what the build before said. Its exit code; None when there is work."""
        if not self._is_current():
            return None
        return self._say(self.state["said"])

    def _say(self, said: dict[str, Any]) -> int:
        """Prints the end of a build from its record. Paths are shown as from the folder that the command runs in."""
        for path, line in said["kept"]:
            print(f"tensorc: warning: {shown(path)}: {line}: the wheel needs that package at run time", file=sys.stderr)
        from tensorc.frontend import Unparsed

        unparsed = [Unparsed(File(*bad[0]), *bad[1:]) for bad in said["unparsed"]]
        for bad in unparsed:
            print(bad.text(), file=sys.stderr)
        functions, modules = _count(said["accepted"], "native function"), _count(said["modules"], "module")
        rejected = f", {said['rejected']} rejected (tensorc check says why)" if said["rejected"] else ""
        if not self.quiet:
            print(f"{shown(self.tree)}: {functions} in {modules}{rejected}")
            if unparsed:
                print(f"no wheel: {_count(len(unparsed), 'file')} could not be parsed")
            else:
                print(shown(os.path.join(self.dist, said["wheel"])))
        return 1 if unparsed else 0

    def run(self) -> int:
        """Exit code: 0, or 1 when a file could not be parsed (the rest is built, without a wheel)."""
        from tensorc import wheel

        try:
            about = wheel.metadata(self.root, self.config)
            self.wheels.add(wheel.file_name(about, native=True))
            made = self._compile()
            return self._put(made, about)
        except BaseException:
            self._remove_wheels()
            raise

    def _compile(self) -> "Compiled":
        """Every module to C, bound source and wheel source. Writes nothing."""
        from importlib.machinery import EXTENSION_SUFFIXES

        from tensorc import binding, frontend, markers

        made = Compiled()
        packages = {f.place.rpartition("/")[0] for f in self.modules if f.place.endswith("/__init__.py")}
        imported: set[str] = set()
        for file in self.data:
            made.tree[file.place] = made.wheel[file.place] = self.contents[file.place]
        for file in self.modules:
            source = bound = self.contents[file.place]
            loader = digest = ""
            unit = frontend.compile_source(file, source, self.config)
            if isinstance(unit, frontend.Unparsed):
                made.unparsed.append(unit)
                made.tree[file.place] = made.wheel[file.place] = source
                continue
            if file.place in self.chosen:
                made.units.append(unit)
                if unit.n_accepted:
                    name = binding.extension_name(file.place)
                    folder = file.place[: file.place.rfind("/") + 1]
                    text = unit.emit(name).encode()
                    made.work.append(Job(folder + name + EXTENSION_SUFFIXES[0], name + ".c", text, shown(file.path)))
                    bound = binding.bind(source, unit.functions, file.place)
                    digest = binding.c_digest(text)
                    loader = f"{folder}{binding.loader_name(file.place)}.py"
                    made.tree[loader] = binding.loader(file.place, bound, digest)
            made.tree[file.place] = bound
            imported |= markers.imported(source)
            private = markers.private_place(file.place, packages)
            kept: list[str] = []
            dotted = project.text(private).removesuffix(".py").replace("/", ".")
            made.wheel[file.place] = markers.rewrite(bound, dotted, kept)
            if made.wheel[file.place] != bound:
                made.wheel[private] = markers.private_text()
            if loader:
                made.wheel[loader] = binding.loader(file.place, made.wheel[file.place], digest)
            made.kept += [(file.path, text) for text in kept]
        taken = {place.partition("/")[0].removesuffix(".py") for place in made.tree}
        made.tree.update(markers.aliases(imported, taken))
        return made

    def _put(self, made: "Compiled", about: "wheel.Metadata") -> int:
        """Compiles the C and puts everything in place: wheel, tree, reports, record."""
        from tensorc import frontend, wheel

        native = bool(made.work)
        wheel_name = wheel.file_name(about, native)
        wheel_path = os.path.join(self.dist, wheel_name)
        with self._extensions(made.work) as built:
            if not made.unparsed:
                for job in made.work:
                    made.wheel[job.place] = frontend.read(built.get(job.place) or os.path.join(self.tree, job.place))
                for_wheel = {project.text(place): content for place, content in made.wheel.items()}
                self.wheels.add(wheel_name)
                atomic.write(wheel_path, wheel.contents(about, for_wheel, native))
            outputs = self._install(made.tree, built, made.work)
        self._remove_wheels(but=None if made.unparsed else wheel_name)

        accepted = sum(unit.n_accepted for unit in made.units)
        rejected = sum(f["status"] == "rejected" for unit in made.units for f in unit.functions)
        unparsed = [bad.text() for bad in made.unparsed]
        wheel_record: list[Any] | None = None
        if not unparsed:
            found = os.stat(wheel_path)
            wheel_record = [wheel_name, found.st_size, found.st_mtime_ns]
        self._write_reports(made, wheel_path if wheel_record else None, accepted, rejected, unparsed)
        record = {
            "key": self.key,
            "inputs": self.inputs,
            "outputs": outputs,
            "extensions": {job.place: self._job_key(job) for job in made.work},
            "wheel": wheel_record,
            "said": {
                "accepted": accepted,
                "modules": len(made.work),
                "rejected": rejected,
                "kept": made.kept,
                "unparsed": made.unparsed,
                "wheel": wheel_name,
            },
        }
        text = json.dumps(record)
        atomic.write(self.state_path, text.encode())
        return self._say(json.loads(text)["said"])

    def _job_key(self, job: Job) -> str:
        """Hash of all that an extension is made from."""
        assert self.compiler is not None
        return hashlib.sha256(self.made_from.encode() + job.c_text).hexdigest()

    @contextmanager
    def _extensions(self, work: list[Job]) -> Iterator[dict[str, str]]:
        """Compiles what is not current, in parallel, in a scratch folder: {place in the tree: file there}. Problem,
        with nothing changed, as soon as one fails."""
        archive = ""
        if work:
            self.compiler = cc.find(self.wanted)
            archive = cc.archive(self.compiler)
            with open(archive + ".key", encoding="ascii") as file:
                self.made_from = repr((file.read(), self.compiler.fingerprint(), cc.MODULE_FLAGS, sys.version))
        old, outputs = self.state.get("extensions", {}), self.state.get("outputs", {})
        todo = [
            job
            for job in work
            if old.get(job.place) != self._job_key(job)
            or not self._intact(os.path.join(self.tree, job.place), outputs.get(job.place))
        ]
        scratch = os.path.join(self.own, "build", "scratch")
        shutil.rmtree(scratch, ignore_errors=True)
        made: dict[str, str] = {}
        try:
            if todo:
                assert self.compiler is not None
                commands = []
                for number, job in enumerate(todo):
                    folder = os.path.join(scratch, str(number))
                    atomic.write(os.path.join(folder, job.c_name), job.c_text)
                    output = os.path.basename(job.place)
                    commands.append((cc.module_command(self.compiler, archive, job.c_name, output), folder, job.source))
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
            if self._intact(target, old.get(place)):
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
        self, made: Compiled, wheel_path: str | None, accepted: int, rejected: int, unparsed: list[str]
    ) -> None:
        from tensorc import frontend

        tool = self.compiler
        command = [*tool.command, *cc.MODULE_FLAGS, *tool.cflags, *tool.ldflags] if tool else []
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
                "status": "built" if made.work else "skipped",
                "tool": tool.shown() if tool else None,
                "command": command,
                "artifacts": [os.path.join(self.tree, job.place) for job in made.work],
                "message": None,
            },
            "wheel_build": {
                "status": "built" if wheel_path else "skipped",
                "path": wheel_path,
                "message": "; ".join(unparsed) or None,
            },
        }
        report = frontend.report(made.units, made.unparsed, self.root)
        atomic.write(os.path.join(self.reports, "check.json"), report)
        text = json.dumps(build, indent=2, sort_keys=True) + "\n"
        atomic.write(os.path.join(self.reports, "build.json"), text.encode(errors="replace"))


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def build(root: str, config: Config, compiler: str | None, jobs: int | None, quiet: bool) -> int:
    """Builds the project in folder `root`; one build at a time. Exit code; Problem when it cannot be done."""
    work = Build(root, config, compiler, jobs, quiet)
    work.scan()
    code = work.current()
    if code is not None:
        return code
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
            work.scan()  # another build may have changed the tree meanwhile
            code = work.current()
            return work.run() if code is None else code
        finally:
            lock.release()
    except OSError as error:
        where = shown(os.fsdecode(error.filename)) if error.filename else shown(root)
        raise Problem(
            f"cannot write {where}: {error.strerror}: make the folder writable, or build a copy elsewhere"
        ) from None
