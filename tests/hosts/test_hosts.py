"""Every known law of products against every recorded host, on any machine: a law must give all bits of the hosts that it is for.

| file | hosts whose bits it has |
| --- | --- |
| amd.npz | AMD Zen 5 (AVX-512) and Zen 3 (AVX2), torch 2.11.0, MKL 2024.2; Zen 3 also under MKL_ENABLE_INSTRUCTIONS=AVX2 |
| amd-compatible.npz | both under MKL_CBWR=COMPATIBLE: another order of additions, for which no law is known |

No Intel host is recorded, so the law `intel` is held against none here; that it does not pass for AMD's is.
"""

import ctypes as C
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "recipes")]
import kernels  # noqa: E402
import products  # noqa: E402

HOLDS = {("amd", "amd"): True, ("amd", "intel"): False, ("amd-compatible", "amd"): False, ("amd-compatible", "intel"): False}


def product(isa: int, law: kernels.Law, case: products.Case) -> tuple[int, tuple[int, int]] | None:
    """The digest by the rule and the kernel, and which way that was; None where the rule leaves it to the wheel."""
    threads, (form, bias), k, m, n = case
    x, w, b = products.operands(form, bias, k, m, n)
    turned = form == "linear"
    sizes = kernels.Case(rows=m, cols=n, k=k, bias=bias, transposed=turned, threads=threads, law=C.pointer(law))
    rule = kernels.recipe(form).rule(isa, C.byref(sizes))
    if rule.way == kernels.WHEEL:
        return None
    key = (isa, *case[1:], rule.way, rule.chain)
    if key not in DIGESTS:
        packed, out = products.aligned(rule.pack_elems), products.aligned(m * n).reshape(m, n)
        out[...] = np.nan
        if rule.pack_elems:
            kernels.library().tc__kernels(isa).contents.pack(w.ctypes.data, packed.ctypes.data, k, n, turned)
        call = kernels.Matmul(x.ctypes.data, w.ctypes.data, packed.ctypes.data if rule.pack_elems else None)
        call.bias, call.out = None if b is None else b.ctypes.data, out.ctypes.data
        call.m, call.k, call.n, call.transposed, call.way, call.chain = m, k, n, turned, rule.way, rule.chain
        recipe = kernels.recipe(form)
        kernels.TYPES[getattr(recipe, "class")](recipe.kernel[isa])(C.byref(call), kernels.place(0, m * k))
        DIGESTS[key] = products.digest(out)
    return DIGESTS[key], (isa, rule.way)


DIGESTS: dict[tuple[object, ...], int] = {}


def sets() -> Iterator[int]:
    yield from (isa for isa in range(3) if kernels.library().tc__isa_runs(isa))


@pytest.mark.parametrize(("file", "name"), HOLDS)
def test_law(file: str, name: str) -> None:
    wanted = products.read(HERE / f"{file}.npz")
    wrong, ways = [], {}
    for isa in sets():
        for case, digest in wanted.items():
            law = next(law for law in kernels.known_laws(case[0]) if law.name.decode() == name)
            got = product(isa, law, case)
            if got is not None:
                ways[got[1]] = ways.get(got[1], 0) + 1
                if got[0] != digest:
                    wrong.append(case)
        if wrong and not HOLDS[file, name]:
            return
    assert not wrong, f"{len(wrong)} of {sum(ways.values())}, the first: {wrong[0]}"
    assert HOLDS[file, name], "no case shows that this is the law of another host"
    # Every way was taken, and none by a few cases only. Sets without fused multiply-add have no chains of them.
    for isa in sets():
        for way in (kernels.CHAINS_TO_0, kernels.PLAIN, kernels.LANES, kernels.ROW_LANES):
            assert ways.get((isa, way), 0) > 900 or (isa == 0 and way == kernels.CHAINS_TO_0), (isa, way, ways)


def test_files_say_what_they_are() -> None:
    for path in HERE.glob("*.npz"):
        for host in json.loads(str(np.load(path)["meta"])):
            assert host["torch"] and "Math Kernel Library" in host["mkl"] and host["cpu"]["vendor_id"], path
