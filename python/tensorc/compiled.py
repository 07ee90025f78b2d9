"""A model or function behind tensorc.compile: which version answers a call, and what runs the original.

A call: its arguments and the state of the model choose a version; the version's native code runs, or refuses before it
has done anything (Unfit). The first call of its kind runs the original, captures, builds, and holds the native results
against the original's. Whatever cannot be, or is not as the version needs it, runs the original, with its reason.
"""

import copy
import functools
import itertools
import os
import sys
import threading
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType, MethodType
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves

from tensorc import frontend, model
from tensorc.arguments import Arguments
from tensorc.capture import Chosen, Uncovered, type_text
from tensorc.effects import CHANGES_TENSORS
from tensorc.same import difference
from tensorc.trial import CHANGES, CHANGES_ARGUMENTS, Trial, check_state, contained
from tensorc.version import Operation, Version
from tensorc.watch import Outside

if TYPE_CHECKING:
    from tensorc._tensorc import Front

GRADIENTS = (
    "gradients are on, and an argument or parameter requires them: "
    "call it under torch.inference_mode() or torch.no_grad()"
)
MOST_VERSIONS = 8  # but for sizes and strides
MOST_SIZES = 32  # of each of them
_MOST_STATES = 32  # of all times, for one kind of arguments: a model whose state is always new is not for us
_MOST_CHANGES = 16  # calls that change the model, after which none is expected to leave it as it is
# What api.mode sets in every module that has these two.
__tensorc_rt__ = 0
_mode = (os.environ.get("TENSORC_MODE") or "auto").strip().lower()
# torch.export changes Modules for all threads: what captures, and each original that we run, has this or waits for it.
_building = threading.RLock()
_PATIENCE = 10.0  # seconds; an original may itself wait for another thread's call


def _after_fork() -> None:
    """The thread that had it is not there any more."""
    global _building
    _building = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
_alive: "weakref.WeakSet[Compiled]" = weakref.WeakSet()


def _set_mode(name: str) -> None:
    global _mode
    _mode = name
    for each in list(_alive):
        each._arm(None)  # the short way is that of mode auto alone


def _warn(message: str) -> None:
    """Of the line outside of this file that made the call."""
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and frame.f_code.co_filename in (__file__, model.__file__):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, RuntimeWarning, stacklevel=level)


# ── what stands in for a function ────────────────────────────────────────────────────────────────────────────────────


