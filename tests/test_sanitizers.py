"""The compiler and the runtime under the address and undefined-behaviour sanitizers, in processes of their own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from workbench import PACKAGES, ROOT, SLOW, TESTS, Project, environment

SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g1", "-O1"]
CC = shutil.which("gcc")


def library(name: str) -> str:
    return subprocess.run([CC or "gcc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()


def needs(*names: str) -> pytest.MarkDecorator:
    """gcc with these sanitizers."""
    there = CC is not None and all(os.path.isabs(library(f"lib{name}.so")) for name in names)
    return pytest.mark.skipif(not there, reason=f"gcc with {' and '.join(names)} is not here")


pytestmark = needs("asan", "ubsan")


def sanitized(**extra: str) -> dict[str, str]:
    env = environment(LD_PRELOAD=f"{library('libasan.so')} {library('libubsan.so')}", ASAN_OPTIONS="detect_leaks=0:abort_on_error=1:detect_odr_violation=0",
                      UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1", PYTHONMALLOC="malloc", OMP_NUM_THREADS="2", **extra)
    return env


@pytest.fixture(scope="module")
def compiler(module_folder: Path) -> Path:
    """A tensorc whose extension is compiled with the sanitizers; gives the folder to import it from."""
    package = module_folder / "package" / "tensorc"
    shutil.copytree(PACKAGES / "tensorc", package, ignore=shutil.ignore_patterns("*.so", "__pycache__", "rt"))
    include = sysconfig.get_path("include")

    def one(source: Path) -> Path:
        target = module_folder / (source.stem + ".o")
        subprocess.run([CC or "gcc", "-std=c11", "-fPIC", *SANITIZE, f"-I{include}", f"-I{ROOT / 'compiler'}", "-c", str(source), "-o", str(target)], check=True, capture_output=True)
        return target

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(one, sorted((ROOT / "compiler").glob("*.c"))))
    out = package / ("_tensorc" + sysconfig.get_config_var("EXT_SUFFIX"))
    subprocess.run([CC or "gcc", "-shared", *SANITIZE, *map(str, objects), "-o", str(out)], check=True, capture_output=True)
    return package.parent


def run(code: str, path: list[Path], **extra: str) -> subprocess.CompletedProcess[str]:
    env = sanitized(**extra)
    env["PYTHONPATH"] = os.pathsep.join(map(str, [*path, TESTS]))
    return subprocess.run([sys.executable, "-P", "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True, timeout=600)


COMPILE = """
    import sys, json, pathlib, random
    from tensorc import _tensorc
    sys.path.insert(0, {conformance!r})
    import decisions

    def all_of(source, name):
        try:
            unit = _tensorc.Unit(source, name, "pkg.m")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return 0
        if unit.n_accepted:
            unit.emit("_tensorc_m")
        for f in unit.functions:
            for stage in ("ast", "ir", "plan", "c"):
                unit.show(f["qualname"], stage)
        unit.report_text()
        json.loads(_tensorc.report([unit], "/x"))
        return len(unit.functions)

    n = 0
    cases = decisions.load(pathlib.Path({conformance!r}) / "torch.jsonl")
    for i in range(0, len(cases), 300):
        text = decisions.HEADS["torch"] + "".join("\\n\\ndef " + c["id"] + c["sig"] + ":\\n" + "".join("    " + l + "\\n" for l in c["body"]) for c in cases[i:i + 300])
        n += all_of(text.encode(), "cases.py")
    r = random.Random(1)
    for path in sorted(pathlib.Path({tests!r}).rglob("*.py")):
        source = path.read_bytes()
        n += all_of(source, str(path))
        for _ in range({mutations}):  # damaged sources: cut, doubled and swapped lines, changed bytes
            lines = source.split(b"\\n")
            k = r.randrange(len(lines))
            how = r.randrange(4)
            if how == 0: del lines[k:k + r.randrange(1, 4)]
            elif how == 1: lines.insert(k, r.choice(lines))
            elif how == 2: j = r.randrange(len(lines)); lines[k], lines[j] = lines[j], lines[k]
            damaged = bytearray(b"\\n".join(lines))
            if how == 3 and damaged:
                for _ in range(3): damaged[r.randrange(len(damaged))] = r.choice(b"()[]:,.=+-*/%@0123456789abxyz '\\"#")
            n += all_of(bytes(damaged), "damaged.py")
    _tensorc.capabilities()
    print(n)
"""


def test_compiler_on_all_sources(compiler: Path) -> None:
    code = COMPILE.format(conformance=str(TESTS / "conformance"), tests=str(TESTS / "cases"), mutations=4 if SLOW else 1)
    done = run(code, [compiler])
    assert done.returncode == 0, done.stderr[-4000:]
    assert int(done.stdout) > (5000 if SLOW else 2000) and "runtime error" not in done.stderr


def test_compiler_on_the_bugs_and_tests(compiler: Path) -> None:
    code = COMPILE.format(conformance=str(TESTS / "conformance"), tests=str(TESTS / "bugs"), mutations=2 if SLOW else 1)
    done = run(code, [compiler])
    assert done.returncode == 0, done.stderr[-4000:]


def test_the_sanitizers_see_a_fault(tmp_path: Path) -> None:
    source = tmp_path / "bad.c"
    source.write_text('#include <Python.h>\nstatic int f(int n) { char *p = malloc(4); p[n] = 1; int r = p[n]; free(p); return r; }\n'
                      'static struct PyModuleDef d = {PyModuleDef_HEAD_INIT, "bad", 0, -1, 0, 0, 0, 0, 0};\nPyMODINIT_FUNC PyInit_bad(void) { f((int)PyLong_AsLong(PyLong_FromLong(4))); return PyModule_Create(&d); }\n')
    subprocess.run([CC or "gcc", "-shared", "-fPIC", *SANITIZE, "-I" + sysconfig.get_path("include"), str(source), "-o", str(tmp_path / "bad.so")], check=True)
    done = run("import bad", [tmp_path])
    assert done.returncode != 0 and ("heap-buffer-overflow" in done.stderr or "runtime error" in done.stderr)


# Cases whose calls go through every file of the runtime.
CASES = {
    "torch": ["torch/chains.py", "torch/matmul.py", "torch/linear.py", "torch/sum.py", "torch/softmax.py", "torch/returned.py", "lang/unbound.py", "lang/ints.py",
              "lang/for_loops.py", "lang/raising.py", "lang/parameters.py"],
    "tensorflow": ["tf/chains.py", "tf/matmul.py", "tf/add.py", "tf/maximum.py", "tf/reduce_sum.py", "tf/softmax.py", "tf/argmax.py", "tf/bias_add.py", "tf/transpose.py",
                   "tf/exp.py", "tf/scalars.py"],
}


@pytest.mark.parametrize("lane", CASES)
def test_runtime_and_a_generated_module(module_folder: Path, monkeypatch: pytest.MonkeyPatch, lane: str) -> None:
    """Calls of every kind on modules whose runtime and generated code are instrumented (the framework itself is not)."""
    if not importlib.util.find_spec(lane):
        pytest.skip(f"{lane} is not installed")
    project = Project(module_folder / lane)
    for name in CASES[lane][:: 1 if SLOW else 5]:
        project.write(f"cases/{name}", (TESTS / "cases" / name).read_bytes())
        project.write(f"cases/{name.split('/')[0]}/__init__.py", "")
    project.write("cases/__init__.py", "")
    flags = " ".join(SANITIZE)
    project.build_with_runtime(monkeypatch, module_folder / "cache", flags, flags)
    code = f"""
        import sys, json, pathlib, warnings
        warnings.simplefilter("ignore")
        import torch, case_worker, casefile, tensors, importlib, importlib.util
        torch.set_num_threads(2)
        case_worker.LANE = {lane!r}
        made = 0
        for path in sorted(pathlib.Path({str(project.root / 'cases')!r}).rglob("*.py")):
            if path.name == "__init__.py": continue
            spec = importlib.util.spec_from_file_location("eager_" + path.stem, path)
            original = importlib.util.module_from_spec(spec); sys.modules[spec.name] = original; spec.loader.exec_module(original)
            built = importlib.import_module("cases." + path.parent.name + "." + path.stem)
            names = dict(tensors.NAMES, torch=torch)
            for call in casefile.calls(casefile.read(path).block("run")):
                wrong, k = case_worker.one(call.text, call.native_raises, {{**vars(original), **names}}, {{**vars(built), **names}})
                made += k
                assert not wrong, (path.name, call.text, wrong)
        print(made)
        """
    done = run(code, [project.tree, PACKAGES], TENSORC_MODE="native")
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-4000:]
    assert int(done.stdout.splitlines()[-1]) > (1000 if SLOW else 200) and "runtime error" not in done.stderr


@pytest.mark.parametrize("sanitizer, argument", [pytest.param("thread", "once", marks=needs("tsan")), ("address,undefined", "fork")])
def test_pool(tmp_path: Path, sanitizer: str, argument: str) -> None:
    """Many callers at once; and, where the sanitizer allows it, in a forked child."""
    program = tmp_path / "pool"
    command = [CC or "gcc", "-std=c11", "-g1", "-O1", f"-fsanitize={sanitizer}", f"-I{ROOT / 'runtime'}", str(TESTS / "pool_stress.c"), "-o", str(program), "-lpthread"]
    subprocess.run(command, check=True, capture_output=True)
    done = subprocess.run([str(program), argument], env=environment(ASAN_OPTIONS="detect_leaks=0"), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stdout + done.stderr[-4000:]


BLOCKS = '''import tensorflow as tf
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D


def net(x: TensorF32Cpu2D, b: TensorF32Cpu1D, n: int) -> TensorF32Cpu2D:
    for i in range(n):
        x = tf.nn.relu(x * b + b)
    return tf.nn.tanh(x) + x


def shared(x: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    print("x")
    return tf.exp(x + b) * b

'''


@needs("tsan")
@pytest.mark.skipif(not importlib.util.find_spec("tensorflow"), reason="tensorflow is not installed")
def test_blocks_under_the_thread_sanitizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three Python threads at once, each in blocks of rows (net) or with an operation's rows shared out (shared) to the pool. The
    instrumented runtime is all that is looked at: what Eigen does among its own threads is not."""
    project = Project(tmp_path / "p", {"m.py": BLOCKS})
    flags = "-fsanitize=thread -g1 -O1"
    project.build_with_runtime(monkeypatch, tmp_path / "cache", flags, flags)
    (tmp_path / "suppressions").write_text("race:^Eigen::\nrace:libtensorflow\n")
    code = """
        import threading, numpy as np, tensorflow as tf, m
        tf.config.threading.set_intra_op_parallelism_threads(2)
        x, b = (tf.constant(np.random.default_rng(1).random(s, dtype="float32") - 0.5) for s in ((3000, 32), (32,)))
        want = [f(*args).numpy() for f, args in ((m.net.__wrapped__, (x, b, 2)), (m.shared.__wrapped__, (x, b)))]
        wrong = []
        def call():
            for _ in range(4):
                for f, args, eager in ((m.net, (x, b, 2), want[0]), (m.shared, (x, b), want[1])):
                    if f(*args).numpy().tobytes() != eager.tobytes():
                        wrong.append(f.__name__)
        threads = [threading.Thread(target=call) for _ in range(3)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(wrong, m.net.stats()["exact"], m.shared.stats()["exact"])
        """
    env = environment(LD_PRELOAD=library("libtsan.so"), TSAN_OPTIONS=f"exitcode=66:suppressions={tmp_path / 'suppressions'}", TENSORC_MODE="native")
    env["PYTHONPATH"] = os.pathsep.join(map(str, [project.tree, PACKAGES]))
    # the sanitizer's shadow needs the addresses of a process without randomization
    done = subprocess.run(["setarch", "-R", sys.executable, "-P", "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "data race" not in done.stderr, done.stderr[-6000:]
    assert done.stdout.splitlines()[-1] == "[] 12 12", done.stdout
