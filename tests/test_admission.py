"""A recipe that does not have the wheel's bits is found out before it is used: its operations run by the wheel.

A product has variants: laws that are known, what measuring finds, the wheel's own function. It never costs a function its body.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import pytest
from workbench import ROOT, USUAL_KERNELS, Project, environment

HEAD = """\
{imports}
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D

"""
TYPES = {"x": "TensorF32Cpu2D", "w": "TensorF32Cpu2D", "b": "TensorF32Cpu1D"}

# Per lane: the imports; the functions, whose names begin with their recipes'; and for some recipes the right text and one that
# is wrong for few inputs only.
LANES = {
    "torch": (
        "import torch\nimport torch.nn.functional as F",
        {
            "relu": "x.relu()",
            "tanh": "x.tanh()",
            "sigmoid": "x.sigmoid()",
            "exp": "x.exp()",
            "sum": "x.sum(dim=1)",
            "argmax": "x.argmax(dim=1)",
            "softmax": "x.softmax(dim=0)",
            "matmul": "x @ w",
            "linear": "F.linear(x, w, b)",
            "gelu": "F.gelu(x)",
            "tanh_relu": "x.tanh().relu()",
            "exp_sum": "x.exp().sum(dim=0)",
        },
        {
            # -0 becomes 0
            "relu": ("map.def", "v_select(v_lt(x, v_zero), v_zero, x)", "v_select(v_lt(v_zero, x), x, v_zero)"),
            # the last bit of some of the last elements
            "sigmoid": ("map.def", "1.0f / (1.0f + scalar_exp(-x))", "1.0f - 1.0f / (1.0f + scalar_exp(x))"),
            # the order of additions from 32 elements on
            "sum": ("reduce.inc", "return acc[0] + acc[1] + acc[2] + acc[3];", "return (acc[0] + acc[1]) + (acc[2] + acc[3]);"),
            # the columns behind the last whole vector
            "softmax": ("softmax.inc", "out[i * cols + j] /= sum;", "out[i * cols + j] *= 1.0f / sum;"),
        },
    ),
    "tensorflow": (
        "import tensorflow as tf",
        {
            "relu": "tf.nn.relu(x)",
            "exp": "tf.exp(x)",
            "log": "tf.math.log(x)",
            "tanh": "tf.nn.tanh(x)",
            "sum": "tf.reduce_sum(x, axis=1)",
            "softmax": "tf.nn.softmax(x, axis=1)",
            "matmul": "tf.matmul(x, w)",
            "maximum": "tf.maximum(x, w)",
            "tanh_relu": "tf.nn.relu(tf.nn.tanh(x))",
            "log_sum": "tf.reduce_sum(tf.math.log(x), axis=0)",
        },
        {
            # a denormal in front of a tail of odd length
            "relu": ("tf_loops.inc", "if (begin == 0 && length % 2 == 1)", "if (0)"),
            # the last n mod 8 elements are those of the others
            "exp": ("tf_map.def", "TF_MAP1_TAIL(tf_exp, eigen_exp(x), tf_exp_tail)", "TF_MAP1(tf_exp, eigen_exp(x))"),
            # sums of more than 8,192 elements in one
            "sum": ("tf_reduce.inc", "LEAF = 1024 * PACKET", "LEAF = 4096 * PACKET"),
            # a division instead of a product with the reciprocal, in rows of a vector at least
            "softmax": ("tf_softmax.inc", "v_store(out + i, v_load(out + i) * sum);", "v_store(out + i, v_load(out + i) / (v_one / sum));"),
            # an odd K that is taken in halves
            "matmul": ("tf_matmul.inc", "(left + 1) / 2", "left / 2"),
            # their variants: an estimate for the rows behind the last eight, pieces that are too high
            "softmax_eigen": ("tf_softmax_eigen.inc", "r + i < whole ?", "true ?"),
            "matmul_eigen": ("tf_pieces.inc", "up(b.n, 24)", "up(b.n, 48)"),
            # max(0, -0) in the last elements
            "maximum": ("tf_map.def", "eigen_max_tail(a, b)", "eigen_max(a, b)"),
        },
    ),
}


def source(lane: str) -> str:
    imports, functions, _ = LANES[lane]
    text = HEAD.format(imports=imports)
    for name, expression in functions.items():
        used = [p for p in TYPES if re.search(rf"\b{p}\b", expression)]
        result = "TensorI64Cpu1D" if name == "argmax" else "TensorF32Cpu1D" if name.endswith("sum") else "TensorF32Cpu2D"
        text += f"\ndef {name}({', '.join(f'{p}: {TYPES[p]}' for p in used)}) -> {result}:\n    return {expression}\n\n"
    return text


CALL = {
    "torch": """
        import json, torch, m
        torch.set_num_threads(1)
        x, b = torch.tensor([[-0.0, 1.0, -2.0, float("nan"), 0.5]] * 5), torch.ones(5)
        bits = lambda y: y.nan_to_num(7.0).view(torch.int32).tolist() if y.is_floating_point() else y.tolist()
    """,
    "tensorflow": """
        import json, numpy as np, tensorflow as tf, m
        x = tf.constant([[-0.0, 1.0, -2.0, float("nan"), 1e-40]] * 5)
        bits = lambda y: np.nan_to_num(y.numpy(), nan=7.0).tobytes()
        b = None
    """,
}
REST = """
        found = {}
        for name, f in vars(m).items():
            if not hasattr(f, "stats"):
                continue
            args = (x, x, b)[: f.__wrapped__.__code__.co_argcount]
            same = bits(f(*args)) == bits(f.__wrapped__(*args))
            stats = f.stats()
            assert not set(stats["admitted"]) & set(stats["not_admitted"]), stats
            assert all(said in ("recipe", recipe + "_eigen", recipe + "_on_avx2") for recipe, said in stats["admitted"].items() if recipe not in ("linear", "matmul", "mv")), stats
            found[name] = [same, f.body, stats["not_admitted"]]
        print(json.dumps(found))
