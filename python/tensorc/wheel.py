"""A wheel from the built files: reproducible, with the user's own metadata."""

import base64
import csv
import hashlib
import io
import os
import re
import zipfile
from typing import Any, NamedTuple

from tensorc import __version__
from tensorc.config import Config
from tensorc.problem import Problem
from tensorc.project import shown


class Metadata(NamedTuple):
    name: str  # as in the wheel's file name
    version: str
    files: dict[str, bytes]  # of the .dist-info folder: METADATA, entry_points.txt, licenses/…


def _read(root: str, name: str, key: str) -> str:
    path = os.path.join(root, name)
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"cannot read {shown(path)}, named by project.{key} in pyproject.toml: {error}") from None


def _dynamic_version(root: str, pyproject: dict[str, Any]) -> str | None:
    """A version that is a literal in a file: setuptools' `attr` and `file`, hatch's `path`."""
    tool = pyproject.get("tool", {})
    source = tool.get("setuptools", {}).get("dynamic", {}).get("version", {})
    if "file" in source:
        names = source["file"]
        return _read(root, names if isinstance(names, str) else names[0], "version").strip()
    variable, paths = "__version__", []
    if "attr" in source:
        module, _, variable = source["attr"].rpartition(".")
        base = module.replace(".", "/")
        paths = [f"{top}{base}{end}" for top in ("src/", "") for end in (".py", "/__init__.py")]
    elif "path" in tool.get("hatch", {}).get("version", {}):
        paths = [tool["hatch"]["version"]["path"]]
    for path in paths:
        if os.path.exists(os.path.join(root, path)):
            text = _read(root, path, "version")
            found = re.search(rf"^{re.escape(variable)}\s*(?::[^=\n]*)?=\s*['\"]([^'\"\n]+)['\"]", text, re.MULTILINE)
            if found:
                return found.group(1)
    return None


def _requirement(text: str, extra: str = "") -> str:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        parsed = Requirement(text)
    except InvalidRequirement as error:
        raise Problem(
            f"pyproject.toml: {text!r} is no valid dependency ({error}): mend it".replace("\n", " ")
        ) from None
    if not extra:
        return str(parsed)
    marker = f'extra == "{extra}"'
    plain, _, own = str(parsed).partition("; ")
    return f"{plain}; ({own}) and {marker}" if own else f"{plain}; {marker}"


def _people(people: list[dict[str, str]], kind: str) -> list[tuple[str, str]]:
    """Author and Author-email lines, or Maintainer's."""
    with_email = [f"{p['name']} <{p['email']}>" if p.get("name") else p["email"] for p in people if p.get("email")]
    names = [p["name"] for p in people if p.get("name") and not p.get("email")]
    lines = [(kind, ", ".join(names))] if names else []
    return lines + ([(f"{kind}-email", ", ".join(with_email))] if with_email else [])


