"""A model or function of torch as graph text: torch.export captures it, this page writes it down.

Nothing is decomposed or rewritten: the text has eager's own operations in eager's order, and so eager's bits. What the
compiler does not take yet is `Uncovered`, with its reason in one line.
"""

import inspect
import json
import logging
import math
import operator
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import MethodType
from typing import Any, NamedTuple

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind
from torch.fx import Interpreter, Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

from tensorc import inplace
from tensorc.effects import Copies

WORDS: dict[object, str] = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "bool",
    torch.strided: "strided",
    torch.contiguous_format: "contiguous",
    torch.preserve_format: "preserve",
    torch.channels_last: "channels_last",
}
MOST_DIMS = 8
# Operations that draw random numbers only when asked to, and how these arguments say that they are not.
_QUIET: dict[str, dict[str, object]] = {
    "aten::dropout": {"train": False},
    "aten::alpha_dropout": {"train": False},
    "aten::feature_dropout": {"train": False},
    "aten::feature_alpha_dropout": {"train": False},
    "aten::rrelu": {"training": False},
    **dict.fromkeys(("aten::gru", "aten::lstm", "aten::rnn_tanh", "aten::rnn_relu"), {"train": False}),
    "aten::scaled_dot_product_attention": {"dropout_p": 0.0},
}
# Python's functions on numbers, of sizes that depend on values, by the names that the text has for them.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        f"operator.{f.__name__}": f
        for f in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.truediv, operator.mod)
        + (operator.pow, operator.neg, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
        + (operator.and_, operator.or_, operator.not_)
    },
    **{f"math.{f.__name__}": f for f in (math.floor, math.ceil, math.trunc)},
    **{f"torch.{f.__name__}": f for f in (torch.sym_max, torch.sym_min, torch.sym_not, torch.sym_float, torch.sym_int)},
}
_NAMES = {function: name for name, function in FUNCTIONS.items()}


def call_name(function: Callable[..., Any]) -> str:
    """By which a function of a program's calls is found again: "aten.add.Tensor", "operator.add"."""
    return _NAMES.get(function) or str(function)


# Operations that write to their running statistics when they are trained, which their schemas do not say.
_TRAINED = {"aten::batch_norm": "training", "aten::instance_norm": "use_input_stats"}
_KINDS = {InputKind.PARAMETER: "param", InputKind.BUFFER: "buffer", InputKind.CONSTANT_TENSOR: "const"}


class Uncovered(Exception):
    """What of a program is not taken, in one line."""


class Chosen(Uncovered):
    """The same of what the caller has chosen (a mode, a subclass of Tensor): nothing to warn about."""


class Program(NamedTuple):
    text: bytes  # the graph text
    constants: tuple[torch.Tensor, ...]  # of its param, buffer and const lines: the model's own objects
    calls: dict[str, tuple[Callable[..., Any], tuple[object, ...]]]  # per node: torch's operation, its constants


# ── what is captured ─────────────────────────────────────────────────────────────────────────────────────────────────


class _Root(torch.nn.Module):
    """A function as a module, for torch.export takes only those. The modules that it uses are its children, so that
    their parameters are found as parameters."""

    def __init__(self, function: Callable[..., Any], modules: Iterable[torch.nn.Module]) -> None:
        super().__init__()
        self.training = False
        for number, module in enumerate(modules):
            self.add_module(f"m{number}", module)
        try:
            inspect.signature(function)  # its parameters name the inputs
            own = function.__call__  # type: ignore[operator]  # an object's; torch.export asks for its code
            self.forward = own if isinstance(own, MethodType) and not isinstance(function, MethodType) else function
        except ValueError:  # of a builtin
            self.forward = lambda *args, **kwargs: function(*args, **kwargs)


