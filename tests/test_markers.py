"""Marker imports, decorators, and the bind lines in the copied source."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from workbench import BODIES, HEAD, Project, environment, has_torch, tensorc

pytestmark = pytest.mark.skipif(not has_torch(), reason="torch is not installed")

BODY = "\nimport torch\n\n\ndef act(x: {T}) -> {T}:\n    return x.relu()\n\n"
IMPORTS = {
    "from": ("from {m} import TensorF32Cpu2D", "TensorF32Cpu2D"),
    "from as": ("from {m} import TensorF32Cpu2D as M", "M"),
    "several": ("from {m} import (\n    TensorF32Cpu1D,\n    TensorF32Cpu2D as M,  # remark\n)", "M"),
    "star": ("from {m} import *", "TensorF32Cpu2D"),
    "module": ("import {m}", "{m}.TensorF32Cpu2D"),
    "module as": ("import {m} as T", "T.TensorF32Cpu2D"),
    "with another": ("import os, {m} as T, sys", "T.TensorF32Cpu2D"),
    "from package": ("from {p} import types", "types.TensorF32Cpu2D"),
    "from package as": ("from {p} import types as T", "T.TensorF32Cpu2D"),
    "continued": ("from {m} \\\n    import TensorF32Cpu2D", "TensorF32Cpu2D"),
    "semicolons": ("import os; from {m} import TensorF32Cpu2D; import sys", "TensorF32Cpu2D"),
    "in a try": ("try:\n    from {m} import TensorF32Cpu2D\nexcept ImportError:\n    TensorF32Cpu2D = object", "TensorF32Cpu2D"),
    "type checking": ("from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {m} import TensorF32Cpu2D", "TensorF32Cpu2D"),
}
HIDE = """
import importlib.machinery as _m
_find = _m.PathFinder.find_spec
_m.PathFinder.find_spec = classmethod(lambda cls, name, path=None, target=None: None if name.partition(".")[0] in {hidden} else _find(name, path, target))
"""
HIDE_ALL = HIDE.replace("{hidden}", "('tensorc', 'rextio', 'rextio_torch')")
HIDE_RENAMED = HIDE.replace("{hidden}", "('rextio', 'rextio_torch')")


@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    files = {"pkg/__init__.py": ""}
    for package in ("tensorc", "rextio_torch"):
        for key, (line, name) in IMPORTS.items():
            text = line.format(m=f"{package}.types", p=package)
            files[f"pkg/{package}_{key.replace(' ', '_')}.py"] = text + BODY.format(T=name.format(m=f"{package}.types"))
    return Project(module_folder, files).build()


def names() -> list[str]:
    return [f"pkg.{package}_{key.replace(' ', '_')}" for package in ("tensorc", "rextio_torch") for key in IMPORTS]


RUN = "import importlib, torch\nfor n in {names}:\n    m = importlib.import_module(n)\n    assert m.act(-torch.ones(1, 2)).tolist() == [[0.0, 0.0]], n\n    print(n, getattr(m.act, 'body', 'no'))\n"


def native_expected(name: str) -> bool:
    return not name.endswith("in_a_try")  # the name is bound twice


def test_build_tree(built: Project) -> None:
    out = dict(line.split() for line in built.run(RUN.format(names=names())).splitlines())
    for n in names():
        assert out[n] in BODIES or not native_expected(n), (n, out[n])


def test_wheel_needs_no_marker_module(built: Project, tmp_path: Path) -> None:
    with zipfile.ZipFile(built.wheels[0]) as z:
        z.extractall(tmp_path)
    env = environment(TENSORC_MODE="native")
    env["PYTHONPATH"] = str(tmp_path)
    done = subprocess.run([sys.executable, "-P", "-c", HIDE_ALL + RUN.format(names=names())], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for path in sorted(tmp_path.glob("pkg/*.py")):
        source = built.tree / "pkg" / path.name
        if source.exists():
            assert path.read_text().count("\n") == source.read_text().count("\n"), f"{path.name}: a line moved"


def test_build_tree_where_the_marker_module_is_missing(tmp_path: Path) -> None:
    """rextio_torch is not installed where this is built: the tree gets a stand-in."""
    source = "from rextio_torch.types import TensorF32Cpu2D" + BODY.format(T="TensorF32Cpu2D")
    project = Project(tmp_path / "p", {"m.py": source, "n.py": "import rextio\n\n\n@rextio.native\ndef f(n: int) -> int:\n    return n * 2\n\n"})
    hide = tmp_path / "hide"
    hide.mkdir()
    (hide / "sitecustomize.py").write_text(HIDE_RENAMED)
    env = environment()
    env["PYTHONPATH"] = f"{hide}:{env['PYTHONPATH']}"
    project.build(env=env)
    assert (project.tree / "rextio_torch" / "types.py").exists() and (project.tree / "rextio" / "__init__.py").exists()
    assert project.run("import torch, m, n, rextio_torch.types\nprint(m.act(torch.ones(1, 1)).item(), m.act.body in ('library', 'exact'), n.f(2), n.f.body in ('library', 'exact'))").split() == ["1.0", "True", "4", "True"]
    with zipfile.ZipFile(project.wheels[0]) as z:
        assert not any(name.startswith(("rextio", "tensorc")) for name in z.namelist()), "a wheel must not bring another project's module"


def test_own_module_named_like_a_marker_module(tmp_path: Path) -> None:
    project = Project(tmp_path, {"rextio_torch/__init__.py": "", "rextio_torch/types.py": "class TensorF32Cpu2D: pass\nMINE = 3\n", "m.py": "from rextio_torch.types import TensorF32Cpu2D, MINE" + BODY.format(T="TensorF32Cpu2D")}).build()
    assert project.run("import torch, m\nprint(m.MINE, m.act(torch.ones(1, 1)).item())").split() == ["3", "1.0"]


def test_decorators_are_kept_out_of_the_wheel(tmp_path: Path) -> None:
    source = "import tensorc\n" + HEAD + "\n@tensorc.native\ndef act(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x.relu()\n\n\n@tensorc.exempt\ndef left(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x.relu()\n\n"
    project = Project(tmp_path / "p", {"one/__init__.py": "", "one/m.py": source}).build()
    assert project.run("import one.m as m\nprint(hasattr(m.act, 'body'), hasattr(m.left, 'body'), m.act.__wrapped__.__rextio_native__, m.left.__rextio_exempt__)").split() == ["True", "False", "True", "True"]
    with zipfile.ZipFile(project.wheels[0]) as z:
        z.extractall(tmp_path / "site")
    env = environment(TENSORC_MODE="native")
    env["PYTHONPATH"] = str(tmp_path / "site")
    done = subprocess.run([sys.executable, "-P", "-c", HIDE_ALL + "import one.m as m\nprint(hasattr(m.act, 'body'), hasattr(m.left, 'body'))"], env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "False"], done.stderr


# ── the decorators themselves ────────────────────────────────────────────────────────────────────────────────────────


def test_decorators_only_mark() -> None:
    import tensorc as t

    def f(n: int) -> int:
        return n

    assert t.native(f) is f and t.native()(f) is f and t.native(target="c")(f) is f and t.exempt(f) is f
    for bad in (int, staticmethod(f), property(f), 3):
        with pytest.raises(TypeError):
            t.native(bad)
        with pytest.raises(TypeError):
            t.exempt(bad)
    with pytest.raises(ValueError):
        t.native(target="fortran")


def test_types_import_no_framework() -> None:
    code = "import sys\nimport tensorc, tensorc.types\nfrom tensorc.types import TensorF32Cuda0_1D, TensorF32Cuda0_2D, TensorI64Cpu1D\nassert not {'torch', 'numpy', 'tensorflow'} & set(sys.modules)\nprint(len(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ── where the bind line goes ─────────────────────────────────────────────────────────────────────────────────────────

PLACES = {
    "no blank line at all": "def act(x: {T}) -> {T}:\n    return x.relu()\ndef other(x: {T}) -> {T}:\n    return x.tanh()\nTABLE = [act, other]\n",
    "no newline at the end": "def act(x: {T}) -> {T}:\n    return x.relu()\n\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()",
    "carriage returns": "def act(x: {T}) -> {T}:\r\n    return x.relu()\r\n\r\n\r\ndef other(x: {T}) -> {T}:\r\n    return x.tanh()\r\n",
    "blank line with blanks": "def act(x: {T}) -> {T}:\n    return x.relu()\n   \ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\t\n",
    "comment behind": "def act(x: {T}) -> {T}:\n    return x.relu()\n    # a remark that belongs to act\n\n\n# another\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n# end\n",
    "string with a blank line behind": "def act(x: {T}) -> {T}:\n    return x.relu()\nTEXT = '''\n\n'''\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n",
    "brackets with a blank line behind": "def act(x: {T}) -> {T}:\n    return x.relu()\nTABLE = [\n\n    1,\n]\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\n",
    "continued line behind": "def act(x: {T}) -> {T}:\n    return x.relu()\nn = 1 + \\\n\\\n    2\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\n",
    "in an if": "if True:\n    def act(x: {T}) -> {T}:\n        return x.relu()\n\n    n = 1\nelse:\n    act = None\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\n",
    "in a try": "try:\n    def act(x: {T}) -> {T}:\n        return x.relu()\n\nexcept Exception:\n    act = None\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\n",
    "in a with": "import contextlib\nwith contextlib.suppress(Exception):\n    def act(x: {T}) -> {T}:\n        return x.relu()\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\n",
    "if with else right behind": "if True:\n    def act(x: {T}) -> {T}:\n        return x.relu()\nelse:\n    def act(x: {T}) -> {T}:\n        return x.exp()\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\n",
    "tabs": "if True:\n\tdef act(x: {T}) -> {T}:\n\t\treturn x.relu()\n\n\tn = 1\n\ndef other(x: {T}) -> {T}:\n\treturn x.tanh()\n\n",
    "decorated below a blank line": "import tensorc\n\n@tensorc.native\n\ndef act(x: {T}) -> {T}:\n    return x.relu()\n\n@tensorc.native\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\n",
    "one line each": "def act(x: {T}) -> {T}: return x.relu()\ndef other(x: {T}) -> {T}: return x.tanh()\n",
    "used at once": "def act(x: {T}) -> {T}:\n    return x.relu()\n\nimport functools\nPART = functools.partial(act)\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\nTABLE = (act, other)\n",
    "deleted afterwards": "def act(x: {T}) -> {T}:\n    return x.relu()\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\nkeep = act\ndel act\nact = keep\n",
    "main guard": "def act(x: {T}) -> {T}:\n    return x.relu()\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\nif __name__ == '__main__':\n    print(act)\n",
    "global in a function": "def act(x: {T}) -> {T}:\n    return x.relu()\n\ndef set_it():\n    global other\n    def other(x: {T}) -> {T}:\n        return x.tanh()\n\nset_it()\n",
    "walrus and loops": "for act in (1, 2):\n    pass\n\ndef act(x: {T}) -> {T}:\n    return x.relu()\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\n",
    "name of ours": "_tensorc = 5\n\ndef act(x: {T}) -> {T}:\n    return x.relu()\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\nassert _tensorc is not None\n",
    "form feed": "def act(x: {T}) -> {T}:\n    return x.relu()\n\x0c\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\x0c\n",
    "all list": "__all__ = ['act', 'other']\n\ndef act(x: {T}) -> {T}:\n    return x.relu()\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\n",
    "docstring and future": '"""Doc.\n\nmore"""\nfrom __future__ import annotations\n\ndef act(x: {T}) -> {T}:\n    return x.relu()\n\ndef other(x: {T}) -> {T}:\n    return x.tanh()\n\n',
}


@pytest.fixture(scope="module")
def placed(module_folder: Path) -> Project:
    files: dict[str, str | bytes] = {}
    for n, text in enumerate(PLACES.values()):
        marker = "tensorc.types.TensorF32Cpu2D"
        body = text.format(T=marker)
        head = "" if "__future__" in body else "import torch, tensorc.types\n"
        if head == "":
            body = body.replace("import annotations\n", "import annotations\nimport torch, tensorc.types\n")
        files[f"place{n}.py"] = (head.replace("\n", "\r\n") if "\r\n" in body else head).encode() + body.encode()
    return Project(module_folder / "placed", files).build()


@pytest.mark.isolated
@pytest.mark.parametrize("n", range(len(PLACES)), ids=list(PLACES))
def test_bind_line(placed: Project, n: int) -> None:
    import torch

    m = placed.load(f"place{n}")
    x = torch.tensor([[-1.0, 2.0]])
    assert torch.equal(m.act(x), x.relu()) and torch.equal(m.other(x), x.tanh())
    name = list(PLACES)[n]
    source, copied = (p.read_bytes().splitlines() for p in (placed.root / f"place{n}.py", placed.tree / f"place{n}.py"))
    changed = [i for i, (a, b) in enumerate(zip(source, copied)) if a != b]
    assert all(not source[i].strip() for i in changed), "only blank lines may change"
    assert len(copied) - len(source) <= 1
    bound = [f for f in (m.act, m.other) if hasattr(f, "native_status")]
    if name not in ("global in a function", "if with else right behind", "walrus and loops", "deleted afterwards"):
        assert len(bound) == 2, f"{len(bound)} of 2 are native"
    for f in bound:
        code = f.__wrapped__.__code__
        assert source[code.co_firstlineno - 1].lstrip().startswith((b"def", b"@")), "the line number moved"
    if name in ("used at once", "string with a blank line behind"):
        assert all(f is m.act or f is m.other for f in getattr(m, "TABLE", ()))


def test_encodings(tmp_path: Path) -> None:
    text = "import torch, tensorc.types\n\n\ndef café(größe: tensorc.types.TensorF32Cpu2D) -> tensorc.types.TensorF32Cpu2D:\n    'é'\n    return größe.relu()\n\n\nTEXT = 'é'\n"
    files: dict[str, str | bytes] = {"u.py": text.encode(), "b.py": b"\xef\xbb\xbf" + text.encode(), "l.py": ("# -*- coding: latin-1 -*-\n" + text).encode("latin-1"),
                                     "c.py": ("# vim: set fileencoding=cp1252 :\n" + text).encode("cp1252"), "k.py": ("# coding: koi8-r\n" + text.replace("café", "кафе").replace("größe", "х").replace("é", "э")).encode("koi8-r")}
    project = Project(tmp_path, files).build()
    code = "import torch, u, b, l, c, k\nfor m in (u, b, l, c, k):\n    f = getattr(m, 'café', None) or getattr(m, 'кафе')\n    print(ascii((f.__doc__, m.TEXT, f(-torch.ones(1, 1)).item(), f.body in ('library', 'exact'))))"
    out = project.run(code).splitlines()
    assert out == [ascii(("é", "é", 0.0, True))] * 4 + [ascii(("э", "э", 0.0, True))]
    done = tensorc("check", project.root)
    assert done.returncode == 0 and done.stdout.count("native") >= 5
