"""The functions of torch.jsonl or tensorflow.jsonl as a project, and a report held against the decisions expected for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PER_MODULE = 50
HEADS = {
    "torch": "import torch\nimport torch.nn.functional as F\n"
             "from rextio_torch.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D\n",
    "tensorflow": "import tensorflow\nimport tensorflow as tf\n"
                  "from rextio_tensorflow.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D\n",
}


def load(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_project(cases: list[dict[str, Any]], root: Path, lane: str = "torch") -> dict[str, str]:
    """One package `cases` of modules m_00, m_01, … of 50 functions; gives {case id: module name}."""
    where: dict[str, str] = {}
    package = root / "src" / "cases"
    package.mkdir(parents=True)
    package.joinpath("__init__.py").touch()
    for start in range(0, len(cases), PER_MODULE):
        name = f"m_{start // PER_MODULE:02d}"
        text = HEADS[lane]
        for c in cases[start:start + PER_MODULE]:
            text += f"\n\ndef {c['id']}{c['sig']}:\n" + "".join(f"    {line}\n" for line in c["body"])
            where[c["id"]] = "cases." + name
        package.joinpath(name + ".py").write_text(text, encoding="utf-8")
    return where


def compare(cases: list[dict[str, Any]], report: dict[str, Any]) -> tuple[list[tuple[str, str]], list[str]]:
    """(what differs, ids of the native functions)"""
    found = {f["name"]: f for m in report["modules"] for f in m["functions"]}
    faults: list[tuple[str, str]] = []
    native: list[str] = []
    for c in cases:
        f = found.get(c["id"])
        if f is None:
            faults.append((c["id"], "missing from the report"))
            continue
        rules = sorted({p["rule_id"] for p in f["plugin_claims"]})
        if f["native_status"] == "accepted":
            native.append(c["id"])
            if c["status"] == "accepted" and not set(c.get("rules", [])) <= set(rules):
                faults.append((c["id"], f"rules {rules}, expected {c.get('rules')}"))
            own = any(not r.startswith("rextio-") for r in rules) or all(code.startswith("RXT0") for code in c["codes"])
            if c["status"] == "rejected" and not own:
                faults.append((c["id"], f"accepted under {rules}, expected {c['codes']}"))
        elif c["status"] == "accepted":
            faults.append((c["id"], f"not native: {f['native_status']} {f['rejection_codes']}"))
        elif c["status"] == "rejected" and not set(c["codes"]) <= set(f["rejection_codes"]):
            faults.append((c["id"], f"codes {f['rejection_codes']}, expected {c['codes']}"))
    return faults, native
