"""The kernels of runtime/kernel as a shared object, compiled as in the archive but for what is hidden there."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tensorc import cc

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import workbench  # noqa: E402

KERNEL = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "runtime", "kernel"))
FLAGS = [*cc.KERNEL_FLAGS, "-fvisibility=default", "-Werror=implicit"]


def build(target: str, *sources: str) -> None:
    """For the instruction sets of this CPU, with these sources beside the kernels."""
    compiler = [*shlex.split(os.environ.get("CC", "gcc")), *FLAGS]
    sets = workbench.own_sets()
    without = [f"-DTC_WITHOUT_{name.upper()}" for name in cc.X86_KERNELS if name not in sets]
    objects = []
    for name, flags in sets.items():
        objects.append(os.path.join(os.path.dirname(target), f"kernels_{name}.o"))
        command = [*compiler, *flags, "-c", os.path.join(KERNEL, "kernels.c"), "-o", objects[-1]]
        subprocess.run(command, check=True)
    last = [*compiler, *without, "-I", KERNEL, "-shared", os.path.join(KERNEL, "recipes.c"), *sources, *objects]
    subprocess.run([*last, "-o", target, "-lm", "-ldl"], check=True)
