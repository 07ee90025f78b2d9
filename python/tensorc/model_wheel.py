"""`tensorc build model.pt2`: a wheel whose package has native code, the weights, the program, and what loads them."""

import io
import json
import keyword
import math
import os
import re
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils._pytree import tree_leaves, treespec_dumps

from tensorc import atomic, cc, exported, wheel
from tensorc.capture import Program, Uncovered, call_name, torch_is_quiet
from tensorc.exported import Call
from tensorc.problem import Problem
from tensorc.project import shown

_LOADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model_loader.py")  # importing it would load a model
_MARK = "# ── what is written into a wheel"


def _literal(value: Any) -> str:
    """Python that gives the value, where torch is imported."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    if value is ...:
        return "..."
    if isinstance(value, (list, tuple)):
        inner = "".join(f"{_literal(part)}, " for part in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return repr(value)


def _constants(program: Program) -> list[str]:
    """The program's names of the tensors that native code takes."""
    lines = program.text.decode().splitlines()
    return [json.loads(line[line.index(' "') :]) for line in lines if re.match("(param|buffer|const) ", line)]


def _weights(found: ExportedProgram) -> bytes:
    stream = io.BytesIO()
    torch.save(exported.tensors(found), stream)
    return stream.getvalue()


def _without_weights(found: ExportedProgram) -> bytes:
    for own in (found.state_dict, found.constants):
        for name, tensor in own.items():
            small = torch.zeros(1, dtype=tensor.dtype)  # torch complains of files of no bytes
            is_parameter = isinstance(tensor, torch.nn.Parameter)
            own[name] = torch.nn.Parameter(small, tensor.requires_grad) if is_parameter else small
    stream = io.BytesIO()
    with torch_is_quiet():
        torch.export.save(found, stream)
    return stream.getvalue()


def _package(name: str, program: Program, compiled: Any, found: ExportedProgram, call: Call) -> str:
    """The text of its __init__.py."""
    with open(_LOADER, encoding="utf-8") as file:
        _, mark, rest = file.read().partition(_MARK)
    assert mark
    calls = [(call_name(function), given) for function, given in (program.calls[node] for node in compiled.calls)]
    leaves = [... if isinstance(leaf, torch.Tensor) else leaf for leaf in tree_leaves((call.args, call.kwargs))]
    return (
        f'"""Written by tensorc from {name}.pt2: forward() is native for {exported.describe(call)}."""\n\n'
        "from typing import Any\n\n"
        "import torch\n\n"
        f"EXTENSION = {_extension(name)!r}\n"
        'WEIGHTS, PROGRAM = "weights.pt", "program.pt2"\n'
        f"IN_SPEC = {treespec_dumps(found.call_spec.in_spec)!r}\n"
        f"OUT_SPEC = {treespec_dumps(found.call_spec.out_spec)!r}\n"
        f"CONSTANTS = {_literal(tuple(_constants(program)))}\n"
        f"CALLS: Any = {_literal(tuple(calls))}\n"
        f"HAS_EFFECTS = {compiled.has_effects}\n"
        f"LEAVES: Any = {_literal(tuple(leaves))}\n" + rest.partition("\n")[2]
    )


def _extension(name: str) -> str:
    return f"_tensorc_{name}"


def files(path: str, wanted: str | None, rows: int | None = None) -> dict[str, bytes]:
    """What is in the wheel, by its place: native code for the example of the program, or for `rows`. Problem when the
    program cannot be native, or the file's name is no name of a module."""
    name = os.path.basename(path).removesuffix(".pt2")
    if not name.isidentifier() or keyword.iskeyword(name) or not name.isascii():
        raise Problem(f"{shown(path)}: the module would have the file's name, and {name!r} is none: rename the file")
    found = exported.load(path)
    call = exported.example(found, rows)
    try:
        program, compiled = exported.graph_of(found, call, _extension(name))
    except Uncovered as error:
        raise Problem(f"{shown(path)} cannot be native: {error}") from None
    output = _extension(name) + EXTENSION_SUFFIXES[0]
    compiler = cc.find(wanted)
    archive = cc.archive(compiler)
    with tempfile.TemporaryDirectory(prefix="tensorc-") as folder:
        atomic.write(os.path.join(folder, "model.c"), compiled.c(_extension(name)).encode())
        cc.run(cc.module_command(compiler, archive, "model.c", output, cc.GRAPH_FLAGS), folder, shown(path))
        with open(os.path.join(folder, output), "rb") as file:
            extension = file.read()
    package = {
        "__init__.py": _package(name, program, compiled, found, call).encode(),
        output: extension,
        "weights.pt": _weights(found),
        "program.pt2": _without_weights(exported.load(path)),  # the one that was found is changed
    }
    return {f"{name}/{place}": content for place, content in package.items()}


def build(path: str, wanted: str | None, quiet: bool) -> int:
    """Writes dist/*.whl beside the file."""
    made = files(path, wanted)
    name = os.path.basename(path).removesuffix(".pt2")
    release = ".".join(torch.__version__.split(".")[:2])  # an older one may not read the program
    fields = [("Metadata-Version", "2.4"), ("Name", name), ("Version", "0.1.0"), ("Requires-Dist", f"torch>={release}")]
    text = "".join(f"{key}: {value}\n" for key, value in fields).encode()
    about = wheel.Metadata(name.lower(), "0.1.0", {"METADATA": text})
    target = os.path.join(os.path.dirname(os.path.abspath(path)), "dist", wheel.file_name(about, native=True))
    atomic.write(target, wheel.contents(about, made, native=True))
    if not quiet:
        print(shown(target))
    return 0
