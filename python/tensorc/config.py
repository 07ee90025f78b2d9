"""Settings of a project: rextio.toml, [tool.tensorc] in pyproject.toml, TENSORC_* variables, flags; the later wins."""

import os
import sys
from typing import Any, NamedTuple

from tensorc.atomic import write
from tensorc.problem import Problem

CHOICES = {
    "numerics": ("exact", "library"),
    "gradients": ("python", "detach", "error"),
    "on-mismatch": ("python", "error"),
    "marker": ("auto", "decorator"),
}
LISTS = ("include", "exclude")
# Sections of the reference tool's rextio.toml, and those of them that mean something here.
REXTIO_SECTIONS = (
    "build", "rust", "plugins", "policy", "target", "imports", "embedding", "executable", "fallback", "toolchain",
)  # fmt: skip
REXTIO_IGNORED = ("rust", "embedding", "executable", "fallback", "toolchain")


class Config(NamedTuple):
    numerics: str = "exact"
    gradients: str = "python"
    on_mismatch: str = "python"
    marker: str = "auto"
    include: tuple[str, ...] = ()  # patterns of modules to compile; none: all
    exclude: tuple[str, ...] = ()  # patterns of modules that stay Python
    ignore: tuple[str, ...] = ()  # .rextioignore: patterns of files that are no part of the project
    pyproject: dict[str, Any] = {}  # the whole of pyproject.toml


def read_toml(path: str) -> dict[str, Any]:
    """The parsed file, {} when there is none. Problem when it is no TOML."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except FileNotFoundError:
        return {}
    import tomllib

    try:
        return tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(f"{path} is not valid TOML: {error}: mend it") from None


def _value(key: str, value: object, origin: str) -> object:
    if key in LISTS:
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise Problem(f"{origin}: {key} is {value!r}: give a list of patterns")
    if value not in CHOICES[key]:
        raise Problem(f"{origin}: {key} is {value!r}: use one of {', '.join(CHOICES[key])}")
    return value


def _from_rextio(root: str) -> dict[str, object]:
    path = os.path.join(root, "rextio.toml")
    if not os.path.exists(path):
        return {}
    found = read_toml(path)
    ignored = []
    for section, keys in found.items():
        if section not in REXTIO_SECTIONS:
            raise Problem(f"{path}: unsupported config section: [{section}]")
        if section in REXTIO_IGNORED:
            ignored.append(f"[{section}]")
        elif section == "build":
            backend = keys.get("native_backend", "rust")
            if backend not in ("rust", "c"):
                raise Problem(f'{path}: unsupported config value for [build].native_backend: {backend!r}. Use "c".')
            ignored += [f"[build].{key}" for key in keys if key.startswith("artifact_")]
    if ignored:
        print(f"tensorc: warning: {path}: no meaning for C, ignored: {', '.join(sorted(ignored))}", file=sys.stderr)
    marker = found.get("policy", {}).get("native_marker", "auto")
    return {"gradients": "detach", "on-mismatch": "error", "marker": _value("marker", marker, f"{path}: [policy]")}


def load(root: str, flags: dict[str, str | None] | None = None) -> Config:
    """The settings of the project in folder `root`. Problem names the file and key that is wrong."""
    values: dict[str, object] = _from_rextio(root)
    path = os.path.join(root, "pyproject.toml")
    pyproject = read_toml(path)
    own = pyproject.get("tool", {}).get("tensorc", {})
    known = (*CHOICES, *LISTS)
    for key, value in own.items():
        if key not in known:
            raise Problem(f"{path}: [tool.tensorc] has no key {key!r}: use one of {', '.join(known)}")
        values[key] = _value(key, value, f"{path}: [tool.tensorc]")
    for key in known:
        variable = "TENSORC_" + key.upper().replace("-", "_")
        if os.environ.get(variable):
            values[key] = _value(key, os.environ[variable], variable)
    for key, flag in (flags or {}).items():
        if flag is not None:
            values[key] = _value(key, flag, f"--{key}")
    ignore: tuple[str, ...] = ()
    try:
        with open(os.path.join(root, ".rextioignore"), encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file]
        ignore = tuple(line for line in lines if line and not line.startswith("#"))
    except FileNotFoundError:
        pass
    settings: dict[str, Any] = {key.replace("-", "_"): value for key, value in values.items()}
    return Config(**settings, ignore=ignore, pyproject=pyproject)


def find_root(path: str) -> str:
    """The nearest folder at or above `path` that has settings, else `path`'s own folder."""
    start = path if os.path.isdir(path) else os.path.dirname(path)
    folder = start
    while True:
        if any(
            os.path.exists(os.path.join(folder, name)) for name in ("pyproject.toml", "rextio.toml", ".rextioignore")
        ):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return start
        folder = above


TEMPLATE = """\
[tool.tensorc]
numerics = "exact"        # "exact": eager's bits; "library": the wheel's own kernels only
gradients = "python"      # a call that needs gradients: "python", "detach", "error"
on-mismatch = "python"    # an argument that breaks its annotation: "python" with one warning, or "error"
marker = "auto"           # "auto": every typed function; "decorator": only those under @tensorc.native
"""


def init(root: str, force: bool) -> str:
    """Writes [tool.tensorc] into pyproject.toml and says what was done. Only --force replaces a table that is there."""
    path = os.path.join(root, "pyproject.toml")
    found = read_toml(path)
    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    if "tensorc" in found.get("tool", {}):
        if not force:
            raise Problem(f"{path} has [tool.tensorc] already: edit it, or replace it with --force")
        kept, inside = [], False
        for line in text.splitlines(keepends=True):
            if line.lstrip().startswith("["):
                inside = line.strip().strip("[]").replace(" ", "").startswith("tool.tensorc")
            if not inside:
                kept.append(line)
        text = "".join(kept)
    if text and not text.endswith("\n"):
        text += "\n"
    write(path, (text + ("\n" if text.strip() else "") + TEMPLATE).encode())
    return f"wrote [tool.tensorc] into {path}"
