"""Writes random programs: functions of numbers, chains of tensor operations, and batches that may run in blocks of rows.

Whatever a function does, Python gives it a meaning: a value or an exception. test_properties.py and fuzz.py hold the compiled
function against it.
"""

from __future__ import annotations

import random
from typing import Any


class Numbers:
    """A random function of numbers: assignments, branches and loops over int, float and bool variables."""

    PARAMETERS, RESULTS = "a: int, b: int, v: float", ["int", "float", "bool"]

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def int_(self, depth: int, names: list[str]) -> str:
        r = self.random
        k = r.randrange(10 if depth else 3)
        if k == 0:
            return r.choice(["0", "1", "2", "3", "7", "-1", "-2", "-5", "1000", "4611686018427387904", "2147483648"])
        if k in (1, 2):
            return r.choice(names)
        a, b = self.int_(depth - 1, names), self.int_(depth - 1, names)
        if k <= 6:
            return f"({a} {r.choice(['+', '-', '*', '//', '%'])} {b})"
        if k == 7:
            return f"(-{a})"
        if k == 8:
            return f"({a} if {self.bool_(depth - 1, names)} else {b})"
        return f"({a} ** {r.randrange(4)})"

    def float_(self, depth: int, names: list[str], floats: list[str]) -> str:
        r = self.random
        k = r.randrange(7 if depth else 2)
        if k == 0:
            return r.choice(["0.5", "-1.5", "0.1", "1e300", "3.0", "0.0"])
        if k == 1:
            return r.choice(floats)
        a = self.float_(depth - 1, names, floats)
        b = self.float_(depth - 1, names, floats) if r.random() < 0.7 else self.int_(depth - 1, names)
        if k == 2:
            return f"({self.int_(depth - 1, names)} / {self.int_(depth - 1, names)})"
        if k == 3:
            return f"(-{a})"
        return f"({a} {r.choice(['+', '-', '*', '/', '//', '%'])} {b})"

    def bool_(self, depth: int, names: list[str]) -> str:
        r = self.random
        k = r.randrange(6 if depth > 0 else 2)
        a, b = self.int_(max(0, depth - 1), names), self.int_(max(0, depth - 1), names)
        op = r.choice(["<", "<=", "==", "!=", ">", ">="])
        if k <= 1:
            return f"({a} {op} {b})"
        if k == 2:
            return f"(not {self.bool_(depth - 1, names)})"
        if k == 3:
            return f"({a} {op} {b} {r.choice(['<', '>=', '!='])} {self.int_(depth - 1, names)})"
        return f"({self.bool_(depth - 1, names)} {r.choice(['and', 'or'])} {self.bool_(depth - 1, names)})"

    def block(self, depth: int, indent: str, names: list[str], loops: int = 0, leave: bool = False) -> list[str]:
        """Statements inside of `loops` loops; `leave`: the innermost may be left by break (one with an else that may is refused)."""
        r, out, inner = self.random, [], indent + "    "
        for _ in range(r.randrange(1, 4)):
            k = r.randrange(10 if depth else 5)
            target = r.choice(["a", "b", "k", "m"])
            value = self.int_(2, names)
            if loops:  # or numbers grow beyond all measure
                value = f"{value} % 9223372036854775783"
            if k <= 2:
                out.append(f"{indent}{target} = {value}")
            elif k == 3:
                out.append(f"{indent}{target} {r.choice(['+=', '-=', '//=', '%='] + ['*='] * (not loops))} {self.int_(1, names)}")
            elif k == 4:
                jumps = ["raise ValueError('left')", f"return {self.result(1, names)}"] + ["continue"] * 3 * bool(loops) + ["break"] * 4 * leave
                if loops or r.random() < 0.1:
                    out += [f"{indent}if {self.bool_(1, names)}:", f"{inner}{r.choice(jumps)}"]
            elif k == 5:
                out += [f"{indent}if {self.bool_(2, names)}:", *self.block(depth - 1, inner, names, loops, leave)]
                if r.random() < 0.6:
                    out += [f"{indent}else:", *self.block(depth - 1, inner, names, loops, leave)]
            elif k == 9:
                out.append(f"{indent}{target}, b = b, {self.int_(1, names)}")
            else:
                out += self.loop(depth, indent, names, loops, leave)
        return out or [f"{indent}pass"]

    def loop(self, depth: int, indent: str, names: list[str], loops: int, leave: bool) -> list[str]:
        r, inner = self.random, indent + "    "
        otherwise = r.random() < 0.5
        broken = not otherwise or r.random() < 0.2
        self.n_loops += 1
        i = f"i{self.n_loops}"
        if r.random() < 0.6:
            out = [f"{indent}for {i} in range({self.int_(1, names)} % 5, {self.int_(1, names)} % 7, {r.choice(['1', '2', '-1', '-3'])}):"]
            names = names + [i]
        else:
            out = [f"{indent}{i} = 0", f"{indent}while {i} < {r.randrange(1, 5)}:", f"{inner}{i} += 1"]
        out += self.block(depth - 1, inner, names, loops + 1, broken)
        if otherwise:  # its jumps are the outer loop's; what the loop assigns may be unassigned here
            out += [f"{indent}else:", *self.block(depth - 1, inner, names, loops, leave)]
        return out

    def result(self, depth: int, names: list[str]) -> str:
        return {"int": self.int_(depth, names), "float": f"{self.float_(depth, names, ['v'])} + 0.0", "bool": self.bool_(depth, names)}[self.type]

    def function(self, name: str) -> str:
        r, names = self.random, ["a", "b", "k"]
        self.n_loops, self.type = 0, r.choice(self.RESULTS)
        body = ["    k = 1", "    m = 0", *self.block(3, "    ", names)]
        if r.random() < 0.15:  # a parameter takes a value of another type
            target, value = r.choice([("v", self.int_(2, names)), ("v", self.bool_(1, names)), ("b", self.float_(2, names, ["v"])), ("b", self.bool_(1, names))])
            body += [f"    {target} = {value}", *self.block(1, "    ", names)]
        if r.random() < 0.05:
            body += [f"    del {r.choice(['a', 'k'])}", *self.block(1, "    ", names)]
        return f"def {name}({self.PARAMETERS}) -> {self.type}:\n" + "\n".join([*body, f"    return {self.result(3, names + ['m'])}"]) + "\n\n"


