"""The decisions of the reference tool on 6,391 small functions, and the values of every native one. See conformance/README.md."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workbench import TESTS, Project, environment, has_torch

sys.path.insert(0, str(TESTS / "conformance"))
import decisions  # noqa: E402

CASES = decisions.load(TESTS / "conformance" / "torch.jsonl")


@pytest.fixture(scope="module")
def checked(module_folder: Path) -> tuple[Project, dict[str, str], list[tuple[str, str]], list[str]]:
    project = Project(module_folder)
    where = decisions.write_project(CASES, project.root)
    return project, where, *decisions.compare(CASES, project.check())


@pytest.fixture(scope="module")
def checked_tensorflow(module_folder: Path) -> tuple[list[dict[str, Any]], list[tuple[str, str]], list[str]]:
    cases = decisions.load(TESTS / "conformance" / "tensorflow.jsonl")
    project = Project(module_folder / "tensorflow")
    decisions.write_project(cases, project.root, "tensorflow")
    return cases, *decisions.compare(cases, project.check())


def _lines(faults: list[Any]) -> str:
    return f"{len(faults)} differ:\n" + "\n".join(f"  {name}: {why}" for name, why in faults[:25])


def test_decisions(checked: Any) -> None:
    _, _, faults, native = checked
    assert not faults, _lines(faults)
    assert len(native) >= sum(c["status"] == "accepted" for c in CASES)


def test_decisions_tensorflow(checked_tensorflow: Any) -> None:
    cases, faults, native = checked_tensorflow
    assert not faults, _lines(faults)
    assert len(native) >= sum(c["status"] == "accepted" for c in cases)


@pytest.mark.parametrize("change", ["not native", "other rule", "accepted", "other code", "missing"])
def test_a_wrong_decision_is_found(checked: Any, change: str) -> None:
    """The comparison itself must be able to fail."""
    f: dict[str, Any]
    accepted = next(c for c in CASES if c["status"] == "accepted")
    rejected = next(c for c in CASES if c["status"] == "rejected" and c["codes"][0].startswith("RXTP"))
    case = accepted if change in ("not native", "other rule") else rejected
    f = {"name": case["id"], "native_status": case["status"], "plugin_claims": [{"rule_id": r} for r in case.get("rules", [])],
         "rejection_codes": list(case["codes"])}
    report = {"modules": [{"functions": [f]}]}
    assert decisions.compare([case], report)[0] == []
    if change == "not native":
        f["native_status"] = "not-candidate"
    elif change == "other rule":
        f["plugin_claims"] = [{"rule_id": "rextio-torch/other"}]
    elif change == "accepted":
        f.update(native_status="accepted", plugin_claims=[{"rule_id": "rextio-torch/other"}])
    elif change == "other code":
        f["rejection_codes"] = ["RXTP-TORCH-999"]
    else:
        report["modules"] = []
    assert decisions.compare([case], report)[0] != []


@pytest.mark.skipif(not has_torch(), reason="torch is not installed")
def test_values(checked: Any) -> None:
    project, where, _, native = checked
    project.build()
    env = environment(TENSORC_MODE="native")
    env["PYTHONPATH"] = f"{project.tree}:{env['PYTHONPATH']}"
    done = subprocess.run([sys.executable, "-X", "faulthandler", str(TESTS / "conformance" / "calls.py")], env=env, text=True,
                          input=json.dumps({n: where[n] for n in native}), capture_output=True)
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.strip().splitlines()[-1])
    assert not result["bad"], _lines(result["bad"])
    assert result["values"] > 5 * len(native)
    assert set(result["bodies"]) <= {"library", "exact", "fast"}
