"""The engine of captured graphs, from their text: what it reads, what it plans, and that every row of its tables has eager's bits."""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from workbench import ROOT, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────────

HEAD = "graph 1 torch\ninput %x : f32[2,3](3,1)\n"
WRONG = {
    "graph 2 torch\nreturn": "line 1 of the graph: no graph of a version that is known",
    "graph 1 torch\n": "line 1 of the graph: no return",
    HEAD + "return %y": "line 3 of the graph: a %name that no line before it defines",
    HEAD + "input %x : f32[1](1)\nreturn %x": "line 3 of the graph: a %name is defined again",
    HEAD + "param %p : f32[1](1)\nreturn %x": "line 3 of the graph: where the model has it is missing",
    HEAD + "%a = aten::neg(%x) : f32[2,3](3)\nreturn %a": "line 3 of the graph: strides do not go with the sizes",
    HEAD + "%a = aten::neg(%x) : f33[2,3](3,1)\nreturn %a": "line 3 of the graph: no dtype that is known",
    HEAD + "%a = aten::neg(%x : f32[2,3](3,1)\nreturn %a": "line 3 of the graph: a list of arguments does not end",
    HEAD + "%a = aten::neg(%x) : f32[1,1,1,1,1,1,1,1,1](1,1,1,1,1,1,1,1,1)\nreturn %a": "line 3 of the graph: more than 8 dimensions",
    HEAD + "%a = getitem(%x, 0) : f32[3](1)\nreturn %a": "line 3 of the graph: getitem of what is not there, or of another type",
    HEAD + '%a = aten::neg(%x, "a) : f32[2,3](3,1)\nreturn %a': "line 3 of the graph: a text does not end",
    HEAD + "return %x\nreturn %x": "line 4 of the graph: something behind the return",
    HEAD + "return [%x]": "line 3 of the graph: a result is neither a tensor nor a number, text or none",
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_says_which_line_is_wrong(text: str) -> None:
    from tensorc import _tensorc

    with pytest.raises(ValueError, match=f"^{re.escape(WRONG[text])}$"):
        _tensorc.Graph(text.encode(), "g")


PLANNED = """graph 1 torch
input %x : f32[4,6](6,1)
param %w : f32[5,3](3,1) "head.weight"
%chunk = aten::chunk(%x, 2, 1) : (f32[4,3](6,1), f32[4,3](6,1))
%getitem = getitem(%chunk, 0) : f32[4,3](6,1)
%getitem_1 = getitem(%chunk, 1) : f32[4,3](6,1)
%mul = aten::mul.Tensor(%getitem, 0.5) : f32[4,3](3,1)
%add = aten::add.Tensor(%mul, %getitem_1) : f32[4,3](3,1)
%linear = aten::linear(%add, %w) : f32[4,5](5,1)
%t = aten::t(%linear) : f32[5,4](1,5)
%erfinv = aten::erfinv(%t) : f32[5,4](1,5)
%sub = aten::sub.Tensor(%add, %getitem, alpha=2) : f32[4,3](3,1)
return %erfinv, %sub, %getitem_1, 7, none, "é\\n"
"""


def test_plan() -> None:
    from tensorc import _tensorc

    graph = _tensorc.Graph(PLANNED.encode(), "g")
    assert graph.show("ir") == (
        "func g() -> unknown {\n"
        "  %0 = input f32[4,6](6,1) x\n"
        "  %1 = input f32[5,3](3,1) w\n"
        "  %2 = node aten::chunk (f32[4,3](6,1), f32[4,3](6,1)) %0, 2, 1\n"
        "  %3 = item f32[4,3](6,1) %2 [0]\n"
        "  %4 = item f32[4,3](6,1) %2 [1]\n"
        "  %5 = node aten::mul.Tensor f32[4,3](3,1) %3, 0.5\n"
        "  %6 = node aten::add.Tensor f32[4,3](3,1) %5, %4\n"
        "  %7 = node aten::linear f32[4,5](5,1) %6, %1\n"
        "  %8 = node aten::t f32[5,4](1,5) %7\n"
        "  %9 = node aten::erfinv f32[5,4](1,5) %8\n"
        "  %10 = node aten::sub.Tensor f32[4,3](3,1) %6, %3, alpha=2\n"
        '  results %9, %10, %4, 7, none, "é\\n"\n'
        "}\n"
    )
    # One part of x is returned, so the parts are torch's own views; alpha and erfinv are torch's own functions.
    assert graph.show("plan") == (
        "graph g: 0 bytes of its own\n"
        "  %chunk = aten::chunk: wheel (returned as a view of what came from outside)\n"
        "  %getitem = getitem: wheel\n"
        "  %getitem_1 = getitem: wheel (returned as a view of what came from outside)\n"
        "  %mul = aten::mul.Tensor: loop in that of %add\n"
        "  %add = aten::add.Tensor: loop into a tensor\n"
        "  %linear = aten::linear: recipe into a tensor\n"
        "  %t = aten::t: view of %linear + 0\n"
        "  %erfinv = aten::erfinv: wheel (no other way is known)\n"
        "  %sub = aten::sub.Tensor: wheel (an option)\n"
    )
    assert graph.calls == ("chunk", "linear", "erfinv", "sub")


# ── running ───────────────────────────────────────────────────────────────────────────────────────────────────────────

DTYPES = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32", "bool": "bool"}


class Writer:
    """A graph's text out of calls of torch's operations, which it makes to learn their results' types."""

    def __init__(self, inputs: list[Any]) -> None:
        self.names = {id(x): f"x{i}" for i, x in enumerate(inputs)}
        self.lines = ["graph 1 torch", *(f"input %x{i} : {self.type(x)}" for i, x in enumerate(inputs))]
        self.functions: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
        self.kept = list(inputs)  # ids stay those of living objects

    @staticmethod
    def type(value: Any) -> str:
        if isinstance(value, (tuple, list)):
            return f"({', '.join(map(Writer.type, value))})"
        numbers = [",".join(map(str, numbers)) for numbers in (value.shape, value.stride())]
        return f"{DTYPES[str(value.dtype).removeprefix('torch.')]}[{numbers[0]}]({numbers[1]})"

    def argument(self, value: Any) -> str:
        import torch

        if isinstance(value, torch.Tensor):
            return "%" + self.names[id(value)]
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(self.argument, value))}]"
        if isinstance(value, torch.dtype):
            return DTYPES[str(value).removeprefix("torch.")]
        if value is None or isinstance(value, (bool, torch.device)):
            return str(value).lower()
        return json.dumps(value) if isinstance(value, str) else repr(value)

    def constants(self, value: Any) -> Iterator[Any]:
        import torch

        def holds(value: Any) -> bool:
            return isinstance(value, torch.Tensor) or (isinstance(value, (list, tuple)) and any(map(holds, value)))

        if not holds(value):
            yield value
        elif isinstance(value, (list, tuple)):
            for item in value:
                yield from self.constants(item)

    def call(self, schema: str, *args: Any, **keywords: Any) -> Any:
        import torch

        name, overload = (schema.removeprefix("aten::").split(".") + ["default"])[:2]
        function = getattr(getattr(torch.ops.aten, name), overload)
        result = function(*args, **keywords)
        node = f"n{len(self.functions)}"
        text = [self.argument(arg) for arg in args] + [f"{k}={self.argument(v)}" for k, v in keywords.items()]
        self.lines.append(f"%{node} = {schema}({', '.join(text)}) : {self.type(result)}")
        self.functions[node] = (function, tuple(itertools.chain(*(self.constants(x) for x in [*args, *keywords.values()]))))
        if isinstance(result, (tuple, list)):
            for i, item in enumerate(result):
                self.lines.append(f"%{node}_{i} = getitem(%{node}, {i}) : {self.type(item)}")
                self.names[id(item)] = f"{node}_{i}"
        else:
            self.names[id(result)] = node
        self.kept.append(result)
        return result

    def text(self, results: list[Any]) -> str:
        return "\n".join([*self.lines, "return " + ", ".join(map(self.argument, results))])


