"""What a call does in each state that torch can be in: the table "state, auto, native" of the numerics specification.

Every test compares with eager in the same state, so a wrong path shows as a wrong value, a lost gradient or a lost effect.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from workbench import BODIES, HEAD, Project, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

SOURCE = HEAD + '''
def act(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.tanh().relu()


def dense(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.linear(x, w, b).relu()


def shift(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return (x + b).relu()


def product(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a @ b


def classify(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.softmax(dim=1).argmax(dim=1)


def same(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x

'''
CONFIG = '[project]\nname = "{name}"\nversion = "1.0"\n\n[tool.tensorc]\ngradients = "{gradients}"\n'


@pytest.fixture(scope="module")
def built(module_folder: Path) -> dict[str, Project]:
    out = {}
    for gradients in ("python", "detach", "error"):
        files = {f"states_{gradients}.py": SOURCE, "pyproject.toml": CONFIG.format(name=f"states-{gradients}", gradients=gradients)}
        out[gradients] = Project(module_folder / gradients, files).build()
    return out


def load(built: dict[str, Project], mode: str, gradients: str = "python") -> Any:
    return built[gradients].load(f"states_{gradients}", mode)


def same_bits(a: Any, b: Any) -> None:
    import torch
    from compare import difference, value

    assert isinstance(a, torch.Tensor) and difference(value(b), value(a)) is None, difference(value(b), value(a))


def counts(f: Any, *args: Any) -> tuple[Any, int]:
    """(result, number of calls that ran the Python original)"""
    before = f.stats()
    result = f(*args)
    after = f.stats()
    return result, sum(after["python"].values()) - sum(before["python"].values())


MODES = pytest.mark.parametrize("mode", ["auto", "native"])


@MODES
@pytest.mark.parametrize("state", ["plain", "no_grad", "inference_mode", "grad disabled"])
def test_plain(built: Any, mode: str, state: str) -> None:
    import contextlib

    import torch

    m = load(built, mode)
    x = torch.randn(5, 7)
    manager: Any = {"plain": contextlib.nullcontext, "no_grad": torch.no_grad, "inference_mode": torch.inference_mode,
                    "grad disabled": lambda: torch.set_grad_enabled(False)}[state]()
    with manager:
        before = torch.is_grad_enabled()
        result, python = counts(m.act, x)
        want = m.act.__wrapped__(x)
        assert torch.is_grad_enabled() == before
    same_bits(result, want)
    assert python == 0 and m.act.body in BODIES
    assert result.is_inference() == want.is_inference() == (state == "inference_mode")
    assert not result.requires_grad and result.grad_fn is None


@MODES
def test_inference_tensors(built: Any, mode: str) -> None:
    import torch

    m = load(built, mode)
    with torch.inference_mode():
        x = torch.randn(5, 7)
    result, python = counts(m.act, x)
    want = m.act.__wrapped__(x)
    same_bits(result, want)
    assert result.is_inference() == want.is_inference() and python == 0
    with torch.inference_mode():
        assert m.same(x) is x
    w, b = torch.randn(3, 7, requires_grad=True), torch.zeros(3)
    with torch.inference_mode():
        same_bits(m.dense(x, w, b), m.dense.__wrapped__(x, w, b))


# ── gradients ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_gradients_by_python(built: Any) -> None:
    import torch

    m = load(built, "auto")
    x, w, b = torch.randn(5, 7), torch.nn.Parameter(torch.randn(3, 7)), torch.zeros(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result, python = counts(m.dense, x, w, b)
        m.dense(x, w, b)
    assert python == 1 and result.grad_fn is not None
    result.sum().backward()
    want = torch.autograd.grad(m.dense.__wrapped__(x, w, b).sum(), w)[0]
    same_bits(w.grad, want)
    mine = [str(c.message) for c in caught]
    assert len(mine) == 1 and "'w'" in mine[0].replace("`", "'").replace('"', "'"), mine
    with torch.no_grad():
        result, python = counts(m.dense, x, w, b)
    assert python == 0 and not result.requires_grad and m.dense.body in BODIES
    w.requires_grad_(False)
    assert counts(m.dense, x, w, b)[1] == 0


@pytest.mark.parametrize("which", [0, 1, 2])
def test_gradient_of_any_parameter(built: Any, which: int) -> None:
    import torch

    m = load(built, "auto")
    args = [torch.randn(5, 7), torch.randn(3, 7), torch.randn(3)]
    args[which].requires_grad_(True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = m.dense(*args)
    assert result.grad_fn is not None
    assert any(f"{'xwb'[which]}" in str(c.message) for c in caught)


@pytest.mark.parametrize("gradients", ["python", "detach", "error"])
def test_gradients_in_mode_native(built: Any, gradients: str) -> None:
    import torch

    m = load(built, "native", gradients)
    x, w, b = torch.randn(5, 7), torch.randn(3, 7, requires_grad=True), torch.zeros(3)
    if gradients == "error":
        with pytest.raises(RuntimeError, match="w"):
            m.dense(x, w, b)
        with torch.no_grad():
            assert not m.dense(x, w, b).requires_grad
        return
    result = m.dense(x, w, b)
    assert not result.requires_grad and result.grad_fn is None
    with torch.no_grad():
        same_bits(result, m.dense.__wrapped__(x, w, b))
    assert torch.is_grad_enabled()


def test_gradients_detach(built: Any) -> None:
    import torch

    m = load(built, "auto", "detach")
    x, w, b = torch.randn(5, 7), torch.randn(3, 7, requires_grad=True), torch.zeros(3)
    result, python = counts(m.dense, x, w, b)
    assert python == 0 and not result.requires_grad and torch.is_grad_enabled()
    with torch.no_grad():
        same_bits(result, m.dense.__wrapped__(x, w, b))
    assert m.dense.body in BODIES


def test_gradients_error(built: Any) -> None:
    import torch

    m = load(built, "auto", "error")
    x, w, b = torch.randn(5, 7), torch.randn(3, 7, requires_grad=True), torch.zeros(3)
    with pytest.raises(RuntimeError, match="w"):
        m.dense(x, w, b)
    with torch.no_grad():
        assert not m.dense(x, w, b).requires_grad
    assert not m.dense(x, w.detach(), b).requires_grad


def test_grad_mode_after_an_error(built: Any) -> None:
    import torch

    for gradients in ("python", "detach"):
        m = load(built, "native", gradients)
        w = torch.randn(3, 6, requires_grad=True)
        with pytest.raises(RuntimeError):
            m.dense(torch.randn(5, 7), w, torch.zeros(3))
        assert torch.is_grad_enabled()


def test_returned_parameter_keeps_its_gradient(built: Any) -> None:
    import torch

    m = load(built, "auto")
    x = torch.randn(2, 3, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert m.same(x) is x and x.requires_grad
    p = torch.nn.Parameter(torch.randn(2, 3), requires_grad=False)
    assert m.same(p) is p


@MODES
def test_parameter_without_gradient(built: Any, mode: str) -> None:
    import torch

    m = load(built, mode)
    p = torch.nn.Parameter(torch.randn(2, 3), requires_grad=False)
    result, python = counts(m.act, p)
    assert type(result) is torch.Tensor and python == 0
    same_bits(result, m.act.__wrapped__(p))


# ── states that only Python can honour ───────────────────────────────────────────────────────────────────────────────


def run_in_state(state: str, f: Any, x: Any) -> Any:
    import torch

    if state == "forward AD":
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
            primal, tangent = torch.autograd.forward_ad.unpack_dual(f(dual))
            return primal, tangent
    if state == "functorch grad":
        return torch.func.grad(lambda t: f(t).sum())(x)
    if state == "functorch jvp":
        return torch.func.jvp(f, (x,), (torch.ones_like(x),))
    if state == "jit trace":
        return torch.jit.trace(f, (x,), check_trace=False)(x * 2)
    if state == "function mode":
        from torch.overrides import TorchFunctionMode

        class Spy(TorchFunctionMode):
            seen = 0

            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                Spy.seen += 1
                return func(*args, **(kwargs or {}))

        with Spy():
            result = f(x)
        return result, torch.tensor(Spy.seen)
    raise AssertionError(state)


ONLY_PYTHON = ["forward AD", "functorch grad", "functorch jvp", "jit trace", "function mode"]


@pytest.mark.parametrize("state", ONLY_PYTHON)
def test_only_python_auto(built: Any, state: str) -> None:
    import torch

    m = load(built, "auto")
    x = torch.randn(5, 7)
    m.act(x)
    warnings.simplefilter("ignore")
    result, want = run_in_state(state, m.act, x), run_in_state(state, m.act.__wrapped__, x)
    for a, b in zip(result if isinstance(result, tuple) else (result,), want if isinstance(want, tuple) else (want,)):
        same_bits(a, b)
    assert sum(m.act.stats()["python"].values()) >= 1
    same_bits(m.act(x), m.act.__wrapped__(x))
    assert m.act.body in BODIES


@pytest.mark.parametrize("state", ONLY_PYTHON)
def test_only_python_native(built: Any, state: str) -> None:
    import torch

    m = load(built, "native")
    x = torch.randn(5, 7)
    m.act(x)
    warnings.simplefilter("ignore")
    words = {"forward AD": "forward", "functorch grad": "functorch|transform", "functorch jvp": "functorch|transform|forward",
             "jit trace": "trac", "function mode": "mode"}[state]
    with pytest.raises(RuntimeError, match=f"(?i){words}"):
        run_in_state(state, m.act, x)
    same_bits(m.act(x), m.act.__wrapped__(x))


@MODES
def test_default_device_is_no_obstacle(built: Any, mode: str) -> None:
    import torch

    m = load(built, mode)
    x = torch.randn(5, 7)
    torch.set_default_device("cpu")
    try:
        result, python = counts(m.act, x)
    finally:
        torch.set_default_device(None)
    same_bits(result, m.act.__wrapped__(x))
    assert python == 0 and m.act.body in BODIES


@MODES
def test_function_mode_under_default_device(built: Any, mode: str) -> None:
    """A default device on the mode stack must not hide another mode behind it."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Spy(TorchFunctionMode):
        seen = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            Spy.seen += 1
            return func(*args, **(kwargs or {}))

    m = load(built, mode)
    x = torch.randn(5, 7)
    for outer, inner in ((Spy, lambda: torch.device("cpu")), (lambda: torch.device("cpu"), Spy)):
        Spy.seen = 0
        with outer(), inner():
            if mode == "native":
                with pytest.raises(RuntimeError, match="mode"):
                    m.act(x)
            else:
                m.act(x)
                assert Spy.seen >= 2


