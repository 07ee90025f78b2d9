"""The TensorFlow lane as a user meets it: each state that a call can be in.

TensorFlow starts slowly and can't be forked, so one process per mode does everything, and a test asks what it found.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from workbench import Project, environment

pytestmark = pytest.mark.skipif(not find_spec("tensorflow"), reason="tensorflow is not installed")

SOURCE = """\
import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def act(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.tanh(tf.exp(x) + b)


def product(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(a, b)


def fails_late(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.tanh(tf.exp(x)) + b


def total(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=1)


def same(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x

"""


@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    return Project(module_folder, {"m.py": SOURCE, "twin.py": SOURCE}).build()


# ── states ───────────────────────────────────────────────────────────────────────────────────────────────────────────

NATIVE = ("exact", "exact")
# What answers in mode auto, and in mode native: a body, or what it raises.
STATES = {
    "plain": NATIVE,
    "keywords": NATIVE,
    "empty": NATIVE,
    "tape that records nothing": NATIVE,
    "tape": ("python", "RuntimeError"),
    "tape of another tensor": NATIVE,
    "tape that stopped recording": NATIVE,
    "persistent tape": ("python", "RuntimeError"),
    "accumulator": ("python", "RuntimeError"),
    # AutoGraph converts the source, so nothing of ours is called: the body is still that of the call before.
    "tf.function": ("python", "exact"),
    "tf.Graph": ("python", "TypeError"),
    "tf.function, captured tensors": ("python", "exact"),
    "device scope": ("python", "RuntimeError"),
    "op callback": ("python", "RuntimeError"),
    "asynchronous": ("python", "RuntimeError"),
    "variable": ("python", "TypeError"),
    "ndarray": ("python", "TypeError"),
    "list": ("python", "TypeError"),
    "other rank": ("python", "ValueError"),
    "sizes beyond memory": ("ResourceExhaustedError", "RuntimeError"),
    "sizes that do not fit": ("InvalidArgumentError", "RuntimeError"),
    "other dtype": ("InvalidArgumentError", "ValueError"),
    "behind all of them": NATIVE,
}


@pytest.fixture(scope="module")
def states(built: Project) -> dict[str, dict[str, Any]]:
    return {mode: built.script("tf_states.py", mode=mode) for mode in ("auto", "native")}


@pytest.mark.parametrize("mode", ["auto", "native"])
@pytest.mark.parametrize("state", STATES)
def test_state(states: dict[str, dict[str, Any]], state: str, mode: str) -> None:
    found = states[mode]["states"][state]
    assert found["answer"] == STATES[state][mode == "native"], found
    assert found["same"], found


@pytest.mark.parametrize("mode", ["auto", "native"])
def test_every_state_was_looked_at(states: dict[str, dict[str, Any]], mode: str) -> None:
    assert set(states[mode]["states"]) == set(STATES)


@pytest.mark.parametrize("fact", ["an argument is returned itself", "torch stays out", "threads agree", "blocks run on the pool", "modules share the pool",
                                  "a forked child works alone", "calls grow nothing",
                                  "failing calls grow nothing", "a call that fails late drops what it made", "bench sees one bit", "bench sees an element in the middle"])
def test_fact(states: dict[str, dict[str, Any]], fact: str) -> None:
    if "pool" in fact and len(os.sched_getaffinity(0)) == 1:
        pytest.skip("one CPU: there are no threads beside the caller's")
    assert states["native"]["facts"][fact] is True, states["native"]["facts"][fact]


@pytest.mark.parametrize("mode", ["auto", "native"])
def test_tensors_from_elsewhere(built: Project, mode: str) -> None:
    native = mode == "native"
    assert built.script("tf_devices.py", mode=mode) == {
        "here": "exact",
        "on CPU:1": "ValueError: rextio-tensorflow: expected a CPU tensor (parameter 'x' of act())" if native else "python",
        "of a context that is gone": "RuntimeError: rextio-tensorflow: the tensor belongs to another eager context "
        "(parameter 'x' of act())" if native else "python",
        "of the new context": "exact",
    }


THREADS = """
import os
one = {min(os.sched_getaffinity(0))}
early = %r
if early:
    os.sched_setaffinity(0, one)
import numpy as np, tensorflow as tf, m
x = tf.constant(np.random.default_rng(1).standard_normal((1, 500_001)).astype("f4"))
want = tf.reduce_sum(x, axis=1).numpy()
os.sched_setaffinity(0, one)
print(m.total(x).numpy().tobytes() == want.tobytes())
"""


@pytest.mark.parametrize("early, variables", [(True, {"TF_NUM_INTRAOP_THREADS": "4"}), (False, {}), (True, {})], ids=["variable", "late", "early"])
def test_threads_are_those_of_tensorflow(built: Project, early: bool, variables: dict[str, str]) -> None:
    """One sum is split over TensorFlow's threads: which are not always as many as the CPUs of the process."""
    assert built.run(THREADS % early, env=environment(**variables)).split()[-1] == "True"


ROOM = """
import resource, numpy as np, tensorflow as tf, m
b = tf.ones(9)
large = tf.ones((8_000_000, 9))
m.act(tf.ones((4000, 9)), b)
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (60 << 20),) * 2)  # a result takes 288 MB
for call in (m.act, m.act.__wrapped__):
    try:
        print(call(large, b).shape)
    except tf.errors.ResourceExhaustedError as error:
        print("ResourceExhaustedError")
"""


def test_a_result_that_finds_no_memory(built: Project) -> None:
    assert built.run(ROOM, mode="auto").split()[-2:] == ["ResourceExhaustedError"] * 2


def test_autograph_converts_the_original(tmp_path: Path) -> None:
    """A compiled function that a tf.function calls, or is made of, is traced as its source: a tensor may end its loop."""
    source = "import tensorflow as tf\nfrom tensorc.types import TensorF32Cpu2D\n\n\ndef block(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:\n    for i in range(n):\n        x = tf.nn.relu(x) + x\n    return x\n\n\n@tf.function\ndef inside(x, n):\n    return block(x, n)\n"
    code = """
        import tensorflow as tf, m
        x, inside = tf.constant([[1.0, -2.0]]), m.inside
        for f in (m.block, inside, tf.function(m.block), tf.autograph.to_graph(m.block)):
            print(f(x, tf.constant(3) if f is not m.block else 3).numpy().tolist(), m.block.body)
        kinds = [op.type for op in inside.get_concrete_function(x, tf.TensorSpec((), tf.int32)).graph.get_operations()]
        print("While" in kinds or "StatelessWhile" in kinds)
        """
    lines = Project(tmp_path, {"m.py": source}).build().run(code, mode="auto").splitlines()
    assert lines == ["[[8.0, -2.0]] exact"] * 4 + ["True"]
