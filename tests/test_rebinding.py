"""A module that rebinds what its functions call: they stay Python. One that only looks at a framework: they are native."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench import HEAD, Project, has_torch

FUNCTIONS = '''

def call(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return F.relu(x)


def spelled_out(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return torch.nn.functional.relu(x)


def method(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


def operator(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x + x


def builtin(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total

'''
ALL = "call spelled_out method operator builtin"

# What stands before the functions, and which of them it must keep from being compiled.
CHANGES = {
    "F.relu = torch.tanh": "call spelled_out",
    "torch.nn.functional.relu = torch.tanh": "call spelled_out",
    "F.relu, F.tanh = torch.tanh, torch.relu": "call spelled_out",
    "for F.relu in [torch.tanh]: pass": "call spelled_out",
    "import contextlib\nwith contextlib.nullcontext(torch.tanh) as F.relu: pass": "call spelled_out",
    "def patch():\n    F.relu = torch.tanh\npatch()": "call spelled_out",
    "def patch(G=F):\n    G.relu = torch.tanh\npatch()": "call spelled_out",
    "G = F\nG.relu = torch.tanh": "call spelled_out",
    "def patch():\n    import torch.nn.functional as G\n    setattr(G, 'relu', torch.tanh)\npatch()": "call spelled_out",
    "setattr(F, 'relu', torch.tanh)": "call spelled_out",
    "setattr(torch.nn.functional, 're' + 'lu', torch.tanh)": "call spelled_out",
    "F.__dict__['relu'] = torch.tanh": "call spelled_out",
    "vars(F)['relu'] = torch.tanh": "call spelled_out",
    "vars(F).update(relu=torch.tanh)": "call spelled_out",
    "F.__setattr__('relu', torch.tanh)": "call spelled_out",
    "import types\ntypes.ModuleType.__setattr__(F, 'relu', torch.tanh)": "call spelled_out",
    "def patch(module):\n    module.relu = torch.tanh\npatch(F)": "call spelled_out",
    "class Patch:\n    def on(self, module):\n        module.relu = torch.tanh\nPatch().on(F)": "call spelled_out",
    "for G in [F]:\n    setattr(G, 'relu', torch.tanh)": "call spelled_out",
    "from unittest import mock\nmock.patch.object(F, 'relu', torch.tanh).start()": "call spelled_out",
    "from unittest import mock\nmock.patch('torch.nn.functional.relu', torch.tanh).start()": "call spelled_out",
    "from unittest.mock import patch\npatch.multiple(F, relu=torch.tanh).start()": "call spelled_out",
    "import importlib\nimportlib.import_module('torch.nn.functional').relu = torch.tanh": "call spelled_out",
    "import sys\nsys.modules['torch.nn.functional'].relu = torch.tanh": "call spelled_out",
    "class Other:\n    relu = torch.tanh\ntorch.nn.functional = Other": "spelled_out",
    "class Other:\n    relu = torch.tanh\nF = Other": "call",
    "class Other:\n    relu = torch.tanh\nglobals()['F'] = Other": "call",
    "class Other:\n    relu = torch.tanh\nglobals().update(F=Other)": "call",
    "class Other:\n    relu = torch.tanh\ndel globals()['F']\nF = Other": "call",
    "globals()['F'].relu = torch.tanh": "call spelled_out",
    "class Other:\n    relu = torch.tanh\nvars()['F'] = Other": "call",
    "class Other:\n    relu = torch.tanh\nlocals()['F'] = Other": "call",
    "class Other:\n    relu = torch.tanh\nexec('F = Other')": "call",
    "class Other:\n    relu = torch.tanh\nexec('F = Other', None)": "call",
    "class Other:\n    relu = torch.tanh\nexec('F = Other', globals())": "call",
    "class Other:\n    relu = torch.tanh\neval('(F := Other)')": "call",
    "class Other:\n    relu = torch.tanh\nimport sys\nsys.modules[__name__].F = Other": "call",
    "class Other:\n    relu = torch.tanh\nimport sys\nsetattr(sys.modules[__name__], 'F', Other)": "call",
    "class Other:\n    relu = torch.tanh\nfrom sys import modules\nvars(modules[__name__])['F'] = Other": "call",
    "class Other:\n    relu = torch.tanh\n(lambda: 0).__globals__['F'] = Other": "call",
    "class Other:\n    relu = torch.tanh\nimport sys\nsys._getframe().f_globals['F'] = Other": "call",
    "class Other:\n    relu = torch.tanh\ndef patch():\n    global F\n    F = Other\npatch()": "call",
    "class Other:\n    relu = torch.tanh\nfor F in [Other]: pass": "call",
    "class Other:\n    relu = torch.tanh\nimport contextlib\nwith contextlib.nullcontext(Other) as F: pass": "call",
    "class Other:\n    relu = torch.tanh\nif (F := Other): pass": "call",
    "class Other:\n    relu = torch.tanh\n[F := Other for _ in range(1)]": "call",
    "class Other:\n    relu = torch.tanh\nmatch Other:\n    case F: pass": "call",
    "class Other:\n    relu = torch.tanh\ndel F\nF = Other": "call",
    "import replaced as F": "call",
    "try:\n    import missing_module as F\nexcept ImportError:\n    import replaced as F": "call",
    "class F:\n    relu = torch.tanh": "call",
    "from replaced import *": "call",
    "torch.Tensor.relu = lambda x: x.tanh()": "method",
    "T = torch.Tensor\nT.relu = lambda x: x.tanh()": "method",
    "setattr(torch.Tensor, 'relu', lambda x: x.tanh())": "method",
    "for name in ['relu']:\n    setattr(torch.Tensor, name, lambda x: x.tanh())": "method",
    "torch.Tensor.__add__ = lambda a, b: a": "operator",
    "setattr(torch.Tensor, '__add__', lambda a, b: a)": "operator",
    "range = lambda n: [n]": "builtin",
    "import builtins\nbuiltins.range = lambda n: [n]": "builtin",
    "import builtins\nsetattr(builtins, 'ra' + 'nge', lambda n: [n])": "builtin",
    "__builtins__['range'] = lambda n: [n]": "builtin",
}

# What leaves all of them native.
LOOKS = [
    "",
    "nn = torch.nn",
    "class Net(torch.nn.Module):\n    def __init__(self):\n        self.relu = torch.nn.ReLU()\n        self.F = F.relu",
    "activation = F.relu",
    "TABLE = {'relu': F.relu, 'tanh': torch.tanh}",
    "has = hasattr(torch, 'compile') and getattr(F, 'gelu')",
    "def is_tensor(x):\n    return isinstance(x, torch.Tensor)",
    "if torch is not None: pass",
    "def eval(model):\n    return model\n\neval(3)",
    "here = {name: globals()[name] for name in ('F', 'torch')}",
    "space = {}\nexec('F = 1', space)",
    "def show(n):\n    print('%(n)s' % locals())",
    "import argparse\noptions = argparse.Namespace()\nsetattr(options, 'rows', 3)\noptions.width = 3",
    "def wrap(f):\n    def g(*a):\n        return f(*a)\n    g.__name__ = f.__name__\n    g.__doc__ = f.__doc__\n    return g",
]


@pytest.fixture(scope="module")
def project(module_folder: Path) -> Project:
    files = {f"changed{i}.py": HEAD + text + "\n" + FUNCTIONS for i, text in enumerate(CHANGES)}
    files.update({f"looked{i}.py": HEAD + text + "\n" + FUNCTIONS for i, text in enumerate(LOOKS)})
    return Project(module_folder / "rebinding", files)


@pytest.fixture(scope="module")
def accepted(project: Project) -> set[str]:
    return {name for name, f in project.functions().items() if f["accepted"]}


@pytest.mark.parametrize(("i", "text"), list(enumerate(CHANGES)), ids=lambda v: v.replace("\n", " ; ")[-60:] if isinstance(v, str) else "")
def test_what_the_module_changes_stays_python(accepted: set[str], i: int, text: str) -> None:
    assert [f for f in CHANGES[text].split() if f"changed{i}.{f}" in accepted] == []


@pytest.mark.parametrize(("i", "text"), list(enumerate(LOOKS)), ids=lambda v: v.replace("\n", " ; ")[-60:] if isinstance(v, str) else "")
def test_what_it_only_looks_at_is_native(accepted: set[str], i: int, text: str) -> None:
    assert [f for f in ALL.split() if f"looked{i}.{f}" not in accepted] == []


@pytest.mark.skipif(not has_torch(), reason="torch is not installed")
def test_the_changes_do_change_something(project: Project) -> None:
    """Each row of CHANGES gives the functions that it names another result in Python: or the tests above would hold nothing."""
    project.write("stubs/replaced.py", "relu = abs\n\n\nclass F:\n    relu = abs\n")
    code = f"""
        import os, runpy, sys, torch
        import torch._dynamo  # what a patched torch could not be imported with
        sys.path.insert(0, "stubs")
        usual = {{"method": [0.0, 3.0], "call": [0.0, 3.0], "spelled_out": [0.0, 3.0], "operator": [-4.0, 6.0], "builtin": 6}}
        x = torch.tensor([[-2.0, 3.0]])
        for i, names in enumerate({list(CHANGES.values())}):
            child = os.fork()
            if not child:
                try:
                    m = runpy.run_path(f"changed{{i}}.py")
                    got = {{name: m[name](4) if name == "builtin" else m[name](x)[0].tolist() for name in names.split()}}
                    os._exit(any(got[name] == usual[name] for name in got))
                except BaseException as e:
                    print(i, repr(e), flush=True)
                    os._exit(1)
            if os.waitpid(child, 0)[1]:
                print(i)
        """
    done = project.python(code, mode=None, path=project.root)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
