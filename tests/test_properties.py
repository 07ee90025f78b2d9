"""Random programs: expressions and loops of numbers against Python, chains of tensor operations against eager."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from workbench import BODIES, HEAD, Project, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

N_NUMBERS, N_CHAINS = 60, 60


# ── writing programs ─────────────────────────────────────────────────────────────────────────────────────────────────


class Numbers:
    """A random function of numbers: assignments, branches and loops over int, float and bool variables."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def int_(self, depth: int, names: list[str]) -> str:
        r = self.random
        k = r.randrange(10 if depth else 3)
        if k == 0:
            return r.choice(["0", "1", "2", "3", "7", "-1", "-2", "-5", "1000", "4611686018427387904", "2147483648"])
        if k in (1, 2):
            return r.choice(names)
        a, b = self.int_(depth - 1, names), self.int_(depth - 1, names)
        if k <= 6:
            return f"({a} {r.choice(['+', '-', '*', '//', '%'])} {b})"
        if k == 7:
            return f"(-{a})"
        if k == 8:
            return f"({a} if {self.bool_(depth - 1, names)} else {b})"
        return f"({a} ** {r.randrange(4)})"

    def float_(self, depth: int, names: list[str], floats: list[str]) -> str:
        r = self.random
        k = r.randrange(7 if depth else 2)
        if k == 0:
            return r.choice(["0.5", "-1.5", "0.1", "1e300", "3.0", "0.0"])
        if k == 1:
            return r.choice(floats)
        a = self.float_(depth - 1, names, floats)
        b = self.float_(depth - 1, names, floats) if r.random() < 0.7 else self.int_(depth - 1, names)
        if k == 2:
            return f"({self.int_(depth - 1, names)} / {self.int_(depth - 1, names)})"
        if k == 3:
            return f"(-{a})"
        return f"({a} {r.choice(['+', '-', '*', '/', '//', '%'])} {b})"

    def bool_(self, depth: int, names: list[str]) -> str:
        r = self.random
        k = r.randrange(6 if depth > 0 else 2)
        a, b = self.int_(max(0, depth - 1), names), self.int_(max(0, depth - 1), names)
        op = r.choice(["<", "<=", "==", "!=", ">", ">="])
        if k <= 1:
            return f"({a} {op} {b})"
        if k == 2:
            return f"(not {self.bool_(depth - 1, names)})"
        if k == 3:
            return f"({a} {op} {b} {r.choice(['<', '>=', '!='])} {self.int_(depth - 1, names)})"
        return f"({self.bool_(depth - 1, names)} {r.choice(['and', 'or'])} {self.bool_(depth - 1, names)})"

    def block(self, depth: int, indent: str, names: list[str]) -> list[str]:
        r, out = self.random, []
        for _ in range(r.randrange(1, 4)):
            k = r.randrange(8 if depth else 4)
            target = r.choice(["a", "b", "k", "m"])
            if k <= 2:
                out.append(f"{indent}{target} = {self.int_(2, names)}")
            elif k == 3:
                out.append(f"{indent}{target} {r.choice(['+=', '-=', '*=', '//=', '%='])} {self.int_(1, names)}")
            elif k == 4:
                out += [f"{indent}if {self.bool_(2, names)}:", *self.block(depth - 1, indent + "    ", names)]
                if r.random() < 0.6:
                    out += [f"{indent}else:", *self.block(depth - 1, indent + "    ", names)]
            elif k == 5:
                out += [f"{indent}for i in range({self.int_(1, names)} % 5, {self.int_(1, names)} % 7, {r.choice(['1', '2', '-1', '-3'])}):", *self.block(depth - 1, indent + "    ", names + ["i"])]
            elif k == 6:
                out += [f"{indent}w = 0", f"{indent}while w < {r.randrange(1, 5)}:", f"{indent}    w += 1", *self.block(depth - 1, indent + "    ", names)]
                out += [f"{indent}    if {self.bool_(1, names)}:", f"{indent}        {r.choice(['break', 'continue'])}"]
            else:
                out.append(f"{indent}{target}, b = b, {self.int_(1, names)}")
        return out

    def function(self, name: str) -> str:
        names = ["a", "b", "k"]
        body = ["    k = 1", "    m = 0", *self.block(3, "    ", names)]
        kind = self.random.randrange(3)
        if kind == 0:
            return f"def {name}(a: int, b: int, v: float) -> int:\n" + "\n".join([*body, f"    return {self.int_(3, names + ['m'])}"]) + "\n\n"
        if kind == 1:
            return f"def {name}(a: int, b: int, v: float) -> float:\n" + "\n".join([*body, f"    return {self.float_(3, names, ['v'])} + 0.0"]) + "\n\n"
        return f"def {name}(a: int, b: int, v: float) -> bool:\n" + "\n".join([*body, f"    return {self.bool_(3, names)}"]) + "\n\n"


