"""tensorc.compile where nothing goes as it should: faults of ours, errors of the model, hostile arguments, odd classes.

Whatever happens, a caller gets what eager gives.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stand_ins import each, info, net, same, unlike
from workbench import BODIES, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed"), pytest.mark.usefixtures("exporter")]


@pytest.fixture(autouse=True)
def _plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With a cache of its own: what an earlier run captured would not be captured again."""
    os.environ.pop("TENSORC_MODE", None)
    monkeypatch.setenv("TENSORC_CACHE_DIR", str(tmp_path / "cache"))
    yield


# ── faults of ours ───────────────────────────────────────────────────────────────────────────────────────────────────


def places() -> dict[str, tuple[Any, str]]:
    """Where the fault is."""
    from tensorc import arguments, capture, cc, held, inplace, version, watch

    return {
        "arguments": (arguments.Arguments, "_take"),
        "watching": (watch.Outside, "watch"),
        "looking for gradients": (watch.Outside, "parameters"),
        "looking at containers": (held, "containers"),
        "capturing": (inplace, "replace"),
        "writing the graph": (capture._Writer, "program"),
        "running the graph": (capture._Run, "run_node"),
        "compiling": (cc, "cached_extension"),
        "loading": (version, "_load"),
        "holding results": (version, "difference"),
        "giving results": (version, "_giver"),
    }


@pytest.mark.parametrize("error", [ZeroDivisionError, SystemExit, RecursionError])
def test_a_fault_of_ours_is_a_reason(error: type[BaseException]) -> None:
    import tensorc
    import torch

    def fails(*args: Any, **kwargs: Any) -> Any:
        raise error("of ours\nand more")

    def check(what: str) -> None:
        def function(x: torch.Tensor) -> Any:
            return x * 2 + 1

        fast, x = tensorc.compile(function), torch.ones(3)
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            patch.setattr(*places()[what], fails)
            for _ in range(2):
                same(x * 2 + 1, fast(x))
                assert info(fast).body == "python"
            assert [str(w.message) for w in seen if "of ours" in str(w.message) and "and more" not in str(w.message)] == [str(w.message) for w in seen]
            assert len(seen) == 1 and sum(info(fast).stats()["python"].values()) == 2
            with tensorc.mode("native"), pytest.raises(RuntimeError, match="cannot run natively: .*of ours"):
                fast(x)

    each(places(), check)