class Compiled:
    """A function behind tensorc.compile, called as the function; for a Module, what its stand-in calls."""

    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: "Front"  # hands each call to _answer, if it is not armed

    def __init__(self, original: Callable[..., Any], frozen: bool = False) -> None:
        self._original = original
        self._frozen = frozen
        self._versions: dict[tuple[object, ...], list[Version]] = {}
        self._n_states = 0
        self._n_changes = 0
        self._gone: Counter[str] = Counter()  # calls of versions that are no more
        self._armed: Version | None = None
        self._python: Counter[str] = Counter()
        self._warned: set[str] = set()
        self._thread = threading.local()
        if not isinstance(original, torch.nn.Module):
            functools.update_wrapper(self, original)
        front = frontend.extension().Front
        self.__call__ = front(self._answer, torch.is_grad_enabled, torch.get_default_dtype)
        _alive.add(self)

    def _arm(self, version: Version | None) -> None:
        """The version that calls of tensors by position try first from now on."""
        before, self._armed = self._armed, version
        if version is None:
            with_ = None
        else:
            give = None if version.gives_one else version.give
            state = version.grad_mode, version.default_dtype
            with_ = (version.native, version.watch, give, self._thread, version.body, *state)
        n_calls = self.__call__.arm(with_)
        if before is not None:
            before.n_calls += n_calls

    def _gave(self, version: Version) -> None:
        version.n_calls += 1
        self._thread.body = version.body

    def _answer(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Any call, whatever it brings."""
        why: Uncovered  # the original runs outside of the handlers: its errors have nothing to do with ours
        try:
            with contained():
                given, version = self._choose(args, kwargs)
        except Uncovered as found:
            why = found
        else:
            if version is None:
                return self._first(given, args, kwargs)
            if _mode == "compare" and version.has_effects:
                want, unlike = version.compare(given.tensors, lambda: self._original(*args, **kwargs))
                self._tell(unlike)
                self._gave(version)
                return want
            try:
                results = version.native(*given.tensors)
            except version.unfit as unfit:
                why = Chosen(str(unfit))
            except Exception:
                if _mode == "native" or version.has_effects:
                    raise
                why = Chosen("error")
            else:
                return self._take(version, given, results, args, kwargs)
        return self._run_original(why, args, kwargs)

    def _take(
        self,
        version: Version,
        given: Arguments,
        results: tuple[Any, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """What native code gave."""
        if _mode == "compare":
            leaves = tree_leaves(self._original(*args, **kwargs))
            self._tell(difference(leaves, results, [*given.tensors, *version.constants]))
        elif _mode == "auto" and not kwargs and all(isinstance(arg, torch.Tensor) for arg in args):
            self._arm(None if version.has_effects else version)  # what has begun is not for another try
        self._gave(version)
        return version.give(results)

    def _choose(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Arguments, Version | None]:
        """The call's arguments, and the version for it; None when there is none yet. Uncovered: there will be none."""
        if _mode == "fallback":
            raise Chosen("mode")
        given = Arguments(args, kwargs)
        if torch.is_grad_enabled() and self._wants_gradients(given):
            raise Uncovered(GRADIENTS)
        version = self._find(given)
        if version is not None and version.refused is not None:
            raise Uncovered(version.refused)
        return given, version

    def _run_original(self, why: Uncovered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _mode == "native":
            raise RuntimeError(f"tensorc: {self._name} cannot run natively: {why}") from why
        building = _building
        if building.acquire(timeout=_PATIENCE):  # no capture of another thread is in progress
            building.release()
        result = self._original(*args, **kwargs)
        self._note_original(why)
        return result

    def _note_original(self, why: Uncovered) -> None:
        reason = str(why)
        self._thread.body = "python"
        self._python[reason] += 1
        if not isinstance(why, Chosen) and reason not in self._warned:
            self._warned.add(reason)
            _warn(f"tensorc: {self._name} runs as Python: {reason}")

    # ── making versions ──────────────────────────────────────────────────────────────────────────────────────────────

    def _find(self, given: Arguments) -> Version | None:
        versions = self._versions.get(given.key, ())
        return next((version for version in versions if version.watch.holds()), None)

    def _wants_gradients(self, given: Arguments) -> bool:
        original = self._original
        own = (original if isinstance(original, torch.nn.Module) else Outside(original)).parameters()
        tensors: Iterator[torch.Tensor] = itertools.chain(given.tensors, own)
        return any(tensor.requires_grad for tensor in tensors)

    def _first(self, given: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The first call of its kind: the original's, and what it gave is what native code has to give."""
        building = _building
        if not building.acquire(timeout=_PATIENCE):
            return self._run_original(Chosen("another thread captures"), args, kwargs)
        try:
            why = None
            try:
                with contained():
                    check_state()  # only now: that torch is tracing is said to all threads
                    found = self._find(given) is not None  # another thread's call was faster
                    trial = None if found else self._trial(given, args, kwargs)
            except Uncovered as uncovered:
                why = uncovered
            if why is not None:
                return self._run_original(why, args, kwargs)
            return self._answer(args, kwargs) if trial is None else self._make(trial)
        finally:
            building.release()

    def _trial(self, given: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trial:
        if not self._has_room(given):
            self._drop_stale()
        if not self._has_room(given) or self._n_states == _MOST_STATES:
            raise Uncovered(f"there are {len(self._every())} versions already")
        if self._n_changes == _MOST_CHANGES:
            raise Uncovered(CHANGES)
        return Trial(self._original, given, args, kwargs, _behind)

    def _has_room(self, given: Arguments) -> bool:
        kinds = Counter(version.kind for version in self._every())
        return kinds[given.kind] < MOST_SIZES if given.kind in kinds else len(kinds) < MOST_VERSIONS

    def _drop_stale(self) -> None:
        """Versions for a state in which the model is not now, to make room."""
        self.stats()  # brings the counts up to date
        for key, versions in list(self._versions.items()):
            self._versions[key] = [version for version in versions if version.watch.holds()]
            for version in set(versions) - set(self._versions[key]):
                if version.refused is None:
                    self._gone[version.body] += version.n_calls

    def _make(self, trial: Trial) -> Any:
        result = trial.run()
        watch = frontend.extension().Watch((), (), ()) if self._frozen else trial.watch
        version = Version(watch, trial.given.kind)
        try:
            with contained():
                native = self._fill(version, trial, result)
        except Uncovered as why:
            version.refused = str(why)
            if version.refused == CHANGES:  # the next call may find what this one left
                version.watch = trial.watch
        self._versions.setdefault(trial.given.key, []).append(version)
        if version.refused is None:
            self._gave(version)
            return native
        if _mode == "native":
            raise RuntimeError(f"tensorc: {self._name} cannot run natively: {version.refused}")
        self._note_original(Uncovered(version.refused))
        return result

    def _fill(self, version: Version, trial: Trial, want: Any) -> Any:
        """Native code for the version, and its result. Uncovered when it cannot have any."""
        changes = trial.changes()
        self._n_changes += changes == CHANGES
        self._n_states += changes != CHANGES and trial.given.key in self._versions
        if changes in (CHANGES, CHANGES_ARGUMENTS, CHANGES_TENSORS):
            raise Uncovered(changes)
        version.label = ", ".join(type_text(tensor, "an argument") for tensor in trial.given.tensors)
        problem = ""
        for program in trial.programs():
            try:
                return version.build(program, trial.given.tensors, want, trial.before, changes)
            except Uncovered as why:
                problem = str(why)
        raise Uncovered(problem)

    def _tell(self, unlike: str | None) -> None:
        if unlike is not None:
            raise RuntimeError(f"tensorc: {self._name} differs from Python: {unlike}")

    # ── what it tells ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _name(self) -> str:
        return getattr(self._original, "__qualname__", None) or type(self._original).__name__

    @property
    def body(self) -> str | None:
        """What ran in this thread's last call: "exact", "library" (each operation by the wheel), "python"; None before
        it."""
        body: str | None = getattr(self._thread, "body", None)
        return body

    @property
    def native_status(self) -> str | None:
        """Before the first call None; then "accepted" when there is a native version, "rejected" when there is none."""
        tried = [version.refused for version in self._every()]
        return ("accepted" if None in tried else "rejected") if tried else None

    def stats(self) -> dict[str, Any]:
        """Calls so far: "exact" and "library" by native code, "python" by the original, per reason. "versions": what
        native code there is, by the types of the tensors that it takes."""
        self._arm(self._armed)  # brings the counts up to date
        made = self._made()
        bodies = ("exact", "library")
        native = {body: self._gone[body] + sum(v.n_calls for v in made if v.body == body) for body in bodies}
        return {**native, "python": dict(self._python), "versions": [version.label for version in made]}

    def report(self) -> dict[str, list[Operation]]:
        """Per version, by the types of the tensors that it takes: each operation, how it runs, and why."""
        return {version.label: version.operations for version in self._made()}

    def _every(self) -> list[Version]:
        return list(itertools.chain.from_iterable(self._versions.values()))

    def _made(self) -> list[Version]:
        return [version for version in self._every() if version.refused is None]

    # ── as a function ────────────────────────────────────────────────────────────────────────────────────────────────

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """By name where that finds this very object, as of a decorated function; else the original, wrapped again."""
        found: Any = sys.modules.get(getattr(self, "__module__", ""))
        for name in getattr(self, "__qualname__", "").split("."):
            found = getattr(found, name, None)
        return self.__qualname__ if found is self else (Compiled, (self._original, self._frozen))

    def __repr__(self) -> str:
        return f"<compiled {self._original!r}>"


# ── as a module ──────────────────────────────────────────────────────────────────────────────────────────────────────


class CompiledModule:
    """Mixed into a model's class for what stands in for the model: it has the model's own dictionary, so parameters,
    flags and hooks are the model's, seen and set in both. What a Compiled tells is an attribute of it, too, unless the
    model has one of that name; `__tensorc__` always is the Compiled."""

    __slots__ = ("__call__", "__tensorc__")
    __tensorc__: Compiled

    def __init_subclass__(cls, **given: Any) -> None:
        """What the model's class does with its subclasses is not for this one: it may keep or change them."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)  # type: ignore[misc]
        except AttributeError:
            if name in ("body", "native_status", "stats", "report"):
                return getattr(self.__tensorc__, name)
            return getattr(self.__tensorc__._original, name)  # whose class may be another by now

    def __reduce__(self) -> tuple[Any, ...]:
        return compiled, (self.__tensorc__._original, self.__tensorc__._frozen)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return compiled(copy.deepcopy(self.__tensorc__._original, memo), self.__tensorc__._frozen)


_classes: "weakref.WeakKeyDictionary[type, weakref.ref[type]]" = weakref.WeakKeyDictionary()


def _class_for(kind: type) -> type:
    known = _classes.get(kind, lambda: None)()
    if known is not None:
        return known
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    try:
        made = type(kind.__name__, (CompiledModule, kind), names)
    except TypeError as error:  # of __slots__, say
        raise TypeError(f"tensorc.compile: nothing can stand in for a {kind.__qualname__}: {error}") from None
    _classes[kind] = weakref.ref(made)
    return made


def _behind(value: Any) -> Any:
    """The model or function that something of ours stands in for; anything else is itself."""
    if isinstance(value, CompiledModule):
        return value.__tensorc__._original
    return value._original if isinstance(value, Compiled) else value


def compiled(original: Any, frozen: bool = False) -> Any:
    """What stands in for a Module or function. TypeError for what is neither, or TorchScript."""
    original = _behind(original)
    if not isinstance(original, torch.nn.Module):
        if not callable(original):
            raise TypeError(f"tensorc.compile takes a Module or a function, not a {type(original).__name__}")
        return Compiled(original)
    if isinstance(original, torch.jit.ScriptModule):
        raise TypeError("tensorc.compile takes Modules of Python, not TorchScript")
    kind: Any = type(original)
    stand_in: Any = object.__new__(_class_for(kind))
    object.__setattr__(stand_in, "__dict__", vars(original))
    behind = Compiled(original, frozen)
    object.__setattr__(stand_in, "__tensorc__", behind)
    object.__setattr__(stand_in, "__call__", behind.__call__)
    return stand_in
