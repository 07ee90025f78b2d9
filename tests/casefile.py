"""The case format: Python source, then blocks of expectations in comments.

    # lane: torch
    def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
        return torch.sqrt(x)

    # >>> check
    # f native rextio-torch/unary-sqrt-f32-cpu-rank1-2
    # >>> run
    # f(rand(3, 5)); f(specials(2, 33))
    # f(any2())

Blocks: check (decision, rule ids or codes with their ranges), ir and plan (what `tensorc show` prints), run (calls that are
compared with eager; `CALL => ERROR` says that mode native raises ERROR where Python has an answer).
The block of a case that is new may be empty: `pytest --bless` writes check, ir and plan.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

BLOCKS = ("check", "ir", "plan", "run")


@dataclass
class Block:
    kind: str
    line: int          # of its `# >>>` line, from 1
    lines: list[str]   # without the comment sign

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip()


@dataclass
class Case:
    path: Path
    lane: str
    blocks: list[Block] = field(default_factory=list)

    def block(self, kind: str) -> Block | None:
        return next((b for b in self.blocks if b.kind == kind), None)


class CaseError(Exception):
    """The case file itself is malformed."""


def read(path: Path) -> Case:
    lines = path.read_text(encoding="utf-8").split("\n")
    lane = next((m[1] for line in lines[:5] if (m := re.fullmatch(r"# lane: (\w+)", line))), None)
    if lane is None:
        raise CaseError(f"{path.name}: no `# lane: NAME` line at its top")
    case, block = Case(path, lane), None
    for number, line in enumerate(lines, 1):
        if line.startswith("# >>> "):
            kind = line[6:].strip()
            if kind not in BLOCKS:
                raise CaseError(f"{path.name}:{number}: unknown block {kind!r}")
            block = Block(kind, number, [])
            case.blocks.append(block)
        elif block is not None and line.startswith("#"):
            block.lines.append(line[2:])
        elif block is not None and line.strip():
            raise CaseError(f"{path.name}:{number}: code after the first block")
    if not case.blocks:
        raise CaseError(f"{path.name}: no block")
    return case


def rewrite(path: Path, kind: str, text: str) -> bool:
    """Puts new text into a block; says whether that changed the file."""
    case = read(path)
    block = case.block(kind)
    assert block is not None
    lines = path.read_text(encoding="utf-8").split("\n")
    end = block.line
    while end < len(lines) and lines[end].startswith("#") and not lines[end].startswith("# >>> "):
        end += 1
    fresh = ["# " + line if line else "#" for line in text.rstrip("\n").split("\n")]
    if lines[block.line:end] == fresh:
        return False
    lines[block.line:end] = fresh
    path.write_text("\n".join(lines), encoding="utf-8")
    return True


@dataclass
class Call:
    text: str
    native_raises: str | None


def calls(block: Block) -> list[Call]:
    out = []
    for line in block.lines:
        text, arrow, error = line.partition(" => ")
        if not text.strip():
            continue
        try:
            statements = ast.parse(text.strip()).body
        except SyntaxError as problem:
            raise CaseError(f"run block: {text!r}: {problem}") from None
        for s in statements:
            if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)):
                raise CaseError(f"run block: {text!r} is not a call")
            out.append(Call(ast.unparse(s.value), error.strip() or None if arrow else None))
    return out
