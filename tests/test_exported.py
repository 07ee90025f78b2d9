"""Programs of torch.export in files: check, show, bench, and the wheel that build makes of one."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stand_ins import same
from workbench import has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed"), pytest.mark.usefixtures("exporter")]


@pytest.fixture(autouse=True)
def _plain() -> Iterator[None]:
    os.environ.pop("TENSORC_MODE", None)
    yield


def tensorc(*words: Any) -> int:
    from tensorc.__main__ import main

    return main([str(word) for word in words])


def several() -> Any:
    """A program with arguments of every kind, tensors of its own of every kind, and results in a structure."""
    import torch

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lin = torch.nn.Linear(4, 4)
            self.register_buffer("b", torch.ones(4))
            self.k = torch.full((4,), 3.0)

        def forward(self, pair: Any, n: int, none: Any = None, *, scale: float, mask: Any) -> Any:
            x, y = pair
            z = self.lin(x) * scale + self.b * self.k + torch.tensor([1.0, float("inf"), 3.0, 4.0])
            return {"z": [z.masked_fill(mask, n), y], "n": n, "pad": torch.nn.functional.pad(z, (1, 1), value=float("-inf"))}

    torch.manual_seed(0)
    return Model().eval(), ((torch.randn(2, 4), torch.ones(2)), 5, None), {"scale": 0.1, "mask": torch.eye(2, 4).bool()}


def save(path: Path, model: Any, args: Any, kwargs: Any = None, **more: Any) -> Path:
    import torch

    with torch.no_grad():
        torch.export.save(torch.export.export(model, args, kwargs, **more), path)
    return path


def installed(path: Path, where: Path, mode: str = "native") -> Any:
    """The module of the program's wheel, imported from a folder that is new."""
    unpack(path, where)
    os.environ["TENSORC_MODE"] = mode
    sys.modules.pop(path.stem, None)
    sys.path.insert(0, str(where))
    try:
        importlib.invalidate_caches()
        return importlib.import_module(path.stem)
    finally:
        sys.path.remove(str(where))