def load(text: str, functions: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]], constants: tuple[Any, ...] = ()) -> tuple[Any, Any, Any]:
    """(graph, module, callable)"""
    from tensorc import _tensorc, cc

    extension = f"_graph_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    graph = _tensorc.Graph(text.encode(), "g")
    path = cc.cached_extension(extension, graph.c(extension).encode(), (*cc.GRAPH_FLAGS, "-DTC_ONLY_" + _tensorc.host()))
    spec = importlib.util.spec_from_file_location(extension, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return graph, module, module.load(constants, tuple(functions[name] for name in graph.calls))


SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38, 1.0, -2.5, 0.5, -0.5)


def tensor(seed: int, *sizes: int) -> Any:
    """Random numbers, with every kind of special one among them."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(sizes, generator=generator)
    special = torch.tensor(SPECIAL)[torch.randint(len(SPECIAL), sizes, generator=generator)]
    return torch.where(torch.rand(sizes, generator=generator) < 0.4, special, x)


def ordinary(seed: int, *sizes: int) -> Any:
    import torch

    return torch.randn(sizes, generator=torch.Generator().manual_seed(seed))


def same(a: Any, b: Any) -> bool:
    """Type, sizes, strides and bits, but for a NaN's payload."""
    import torch

    if a.dtype != b.dtype or a.shape != b.shape or a.stride() != b.stride():
        return False
    if not a.dtype.is_floating_point:
        return torch.equal(a, b)
    nan = torch.isnan(a)
    ints = torch.int32 if a.dtype == torch.float32 else torch.int64
    bits = [torch.where(nan, 0, x).contiguous().view(ints) for x in (a, b)]
    return torch.equal(nan, torch.isnan(b)) and torch.equal(*bits)


