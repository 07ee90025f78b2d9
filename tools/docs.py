"""Writes docs/operations.md from the compiler's tables. `make docs` runs it; a test holds the file against it.

usage: docs.py [--check]      --check: exit 1 when the file is not what the tables say
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PATH = os.path.join(HERE, "..", "docs", "operations.md")
HEAD = """\
# Operations and codes

Written from the compiler's tables by `make docs`: do not edit. `tensorc capabilities --json` has the same rules for tools.
Operands are float32 tensors of rank 1 or 2 on the CPU, a `dim` or `axis` is a literal 0 or 1, and everything else that is
no tensor is a literal too. Forms with `keepdim` or `keepdims` keep the rank where that is True; results of rank 0, and int64
results of rank 2, are not native.
"""

STATUSES = """\
`check` gives each function one word. *native*: it is compiled (`accepted` in the JSON). *not-candidate*: its head keeps it
from being looked at: a parameter or result without a covered type, a method, a generator, another tool's decorator.
*rejected*: it is typed to be compiled, and something in its body is not covered. Both stay Python and work as before;
`check --fail-on rejected`, or `--fail-on not-candidate` for both, makes them an error.
"""


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def table(heads: list[str], rows: list[list[str]]) -> str:
    return row(heads) + row(["---"] * len(heads)) + "".join(map(row, rows))


def text() -> str:
    from tensorc import _tensorc

    rules = json.loads(_tensorc.capabilities())["rules"]
    titles = {"rextio-torch": "PyTorch", "rextio-tensorflow": "TensorFlow"}
    parts = [HEAD]
    for provider, title in titles.items():
        found = [rule for rule in rules if rule["provider"] == provider]
        if not found:
            continue
        found.sort(key=lambda rule: (rule["diagnostic_code"], rule["id"]))
        rows = [
            [
                f"`{rule['scope']['pattern']}`",
                rule["constraint"].rpartition(": ")[2],
                rule["diagnostic_code"],
                f"`{rule['id']}`",
            ]
            for rule in found
        ]
        parts.append(f"\n## {title}\n\n" + table(["form", "ranks > result", "code", "rule"], rows))
    core = [rule for rule in rules if rule["provider"] == "core"]
    rows = [[rule["diagnostic_code"], rule["scope"]["pattern"], rule["guidance"]] for rule in core]
    parts.append("\n## What keeps a function on Python\n\n" + STATUSES + "\n" + table(["code", "what", "what to do"], sorted(rows)))
    return "".join(parts)


def main(argv: list[str]) -> int:
    fresh = text()
    if argv == ["--check"]:
        with open(PATH, encoding="utf-8") as file:
            same = file.read() == fresh
        if not same:
            print("docs/operations.md is not what the tables say: run `make docs`", file=sys.stderr)
        return 0 if same else 1
    with open(PATH, "w", encoding="utf-8") as file:
        file.write(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