class _Seen(TorchFunctionMode):
    """The tensors that operations take, while it is on. They are kept: no other gets their place in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.by_place: dict[tuple[object, ...], torch.Tensor] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with torch._C.DisableTorchFunction():
            for leaf in tree_leaves((args, kwargs)):
                if isinstance(leaf, torch.Tensor):
                    self.by_place.setdefault(_place(leaf), leaf)
        return func(*args, **(kwargs or {}))


def _place(tensor: torch.Tensor) -> tuple[object, ...]:
    return tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()


@contextmanager
def _kept(root: torch.nn.Module) -> Iterator[None]:
    """Puts the attributes of all modules back: torch.export leaves copies of those that are containers."""
    before = [(vars(module), dict(vars(module))) for module in root.modules()]
    try:
        yield
    finally:
        for own, kept in before:
            for name in own.keys() - kept.keys():
                del own[name]
            for name, value in kept.items():
                if own.get(name) is not value:
                    own[name] = value


@contextmanager
def _without_device_guard() -> Iterator[None]:
    """Where there is no CUDA device, torch.export gives the process a guard that dies with the calling thread: the
    next capture, on another thread, would crash. A capture on the CPU needs none."""
    own = torch._C._ensureCUDADeviceGuardSet
    torch._C._ensureCUDADeviceGuardSet = lambda: None
    try:
        yield
    finally:
        torch._C._ensureCUDADeviceGuardSet = own


class _Quiet:
    """A stream that loses what the thread writes that made it: the code runs once more while it is captured. All else
    is the stream's."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._thread = threading.get_ident()
        self.written = False

    def write(self, text: str) -> int:
        if threading.get_ident() != self._thread:
            return int(self._stream.write(text))
        self.written = True
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def torch_is_quiet() -> Iterator[None]:
    """torch says to the terminal, too, what it raises."""
    log = logging.getLogger("torch")
    level = log.level
    try:
        log.setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].strip()


