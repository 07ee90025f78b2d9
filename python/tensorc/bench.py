"""`tensorc bench FILE:FUNC`: eager and native side by side in one process, equality first.

Times are medians of pairs measured one right after the other, in alternating order, so that a machine that slows down
slows both.
"""

import gc
import importlib
import importlib.util
import inspect
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from types import ModuleType
from typing import Any, NamedTuple

from tensorc import atomic, binding, cc, frontend
from tensorc.config import Config, find_root, load
from tensorc.problem import Problem
from tensorc.project import File, shown, sources

WIDTH = 32  # size of every dimension that is not the batch, when arguments come from the annotations
SECONDS = 0.6  # spent on the pairs of one row


class Row(NamedTuple):
    rows: int
    eager_us: float
    native_us: float
    ratio: float  # median of the pairs' ratios, eager / native
    equal: bool
    body: str


def split_target(target: str) -> tuple[str, str]:
    path, _, name = target.rpartition(":")
    if not path or not name:
        raise Problem(f"{target!r} names no function: write FILE:FUNCTION, as in score.py:score")
    if not os.path.isfile(path):
        raise Problem(f"{shown(path)}: no such file: write FILE:FUNCTION, as in score.py:score")
    return os.path.abspath(path), name


def find_function(unit: Any, file: File, name: str) -> dict[str, Any]:
    for function in unit.functions:
        if function["qualname"] == name:
            found: dict[str, Any] = function
            return found
    have = ", ".join(f["qualname"] for f in unit.functions) or "no function at all"
    raise Problem(f"{shown(file.path)} has no function {name!r}: it has {have}")


def compile_unit(path: str, config: Config) -> tuple[File, bytes, Any]:
    """The file as project.sources names it, its text, its unit. Problem when Python cannot parse it."""
    file = sources(path, config)[0]
    source = frontend.read(path)
    unit = frontend.compile_source(file, source, config)
    if isinstance(unit, frontend.Unparsed):
        raise Problem(unit.text())
    return file, source, unit


def _import(path: str, name: str, file: File, search: list[str] | None) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=search)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise Problem(f"cannot import {shown(file.path)}: {type(error).__name__}: {error}".replace("\n", " ")) from None
    return module


def build_module(file: File, source: bytes, unit: Any, compiler: cc.Compiler, folder: str) -> ModuleType:
    """Compiles one file into `folder` and imports it under its own name; what it imports comes from its project."""
    from importlib.machinery import EXTENSION_SUFFIXES

    name = binding.extension_name(file.place)
    text = unit.emit(name).encode()
    bound = binding.bind(source, unit.functions, file.place)
    atomic.write(os.path.join(folder, name + ".c"), text)
    command = cc.module_command(compiler, cc.archive(compiler), name + ".c", name + EXTENSION_SUFFIXES[0])
    cc.run(command, folder, shown(file.path))
    path = os.path.join(folder, os.path.basename(file.path))
    atomic.write(path, bound)
    loader = binding.loader(file.place, bound, binding.c_digest(text))
    atomic.write(os.path.join(folder, binding.loader_name(file.place) + ".py"), loader)
    sys.path.insert(0, file.path[: -len(file.place)] or os.sep)
    if file.place.endswith("/__init__.py"):
        return _import(path, file.module, file, [folder, os.path.dirname(file.path)])
    package = file.module.rpartition(".")[0]
    if package:
        try:
            importlib.import_module(package).__path__.append(folder)
        except Exception as error:
            raise Problem(
                f"cannot import the package {package}: {type(error).__name__}: {error}".replace("\n", " ")
            ) from None
    else:
        sys.path.insert(0, folder)
    return _import(path, file.module, file, None)


def _tensor_maker(lane: str) -> Callable[[Any], Any]:
    """What makes a tensor of the function's framework from a numpy array."""
    if lane == "tensorflow":
        import tensorflow

        make: Callable[[Any], Any] = tensorflow.constant
        return make
    import torch

    return torch.from_numpy