# ── states that the dispatcher honours: all by the wheel ────────────────────────────────────────────────────────────────


@MODES
def test_vmap(built: Any, mode: str) -> None:
    import torch

    m = load(built, mode)
    x = torch.randn(4, 5, 7)
    same_bits(torch.func.vmap(m.act)(x), torch.func.vmap(m.act.__wrapped__)(x))
    assert m.act.body == "library"
    w, b = torch.randn(4, 3, 7), torch.randn(3)
    got = torch.func.vmap(m.dense, in_dims=(0, 0, None))(x, w, b)
    want = torch.func.vmap(m.dense.__wrapped__, in_dims=(0, 0, None))(x, w, b)
    torch.testing.assert_close(got, want, rtol=0, atol=0)


@MODES
def test_dispatch_mode(built: Any, mode: str) -> None:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Log(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.names: list[str] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.names.append(str(func))
            return func(*args, **(kwargs or {}))

    m = load(built, mode)
    x = torch.randn(5, 7)
    for f, args in ((m.act, (x,)), (m.shift, (x, torch.randn(7))), (m.product, (x, torch.randn(7, 3))), (m.classify, (x,))):
        with Log() as got:
            result = f(*args)
        with Log() as want:
            expected = f.__wrapped__(*args)
        same_bits(result, expected)
        assert len(got.names) >= 1 and [n.split(".")[1] for n in got.names] == [n.split(".")[1] for n in want.names]


@MODES
def test_autocast(built: Any, mode: str) -> None:
    import torch

    m = load(built, mode)
    x, w, b = torch.randn(5, 7), torch.randn(3, 7), torch.randn(3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result, want = m.dense(x, w, b), m.dense.__wrapped__(x, w, b)
        product, want_product = m.product(x, w.t()), m.product.__wrapped__(x, w.t())
        act, want_act = m.act(x), m.act.__wrapped__(x)
    assert result.dtype is torch.bfloat16 and m.act.body == m.dense.body == "library"
    for a, b in ((result, want), (product, want_product), (act, want_act)):
        same_bits(a, b)
    same_bits(m.dense(x, w, torch.zeros(3)), m.dense.__wrapped__(x, w, torch.zeros(3)))


@MODES
def test_fake_mode(built: Any, mode: str) -> None:
    import torch
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    m = load(built, mode)
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        x = fake.from_tensor(torch.randn(5, 7))
        assert isinstance(x, FakeTensor)
        want = m.act.__wrapped__(x)
        if mode == "native":
            try:
                got = m.act(x)
            except TypeError:  # a fake tensor is a tensor subclass
                return
        else:
            got = m.act(x)
        assert isinstance(got, FakeTensor) and got.shape == want.shape and got.dtype == want.dtype
        # real arguments under the mode
        real = m.act(torch.ones(2, 3)) if mode == "auto" else None
        assert real is None or isinstance(real, FakeTensor)


# ── kinds of tensors ─────────────────────────────────────────────────────────────────────────────────────────────────


@MODES
def test_negative_view(built: Any, mode: str) -> None:
    import torch

    m = load(built, mode)
    n = torch._neg_view(torch.tensor([[2.0, -3.0]]))
    assert n.is_neg()
    b = torch.ones(2)
    for f, args in ((m.act, (n,)), (m.shift, (n, b)), (m.dense, (n, torch.eye(2), b)), (m.classify, (n,))):
        result, python = counts(f, *args)
        same_bits(result, f.__wrapped__(*args))
        assert python == 0 and f.body == "library"
    imaginary = torch.tensor([[1 + 2j, 3 - 4j]]).conj().imag
    assert imaginary.is_neg()
    assert m.shift(imaginary, b).tolist() == [[0.0, 5.0]]


@MODES
def test_zero_tensor(built: Any, mode: str) -> None:
    import torch

    m = load(built, mode)
    z = torch._efficientzerotensor(3, 4)
    for f, args in ((m.act, (z,)), (m.shift, (z, torch.ones(4)))):
        result = f(*args)
        want = f.__wrapped__(*args)
        assert result.shape == want.shape and torch.equal(result.clone(), want.clone())


@MODES
def test_sparse(built: Any, mode: str) -> None:
    import torch

    m = load(built, mode)
    s = torch.tensor([[0.0, 2.0], [-3.0, 0.0]]).to_sparse()
    result, want = m.act(s), m.act.__wrapped__(s)
    assert result.layout is want.layout and torch.equal(result.to_dense(), want.to_dense())
    assert m.act.body == "library"
    product = m.product(s, torch.eye(2))
    assert torch.equal(product, m.product.__wrapped__(s, torch.eye(2)))


@MODES
def test_quantized(built: Any, mode: str) -> None:
    import torch

    m = load(built, mode)
    q = torch.quantize_per_tensor(torch.tensor([[1.0, -2.0]]), 0.1, 0, torch.qint8)
    if mode == "native":
        with pytest.raises((ValueError, TypeError), match="^rextio-torch: expected a "):
            m.same(q)
    else:
        assert m.same(q) is q
        with pytest.raises(Exception) as native, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            m.product(q, torch.eye(2))
        with pytest.raises(Exception) as eager:
            m.product.__wrapped__(q, torch.eye(2))
        assert native.type is eager.type


@MODES
def test_subclass(built: Any, mode: str) -> None:
    import torch

    class Tagged(torch.Tensor):
        pass

    m = load(built, mode)
    t = torch.ones(2, 3).as_subclass(Tagged)
    if mode == "native":
        with pytest.raises(TypeError, match="^rextio-torch: expected a torch.Tensor"):
            m.act(t)
        with pytest.raises(TypeError, match="^rextio-torch: expected a torch.Tensor"):
            m.shift(torch.ones(2, 3), torch.ones(3).as_subclass(Tagged))
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert type(m.act(t)) is Tagged


@MODES
def test_functional_tensor(built: Any, mode: str) -> None:
    import torch

    m = load(built, mode)
    x = torch.randn(5, 7)
    same_bits(torch.func.functionalize(m.act)(x), m.act.__wrapped__(x))


def test_precision_and_threads(built: Any) -> None:
    """Which CPUs have kernels of lower precision differs, so what runs by the wheel says more than the bits here."""
    import torch

    m = load(built, "native")
    x, w = torch.randn(64, 128), torch.randn(128, 64)
    m.product(x, w)

    def by_wheel() -> int:
        return int(m.product.stats()["wheel"].get("matmul", 0))

    for precision, lower in (("highest", 0), ("high", 1), ("medium", 1), ("highest", 0)):
        torch.set_float32_matmul_precision(precision)
        before = by_wheel()
        same_bits(m.product(x, w), m.product.__wrapped__(x, w))
        assert (m.product.body, by_wheel() - before) == ("exact", lower), precision
        m.act(x)
        assert m.act.body == "exact"
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        same_bits(m.product(x, w), m.product.__wrapped__(x, w))
        big = torch.randn(300, 400)
        same_bits(m.act(big), m.act.__wrapped__(big))


def test_mixed_precision_settings_do_not_abort(built: Any) -> None:
    """Reading float32MatmulPrecision throws once the old and the new setting were mixed: no exception may cross C."""
    import torch

    m = load(built, "native")
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"
    try:
        torch.set_float32_matmul_precision("high")
    except Exception:
        pass
    x, w = torch.randn(64, 128), torch.randn(128, 64)
    same_bits(m.product(x, w), m.product.__wrapped__(x, w))


def test_flush_denormal_is_the_users(built: Any) -> None:
    import torch

    m = load(built, "native")
    torch.set_num_threads(2)
    x, b = torch.full((3, 19), 1e-40), torch.full((19,), 1e-41)
    many = torch.full((1000, 19), 1e-40)  # in blocks on two threads; the setting is one of the calling thread alone
    for _ in range(2):
        same_bits(m.shift(x, b), m.shift.__wrapped__(x, b))
        same_bits(m.shift(many, b), m.shift.__wrapped__(many, b))
    assert m.shift.body == "exact" and m.shift(x, b).gt(0).all() and 5e-324 != 0.0
    if torch.set_flush_denormal(True):
        try:
            same_bits(m.shift(x, b), m.shift.__wrapped__(x, b))
            same_bits(m.shift(many, b), m.shift.__wrapped__(many, b))
            assert m.shift.body == "library"
            assert (torch.full((19,), 1e-40) * 0.5).eq(0).all(), "the setting was lost"
        finally:
            torch.set_flush_denormal(False)
    same_bits(m.shift(x, b), m.shift.__wrapped__(x, b))


def test_profiler(built: Any) -> None:
    """The wheel's own kernels show themselves to the profiler; recipes have none to show."""
    import torch

    m = load(built, "native")
    for x, wheel in ((torch.randn(5, 7), 0), (torch.randn(5, 14)[:, ::2], 1)):
        m.act(x)
        before = m.act.stats()["wheel"].get("tanh", 0)
        with torch.profiler.profile() as p:
            result = m.act(x)
        same_bits(result, m.act.__wrapped__(x))
        assert m.act.body == "exact" and m.act.stats()["wheel"].get("tanh", 0) - before == wheel
        assert ("aten::tanh" in {e.name for e in p.events()}) == bool(wheel)


# ── the first call of a process, made inside a state ─────────────────────────────────────────────────────────────────


@MODES
@pytest.mark.parametrize("state", ["inference_mode", "autocast", "vmap", "dispatch mode", "fake mode", "default device", "deterministic", "profiler", "grad", *ONLY_PYTHON])
def test_first_call_inside_a_state(built: Any, mode: str, state: str) -> None:
    """What is found out at the first call must not depend on the state it is made in: afterwards all is as ever."""
    import contextlib

    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Pass(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    m = load(built, mode)
    x = torch.randn(5, 7)
    managers: dict[str, Any] = {"inference_mode": torch.inference_mode, "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16), "dispatch mode": Pass,
                                "fake mode": lambda: FakeTensorMode(allow_non_fake_inputs=True), "default device": lambda: torch.device("cpu"), "profiler": torch.profiler.profile}
    warnings.simplefilter("ignore")
    with contextlib.suppress(RuntimeError, TypeError):
        if state == "vmap":
            torch.func.vmap(m.act)(torch.randn(3, 5, 7))
        elif state == "deterministic":
            torch.use_deterministic_algorithms(True)
            m.act(x)
            torch.use_deterministic_algorithms(False)
        elif state == "grad":
            m.act(torch.randn(5, 7, requires_grad=True))
        elif state in managers:
            with managers[state]():
                m.act(x)
        else:
            run_in_state(state, m.act, x)
    for f, args in ((m.act, (x,)), (m.dense, (x, torch.randn(3, 7), torch.randn(3))), (m.classify, (x,))):
        result, python = counts(f, *args)
        same_bits(result, f.__wrapped__(*args))
        assert python == 0 and f.body in BODIES and not result.is_inference() and not result.requires_grad
    n = torch._neg_view(torch.tensor([[2.0, -3.0]]))
    same_bits(m.act(n), m.act.__wrapped__(n))
    z = torch._efficientzerotensor(3, 4)
    assert torch.equal(m.act(z).clone(), torch.zeros(3, 4))
    with torch.inference_mode():
        assert m.act(x).is_inference()
    if mode == "native":
        with pytest.raises(RuntimeError):
            run_in_state("function mode", m.act, x)
        with pytest.raises(RuntimeError):
            run_in_state("functorch grad", m.act, x)
