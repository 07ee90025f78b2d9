"""Many threads, the first call from many at once, forks, interruption, and the GIL."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from workbench import BODIES, HEAD, Project, environment, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed")]

SOURCE = HEAD + '''
def net(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D, n: int) -> TensorI64Cpu1D:
    h = x
    for i in range(n):
        if i % 2 == 0:
            h = F.linear(h, w, b).relu()
        else:
            h = h.tanh()
    return h.softmax(dim=1).argmax(dim=1)


def other(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.exp()


def fails(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x @ x


def act(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x.relu()


def spin(n: int) -> int:
    total = 0
    for i in range(n):
        total = (total * 3 + i) % 1000003
    return total


def deep(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    for i in range(n):
        x = x.tanh()
    return x

'''


@pytest.fixture(scope="module")
def built(module_folder: Path) -> Project:
    return Project(module_folder, {"threads.py": SOURCE}).build()


def in_threads(n: int, work: Any) -> list[Any]:
    """Runs work(k) in n threads that start together; gives the exceptions."""
    import threading

    go, errors = threading.Barrier(n), []

    def run(k: int) -> None:
        go.wait()
        try:
            work(k)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
        assert not t.is_alive(), "a thread hangs"
    return errors


def test_many_threads_from_the_first_call_on(built: Project) -> None:
    import torch

    m = built.load("threads")
    w, b = torch.eye(6), torch.zeros(6)

    def work(k: int) -> None:
        for i in range(200):
            x = torch.zeros(1 + (i + k) % 5, 6)
            x[:, k % 6] = 1.0
            assert m.net(x, w, b, 3).tolist() == [k % 6] * len(x)
            assert m.net.body in BODIES

    assert in_threads(8, work) == []
    assert Project.native_calls(m.net) == 1600 and sum(m.net.stats()["python"].values()) == 0


def test_import_in_many_threads(built: Project) -> None:
    import torch

    def work(k: int) -> None:
        m = built.load("threads")
        assert m.other(torch.zeros(2, 2)).tolist() == [[1.0, 1.0]] * 2 and m.other.native_status == "accepted"

    assert in_threads(8, work) == []


def test_errors_in_threads_stay_apart(built: Project) -> None:
    import torch

    m = built.load("threads")
    big = torch.randn(200, 200)
    want = big.exp()

    def work(k: int) -> None:
        for i in range(60):
            if (i + k) % 2:
                with pytest.raises(RuntimeError, match="^rextio-torch"):
                    m.fails(torch.ones(2, 3))
            else:
                assert torch.equal(m.other(big), want)

    assert in_threads(6, work) == []


def test_thread_states_stay_apart(built: Project) -> None:
    import torch

    m = built.load("threads", "auto")
    x = torch.randn(64, 300)

    def work(k: int) -> None:
        for _ in range(50):
            with torch.inference_mode(k % 3 == 0), torch.set_grad_enabled(k % 3 == 1):
                r = m.other(x)
                assert r.is_inference() == (k % 3 == 0) and torch.is_grad_enabled() == (k % 3 == 1)

    assert in_threads(6, work) == []


def test_arguments_dropped_meanwhile(built: Project) -> None:
    """Another thread drops and changes what a running call reads: no crash, no lost memory."""
    import torch

    m = built.load("threads")
    shared: dict[str, Any] = {"x": torch.randn(300, 300)}
    stop = []

    def work(k: int) -> None:
        if k == 0:
            for _ in range(200):
                shared["x"] = torch.randn(300, 300)
            stop.append(1)
        else:
            while not stop:
                r = m.deep(shared["x"], 2)
                assert r.shape == (300, 300)

    assert in_threads(3, work) == []


def test_set_data_meanwhile(built: Project) -> None:
    import torch

    m = built.load("threads")
    x = torch.randn(400, 400)
    stop = []

    def work(k: int) -> None:
        if k == 0:
            for i in range(300):
                x.data = torch.randn(400, 400)
            stop.append(1)
        else:
            while not stop:
                assert m.other(x).shape == (400, 400)

    assert in_threads(3, work) == []


def test_a_long_call_lets_others_run(built: Project) -> None:
    """The other thread never waits for as much as half of the call."""
    import threading
    import time

    import torch

    m = built.load("threads")
    x = torch.randn(600, 600)
    m.deep(x, 1)
    longest, stop = [0.0], []

    def other() -> None:
        last = time.perf_counter()
        while not stop:
            time.sleep(0)
            now = time.perf_counter()
            longest[0], last = max(longest[0], now - last), now

    thread = threading.Thread(target=other)
    thread.start()
    for call in (lambda: m.deep(x, 2000), lambda: m.spin(200_000_000)):
        longest[0], start = 0.0, time.perf_counter()
        call()
        took = time.perf_counter() - start
        assert longest[0] < took / 2, f"the other thread waited for {longest[0]:.3f} of {took:.3f} s"
    stop.append(1)
    thread.join()


def test_interruption(built: Project) -> None:
    import signal

    m = built.load("threads")
    m.spin(10)

    def handler(*_: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    with pytest.raises(KeyboardInterrupt):
        m.spin(2**62)
    assert m.spin(3) == m.spin.__wrapped__(3)


@pytest.mark.parametrize("mode", ["native", "auto"])
@pytest.mark.parametrize("function", ["spin", "deep"])
def test_an_exception_of_a_signal_handler_is_the_callers(built: Project, mode: str, function: str) -> None:
    """The usual way to a time limit. It is not an error of the body, after which Python would go on."""
    import signal

    import torch

    class TimeLimit(Exception):
        pass

    m = built.load("threads", mode)
    m.spin(10)
    call = {"spin": lambda: m.spin(10**7), "deep": lambda: m.deep(torch.ones(3, 3), 10**7)}[function]

    def handler(*_: Any) -> None:
        raise TimeLimit

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(TimeLimit):
        call()
    assert m.spin.stats()["python"].get("error", 0) == m.deep.stats()["python"].get("error", 0) == 0


# A function of MKL whose first call is wrong, unless it is for few elements: as it may be when two threads make it at once.
FIRST_CALLS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

typedef void Function(int n, const float *x, float *y, long long mode);

#define WRONG_AT_FIRST(name)                                                      \\
  void name(int n, const float *x, float *y, long long mode) {                    \\
    static int calls;                                                             \\
    void *address = dlsym(dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD), #name); \\
    Function *own;                                                                \\
    memcpy(&own, &address, sizeof own);                                           \\
    own(n, x, y, mode);                                                           \\
    if (calls++ == 0 && n > 8)                                                    \\
      y[0] = 7;                                                                   \\
  }
WRONG_AT_FIRST(vmsExp)
WRONG_AT_FIRST(vmsLn)
WRONG_AT_FIRST(vmsSqrt)
WRONG_AT_FIRST(vmsTanh)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="takes LD_PRELOAD")
def test_first_calls_into_mkl(tmp_path: Path) -> None:
    names = ["exp", "log", "sqrt", "tanh"]
    functions = "".join(f"def {n}(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x.{n}()\n\n" for n in names)
    project = Project(tmp_path, {"m.py": HEAD + functions, "first.c": FIRST_CALLS}).build()
    shim = tmp_path / "first.so"
    subprocess.run([*shlex.split(os.environ.get("CC", "gcc")), "-shared", "-fPIC", tmp_path / "first.c", "-o", shim, "-ldl"], check=True)
    preload = " ".join([*os.environ.get("LD_PRELOAD", "").split(), str(shim)])
    env = environment(LD_PRELOAD=preload, TENSORC_CACHE_DIR=str(tmp_path / "cache"))
    ask = """
        import torch, m
        x = torch.rand(8, 16)[:, ::2]  # with gaps, so that the wheel answers
        print(*[torch.equal({first}(x), getattr(torch, name)(x)) for name in NAMES])
        """.replace("NAMES", repr(names))
    assert project.run(ask.replace("{first}", "getattr(m, name).__wrapped__"), env=env).split() == ["False"] * 4
    assert project.run(ask.replace("{first}", "getattr(m, name)"), env=env).split() == ["True"] * 4


def test_fork_after_calls(built: Project) -> None:
    import torch

    m = built.load("threads")
    big = torch.zeros(4096, 64)
    m.net(big, torch.eye(64), torch.zeros(64), 3)
    child = os.fork()
    if child == 0:
        import faulthandler

        faulthandler.dump_traceback_later(50, exit=True)
        torch.set_num_threads(1)  # with more, eager hangs here too: torch's OpenMP pool does not survive a fork
        ok = m.net(torch.eye(6), torch.eye(6), torch.zeros(6), 3).tolist() == [0, 1, 2, 3, 4, 5] and m.net.body in BODIES
        os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert m.net(torch.eye(6), torch.eye(6), torch.zeros(6), 3).tolist() == [0, 1, 2, 3, 4, 5]


def test_fork_after_blocks(built: Project) -> None:
    """Recipes run blocks on torch's threads where eager would not ask for them: in a child they are gone, and it asks for none."""
    import faulthandler

    import torch

    m = built.load("threads")
    torch.set_num_threads(2)
    x = torch.randn(400, 64)
    want = m.act(x)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(50, exit=True)
        os._exit(0 if torch.equal(m.act(x), want) and torch.equal(m.act.__wrapped__(x), want) and m.act.body == "exact" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_fork_during_a_body(built: Project) -> None:
    """The log level that a body on another thread had changed is the child's own again."""
    import ctypes
    import threading
    import time

    import torch

    m = built.load("threads")
    level = ctypes.c_int.in_dll(ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")), "FLAGS_caffe2_log_level")
    torch.set_num_threads(1)
    m.deep(torch.zeros(1, 1), 1)
    before, x = level.value, torch.randn(64, 3000).t()
    worker = threading.Thread(target=lambda: [m.deep(x, 100) for _ in range(10)])
    worker.start()
    while level.value == before and worker.is_alive():
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        m.other(torch.zeros(1, 1))
        os._exit(0 if level.value == before else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    worker.join()
    assert level.value == before


def test_fork_before_the_first_call(built: Project) -> None:
    import torch

    m = built.load("threads")
    child = os.fork()
    if child == 0:
        os._exit(0 if m.other(torch.zeros(1, 1)).item() == 1.0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert m.other(torch.zeros(1, 1)).item() == 1.0


@pytest.mark.parametrize("lane, parent, cache", [
    ("torch", "only imports", "cold"), ("torch", "calls another", "cold"), ("torch", "calls it", "cold"), ("torch", "only imports", "warm"),
    ("tensorflow", "only imports", "cold"), ("tensorflow", "calls it", "cold"),
])
def test_fork_after_the_frameworks_own_threads(tmp_path: Path, lane: str, parent: str, cache: str) -> None:
    """The child's first call ends, and examines nothing: a verdict comes from the parent, or from the user's cache."""
    if lane == "tensorflow":
        pytest.importorskip("tensorflow")
    torch_lane = lane == "torch"
    text = "import torch as t\nfrom tensorc.types import TensorF32Cpu2D\n" if torch_lane else "import tensorflow as t\nfrom rextio_tensorflow.types import TensorF32Cpu2D\n"
    relu, exp = ("t.relu", "t.exp") if torch_lane else ("t.nn.relu", "t.exp")
    text += "".join(f"\n\ndef {name}(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return {op}(x)\n" for name, op in (("first", relu), ("other", exp)))
    project = Project(tmp_path, {"m.py": text + "\n"}).build()
    env = environment(TENSORC_CACHE_DIR=str(tmp_path / "cache"))
    threads = "t.set_num_threads(2)" if torch_lane else "t.config.threading.set_intra_op_parallelism_threads(2)"
    big = "t.randn(1000, 1000)" if torch_lane else "t.random.normal((1000, 1000))"
    code = f"""
        import os, sys, faulthandler
        import m
        t = m.t
        {threads}
        x, big = t.ones((2, 2)), {big}
        {exp}(big), big @ big
        if {parent!r} != "only imports":
            (m.first if {parent!r} == "calls it" else m.other)(x)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            faulthandler.dump_traceback_later(50, exit=True)
            y = m.first(x)
            print(bool((y.numpy() == 1.0).all()), m.first.body)
            sys.stdout.flush()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        m.first(x)
        print(m.first.body)
        """
    if cache == "warm":
        assert project.run(code.replace("child = os.fork()", "child = 1").replace("assert os.wait", "#"), env=env).split() == ["exact"]
    in_child, own = project.run(code, env=env).splitlines()
    known = cache == "warm" or parent == "calls it"
    assert (in_child, own) == (f"True {'exact' if known else 'library'}", "exact")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(built: Project, method: str) -> None:
    import multiprocessing

    import torch

    m = built.load("threads")
    torch.set_num_threads(1)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(built.tree), os.environ.get("PYTHONPATH", "")])
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(m.spin, [10, 20, 30]) == [m.spin.__wrapped__(n) for n in (10, 20, 30)]


def test_calls_at_exit(built: Project) -> None:
    code = """
        import atexit, torch, threads as m
        x = torch.ones(2, 2)
        m.other(x)
        atexit.register(lambda: print(m.other(x).shape))
        class Late:
            def __del__(self):
                try:
                    m.other(x)
                except BaseException:
                    pass
        late = Late()
        """
    done = built.python(code)
    assert done.returncode == 0 and "torch.Size([2, 2])" in done.stdout, (done.returncode, done.stderr[-500:])


def test_subinterpreter_refuses_or_works(built: Project) -> None:
    code = """
        import threads as m, torch
        try:
            import _xxsubinterpreters as sub
        except ImportError:
            import _interpreters as sub
        i = sub.create()
        try:
            sub.run_string(i, "import threads")
        except BaseException as e:
            print(type(e).__name__)
        print(m.other(torch.zeros(1, 1)).item())
        """
    done = built.python(code)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "1.0", (done.returncode, done.stdout, done.stderr[-800:])
