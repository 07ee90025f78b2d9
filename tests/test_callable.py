"""The native callable looks and behaves like the function it was compiled from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from workbench import BODIES, HEAD, Project, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

SOURCE = HEAD + '''
def act(x: TensorF32Cpu2D, n: int = 2, *, flag: bool = True) -> TensorF32Cpu2D:
    """Rectifies n times.

    */ % größe
    """
    for i in range(n):
        x = x.relu()
    return x


def other(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.tanh()


def python_only(x):
    return x


def later(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return act(x)


class Model:
    layer = act

    def __init__(self) -> None:
        self.own = other


def calls_inside(x):
    return act(x) + other(x)


TABLE = {"act": act, "other": other}
if __name__ == "__main__":
    print(act.native_status)
'''


@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    return Project(module_folder, {"src/pkg/__init__.py": "from pkg.model import act as exported\n", "src/pkg/model.py": SOURCE}).build()


@pytest.fixture
def m(built: Project) -> Any:
    return built  # loaded in the child


def load(built: Project) -> Any:
    return built.load("pkg.model")


def test_is_a_function_for_whoever_asks(built: Project) -> None:
    """By isinstance; its attributes are a function's, and so tools go on with what they find."""
    import inspect
    import types

    m = load(built)
    assert isinstance(m.act, types.FunctionType) and inspect.isfunction(m.act) and inspect.isroutine(m.act)
    assert dict(inspect.getmembers(m, inspect.isfunction)).keys() >= {"act", "other", "later", "python_only"}
    assert inspect.ismethod(m.Model().layer) and not inspect.isfunction(m.Model)
    rebuilt = types.FunctionType(m.act.__code__, m.act.__globals__, m.act.__name__, m.act.__defaults__, m.act.__closure__)
    assert rebuilt.__code__ is m.act.__wrapped__.__code__
    with pytest.raises((AttributeError, TypeError)):
        m.act.__class__ = object


@pytest.mark.parametrize("through", ["callable", "original"])
def test_other_code(built: Project, through: str) -> None:
    """Tools that patch a running program replace a function's code: the native body is not that code's."""
    import tensorc
    import torch

    m = load(built)
    x = torch.ones(2, 3)
    assert torch.equal(m.other(x), x.tanh()) and m.other.body in BODIES
    before = m.other.__code__
    (m.other if through == "callable" else m.other.__wrapped__).__code__ = m.python_only.__code__
    with pytest.raises(RuntimeError, match="other code"):
        m.other(x)
    for mode in ("auto", "compare", "fallback"):
        with tensorc.mode(mode):
            assert m.other(x) is x and m.other.body == "python"
    m.other.__code__ = before
    assert torch.equal(m.other(x), x.tanh()) and m.other.body in BODIES


def test_under_tracers(built: Project) -> None:
    """torch.fx records what the Python function does, and no warning is given."""
    import warnings

    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    m = built.load("pkg.model", "auto")
    x = torch.randn(2, 3)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error", RuntimeWarning)
        for graph in (torch.fx.symbolic_trace(m.calls_inside), torch.fx.symbolic_trace(m.other), make_fx(m.calls_inside)(x)):
            assert any("tanh" in str(node.target) for node in graph.graph.nodes), graph.code
            assert graph(x).shape == x.shape


def test_is_native(built: Project) -> None:
    m = load(built)
    assert m.act.native_status == "accepted" and m.other.native_status == "accepted"
    assert not hasattr(m.python_only, "native_status")
    assert m.TABLE["act"] is m.act and m.TABLE["other"] is m.other
    assert callable(m.act) and "act" in repr(m.act)
    import pkg

    assert pkg.exported is m.act


def test_attributes(built: Project) -> None:
    m = load(built)
    f, original = m.act, m.act.__wrapped__
    assert type(original).__name__ == "function"
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__", "__annotations__", "__code__", "__globals__"):
        assert getattr(f, name) == getattr(original, name), name
    assert f.__name__ == f.__qualname__ == "act" and f.__module__ == "pkg.model"
    assert f.__doc__ == "Rectifies n times.\n\n    */ % größe\n    "
    assert f.__defaults__ == (2,) and f.__kwdefaults__ == {"flag": True}
    assert list(f.__annotations__) == ["x", "n", "flag", "return"]
    assert f.__globals__ is vars(m)


