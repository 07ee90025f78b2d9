"""Programs that torch.export.save wrote: `tensorc check | show | bench model.pt2`.

Such a program is captured already. Sizes that it leaves open are numbers here, as in every version: those of the
example that is stored in it, or those that are asked for.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import Node
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves, tree_unflatten

from tensorc import frontend
from tensorc.capture import Program, Uncovered, first_line, torch_is_quiet, type_text, write
from tensorc.problem import Problem
from tensorc.project import shown
from tensorc.version import Operation


class Call(NamedTuple):
    """Arguments of a program's call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def load(path: str) -> ExportedProgram:
    """Problem when the file is no such program, or one of another torch."""
    try:
        with torch_is_quiet():
            return torch.export.load(path)
    except Exception as error:
        said = f"{type(error).__name__}: {first_line(error)}"
        raise Problem(f"{shown(path)} is no program that this torch reads ({said}): write it again") from None


def _user_inputs(exported: ExportedProgram) -> list[tuple[str, Any]]:
    """Name and what the program says of each flat argument: a tensor without values, or a constant."""
    kinds = {spec.arg.name: spec for spec in exported.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT}
    nodes = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    return [(name, nodes[name].meta.get("val", getattr(spec.arg, "value", None))) for name, spec in kinds.items()]


def _made(value: Any, rows: int) -> Any:
    """An argument like that: normal numbers, small whole ones, and `rows` where a size is open."""
    if isinstance(value, torch.SymInt):
        return rows
    if not isinstance(value, torch.Tensor):
        return value
    sizes = [size if isinstance(size, int) else rows for size in value.shape]
    if value.is_floating_point():
        return torch.randn(sizes).to(value.dtype)
    return torch.randint(0, 2, sizes).to(value.dtype)


def example(exported: ExportedProgram, rows: int | None = None) -> Call:
    """The call that is stored in the program; with `rows`, and where there is none, one that is made."""
    if rows is None and exported.example_inputs is not None:
        args, kwargs = exported.example_inputs
        return Call(tuple(args), dict(kwargs))
    generator = torch.random.fork_rng()
    with generator:
        torch.manual_seed(20261129)
        flat = [_made(value, rows or 2) for _, value in _user_inputs(exported)]
    args, kwargs = tree_unflatten(flat, exported.call_spec.in_spec)
    return Call(tuple(args), dict(kwargs))


def has_open_sizes(exported: ExportedProgram) -> bool:
    values = [value for _, value in _user_inputs(exported)]
    sizes = [size for value in values for size in (value.shape if isinstance(value, torch.Tensor) else [value])]
    return any(isinstance(size, torch.SymInt) for size in sizes)


def _close(exported: ExportedProgram, values: Mapping[str, Any]) -> None:
    """Puts numbers in the place of what the graph computes from sizes."""
    known: dict[Any, int] = {}
    for node in exported.graph.nodes:
        said: Any = node.meta.get("val")
        if node.op == "placeholder" and isinstance(said, (torch.Tensor, torch.SymInt)):
            given = values[node.name]
            pairs = zip(said.shape, given.shape, strict=True) if isinstance(said, torch.Tensor) else [(said, given)]
            known |= {size.node.expr: number for size, number in pairs if isinstance(size, torch.SymInt)}
    for node in list(exported.graph.nodes):
        said = node.meta.get("val")
        if node.op == "call_function" and isinstance(said, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            value = said.node.expr.xreplace(known)
            if not getattr(value, "free_symbols", ()):  # an unknown one depends on values
                kind = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}[type(said)]
                _replace(exported, node, kind(value))
        elif node.target is torch.ops.aten._assert_scalar.default and node.args[0] is True:
            exported.graph.erase_node(node)


def _replace(exported: ExportedProgram, node: Node, value: bool | int | float) -> None:
    for user in list(node.users):
        user.args = map_arg(user.args, lambda kid: value if kid is node else kid)
        user.kwargs = map_arg(user.kwargs, lambda kid: value if kid is node else kid)
    exported.graph.erase_node(node)


def tensors(exported: ExportedProgram) -> dict[str, torch.Tensor]:
    """The program's own, by their names."""
    return {**exported.state_dict, **exported.constants}


def program(exported: ExportedProgram, call: Call) -> Program:
    """Changes the graph of `exported`. Uncovered says what of it cannot be native."""
    own, leaves = tensors(exported), iter(tree_leaves((call.args, call.kwargs)))
    specs = exported.graph_signature.input_specs
    values = {s.arg.name: next(leaves) if s.kind is InputKind.USER_INPUT else own[s.target] for s in specs}
    _close(exported, values)
    with torch.no_grad():
        return write(exported, values)


