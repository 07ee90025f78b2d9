"""Random programs: expressions and loops of numbers against Python, chains of tensor operations against eager."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from programs import Chain, Numbers, Rows, rows_arguments
from workbench import BODIES, HEAD, Project, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

N_NUMBERS, N_CHAINS, N_ROWS = 60, 60, 30


@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    numbers = "\n".join(Numbers(seed).function(f"f{seed}") for seed in range(N_NUMBERS))
    chains = HEAD + "\n" + "\n".join(Chain(seed).function(f"g{seed}") for seed in range(N_CHAINS))
    rows = HEAD + "\n" + "\n".join(Rows(seed).function(f"h{seed}") for seed in range(N_ROWS))
    return Project(module_folder, {"numbers_.py": numbers, "chains.py": chains, "rows.py": rows}).build()


def outcome(f: Any, *args: Any) -> Any:
    try:
        r = f(*args)
    except Exception as e:
        return type(e).__name__
    return type(r).__name__, r if r == r else "nan"


def test_most_programs_are_native(built: Project) -> None:
    """The property tests would mean little if the compiler refused what they write."""
    for module, letter, n in (("numbers_", "f", N_NUMBERS), ("chains", "g", N_CHAINS), ("rows", "h", N_ROWS)):
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


def test_rows(built: Project) -> None:
    """Batches large enough for several blocks."""
    import tensors
    import torch
    from compare import difference, value

    m = built.load("rows")
    r = random.Random(7)
    for i in range(N_ROWS):
        f = getattr(m, f"h{i}")
        if not hasattr(f, "native_status"):
            continue
        for turn in range(3):
            torch.set_num_threads(1 + turn % 2)
            tensors.seed(f"{i} {turn}")
            args = rows_arguments(r, tensors)
            wrong = difference(value(f.__wrapped__(*args)), value(f(*args)))
            assert wrong is None, f"{f.__name__}, {tuple(args[0].shape)}, {args[0].stride()}, {args[3]}: {wrong}"
            assert f.body in BODIES
