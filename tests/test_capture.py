"""Graph text: what torch.export captures, as it is written down; and what is refused, with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from workbench import TESTS, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed"), pytest.mark.usefixtures("exporter")]


EVERY_FORM = r"""graph 1 torch
input %pair_0 : f32[2,3](3,1)
input %y : i32[1,2,2,2](8,4,2,1)
param %p_w : f32[3,3](3,1) "w"
param %p_b : f32[3](1) "b"
buffer %b_order : i64[3](1) "order"
const %c_lifted_tensor_0 : f32[2](1) "lifted_tensor_0"
%mm = aten::mm(%pair_0, %p_w) : f32[2,3](3,1)
%add = aten::add.Tensor(%mm, %p_b) : f32[2,3](3,1)
%pad = aten::pad(%add, [0, 1], "constant", -inf) : f32[2,4](4,1)
%index = aten::index.Tensor(%pad, [none, %b_order]) : f32[2,3](3,1)
%max_1 = aten::max.dim(%index, 1) : (f32[2](1), i64[2](1))
%getitem = getitem(%max_1, 0) : f32[2](1)
%getitem_1 = getitem(%max_1, 1) : i64[2](1)
%mul = aten::mul.Tensor(%y, 0.1) : f32[1,2,2,2](8,4,2,1)
%to = aten::to.dtype(%mul, bf16) : bf16[1,2,2,2](8,4,2,1)
%contiguous = aten::contiguous(%to, memory_format=channels_last) : bf16[1,2,2,2](8,1,4,2)
%lift_fresh_copy = aten::lift_fresh_copy(%c_lifted_tensor_0) : f32[2](1)
%to_1 = aten::to.device(%lift_fresh_copy, cpu, f64) : f64[2](1)
return %pad, %getitem, %getitem_1, %contiguous, %to_1, 5, "say \"x\"", none, %pair_0
"""


def text_of(function: Any, *args: Any, **kwargs: Any) -> str:
    import torch
    from tensorc.capture import capture
    from tensorc.watch import Outside

    with torch.no_grad():
        return capture(function, Outside(function).modules, args, kwargs).text.decode()


def test_the_ten_models(request: pytest.FixtureRequest) -> None:
    import models

    differ = []
    for name in models.NAMES:
        model, args = models.make(name, 2)
        found, golden = text_of(model, *args), TESTS / "graphs" / f"{name}.txt"
        if request_blesses(request):
            golden.write_text(found)
        elif golden.read_text() != found:
            differ.append(name)
    assert not differ, "pytest --bless writes what is captured now"


def request_blesses(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--bless"))


def test_every_form_of_a_line() -> None:
    """Inputs in the order of the call, the model's tensors by first use, defaults filled in before what is given by
    name, lists that hold values, numbers, words, several results, results that are no tensors."""
    import torch

    class Odd(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.unused = torch.nn.Parameter(torch.ones(2))
            self.b, self.w = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(3, 3))
            self.register_buffer("order", torch.tensor([2, 0, 1]), persistent=False)
            self.plain = torch.ones(3, dtype=torch.float64)

        def forward(self, pair: tuple[torch.Tensor, int], *, scale: float, y: torch.Tensor) -> Any:
            x, n = pair
            a = torch.nn.functional.pad(x.mm(self.w) + self.b, (0, 1), value=float("-inf"))
            low, high = torch.max(a[:, self.order], dim=1)
            half = (y * scale).to(torch.bfloat16).contiguous(memory_format=torch.channels_last)
            k = torch.tensor([1.0, float("nan")]).to(self.plain)
            return {"a": a, "low": [low, high], "half": half, "k": k, "n": n, "text": 'say "x"', "none": None, "x": x}

    found = text_of(Odd(), (torch.ones(2, 3), 5), scale=0.1, y=torch.ones(1, 2, 2, 2).int())
    assert found == EVERY_FORM


def test_functions_bring_their_modules_and_tensors() -> None:
    """A module in a closure has parameters, not constants; a tensor that eager reads is that very object."""
    import torch
    from tensorc.capture import capture
    from tensorc.watch import Outside

    linear, shift, hidden = torch.nn.Linear(3, 3), torch.ones(3), [torch.nn.Parameter(torch.ones(3))]

    def function(x: torch.Tensor) -> torch.Tensor:
        return linear(x) + shift * hidden[0] + torch.tensor([1.0, 2.0, 3.0])

    with torch.no_grad():
        program = capture(function, Outside(function).modules, (torch.ones(2, 3),), {})
    made = program.constants[-1]
    for one, other in zip(program.constants, (linear.weight, linear.bias, shift, hidden[0], made), strict=True):
        assert one is other
    assert made.tolist() == [1.0, 2.0, 3.0]


def test_capture_leaves_the_model_as_it_is() -> None:
    import torch

    class Counts(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.shape, self.seen, self.n = [1, 2], {"a": (1,)}, 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.n += 1
            self.late = "x"
            return x + self.shape[0]

    model = Counts()
    before = dict(vars(model))
    text_of(model, torch.ones(2))
    assert vars(model).keys() == before.keys() and all(vars(model)[name] is value for name, value in before.items())


# ── writes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def unseen_writes() -> list[Callable[..., Any]]:
    import torch

    def chain(x: torch.Tensor) -> Any:
        return (x + 1).relu_().mul_(2)

    def through_a_view(x: torch.Tensor) -> Any:
        return (x + 1).view(-1).relu_()

    def both_names(x: torch.Tensor) -> Any:
        y = x + 1
        z = y.relu_()
        return y, z

    def by_itself(x: torch.Tensor) -> Any:
        y = x + 1
        return y.mul_(y)

    def filled(x: torch.Tensor) -> Any:
        return torch.empty(3, 4).fill_(2.0).add_(x)

    return [chain, through_a_view, both_names, by_itself, filled]


def seen_writes() -> list[Callable[..., Any]]:
    import torch

    buffer = torch.ones(4)

    def to_an_argument(x: torch.Tensor) -> Any:
        return x.relu_()

    def to_a_view_of_an_argument(x: torch.Tensor) -> Any:
        return x.view(-1)[:4].mul_(2)

    def to_what_may_be_an_argument(x: torch.Tensor) -> Any:
        return x.contiguous().add_(1)

    def to_a_constant(x: torch.Tensor) -> Any:
        return buffer.add_(x[0])

    def to_part(x: torch.Tensor) -> Any:
        y = x + 1
        y[:, 0] = 0
        return y

    def seen_by_a_view(x: torch.Tensor) -> Any:
        y = x + 1
        v = y.view(-1)
        y.relu_()
        return v

    def seen_by_its_base(x: torch.Tensor) -> Any:
        y = x + 1
        y[0].mul_(2)
        return y

    return [to_an_argument, to_a_view_of_an_argument, to_what_may_be_an_argument, to_a_constant, to_part, seen_by_a_view, seen_by_its_base]


def test_a_write_that_nobody_sees_is_none() -> None:
    import torch

    for function in unseen_writes():
        found = text_of(function, torch.ones(3, 4))
        operations = [line.split("aten::")[1].split("(")[0].split(".")[0] for line in found.splitlines() if "aten::" in line]
        assert operations and not [name for name in operations if name.endswith("_")], found


def test_a_write_that_is_seen_stays_one() -> None:
    import torch

    for function in seen_writes():
        assert re.search(r"aten::\w+_(\.\w+)?!\(%", text_of(function, torch.ones(3, 4)))


# ── what is not taken ────────────────────────────────────────────────────────────────────────────────────────────────


def refused() -> list[tuple[Callable[..., Any], str]]:
    import torch

    def graph_inside(x: torch.Tensor) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return x @ x.T

    def branches(x: torch.Tensor) -> Any:
        return x if x.sum() > 0 else -x

    return [
        (branches, "torch.export: GuardOnDataDependentSymNode: Could not guard on data-dependent expression"),
        (graph_inside, "a graph inside of the graph"),
        (lambda x: x.t_(), "changes more of its arguments than values"),
        (lambda x: torch.fft.rfft(x), "dtype torch.complex64"),
        (lambda x: x.to_sparse(), "layout torch.sparse_coo"),
        (lambda x: x.to("meta"), "device meta"),
        (lambda x: torch.ones([1] * 9), "9 dimensions"),
        (lambda x: (x, torch.float32), "torch.export: "),
        (lambda x: x.numpy(), "torch.export: "),
        (lambda x: print("seen") or x, "the code prints"),
    ]


def test_reasons(capfd: pytest.CaptureFixture[str]) -> None:
    import torch
    from tensorc.capture import Uncovered

    for function, reason in refused():
        capfd.readouterr()
        with pytest.raises(Uncovered) as caught:
            text_of(function, torch.randn(3, 4))
        assert reason in str(caught.value) and "\n" not in str(caught.value), (reason, caught.value)
        assert capfd.readouterr() == ("", ""), "torch.export says its failures to the terminal"


def test_what_draws_nothing_is_taken() -> None:
    import torch
    from torch.nn import functional as F

    x = torch.randn(2, 3, 4)
    for function in (lambda x: F.dropout(x, training=False), lambda x: F.rrelu(x, training=False), lambda x: F.scaled_dot_product_attention(x, x, x),
                     torch.nn.LSTM(4, 4).eval(), torch.nn.InstanceNorm1d(3), torch.nn.BatchNorm1d(3, track_running_stats=False)):
        assert "aten::" in text_of(function, x)
