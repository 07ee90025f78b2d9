"""The process behind test_tensorflow.py: makes a call in each state of TensorFlow, beside eager, and prints what it found.

"answer": the body that ran, or the name of the exception. "same": the value, gradients and effects are eager's; of an
exception, that it is one that mode native may raise.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import m  # type: ignore[import-not-found]
import numpy as np
import tensorflow as tf
import twin  # type: ignore[import-not-found]
from tensorc import bench
from tensorflow.python.eager import context
from tensorflow.python.framework import op_callbacks
from workbench import difference_of_arrays

warnings.simplefilter("ignore")
X = tf.constant(np.random.default_rng(1).standard_normal((5, 9)).astype("f4"))
B = tf.constant(np.random.default_rng(2).standard_normal(9).astype("f4"))
states: dict[str, dict[str, Any]] = {}
facts: dict[str, Any] = {}


def picture(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return [picture(r) for r in result]
    return result.numpy() if hasattr(result, "numpy") else result


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(equal, a, b))
    return difference_of_arrays(a, b) is None if isinstance(a, np.ndarray) else bool(a == b)


def state(name: str) -> Callable[[Callable[[Any], Any]], None]:
    """Runs a scenario with the compiled m.act and with its original; each gives what has to agree."""

    def look(scenario: Callable[[Any], Any]) -> None:
        function = {"sizes that do not fit": m.product, "sizes beyond memory": m.total}.get(name, m.act)
        try:
            got = picture(scenario(function))
            answer = function.body
        except Exception as error:
            answer = type(error).__name__
            native = os.environ["TENSORC_MODE"] == "native"
            states[name] = {"answer": answer, "same": ("rextio-tensorflow: " in str(error)) == native, "text": str(error)[:200]}
            return
        states[name] = {"answer": answer, "same": equal(picture(scenario(function.__wrapped__)), got)}

    return look


m.act(X, B)  # what is looked up once is looked up


@state("plain")
def _(f: Any) -> Any:
    return f(X, B)


@state("keywords")
def _(f: Any) -> Any:
    return f(b=B, x=X)


@state("empty")
def _(f: Any) -> Any:
    return f(X[:0], B)


@state("tape that records nothing")
def _(f: Any) -> Any:
    with tf.GradientTape():
        return f(X, B)


@state("tape")
def _(f: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X, B)
    return y, tape.gradient(y, X)


@state("tape of another tensor")
def _(f: Any) -> Any:
    other = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(other)
        y = f(X, B)
        z = other * other
    return y, tape.gradient(z, other)


@state("tape that stopped recording")
def _(f: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(X)
        with tape.stop_recording():
            return f(X, B)


@state("persistent tape")
def _(f: Any) -> Any:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(B)
        y = f(X, B)
    return y, tape.gradient(y, B), tape.gradient(y, B)


@state("accumulator")
def _(f: Any) -> Any:
    with tf.autodiff.ForwardAccumulator(X, tf.ones_like(X)) as accumulator:
        y = f(X, B)
    return y, accumulator.jvp(y)


@state("tf.function")
def _(f: Any) -> Any:
    traced = tf.function(lambda x, b: f(x, b) * 2.0)
    return traced(X, B), [op.type for op in traced.get_concrete_function(X, B).graph.get_operations() if op.type in ("Tanh", "Exp")]


@state("tf.Graph")
def _(f: Any) -> Any:
    with tf.Graph().as_default() as graph:
        f(tf.constant([[1.0]]), tf.constant([1.0]))
    return [op.type for op in graph.get_operations()]


@state("tf.function, captured tensors")
def _(f: Any) -> Any:
    traced = tf.function(lambda: f(X, B))
    return traced(), [op.type for op in traced.get_concrete_function().graph.get_operations() if op.type in ("Tanh", "Exp")]


@state("device scope")
def _(f: Any) -> Any:
    with tf.device("CPU:0"):
        return f(X, B)


class Callback:
    """Sees each op that runs inside the block."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, op_type: Any, *rest: Any, **more: Any) -> None:
        self.seen.append(op_type.decode() if isinstance(op_type, bytes) else str(op_type))

    def __enter__(self) -> list[str]:
        op_callbacks.add_op_callback(self)
        return self.seen

    def __exit__(self, *error: Any) -> None:
        op_callbacks.remove_op_callback(self)