def metadata(root: str, config: Config) -> Metadata:
    """From [project] in pyproject.toml; without one the folder's name and 0.1.0. Problem names the wrong key."""
    from packaging.utils import canonicalize_name
    from packaging.version import InvalidVersion, Version

    project = config.pyproject.get("project", {})
    dynamic = project.get("dynamic", [])
    folder = re.sub(r"[^A-Za-z0-9]+", "-", os.path.basename(root)).strip("-").lower() or "project"
    name = project.get("name", folder)
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", name):
        raise Problem(f"pyproject.toml: project.name is {name!r}: use letters, digits and - _ . only")
    version = project.get("version", "0.1.0")
    if "version" in dynamic:
        found = _dynamic_version(root, config.pyproject)
        if found is None:
            raise Problem(
                "pyproject.toml: project.version is dynamic and no literal in a file: write it as project.version"
            )
        version = found
    try:
        version = str(Version(version))
    except InvalidVersion:
        raise Problem(f"pyproject.toml: project.version is {version!r}, no valid version: mend it") from None

    fields: list[tuple[str, str]] = [("Metadata-Version", "2.4"), ("Name", name), ("Version", version)]
    if "description" in project:
        fields.append(("Summary", project["description"]))
    files: dict[str, bytes] = {}
    licence = project.get("license")
    if isinstance(licence, str):
        fields.append(("License-Expression", licence))
    elif isinstance(licence, dict) and "text" in licence:
        fields.append(("License", licence["text"].strip().replace("\n", "\n        ")))
    chosen = [licence["file"]] if isinstance(licence, dict) and "file" in licence else []
    if project:
        chosen += [n for n in sorted(os.listdir(root)) if re.match(r"(?i)(licen[cs]e|copying|notice|authors)", n)]
    for file_name in dict.fromkeys(chosen):
        if os.path.isfile(os.path.join(root, file_name)):
            fields.append(("License-File", file_name))
            files[f"licenses/{file_name}"] = _read(root, file_name, "license").encode()
    fields += _people(project.get("authors", []), "Author") + _people(project.get("maintainers", []), "Maintainer")
    if project.get("keywords"):
        fields.append(("Keywords", ",".join(project["keywords"])))
    fields += [("Classifier", text) for text in project.get("classifiers", [])]
    fields += [("Project-URL", f"{label}, {url}") for label, url in project.get("urls", {}).items()]
    if "requires-python" in project:
        fields.append(("Requires-Python", project["requires-python"]))
    requirements = list(project.get("dependencies", []))
    if "dependencies" in dynamic:
        source = config.pyproject.get("tool", {}).get("setuptools", {}).get("dynamic", {}).get("dependencies", {})
        names = source.get("file", [])
        lines = [
            line
            for n in ([names] if isinstance(names, str) else names)
            for line in _read(root, n, "dependencies").splitlines()
        ]
        requirements += [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    fields += [("Requires-Dist", _requirement(text)) for text in requirements]
    for extra, texts in project.get("optional-dependencies", {}).items():
        fields.append(("Provides-Extra", canonicalize_name(extra)))
        fields += [("Requires-Dist", _requirement(text, canonicalize_name(extra))) for text in texts]

    body = ""
    readme = project.get("readme")
    if isinstance(readme, str):
        readme = {"file": readme}
    if isinstance(readme, dict):
        file_name = readme.get("file", "")
        body = readme.get("text") or _read(root, file_name, "readme")
        kind = {".rst": "text/x-rst", ".txt": "text/plain"}.get(os.path.splitext(file_name)[1].lower(), "text/markdown")
        fields.append(("Description-Content-Type", readme.get("content-type", kind)))
    head = "".join(
        f"{key}: {value}\n" if key == "License" else f"{key}: {' '.join(str(value).split())}\n" for key, value in fields
    )
    files["METADATA"] = (head + ("\n" + body if body else "")).encode()

    groups = {"console_scripts": project.get("scripts", {}), "gui_scripts": project.get("gui-scripts", {})}
    groups.update(project.get("entry-points", {}))
    blocks = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items())
        for group, points in groups.items()
        if points
    ]
    if blocks:
        files["entry_points.txt"] = "\n".join(blocks).encode()
    return Metadata(canonicalize_name(name).replace("-", "_"), version, files)


def tag(native: bool) -> str:
    if not native:
        return "py3-none-any"
    import sysconfig

    from packaging.tags import cpython_tags

    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return str(next(cpython_tags(platforms=[platform])))


def file_name(about: Metadata, native: bool) -> str:
    return f"{about.name}-{about.version}-{tag(native)}.whl"


def contents(about: Metadata, files: dict[str, bytes], native: bool) -> bytes:
    """The whole wheel: sorted, dated 1980, the same bytes for the same files."""
    info = f"{about.name}-{about.version}.dist-info/"
    head = f"Wheel-Version: 1.0\nGenerator: tensorc {__version__}\nRoot-Is-Purelib: {'false' if native else 'true'}\n"
    last = {info + name: data for name, data in about.files.items()}
    last[info + "WHEEL"] = (head + f"Tag: {tag(native)}\n").encode()
    rows = io.StringIO()
    table = csv.writer(rows, lineterminator="\n")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name: str, data: bytes) -> None:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            archive.writestr(entry, data)

        for name, data in [*sorted(files.items()), *sorted(last.items())]:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            table.writerow((name, f"sha256={digest}", len(data)))
            add(name, data)
        table.writerow((info + "RECORD", "", ""))
        add(info + "RECORD", rows.getvalue().encode())
    return out.getvalue()
