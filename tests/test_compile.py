"""tensorc.compile as its users see it: what stands in for a model or function, modes, processes and threads."""

from __future__ import annotations

import copy
import dataclasses
import functools
import os
import pickle
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stand_ins import info, net, same, unlike, without_gradients
from workbench import BODIES, Project, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed"), pytest.mark.usefixtures("exporter")]


@pytest.fixture(autouse=True)
def _plain() -> Iterator[None]:
    os.environ.pop("TENSORC_MODE", None)
    yield


# ── what stands in ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_module_s_stand_in_is_the_module() -> None:
    import tensorc
    import torch

    model = net()
    fast = tensorc.compile(model)
    assert isinstance(fast, torch.nn.Sequential) and type(fast).__name__ == "Sequential" and repr(fast) == repr(model)
    assert list(fast.state_dict()) == list(model.state_dict()) and list(fast.parameters())[0] is model[0].weight
    fast.extra = 3
    assert model.extra == 3 and fast[0] is model[0]
    fast.train()
    assert model.training and model[1].training
    outer = torch.nn.Sequential(fast).eval()
    assert [name for name, _ in outer.named_parameters()][0] == "0.0.weight"
    assert tensorc.compile(fast).__tensorc__._original is model


def test_attributes_of_the_model_come_first() -> None:
    import tensorc
    import torch

    class Own(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = torch.nn.Linear(2, 2)

        def stats(self) -> str:
            return "own"

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.body(x)

        def twice(self, x: torch.Tensor) -> torch.Tensor:
            return self(self(x))

    fast = tensorc.compile(Own())
    assert isinstance(fast.body, torch.nn.Linear) and fast.stats() == "own" and fast.native_status is None and fast.report() == {}
    with without_gradients():
        fast.twice(torch.ones(1, 2))  # its methods call the stand-in
    assert fast.__tensorc__.body in BODIES and sum(fast.__tensorc__.stats()[body] for body in BODIES) == 2
    with pytest.raises(AttributeError, match="nothing"):
        fast.nothing


def test_copies_and_pickles_are_wrapped_again() -> None:
    import tensorc
    import torch

    x = torch.randn(2, 4)
    fast = tensorc.compile(net(), args=(x,))
    for other in (copy.deepcopy(fast), pickle.loads(pickle.dumps(fast)), copy.copy(fast)):
        with without_gradients():
            same(fast(x), other(x))
        assert info(other) is not info(fast) and info(other).body in BODIES
    assert copy.deepcopy(fast)[0].weight is not fast[0].weight and copy.copy(fast)[0].weight is fast[0].weight
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    again = pickle.loads(pickle.dumps(tensorc.compile(plain)))
    assert again.__wrapped__ is plain and copy.deepcopy(decorated) is decorated


def plain(x: Any) -> Any:
    """Its text."""
    return x + 1


if has_torch():
    import tensorc as _tensorc

    @_tensorc.compile
    def decorated(x: Any, *, by: float = 2.0) -> Any:
        """Its text."""
        return x * by


def test_decorated_functions_and_methods() -> None:
    import inspect

    import tensorc
    import torch

    x = torch.ones(2)
    assert decorated.__doc__ == "Its text." and str(inspect.signature(decorated)) == "(x: 'Any', *, by: 'float' = 2.0) -> 'Any'"
    for by in (2.0, 3.0):
        same(x * by, decorated(x, by=by))
        assert decorated.body in BODIES

    class Model(torch.nn.Module):
        @tensorc.compile(freeze=False)
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    with pytest.warns(RuntimeWarning, match="an argument is a .*Model"):
        same(x + 1, Model()(x))
    assert tensorc.compile(functools.partial(plain))(x).tolist() == [2.0, 2.0]
    for wrong in (3, torch.jit.script(net())):
        with pytest.raises(TypeError, match="tensorc.compile takes"):
            tensorc.compile(wrong)


@dataclasses.dataclass
class Output:
    score: Any
    label: Any


def test_results_have_their_structure() -> None:
    import tensorc
    import torch
    from torch.utils import _pytree

    _pytree.register_dataclass(Output)

    def function(x: torch.Tensor, n: int = 2, *, names: tuple[str, ...] = ()) -> Any:
        return Output({"a": (x + n, [x * n, None])}, list(names)), n

    fast, x = tensorc.compile(function), torch.ones(2)
    for _ in range(2):
        for want, got in ((function(x), fast(x)), (function(x, 3, names=("a",)), fast(x, 3, names=("a",)))):
            assert fast.body in BODIES
            assert isinstance(got[0], Output) and got[1] == want[1] and got[0].label == want[0].label and list(got[0].score) == ["a"]
            same(want[0].score["a"][0], got[0].score["a"][0])
            assert isinstance(got[0].score["a"], tuple) and got[0].score["a"][1][1] is None


def test_errors_are_eager_s() -> None:
    import tensorc
    import torch

    model = torch.nn.Embedding(4, 2).requires_grad_(False)
    fast, ids = tensorc.compile(model), torch.tensor([1, 3])
    fast(ids)
    for _ in range(2):
        with pytest.raises(IndexError, match="out of range"):
            fast(ids + 1)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        fast()
    same(model(ids), fast(ids))
    assert info(fast).body in BODIES


def test_what_it_tells() -> None:
    import tensorc
    import torch

    fast = tensorc.compile(net())
    assert fast.body is None and fast.native_status is None and fast.stats() == {"exact": 0, "library": 0, "python": {}, "versions": []}
    with without_gradients():
        for n in (2, 2, 3):
            fast(torch.ones(n, 4))
    label = "f32[2,4](4,1)"
    stats = fast.stats()
    assert stats["exact"] + stats["library"] == 3 and stats["versions"] == [label, "f32[3,4](4,1)"] and fast.native_status == "accepted"
    assert [(row.node, row.operation) for row in fast.report()[label]][:2] == [("linear", "aten::linear"), ("batch_norm", "aten::batch_norm")]
    assert {row.way for row in fast.report()[label]} <= {"view", "loop", "recipe", "wheel"}
    rejected = tensorc.compile(lambda x: x if x.sum() > 0 else -x)
    with pytest.warns(RuntimeWarning, match="torch.export: .*data-dependent"):
        rejected(torch.ones(2))
    assert rejected.native_status == "rejected" and rejected.body == "python"


def test_one_warning_for_each_reason() -> None:
    import tensorc
    import torch

    fast = tensorc.compile(lambda x, n: torch.fft.rfft(x) if n else x if x.sum() > 0 else -x)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            for n in (0, 1):
                fast(torch.ones(2), n)
    assert len(seen) == 2 and all(w.filename == __file__ for w in seen), [str(w) for w in seen]
    assert sorted(fast.stats()["python"].values()) == [3, 3]


def test_at_most_so_many_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorc
    import torch
    from tensorc import compiled

    assert compiled.MOST_VERSIONS == 8
    monkeypatch.setattr(compiled, "MOST_VERSIONS", 2)

    fast = tensorc.compile(lambda x, n: x + 1 if n == 0 else x + n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(2):
            fast(torch.ones(2, 3), n)
    with pytest.warns(RuntimeWarning, match="there are 2 versions already"):
        assert fast(torch.ones(2, 3), 8).tolist() == [[9.0] * 3] * 2
    assert fast.body == "python" and len(fast.stats()["versions"]) == 2
    fast(torch.ones(2, 3), 1)
    assert fast.body in BODIES


def test_sizes_are_no_other_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of many sizes: each has its version, up to a limit of its own."""
    import tensorc
    import torch
    from tensorc import compiled

    monkeypatch.setattr(compiled, "MOST_VERSIONS", 2)
    monkeypatch.setattr(compiled, "MOST_SIZES", 4)
    fast = tensorc.compile(lambda x, n: x * n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows, n in ((1, 2), (2, 2), (3, 2), (1, 3), (4, 2)):
            assert fast(torch.ones(rows, 3), n).tolist() == [[float(n)] * 3] * rows and fast.body in BODIES
    for rows, n in ((5, 2), (1, 4)):
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            fast(torch.ones(rows, 3), n)
        assert fast.body == "python"
    assert len(fast.stats()["versions"]) == 5


def test_freeze() -> None:
    import tensorc
    import torch

    model, x = net(), torch.randn(2, 4)
    fast = tensorc.compile(model, freeze=True)
    before = model(x).detach()
    same(before, fast(x))
    assert fast.body in BODIES, "a frozen model wants no gradients"
    model[0].weight.data.mul_(2)
    model[4].bias = torch.nn.Parameter(torch.ones(3))
    same(before, fast(x))
    unlike(before, model(x).detach())
    with pytest.raises(TypeError, match="frozen"):
        tensorc.compile(torch.relu, freeze=True)


# ── modes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_modes() -> None:
    import tensorc
    import torch

    x = torch.randn(2, 4)
    fast = tensorc.compile(net(), args=(x,))
    branches = tensorc.compile(lambda x: x if x.sum() > 0 else -x)
    with torch.no_grad():
        for name, bodies in (("native", BODIES), ("fallback", ("python",)), ("compare", BODIES), ("auto", BODIES)):
            with tensorc.mode(name):
                fast(x)
                assert info(fast).body in bodies, name
                if name == "native":
                    with pytest.raises(RuntimeError, match="cannot run natively: .*data-dependent"):
                        branches(x)
    with tensorc.mode("native"), pytest.raises(RuntimeError, match="cannot run natively: gradients"):
        fast(x)


def test_compare_finds_a_difference() -> None:
    """An attribute of a class is none that is watched: the version goes on with the old one, and compare tells."""
    import tensorc
    import torch

    class Model(torch.nn.Module):
        number = 2.0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.number

    model, x = Model(), torch.ones(3)
    fast = tensorc.compile(model)
    with tensorc.mode("compare"):
        fast(x)
        Model.number = 3.0
        with pytest.raises(RuntimeError, match=r"Model differs from Python: result 0 differs at 3 of 3 elements, first at 0: 2.0, eager's 3.0"):
            fast(x)


def test_what_is_captured_is_held_against_eager() -> None:
    """A model that does something else while it is traced gets no version."""
    import tensorc
    import torch

    fast = tensorc.compile(lambda x: x + (1 if torch.compiler.is_compiling() else 2))
    x = torch.ones(2)
    with pytest.warns(RuntimeWarning, match="what was captured differs from eager: result 0 differs at 2 of 2"):
        assert fast(x).tolist() == fast(x).tolist() == [3.0, 3.0]
    assert fast.native_status == "rejected"


DIFFERENCES = [
    ("lambda x: [x + 1]", "lambda x: [x + 1, x]", "2 results, eager has 1"),
    ("lambda x: [x + 1]", "lambda x: [1]", "result 0 is a int"),
    ("lambda x: [3]", "lambda x: [4]", "result 0 is 4, eager's 3"),
    ("lambda x: [x + 1]", "lambda x: [(x + 1).double()]", "dtype torch.float64"),
    ("lambda x: [x + 1]", "lambda x: [(x + 1)[:1]]", r"shape torch.Size\(\[1, 2\]\)"),
    ("lambda x: [x + 1]", "lambda x: [(x + 1).t().contiguous().t()]", r"strides \(1, 2\)"),
    ("lambda x: [x * 0]", "lambda x: [x * -0.0]", "differs at 4 of 4 elements, first at 0: -0.0, eager's 0.0"),
    ("lambda x: [x]", "lambda x: [x.clone()]", "share memory"),
    ("lambda x: [x.view(-1)]", "lambda x: [x.clone().view(-1)]", "share memory"),
    ("lambda x: [x[:1]]", "lambda x: [x[1:] * 0 + x[:1]]", "share memory"),
    ("lambda x: [x + 1, x + 1]", "lambda x: [x + 1] * 2", "share memory"),
    ("lambda x: [x / 0 * 0]", "lambda x: [-(x / 0 * 0)]", ""),
    ("lambda x: [x, x[1:], x + 1]", "lambda x: [x, x[1:], x + 1]", ""),
]


def test_every_difference_is_one() -> None:
    import re

    import torch
    from tensorc.same import difference

    x = torch.ones(2, 2)
    for want, got, words in DIFFERENCES:
        found = difference(eval(want)(x), eval(got)(x), [x])
        assert re.search(words, found) if found and words else found is None and not words, (want, got, found)


# ── processes and threads ────────────────────────────────────────────────────────────────────────────────────────────


def test_another_process_needs_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache folder is all that they share: the second one runs no compiler, unless what is there was cut short (loading
    that would end the process)."""
    import multiprocessing

    import tensorc
    import torch
    from tensorc import cc

    monkeypatch.setenv("TENSORC_CACHE_DIR", str(tmp_path))
    fork = multiprocessing.get_context("fork")
    told = fork.Queue()

    def work() -> None:
        made, run = [], cc.run
        cc.run = lambda *args: (made.append(args[2]), run(*args))
        fast = tensorc.compile(lambda x: x * 3 - 1)
        told.put([fast(torch.ones(2)).tolist(), fast.body, made, [Path(path).name.split("-")[0] for path in cc.cached()]])

    for made in (["a captured graph"], [], ["a captured graph"]):
        process = fork.Process(target=work)
        process.start()
        assert told.get(timeout=60) == [[2.0, 2.0], "exact", made, ["graph", "program"]]
        process.join()
        (extension,) = tmp_path.glob("graph-*/*.so")
        if not made:
            extension.write_bytes(extension.read_bytes()[:9000])


def test_what_cannot_be_loaded_leaves_the_original(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import tensorc
    import torch
    from tensorc import cc

    (tmp_path / "no.so").write_text("no extension")
    monkeypatch.setattr(cc, "cached_extension", lambda *args: str(tmp_path / "no.so"))
    fast, x = tensorc.compile(lambda x: x * 5 - 1), torch.ones(2)
    with pytest.warns(RuntimeWarning, match="no.so"):
        same(x * 5 - 1, fast(x))
    assert fast.body == "python"


def test_without_a_compiler_the_original_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorc
    import torch

    monkeypatch.setenv("CC", "no-such-compiler")
    fast, x = tensorc.compile(lambda x: x * 2 - 1), torch.ones(2)
    with pytest.warns(RuntimeWarning, match="no C compiler"):
        same(x * 2 - 1, fast(x))
    assert fast.body == "python"


def test_threads_share_versions() -> None:
    import tensorc
    import torch

    model = net().requires_grad_(False)
    fast = tensorc.compile(model)
    given = [torch.randn(1 + i % 3, 4) for i in range(6)]
    want = {x: model(x) for x in given}  # now: torch.export would be in its way
    wrong: list[str] = []

    def work(x: torch.Tensor) -> None:
        for _ in range(20):
            if not torch.equal(want[x], fast(x)) or info(fast).body not in BODIES:
                wrong.append(str(info(fast).stats()))

    threads = [threading.Thread(target=work, args=(x,)) for x in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and info(fast).body is None and len(info(fast).stats()["versions"]) == 3


def test_each_thread_may_capture(tmp_path: Path) -> None:
    """In a process of its own: torch has to meet its first capture on a thread that ends."""
    code = """
        import threading, torch, tensorc
        fast = tensorc.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).requires_grad_(False))
        threads = [threading.Thread(target=lambda x=torch.randn(1 + i % 3, 4): [fast(x) for _ in range(20)]) for i in range(6)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        stats = fast.stats()
        print(stats["exact"] + stats["python"].pop("another thread captures", 0), stats["python"])
        """
    assert Project(tmp_path).run(code, mode=None, fresh=True).split() == ["120", "{}"]


def test_compiled_models_within_models() -> None:
    """An outer capture goes through the original of an inner stand-in."""
    import tensorc
    import torch

    inner = tensorc.compile(net())
    outer = tensorc.compile(torch.nn.Sequential(inner, torch.nn.Softmax(-1)).eval())
    x = torch.randn(2, 4)
    with without_gradients():
        for _ in range(2):
            same(torch.softmax(inner(x), -1), outer(x))
            assert info(outer).body in BODIES