@state("op callback")
def _(f: Any) -> Any:
    with Callback() as seen:
        y = f(X, B)
    return y, seen


@state("asynchronous")
def _(f: Any) -> Any:
    with context.execution_mode(context.ASYNC):
        return f(X, B)


@state("variable")
def _(f: Any) -> Any:
    return f(tf.Variable(X), B)


@state("ndarray")
def _(f: Any) -> Any:
    return f(X.numpy(), B)


@state("list")
def _(f: Any) -> Any:
    return f([[1.0, 2.0]], tf.constant([1.0, 2.0]))


@state("other rank")
def _(f: Any) -> Any:
    return f(B, B)


@state("sizes beyond memory")
def _(f: Any) -> Any:
    return f(tf.zeros((2**62, 0)))


@state("sizes that do not fit")
def _(f: Any) -> Any:
    return f(X, X)


@state("other dtype")
def _(f: Any) -> Any:
    return f(X, tf.cast(B, tf.float64))


@state("behind all of them")
def _(f: Any) -> Any:
    return f(X, B)


# ── facts, in mode native ────────────────────────────────────────────────────────────────────────────────────────────


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grows_nothing(call: Callable[[], Any], turns: int) -> Any:
    for _ in range(turns // 10):
        call()
    objects, before = len(gc.get_objects()), resident_bytes()
    for _ in range(turns):
        call()
    grown, more = resident_bytes() - before, len(gc.get_objects()) - objects
    return (grown < 1 << 20 and more < 100) or f"{grown} bytes, {more} objects after {turns} calls"


MEGABYTE = tf.ones((256, 1024))


def fails(call: Callable[[], Any]) -> None:
    try:
        call()
    except RuntimeError:
        return
    raise AssertionError("sizes that do not fit were taken")


LARGE = tf.constant(np.random.default_rng(3).standard_normal((3000, 9)).astype("f4"))  # runs in blocks


def agree(x: Any) -> Any:
    want, wrong = m.act.__wrapped__(x, B).numpy(), []

    def work() -> None:
        for _ in range(300):
            if difference_of_arrays(want, m.act(x, B).numpy()):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return not wrong or f"{len(wrong)} calls differ"


def pool_threads() -> int:
    """Parked threads of ours in this process."""
    return sum(path.read_text() == "tensorc\n" for path in Path("/proc/self/task").glob("*/comm"))


def forked() -> Any:
    """A child has none of its parent's threads."""
    want = m.act.__wrapped__(LARGE, B).numpy()
    child = os.fork()
    if child == 0:
        right = difference_of_arrays(want, m.act(LARGE, B).numpy()) is None
        os._exit(0 if right and m.act.body == "exact" and pool_threads() == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


if os.environ["TENSORC_MODE"] == "native":
    facts["an argument is returned itself"] = m.same(X) is X
    facts["threads agree"] = agree(X)
    helpers = min(len(os.sched_getaffinity(0)) - 1, 2)  # LARGE makes 7 blocks, and 2 are the least for a thread
    before = pool_threads()
    facts["blocks run on the pool"] = agree(LARGE) and m.act.body == "exact" and (before, pool_threads()) == (0, helpers)
    facts["modules share the pool"] = twin.act(LARGE, B) is not None and pool_threads() == helpers
    facts["a forked child works alone"] = forked()
    facts["calls grow nothing"] = grows_nothing(lambda: m.act(X, B), 100_000)
    facts["failing calls grow nothing"] = grows_nothing(lambda: fails(lambda: m.product(X, X)), 100_000)
    # Each of its two tensors has a megabyte: one that is left behind shows at once.
    facts["a call that fails late drops what it made"] = grows_nothing(lambda: fails(lambda: m.fails_late(MEGABYTE, B)), 500)
    facts["torch stays out"] = "torch" not in sys.modules
    one = np.ones(3000, "f4")
    for name, at, other in (("bench sees one bit", 0, np.nextafter(np.float32(1), np.float32(2))),
                            ("bench sees an element in the middle", 1500, np.float32(7))):
        changed = one.copy()
        changed[at] = other
        facts[name] = bench.same(tf.constant(one), tf.constant(one)) and not bench.same(tf.constant(one), tf.constant(changed))
print(json.dumps({"states": states, "facts": facts}))