def _value(kind: str, shape: Sequence[int], random: Any, tensor: Callable[[Any], Any]) -> Any:
    if kind.startswith("f32"):
        return tensor(random.random(tuple(shape), dtype="float32") - 0.5)
    if kind.startswith("i64"):
        return tensor(random.integers(0, 8, tuple(shape)))
    return {"int": 2, "float": 0.5, "bool": True, "none": None}.get(kind)


def arguments_from_annotations(function: dict[str, Any], eager: Callable[..., Any]) -> Callable[[int], tuple[Any, ...]]:
    """A maker of random arguments for a number of rows. Sizes are the batch or WIDTH; which is which is found by trying
    until eager takes them. Problem when it takes none."""
    import numpy

    parameters = [p for p in function["params"] if not (p[3] and not p[1].startswith(("f32", "i64")))]
    if any(kind == "keyword-only" for _, _, kind, _ in parameters):
        raise Problem(f"{function['qualname']} has keyword-only parameters: give its arguments with --args FILE:make")
    ranks = [int(kind[kind.index("[") + 1 : -1]) if "[" in kind else 0 for _, kind, _, _ in parameters]
    tensor = _tensor_maker(function["lane"])

    def make(batch: Sequence[bool], rows: int) -> tuple[Any, ...]:
        random = numpy.random.default_rng(20261129)
        sizes = iter([rows if is_batch else WIDTH for is_batch in batch])
        shapes = [[next(sizes) for _ in range(rank)] for rank in ranks]
        return tuple(_value(p[1], shape, random, tensor) for p, shape in zip(parameters, shapes, strict=True))

    total = sum(ranks)
    first = [True] if total else []
    problem = ""
    for rest in itertools.islice(itertools.product((False, True), repeat=max(total - 1, 0)), 4096):
        batch = [*first, *rest]
        try:
            eager(*make(batch, 7))
        except Exception as error:  # each framework has its own for sizes that do not fit
            problem = f" (the last try: {type(error).__name__}: {str(error)[:100]})".replace("\n", " ")
            continue
        return lambda rows: make(batch, rows)
    raise Problem(
        f"no sizes found that {function['qualname']} takes: give its arguments with --args FILE:make{problem}"
    )


def arguments_from_maker(target: str, name: str, file: File, module: ModuleType) -> Callable[[int], tuple[Any, ...]]:
    """From a callable of the user: make(name, rows), make(rows) or make()."""
    path, maker_name = split_target(target)
    if path == file.path:
        home = module
    else:
        home = _import(path, "_tensorc_bench_arguments", File(path, os.path.basename(path)), None)
    maker = getattr(home, maker_name, None)
    if not callable(maker):
        raise Problem(
            f"{shown(path)} has no function {maker_name!r}: --args needs one that returns a tuple of arguments"
        )
    count = len(inspect.signature(maker).parameters)

    def make(rows: int) -> tuple[Any, ...]:
        given = (name, rows)[2 - min(count, 2) :]
        try:
            return tuple(maker(*given))
        except (Exception, SystemExit) as error:
            raise Problem(
                f"{target} failed for {rows} rows: {type(error).__name__}: {error}".replace("\n", " ")
            ) from None

    return make


def same(a: Any, b: Any) -> bool:
    """Bit for bit, dtype, sizes and torch's strides too; any NaN equals any NaN."""
    if type(a) is not type(b):
        return False
    if not hasattr(a, "numpy"):
        return repr(a) == repr(b)
    if hasattr(a, "stride"):
        if a.stride() != b.stride():
            return False
        a, b = a.detach(), b.detach()
    a, b = a.numpy().copy(), b.numpy().copy()
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "f":
        nan = a != a
        if not (nan == (b != b)).all():
            return False
        a[nan] = b[nan] = 0
    return bool(a.tobytes() == b.tobytes())