def test_an_interrupt_is_the_user_s(monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorc
    import torch
    from tensorc import inplace

    def stopped(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(inplace, "replace", stopped)
    fast, x = tensorc.compile(torch.relu), torch.ones(2)
    with pytest.raises(KeyboardInterrupt):
        fast(x)
    monkeypatch.undo()
    fast(x)
    assert fast.body in BODIES, "nothing is locked, and the next call tries again"


# ── errors of the model ──────────────────────────────────────────────────────────────────────────────────────────────


class Odd(BaseException):
    pass


def failing() -> dict[str, Callable[[Any], Any]]:
    import torch

    def an_error(x: torch.Tensor) -> Any:
        raise ValueError("mine")

    def no_exception(x: torch.Tensor) -> Any:
        raise Odd("mine")

    def an_exit(x: torch.Tensor) -> Any:
        sys.exit("mine")

    def of_torch(x: torch.Tensor) -> Any:
        return x @ x[0, :1]

    def endless(x: torch.Tensor) -> Any:
        return endless(x)

    return {f.__name__: f for f in (an_error, no_exception, an_exit, of_torch, endless)}


def test_errors_of_the_model_are_its_own() -> None:
    import tensorc
    import torch

    def check(what: str) -> None:
        function, x = failing()[what], torch.ones(2, 2)
        fast = tensorc.compile(function)
        for mode in ("auto", "compare", "fallback", "auto"):
            with pytest.raises(BaseException) as want:
                function(x)
            with tensorc.mode(mode), pytest.raises(BaseException) as got:
                fast(x)
            assert type(want.value) is type(got.value) and got.value.__context__ is want.value.__context__ is None
            assert str(want.value) == str(got.value) or what == "endless"  # that says where the stack ended

    each(failing(), check)


def test_errors_in_a_capture_alone_are_none() -> None:
    import tensorc
    import torch

    for error in (ValueError, Odd, SystemExit):

        def function(x: torch.Tensor) -> torch.Tensor:
            if torch.compiler.is_compiling():
                raise error("while it is captured")
            return x + 1

        fast, x = tensorc.compile(function), torch.ones(2)
        with pytest.warns(RuntimeWarning, match=f"{error.__name__}: while it is captured"):
            same(x + 1, fast(x))


# ── arguments ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_argument_given_twice_first() -> None:
    """The capture has two inputs nevertheless, and so has it where an argument is a tensor of the model."""
    import tensorc
    import torch

    layer = torch.nn.Linear(3, 3).requires_grad_(False)

    def pair(x: torch.Tensor, y: torch.Tensor) -> Any:
        return layer(x) + 2 * y, x, y

    a, b = torch.randn(3), torch.randn(3)
    for twice in ((a, a), (a, layer.bias), (a, a[:])):
        fast = tensorc.compile(pair)
        for given in (twice, (a, b), twice, (b, a)):
            got = fast(*given)
            assert fast.body in BODIES and got[1] is given[0] and got[2] is given[1]
            same(pair(*given), got)
        unlike(pair(*twice), pair(a, b))


def hostile_arguments() -> dict[str, tuple[Callable[..., Any], Any]]:
    import torch

    x = torch.ones(2, 3)
    endless: list[Any] = []
    endless.append(endless)
    return {
        "nested": (lambda x: (x * 2).unbind(), torch.nested.nested_tensor([x[0], x[1]])),
        "endless": (len, endless),
        "quantized": (lambda x: x.dequantize(), torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)),
        "complex": (lambda x: x.real * 2, x.to(torch.complex64)),
        "conjugated": (lambda x: x.imag * 2, x.to(torch.complex64).conj()),
        "zero": (lambda x: x + 1, torch._efficientzerotensor(3)),
        "unaligned": (lambda x: x + 1, torch.frombuffer(bytearray(range(44)), dtype=torch.float32, offset=2, count=10)),
        "overlapping": (lambda x: x * 2, torch.arange(10.0).as_strided((4, 3), (2, 1))),
        "of inference mode": (lambda x: x + 1, torch.inference_mode()(lambda: torch.nn.Parameter(torch.ones(3)))()),
        "huge number": (lambda n: x * float(n), 2**70),
        "slice": (lambda part: x[part] * 2, slice(0, 1)),
        "packed": (lambda p: p.data * 2, torch.nn.utils.rnn.pack_sequence([x, x[:1]])),
    }


def test_hostile_arguments() -> None:
    import tensorc
    import torch

    def check(what: str) -> None:
        function, argument = hostile_arguments()[what]
        fast = tensorc.compile(function)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(3):
                same(function(argument), fast(argument))
        assert fast.body in BODIES or what in ("nested", "endless", "quantized", "complex", "conjugated", "zero", "slice", "packed")

    each(hostile_arguments(), check)


def test_keys_that_are_equal_and_differ() -> None:
    import tensorc
    import torch

    def function(table: dict[Any, torch.Tensor]) -> Any:
        ((key, value),) = table.items()
        return value * (2 if type(key) is bool else 3 if type(key) is int else 4)

    fast, x = tensorc.compile(function), torch.ones(2)
    for key in (1, True, 1.0, 1):
        same(function({key: x}), fast({key: x}))
        assert fast.body in BODIES


def test_a_structure_that_pytree_loses() -> None:
    import tensorc
    import torch

    fast, x = tensorc.compile(lambda x: (x + 1).shape), torch.ones(2, 3)
    with pytest.warns(RuntimeWarning, match="does not give the structure of its results back"):
        assert type(fast(x)) is torch.Size
    assert type(fast(x)) is torch.Size


# ── classes, copies, processes ───────────────────────────────────────────────────────────────────────────────────────


def test_odd_classes() -> None:
    import tensorc
    import torch

    class Registered(torch.nn.Module):
        known: list[type] = []

        def __init_subclass__(cls, *, key: str) -> None:
            Registered.known.append(cls)

    class Mine(Registered, key="mine"):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    class Slotted(torch.nn.Module):
        __slots__ = ("own",)

    class Unmade(Mine, key="unmade"):
        def __init__(self) -> None:
            pass

    x = torch.ones(2)
    same(x + 1, tensorc.compile(Mine())(x))
    assert Registered.known == [Mine, Unmade], "the stand-in's class is none of the user's"
    with pytest.raises(TypeError, match="nothing can stand in for a .*Slotted"):
        tensorc.compile(Slotted())
    with pytest.raises(AttributeError, match="_backward_hooks"):  # as eager
        tensorc.compile(Unmade())(x)


def test_a_model_whose_class_changes() -> None:
    """Parametrization gives it another, with properties in the place of parameters."""
    import tensorc
    import torch
    from torch.nn.utils import parametrize

    class Doubled(torch.nn.Module):
        def forward(self, w: torch.Tensor) -> torch.Tensor:
            return w * 2

    model, x = torch.nn.Linear(3, 3).requires_grad_(False), torch.randn(2, 3)
    fast = tensorc.compile(model)
    before = fast(x)
    parametrize.register_parametrization(model, "weight", Doubled())
    same(model(x), fast(x))
    unlike(before, model(x))
    same(model.weight, fast.weight)


def test_nothing_is_kept_alive() -> None:
    import tensorc
    import torch

    def work() -> list[Any]:
        class Model(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x * 2

        def function(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        x = torch.ones(3)
        model, fast = Model(), tensorc.compile(function)
        stand_in = tensorc.compile(model)
        for _ in range(3):
            stand_in(x)
            fast(x)
        assert fast.body in BODIES
        return [weakref.ref(each) for each in (Model, model, stand_in, type(stand_in), info(stand_in), function, fast, x)]

    references = work()
    gc.collect()
    assert [reference() for reference in references] == [None] * len(references)


def test_a_fork_while_another_thread_captures() -> None:
    import time

    import tensorc
    import torch
    from tensorc import compiled

    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with compiled._building:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        start = time.monotonic()
        fast = tensorc.compile(lambda x: x * 7)
        fast(torch.ones(3))
        os._exit(0 if fast.body in BODIES and time.monotonic() - start < compiled._PATIENCE else 1)
    assert os.waitpid(child, 0)[1] == 0
    done.set()
    thread.join()


def test_models_that_call_themselves() -> None:
    import tensorc
    import torch

    class Again(torch.nn.Module):
        other: Any = None

        def forward(self, x: torch.Tensor, n: int = 3) -> torch.Tensor:
            return x if n == 0 else (self.other or (self,))[0](x * 2, n - 1)

    model = Again()
    fast = tensorc.compile(model)
    model.other = (fast,)  # in a tuple, it is no child
    x = torch.ones(2)
    for _ in range(3):
        same(x * 8, fast(x))
    assert info(fast).body in BODIES
    outer = tensorc.compile(lambda x: fast(x) + net_(x))
    net_ = tensorc.compile(net().requires_grad_(False))
    y = torch.randn(2, 4)
    with pytest.raises(RuntimeError):
        outer(y)  # eager's: sizes do not fit
    wide = tensorc.compile(lambda x: fast(x)[:, :3] + net_(x))
    for _ in range(2):
        same(y[:, :3] * 8 + net_(y), wide(y))
        assert wide.body in BODIES


def test_objects_partials_and_decorated_functions() -> None:
    """What they read is seen where it stands: in the object, in the function behind, in functions that these call."""
    import functools

    import tensorc
    import torch

    class Scaled:
        def __init__(self) -> None:
            self.by = 2.0

        def __call__(self, x: torch.Tensor, n: int = 1) -> torch.Tensor:
            return scaled(x) * self.by * n

    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * FACTOR

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return scaled(x) + 1

    def change(what: str) -> None:
        if what == "object":
            owner.by += 1.0
        globals()["FACTOR"] += 1.0

    owner, x = Scaled(), torch.ones(2)
    every = {"object": owner, "partial": functools.partial(owner.__call__, n=3), "decorated": torch.no_grad()(scaled), "model": Model()}

    def check(what: str) -> None:
        function = every[what]
        fast = tensorc.compile(function)
        for _ in range(3):
            before = function(x)
            same(before, fast(x))
            same(before, fast(x))
            assert info(fast).body in BODIES, info(fast).stats()
            change(what)
            unlike(before, function(x))

    each(every, check)


FACTOR = 1.0
