"""The process that makes the calls of `run` blocks: reads one JSON job a line, writes one JSON answer a line.

    job     {"source": path, "module": "cases.torch.relu", "lane": "torch", "calls": [[text, native_raises | null], ...],
             "exact": names of the functions whose recipes have to be admitted, and to run}
    answer  {"call": n} before each call, so that the parent knows which one ended the process;
            {"done": [[call text, what is wrong], ...], "made": number of native calls}

Started with the build tree on sys.path and the mode in TENSORC_MODE. Each call is made on fresh, equal arguments by the eager
original (the case file itself, imported on its own) and by the built module, at 1 and 2 torch threads (the modes that may run
Python: at 2, but for `make slow`). The builders make torch tensors; for TensorFlow these become EagerTensors.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import os
import sys
import warnings
from typing import Any

import tensors
import torch
from compare import difference, value
from workbench import BODIES, SLOW

warnings.simplefilter("ignore")
NATIVE = os.environ.get("TENSORC_MODE") == "native"
COMPARE = os.environ.get("TENSORC_MODE") == "compare"
THREADS = (1, 2) if NATIVE or SLOW else (2,)
LANE = "torch"  # of the case at hand
_entered: list[str] = []


def _watch(frame: Any, event: str, arg: Any) -> None:
    if event == "call":
        _entered.append(f"{frame.f_code.co_name} ({os.path.basename(frame.f_code.co_filename)})")


def of_lane(argument: Any) -> Any:
    """A builder's tensor, as the case's framework has it."""
    if LANE == "torch" or not isinstance(argument, torch.Tensor):
        return argument
    import tensorflow as tf

    return tf.constant(argument.detach().numpy())


def evaluate(call: ast.Call, names: dict[str, Any], text: str) -> tuple[Any, list[Any], dict[str, Any]]:
    tensors.seed(text)
    run = lambda node: eval(compile(ast.Expression(node), "<case>", "eval"), names)  # noqa: E731
    args: list[Any] = []
    for a in call.args:
        if isinstance(a, ast.Starred):
            args += run(a.value)
        else:
            args.append(run(a))
    kwargs: dict[str, Any] = {}
    for k in call.keywords:
        kwargs.update({k.arg: run(k.value)} if k.arg else run(k.value))
    return run(call.func), args, kwargs


def unfold(call: ast.Call, names: dict[str, Any], text: str) -> list[tuple[Any, list[Any], dict[str, Any]]]:
    """The calls that one expression stands for (see tensors.Choices)."""
    function, args, kwargs = evaluate(call, names, text)
    lists = [a for a in [*args, *kwargs.values()] if isinstance(a, tensors.Choices)]
    if not lists:
        return [(function, [of_lane(a) for a in args], {k: of_lane(a) for k, a in kwargs.items()})]
    out = []
    for shift in (0, 5) if len(lists) > 1 else (0,):
        for i in range(max(map(len, lists))):
            seen = 0

            def pick(a: Any) -> Any:
                nonlocal seen
                if not isinstance(a, tensors.Choices):
                    return a
                seen += 1
                return a[(i + shift * (seen - 1)) % len(a)]

            out.append((function, [of_lane(pick(a)) for a in args], {k: of_lane(pick(a)) for k, a in kwargs.items()}))
    return out


def picture(call: Any, args: list[Any], kwargs: dict[str, Any], watched: bool) -> tuple[Any, list[str]]:
    every = [*args, *kwargs.values()]
    error = result = None
    _entered.clear()
    if watched:
        sys.setprofile(_watch)
    try:
        result = call(*args, **kwargs)
    except BaseException as e:  # whatever it is, eager must raise the same
        error = e
    finally:
        sys.setprofile(None)
    entered = list(_entered)
    if error is not None:
        outcome: Any = ("raises", type(error).__name__)
    else:
        same = next((i for i, a in enumerate(every) if a is result and hasattr(a, "shape")), None)
        outcome = (value(result), same, bool(getattr(result, "requires_grad", False)),
                   result.is_inference() if isinstance(result, torch.Tensor) else False)
    return (outcome, [value(a) for a in every]), entered


def compare(want: Any, got: Any) -> str | None:
    (a, args_a), (b, args_b) = want, got
    if a[0] == "raises" or b[0] == "raises":
        if a != b:
            return f"{' '.join(b) if b[0] == 'raises' else 'gives a value'}, eager {' '.join(a) if a[0] == 'raises' else 'gives a value'}"
    else:
        d = difference(a[0], b[0])
        if d:
            return d
        for name, x, y in zip(("is argument", "requires_grad", "is_inference"), a[1:], b[1:]):
            if x != y:
                return f"{name}: {y}, eager has {x}"
    for i, (x, y) in enumerate(zip(args_a, args_b)):
        if x != y:
            return f"argument {i} afterwards: {difference(x, y)}"
    return None


def shapes(args: list[Any]) -> str:
    return ", ".join(f"{tuple(a.shape)}/{tuple(a.stride())}" if isinstance(a, torch.Tensor) and a.layout is torch.strided
                     else str(tuple(a.shape)) if hasattr(a, "shape") else repr(a)[:40]
                     for a in args)


def must_be_native(function: Any, args: list[Any]) -> bool:
    """Also where Python may answer: a compiled function that is given nothing but tensors of its ranks."""
    return not NATIVE and hasattr(function, "native_status") and all(getattr(a, "shape", ()) for a in args)


def one(text: str, native_raises: str | None, eager: dict[str, Any], built: dict[str, Any]) -> tuple[list[str], int]:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    n_calls, faults = len(unfold(node, eager, text)), []
    made = 0
    for threads in THREADS if LANE == "torch" else (1,):
        torch.set_num_threads(threads)
        wanted, gotten, warm = unfold(node, eager, text), unfold(node, built, text), unfold(node, built, text)
        if threads == THREADS[0]:  # the first call may import and look things up in Python
            f, args, kwargs = warm[0]
            picture(f, args, kwargs, False)
        for i in range(n_calls):
            f, args, kwargs = wanted[i]
            want, _ = picture(f, args, kwargs, False)
            g, args, kwargs = gotten[i]
            where = f"({shapes([*args, *kwargs.values()])}) at {threads} thread{'s' * (threads > 1)}"
            compiled = NATIVE and hasattr(g, "native_status")
            got, entered = picture(g, args, kwargs, compiled)
            if NATIVE and native_raises:
                if got[0] != ("raises", native_raises):
                    faults.append(f"{where}: expected {native_raises}, got {got[0]!r:.120}")
                continue
            wrong = compare(want, got)
            if wrong and COMPARE and native_raises and got[0] == ("raises", "RuntimeError"):
                continue  # where only the native body raises, this mode says so
            if wrong:
                faults.append(f"{where}: {wrong}")
            elif must_be_native(g, [*args, *kwargs.values()]) and not native_raises and got[0][0] != "raises" and g.body not in BODIES:
                faults.append(f"{where}: only Python ran")
            elif compiled:
                made += 1
                if entered:
                    faults.append(f"{where}: ran Python: {entered[:3]}")
                elif got[0][0] != "raises" and g.body not in BODIES:
                    faults.append(f"{where}: .body is {g.body!r}")
            if len(faults) > 3:
                return faults, made
    return faults, made


def main() -> None:
    say = lambda answer: print(json.dumps(answer), flush=True)  # noqa: E731
    global LANE
    for line in sys.stdin:
        job = json.loads(line)
        LANE = job["lane"]
        faults: list[list[str]] = []
        made = 0
        try:
            spec = importlib.util.spec_from_file_location("eager_" + job["module"].replace(".", "_"), job["source"])
            assert spec and spec.loader
            original = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = original
            spec.loader.exec_module(original)
            built = importlib.import_module(job["module"])
            if os.path.samefile(built.__file__ or "", job["source"]):
                raise RuntimeError("the built module is the source itself")
        except Exception as e:
            say({"done": [["import", f"{type(e).__name__}: {e}"]], "made": 0})
            continue
        names = dict(tensors.NAMES, torch=torch, m=None)
        before = {name: getattr(built, name).stats() for name in job["exact"]}
        for n, (text, native_raises) in enumerate(job["calls"]):
            say({"call": n})
            try:
                wrong, k = one(text, native_raises, {**vars(original), **names}, {**vars(built), **names})
            except Exception as e:  # the case itself is wrong
                wrong, k = [f"{type(e).__name__}: {e}"], 0
            made += k
            faults += [[text, w] for w in wrong]
        for name, old in before.items():
            stats = getattr(built, name).stats()
            if stats["not_admitted"]:
                faults.append([name, f"not admitted: {stats['not_admitted']}"])
            elif stats["exact"] == old["exact"] and stats["library"] > old["library"]:
                faults.append([name, "no call ran recipes"])
        say({"done": faults, "made": made})


if __name__ == "__main__":
    main()
