"""`make bench`: the figures of the README, measured here and now. Ratios side by side in one run; nothing is asserted.

usage: python bench/run.py [--rows 1,16,128,512]
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(os.path.dirname(HERE), "examples")
EXAMPLE = os.path.join(EXAMPLES, "torch_workloads.py")
MODULES, FUNCTIONS = 63, 50  # of the project that `check` is timed on


def tensorc(*arguments: str) -> str:
    command = [sys.executable, "-m", "tensorc", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def seconds(*arguments: str, times: int = 5) -> float:
    """Median wall time of a whole process."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        tensorc(*arguments)
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def calls(rows: str) -> None:
    print("| function | rows | eager µs | tensorc µs | eager / tensorc | body | same bits |")
    print("| --- | ---: | ---: | ---: | ---: | --- | --- |")
    functions = (
        ("torch", "score", rows),
        ("torch", "mlp", rows),
        ("tensorflow", "score", rows),
        ("tensorflow", "chain", "512"),
    )
    for lane, name, sizes in functions:
        file = os.path.join(EXAMPLES, f"{lane}_workloads.py")
        found = json.loads(tensorc("bench", f"{file}:{name}", "--args", f"{file}:arguments", "--rows", sizes, "--json"))
        for row in found["rows"]:
            figures = f"{row['eager_us']:.1f} | {row['native_us']:.1f} | {row['ratio']:.2f}"
            print(f"| {lane} {name} | {row['rows']} | {figures} | {row['body']} | {'yes' if row['equal'] else 'NO'} |")


def commands() -> None:
    with tempfile.TemporaryDirectory() as folder:
        package = os.path.join(folder, "src", "many")
        os.makedirs(package)
        for module in range(MODULES):
            with open(os.path.join(package, f"m{module}.py"), "w") as file:
                file.write("import torch\nfrom tensorc.types import TensorF32Cpu2D\n")
                for number in range(FUNCTIONS):
                    file.write(f"\n\ndef f{number}(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n")
                    file.write(f"    y = torch.{('sqrt', 'tanh', 'cos')[number % 3]}(x)\n    return y + x\n")
        check = seconds("check", "--json", folder)
        project = os.path.join(folder, "example")
        os.mkdir(project)
        shutil.copy(EXAMPLE, project)
        times = []
        for _ in range(5):
            shutil.rmtree(os.path.join(project, ".tensorc"), ignore_errors=True)
            times.append(seconds("build", "-q", project, times=1))
        unchanged = seconds("build", "-q", project)
    print("\n| whole process | seconds |\n| --- | ---: |")
    print(f"| `tensorc check --json`, {MODULES * FUNCTIONS} functions in {MODULES} modules | {check:.2f} |")
    print(f"| `tensorc build` of the example from nothing | {statistics.median(times):.2f} |")
    print(f"| `tensorc build` again, nothing changed | {unchanged:.2f} |")


if __name__ == "__main__":
    calls(sys.argv[sys.argv.index("--rows") + 1] if "--rows" in sys.argv else "1,16,128,512")
    commands()