class Chain:
    """A random function of two matrices (n×n) and a row (n)."""

    UNARY = ["{}.relu()", "{}.sigmoid()", "{}.tanh()", "torch.abs({})", "{}.neg()", "torch.square({})", "{}.exp()", "{}.log()", "torch.sqrt({})", "F.gelu({})", "F.relu({})"]

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def matrix(self, depth: int, names: list[str]) -> str:
        r = self.random
        k = r.randrange(9 if depth else 1)
        if k == 0:
            return r.choice(names)
        if k <= 3:
            return r.choice(self.UNARY).format(self.matrix(depth - 1, names) if r.random() < 0.6 else r.choice(names))
        if k == 4:
            return f"({self.matrix(depth - 1, names)} @ {self.matrix(depth - 1, names)})"
        if k == 5:
            return f"F.linear({self.matrix(depth - 1, names)}, {r.choice(names)}, {self.row(depth - 1, names)})"
        if k == 6:
            return f"({self.matrix(depth - 1, names)}).softmax(dim={r.randrange(2)})"
        if k == 7:
            other = self.row(depth - 1, names) if r.random() < 0.5 else self.matrix(depth - 1, names)
            return f"({self.matrix(depth - 1, names)} {r.choice(['+', '-', '*', '/'])} {other})"
        return f"({self.row(depth - 1, names)} {r.choice(['+', '-', '*', '/'])} {self.matrix(depth - 1, names)})"

    def row(self, depth: int, names: list[str]) -> str:
        r = self.random
        k = r.randrange(6 if depth > 0 else 1)
        if k == 0:
            return "v"
        if k == 1:
            return f"({self.matrix(depth - 1, names)}).{r.choice(['mean', 'sum'])}(dim={r.randrange(2)})"
        if k == 2:
            return f"({self.matrix(depth - 1, names)} @ {self.row(depth - 1, names)})"
        if k == 3:
            return f"torch.matmul({self.row(depth - 1, names)}, {self.matrix(depth - 1, names)})"
        if k == 4:
            return f"({self.row(depth - 1, names)} {r.choice(['+', '-', '*', '/'])} {self.row(depth - 1, names)})"
        return r.choice(self.UNARY).format(self.row(depth - 1, names))

    def function(self, name: str) -> str:
        r, names, out = self.random, ["x", "y"], []
        for i in range(r.randrange(1, 4)):
            out.append(f"    h{i} = {self.matrix(2, names)}")
            names.append(f"h{i}")
        if r.random() < 0.6:
            target = r.choice(names)
            out += ["    for i in range(n):", "        if i % 2 == 0:", f"            {target} = {self.matrix(2, names)}", "        else:", f"            {target} = {self.matrix(1, names)}"]
        if r.random() < 0.3:
            a, b = r.choice(names), r.choice(names)
            out.append(f"    {a}, {b} = {b}, {a}")
        kind = r.randrange(3)
        head = f"def {name}(x: TensorF32Cpu2D, y: TensorF32Cpu2D, v: TensorF32Cpu1D, n: int) -> "
        last = {0: ("TensorF32Cpu2D", self.matrix(2, names)), 1: ("TensorF32Cpu1D", f"({self.matrix(2, names)}).mean(dim=1)"), 2: ("TensorI64Cpu1D", f"({self.matrix(2, names)}).argmax(dim=1)")}[kind]
        return head + last[0] + ":\n" + "\n".join(out) + f"\n    return {last[1]}\n\n"


