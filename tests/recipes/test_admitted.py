"""Recipes that no source function has yet are admitted where they are right, and only there."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tensorc import cc
from workbench import USUAL_KERNELS, environment, has_torch

CODE = """
import json, sys, torch
sys.path.insert(0, ".")
import admission
exec(compile("def f(x): return x.relu()", "m.py", "exec"))
native = admission.bind(f)
found = {}
for threads in (1, 2):
    torch.set_num_threads(threads)
    native(torch.ones(2, 3))
    stats = native.stats()
    assert native.body == "exact", native.body
    found[threads] = [sorted(stats["admitted"]), sorted(stats["not_admitted"])]
print(json.dumps(found))
"""


@pytest.mark.skipif(not has_torch(), reason="torch is not installed")
@pytest.mark.parametrize("flags", [[], ["-DWRONG"]], ids=["right", "wrong"])
def test_admission(tmp_path: Path, flags: list[str]) -> None:
    """Each by itself, at one thread and at two."""
    compiler = cc.find(None)
    source = Path(__file__).parent / "admission.c"
    command = cc.module_command(compiler, cc.archive(compiler), str(source), str(tmp_path / "admission.so"))
    subprocess.run([*command, *flags], check=True)
    settings = environment(**USUAL_KERNELS, TENSORC_CACHE_DIR=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", CODE], cwd=tmp_path, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    table = source.read_text().split("#define OPS")[1].split("extern")[0]
    names = set(re.findall(r"(?:ALONG|MAP|NORM|PICK|CONV|BMM|ADDMM|SUM|SPREAD)\((\w+)", table))
    for admitted, not_admitted in json.loads(done.stdout).values():
        assert (set(admitted) - {"relu"}, set(not_admitted)) == ((set(), names) if flags else (names, set()))
    (verdicts,) = tmp_path.glob("admission-*")
    examined = {line.split()[0] for line in verdicts.read_text().splitlines()}
    assert names <= examined, "what failed was not examined"
