"""The C compiler: finding it, asking it for a module, and the runtime archive made with it.

The runtime (runtime/tensorc_rt.c) is compiled once per compiler into an archive that every generated module links. One
comes with tensorc, made when tensorc was installed; for any other compiler it is made again, in the user's cache.
"""

import glob
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from typing import NamedTuple

from tensorc.problem import Problem

ARCHIVE = "libtensorc_rt.a"
FLAGS = ("-std=c11", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off")
# Generated C is calls and branches: more than -O1 only costs time, and on long functions minutes. gcc 12 takes 0.0 - x
# for -x where it sees that x is never -0, but not with -frounding-math. (Loops would not be widened: TC_ZEROS.)
MODULE_FLAGS = (*FLAGS, "-O1", "-frounding-math")
# A graph's loops are for the compiler to widen. Ints wrap around, as torch's do.
GRAPH_FLAGS = (*FLAGS, "-O2", "-ftree-vectorize", "-fwrapv", "-fno-math-errno", "-fno-trapping-math")
# Without NDEBUG, asserts in Python.h would put the path of this installation into every wheel.
RUNTIME_FLAGS = (*FLAGS, "-O2", "-DNDEBUG")
# The kernels are one text, compiled once per instruction set; which one runs is decided in the process.
KERNEL_FLAGS = (*RUNTIME_FLAGS, "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi")
X86_KERNELS = {
    "baseline": ("-DTC_ISA_BASELINE",),
    "avx2": ("-DTC_ISA_AVX2", "-mavx2", "-mfma", "-mbmi2"),
    "avx512": (
        *("-DTC_ISA_AVX512", "-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mavx2", "-mfma", "-mbmi2"),
        "-mprefer-vector-width=512",
    ),
}
_HERE = os.path.dirname(os.path.abspath(__file__))


class Compiler(NamedTuple):
    command: tuple[str, ...]  # what to run, with the user's own arguments: ("ccache", "gcc")
    cflags: tuple[str, ...]  # from $CFLAGS
    ldflags: tuple[str, ...]  # from $LDFLAGS

    def fingerprint(self) -> str:
        """Changes when the program behind the command does (its file, not what it says: no process is started)."""
        parts: list[object] = [*self.command, self.cflags, self.ldflags]
        for word in self.command:
            path = shutil.which(word)
            if path:
                found = os.stat(path)
                parts += [os.path.realpath(path), found.st_size, found.st_mtime_ns]
        return repr(parts)

    def shown(self) -> str:
        return shlex.join(self.command)


def _words(text: str, origin: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise Problem(f"{origin} is {text!r}, which cannot be split into words ({error}): mend its quotes") from None


def find(wanted: str | None) -> Compiler:
    """The compiler of --cc, else of $CC, else the first of cc, gcc, clang on PATH. Problem when there is none."""
    cflags = _words(os.environ.get("CFLAGS", ""), "CFLAGS")
    ldflags = _words(os.environ.get("LDFLAGS", ""), "LDFLAGS")
    for text, origin in ((wanted, "--cc"), (os.environ.get("CC"), "CC")):
        if text is None or not text.strip():
            continue
        command = _words(text, origin)
        if os.sep in command[0]:  # it is run in other folders
            command = (os.path.abspath(command[0]), *command[1:])
        if shutil.which(command[0]) is None:
            raise Problem(f"no C compiler: {origin} is {text!r} and there is no program {command[0]!r}: name another")
        return Compiler(command, cflags, ldflags)
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return Compiler((name,), cflags, ldflags)
    raise Problem("no C compiler: tried cc, gcc and clang on PATH: install gcc or clang, or name one with --cc or CC")


def python_include() -> str:
    import sysconfig

    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        raise Problem(f"no Python.h in {include}: install the headers of this Python (python3-dev or python3-devel)")
    return include


def runtime_dir() -> str:
    """Where tensorc_rt.h and the sources of the runtime are: in the installed package, or in the checkout."""
    installed = os.path.join(_HERE, "rt")
    if os.path.exists(os.path.join(installed, "tensorc_rt.h")):
        return installed
    return os.path.join(os.path.dirname(os.path.dirname(_HERE)), "runtime")


def runtime_files(directory: str) -> list[str]:
    return sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(directory)
        for name in names
        if name.endswith((".c", ".h", ".inc", ".def"))
    )


def run(command: list[str], cwd: str, what: str) -> None:
    """Runs the compiler. Problem with its first error when it fails; `what` says what was being made."""
    env = dict(os.environ, LC_ALL="C")
    try:
        done = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise Problem(
            f"the C compiler cannot run: {command[0]}: {error.strerror}: name another with --cc or CC"
        ) from None
    if done.returncode:
        said = (done.stderr + done.stdout).decode(errors="replace").splitlines()
        first = next((line for line in said if "error" in line.lower()), said[0] if said else "it said nothing")
        raise Problem(
            f"the C compiler failed on {what}: {first.strip()} (exit status {done.returncode} of {command[0]}): "
            "mend that, or name another compiler with --cc or CC"
        )


def _archive_key(compiler: Compiler, sources: str) -> str:
    """What the archive depends on: the runtime's text, the compiler, its flags, Python's headers."""
    flags = (RUNTIME_FLAGS, KERNEL_FLAGS, kernel_sets())
    programs = [os.path.realpath(shutil.which(word) or word) for word in compiler.command]
    key = hashlib.sha256(repr((programs, flags, compiler.cflags, python_include(), sys.version)).encode())
    try:
        said = subprocess.run([*compiler.command, "--version"], stdin=subprocess.DEVNULL, capture_output=True).stdout
    except OSError as error:
        raise Problem(f"the C compiler cannot run: {compiler.shown()}: {error.strerror}: name another") from None
    key.update(said)
    for path in runtime_files(sources):
        with open(path, "rb") as file:
            key.update(hashlib.sha256(file.read()).digest())
    return key.hexdigest()[:32]


def kernel_sets() -> dict[str, tuple[str, ...]]:
    """The instruction sets that the kernels are compiled for, with their flags."""
    return X86_KERNELS if os.uname().machine == "x86_64" else {"baseline": X86_KERNELS["baseline"]}


def _runtime_units(sources: str, key: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """(object, source, flags) of everything in the archive. Verdicts on recipes are kept under `key`."""
    kernels = os.path.join(sources, "kernel", "kernels.c")
    units: list[tuple[str, str, tuple[str, ...]]] = [
        ("tensorc_rt.o", os.path.join(sources, "tensorc_rt.c"), (*RUNTIME_FLAGS, f'-DTC_RUNTIME_KEY="{key}"'))
    ]
    sets = kernel_sets()
    units += [(f"kernels_{name}.o", kernels, (*KERNEL_FLAGS, *flags)) for name, flags in sets.items()]
    left_out = tuple(f"-DTC_WITHOUT_{name.upper()}" for name in X86_KERNELS if name not in sets)
    units.append(("recipes.o", os.path.join(sources, "kernel", "recipes.c"), (*KERNEL_FLAGS, *left_out)))
    return units


def _made_for(target: str) -> str | None:
    """The key of an archive that is there, and whole."""
    try:
        with open(target + ".key", encoding="ascii") as file:
            return file.read() if os.path.exists(target) else None
    except OSError:
        return None


def build_archive(compiler: Compiler, sources: str, target: str) -> None:
    """Compiles the runtime into the archive `target`, unless it is there, with its key beside it. Atomic."""
    import tempfile
    from concurrent.futures import ThreadPoolExecutor

    key = _archive_key(compiler, sources)
    if _made_for(target) == key:
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    archiver = os.environ.get("AR") or "ar"
    with tempfile.TemporaryDirectory(dir=os.path.dirname(target)) as scratch:
        units = _runtime_units(sources, key)
        commands = [
            [
                *compiler.command,
                *flags,
                *compiler.cflags,
                "-I" + sources,
                "-I" + python_include(),
                "-c",
                source,
                "-o",
                name,
            ]
            for name, source, flags in units
        ]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(lambda command: run(command, scratch, "the runtime"), commands))
        if shutil.which(_words(archiver, "AR")[0]) is None:
            raise Problem(f"no archiver: there is no program {archiver!r}: install binutils, or name one with AR")
        objects = [name for name, _, _ in units]
        run([*_words(archiver, "AR"), "rcs", ARCHIVE, *objects], scratch, "the runtime archive")
        with open(os.path.join(scratch, "key"), "w", encoding="ascii") as file:
            file.write(key)
        with suppress(FileNotFoundError):
            os.unlink(target + ".key")  # a key only ever stands beside its own archive, whenever this is interrupted
        os.replace(os.path.join(scratch, ARCHIVE), target)
        os.replace(os.path.join(scratch, "key"), target + ".key")


def cache_dir() -> str:
    """TENSORC_CACHE_DIR, else the user's cache folder. It may not exist."""
    chosen = os.environ.get("TENSORC_CACHE_DIR")
    if chosen:
        return os.path.abspath(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tensorc")


def cached() -> list[str]:
    """What is ours in the cache folder, which may be one that others use too: archives, captured programs and their
    extensions, verdicts of admission."""
    here = glob.escape(cache_dir())
    kinds = ("rt", "graph", "program", "admission")
    return sorted(found for kind in kinds for found in glob.glob(f"{here}/{kind}-*"))


def archive(compiler: Compiler) -> str:
    """The archive for this compiler and this text of the runtime: shipped, cached, or new in the cache."""
    sources = runtime_dir()
    key = _archive_key(compiler, sources)
    cached_place = os.path.join(cache_dir(), f"rt-{key}", ARCHIVE)
    for place in (os.path.join(_HERE, "rt", ARCHIVE), cached_place):
        if _made_for(place) == key:
            return place
    import filelock

    try:
        os.makedirs(os.path.dirname(cached_place), exist_ok=True)
        with filelock.FileLock(os.path.join(os.path.dirname(cached_place), "lock")):
            build_archive(compiler, sources, cached_place)
    except OSError as error:
        raise Problem(
            f"cannot write the cache {cache_dir()}: {error.strerror}: choose a folder with TENSORC_CACHE_DIR"
        ) from None
    return cached_place


def module_command(
    compiler: Compiler, archive_path: str, c_file: str, output: str, flags: tuple[str, ...] = MODULE_FLAGS
) -> list[str]:
    """Compiles one generated C file, in the folder it is in, into an extension module. A graph: GRAPH_FLAGS."""
    return [
        *compiler.command,
        *flags,
        "-shared",
        *compiler.cflags,
        "-I" + python_include(),
        "-I" + runtime_dir(),
        c_file,
        archive_path,
        *compiler.ldflags,
        "-lm",
        "-o",
        output,
    ]


def _digest_of(path: str) -> str | None:
    """Of the file's content; None when there is none to read."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


def _is_whole(path: str) -> bool:
    """Whether the file is as it was made: loading one that is cut short ends the process."""
    try:
        with open(path + ".sha256", encoding="ascii") as file:
            return file.read() == _digest_of(path)
    except (OSError, ValueError):
        return False


def cached_extension(name: str, c_text: bytes, flags: tuple[str, ...]) -> str:
    """The extension module `name` made of this C with these flags: one of the cache, or new in it. Its path. Problem
    when it cannot be made."""
    from importlib.machinery import EXTENSION_SUFFIXES

    compiler = find(None)
    key = hashlib.sha256(repr((name, compiler.fingerprint(), flags, sys.version)).encode())
    for path in runtime_files(runtime_dir()):
        found = os.stat(path)
        key.update(repr((path, found.st_size, found.st_mtime_ns)).encode())
    key.update(c_text)
    place = os.path.join(cache_dir(), f"graph-{key.hexdigest()[:32]}")
    output = name + EXTENSION_SUFFIXES[0]
    made = os.path.join(place, output)
    if _is_whole(made):
        return made
    import tempfile

    from tensorc.atomic import write

    archive_path = archive(compiler)
    try:
        os.makedirs(place, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place) as scratch:
            write(os.path.join(scratch, f"{name}.c"), c_text)
            run(module_command(compiler, archive_path, f"{name}.c", output, flags), scratch, "a captured graph")
            write(made + ".sha256", str(_digest_of(os.path.join(scratch, output))).encode())
            os.replace(os.path.join(scratch, output), made)
    except OSError as error:
        raise Problem(
            f"cannot write the cache {cache_dir()}: {error.strerror}: choose a folder with TENSORC_CACHE_DIR"
        ) from None
    return made
