"""One version of a model: native code for one kind of arguments, made of a captured program and held against eager."""

import hashlib
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_structure, tree_unflatten

from tensorc import cc, frontend
from tensorc.capture import Program, Uncovered, first_line
from tensorc.effects import Before, random_states
from tensorc.same import difference

if TYPE_CHECKING:
    from tensorc._tensorc import Watch

_extensions: dict[str, ModuleType] = {}  # by path: what this process has loaded


class Operation(NamedTuple):
    """One operation of a captured program, as .report() tells of it."""

    node: str
    operation: str  # "aten::linear"
    way: str  # "view", "loop", "recipe", "wheel"
    why: str


class Version:
    """Native code for one kind of arguments and one state of the model; or, in `refused`, why there is none."""

    native: Callable[..., tuple[Any, ...]]
    unfit: type[Exception]  # what native code raises where it was not made for a call, before anything has happened

    give: Callable[[tuple[Any, ...]], Any]  # from flat results to those of the original
    gives_one: bool  # there is one, and it is that itself
    has_effects: bool  # it writes to tensors, or draws random numbers: a call that began cannot be made again
    body: str
    _bind: Callable[[tuple[torch.Tensor, ...]], Callable[..., tuple[Any, ...]]]  # to other constants

    def __init__(self, watch: "Watch", kind: tuple[object, ...]) -> None:
        self.kind = kind  # of Arguments
        self.label = ""  # what it takes: "f32[1,32](32,1)"
        self.watch = watch  # whether the model is as it was
        self.grad_mode = torch.is_grad_enabled()
        self.default_dtype = torch.get_default_dtype()
        self.refused: str | None = None
        self.n_calls = 0
        self.operations: list[Operation] = []
        self.constants: tuple[torch.Tensor, ...] = ()

    def build(self, program: Program, given: list[torch.Tensor], want: Any, before: Before, writes: str | None) -> Any:
        """What the program gives for these tensors, natively. Uncovered where that is not what eager gave, `want`;
        Problem when there is no C compiler, say. `before` that there was what `writes` says has changed, if anything
        has: a program with effects is rehearsed on copies of that, and the result is `want`."""
        self._load(program)
        if writes is not None and not self.has_effects:
            raise Uncovered(writes)
        leaves, structure = tree_flatten(want)
        self.give = _giver(structure)
        self.gives_one = structure.is_leaf()
        tensors = [*given, *program.constants]
        try:
            if self.has_effects:
                unlike, results = self._rehearsed(before, tensors, leaves)
            else:
                unlike, results = self._tried(tensors, leaves)
        except Exception as error:  # the original did not fail
            raise Uncovered(f"what was captured fails: {error}") from None
        if unlike is not None:
            raise Uncovered(f"what was captured differs from eager: {unlike}")
        got = self.give(results)
        if tree_structure(got) != structure:  # torch.Size becomes a tuple
            raise Uncovered("torch's pytree does not give the structure of its results back")
        return want if self.has_effects else got

    def _tried(self, tensors: list[torch.Tensor], want: list[Any]) -> tuple[str | None, tuple[Any, ...]]:
        results = self.native(*tensors[: len(tensors) - len(self.constants)])
        return difference(want, results, tensors), results

    def _rehearsed(
        self, before: Before, tensors: list[torch.Tensor], want: list[Any]
    ) -> tuple[str | None, tuple[Any, ...]]:
        """How a native call would differ from the one that was made, in its result or in its effects."""
        now = random_states()
        with before.again() as copies:
            if copies is None:
                raise Uncovered("it writes, and its tensors are too large to try that on copies")
            own = [copies.of(tensor) for tensor in tensors]
            n_given = len(tensors) - len(self.constants)
            results = self._bind(tuple(own[n_given:]))(*own[:n_given])
            drawn = random_states() == now
        after, own_after = ([tensor.detach() for tensor in each] for each in (tensors, own))
        unlike = difference([*want, *after], [*results, *own_after], tensors, own)
        return unlike or (None if drawn else "it draws other random numbers"), results

    def compare(self, given: list[torch.Tensor], run: Callable[[], Any]) -> tuple[Any, str | None]:
        """For a version with effects: the original's result, run(), and how a native call would differ."""
        tensors = [*given, *self.constants]
        before = Before(tensors)
        want = run()
        return want, self._rehearsed(before, tensors, tree_leaves(want))[0]

    def _load(self, program: Program) -> None:
        name = f"_tensorc_graph_{hashlib.sha256(program.text).hexdigest()[:16]}"
        try:
            graph = frontend.extension().Graph(program.text, name)
        except ValueError as error:
            raise Uncovered(first_line(error)) from None
        flags = (*cc.GRAPH_FLAGS, "-DTC_ONLY_" + frontend.extension().host())
        path = cc.cached_extension(name, graph.c(name).encode(), flags)
        calls = tuple((getattr(op, "_op", op), given) for op, given in (program.calls[node] for node in graph.calls))
        try:
            module = _load(name, path)
            self.native = module.load(program.constants, calls)
            self._bind = lambda constants: module.load(constants, calls)
        except (ImportError, RuntimeError) as error:  # of a cache that may run nothing, a torch that we do not know
            raise Uncovered(first_line(error)) from None
        self.unfit = module.Unfit
        self.operations = [Operation(*row) for row in graph.report()]
        self.constants = program.constants
        self.has_effects = graph.has_effects
        self.body = "exact" if any(row.way in ("loop", "recipe") for row in self.operations) else "library"


def _load(name: str, path: str) -> ModuleType:
    if path not in _extensions:
        spec = spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        _extensions[path] = module
    return _extensions[path]


def _giver(structure: TreeSpec) -> Callable[[tuple[Any, ...]], Any]:
    """What makes the function's own result of flat results."""
    if structure.is_leaf():
        return lambda results: results[0]
    if structure.type is tuple and all(child.is_leaf() for child in structure.children()):
        return tuple
    return lambda results: tree_unflatten(results, structure)