def graph_of(exported: ExportedProgram, call: Call, name: str) -> tuple[Program, Any]:
    """The program for a call, and its compiled graph. Uncovered."""
    found = program(exported, call)
    try:
        return found, frontend.extension().Graph(found.text, name)
    except ValueError as error:
        raise Uncovered(first_line(error)) from None


def _graph(path: str) -> tuple[Program, Any]:
    exported = load(path)
    return graph_of(exported, example(exported), os.path.basename(path).removesuffix(".pt2"))


def describe(call: Call) -> str:
    """What it brings: f32[2,4](4,1), 3."""
    leaves = tree_leaves((call.args, call.kwargs))
    return ", ".join(type_text(x, "an argument") if isinstance(x, torch.Tensor) else repr(x) for x in leaves)


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def check(paths: list[str], as_json: bool, fail_on: str | None) -> int:
    """Prints how each operation of each program runs, and why. Exit code 1 when one cannot be native and that is asked
    for."""
    found: list[dict[str, Any]] = []
    for path in paths:
        rows: list[Operation] = []
        why = None
        try:
            rows = [Operation(*row) for row in _graph(path)[1].report()]
        except Uncovered as error:
            why = str(error)
        status = "accepted" if why is None else "rejected"
        found.append({"path": path, "status": status, "why": why, "operations": [row._asdict() for row in rows]})
        if as_json:
            continue
        counts = {way: sum(row.way == way for row in rows) for way in ("view", "loop", "recipe", "wheel", "once")}
        ways = ", ".join(f"{n} {way}" for way, n in counts.items() if n)
        print(
            f"{shown(path)}: native  {len(rows)} operations: {ways}" if not why else f"{shown(path)}: rejected  {why}"
        )
        widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
        for row in rows:
            head = "  ".join(text.ljust(width) for text, width in zip(row[:3], widths, strict=True))
            print(f"  {head}  {row.why}".rstrip())
    if as_json:
        print(json.dumps({"programs": found}, indent=2))
    return 1 if fail_on and any(each["status"] == "rejected" for each in found) else 0


def show(path: str, stage: str) -> str:
    """Problem when it cannot be native."""
    try:
        found, compiled = _graph(path)
    except Uncovered as error:
        raise Problem(f"{shown(path)} cannot be native: {error}") from None
    return found.text.decode() if stage == "graph" else str(compiled.show(stage))


def bench(path: str, rows: list[int], compiler: str | None, as_json: bool) -> int:
    """Prints the table of the program by torch and as its wheel runs it. Exit code 1 when a result differs."""
    import importlib
    import sys

    from tensorc import atomic, model_wheel
    from tensorc.bench import Row, measure, print_table
    from tensorc.same import difference

    exported = load(path)
    sizes: list[int | None] = [*rows] if has_open_sizes(exported) else [None]
    module = exported.module().requires_grad_(False)
    table: list[Row] = []
    os.environ["TENSORC_MODE"] = "native"
    for number, n in enumerate(sizes):
        call = example(exported, n)
        with tempfile.TemporaryDirectory(prefix="tensorc-bench-") as folder, torch.inference_mode():
            name = os.path.basename(path).removesuffix(".pt2")
            for place, content in model_wheel.files(path, compiler, n).items():
                atomic.write(os.path.join(folder, f"_bench{number}", place), content)
            sys.path.insert(0, os.path.join(folder, f"_bench{number}"))
            for known in [each for each in sys.modules if each.partition(".")[0] == name]:
                del sys.modules[known]
            native = importlib.import_module(name).forward
            sys.path.pop(0)
            got, want = native(*call.args, **call.kwargs), module(*call.args, **call.kwargs)
            given = [leaf for leaf in tree_leaves((call.args, call.kwargs)) if isinstance(leaf, torch.Tensor)]
            equal = difference(tree_leaves(want), tree_leaves(got), given) is None
            count = next((tensor.shape[0] for tensor in given if tensor.dim()), 1)
            times = measure(partial(module, **call.kwargs), partial(native, **call.kwargs), call.args)
            table.append(Row(count, *times, equal, "native"))
    head = {"target": path, "torch": torch.__version__, "threads": torch.get_num_threads()}
    return print_table(os.path.basename(path), shown(path), head, table, as_json)