def write_everything(w: Writer, x: list[Any]) -> list[Any]:
    """A call of each row of the tables, in several forms; what is a view of an input is read by a loop."""
    import torch

    a, b, wide, turned, gappy, cube, ints, flags, index, weight, bias, plain, doubles = x
    out = []
    for schema in rows("POINT"):
        if schema.endswith(".Tensor") and re.search(r"::(add|sub|rsub|mul|div|eq|ne|lt|le|gt|ge)\.", schema):
            out += [w.call(schema, *pair) for pair in ((a, b), (a, wide), (turned, turned), (gappy, a), (a, ints))
                    if not (schema.rsplit("::")[1][:2] in ("eq", "ne", "lt", "le", "gt", "ge") and pair[1] is ints)]
            out += [w.call(schema, ints, ints)] if "rsub" not in schema else []
        elif schema.endswith(".Scalar") and "where" not in schema and "masked" not in schema:
            out += [w.call(schema, a, number) for number in (0.3, 2, math.inf, 0)] + [w.call(schema, ints, 3)]
        elif schema in ("aten::maximum", "aten::minimum", "aten::max.other", "aten::min.other"):
            out += [w.call(schema, *pair) for pair in ((a, b), (b, a), (a, wide), (gappy, a), (turned, turned), (a, a), (cube, w.call("aten::neg", cube)))]
        elif schema.startswith("aten::clamp"):
            bounds = ((-0.5, 0.5), (0.0, None), (None, -0.0), (0, 1), (1.0, -1.0)) if schema == "aten::clamp" else ((0.0,), (-1,))
            out += [w.call(schema, t, *bound) for bound in bounds for t in (a, gappy)]
            out.append(w.call(schema, ints, 1))
        elif schema == "aten::where.self":
            out += [w.call(schema, flags, *pair) for pair in ((a, b), (ints, a), (wide, a))]
        elif "where" in schema:
            ends = {"Self": (1.5, a), "Other": (a, 0), "Scalar": (1.0, 2.0)}
            out.append(w.call(schema, flags, *next(ends[end] for end in ("Self", "Other", "Scalar") if schema.endswith(end))))
        elif schema == "aten::masked_fill.Scalar":
            out.append(w.call(schema, a, flags, -1e9))
        elif schema in ("aten::leaky_relu",):
            out += [w.call(schema, t, *slope) for t in (a, doubles) for slope in ((), (0.3,))]
        elif schema == "aten::hardtanh":
            out += [w.call(schema, t, *bounds) for t in (a, gappy, doubles) for bounds in ((), (-0.7,), (0.0, 0.5))]
        elif schema == "aten::threshold":
            out += [w.call(schema, t, *numbers) for t in (a, gappy, doubles) for numbers in ((0.0, -0.0), (0.3, 7))]
        elif schema == "aten::pow.Tensor_Scalar":
            out += [w.call(schema, a, 2), w.call(schema, a, 2.0)]
        elif schema == "aten::full_like":
            out.append(w.call(schema, a, 7))
        elif schema in ("aten::logical_not", "aten::bitwise_not"):
            out.append(w.call(schema, flags))
        elif re.search(r"::(logical|bitwise|__)", schema):
            out.append(w.call(schema, flags, w.call("aten::gt.Scalar", a, 0)))
        else:
            out += [w.call(schema, t) for t in (a, gappy, turned, cube, doubles)]
            out += [w.call(schema, ints)] if schema in ("aten::relu", "aten::neg", "aten::abs", "aten::square", "aten::floor") else []

    positive = w.call("aten::abs", a), w.call("aten::to.dtype", flags, torch.float32), w.call("aten::to.dtype", ints, torch.float64)
    out += [w.call("aten::rsub.Scalar", x, 0.0) for x in positive]  # which is not -x
    out.append(w.call("aten::sub.Tensor", w.call("aten::zeros_like", a), positive[0]))

    def read(view: Any) -> Any:
        return w.call("aten::mul.Tensor", view, 2) if view.dtype.is_floating_point else w.call("aten::add.Tensor", view, 1)

    views: dict[str, list[tuple[Any, ...]]] = {
        "aten::view": [(cube, [4, 45]), (cube, [2, 2, 5, 9])],
        "aten::_unsafe_view": [(cube, [20, 9])],
        "aten::unsqueeze": [(a, 0), (gappy, -1)],
        "aten::squeeze": [(wide,)],
        "aten::squeeze.dim": [(wide, 0)],
        "aten::squeeze.dims": [(wide, [0])],
        "aten::transpose.int": [(cube, 0, -1), (a, 0, 1)],
        "aten::t": [(a,)],
        "aten::permute": [(cube, [2, 0, 1])],
        "aten::movedim.int": [(cube, 0, 2)],
        "aten::swapaxes": [(cube, 0, 1)],
        "aten::expand": [(wide, [5, -1])],
        "aten::expand_as": [(wide, a)],
        "aten::broadcast_to": [(wide, [2, 7, 33])],
        "aten::view_as": [(a, a)],
        "aten::unflatten.int": [(cube, -1, [3, 3])],
        "aten::alias": [(a,)],
        "aten::detach": [(a,)],
        "aten::detach_": [(w.call("aten::clone", a),)],
        "aten::select.int": [(cube, 1, -2), (turned, 0, 3)],
        "aten::slice.Tensor": [(a, 1, 1, 2**63 - 1), (a, 1, -9, -2, 3), (cube, 0, 1, 1), (cube, 2, 0, 9, 2)],
        "aten::narrow": [(cube, 2, 3, 4), (cube, 1, -2, 2)],
        "aten::chunk": [(a, 4, 1), (cube, 3, -2)],
        "aten::split.Tensor": [(a, 10, 1)],
        "aten::split_with_sizes": [(cube, [2, 3], 1)],
        "aten::unbind.int": [(cube, 1)],
        "aten::reshape": [(cube, [20, 9]), (turned, [-1]), (gappy, [11, 21])],
        "aten::flatten.using_ints": [(cube, 1), (turned,)],
        "aten::reshape_as": [(w.call("aten::neg", cube), cube)],
        "aten::contiguous": [(a,), (turned,), (gappy,)],
        "aten::to.dtype": [(a, torch.float32), (ints, torch.float32), (flags, torch.float32), (a, torch.float64), (doubles, torch.float32), (a, torch.bool)],
        "aten::to.dtype_layout": [(a,), (ints,)],
        "aten::to.device": [(ints, torch.device("cpu"), torch.float32), (a, torch.device("cpu"), torch.float32)],
        "aten::to.other": [(ints, a), (a, gappy)],
        "aten::type_as": [(flags, a), (a, a)],
        "aten::dropout": [(a, 0.5, False)],
        "aten::clone": [(turned,), (gappy,)],
        "aten::_to_copy": [(a,)],
        "aten::lift_fresh_copy": [(a,)],
        "aten::cat": [([a, gappy, a],), ([a, a], 1), ([cube, cube], -1)],
        "aten::stack": [([a, b],), ([a, gappy], -1), ([cube, cube], 1)],
        "aten::pad": [(cube, [1, 2]), (cube, [0, 1, 2, 0], "constant", 1.5), (cube, [0, 0, 0, 0, 1, 1])],
        "aten::constant_pad_nd": [(a, [3, 0], -1)],
    }
    assert set(views) == set(rows("VIEW")), "give each VIEW of compiler/ops.def an example"
    for schema, calls in views.items():
        for arguments in calls:
            made = w.call(schema, *arguments)
            out += [read(view) for view in (made if isinstance(made, (tuple, list)) else [made]) if view.dtype != torch.bool]
    gathers: dict[str, list[tuple[Any, ...]]] = {
        "aten::embedding": [(weight, index), (weight, w.call("aten::reshape", index, [2, 3]))],
        "aten::index.Tensor": [(cube, [index]), (cube, [None, index]), (cube, [None, index, index]), (turned, [index])],
        "aten::index_select": [(cube, 1, index), (turned, -1, index)],
        "aten::gather": [(weight, 1, w.call("aten::view", index, [2, 3])), (weight, 0, w.call("aten::view", index, [6, 1]))],
    }
    assert set(gathers) == set(rows("GATHER")), "give each GATHER of compiler/ops.def an example"
    out += [w.call(schema, *arguments) for schema, calls in gathers.items() for arguments in calls]
    once: dict[str, tuple[Any, ...]] = {
        "aten::arange": (33,), "aten::arange.start": (1, 34), "aten::arange.start_step": (0, 66, 2), "aten::zeros": ([33],), "aten::ones": ([33],),
        "aten::full": ([33], 1.5), "aten::scalar_tensor": (2.5,), "aten::eye": (33,), "aten::linspace": (0, 1, 33),
    }
    assert set(once) == set(rows("ONCE")), "give each ONCE of compiler/ops.def an example"
    out += [w.call("aten::mul.Tensor", w.call(schema, *arguments), wide) for schema, arguments in once.items()]
    pair = w.call("aten::view", w.call("aten::neg", plain), [3, 2, 6])
    out += [w.call("aten::prod.dim_int", pair, 1), w.call("aten::prod.dim_int", w.call("aten::slice.Tensor", cube, 2, 0, 2), -1, True), w.call("aten::prod.dim_int", ints, 0)]
    out += [w.call("aten::sum.dim_IntList", t, [dim], keep) for t in (ints, flags, index) for dim in (0, -1) for keep in (False, True)]
    square = w.call("aten::neg", weight)
    recipes: dict[str, list[tuple[Any, ...]]] = {
        "aten::matmul": [(plain, weight), (plain, w.call("aten::t", weight))],
        "aten::mm": [(plain, square)],
        "aten::addmm": [(bias, plain, square), (bias, plain, w.call("aten::t", weight))],
        "aten::mv": [(plain, bias)],
        "aten::bmm": [(cube, w.call("aten::transpose.int", cube, 1, 2))],
        "aten::einsum": [("bij,bkj->bik", [cube, cube])],
        "aten::linear": [(plain, weight, bias), (plain, weight), (w.call("aten::view", plain, [1, 6, 6]), weight, bias)],
        "aten::batch_norm": [(plain, bias, bias, bias, w.call("aten::abs", bias), False, 0.1, 1e-5, True), (plain, None, None, bias, w.call("aten::abs", bias), False, 0.1, 1e-5, True)],
        "aten::layer_norm": [(cube, [9]), (plain, [6], bias, bias), (plain, [6], bias, None, 1e-3)],
        "aten::rms_norm": [(cube, [9]), (plain, [6], bias, 1e-6)],
        "aten::gelu": [(plain,)],
        "aten::sum": [(a,), (cube,), (w.call("aten::view", plain, [36]),)],
        "aten::mean": [(a,), (cube,)],
        "aten::prod.dim_int": [(t, dim) for t in (a, cube) for dim in (0, 1, -1)],
        "aten::linalg_vector_norm": [(a,), *((t, 2, [dim], keep) for t in (a, cube) for dim in (0, 1, -1) for keep in (False, True)), (cube, 2.0, [1, 2])],
        "aten::topk": [(a, 5), (cube, 3, -1), (cube, 2, 2, False), (cube, 9, -1, True, False), (plain, 1)],
        **{f"aten::{f}.dim": [(t, dim, keep) for t in (a, cube) for dim in range(-1, t.dim() - 1) for keep in (False, True)] for f in ("max", "min")},
        "aten::argmin": [(a,), *((t, dim) for t in (a, cube) for dim in range(-1, t.dim() - 1)), (a, 1, True)],
        **{f"aten::{f}.dim": [(a, [1], unbiased) for unbiased in (False, True)] + [(cube, [dim], True, True) for dim in (0, 1, 2)] + [(cube, [0, 1], False)] for f in ("var", "std")},
        "aten::conv1d": [(w.call("aten::view", plain, [1, 6, 6]), w.call("aten::view", weight, [6, 6, 1]), bias)],
        "aten::conv1d.padding": [(w.call("aten::view", plain, [2, 3, 6]), w.call("aten::view", weight, [4, 3, 3]), None, [1], "same")],
    }
    for schema in rows("GRAPH"):
        if schema in recipes:
            for arguments in recipes[schema]:
                made = w.call(schema, *arguments)
                out += made if isinstance(made, (tuple, list)) else [made]
        elif schema in ("aten::var.correction", "aten::std.correction"):
            out += [w.call(schema, t, [dim], correction=by) for t in (a, cube) for dim in (0, -1) for by in (0, 1, 0.0)]
        elif schema in ("aten::sum.dim_IntList", "aten::mean.dim"):
            out += [w.call(schema, t, [dim], keep) for t in (a, cube) for dim in range(-1, t.dim() - 1) for keep in (False, True)]
            out += [w.call(schema, cube, dims, keep) for dims in ([1, 2], [-3, 1], [0, 1, -1], [], [0, 2]) for keep in (False, True)]
        elif schema in ("aten::softmax.int", "aten::log_softmax.int", "aten::cumsum", "aten::cumprod", "aten::argmax"):
            out += [w.call(schema, t, dim) for t in (a, cube) for dim in range(-1, t.dim() - 1)]
        else:
            out += [w.call(schema, t) for t in (a, cube, turned)]
    return out


