"""What a version was made for, looked at in each call: arguments, the model's state, torch's.

Each guard has a test in which a call that went by it would give something else than eager: the test says so itself, by
comparing eager before and after.
"""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from stand_ins import each, info, net, same, unlike, without_gradients
from workbench import BODIES, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed"), pytest.mark.usefixtures("exporter")]


@pytest.fixture(autouse=True)
def _plain() -> Iterator[None]:
    os.environ.pop("TENSORC_MODE", None)
    yield


# ── the arguments ────────────────────────────────────────────────────────────────────────────────────────────


def kind_of_argument() -> dict[str, tuple[Any, Any]]:
    """What the first call brings, and what another brings for which its version is not."""
    import torch

    x = torch.arange(12.0).reshape(3, 4) - 5
    spread = torch.zeros(3, 8)
    spread[:, ::2] = x
    return {
        "dtype": (x, x.double()),
        "integers": (x, x.long()),
        "rank": (x, x[0]),
        "size": (x, x[:2]),
        "stride": (x, spread[:, ::2]),
        "transposed": (torch.ones(4, 4), x.new_tensor(range(16)).reshape(4, 4).t()),
        "empty": (x, x[:0]),
        "negated": (torch.ones(3), torch._neg_view(torch.ones(3))),
        "number": (2, 3),
        "number's type": (2, 2.0),
        "sign of zero": (0.0, -0.0),
        "none": (None, x),
        "text": ("relu", "tanh"),
        "structure": ([x, x], (x,)),
        "keys": ({"a": x, "b": x + 1}, {"b": x, "a": x + 1}),
    }


def describes(value: Any) -> Any:
    """Of anything that can be an argument here, a result that tells one from the other."""
    import torch

    if isinstance(value, torch.Tensor):
        return (value * 2 + torch.relu(value)).sum(-1), torch.tensor(value.dim())
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [describes(part) for part in value]]
    if isinstance(value, dict):
        return {"first": describes(value[next(iter(value))]), "a": describes(value["a"])}
    if isinstance(value, str):
        return getattr(torch, value)(torch.tensor([-1.0, 2.0]))
    return torch.full((2,), 1.0) / value if isinstance(value, float) else torch.full((2,), 0 if value is None else value)