"""


def build(folder: Path, monkeypatch: pytest.MonkeyPatch, lane: str, breaks: Iterable[tuple[str, str, str]]) -> Project:
    """A project of the lane's functions, with recipes broken in a runtime of its own."""
    from tensorc import cc

    runtime = folder / "runtime"
    shutil.copytree(ROOT / "runtime", runtime)
    for name, right, wrong in breaks:
        path = runtime / "kernel" / name
        text = path.read_text()
        assert right in text, right
        path.write_text(text.replace(right, wrong))
    project = Project(folder / "project", {"m.py": source(lane)})
    monkeypatch.setattr(cc, "runtime_dir", lambda: str(runtime))
    monkeypatch.setenv("TENSORC_CACHE_DIR", str(folder / "cache"))
    archives = folder.parent / "archives"  # of all these tests: without the verdicts, which each has its own of
    if archives.exists():
        shutil.copytree(archives, folder / "cache", dirs_exist_ok=True)
    project.build_with_runtime(monkeypatch, folder / "cache", "-O0")  # the same bits, compiled in a third of the time
    shutil.copytree(folder / "cache", archives, dirs_exist_ok=True, ignore=shutil.ignore_patterns("admission-*"))
    return project


def bodies(folder: Path, monkeypatch: pytest.MonkeyPatch, lane: str, breaks: bool) -> dict[str, list[object]]:
    """What each function says of itself after a call."""
    return ask(build(folder, monkeypatch, lane, set(LANES[lane][2].values()) if breaks else ()), lane)


def ask(project: Project, lane: str) -> dict[str, list[object]]:
    lines = project.run(CALL[lane] + REST, mode="native", env=environment(**USUAL_KERNELS)).splitlines()
    found: dict[str, list[object]] = json.loads(lines[-1])
    return found