def capture(
    function: Callable[..., Any],
    modules: Iterable[torch.nn.Module],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Program:
    """The program that `function` (a Module, or a function that uses `modules`) runs for these arguments. Their sizes,
    strides and the values of all that is no tensor are constants of it. Uncovered says what of it is not taken."""
    root = function if isinstance(function, torch.nn.Module) else _Root(function, modules)
    printed, complained = _Quiet(sys.stdout), _Quiet(sys.stderr)
    try:
        with (
            torch_is_quiet(),
            redirect_stdout(printed),
            redirect_stderr(complained),
            _kept(root),
            _without_device_guard(),
        ):
            exported = torch.export.export(root, *_apart((args, kwargs)), strict=False)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the code may end the process where it is not itself
        raise Uncovered(f"torch.export: {type(error).__name__}: {first_line(error)}") from error
    if printed.written:
        raise Uncovered("the code prints")
    inplace.replace(exported.graph.nodes)
    runs_again = not any(map(_has_effect, exported.graph.nodes))
    return write(exported, _values(exported, function if runs_again else None, args, kwargs))


def write(exported: ExportedProgram, values: Mapping[str, Any]) -> Program:
    """A program of torch.export as ours. `values`: what each input of its graph is, by its node's name."""
    inplace.replace(exported.graph.nodes)
    nodes = [node for node in exported.graph.nodes if not _is_implied(node)]
    for node in nodes:
        _check(node)
    run = _Run(exported.graph_module)
    tensors = [value for value in values.values() if isinstance(value, torch.Tensor)]
    copies = Copies(tensors) if any(map(_has_effect, nodes)) else None
    try:
        run.run(*(copies.of(v) if copies and isinstance(v, torch.Tensor) else v for v in values.values()))
    except Uncovered as error:
        raise Uncovered(first_line(error)) from None  # the interpreter adds where it was
    except Exception as error:
        raise Uncovered(f"the captured graph does not run: {first_line(error)}") from None
    return _Writer(exported, nodes, values, run.types).program()


def _apart(args: Any) -> Any:
    """The same arguments, each tensor an object of its own: what is given twice, or is a tensor of the model too, would
    be one input of the graph, and the calls after this one may bring two."""

    def alias(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().requires_grad_(tensor.requires_grad and not tensor.is_inference())

    return tree_map_only(torch.Tensor, alias, args)


def _values(
    exported: ExportedProgram, function: Callable[..., Any] | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """What each input of the graph is, by its node's name. `function` if it may run once more."""
    leaves = iter(tree_leaves((args, kwargs)))
    own = {**exported.state_dict, **exported.constants}
    values: dict[str, Any] = {}
    seen: _Seen | None = None
    for spec in exported.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            values[spec.arg.name] = next(leaves)
            continue
        if spec.kind not in _KINDS:
            raise Uncovered(f"an input of the kind {spec.kind.name.lower()}")
        values[spec.arg.name] = tensor = own[spec.target]
        if spec.kind is InputKind.CONSTANT_TENSOR:
            # torch.export may have put another object over the memory of a tensor that the code found in a list, say.
            # Eager reads the object: so do we. What eager makes anew in each call is not seen, and is a constant.
            if function is None:
                continue
            if seen is None:
                with _Seen() as seen:
                    function(*args, **kwargs)
            values[spec.arg.name] = seen.by_place.get(_place(tensor), tensor)
    return values


# ── what is taken ────────────────────────────────────────────────────────────────────────────────────────────────────


def _argument(node: Node, target: OpOverload, name: str) -> object:
    """The argument that the schema names so, its default where the call leaves it out."""
    for place, argument in enumerate(target._schema.arguments):
        if argument.name == name:
            given = node.args[place] if place < len(node.args) else argument.default_value
            return node.kwargs.get(name, given)
    raise KeyError(name)


def _is_implied(node: Node) -> bool:
    """Whether the node only asserts what the types of the graph say: a version runs for these types alone."""
    if node.target is not torch.ops.aten._assert_tensor_metadata.default:
        return False
    about = node.args[0]
    assert isinstance(about, Node)
    value = about.meta["val"]
    found = {"size": tuple(value.shape), "stride": tuple(value.stride()), "dtype": value.dtype}
    found |= {"device": value.device, "layout": value.layout}
    for name, is_so in found.items():
        said = _argument(node, node.target, name)
        if said is not None and (tuple(said) if isinstance(said, list) else said) != is_so:
            return False
    return True


def _check(node: Node) -> None:
    """Uncovered when this operation is none that a version may run."""
    target = node.target
    if node.op in ("placeholder", "output") or target is operator.getitem:
        return
    if target in _NAMES:
        return
    if not isinstance(target, OpOverload):
        inside = next(iter(node.users)).target if node.op == "get_attr" and node.users else target
        name = getattr(inside, "__name__", inside)
        raise Uncovered(f"{name}: a graph inside of the graph, or arithmetic on sizes")
    name = target._schema.name
    if target._schema.is_mutable and not (_is_detached_constant(node) or _gives_its_first(node)):
        raise Uncovered(f"{name} changes more of its arguments than values")


def _gives_its_first(node: Node) -> bool:
    """Whether it writes values into its first argument, and gives that back as it was but for them."""
    target, schema = node.target, getattr(node.target, "_schema", None)
    if not isinstance(target, OpOverload) or schema is None or not schema.is_mutable or not node.args:
        return False
    written = [argument for argument in schema.arguments if argument.alias_info and argument.alias_info.is_write]
    if written != schema.arguments[:1] or len(schema.returns) != 1 or not schema.returns[0].alias_info:
        return False
    first, value = node.args[0], node.meta.get("val")
    own = first.meta.get("val") if isinstance(first, Node) else None
    if not isinstance(value, torch.Tensor) or not isinstance(own, torch.Tensor) or "resize" in schema.name:
        return False
    return (value.dtype, value.shape, value.stride()) == (own.dtype, own.shape, own.stride())


def _has_effect(node: Node) -> bool:
    """Whether it writes to an argument, or draws random numbers."""
    target = node.target
    if not isinstance(target, OpOverload) or _is_detached_constant(node):
        return False
    name = target._schema.name
    trains = name in _TRAINED and _argument(node, target, _TRAINED[name]) and _argument(node, target, "running_mean")
    quiet = _QUIET.get(name, {}).items()
    draws = torch.Tag.nondeterministic_seeded in target.tags and not (
        quiet and all(_argument(node, target, key) == value for key, value in quiet)
    )
    return bool(trains or draws or target._schema.is_mutable)


def _is_known(value: object) -> bool:
    """Whether it is tensors, whose sizes do not depend on the values of others."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_known, value))
    if not isinstance(value, torch.Tensor):
        return False
    return not free_unbacked_symbols((*value.shape, *value.stride()))


def _is_detached_constant(node: Node) -> bool:
    """torch.tensor([…]) in the code is lift_fresh_copy and detach_, which does nothing to the new tensor."""
    if node.target is not torch.ops.aten.detach_.default:
        return False
    made = node.args[0]
    return isinstance(made, Node) and made.target is torch.ops.aten.lift_fresh_copy.default


# ── types ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def type_text(value: object, what: str) -> str:
    """Of a tensor "f32[2,3](3,1)", of several "(…, …)". Uncovered names `what` when it is another thing."""
    if isinstance(value, (tuple, list)):
        return f"({', '.join(type_text(part, what) for part in value)})"
    if type(value) not in (torch.Tensor, torch.nn.Parameter):
        raise Uncovered(f"{what} is a {type(value).__name__}")
    assert isinstance(value, torch.Tensor)
    if value.device.type != "cpu" or value.layout is not torch.strided or value.dtype not in WORDS:
        raise Uncovered(f"{what} has dtype {value.dtype}, layout {value.layout}, device {value.device}")
    if value.dim() > MOST_DIMS or value.is_neg():
        raise Uncovered(f"{what} has {value.dim()} dimensions" if value.dim() > MOST_DIMS else f"{what} is negated")
    sizes, strides = ",".join(map(str, value.shape)), ",".join(map(str, value.stride()))
    return f"{WORDS[value.dtype]}[{sizes}]({strides})"


class _Run(Interpreter):
    """Runs the graph once by the wheel and takes down each value's type: what the capture believes about strides comes
    from descriptions of the kernels, and these are the kernels."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.types: dict[Node, str] = {}

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        if n.op == "call_function" and n.target is not torch.ops.aten._assert_tensor_metadata.default:
            known = _is_known(n.meta.get("val"))
            self.types[n] = type_text(value, f"the result of {n.name}") if known else "object"
            self._check_write(n)
        return value

    def _check_write(self, node: Node) -> None:
        """What was taken for a write that nobody sees, on the tensors that there really are."""
        written = inplace.written_by(node)
        if written is None:
            return
        memory = self.env[written].untyped_storage().data_ptr()
        given = (self.env[other] for other in self.env if other.op == "placeholder")
        if any(isinstance(t, torch.Tensor) and t.untyped_storage().data_ptr() == memory for t in given):
            raise Uncovered(f"aten::{node.name} writes to an argument or constant")
        if self.types[node] != self.types[written]:
            raise Uncovered(f"aten::{node.name} writes to a tensor of another type")


# ── text ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _literal(value: object, what: str) -> str:
    if isinstance(value, (bool, type(None))):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, torch.device) and value.type == "cpu":
        return "cpu"
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)) and value in WORDS:
        return WORDS[value]
    raise Uncovered(f"{what} is {value!r:.60}")