class Choosing(Numbers):
    """A random function of numbers and a tensor, which it gives one way or the other: numpy's scalars may be numbers here."""

    PARAMETERS, RESULTS = f"{Numbers.PARAMETERS}, x: TensorF32Cpu2D", ["TensorF32Cpu2D"]

    def result(self, depth: int, names: list[str]) -> str:
        sides = (self.float_(depth, names, ["v"]) for _ in range(2))
        tests = [self.bool_(depth, names), self.random.choice(["<", "<=", "==", "!=", ">"]).join(sides)]
        both = f"({tests[0]}) + ({tests[1]}) {self.random.choice(['== 2', '> 0', '< 2'])}"
        return f"x.relu() if {self.random.choice([*tests, both])} else x.neg()"


class Chain:
    """A random function of two matrices (n×n) and a row (n)."""

    UNARY = ["{}.relu()", "{}.sigmoid()", "{}.tanh()", "torch.abs({})", "{}.neg()", "torch.square({})", "{}.exp()", "{}.log()", "torch.sqrt({})", "F.gelu({})", "F.gelu({}, approximate='tanh')", "F.relu({})"]

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def matrix(self, depth: int, names: list[str]) -> str:
        r = self.random
        k = r.randrange(9 if depth else 1)
        if k == 0:
            return r.choice(names)
        if k <= 3:
            return r.choice(self.UNARY).format(self.matrix(depth - 1, names) if r.random() < 0.6 else r.choice(names))
        if k == 4:
            return f"({self.matrix(depth - 1, names)} @ {self.matrix(depth - 1, names)})"
        if k == 5:
            return f"F.linear({self.matrix(depth - 1, names)}, {r.choice(names)}, {self.row(depth - 1, names)})"
        if k == 6:
            return f"({self.matrix(depth - 1, names)}).softmax(dim={r.randrange(2)})"
        if k == 7:
            other = self.row(depth - 1, names) if r.random() < 0.5 else self.matrix(depth - 1, names)
            return f"({self.matrix(depth - 1, names)} {r.choice(['+', '-', '*', '/'])} {other})"
        return f"({self.row(depth - 1, names)} {r.choice(['+', '-', '*', '/'])} {self.matrix(depth - 1, names)})"

    def row(self, depth: int, names: list[str]) -> str:
        r = self.random
        k = r.randrange(6 if depth > 0 else 1)
        if k == 0:
            return "v"
        if k == 1:
            return f"({self.matrix(depth - 1, names)}).{r.choice(['mean', 'sum'])}(dim={r.randrange(2)})"
        if k == 2:
            return f"({self.matrix(depth - 1, names)} @ {self.row(depth - 1, names)})"
        if k == 3:
            return f"torch.matmul({self.row(depth - 1, names)}, {self.matrix(depth - 1, names)})"
        if k == 4:
            return f"({self.row(depth - 1, names)} {r.choice(['+', '-', '*', '/'])} {self.row(depth - 1, names)})"
        return r.choice(self.UNARY).format(self.row(depth - 1, names))

    def function(self, name: str) -> str:
        r, names, out = self.random, ["x", "y"], []
        for i in range(r.randrange(1, 4)):
            out.append(f"    h{i} = {self.matrix(2, names)}")
            names.append(f"h{i}")
        if r.random() < 0.6:
            target = r.choice(names)
            out += ["    for i in range(n):", "        if i % 2 == 0:", f"            {target} = {self.matrix(2, names)}", "        else:", f"            {target} = {self.matrix(1, names)}"]
        if r.random() < 0.3:
            a, b = r.choice(names), r.choice(names)
            out.append(f"    {a}, {b} = {b}, {a}")
        kind = r.randrange(3)
        head = f"def {name}(x: TensorF32Cpu2D, y: TensorF32Cpu2D, v: TensorF32Cpu1D, n: int) -> "
        last = {0: ("TensorF32Cpu2D", self.matrix(2, names)), 1: ("TensorF32Cpu1D", f"({self.matrix(2, names)}).mean(dim=1)"), 2: ("TensorI64Cpu1D", f"({self.matrix(2, names)}).argmax(dim=1)")}[kind]
        return head + last[0] + ":\n" + "\n".join(out) + f"\n    return {last[1]}\n\n"