def unpack(path: Path, where: Path) -> None:
    assert not where.exists(), "an extension that is loaded must not be written to"
    assert tensorc("build", path) == 0
    (wheel,) = (path.parent / "dist").glob(f"{path.stem}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(where)


def test_check_says_how_each_operation_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    path = save(tmp_path / "mine.pt2", *several())
    spectrum = save(tmp_path / "spectrum.pt2", Spectrum(), (torch.randn(4),))
    assert tensorc("check", path) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith(f"{path}: native  ") and " recipe" in head
    assert rows[0].split() == ["linear", "aten::linear", "recipe"] and len(rows) == int(head.split()[2])
    assert tensorc("check", path, spectrum, "--fail-on", "rejected") == 1
    assert f"{spectrum}: rejected  the result of fft_rfft has dtype torch.complex64" in capsys.readouterr().out
    assert tensorc("check", path, spectrum, "--json") == 0
    mine, other = json.loads(capsys.readouterr().out)["programs"]
    assert mine["status"] == "accepted" and [row["node"] for row in mine["operations"]] == [row.split()[0] for row in rows]
    assert other["status"] == "rejected" and other["operations"] == []


def Spectrum() -> Any:
    import torch

    class Spectrum(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.fft.rfft(x)

    return Spectrum()


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(tmp_path / "mine.pt2", *several())
    for stage, words in (("graph", 'param %p_lin_weight : f32[4,4](4,1) "lin.weight"\n'), ("ir", "node aten::linear"), ("plan", "linear = aten::linear: recipe"),
                         ("c", "TC_GRAPH_MODULE(mine, ")):
        assert tensorc("show", path, "--stage", stage) == 0
        assert words in capsys.readouterr().out, stage
    assert tensorc("show", path, "--stage", "ast") == 1
    assert "no stage ast" in capsys.readouterr().err


def test_the_ten_models_are_what_is_captured(tmp_path: Path) -> None:
    """A file gives the same graph as tensorc.compile."""
    import models
    from tensorc import exported
    from workbench import TESTS

    for name in models.NAMES:
        model, args = models.make(name, 2)
        if not hasattr(model, "forward"):
            continue
        path = save(tmp_path / f"{name}.pt2", model, args)
        loaded = exported.load(str(path))
        text = exported.program(loaded, exported.example(loaded)).text.decode()
        assert text == (TESTS / "graphs" / f"{name}.txt").read_text()


def test_wheels_have_eager_s_bits(tmp_path: Path) -> None:
    import models
    import torch
    from tensorc.same import difference
    from torch.utils._pytree import tree_leaves

    for name in ("mlp_bn", "encoder", "gru"):
        model, args = models.make(name, 2)
        module = installed(save(tmp_path / f"{name}.pt2", model, args), tmp_path / name)
        for seed in range(3):
            given = models.example(name, 2, seed)
            with torch.inference_mode():
                want = model(*given)
            assert difference(tree_leaves(want), tree_leaves(module.forward(*given)), list(given)) is None


def test_arguments_of_every_kind(tmp_path: Path) -> None:
    import torch

    model, args, kwargs = several()
    module = installed(save(tmp_path / "mine.pt2", model, args, kwargs), tmp_path / "site")
    with torch.no_grad():
        want = model(*args, **kwargs)
    got = module.forward(*args, **kwargs)
    same(want, got)
    assert list(got) == list(want) and got["z"][1] is args[0][1] and not got["pad"].requires_grad
    same(want, module.forward(*args, **dict(reversed(kwargs.items()))))
    x, y = args[0]
    for other in (((x, y), 6, None), ((x, y), 5.0, None), ([x, y], 5, None), ((x[:1], y), 5, None), ((x.double(), y), 5, None), ((x, y), 5)):
        with pytest.raises((module.Unfit, TypeError)):
            module.forward(*other, **kwargs)


def test_open_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Native for the example's; by torch for others, and errors are the program's."""
    import torch

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return x.view(x.shape[0] * 2, -1).sum(0).expand(x.size(0) + 1, -1) / x.shape[0], x.shape[0]

    model, x = Model(), torch.randn(3, 4)
    path = save(tmp_path / "open.pt2", model, (x,), dynamic_shapes={"x": {0: torch.export.Dim.DYNAMIC}})
    module = installed(path.rename(tmp_path / "rows.pt2"), tmp_path / "site")
    same(model(x), module.forward(x))
    with pytest.raises(module.Unfit, match="other sizes"):
        module.forward(torch.randn(5, 4))
    sys.modules.pop("rows._tensorc_rows")
    module = installed(tmp_path / "rows.pt2", tmp_path / "again", mode="auto")
    for rows in (3, 5, 3):
        given = torch.randn(rows, 4)
        same(model(given), module.forward(given))
    for wrong in (torch.randn(3, 5), torch.randn(3)):
        with pytest.raises(Exception) as want:
            torch.export.load(tmp_path / "rows.pt2").module()(wrong)
        with pytest.raises(type(want.value), match=re.escape(str(want.value))):
            module.forward(wrong)
    os.environ.pop("TENSORC_MODE")
    capsys.readouterr()
    assert tensorc("bench", tmp_path / "rows.pt2", "--rows", "2,7", "--json") == 0
    assert [(row["rows"], row["equal"]) for row in json.loads(capsys.readouterr().out)["rows"]] == [(2, True), (7, True)]


def test_bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(tmp_path / "mine.pt2", *several())
    assert tensorc("bench", path) == 0
    title, head, row = capsys.readouterr().out.splitlines()
    assert title.startswith("mine.pt2 (") and head.split()[-1] == "equal" and row.split()[0] == "2" and row.split()[-1] == "yes"


def test_a_wheel_needs_torch_and_nothing_of_ours(tmp_path: Path) -> None:
    import torch

    model, args, kwargs = several()
    path = save(tmp_path / "mine.pt2", model, args, kwargs)
    assert tensorc("build", path) == 0
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    first = wheel.read_bytes()
    assert tensorc("build", path, "-q") == 0 and wheel.read_bytes() == first, "two builds, the same bytes"
    with zipfile.ZipFile(wheel) as archive:
        assert "Requires-Dist: torch>=2" in archive.read("mine-0.1.0.dist-info/METADATA").decode()
        archive.extractall(tmp_path / "site")
    torch.save((args, kwargs), tmp_path / "given.pt")
    code = f"""
import sys
sys.path += [{str(tmp_path / "site")!r}, {str(Path(torch.__file__).parent.parent)!r}]
try:
    import tensorc
    sys.exit("tensorc is here")
except ImportError:
    pass
import torch, mine
args, kwargs = torch.load({str(tmp_path / "given.pt")!r})
torch.save(mine.forward(*args, **kwargs), {str(tmp_path / "gave.pt")!r})
print(mine.forward.__module__, *sorted(name for name in sys.modules if "tensorc" in name))
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], env={"TENSORC_MODE": "native", "PATH": ""}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["mine", "mine._tensorc_mine"]
    with torch.no_grad():
        same(model(*args, **kwargs), torch.load(tmp_path / "gave.pt"))


def test_an_extension_that_does_not_load_leaves_torch(tmp_path: Path) -> None:
    path = save(tmp_path / "mine.pt2", *several())
    unpack(path, tmp_path / "site")
    (extension,) = (tmp_path / "site" / "mine").glob("*.so")
    extension.write_bytes(b"nothing")
    os.environ["TENSORC_MODE"] = "auto"
    sys.path.insert(0, str(tmp_path / "site"))
    with pytest.warns(RuntimeWarning, match="mine runs by torch: "):
        module = importlib.import_module("mine")
    model, args, kwargs = several()
    same(model.requires_grad_(False)(*args, **kwargs), module.forward(*args, **kwargs))


def test_what_cannot_be_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    save(tmp_path / "my-model.pt2", torch.nn.ReLU(), (torch.ones(2),))
    save(tmp_path / "spectrum.pt2", Spectrum(), (torch.randn(4),))
    (tmp_path / "junk.pt2").write_text("junk")
    for name, words in (("my-model.pt2", "is none: rename the file"), ("spectrum.pt2", "cannot be native: the result of fft_rfft"),
                        ("junk.pt2", "is no program that this torch reads"), ("none.pt2", "no such file")):
        for command in ("build", "show") if name != "my-model.pt2" else ("build",):
            assert tensorc(command, tmp_path / name) == 1
            said = capsys.readouterr()
            assert words in said.err and said.err.count("\n") == 1 and said.out == "", said
    assert not (tmp_path / "dist").exists()


def test_effects_in_a_wheel(tmp_path: Path) -> None:
    """And sizes that depend on values. An error behind a write is raised, and the write not made again."""
    import torch

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros((), dtype=torch.int64))

        def forward(self, x: torch.Tensor, at: torch.Tensor) -> Any:
            self.count.add_(1)
            x.mul_(2)
            kept = x[x > 0]
            return x.index_select(0, at), kept, kept.size(0) + 1, self.count.clone()

    model = Model()
    path = save(tmp_path / "mine.pt2", model, (torch.randn(4), torch.tensor([1])))
    module = installed(path, tmp_path / "site")
    for seed in range(3):
        x, y = (torch.randn(4, generator=torch.Generator().manual_seed(seed)) for _ in range(2))
        same((model(x, torch.tensor([2])), x), (module.forward(y, torch.tensor([2])), y))
    x = torch.ones(4)
    with pytest.raises(IndexError):
        module.forward(x, torch.tensor([9]))
    assert x.tolist() == [2.0] * 4