def _constants(argument: object) -> Iterator[object]:
    """What of an argument is the same at each call: the argument itself, or those parts of a list with values in it."""
    if isinstance(argument, (list, tuple)) and any(isinstance(part, Node) for part in argument):
        yield from (part for part in argument if not isinstance(part, Node))
    elif not isinstance(argument, Node):
        yield argument


class _Writer:
    def __init__(
        self, exported: ExportedProgram, nodes: list[Node], values: Mapping[str, Any], types: dict[Node, str]
    ) -> None:
        self.exported = exported
        self.nodes = nodes
        self.values = values
        self.types = types
        self.calls: dict[str, tuple[Callable[..., Any], tuple[object, ...]]] = {}

    def program(self) -> Program:
        constants, heads = self._inputs()
        lines = ["graph 1 torch", *heads, *(line for node in self.nodes for line in self._line(node)), ""]
        return Program("\n".join(lines).encode(), constants, self.calls)

    def _inputs(self) -> tuple[tuple[torch.Tensor, ...], list[str]]:
        """The model's tensors that the graph uses, in order of first use, and the lines of all inputs."""
        lines: list[str] = []
        specs = {spec.arg.name: spec for spec in self.exported.graph_signature.input_specs}
        for name, spec in specs.items():
            if spec.kind is InputKind.USER_INPUT and not isinstance(spec.arg, ConstantArgument):
                lines.append(f"input %{name} : {type_text(self.values[name], f'the argument {name}')}")
        used = dict.fromkeys(kid.name for node in self.nodes for kid in node.all_input_nodes if kid.op == "placeholder")
        bound = [name for name in used if specs[name].kind is not InputKind.USER_INPUT]
        for name in bound:
            kind, target = _KINDS[specs[name].kind], specs[name].target
            type_ = type_text(self.values[name], f"the {kind} {target}")
            lines.append(f"{kind} %{name} : {type_} {json.dumps(target)}")
        return tuple(self.values[name] for name in bound), lines

    def _line(self, node: Node) -> Iterator[str]:
        if node.op == "output":
            results = node.args[0]
            assert isinstance(results, (list, tuple))
            for result in results:
                if not isinstance(result, (Node, bool, int, float, str, type(None))):
                    raise Uncovered(f"a result is {result!r:.60}")
            yield " ".join(["return", ", ".join(self._text(result, "a result") for result in results)]).rstrip()
        elif node.target is operator.getitem:
            yield f"%{node.name} = getitem({self._text(node.args[0], '')}, {node.args[1]}) : {self.types[node]}"
        elif isinstance(node.target, OpOverload) and not _is_detached_constant(node):
            yield self._operation(node, node.target)
        elif callable(node.target) and node.target in _NAMES:
            texts = [self._text(value, f"an argument of {node.name}") for value in node.args]
            self.calls[node.name] = node.target, tuple(part for value in node.args for part in _constants(value))
            yield f"%{node.name} = {_NAMES[node.target]}({', '.join(texts)}) : object"

    def _operation(self, node: Node, target: OpOverload) -> str:
        """Arguments as the schema orders them: positional up to the last that is given, then those by keyword alone."""
        given = dict(zip((argument.name for argument in target._schema.arguments), node.args, strict=False))
        given |= node.kwargs
        by_place = [argument for argument in target._schema.arguments if not argument.kwarg_only]
        while by_place and by_place[-1].name not in given:
            by_place.pop()
        by_name = [a for a in target._schema.arguments if a.kwarg_only and a.name in given]
        values = [given.get(argument.name, argument.default_value) for argument in (*by_place, *by_name)]
        texts = [self._text(value, f"an argument of {node.name}") for value in values]
        texts = texts[: len(by_place)] + [f"{a.name}={t}" for a, t in zip(by_name, texts[len(by_place) :], strict=True)]
        constants = tuple(constant for value in values for constant in _constants(value))
        self.calls[node.name] = target, constants
        name = target._schema.name + (f".{target._schema.overload_name}" if target._schema.overload_name else "")
        type_ = "object" if _gives_its_first(node) else self.types[node]
        return f"%{node.name} = {name}{'!' if _has_effect(node) else ''}({', '.join(texts)}) : {type_}"

    def _text(self, value: object, what: str) -> str:
        if isinstance(value, Node):
            itself = _is_detached_constant(value) or _gives_its_first(value)
            return self._text(value.args[0], what) if itself else f"%{value.name}"
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(self._text(part, what) for part in value)}]"
        return _literal(value, what)