@pytest.mark.parametrize("breaks", [False, True], ids=["whole", "broken"])
@pytest.mark.parametrize("lane", LANES)
def test_a_broken_recipe_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lane: str, breaks: bool) -> None:
    if not find_spec(lane):
        pytest.skip(f"{lane} is not installed")
    _, functions, broken = LANES[lane]
    found = bodies(tmp_path, monkeypatch, lane, breaks)
    prefix = "tf_" if lane == "tensorflow" else ""
    want = {}
    for name in functions:
        refused = [recipe for recipe in name.split("_") if breaks and recipe in broken]
        want[name] = [True, "library" if refused == name.split("_") else "exact", [prefix + recipe for recipe in refused]]
    assert found == want


# Of products, by the setting: what admission finds on which host, in the words of stats() up to the colon. A host that is not
# here may find anything, but its functions run their exact bodies.
VENDOR = re.search(r"vendor_id\s*:\s*(\w+)|$", Path("/proc/cpuinfo").read_text()).group(1)  # type: ignore[union-attr]
SETTINGS: dict[str, dict[str, set[str]]] = {
    "": {"AuthenticAMD": {"amd"}, "GenuineIntel": {"intel"}},
    "MKL_CBWR=COMPATIBLE": {"AuthenticAMD": {"wheel"}},
    "MKL_ENABLE_INSTRUCTIONS=AVX2": {"AuthenticAMD": {"amd"}},
    "ATEN_CPU_CAPABILITY=avx2": {"AuthenticAMD": {"amd"}, "GenuineIntel": {"intel"}},
    "ATEN_CPU_CAPABILITY=default": {"AuthenticAMD": {"amd"}},
}
PRODUCTS = """
        import torch, m
        torch.set_num_threads(1)
        g = torch.Generator().manual_seed(5)
        for rows, k, n in [(1, 32, 8), (1, 96, 96), (3, 40, 20), (16, 33, 8), (16, 32, 32), (64, 500, 40), (200, 96, 7), (9, 1, 1)]:
            x, w, wt, b = (torch.randn(*s, generator=g) for s in [(rows, k), (k, n), (n, k), (n,)])
            for f, args in ((m.linear, (x, wt, b)), (m.matmul, (x, w))):
                assert torch.equal(f(*args), f.__wrapped__(*args)) and f.body == "exact", (f, rows, k, n, f.body)
        shifted = torch.randn(33 * 35 + 1, generator=g)[1:].view(33, 35)
        for x, w in ((shifted, torch.randn(8, 35)), (torch.randn(1, 35), shifted[:32]), (shifted, shifted[:8])):
            b = torch.zeros(len(w))
            assert torch.equal(m.linear(x, w, b), m.linear.__wrapped__(x, w, b)) and m.linear.body == "exact"
        print(m.linear.stats()["admitted"]["linear"].split(":")[0], m.matmul.stats()["admitted"]["matmul"].split(":")[0])
"""


def products(project: Project, setting: str = "") -> set[str]:
    """What linear and matmul were found to be, after calls of both."""
    chosen = {**USUAL_KERNELS, "MKL_CBWR": None, **dict([setting.split("=")] if setting else [])}
    return set(project.run(PRODUCTS, mode="native", env=environment(**chosen)).split())


@pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
def test_products_fit_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = build(tmp_path, monkeypatch, "torch", [])
    for setting, hosts in SETTINGS.items():
        found = products(project, setting)
        assert found == hosts.get(VENDOR, found) and found <= {"amd", "intel", "measured", "wheel"}, setting


# A wrong law, and wrong kernels: the variants behind it are taken.
WRONG_LAWS = [("law.inc", "FROM(12)", "FROM(11)"), ("law.inc", "384", "380")]
WRONG_KERNELS = [
    ("matmul.inc", "s.k = smaller(chain, left);", "s.k = smaller(chain > 8 ? chain - 1 : chain, left);"),
    ("matmul_small.inc", "return c + a * b;", "return c - -a * b + 1e-7f;"),
    ("matmul_small.inc", "const int64_t head = head_of(mm, x);", "const int64_t head = 1;"),
]


@pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
@pytest.mark.parametrize(("breaks", "left"), [(WRONG_LAWS, {"measured", "wheel"}), (WRONG_KERNELS, {"wheel"})], ids=["laws", "kernels"])
def test_a_product_goes_to_the_next_variant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, breaks: list[tuple[str, str, str]], left: set[str]) -> None:
    project = build(tmp_path, monkeypatch, "torch", breaks)
    found = products(project)
    assert found <= left
    assert products(project) == found  # read from the file of verdicts


@pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
def test_each_thread_count_is_examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recipe that is wrong for two threads only: one large sum is split between them."""
    wrong = ("reduce.inc", "if (n < GRAIN || threads <= 1)", "if (n < GRAIN || threads <= 2)")
    code = """
        import torch, m
        x = torch.rand(1, 50_001)
        for n in (1, 2, 1, 2):
            torch.set_num_threads(n)
            print(torch.equal(m.sum(x), m.sum.__wrapped__(x)), m.sum.body, m.sum.stats()["not_admitted"])
    """
    lines = build(tmp_path, monkeypatch, "torch", [wrong]).run(code, env=environment(**USUAL_KERNELS)).splitlines()
    assert lines == ["True exact []", "True library ['sum']"] * 2


@pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
@pytest.mark.parametrize("failure", [
    ("../admit.c", "Battery *battery = aligned_alloc(64, (sizeof *battery + 63) / 64 * 64);", "Battery *battery = NULL;"),
    ("../battery.c", "return (TcHandle){t->lane->tensor_over(&over), true};", "return (TcHandle){cols > 3 ? NULL : t->lane->tensor_over(&over), true};"),
], ids=["battery", "operand"])
def test_what_could_not_be_examined_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: tuple[str, str, str]) -> None:
    """No memory, say: this process goes without the recipe, the next one asks again."""
    found = ask(build(tmp_path, monkeypatch, "torch", [failure]), "torch")
    assert found["relu"] == [True, "library", ["relu"]]
    assert {body for _, body, _ in found.values()} == {"library"}
    assert list((tmp_path / "cache").glob("admission-*")) == []


@pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
def test_gelu_without_onednn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's own gelu has other bits. Each call asks whose it is; and where oneDNN is off there is nothing to examine, which
    is no verdict."""
    code = """
        import torch, m
        x = torch.randn(40, 33)
        eager = torch.nn.functional.gelu
        torch.set_num_threads(1)
        own = {}
        for enabled in ENABLED:
            with torch.backends.mkldnn.flags(enabled=enabled):
                own[enabled] = eager(x)
                print(torch.equal(m.gelu(x), own[enabled]), m.gelu.body, m.gelu.stats()["wheel"], m.gelu.stats()["not_admitted"])
        assert len(own) == 1 or not torch.equal(own[False], own[True])
    """
    project = build(tmp_path, monkeypatch, "torch", ())
    unknown, recipe, wheel = "True library {} ['gelu']", "True exact {} []", "True exact {'gelu': 1} []"
    for enabled, want in (((False, True), [unknown, unknown]), ((True, False, True), [recipe, wheel, wheel])):
        lines = project.run(code.replace("ENABLED", repr(enabled)), mode="native", env=environment(**USUAL_KERNELS)).splitlines()
        assert lines == want
    (kept,) = (tmp_path / "cache").glob("admission-torch-*")
    assert re.fullmatch(r"gelu\w* 1 1\n", kept.read_text())


@pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
def test_verdicts_are_kept_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies(tmp_path, monkeypatch, "torch", breaks=True)
    (kept,) = (tmp_path / "cache").glob("admission-torch-*")
    verdicts = {line.split()[0]: line.split()[2] for line in kept.read_text().splitlines()}
    assert verdicts["relu"] == "0" and verdicts["tanh"] == "1"
    # What the file says is believed: nothing is examined twice.
    before = kept.read_text()
    kept.write_text("".join(f"{' '.join(line.split()[:2])} 0\n" for line in before.splitlines()))
    assert {body for _, body, _ in ask(Project(tmp_path / "project"), "torch").values()} == {"library"}
    assert kept.read_text().count("\n") == before.count("\n")