def test_attributes_can_be_set(built: Project) -> None:
    m = load(built)
    m.act.note = 3
    assert m.act.note == 3 and m.act.__dict__["note"] == 3
    del m.act.note
    assert not hasattr(m.act, "note")
    m.act.__doc__ = "new"
    assert m.act.__doc__ == "new"
    m.act.__name__ = "renamed"
    assert m.act.__name__ == "renamed"
    with pytest.raises((AttributeError, TypeError)):
        m.act.native_status = "x"
    with pytest.raises((AttributeError, TypeError)):
        m.act.__globals__ = {}


def test_inspection(built: Project) -> None:
    import inspect
    import typing

    m = load(built)
    f, original = m.act, m.act.__wrapped__
    assert inspect.signature(f) == inspect.signature(original)
    assert str(inspect.signature(f)).startswith("(x:") and "n: int = 2" in str(inspect.signature(f))
    assert inspect.unwrap(f) is original
    assert inspect.getsource(f) == inspect.getsource(original) and inspect.getsource(f).startswith("def act(x")
    assert inspect.getsourcelines(f)[1] == original.__code__.co_firstlineno
    assert Path(inspect.getsourcefile(inspect.unwrap(f)) or "").name == "model.py"
    assert inspect.getdoc(f) == inspect.getdoc(original)
    assert inspect.getmodule(f) is m
    assert typing.get_type_hints(f) == typing.get_type_hints(original)
    assert inspect.signature(f).bind(1, n=3).arguments == {"x": 1, "n": 3}


def test_line_numbers_do_not_move(built: Project) -> None:

    m = load(built)
    text = SOURCE.split("\n")
    for name in ("act", "other", "later", "calls_inside"):
        line = getattr(m, name).__code__.co_firstlineno
        assert text[line - 1].startswith(f"def {name}("), (name, line)
    copied = Path(m.__file__ or "").read_text().split("\n")
    assert [i for i, (a, b) in enumerate(zip(text, copied)) if a != b and a.strip()] == [], "only blank lines may change"


def test_pickle_and_copy(built: Project) -> None:
    import copy
    import pickle

    m = load(built)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(m.act, protocol)) is m.act
    assert copy.copy(m.act) is m.act and copy.deepcopy(m.act) is m.act
    assert copy.deepcopy({"f": [m.act]})["f"][0] is m.act


def test_pickle_in_another_process(built: Project) -> None:
    import base64
    import pickle

    m = load(built)
    text = base64.b64encode(pickle.dumps(m.act)).decode()
    out = built.run(f"import pickle, base64\nf = pickle.loads(base64.b64decode({text!r}))\nprint(f.native_status, f.__name__)")
    assert out.split() == ["accepted", "act"]


def test_hash_and_equality(built: Project) -> None:
    m = load(built)
    assert m.act == m.act and m.act != m.other and hash(m.act) == hash(m.act)
    assert {m.act: 1, m.other: 2}[m.act] == 1
    import weakref

    assert weakref.ref(m.act)() is m.act


def test_as_a_method(built: Project) -> None:
    import torch

    m = load(built)
    instance = m.Model()
    assert type(instance.layer).__name__ == "method"
    with pytest.raises(TypeError, match="torch.Tensor"):
        instance.layer()  # self is no tensor
    assert instance.own is m.other and torch.equal(instance.own(torch.ones(1, 2)), torch.ones(1, 2).tanh())
    assert m.Model.layer is m.act
    bound = m.act.__get__(torch.ones(2, 3), object)
    assert torch.equal(bound(), torch.ones(2, 3)) and torch.equal(bound(n=1), torch.ones(2, 3))
    assert m.act.__get__(None, object) is m.act