class Rows:
    """A random function of a batch (rows×n), a matrix (n×n) and a row (n) that treats each row of the batch alone: it may run in blocks."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.products = self.random.random() < 0.5

    def batch(self, depth: int, names: list[str]) -> str:
        r = self.random
        k = r.randrange(8 if depth else 1)
        a = self.batch(depth - 1, names) if depth and r.random() < 0.8 else r.choice(names)
        if k == 0:
            return a
        if k <= 3:
            return r.choice(Chain.UNARY).format(a)
        if k == 4:
            return f"({a}).softmax(dim=1)"
        if k == 5 and self.products:
            return r.choice(["({} @ w)", "F.linear({}, w, v)", "torch.matmul({}, w)"]).format(a)
        op, other = r.choice(["+", "-", "*", "/"]), self.batch(depth - 1, names) if r.random() < 0.5 else "v"
        return f"({a} {op} {other})" if r.random() < 0.7 else f"({other} {op} {a})"

    def function(self, name: str) -> str:
        r, names, out = self.random, ["x"], []
        for i in range(r.randrange(1, 4)):
            out.append(f"    h{i} = {self.batch(2, names)}")
            names.append(f"h{i}")
        if r.random() < 0.5:
            target = r.choice(names)
            out += ["    for i in range(n):", "        if i % 2 == 0:", f"            {target} = {self.batch(1, names)}", "            continue", f"        {target} = {self.batch(1, names)}", "    else:", f"        {target} = {self.batch(1, names)}"]
        last = r.choice(["TensorF32Cpu2D {}", "TensorF32Cpu1D ({}).mean(dim=1)", "TensorF32Cpu1D ({}).sum(dim=1)", "TensorI64Cpu1D ({}).argmax(dim=1)"])
        result, value = last.split(" ", 1)
        head = f"def {name}(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu1D, n: int) -> {result}:\n"
        return head + "\n".join(out) + f"\n    return {value.format(self.batch(2, names))}\n\n"


def rows_arguments(r: random.Random, tensors: Any) -> tuple[Any, ...]:
    """For a function of Rows: 48 to 600 rows, so that it runs in blocks; `tensors` is the module of builders."""
    rows, n = r.randrange(48, 601), r.choice([1, 3, 8, 17, 33, 64])
    layout = r.choice([lambda t: t, lambda t: t, tensors.transposed, tensors.strided])
    x = layout(tensors.rand(rows, n) if r.random() < 0.7 else tensors.specials(rows, n))
    return x, tensors.rand(n, n), tensors.rand(n), r.randrange(4)