def measure(eager: Callable[..., Any], native: Callable[..., Any], args: tuple[Any, ...]) -> tuple[float, float, float]:
    """Median µs of each, and the median ratio of the pairs."""

    def once(function: Callable[..., Any], turns: int) -> float:
        start = time.perf_counter_ns()
        for _ in range(turns):
            function(*args)
        return (time.perf_counter_ns() - start) / turns / 1000

    # Each half of a pair lasts about 2 ms, so that neither is measured while it is still cold from the other.
    def turns_of(function: Callable[..., Any]) -> int:
        once(function, 3)
        return max(1, round(2000 / max(once(function, 20), 0.1)))

    of_eager, of_native = turns_of(eager), turns_of(native)
    pairs: list[tuple[float, float]] = []
    end = time.perf_counter() + SECONDS
    gc.collect()
    gc.disable()
    try:
        while len(pairs) < 15 or time.perf_counter() < end:
            if len(pairs) % 2:
                b = once(native, of_native)
                pairs.append((once(eager, of_eager), b))
            else:
                pairs.append((once(eager, of_eager), once(native, of_native)))
    finally:
        gc.enable()
    return (
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
    )


def bench(target: str, rows: list[int], maker: str | None, compiler: str | None, as_json: bool) -> int:
    """Prints the table. Exit code 1 when a result differs from eager's."""
    path, name = split_target(target)
    config = load(find_root(path))
    file, source, unit = compile_unit(path, config)
    function = find_function(unit, file, name)
    if function["status"] != "accepted":
        why = next((d for d in unit.diagnostics if d["function"] == name), None)
        reason = f"{shown(path)}:{why['line']}: {why['code']} {why['message']}" if why else "nothing in it is native"
        raise Problem(f"{name} is {function['status']}, there is nothing to measure: {reason}")
    os.environ["TENSORC_MODE"] = "native"
    with tempfile.TemporaryDirectory(prefix="tensorc-bench-") as folder:
        module = build_module(file, source, unit, cc.find(compiler), folder)
        native: Any = module
        for part in name.split("."):
            native = getattr(native, part)
        eager = native.__wrapped__
        table: list[Row] = []
        head: dict[str, Any] = {"target": target}
        if function["lane"] == "torch":
            import torch

            torch.set_grad_enabled(False)
            head.update(torch=torch.__version__, threads=torch.get_num_threads())
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):  # what the user's functions print
            make = (
                arguments_from_maker(maker, name, file, module)
                if maker
                else arguments_from_annotations(function, eager)
            )
            for count in rows:
                args = make(count)
                try:
                    got = native(*args)  # before eager: torch's threads must not make the first calls into MKL at once
                    want = eager(*args)
                except Exception as error:
                    raise Problem(
                        f"{name} fails for {count} rows: {type(error).__name__}: {error}".replace("\n", " ")
                    ) from None
                equal = same(want, got)
                table.append(Row(count, *measure(eager, native, args), equal, str(native.body)))
    return print_table(name, shown(path), head, table, as_json)


def print_table(name: str, where: str, head: dict[str, Any], table: list[Row], as_json: bool) -> int:
    """`head`: what the numbers were measured with. Exit code 1 when a result differs from eager's."""
    if as_json:
        print(json.dumps({**head, "rows": [row._asdict() for row in table]}, indent=2))
    else:
        about = f", torch {head['torch']}, {head['threads']} threads" if "torch" in head else ""
        print(f"{name} ({where}{about}); µs a call, medians of pairs")
        print(f"{'rows':>6} {'eager':>9} {table[0].body:>9} {'ratio':>7}  equal")
        for row in table:
            verdict = "yes" if row.equal else "NO"
            print(f"{row.rows:6} {row.eager_us:9.2f} {row.native_us:9.2f} {row.ratio:6.2f}x  {verdict}")
    return 0 if all(row.equal for row in table) else 1
