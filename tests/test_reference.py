"""Our decisions on the project's own cases, held against the reference tool's where it is installed.

What the reference compiles must be native under the same rules. What it rejects keeps its code, at the same place, unless
a rule of our own covers it. What it does not look at is free.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import casefile
import pytest
from workbench import TESTS, Project

REXTIO = Path(sys.executable).with_name("rextio")
PLUGINS = {"torch": "rextio_torch", "tensorflow": "rextio_tensorflow"}
# Decisions that differ on purpose, with the reason.
DIFFERENT = {
    "cases.ir_folding.dead_tail": "code behind a return is not looked at",
    "cases.lang_branches.code_behind": "code behind a return is not looked at",
    "cases.lang_ints.absolute": "abs of an int: only tensors so far",
    "cases.lang_outer_scope.rebound": "a default argument rebinds the module: the reference does not see it",
    "cases.lang_statements.comprehension": "no lists",
    "cases.lang_statements.calls_itself": "calls between functions come later",
    "cases.refuse_cuda.chain": "the CUDA lane needs its authorization",
    "cases.refuse_cuda.relu": "the CUDA lane needs its authorization",
    "cases.refuse_cuda.mixed": "the CUDA lane needs its authorization",
    "cases.refuse_tf_cuda.relu": "the CUDA lane needs its authorization",
    "cases.refuse_tf_cuda.plus": "the CUDA lane needs its authorization",
    "cases.refuse_tf_mixed.both_calls": "a function over both frameworks is refused as a whole, at its first sign",
    "cases.refuse_tf_mixed.torch_call": "a function over both frameworks is refused as a whole, at its first sign",
    "cases.refuse_tf_mixed.tensorflow_call": "a function over both frameworks is refused as a whole, at its first sign",
    "cases.refuse_tf_mixed.both_types": "a function over both frameworks is refused as a whole, at its first sign",
}

pytestmark = pytest.mark.skipif(not REXTIO.exists(), reason="the reference tool rextio is not installed")


def case_project(root: Path) -> Project:
    """All cases as a package, with the reference's markers; positions stay what they are behind the imports."""
    plugins = {lane: types for lane, types in PLUGINS.items() if importlib.util.find_spec(types)}
    enabled = ", ".join(f'"{p.replace("_", "-")}"' for p in plugins.values())
    project = Project(root, {"rextio.toml": f"[plugins]\nenabled = [{enabled}]\n"})
    for path in sorted((TESTS / "cases").rglob("*.py")):
        lane = casefile.read(path).lane
        if lane in PLUGINS and lane not in plugins:
            continue
        text = path.read_text(encoding="utf-8").replace("from tensorc.types import", f"from {PLUGINS.get(lane, 'rextio_torch')}.types import")
        project.write(f"src/cases/{path.parent.name}_{path.name}", text)
    project.write("src/cases/__init__.py", "")
    return project


def reference(project: Project) -> dict[str, Any]:
    done = subprocess.run([str(REXTIO), "check", "--json", "--no-report", str(project.root)], capture_output=True, text=True)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def functions(report: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    return {(f["qualname"], f["line"]): f for m in report["modules"] for f in m["functions"]}


@pytest.fixture(scope="module")
def both(module_folder: Path) -> tuple[dict[Any, Any], dict[Any, Any]]:
    project = case_project(module_folder)
    return functions(reference(project)), functions(project.check())


def rules(f: dict[str, Any]) -> set[str]:
    return {c["rule_id"] for c in f["plugin_claims"]}


def test_accepted_stays_native_under_the_same_rules(both: Any) -> None:
    theirs, ours = both
    faults = []
    accepted = {k: f for k, f in theirs.items() if f["native_status"] == "accepted"}
    assert len(accepted) > 100
    for key, f in accepted.items():
        mine = ours.get(key)
        if mine is None or mine["native_status"] != "accepted" or not rules(f) <= rules(mine):
            if key[0] not in DIFFERENT:
                faults.append(f"{key[0]}: {mine and mine['native_status']} {mine and sorted(rules(mine))}, reference accepted {sorted(rules(f))}")
    assert not faults, "\n".join(faults)


def test_rejected_keeps_its_code_and_place(both: Any) -> None:
    theirs, ours = both
    faults, seen = [], 0
    for key, f in theirs.items():
        codes = set(f["rejection_codes"])
        if f["native_status"] != "rejected" or not any(c.startswith("RXTP") for c in codes):
            continue
        seen += 1
        mine = ours.get(key)
        own = mine is not None and mine["native_status"] == "accepted" and any(not r.startswith("rextio-") for r in rules(mine))
        if own or key[0] in DIFFERENT:
            continue
        if mine is None or not codes <= set(mine["rejection_codes"]):
            faults.append(f"{key[0]}: {mine and (mine['native_status'], mine['rejection_codes'])}, reference rejected {sorted(codes)}")
            continue
        places = {(d["code"], d["line"], d["column"]) for d in f["diagnostics"] if d["code"].startswith("RXTP")}
        found = {(d["code"], d["line"], d["column"]) for d in mine["diagnostics"]}
        if not places <= found:
            faults.append(f"{key[0]}: at {sorted(found)}, reference at {sorted(places)}")
    assert seen > 50
    assert not faults, "\n".join(faults)


def test_the_same_functions_are_seen(both: Any) -> None:
    theirs, ours = both
    assert theirs.keys() <= ours.keys(), sorted(theirs.keys() - ours.keys())[:10]