def rows(kind: str) -> list[str]:
    text = (ROOT / "compiler" / "ops.def").read_text(encoding="utf-8")
    return re.findall(rf'^{kind} *\((?:\w+, )?"([^"]+)"', text, re.MULTILINE)


def arguments(seed: int) -> list[Any]:
    import torch

    a = tensor(seed, 7, 33)
    generator = torch.Generator().manual_seed(seed)
    return [
        a, tensor(seed + 1, 7, 33), tensor(seed + 2, 1, 33), tensor(seed + 3, 33, 7).t(), tensor(seed + 4, 7, 66)[:, ::2], tensor(seed + 5, 4, 5, 9),
        torch.randint(-4, 5, (7, 33), generator=generator), torch.rand(7, 33, generator=generator) < 0.5, torch.randint(0, 4, (6,), generator=generator),
        ordinary(seed, 6, 6), ordinary(seed + 1, 6), ordinary(seed + 2, 6, 6), tensor(seed + 6, 3, 17).double(),
    ]  # fmt: skip


@pytest.mark.parametrize("kernels", ["the host's", "default"])
def test_every_row_has_the_bits_of_eager(monkeypatch: pytest.MonkeyPatch, kernels: str) -> None:
    import torch

    if kernels == "default":  # torch asks at its first operation
        monkeypatch.setenv("ATEN_CPU_CAPABILITY", kernels)
        assert torch.backends.cpu.get_cpu_capability() == "DEFAULT"
    with torch.no_grad():
        inputs = arguments(0)
        writer = Writer(inputs)
        results = write_everything(writer, inputs)
        graph, _, native = load(writer.text(results), writer.functions)
        report = graph.report()
        tables = {schema for kind in ("POINT", "VIEW", "GATHER", "ONCE", "GRAPH") for schema in rows(kind)}
        own = {operation for _, operation, way, _ in report if way != "wheel"}
        assert tables - own == set()
        assert not [row for row in report if row[1] not in tables]
        for seed in range(0, 80, 10):
            inputs = arguments(seed)
            expected = write_everything(Writer(inputs), inputs)
            got = native(*inputs)
            assert len(got) == len(expected)
            lines = {line.split(" ")[0]: line for line in writer.lines}
            assert [lines[writer.argument(result)] for result, mine, eager in zip(results, got, expected, strict=True) if not same(mine, eager)] == []


