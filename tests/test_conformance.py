"""The decisions of the reference tool on 6,391 small functions, and the values of every native one. See conformance/README.md."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from workbench import TESTS, Project, environment

sys.path.insert(0, str(TESTS / "conformance"))
import decisions  # noqa: E402

CASES = decisions.load(TESTS / "conformance" / "torch.jsonl")
LANES = ("torch", "tensorflow")


class Checked:
    """The cases of a lane as one project, and what `check` says of it."""

    def __init__(self, folder: Path, lane: str) -> None:
        self.lane = lane
        self.cases = decisions.load(TESTS / "conformance" / f"{lane}.jsonl")
        self.project = Project(folder / lane)
        self.where = decisions.write_project(self.cases, self.project.root, lane)
        self.faults, self.native = decisions.compare(self.cases, self.project.check())


@pytest.fixture(scope="module", params=LANES)
def checked(module_folder: Path, request: pytest.FixtureRequest) -> Checked:
    return Checked(module_folder, request.param)


def _lines(faults: list[Any]) -> str:
    return f"{len(faults)} differ:\n" + "\n".join(f"  {name}: {why}" for name, why in faults[:25])


def test_decisions(checked: Checked) -> None:
    assert not checked.faults, _lines(checked.faults)
    assert len(checked.native) >= sum(c["status"] == "accepted" for c in checked.cases)


@pytest.mark.parametrize("change", ["not native", "other rule", "accepted", "other code", "missing"])
def test_a_wrong_decision_is_found(change: str) -> None:
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


def test_values(checked: Checked) -> None:
    if not find_spec(checked.lane):
        pytest.skip(f"{checked.lane} is not installed")
    checked.project.build()
    env = environment(TENSORC_MODE="native")
    env["PYTHONPATH"] = f"{checked.project.tree}:{env['PYTHONPATH']}"
    command = [sys.executable, "-X", "faulthandler", str(TESTS / "conformance" / "calls.py"), checked.lane]
    done = subprocess.run(command, env=env, text=True, input=json.dumps({n: checked.where[n] for n in checked.native}), capture_output=True)
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.strip().splitlines()[-1])
    assert not result["bad"], _lines(result["bad"])
    assert result["values"] > 5 * len(checked.native)
    assert set(result["bodies"]) <= {"library", "exact"} and result["bodies"]["exact"] > result["values"] / 2
