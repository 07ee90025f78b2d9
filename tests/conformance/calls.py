"""Calls native functions of the conformance project on random arguments and compares each call with the Python original.

Argument: torch or tensorflow. Standard input: {function: module}. Standard output, last line: {"bad": [[function, why], …],
"runs", "values", "bodies"}. Started with the build tree on sys.path and TENSORC_MODE=native.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from typing import Any

import numpy as np

LANE = sys.argv[1]
if LANE == "torch":
    import torch

    torch.set_grad_enabled(False)
    make = torch.from_numpy
    TENSOR_ERRORS: tuple[type[Exception], ...] = (RuntimeError, IndexError)
else:
    import tensorflow as tf

    make = tf.constant
    TENSOR_ERRORS = (RuntimeError, tf.errors.OpError)
BODIES = ("library", "exact", "fast")
TENSOR_ERROR = ("tensor error",)
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, 1.0, -1.0], "f4")
SIZES = [1, 2, 3, 5, 8, 16, 17, 31, 33, 64, 100]


def layout(a: np.ndarray, rng: np.random.Generator) -> Any:
    """The same values contiguous; torch's also as a transposed view, a strided slice, an offset view, or one row expanded."""
    t = make(a)
    if LANE != "torch" or not a.size:
        return t
    how = rng.integers(0, 8)
    if how == 1 and a.ndim == 2:
        return make(np.ascontiguousarray(a.T)).t()
    if how == 2:
        return make(np.ascontiguousarray(np.repeat(a, 2, axis=-1)))[..., ::2]
    if how == 3:
        return make(np.concatenate([a[:1], a]))[1:]
    if how == 4 and a.ndim == 2:
        return make(a[:1].copy()).expand(*a.shape)
    return t


def tensor(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    if kind.startswith("TensorI64"):
        return layout(rng.integers(0, 9, shape), rng)
    a = rng.standard_normal(shape).astype("f4") * rng.choice([1, 1, 30])
    if rng.random() < 0.3:
        a = np.where(rng.random(shape) < 0.2, SPECIAL[rng.integers(0, len(SPECIAL), shape)], a)
    return layout(a.astype("f4"), rng)


def kind_of(p: inspect.Parameter) -> str:
    return getattr(p.annotation, "__name__", str(p.annotation)).strip("'\"").split(".")[-1]


def arguments(params: list[inspect.Parameter], rng: np.random.Generator, dims: list[int]) -> list[Any]:
    scalars = {"int": lambda: int(rng.integers(0, 6)), "bool": lambda: bool(rng.integers(0, 2)), "float": lambda: float(rng.standard_normal())}
    out: list[Any] = []
    for p in params:
        kind = kind_of(p)
        if kind in scalars:
            out.append(scalars[kind]())
        else:
            rank = 2 if kind.endswith("2D") else 1
            out.append(tensor(kind, tuple(int(d) for d in rng.choice(dims, rank)), rng))
    return out


def clone(args: list[Any]) -> list[Any]:
    return [a.detach().as_strided(a.shape, a.stride(), a.storage_offset()).clone(memory_format=torch.preserve_format)
            if LANE == "torch" and isinstance(a, torch.Tensor) and 0 not in a.stride() else a for a in args]


def value(r: Any) -> Any:
    if hasattr(r, "numpy"):
        a = r.numpy()
        if a.dtype.kind == "f":
            a = np.where(np.isnan(a), np.float32(np.nan), a)
        return (str(a.dtype), a.shape, a.tobytes())
    if isinstance(r, (tuple, list)):
        return tuple(map(value, r))
    return (type(r).__name__, repr(r))


def outcome(f: Any, args: list[Any]) -> Any:
    """(result or error, the arguments afterwards: an in-place form must do what eager does)"""
    try:
        r: Any = value(f(*args))
    except TENSOR_ERRORS as e:
        r = TENSOR_ERROR if not isinstance(e, NotImplementedError) else ("raises", type(e).__name__)
    except Exception as e:  # noqa: BLE001
        r = ("raises", type(e).__name__)
    return r, [value(a) for a in args]


def main() -> None:
    entered: list[str] = []

    def watch(frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            entered.append(frame.f_code.co_name)

    def native(f: Any, args: list[Any]) -> tuple[Any, list[str]]:
        entered.clear()
        result = error = None
        sys.setprofile(watch)
        try:
            result = f(*args)
        except Exception as e:  # noqa: BLE001
            error = e
        finally:
            sys.setprofile(None)
        ran = list(entered)
        if error is None:
            r: Any = value(result)
        elif isinstance(error, TENSOR_ERRORS) and not isinstance(error, NotImplementedError):
            r = TENSOR_ERROR
        else:
            r = ("raises", type(error).__name__)
        return (r, [value(a) for a in args]), ran

    bad: list[tuple[str, str]] = []
    runs = values = 0
    bodies: dict[str, int] = {}
    for name, module in json.load(sys.stdin).items():
        f = getattr(importlib.import_module(module), name)
        if not hasattr(f, "native_status"):
            bad.append((name, "no native callable in the build"))
            continue
        params = list(inspect.signature(f.__wrapped__).parameters.values())
        seen, first = 0, True
        for seed in range(60):
            if seen >= 6:
                break
            rng = np.random.default_rng([seed, sum(map(ord, name))])
            if seed % 3 == 0:
                dims = [int(rng.choice(SIZES))]
            elif seed % 3 == 1:
                dims = [int(d) for d in rng.choice(SIZES, 2)]
            else:
                dims = [0, int(rng.choice(SIZES)), 1]
            args = arguments(params, rng, dims)
            want = outcome(f.__wrapped__, clone(args))
            if want[0] == TENSOR_ERROR and seed > 3:
                continue  # sizes that do not fit: a few are enough, then look for sizes that do
            seen += want[0] != TENSOR_ERROR
            if first:  # the first use may import and look things up in Python
                first = False
                outcome(f, clone(args))
            got, ran = native(f, clone(args))
            runs += 1
            if ran:
                bad.append((name, f"ran Python in native mode: {ran[:3]}"))
                break
            if want[0] != TENSOR_ERROR:
                values += 1
                body = getattr(f, "body", None)
                bodies[str(body)] = bodies.get(str(body), 0) + 1
                if body not in BODIES:
                    bad.append((name, f".body is {body!r}"))
                    break
            if got != want:
                shapes = [tuple(getattr(a, "shape", ())) for a in args]
                bad.append((name, f"seed {seed}: differs from eager, shapes {shapes}: {str(got[0])[:80]}, eager {str(want[0])[:80]}"))
                break
        else:
            if not seen:
                bad.append((name, "no sizes found for which eager gives a value"))
    print(json.dumps({"bad": bad, "runs": runs, "values": values, "bodies": bodies}))


if __name__ == "__main__":
    main()
