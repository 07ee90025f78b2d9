"""check.json: valid by tests/schema/check.schema.json, as the reference tool's own report is, and key for key like it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_reference import REXTIO, case_project, functions, reference
from workbench import HEAD, TESTS, Project

SCHEMA = json.loads((TESTS / "schema" / "check.schema.json").read_text())
# What the reference says that we leave out on purpose.
LEFT_OUT = {"": {"host_source_plan"}}

VARIETY = HEAD + '''
import asyncio
import functools
from tensorc import exempt, native


def accepted(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    """Größe."""
    größe = x.relu()
    for i in range(n):
        größe = größe @ größe + x
    return größe


def rejected(x: TensorF32Cpu2D, d: int) -> TensorF32Cpu2D:
    return x.softmax(dim=d)


def untyped(x):
    return x


@functools.lru_cache
def decorated(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


@native
def marked(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


@native
def marked_in_vain(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.cos()


@exempt
def exempted(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


async def later(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


class Model:
    def method(self, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
        return x.relu()


def outer(n: int) -> int:
    def inner(k: int) -> int:
        return k

    return inner(n)


def numbers(n: int) -> int:
    return n * 2

'''
# The same source as its users write it for the reference tool.
FOR_REFERENCE = (
    VARIETY.replace("from tensorc.types", "from rextio_torch.types")
    .replace("from tensorc import exempt, native", "import rextio as marks")
    .replace("@native", "@marks.native")
    .replace("@exempt", "@marks.exempt")
)


def validate(report: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    validator = jsonschema.Draft202012Validator(SCHEMA)
    errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(report)]
    assert not errors, "\n".join(errors[:20])


@pytest.fixture(scope="module")
def cases(module_folder: Path) -> Project:
    project = case_project(module_folder)
    project.write("src/cases/variety.py", VARIETY)
    return project


@pytest.fixture(scope="module")
def ours(cases: Project) -> dict[str, Any]:
    return cases.check()


def test_schema_is_a_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("breakage", ["key", "status", "route", "position", "code"])
def test_schema_finds_a_broken_report(ours: dict[str, Any], breakage: str) -> None:
    pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    report = json.loads(json.dumps(ours))
    f = report["modules"][-1]["functions"][0]
    if breakage == "key":
        del f["rejection_codes"]
    elif breakage == "status":
        f["native_status"] = "maybe"
    elif breakage == "route":
        f["route"] = "native"
    elif breakage == "position":
        f["source_range"]["start"]["line"] = 0
    else:
        f["rejection_codes"] = ["X1"]
    with pytest.raises(AssertionError):
        validate(report)


def test_report_is_valid(ours: dict[str, Any]) -> None:
    validate(ours)


def test_reports_of_odd_projects_are_valid(tmp_path: Path) -> None:
    for name, files in {"empty": {"m.py": ""}, "nothing native": {"m.py": "x = 1\n"}, "package": {"p/__init__.py": VARIETY, "p/m.py": ""}, "src": {"src/p/__init__.py": "", "src/p/m.py": VARIETY}}.items():
        validate(Project(tmp_path / name, files).check())


def test_report_agrees_with_itself(ours: dict[str, Any]) -> None:
    every = [f for m in ours["modules"] for f in m["functions"]]
    assert len(every) > 500
    for status, key in (("accepted", "accepted_native"), ("rejected", "rejected_native")):
        assert {f["qualname"] for f in every if f["native_status"] == status} == set(ours[key])
    assert {f["qualname"] for f in every if f["is_native_candidate"]} == set(ours["native_candidates"])
    for f in every:
        assert f["accepted"] == (f["native_status"] == "accepted")
        assert f["route"].startswith("native-") == f["accepted"], f["qualname"]
        assert f["native_target_language"] == ("c" if f["accepted"] else None)
        assert (f["rejection_codes"] == sorted(set(f["rejection_codes"]))) and bool(f["rejection_codes"]) == (f["native_status"] == "rejected"), f["qualname"]
        assert f["qualname"].startswith(f["module_name"] + ".") and f["qualname"].endswith(f["name"])
        a = f["promotion_assessment"]
        assert a["diagnostic_codes"] == sorted({d["code"] for d in a["diagnostics"]})
        assert [(d["line"], d["column"], d["code"], d["message"]) for d in a["diagnostics"]] == sorted((d["line"], d["column"], d["code"], d["message"]) for d in a["diagnostics"])
        assert (a["skip_reason"] is None) == (a["status"] != "skipped")


def test_positions_are_bytes_of_the_source(ours: dict[str, Any]) -> None:
    for m in ours["modules"]:
        lines = Path(m["file_path"]).read_bytes().split(b"\n")
        for f in m["functions"]:
            start, end = f["name_range"]["start"], f["name_range"]["end"]
            import unicodedata

            assert unicodedata.normalize("NFKC", lines[start["line"] - 1][start["column"]:end["column"]].decode()) == f["name"]
            assert f["source_range"]["start"]["line"] <= start["line"] and f["line"] == f["source_range"]["start"]["line"]
            for c in f["plugin_claims"]:
                assert c["end_line"] > c["line"] or c["end_column"] > c["column"]
                lines[c["end_line"] - 1][:c["end_column"]].decode(), lines[c["line"] - 1][:c["column"]].decode()  # whole characters


def test_check_blocks_and_json_agree(ours: dict[str, Any]) -> None:
    """The check blocks of the cases come from the compiler in this process: the command must say the same."""
    import casefile

    found = {(m["module_name"].split(".")[-1], f["name"], f["line"]): f for m in ours["modules"] for f in m["functions"]}
    seen = 0
    for path in (TESTS / "cases").rglob("*.py"):
        block = casefile.read(path).block("check")
        for line in block.lines if block else []:
            name, status, *rest = line.split()
            if status == "native" and "." not in name:
                match = [f for (m, n, _), f in found.items() if m == f"{path.parent.name}_{path.stem}" and n == name and f["native_status"] == "accepted"]
                assert match, (path.name, name)
                assert any(sorted({c["rule_id"] for c in f["plugin_claims"]}) == sorted(rest) for f in match), (path.name, name)
                seen += 1
    assert seen > 250


@pytest.mark.skipif(not REXTIO.exists(), reason="the reference tool rextio is not installed")
def test_key_for_key_like_the_reference(cases: Project, ours: dict[str, Any]) -> None:
    cases.write("src/cases/variety.py", FOR_REFERENCE)
    theirs, ours = reference(cases), cases.check()
    validate(theirs)
    missing: set[str] = set()

    def compare(a: Any, b: Any, path: str) -> None:
        if isinstance(a, dict) and isinstance(b, dict):
            if path in ("/imports", "/modules[]/imports", "/modules[]/functions[]/inferred_arg_types", "/modules[]/logger_group_targets"):
                return
            for key in a:
                if key in LEFT_OUT.get(path, set()):
                    continue
                if key not in b:
                    missing.add(f"{path}/{key}")
                else:
                    compare(a[key], b[key], f"{path}/{key}")

    def shape(value: Any, path: str, keys: dict[str, set[str]]) -> None:
        if isinstance(value, dict):
            keys.setdefault(path, set()).update(value)
            for k, v in value.items():
                shape(v, f"{path}/{k}", keys)
        elif isinstance(value, list):
            for v in value:
                shape(v, path + "[]", keys)

    compare(theirs, ours, "")
    their_keys: dict[str, set[str]] = {}
    our_keys: dict[str, set[str]] = {}
    shape(theirs, "", their_keys)
    shape(ours, "", our_keys)
    free = ("/host_source_plan", "/modules[]/imports", "/modules[]/functions[]/inferred_arg_types", "/modules[]/logger_group_targets")
    optional = {"operand_literals", "keywords", "expression", "operand_mode", "receiver", "callables"}
    for path, keys in their_keys.items():
        if not path.startswith(free) and path in our_keys and not path.startswith("/modules[]/functions[]/plugin_claims[]/"):
            missing |= {f"{path}/{k}" for k in keys - our_keys[path] - optional - LEFT_OUT.get(path, set())}
    assert not missing, sorted(missing)


@pytest.mark.skipif(not REXTIO.exists(), reason="the reference tool rextio is not installed")
def test_same_places_as_the_reference(cases: Project) -> None:
    """Positions of functions, names and claims, provenance and markers, wherever both tools agree on the decision."""
    cases.write("src/cases/variety.py", FOR_REFERENCE)
    theirs, ours = functions(reference(cases)), functions(cases.check())
    faults, seen = [], 0
    for key, a in theirs.items():
        b = ours[key]
        if key[0] in ("cases.lang_names.marked", "cases.lang_names.exempted"):
            continue  # under decorators of tensorc, which the reference does not know
        if key[0] in ("cases.variety.marked", "cases.variety.marked_in_vain", "cases.variety.exempted"):
            continue  # the reference reports no marker in a module that also has an async function, a class and lru_cache
        for field in ("line", "column", "source_range", "name_range", "marker_kind", "explicitly_marked", "module_name", "name", "external_accelerator"):
            if a[field] != b[field]:
                faults.append(f"{key[0]}.{field}: {b[field]}, reference {a[field]}")
        if a["native_status"] == b["native_status"] == "accepted":
            seen += 1
            claims = lambda f: sorted((c["rule_id"], c["line"], c["column"], c["end_line"], c["end_column"], c["kind"], c["result_type"], c["target"], tuple(c["operand_types"])) for c in f["plugin_claims"])  # noqa: E731
            if claims(a) != claims(b) and not key[0].endswith(("dead_tail", "code_behind")):
                different = [x for x in claims(a) if x not in claims(b)]
                faults.append(f"{key[0]}.plugin_claims: lacks {different}, has {[x for x in claims(b) if x not in claims(a)]}")
            if a["route"] != b["route"]:
                faults.append(f"{key[0]}.route: {b['route']}, reference {a['route']}")
            if a["plugin_type_keys"] != b["plugin_type_keys"]:
                faults.append(f"{key[0]}.plugin_type_keys: {b['plugin_type_keys']}, reference {a['plugin_type_keys']}")
            if a["promotion_assessment"] != b["promotion_assessment"]:
                faults.append(f"{key[0]}.promotion_assessment: {b['promotion_assessment']}, reference {a['promotion_assessment']}")
        if a["promotion_assessment"]["skip_reason"] != b["promotion_assessment"]["skip_reason"]:
            faults.append(f"{key[0]}.skip_reason: {b['promotion_assessment']['skip_reason']}, reference {a['promotion_assessment']['skip_reason']}")
    assert seen > 100
    assert not faults, f"{len(faults)}:\n" + "\n".join(faults[:30])
