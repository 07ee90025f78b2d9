"""Captured programs in the cache folder: what is the same is not captured again, and what is not the same is.

Counts how often torch.export runs, for sources that differ in one place, and in processes of their own.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from stand_ins import each, info, same
from workbench import BODIES, SLOW, Project, environment, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed"), pytest.mark.usefixtures("exporter")]


@pytest.fixture(autouse=True)
def _plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    os.environ.pop("TENSORC_MODE", None)
    monkeypatch.setenv("TENSORC_CACHE_DIR", str(tmp_path / "cache"))
    yield


SOURCE = '''
import enum
import math
import torch
import torch.nn.functional as F
from functools import partial

SCALE = 2.0
TABLE = {"a": [1.0], "f": torch.relu}

class Kind(enum.Enum):
    SOFT = 0.25

def helper(x, by=1.5):
    """Its text."""
    return TABLE["f"](x) * SCALE + TABLE["a"][0] * by

def outer(n):
    def inner(x):
        return x * n
    return inner

class Base(torch.nn.Module):
    factor = 3.0

    def common(self, x):
        return x * self.factor

    @property
    def shift(self):
        return self._shift + 0.0

class Config:
    __slots__ = ("eps", "more")

    def __init__(self):
        self.eps, self.more = 0.5, [1]

class Norm(torch.nn.LayerNorm):
    pass

class Model(Base):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4, bias=True)
        self.norm = Norm(4, eps=1e-5)
        self.cfg, self.kind, self._shift = Config(), Kind.SOFT, 1.0
        self.register_buffer("b", torch.ones(4))
        self.plain = torch.tensor([1.0, 2.0])
        self.inner, self.part = outer(3.0), partial(torch.add, alpha=2)

    def forward(self, x):
        y = helper(self.common(self.norm(self.lin(x)))) + self.cfg.eps + self.plain[0] + self.b * math.pi
        y = self.part(F.relu(self.inner(y)), self.shift)
        for name in ("b",):
            y = y + torch.tensor([1.0, 2.0, 3.0, 4.0])
        return y * self.kind.value

    def unrelated(self):
        import os
        return os.getcwd()

def make():
    return Model().eval()
'''

OTHERS = [
    ("SCALE = 2.0", "SCALE = 4.0"),
    ('"a": [1.0]', '"a": [2.0]'),
    ('"f": torch.relu', '"f": torch.tanh'),
    ("SOFT = 0.25", "SOFT = 0.5"),
    ("by=1.5", "by=2.5"),
    ("* SCALE +", "- SCALE +"),
    ("outer(3.0)", "outer(4.0)"),
    ("factor = 3.0", "factor = 2.0"),
    ("x * self.factor", "x - self.factor"),
    ("self._shift + 0.0", "self._shift + 1.0"),
    ("Kind.SOFT, 1.0", "Kind.SOFT, 3.0"),
    ("self.eps, self.more = 0.5", "self.eps, self.more = 0.75"),
    ("class Norm(torch.nn.LayerNorm):\n    pass", "class Norm(torch.nn.LayerNorm):\n    def forward(self, x):\n        return x"),
    ("bias=True", "bias=False"),
    ("eps=1e-5", "eps=1e-2"),
    ('"b", torch.ones(4)', '"b", torch.ones(4, dtype=torch.float64)'),
    ('"b", torch.ones(4)', '"b", torch.ones(4, 2)[:, 0]'),
    ("self.plain = torch.tensor([1.0, 2.0])", "self.plain = torch.tensor([3.0, 2.0])"),
    ("alpha=2", "alpha=3"),
    ("math.pi", "math.e"),
    ("F.relu", "F.gelu"),
    ("tensor([1.0, 2.0, 3.0, 4.0])", "tensor([1.0, 2.0, 3.0, 5.0])"),
    ("Model().eval()", "Model().eval().requires_grad_(False)"),
    ("Model().eval()", "Model().train()"),
]

SAME = [
    ("", ""),
    ("# none", "# none"),
    ("return os.getcwd()", "return os.listdir()"),
    ("self.eps, self.more = 0.5, [1]", "self.eps, self.more = 0.5, [2]"),
    ("return Model().eval()", "torch.manual_seed(5)\n    return Model().eval()"),
    ("import enum\n", "import enum\n# a comment\n"),
]


def load(text: str) -> ModuleType:
    module = ModuleType("user_code")
    exec(compile(text, "<user code>", "exec"), vars(module))
    return module


@pytest.fixture
def captures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """One for each run of torch.export."""
    from tensorc import trial

    seen: list[Any] = []
    own = trial.capture
    monkeypatch.setattr(trial, "capture", lambda *args: (seen.append(args), own(*args))[1])
    return seen


def run(text: str, given: Any = None) -> Any:
    """Its model, compiled anew and called."""
    import tensorc
    import torch

    model = load(text).make()
    fast = tensorc.compile(model)
    x = torch.randn(2, 4) if given is None else given
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            same(model(x), fast(x))
            x = x + 1
    return info(fast)


def test_what_is_the_same_is_not_captured_again(captures: list[Any]) -> None:
    assert run(SOURCE).body in BODIES and len(captures) == 1
    for before, after in SAME:
        assert run(SOURCE.replace(before, after) if before else SOURCE).body in BODIES
        assert len(captures) == 1, after


def test_every_other_model_is_captured(captures: list[Any]) -> None:
    run(SOURCE)
    for before, after in OTHERS if SLOW else OTHERS[::2]:
        assert SOURCE.count(before) == 1, before
        captures.clear()
        text = SOURCE.replace(before, after)
        found = run(text)
        assert len(captures) == 1 and found.body in BODIES, (before, after, found.stats())
        run(text)
        assert len(captures) == 1, (before, after)


def test_other_arguments_and_settings_are_captured(captures: list[Any]) -> None:
    import torch

    run(SOURCE)
    for x in (torch.randn(3, 4), torch.randn(4, 2).t(), torch.randn(4)):
        captures.clear()
        run(SOURCE, x)
        run(SOURCE, x)
        assert len(captures) == 1
    torch.set_num_threads(torch.get_num_threads() + 1)
    run(SOURCE)
    assert len(captures) == 2


def no_entries() -> dict[str, str]:
    """Functions on which more depends than can be told."""
    return {
        "environment": "import os\ndef f(x):\n    return x * float(os.environ.get('FACTOR', '2'))",
        "environment by name": "from os import environ\ndef f(x):\n    return x * float(environ.get('FACTOR', '2'))",
        "time": "import time\ndef f(x):\n    return x * (time.time() > 0)",
        "a file": "def f(x):\n    return x * len(open('/dev/null').read())",
        "eval": "def f(x):\n    return x * eval('2')",
        "globals": "def f(x):\n    return x * globals()['BY']\nBY = 2",
        "an import": "def f(x):\n    import json\n    return x * len(json.dumps(2))",
        "by any name": "import user_module\ndef f(x):\n    return x * getattr(user_module, 'B' + 'Y')",
        "a long list": "N = [1] * 30_000\ndef f(x):\n    return x * len(N)",
        "an iterator": "N = iter([1, 2, 3] * 9)\ndef f(x):\n    return x * (N is not None)",
        "code that torch calls": "import torch\nclass M(torch.nn.Module):\n    def extra_repr(self):\n        return 'abc'\n    def forward(self, x):\n"
                                 "        return x * len(repr(self))\nf = M()",
    }


def test_what_depends_on_more_is_captured_each_time(captures: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    user_module = load("BY = 2")
    monkeypatch.setitem(sys.modules, "user_module", user_module)

    def check(what: str) -> None:
        captures.clear()
        for n in (1, 2):
            assert run(no_entries()[what] + "\ndef make():\n    return f").body in BODIES
            assert len(captures) == n

    each(no_entries(), check)


def test_a_wrong_entry_does_no_harm(captures: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """If digests told nothing, the first call would: what the entry gives is held against eager."""
    from tensorc import digest

    monkeypatch.setattr(digest.Digest, "hexdigest", lambda self: "one for all")
    for at, (before, after) in enumerate([SAME[0], *OTHERS[:3]], start=1):
        run(SOURCE.replace(before, after) if before else SOURCE)
        assert len(captures) == at


def test_damaged_entries(captures: list[Any], tmp_path: Path) -> None:
    run(SOURCE)
    (entry,) = (tmp_path / "cache").glob("program-*")
    whole = entry.read_bytes()
    for at, damaged in enumerate((b"", whole[:-1], whole[:40] + b"x" + whole[41:], b"\0" * 100), start=2):
        entry.write_bytes(damaged)
        for _ in range(2):
            assert run(SOURCE).body in BODIES and len(captures) == at


def test_what_is_refused_is_remembered(captures: list[Any]) -> None:
    text = "def make():\n    return lambda x: x if x.sum() > 0 else -x"
    for _ in range(2):
        (reason,) = run(text).stats()["python"]
        assert reason.startswith("torch.export: GuardOnDataDependentSymNode")
        assert len(captures) == 1


def test_code_that_the_digest_has_not_seen(captures: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """What ran in the first call is held against what was followed."""
    from tensorc import digest, warm

    class Forgets(digest.Digest):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.codes = {code for code in self.codes if code.co_name != "common"}

    monkeypatch.setattr(warm, "Digest", Forgets)
    for n in (1, 2):
        run(SOURCE)
        assert len(captures) == n


def test_in_processes_of_their_own(tmp_path: Path) -> None:
    """Each of them has its own seed for hashing, ids and order of imports."""
    (tmp_path / "user_code.py").write_text(SOURCE)
    code = """
        import sys
        import torch, tensorc, torch.export
        sys.path.insert(0, sys.argv[1] if len(sys.argv) > 1 else {folder!r})
        import user_code
        if {broken}:
            torch.export.export = None
        model = user_code.make()
        fast = tensorc.compile(model)
        x = torch.randn(2, 4)
        with torch.inference_mode():
            assert torch.equal(fast(x), model(x)) and torch.equal(fast(x + 1), model(x + 1))
        print(fast.body, fast.stats()["python"])
        """
    for broken in (False, True, True):
        text = code.format(folder=str(tmp_path), broken=broken)
        out = Project(tmp_path).run(text, mode=None, fresh=True, env=environment(PYTHONHASHSEED=str(random.randrange(1000))))
        assert out == "exact {}\n"


def test_models_of_others(captures: list[Any]) -> None:
    """The ten models and the modules: captured once, or it is said why not."""
    import models
    import modules
    import tensorc
    import torch

    makers = {**{name: lambda name=name: models.make(name, 1) for name in models.NAMES}, **modules.MODULES}
    again = []
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, make in list(makers.items())[:: 1 if SLOW else 4]:
            for _ in range(2):
                captures.clear()
                model, args = make()
                same(model(*args), tensorc.compile(model)(*args))
            again += [name] if captures else []
    assert again == []


PAIRS = [
    ("torch.vmap(lambda x: x * 2)", "torch.vmap(lambda x: x * 3)"),
    ("torch.no_grad()(lambda x: x * 2)", "torch.no_grad()(lambda x: x * 3)"),
    ("partial(torch.add, alpha=2)", "partial(torch.add, alpha=3)"),
    ("partial(torch.add, alpha=2)", "partial(torch.sub, alpha=2)"),
    ("torch.relu", "torch.tanh"),
    ("torch.Tensor.relu", "torch.Tensor.tanh"),
    ("torch.ones(2).add", "torch.zeros(2).add"),
    ("torch.ops.aten.relu.default", "torch.ops.aten.tanh.default"),
    ("lambda x, n=N(a=1, b=2): x * n.a", "lambda x, n=N(a=2, b=2): x * n.a"),
    ("lambda x, n=S(a=1): x * n.a", "lambda x, n=S(a=2): x * n.a"),
    ("lambda x, n=numpy.ones(2): x * n[0]", "lambda x, n=numpy.zeros(2): x * n[0]"),
    ("lambda x, n={1: 2}: x * n[1]", "lambda x, n={True: 2}: x * n[1]"),
    ("lambda x, n=[0.0]: x * n[0]", "lambda x, n=[-0.0]: x * n[0]"),
    ("lambda x, n=(1, 2): x * n[0]", "lambda x, n=[1, 2]: x * n[0]"),
    ("lambda x, n={1}: x * len(n)", "lambda x, n={1, 2}: x * len(n)"),
    ("lambda x: x + 1", "lambda x: x + 1.0"),
    ("lambda x: [x + i for i in (1, 2)]", "lambda x: [x + i for i in (1, 3)]"),
    ("lambda x: x.sum(dim=1)", "lambda x: x.mean(dim=1)"),
    ("lambda x: torch.sum(x, dim=1)", "lambda x: torch.sum(x, keepdim=1)"),
    ("torch.nn.GELU()", "torch.nn.GELU(approximate='tanh')"),
    ("torch.nn.Sequential(L(2), L(2))", "(lambda l: torch.nn.Sequential(l, l))(L(2))"),
    ("torch.nn.Sequential(L(2), torch.nn.ReLU())", "torch.nn.Sequential(torch.nn.ReLU(), L(2))"),
    ("torch.nn.ModuleDict({'a': L(2)})", "torch.nn.ModuleDict({'b': L(2)})"),
    ("L(2)", "tied(L(2))"),
]


def test_what_differs_has_another_digest() -> None:
    import functools
    import types
    from collections import namedtuple

    import numpy
    import torch
    from tensorc.digest import Digest

    def tied(layer: Any) -> Any:
        layer.bias = torch.nn.Parameter(layer.weight.detach()[0])
        return layer

    names = {"torch": torch, "numpy": numpy, "partial": functools.partial, "N": namedtuple("N", "a b"), "S": types.SimpleNamespace,
             "L": lambda n: torch.nn.Linear(n, n), "tied": tied}
    wrong = []
    for pair in PAIRS:
        one, again, other = (Digest(eval(text, dict(names)), lambda value: value).hexdigest() for text in (pair[0], *pair))
        wrong += [pair] if one != again or one == other else []
    assert wrong == []
