"""Which files a project has, and what their modules are called. Reads names only."""

import os
import stat
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from tensorc.config import Config
from tensorc.problem import Problem

# The reference tool's list, our own folder, and tests: never part of a project.
IGNORED = frozenset(
    (".git", ".hg", ".mypy_cache", ".pytest_cache", ".rextio", ".ruff_cache", ".tensorc", ".tox", ".venv")
    + ("__pycache__", "build", "dist", "node_modules", "venv", "tests")
)
# Folders beside a flat package that are no packages themselves (unless they have an __init__.py), as setuptools has it.
NOT_PACKAGES = frozenset(
    ("bench", "benchmark", "benchmarks", "bin", "ci", "debian", "doc", "docs", "documentation", "example", "examples")
    + ("exercise", "exercises", "htmlcov", "manpages", "news", "notebooks", "scripts", "tasks", "test", "tools")
)
NOT_MODULES = frozenset(("conftest.py", "fabfile.py", "noxfile.py", "setup.py", "toxfile.py"))


class File(NamedTuple):
    path: str  # absolute
    place: str  # where it goes in the build tree: "pkg/score.py"

    @property
    def module(self) -> str:
        parts = text(self.place).removesuffix(".py").split("/")
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def text(name: str) -> str:
    """A file name as text, also where the locale cannot decode it (then it is UTF-8, as far as it goes)."""
    return os.fsencode(name).decode(errors="replace")


def shown(path: str) -> str:
    """A path for a message: relative where that is shorter, on one line whatever is in it."""
    relative = os.path.relpath(path)
    path = path if relative.startswith("..") else relative
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in path)


def matches(relative: str, patterns: tuple[str, ...]) -> bool:
    """The reference's rule: "name/" is a folder anywhere, others a glob of path or name, a path, or a folder's path."""
    for pattern in patterns:
        bare = pattern.strip("/")
        if not bare:
            continue
        if pattern.endswith("/"):
            if bare in relative.split("/")[:-1] or relative.startswith(bare + "/"):
                return True
            continue
        from fnmatch import fnmatch

        if fnmatch(relative, bare) or fnmatch(os.path.basename(relative), bare) or relative.startswith(bare + "/"):
            return True
    return False


def compiles(relative: str, config: Config) -> bool:
    """Whether include and exclude let this module be compiled; the others stay Python."""
    return not matches(relative, config.exclude) and (not config.include or matches(relative, config.include))


_told: set[str] = set()  # links that leave no file, each named once in a process


def _is_file(entry: "os.DirEntry[str]") -> bool:
    """False for a link that leads nowhere (to nothing, to itself, where one may not look), which is told."""
    try:
        found = entry.stat()
    except OSError as error:
        if entry.path not in _told:
            _told.add(entry.path)
            print(f"tensorc: warning: {shown(entry.path)}: skipped: {error.strerror}", file=sys.stderr)
        return False
    return stat.S_ISREG(found.st_mode)


def walk(root: str, ignore: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(path, path relative to root with /) of every file that is part of the project, in a fixed order."""

    def visit(folder: str, prefix: str) -> Iterator[tuple[str, str]]:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            relative = prefix + entry.name
            if entry.name in IGNORED or (ignore and matches(relative, ignore)):
                continue
            if entry.is_dir(follow_symlinks=False):
                if os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):
                    continue  # a virtual environment, whatever its name
                yield from visit(entry.path, relative + "/")
            elif _is_file(entry):
                yield entry.path, relative

    return visit(root, "")


def module_base(folder: str) -> str:
    """The folder that the modules in `folder` are named from: above the packages it is in."""
    while os.path.exists(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def source_folder(root: str, config: Config) -> str | None:
    """The folder of a src layout, relative to root; None for a flat one."""
    tool: Any = config.pyproject.get("tool", {}).get("setuptools", {})
    if isinstance(tool, dict):
        packages = tool.get("packages", {})
        where = packages.get("find", {}).get("where", []) if isinstance(packages, dict) else []
        chosen = tool.get("package-dir", {}).get("") or (where[0] if where else None)
        if chosen not in (None, "", ".") and os.path.isdir(os.path.join(root, chosen)):
            return os.path.normpath(str(chosen)).replace(os.sep, "/")
    return "src" if os.path.isdir(os.path.join(root, "src")) else None


def sources(path: str, config: Config) -> list[File]:
    """The Python files that `check PATH` looks at. Problem when there is no such path."""
    path = os.path.abspath(path)
    if os.path.isfile(path):
        base = module_base(os.path.dirname(path))
        return [File(path, os.path.relpath(path, base).replace(os.sep, "/"))]
    if not os.path.isdir(path):
        raise Problem(f"{shown(path)}: no such file or folder: name a Python file, a folder or a project")
    folder = source_folder(path, config)
    base = module_base(path)
    above = "" if base == path else os.path.relpath(path, base).replace(os.sep, "/") + "/"
    found = []
    for file, relative in walk(path, config.ignore):
        if relative.endswith(".py") and relative not in NOT_MODULES and compiles(relative, config):
            inside = folder is not None and relative.startswith(folder + "/")
            place = relative[len(folder or "") + 1 :] if inside else above + relative
            found.append(File(file, place))
    return found


def tree(root: str, config: Config) -> tuple[list[File], set[str], list[File]]:
    """What `build ROOT` copies: Python files, the places of those to compile, and data files inside packages."""
    folder = source_folder(root, config)
    base = os.path.join(root, folder) if folder else root
    modules: list[File] = []
    others: list[File] = []
    chosen: set[str] = set()
    if folder and matches(folder + "/", config.ignore):
        return modules, chosen, others
    tops: set[str] = set()
    for file, relative in walk(base, config.ignore):
        top, _, rest = relative.partition("/")
        if relative == "__init__.py" or (folder is None and (top.startswith(".") or relative in NOT_MODULES)):
            continue
        if (
            folder is None
            and rest
            and top in NOT_PACKAGES
            and not os.path.exists(os.path.join(base, top, "__init__.py"))
        ):
            continue
        if relative.endswith(".py"):
            modules.append(File(file, relative))
            tops.add(top)
            if compiles(f"{folder}/{relative}" if folder else relative, config):
                chosen.add(relative)
        elif not relative.endswith((".pyc", ".pyo")):
            others.append(File(file, relative))
    # Beside modules at the top only what belongs to one of them; inside packages everything.
    stems = {top.removesuffix(".py") for top in tops}
    data = [
        file
        for file in others
        if (file.place.partition("/")[0] in tops)
        or ("/" not in file.place and file.place.endswith(".pyi") and file.place.removesuffix(".pyi") in stems)
        or file.place == "py.typed"
    ]
    return modules, chosen, data
