"""The bits of the examples: classes, probabilities, logits and means, under each setting that changes a framework's kernels.

A hundred random calls for each of the usual settings; `make slow`: 10,000, and for each setting that there is.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from workbench import ROOT, SLOW, Project

CALLS = 10_000 if SLOW else 100
# What changes a framework's kernels, and whether the recipes are for those.
SETTINGS: list[tuple[str, dict[str, str], bool]] = [
    ("torch", {}, True),  # 1 and 2 threads in turn
    ("torch", {"EXAMPLE_THREADS": "1"}, True),
    ("torch", {"EXAMPLE_THREADS": "2"}, True),
    ("torch", {"EXAMPLE_THREADS": "3"}, True),
    ("torch", {"ATEN_CPU_CAPABILITY": "avx2"}, False),
    ("torch", {"ATEN_CPU_CAPABILITY": "default"}, False),
    ("torch", {"MKL_ENABLE_INSTRUCTIONS": "AVX2"}, False),
    ("tensorflow", {}, True),
    ("tensorflow", {"TF_NUM_INTRAOP_THREADS": "1"}, True),
    ("tensorflow", {"TF_NUM_INTRAOP_THREADS": "2"}, True),
    ("tensorflow", {"TF_NUM_INTRAOP_THREADS": "3"}, True),
    ("tensorflow", {"TF_ENABLE_ONEDNN_OPTS": "0"}, True),
    ("tensorflow", {"TF_ENABLE_ONEDNN_OPTS": "1"}, True),
    ("tensorflow", {"ONEDNN_MAX_CPU_ISA": "AVX2"}, True),
    ("tensorflow", {"ONEDNN_MAX_CPU_ISA": "SSE41"}, False),
    ("tensorflow", {"TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL": "0"}, False),
]
USUAL = [{}, {"EXAMPLE_THREADS": "3"}, {"ATEN_CPU_CAPABILITY": "default"}, {"TF_NUM_INTRAOP_THREADS": "2"}, {"ONEDNN_MAX_CPU_ISA": "SSE41"}]
LANES = [pytest.param(lane, marks=pytest.mark.skipif(not find_spec(lane), reason=f"{lane} is not installed")) for lane in ("torch", "tensorflow")]


def variant(source: str, name: str, result: str) -> str:
    """The example's score, which gives another value of its own on the way to the class."""
    text = source[source.index("def score(") :]
    text = text[: text.index("\n\n\n")].replace("def score(", f"def {name}(").replace("TensorI64Cpu1D", "TensorF32Cpu2D")
    return re.sub(r"return .*", f"return {result}", text) + "\n\n\n"


@pytest.fixture(scope="module", params=LANES)
def built(request: pytest.FixtureRequest, module_folder: Path) -> tuple[str, Project]:
    lane = request.param
    source = (ROOT / "examples" / f"{lane}_workloads.py").read_text()
    softmax = "logits.softmax(dim=1)" if lane == "torch" else "tf.nn.softmax(logits, axis=1)"
    more = variant(source, "score_logits", "logits") + variant(source, "score_probabilities", softmax)
    return lane, Project(module_folder / lane, {"workloads.py": source + "\n\n" + more}).build()


def test_bits(built: tuple[str, Project]) -> None:
    lane, project = built
    for variables, exact in [(variables, exact) for of, variables, exact in SETTINGS if of == lane and (SLOW or variables in USUAL)]:
        found = project.script("example_calls.py", lane, str(CALLS), mode="native", **variables)
        assert found["different"] == [] and found["calls"] == CALLS, variables
        assert set(found["bodies"]) <= {"exact", "library"}
        if exact:
            assert found["bodies"]["exact"] > 0.9 * CALLS, (variables, found)


def test_mode_compare(built: tuple[str, Project]) -> None:
    lane, project = built
    assert project.script("example_calls.py", lane, str(CALLS), mode="compare")["different"] == []