def test_refuses_before_anything_happens() -> None:
    import torch

    text = 'graph 1 torch\ninput %x : f32[2,3](3,1)\nparam %w : f32[3](1) "w"\n%y = aten::mul.Tensor(%x, %w) : f32[2,3](3,1)\nreturn %y, %x'
    weight = torch.nn.Parameter(torch.ones(3))
    _, module, native = load(text, {}, (weight,))
    x = torch.randn(2, 3)
    wrong = [x.double(), x.t(), x[:1], torch.randn(3, 2).t(), x.to("meta"), torch._efficientzerotensor((2, 3)), torch._neg_view(x), 3, None]
    with torch.no_grad():
        assert same(native(x)[0], x) and native(x)[1] is x
        for other in wrong:
            with pytest.raises(module.Unfit):
                native(other)
        with pytest.raises(TypeError):
            native(x, x)
        with torch.autocast("cpu"), pytest.raises(module.Unfit, match="autocast"):
            native(x)
        with torch.utils._python_dispatch.TorchDispatchMode(), pytest.raises(module.Unfit):
            native(x)
        weight.data = torch.full((3,), 2.0)
        assert same(native(x)[0], 2 * x)
        weight.data = torch.ones(4)
        with pytest.raises(module.Unfit, match="0 has other sizes"):
            native(x)
        weight.data = torch.ones(3)
    with pytest.raises(module.Unfit, match="grad"):
        native(x)
    with torch.inference_mode():
        assert native(x)[0].is_inference()
    with pytest.raises(ValueError, match="load"):
        module.load((), ())