def test_another_kind_of_argument_is_another_version() -> None:
    import tensorc

    def check(what: str) -> None:
        first, then = kind_of_argument()[what]
        fast = tensorc.compile(describes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(2):
                same(describes(first), fast(first))
                same(describes(then), fast(then))
        if what == "stride":  # read as the version for the other reads
            first = then.as_strided(first.shape, first.stride())
        unlike(describes(first), describes(then))
        assert fast.stats()["versions"], fast.stats()

    each(kind_of_argument(), check)


def test_a_meta_tensor_and_a_subclass_are_the_original_s() -> None:
    import tensorc
    import torch

    class Own(torch.Tensor):
        pass

    fast = tensorc.compile(torch.relu)
    x = torch.ones(3)
    fast(x)
    assert fast(x.to("meta")).device.type == "meta" and fast.body == "python"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a subclass is chosen: no warning
        assert type(fast(x.as_subclass(Own))) is Own
    assert any("Own" in reason for reason in fast.stats()["python"])


def test_an_object_that_pytree_does_not_know() -> None:
    import tensorc
    import torch

    class Box:
        def __init__(self, n: float) -> None:
            self.n = n

    fast = tensorc.compile(lambda box, x: x * box.n)
    x = torch.ones(2)
    with pytest.warns(RuntimeWarning, match="an argument is a .*Box"):
        for n in (2.0, 3.0):
            same(x * n, fast(Box(n), x))
    assert fast.body == "python"


def test_an_argument_given_twice_and_results_that_share_memory() -> None:
    import tensorc
    import torch

    w = torch.randn(3)

    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        z = x * 2
        return x, x[1:], z, z.view(-1), w, w[:1], x + y, y

    fast = tensorc.compile(function)
    for x, y in ((torch.randn(3), torch.randn(3)), (w, w)):
        for _ in range(2):
            got = fast(x, y)
            assert fast.body in BODIES
            same(function(x, y), got)
            assert got[0] is x and got[7] is y and got[4] is w
            assert got[1].data_ptr() == x[1:].data_ptr() and got[5].data_ptr() == w.data_ptr()
            assert got[2].data_ptr() == got[3].data_ptr() and got[2].data_ptr() != x.data_ptr()
            got[2].zero_()
            got[6].zero_()  # what is new is the caller's: a later call has other memory
            same(function(x, y), fast(x, y))


# ── the state of the model ───────────────────────────────────────────────────────────────────────────────────


def changes() -> dict[str, Callable[[Any], Any]]:
    """By name; what one of them gives takes it back, where more than the model is changed."""
    import torch
    from torch import nn

    def replaced(m: Any) -> None:
        m[0].weight = nn.Parameter(m[0].weight * 2)

    def by_data(m: Any) -> None:
        m[0].weight.data = m[0].weight.data * 2

    def in_place(m: Any) -> None:
        m[0].weight.mul_(2)

    def resized(m: Any) -> None:
        m[4].weight.data, m[4].bias.data = torch.ones(5, 8), torch.ones(5)

    def other_dtype(m: Any) -> None:
        m.double()

    def other_strides(m: Any) -> None:
        m[0].weight.data = torch.randn(4, 8).t()

    def trained(m: Any) -> None:
        m[1].train()

    def buffer_replaced(m: Any) -> None:
        m[1].running_mean = torch.ones(8)

    def buffer_in_place(m: Any) -> None:
        m[1].running_mean.add_(1)

    def loaded(m: Any) -> None:
        m.load_state_dict(net(seed=1).state_dict())

    def assigned(m: Any) -> None:
        m.load_state_dict(net(seed=1).state_dict(), assign=True)

    def attribute(m: Any) -> None:
        m[1].eps = 0.5

    def another_module(m: Any) -> None:
        m[2] = nn.Tanh()

    def appended(m: Any) -> None:
        m.append(nn.Tanh())

    def in_another_order(m: Any) -> None:
        m.add_module("2", nn.Tanh())
        m._modules["0"] = m._modules.pop("0")
        m._modules.update({key: m._modules.pop(key) for key in ("1", "4", "3", "2")})

    def hooked(m: Any) -> None:
        m[2].register_forward_hook(lambda module, args, result: result + 1)

    def hooked_before(m: Any) -> None:
        m.register_forward_pre_hook(lambda module, args: (args[0] + 1,))

    def hooked_everywhere(m: Any) -> Any:
        return nn.modules.module.register_module_forward_hook(lambda module, args, result: result + 1).remove

    def another_forward(m: Any) -> None:
        m[2].forward = torch.tanh

    def bias_gone(m: Any) -> None:
        m[0].bias = None

    every = (replaced, by_data, in_place, resized, other_dtype, other_strides, trained, buffer_replaced, buffer_in_place, loaded, assigned,
             attribute, another_module, appended, in_another_order, hooked, hooked_before, hooked_everywhere, another_forward, bias_gone)
    return {change.__name__: change for change in every}


def test_a_change_of_the_model_is_seen() -> None:
    import tensorc
    import torch

    def check(what: str) -> None:
        model, x = net(), torch.randn(5, 4)
        fast = tensorc.compile(model, args=(x,))
        with without_gradients(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = model(x)
            same(before, fast(x))
            same(before, fast(x))
            assert info(fast).body in BODIES
            undo = changes()[what](fast if what in ("replaced", "trained") else model)  # they are one
            given = x.double() if what == "other_dtype" else x
            twin = copy.deepcopy(model)  # training moves the statistics, once a call
            try:
                for _ in range(2):
                    want = twin(given)
                    same(want, fast(given))
            finally:
                if undo is not None:
                    undo()
            unlike(before, want)

    each(changes(), check)


def test_back_to_an_earlier_state_is_its_version_again() -> None:
    import tensorc
    import torch

    model, x = net(), torch.randn(5, 4)
    fast = tensorc.compile(model)
    with without_gradients(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fast(x)
        for _ in range(3):
            fast.train()
            fast(x)
            assert info(fast).body in BODIES
            fast.eval()
            same(model(x), fast(x))
            assert info(fast).body in BODIES
    assert len(info(fast).stats()["versions"]) == 2


OFFSET = 1.0


def test_a_function_s_globals_and_closure_are_seen() -> None:
    import tensorc
    import torch

    scale, layer = 2.0, torch.nn.Linear(3, 3).requires_grad_(False)

    def function(x: torch.Tensor) -> torch.Tensor:
        return layer(x) * scale + OFFSET

    fast, x = tensorc.compile(function), torch.randn(2, 3)
    results = []
    for _ in range(2):
        same(function(x), fast(x))
        assert fast.body in BODIES
        results.append(function(x))
        scale = 3.0
    globals()["OFFSET"] = 2.0  # in this forked process
    same(function(x), fast(x))
    results.append(function(x))
    layer.weight.add_(1)
    same(function(x), fast(x))
    results.append(function(x))
    layer = torch.nn.Linear(3, 3).requires_grad_(False)
    same(function(x), fast(x))
    results.append(function(x))
    for a, b in zip(results, results[1:], strict=False):
        unlike(a, b)


def test_a_method_reads_its_object() -> None:
    import tensorc
    import torch

    class Policy:
        def __init__(self) -> None:
            self.net, self.scale = torch.nn.Linear(3, 2).requires_grad_(False), 2.0

        def act(self, x: torch.Tensor) -> torch.Tensor:
            return self.net(x) * self.scale

    policy, x = Policy(), torch.randn(2, 3)
    fast = tensorc.compile(policy.act)
    before = fast(x)
    same(policy.act(x), before)
    assert fast.body in BODIES
    policy.scale = 3.0
    same(policy.act(x), fast(x))
    unlike(before, policy.act(x))


def test_a_model_that_changes_itself() -> None:
    """What is made at the first call and kept is native from the second on; what counts its calls never is."""
    import tensorc
    import torch

    class Lazy(torch.nn.Module):
        table: Any = None

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.table is None:
                self.table = x * 2
            return x + self.table

    class Counts(torch.nn.Module):
        n = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.n += 1
            return x + self.n

    x, y = torch.ones(3), torch.zeros(3)
    for kind, body in ((Lazy, BODIES), (Counts, ("python",))):
        model, twin = kind(), kind()
        fast = tensorc.compile(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for given in (x, y, x, y, *[x] * 10):
                same(twin(given), fast(given))
        assert info(fast).body in body


# ── the state of torch ───────────────────────────────────────────────────────────────────────────────────────


def test_gradients() -> None:
    import tensorc
    import torch

    model, x = net(), torch.randn(2, 4)
    fast = tensorc.compile(model, args=(x,))
    with pytest.warns(RuntimeWarning, match=r"torch\.inference_mode\(\)"):
        fast(x).sum().backward()
    assert model[0].weight.grad is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once
        assert fast(x).requires_grad and info(fast).body == "python"
        with torch.inference_mode():
            assert fast(x).is_inference() and info(fast).body in BODIES
        with torch.no_grad():
            assert not fast(x).requires_grad and info(fast).body in BODIES
    function = tensorc.compile(torch.sigmoid)
    function(x)
    with pytest.warns(RuntimeWarning, match="gradients"):
        assert function(x.clone().requires_grad_()).requires_grad
    assert not function(x).requires_grad and function.body in BODIES


def test_a_parameter_that_starts_to_want_gradients() -> None:
    import tensorc
    import torch

    model, x = net().requires_grad_(False), torch.randn(2, 4)
    fast = tensorc.compile(model)
    fast(x)
    assert not fast(x).requires_grad and info(fast).body in BODIES
    model[0].weight.requires_grad_()
    with pytest.warns(RuntimeWarning, match="gradients"):
        assert fast(x).requires_grad


def states() -> dict[str, Callable[[Callable[..., Any], Any], Any]]:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Doubles(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is torch.relu else result

    class Counts(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    seen: list[Any] = []

    def autocast(f: Callable[..., Any], x: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return f(x)

    def function_mode(f: Callable[..., Any], x: Any) -> Any:
        with Doubles():
            return f(x)

    def dispatch_mode(f: Callable[..., Any], x: Any) -> Any:
        seen.clear()
        with Counts():
            f(x)
        return [str(func) for func in seen]

    def vmap(f: Callable[..., Any], x: Any) -> Any:
        return torch.vmap(f)(torch.stack([x, x + 1]))

    def gradient(f: Callable[..., Any], x: Any) -> Any:
        return torch.func.grad(lambda x: f(x).sum())(x)

    def forward_gradient(f: Callable[..., Any], x: Any) -> Any:
        return torch.func.jvp(f, (x,), (torch.ones_like(x),))

    def trace(f: Callable[..., Any], x: Any) -> Any:
        return str(torch.jit.trace(f, x, check_trace=False).graph.findNode("aten::relu") is not None)

    def default_dtype(f: Callable[..., Any], x: Any) -> Any:
        torch.set_default_dtype(torch.float64)
        try:
            return f(x)
        finally:
            torch.set_default_dtype(torch.float32)

    every = (autocast, function_mode, dispatch_mode, vmap, gradient, forward_gradient, trace, default_dtype)
    return {state.__name__: state for state in every}


@pytest.mark.parametrize("compiled", [False, True], ids=["first call", "with a version"])
def test_states_of_torch(compiled: bool) -> None:
    import tensorc
    import torch

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ x.T) + torch.full((2,), 1.0)

    def check(what: str) -> None:
        fast, x = tensorc.compile(function), torch.randn(2, 2)
        if compiled:
            fast(x)
            fast(x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same(states()[what](function, x), states()[what](fast, x))
        same(function(x), fast(x))
        assert fast.body in BODIES
        unlike(states()[what](function, x), function(x))

    each(states(), check)