def test_functools(built: Project) -> None:
    import functools

    import torch

    m = load(built)
    x = torch.randn(2, 3)
    assert torch.equal(functools.partial(m.act, n=1)(x), x.relu())

    @functools.wraps(m.act)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return m.act(*args, **kwargs)

    assert wrapper.__name__ == "act" and torch.equal(wrapper(x), x.relu())
    cached = functools.lru_cache(m.act)
    assert cached(x) is cached(x)
    registered = functools.singledispatch(m.other)
    assert torch.equal(registered(x), x.tanh())


def test_stats_and_body(built: Project) -> None:
    import tensorc
    import torch

    m = load(built)
    x = torch.randn(2, 3)
    assert m.act.body is None
    assert sum(m.act.stats()["python"].values()) == 0
    for _ in range(3):
        m.act(x)
    stats = m.act.stats()
    assert m.act.body in BODIES and stats[m.act.body] == 3 and sum(stats["python"].values()) == 0
    assert m.other.body is None and Project.native_calls(m.other) == 0
    with tensorc.mode("fallback"):
        m.act(x)
    assert m.act.body == "python" and sum(m.act.stats()["python"].values()) == 1
    m.act(x)
    assert m.act.body in BODIES
    changed = m.act.stats()
    changed["library"] = 99
    assert Project.native_calls(m.act) == 4


def test_body_is_per_thread(built: Project) -> None:
    import threading

    import tensorc
    import torch

    m = load(built)
    x = torch.randn(2, 3)
    m.act(x)
    seen: list[Any] = []

    def work() -> None:
        seen.append(m.act.body)
        with tensorc.mode("fallback"):
            m.act(x)
        seen.append(m.act.body)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [None, "python"] and m.act.body in BODIES


def test_calls_inside_the_module_are_native(built: Project) -> None:
    import torch

    m = load(built)
    m.calls_inside(torch.randn(2, 3))
    assert Project.native_calls(m.act) == 1 and Project.native_calls(m.other) == 1


def test_reload(built: Project) -> None:
    import importlib

    import torch

    m = load(built)
    first = m.act
    m = importlib.reload(m)
    assert m.act.native_status == "accepted" and m.act is not first
    assert torch.equal(m.act(torch.ones(1, 2)), first(torch.ones(1, 2)))


def test_original_stays_python(built: Project) -> None:
    import torch

    m = load(built)
    before = m.act.stats()
    m.act.__wrapped__(torch.ones(1, 2))
    assert m.act.stats() == before


def test_async_and_generators_see_a_function(built: Project) -> None:
    import inspect

    m = load(built)
    assert not inspect.iscoroutinefunction(m.act) and not inspect.isgeneratorfunction(m.act) and not inspect.isclass(m.act)


def test_no_python_frame_in_a_call(built: Project) -> None:
    import sys

    import torch

    m = load(built)
    x = torch.randn(2, 3)
    m.act(x)
    frames: list[str] = []
    sys.setprofile(lambda frame, event, arg: frames.append(frame.f_code.co_name) if event == "call" else None)
    m.act(x)
    m.act(x, n=1)
    m.act(x, flag=False)
    sys.setprofile(None)
    assert frames == []


def test_run_as_main(built: Project) -> None:
    assert built.run("import runpy\nrunpy.run_module('pkg.model', run_name='__main__')").strip() == "accepted"


def test_vectorcall_with_many_arguments(module_folder: Path) -> None:
    import torch

    names = [f"x{i}" for i in range(40)]
    source = HEAD + f"\ndef many({', '.join(n + ': TensorF32Cpu2D' for n in names)}) -> TensorF32Cpu2D:\n    return {' + '.join(names)}\n\n"
    project = Project(module_folder / "many", {"many.py": source}).build()
    m = project.load("many")
    xs = [torch.randn(2, 3) for _ in names]
    want = m.many.__wrapped__(*xs)
    assert torch.equal(m.many(*xs), want) and torch.equal(m.many(**dict(zip(names, xs))), want)