def test_python_functions() -> None:
    """Their errors are eager's, what they give is checked, and a call may come in the middle of another."""
    import torch

    text = "graph 1 torch\ninput %x : f32[4](1)\n%a = aten::neg(%x) : f32[4](1)\n%b = aten::erfinv(%a) : f32[4](1)\n%c = aten::add.Tensor(%a, %b) : f32[4](1)\nreturn %c"
    depth = []

    def again(x: Any) -> Any:
        if depth:
            return depth.pop()
        depth.append(torch.full((4,), 9.0))
        inner = native(torch.ones(4))[0]
        return inner

    with torch.no_grad():
        _, module, native = load(text, {"b": (again, ())})
        assert native(torch.full((4,), 3.0))[0].tolist() == [5.0] * 4  # -3 + (-1 + 9): the inner call left the outer one's memory alone
        for lie in (torch.ones(3), torch.ones(4, dtype=torch.float64), torch.ones(8)[::2], 5):
            _, module, lying = load(text, {"b": (lambda x, lie=lie: lie, ())})
            with pytest.raises(module.Unfit, match="what b gave"):
                lying(torch.ones(4))
        picks = "graph 1 torch\ninput %t : f32[5,2](2,1)\ninput %i : i64[3](1)\n%e = aten::embedding(%t, %i) : f32[3,2](2,1)\nreturn %e"
        _, _, pick = load(picks, {"e": (torch.ops.aten.embedding.default, ())})
        table = torch.randn(5, 2)
        assert same(pick(table, torch.tensor([4, 0, 1]))[0], table[[4, 0, 1]])
        for index in (5, -1):
            with pytest.raises(IndexError, match="out of range"):
                pick(table, torch.tensor([0, index, 1]))


def test_aliases() -> None:
    """What is returned is an input, a view of one, or a view of another result where eager's is, and never memory of ours."""
    import torch

    text = """graph 1 torch
input %x : f32[2,6](6,1)
%v = aten::view(%x, [12]) : f32[12](1)
%s = aten::slice.Tensor(%v, 0, 2, 8) : f32[6](1)
%n = aten::neg(%x) : f32[2,6](6,1)
%t = aten::t(%n) : f32[6,2](1,6)
%r = aten::select.int(%t, 0, 1) : f32[2](6)
return %x, %s, %n, %r, %n"""
    with torch.no_grad():
        functions = {"v": (torch.ops.aten.view.default, ([12],)), "s": (torch.ops.aten.slice.Tensor, (0, 2, 8))}
        _, _, native = load(text, functions)
        x = torch.randn(2, 6)
        same_x, s, n, r, again = native(x)
        assert same_x is x and again is n
        assert s._base is x and s.data_ptr() == x.data_ptr() + 8
        assert r.data_ptr() == n.data_ptr() + 4 and r.stride() == (6,)
        n.fill_(3)
        assert r.tolist() == [3, 3]
        assert native(x)[2].tolist() == (-x).tolist()