@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    numbers = "\n".join(Numbers(seed).function(f"f{seed}") for seed in range(N_NUMBERS))
    chains = HEAD + "\n" + "\n".join(Chain(seed).function(f"g{seed}") for seed in range(N_CHAINS))
    return Project(module_folder, {"numbers_.py": numbers, "chains.py": chains}).build()


def outcome(f: Any, *args: Any) -> Any:
    try:
        r = f(*args)
    except Exception as e:
        return type(e).__name__
    return type(r).__name__, r if r == r else "nan"


def test_most_programs_are_native(built: Project) -> None:
    """The property tests would mean little if the compiler refused what they write."""
    for module, letter, n in (("numbers_", "f", N_NUMBERS), ("chains", "g", N_CHAINS)):
        m = built.load(module)
        native = sum(hasattr(getattr(m, f"{letter}{i}"), "native_status") for i in range(n))
        assert native > 0.8 * n, f"{module}: {native} of {n}"


def in_64_bits(r: Any) -> bool:
    return not (isinstance(r, tuple) and r[0] == "int" and not -(2**63) <= r[1] < 2**63)


def test_numbers(built: Project) -> None:
    import tensorc
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    m = built.load("numbers_")
    functions = [getattr(m, f"f{i}") for i in range(N_NUMBERS)]
    functions = [f for f in functions if hasattr(f, "native_status")]
    seen = {"equal": 0, "overflow": 0, "raises": 0}
    small = st.integers(-10, 10)
    ints = st.one_of(small, small, st.integers(-(2**63), 2**63 - 1), st.sampled_from([2**62, -(2**63), 2**63 - 1, 2**53 + 1]))

    @settings(max_examples=1500, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(functions), ints, ints, st.floats(allow_subnormal=True))
    def agree(f: Any, a: int, b: int, v: float) -> None:
        want, got = outcome(f.__wrapped__, a, b, v), outcome(f, a, b, v)
        if got == "OverflowError" and want != got:
            seen["overflow"] += 1  # some step left 64 bits; Python goes on, and auto gives its answer
            with tensorc.mode("auto"):
                assert outcome(f, a, b, v) == want
            return
        assert got == want and str(got) == str(want), (f.__name__, a, b, v)
        seen["raises" if isinstance(want, str) else "equal"] += 1

    agree()
    assert seen["equal"] > 500 and seen["overflow"] > 20 and seen["raises"] > 20, seen


def test_chains(built: Project) -> None:
    import tensors
    import torch
    from compare import difference, value

    m = built.load("chains")
    r = random.Random(5)
    values = 0
    for i in range(N_CHAINS):
        f = getattr(m, f"g{i}")
        if not hasattr(f, "native_status"):
            continue
        for turn in range(8):
            torch.set_num_threads(1 + turn % 2)
            tensors.seed(f"{i} {turn}")
            n = r.choice([1, 2, 3, 5, 16, 17, 33])
            layouts = [lambda t: t, tensors.transposed, tensors.strided, tensors.offset]
            x, y = (r.choice(layouts)(tensors.rand(n, n) if r.random() < 0.7 else tensors.specials(n, n)) for _ in range(2))
            v = r.choice([lambda t: t, tensors.strided, tensors.offset])(tensors.rand(n))
            args = (x, y, v, r.randrange(4))
            before = [value(a) for a in args]
            want, got = f.__wrapped__(*args), f(*args)
            wrong = difference(value(want), value(got))
            assert wrong is None, f"{f.__name__}, {n}×{n}, {[a.stride() for a in args[:3]]}, {args[3]}: {wrong}"
            assert f.body in BODIES and [value(a) for a in args] == before
            values += 1
    assert values > 300
