"""What a call with unfit arguments does: the table of run-time errors, in mode native, in auto, and with on-mismatch = "error"."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from workbench import BODIES, HEAD, Project, environment, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

SOURCE = HEAD + '''
def dense(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return F.linear(x, w, b)


def shift(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return (x + b).relu()


def product(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return a @ b


def row(v: TensorF32Cpu1D, w: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return torch.matmul(v, w)


def column(w: TensorF32Cpu2D, v: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return w.matmul(v)


def total(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return x.sum(dim=1)


def pick(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return x.argmax(dim=1)


def labels(k: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return k


def repeat(x: TensorF32Cpu2D, n: int, scale: float = 1.0, flag: bool = False) -> TensorF32Cpu2D:
    for i in range(n):
        x = x.tanh()
    if scale > 1.0 and not flag:
        x = x.relu()
    return x


def said(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    print(n)
    return x


def compared(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    if n == 9007199254740992.0:
        return x.relu()
    return x.neg()


def twice(n: int) -> int:
    return n * 2


def ratio(a: int, b: int) -> float:
    return a / b


def kinds(x: TensorF32Cpu2D, /, n: int = 1, *, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    for i in range(n):
        x = x + y
    return x

'''


@pytest.fixture(scope="module")
def built(module_folder: Path) -> dict[str, Project]:
    out = {}
    for kind in ("python", "error"):
        config = f'[project]\nname = "calls-{kind}"\nversion = "1"\n\n[tool.tensorc]\non-mismatch = "{kind}"\n'
        out[kind] = Project(module_folder / kind, {f"calls_{kind}.py": SOURCE, "pyproject.toml": config}).build()
    return out


def load(built: dict[str, Project], mode: str, kind: str = "python") -> Any:
    return built[kind].load(f"calls_{kind}", mode)


def bad_tensors() -> list[tuple[str, Any, type[Exception], str]]:
    """(what, a bad value for a float32 rank-2 parameter, exception, first words)"""
    import numpy as np
    import torch

    return [
        ("none", None, TypeError, "expected a torch.Tensor"),
        ("list", [[1.0, 2.0]], TypeError, "expected a torch.Tensor"),
        ("number", 1.0, TypeError, "expected a torch.Tensor"),
        ("text", "x", TypeError, "expected a torch.Tensor"),
        ("numpy", np.ones((2, 3), "f4"), TypeError, "expected a torch.Tensor"),
        ("class", torch.Tensor, TypeError, "expected a torch.Tensor"),
        ("meta", torch.empty(2, 3, device="meta"), ValueError, "expected a CPU tensor"),
        ("float64", torch.ones(2, 3, dtype=torch.float64), ValueError, "expected a float32 tensor"),
        ("float16", torch.ones(2, 3, dtype=torch.float16), ValueError, "expected a float32 tensor"),
        ("bfloat16", torch.ones(2, 3, dtype=torch.bfloat16), ValueError, "expected a float32 tensor"),
        ("int64", torch.ones(2, 3, dtype=torch.int64), ValueError, "expected a float32 tensor"),
        ("bool", torch.ones(2, 3, dtype=torch.bool), ValueError, "expected a float32 tensor"),
        ("complex64", torch.ones(2, 3, dtype=torch.complex64), ValueError, "expected a float32 tensor"),
        ("rank 0", torch.tensor(1.0), ValueError, "expected rank-2 tensor, got rank 0"),
        ("rank 1", torch.ones(3), ValueError, "expected rank-2 tensor, got rank 1"),
        ("rank 3", torch.ones(2, 2, 3), ValueError, "expected rank-2 tensor, got rank 3"),
        ("rank 12", torch.ones([1] * 12), ValueError, "expected rank-2 tensor, got rank 12"),
        ("float64 of rank 3 on meta", torch.empty(1, 2, 3, dtype=torch.float64, device="meta"), ValueError, "expected a CPU tensor"),
        ("float64 of rank 1", torch.ones(3, dtype=torch.float64), ValueError, "expected a float32 tensor"),
    ]


WHICH = [b for b in range(19)]


@pytest.mark.parametrize("number", WHICH)
def test_wrong_tensor_native(built: Any, number: int) -> None:
    import torch

    m = load(built, "native")
    _, value, error, words = bad_tensors()[number]
    good, b = torch.ones(2, 3), torch.ones(3)
    for f, args, name in ((m.shift, (value, b), "x"), (m.product, (good, value), "b"), (m.pick, (value,), "x"), (m.dense, (good, value, b), "w")):
        with pytest.raises(error) as caught:
            f(*args)
        text = str(caught.value)
        assert text.startswith("rextio-torch: " + words), text
        assert name in text.split(words, 1)[1] and f.__name__ in text, text
        assert "\n" not in text and "frame #" not in text
    assert torch.equal(m.shift(good, b), m.shift.__wrapped__(good, b)), "a good call after a bad one"


@pytest.mark.parametrize("number", WHICH)
def test_wrong_tensor_on_mismatch_error(built: Any, number: int) -> None:
    import torch

    m = load(built, "auto", "error")
    _, value, error, words = bad_tensors()[number]
    with pytest.raises(error, match="^rextio-torch: " + words):
        m.shift(value, torch.ones(3))


@pytest.mark.parametrize("number", WHICH)
def test_wrong_tensor_auto(built: Any, number: int) -> None:
    """Python runs: its value, or its own error; one warning per function and reason."""
    import torch
    from compare import difference, value

    m = load(built, "auto")
    bad = bad_tensors()[number][1]
    b = torch.ones(3)

    def outcome(f: Any) -> Any:
        try:
            return f(bad, b)
        except Exception as e:
            return type(e), str(e)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = outcome(m.shift)
        outcome(m.shift)
        outcome(m.shift)
    want = outcome(m.shift.__wrapped__)
    if isinstance(want, torch.Tensor) and not want.is_meta:
        assert difference(value(want), value(got)) is None
    elif isinstance(want, torch.Tensor):
        assert got.is_meta and got.shape == want.shape
    else:
        assert got[0] is want[0] and got[1] == want[1]
    mine = [c for c in caught if "shift" in str(c.message)]
    assert len(mine) == 1 and issubclass(mine[0].category, Warning), [str(c.message) for c in caught]
    assert mine[0].filename == __file__, "the warning should point at the caller"


def test_one_warning_per_function_and_reason(built: Any) -> None:
    import torch

    m = load(built, "auto")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            m.shift(torch.ones(2, 3, dtype=torch.float64), torch.ones(3))  # dtype
            m.shift(torch.ones(2, 2, 3), torch.ones(3))                    # rank
            m.pick(torch.ones(2, 2, 3))                                    # rank, another function
    assert len(caught) == 3, [str(c.message) for c in caught]
    stats = m.shift.stats()["python"]
    assert sum(stats.values()) == 6 and len(stats) == 2, stats


def test_warning_as_error(built: Any) -> None:
    import torch

    m = load(built, "auto")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Warning):
            m.shift(torch.ones(2, 2, 3), torch.ones(3))
    assert m.shift(torch.ones(2, 2, 3), torch.ones(3)).shape == (2, 2, 3)


def test_int64_parameter(built: Any) -> None:
    import torch

    m = load(built, "native")
    k = torch.arange(4)
    assert m.labels(k) is k
    for bad in (torch.ones(4), torch.ones(4, dtype=torch.int32), torch.ones(4, dtype=torch.bool)):
        with pytest.raises(ValueError, match="^rextio-torch: expected an int64 tensor"):
            m.labels(bad)
    with pytest.raises(ValueError, match="^rextio-torch: expected rank-1 tensor, got rank 2"):
        m.labels(torch.ones(2, 2, dtype=torch.int64))


# ── sizes ────────────────────────────────────────────────────────────────────────────────────────────────────────────

SIZES = [("product", (3, 4), (5, 3)), ("product", (3, 0), (1, 3)), ("shift", (3, 4), (3,)), ("shift", (3, 4), (0,)), ("row", (3,), (4, 3)), ("row", (1,), (4, 3)),
         ("column", (3, 4), (3,)), ("column", (3, 4), (1,)), ("dense", (3, 4), (5, 3), (5,)), ("dense", (3, 4), (5, 4), (4,))]


@pytest.mark.parametrize("case", SIZES, ids=lambda c: f"{c[0]}-{'-'.join('x'.join(map(str, s)) for s in c[1:])}")
def test_sizes_that_do_not_fit(built: Any, case: Any) -> None:
    import torch

    name, *shapes = case
    args = [torch.randn(s) for s in shapes]
    m = load(built, "native")
    f = getattr(m, name)
    with pytest.raises(RuntimeError) as native:
        f(*args)
    text = str(native.value)
    assert text.startswith("rextio-torch: ") and "\n" not in text, text
    digits = text.replace("x", " ").replace(",", " ").replace("[", " ").replace("]", " ").replace("(", " ").replace(")", " ").split()
    for s in shapes[:2]:
        for d in s:
            assert str(d) in digits, f"{s} is not in: {text}"
    with pytest.raises(RuntimeError) as eager:
        f.__wrapped__(*args)
    import os

    import tensorc

    with tensorc.mode("auto"), pytest.raises(RuntimeError) as auto:
        f(*args)
    assert str(auto.value) == str(eager.value), "auto gives eager's own text"
    assert os.environ["TENSORC_MODE"] == "native"


def test_broadcasting_sizes_fit(built: Any) -> None:
    import torch
    from compare import difference, value

    m = load(built, "native")
    for a, b in (((3, 4), (1,)), ((3, 1), (4,)), ((0, 4), (4,)), ((3, 0), (1,)), ((1, 4), (4,)), ((3, 0), (0,))):
        args = torch.randn(a), torch.randn(b)
        assert difference(value(m.shift.__wrapped__(*args)), value(m.shift(*args))) is None


def test_kernel_errors_are_eagers(built: Any) -> None:
    import torch

    for mode in ("native", "auto"):
        m = load(built, mode)
        with pytest.raises(IndexError) as native:
            m.pick(torch.ones(3, 0))
        with pytest.raises(IndexError) as eager:
            m.pick.__wrapped__(torch.ones(3, 0))
        assert str(eager.value) in str(native.value)
        assert m.pick(torch.ones(0, 3)).shape == (0,)


def test_errors_print_nothing(built: Any, capfd: Any) -> None:
    import torch

    m = load(built, "native")
    for _ in range(3):
        with pytest.raises(IndexError):
            m.pick(torch.ones(3, 0))
        with pytest.raises(RuntimeError):
            m.product(torch.ones(2, 3), torch.ones(2, 3))
    out, err = capfd.readouterr()
    assert not out and not err, err[:500]


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Index:
    def __init__(self, n: int) -> None:
        self.n = n

    def __index__(self) -> int:
        return self.n


class IntSubclass(int):
    pass


def test_ints_taken(built: Any) -> None:
    import numpy as np
    import torch

    m = load(built, "native")
    x = torch.randn(2, 3)
    want = m.repeat.__wrapped__(x, 2)
    for n in (2, np.int64(2), np.int32(2), np.uint8(2), torch.tensor(2), Index(2), IntSubclass(2)):
        assert torch.equal(m.repeat(x, n), want), type(n)
    assert torch.equal(m.repeat(x, True), m.repeat.__wrapped__(x, 1)) and torch.equal(m.repeat(x, False), x)
    assert m.twice(2**62 - 1) == 2**63 - 2 and m.twice(-(2**62)) == -(2**63)


def test_ints_refused(built: Any) -> None:
    import torch

    m = load(built, "native")
    x = torch.randn(2, 3)
    for bad in (3.0, "3", None, [3], 2 + 0j, torch.tensor(2.0), torch.ones(2, dtype=torch.int64)):
        with pytest.raises(TypeError):
            m.repeat(x, bad)
    for big in (2**63, -(2**63) - 1, 2**70):
        with pytest.raises(OverflowError):
            m.repeat(x, big)
    with pytest.raises(OverflowError):
        m.twice(2**62)
    with pytest.raises(ZeroDivisionError):
        m.ratio(1, 0)


def test_what_a_number_prints_and_equals(built: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """In auto a bool is printed as one, and numpy's numbers are Python's to answer."""
    import numpy as np
    import torch

    m = load(built, "auto")
    x = torch.randn(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in (True, False, 7, np.int64(7)):
            m.said(x, n)
            m.said.__wrapped__(x, n)
            first, second = capsys.readouterr().out.splitlines()
            assert first == second, n
        for n in (2**53, 2**53 + 1, np.int64(2**53), np.int64(2**53 + 1), np.int64(-(2**53) - 1)):
            assert torch.equal(m.compared(x, n), m.compared.__wrapped__(x, n)), n
    m.said(x, 7)
    m.compared(x, 2**53)
    assert m.said.body in BODIES and m.compared.body in BODIES
    m.compared(x, True)
    assert m.compared.body in BODIES
    m.compared(x, np.int64(1))
    assert m.compared.body == "python"


class Odd(int):
    def __mul__(self, other: Any) -> int:  # type: ignore[override]
        return 99

    def __lt__(self, other: Any) -> bool:  # type: ignore[override]
        return True


class OddFloat(float):
    def __gt__(self, other: Any) -> bool:  # type: ignore[override]
        return True


def test_what_is_almost_a_number(built: Any) -> None:
    """Operators of its own, and what is no number of Python's at all: value, exception and warnings are Python's."""
    import decimal
    import fractions

    import numpy as np
    import torch

    class Indexed:
        def __index__(self) -> int:
            return 3

    class Floated:
        def __float__(self) -> float:
            return 0.5

    def outcome(f: Any, *args: Any) -> tuple[Any, list[str]]:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                result = f(*args)
            except Exception as e:
                return (type(e), str(e)), [str(w.message) for w in seen]
        return (type(result), str(result)), [str(w.message) for w in seen]

    m = load(built, "auto")
    x = torch.randn(2, 3)
    ints = [Odd(5), Indexed(), np.bool_(True), torch.tensor(2), torch.tensor(True), *(t(1) for t in (np.int8, np.uint8, np.int32, np.int64, np.uint64, np.intp))]
    floats = [OddFloat(0.5), decimal.Decimal("0.1"), fractions.Fraction(1, 3), np.bool_(True), torch.tensor(0.5), np.float16(0.1), np.float32(0.1), np.float64(0.1), np.longdouble(0.1), 3, True]
    calls = [(f, (x, n)) for f in ("compared", "repeat") for n in ints] + [(f, (n,)) for f in ("twice",) for n in ints]
    calls += [("repeat", (x, 2, p)) for p in [*floats, Floated()]] + [("ratio", (n, 3)) for n in ints]
    for name, args in calls:
        f = getattr(m, name)
        assert outcome(f, *args) == outcome(f.__wrapped__, *args), (name, args[1:] or args)
        assert f.body == "python", (name, args)


def test_numbers_auto(built: Any) -> None:
    """In auto every number acts as in Python."""
    import numpy as np
    import torch

    m = load(built, "auto")
    x = torch.randn(2, 3)
    for f, args in ((m.twice, (2**62,)), (m.twice, (2**80,)), (m.twice, (True,)), (m.twice, (2.5,)), (m.twice, (np.int64(7),)), (m.twice, (np.uint8(200),)), (m.twice, ("ab",)),
                    (m.twice, (torch.tensor(2),)), (m.ratio, (True, 2)), (m.ratio, (2.5, 2)), (m.ratio, (2**80, 2**79)), (m.ratio, (np.int64(1), 3)), (m.repeat, (x, np.int64(2))),
                    (m.repeat, (x, 2, 3)), (m.repeat, (x, 2, np.float32(1.5))), (m.repeat, (x, 2, 1.5, 1)), (m.repeat, (x, 2, 1.5, "yes"))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got, want = f(*args), f.__wrapped__(*args)
        assert type(got) is type(want), (f.__name__, args, type(got), type(want))
        assert torch.equal(got, want) if isinstance(want, torch.Tensor) else got == want, (f.__name__, args)
    for f, args in ((m.repeat, (x, 2.0)), (m.repeat, (x, "2")), (m.ratio, (1, 0)), (m.twice, (None,)), (m.repeat, (x, torch.ones(2)))):
        with pytest.raises(Exception) as native, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            f(*args)
        with pytest.raises(Exception) as eager:
            f.__wrapped__(*args)
        assert native.type is eager.type and str(native.value) == str(eager.value)


def test_errors_of_index_pass_through(built: Any) -> None:
    import torch

    class Raises:
        def __index__(self) -> int:
            raise LookupError("mine")

    for mode in ("native", "auto"):
        with pytest.raises(LookupError, match="mine"):
            load(built, mode).repeat(torch.ones(2, 3), Raises())


def test_floats(built: Any) -> None:
    import numpy as np
    import torch

    m = load(built, "native")
    x = torch.randn(2, 3)
    for scale in (1.5, 2, np.float64(1.5), np.float32(1.5), True):
        assert torch.equal(m.repeat(x, 1, scale), m.repeat.__wrapped__(x, 1, scale))
    for bad in ("1.5", None, 1j, [1.0]):
        with pytest.raises(TypeError):
            m.repeat(x, 1, bad)


# ── signatures ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", ["native", "auto"])
def test_wrong_calls_raise_pythons_error(built: Any, mode: str) -> None:
    import torch

    m = load(built, mode)
    x = torch.ones(2, 3)
    calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (m.shift, (), {}), (m.shift, (x,), {}), (m.shift, (x, x, x), {}), (m.shift, (x,), {"x": x}), (m.shift, (x,), {"c": x}), (m.shift, (x, x), {"b": x}),
        (m.shift, (), {"b": x}), (m.kinds, (x,), {}), (m.kinds, (x, 1, x), {}), (m.kinds, (), {"x": x, "y": x}), (m.kinds, (x,), {"y": x, "z": 1}), (m.kinds, (x, 1), {"n": 2, "y": x}),
    ]
    for f, args, kwargs in calls:
        with pytest.raises(TypeError) as native:
            f(*args, **kwargs)
        with pytest.raises(TypeError) as eager:
            f.__wrapped__(*args, **kwargs)
        assert str(native.value) == str(eager.value) and f.__name__ + "()" in str(native.value)


def test_right_calls(built: Any) -> None:
    import functools

    import torch

    m = load(built, "native")
    x, b = torch.randn(2, 3), torch.randn(3)
    want = m.shift.__wrapped__(x, b)
    for got in (m.shift(x, b), m.shift(x, b=b), m.shift(b=b, x=x), m.shift(*(x, b)), m.shift(**{"x": x, "b": b}), functools.partial(m.shift, b=b)(x),
                list(map(m.shift, [x], [b]))[0], (lambda *a, **k: m.shift(*a, **k))(x, b=b)):
        assert torch.equal(got, want)
    y = torch.randn(2, 3)
    assert torch.equal(m.kinds(x, y=y), x + y) and torch.equal(m.kinds(x, 2, y=y), x + y + y) and torch.equal(m.kinds(x, n=0, y=y), x)
    assert m.shift.body in BODIES


def test_defaults_follow_the_function(built: Any) -> None:
    import torch

    m = load(built, "native")
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    assert torch.equal(m.kinds(x, y=y), x + y)
    m.kinds.__defaults__ = (2,)
    assert torch.equal(m.kinds(x, y=y), x + y + y)
    m.kinds.__kwdefaults__ = {"y": y}
    assert torch.equal(m.kinds(x), x + y + y)
    m.kinds.__defaults__ = None
    with pytest.raises(TypeError):
        m.kinds.__wrapped__(x)
    with pytest.raises(TypeError):
        m.kinds(x)


def test_arguments_are_not_kept(built: Any) -> None:
    import gc
    import sys
    import weakref

    import torch

    m = load(built, "native")
    x, b = torch.randn(2, 3), torch.randn(3)
    m.shift(x, b)
    before = sys.getrefcount(x), sys.getrefcount(b)
    for _ in range(100):
        m.shift(x, b)
        with pytest.raises(RuntimeError):
            m.product(x, x)
    assert (sys.getrefcount(x), sys.getrefcount(b)) == before
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("mode", ["native", "auto"])
def test_a_failing_result_prints_nothing(built: dict[str, Project], mode: str) -> None:
    """torch's shim prints a C++ backtrace for what it refuses, like a tensor of this size."""
    code = "import torch, calls_python as m\ntry:\n    m.total(torch.empty(2**62, 0))\nexcept RuntimeError as e:\n    print('Storage size' in str(e))"
    done = built["python"].python(code, mode=mode)
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.parametrize("mode", ["native", "auto", "compare"])
@pytest.mark.parametrize("level", ["", "1", "2"])
def test_assert_under_optimize(tmp_path: Path, mode: str, level: str) -> None:
    """python -O runs no assert statement, nor what it would have read."""
    source = '''
        def positive(n: int) -> int:
            assert n > 0, "no"
            return n


        def bound(n: int) -> int:
            if n > 1:
                z = 1
            assert z == 1
            return z + n


        def divides(n: int) -> int:
            assert 6 / n > 0
            return n

        '''
    code = """
        import m
        def answer(f, n):
            try:
                return f(n)
            except Exception as e:
                return type(e).__name__, str(e)
        for f in (m.positive, m.bound, m.divides):
            for n in (-1, 0, 1, 2):
                got, want = answer(f, n), answer(f.__wrapped__, n)
                print(got == want, f.body in ("exact", "python"))
        """
    out = Project(tmp_path, {"m.py": source}).build().run(code, mode=mode, env=environment(PYTHONOPTIMIZE=level))
    assert set(out.splitlines()) == {"True True"} and len(out.splitlines()) == 12
