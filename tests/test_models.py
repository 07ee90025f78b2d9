"""The ten models of models.py and the modules of modules.py, run natively: bits, dtypes, strides and aliasing of eager."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from workbench import BODIES, TESTS, has_torch

pytestmark = [pytest.mark.isolated, pytest.mark.skipif(not has_torch(), reason="torch is not installed"), pytest.mark.usefixtures("exporter")]

SEVERAL = ("autoencoder", "gru", "series")  # also at larger batches, and with gaps in memory
WAYS = ("view", "loop", "recipe", "wheel")


def with_specials(args: Any, seed: int) -> Any:
    """The same with special values at some places of each float tensor."""
    import tensors
    import torch
    from torch.utils._pytree import tree_map

    generator = torch.Generator().manual_seed(seed)

    def put(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        flat = value.clone().reshape(-1)
        places = torch.randint(0, flat.numel(), (1 + seed % 4,), generator=generator)
        flat[places] = torch.tensor(tensors.SPECIAL)[torch.randint(0, len(tensors.SPECIAL), places.shape, generator=generator)]
        return flat.reshape(value.shape)

    return tree_map(put, args)


def differences(name: str, model: Any, inputs: list[Any]) -> list[str]:
    """What is wrong with calls of the compiled model, in words."""
    import tensorc
    import torch
    from tensorc.same import difference
    from torch.utils._pytree import tree_leaves

    fast = tensorc.compile(model)
    told = getattr(fast, "__tensorc__", fast)
    wrong = []
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, args in enumerate(inputs):
            want, got = model(*args), fast(*args)
            given = [leaf for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)]
            found = difference(tree_leaves(want), tree_leaves(got), given)
            if found is not None or told.body not in BODIES:
                wrong.append(f"{name}, input {number}, by {told.body}: {found} {told.stats()['python']}")
    ways[name] = next(iter(told.report().values()), [])
    return wrong


ways: dict[str, list[Any]] = {}  # of each model of this process: the operations of its first version


def table() -> str:
    """Per model, how many of its operations run in each way, and which are the wheel's."""
    lines = [f"{'':28}" + "".join(f"{way:>8}" for way in WAYS)]
    for name, rows in ways.items():
        counts = [sum(row.way == way for row in rows) for way in WAYS]
        wheel = " ".join(sorted({row.operation.removeprefix("aten::") for row in rows if row.way == "wheel"}))
        lines.append((f"{name:28}" + "".join(f"{n:8}" for n in counts) + f"  {wheel}").rstrip())
    return "\n".join(lines) + "\n"


def check_table(name: str, config: pytest.Config) -> None:
    golden = TESTS / "graphs" / name
    if config.getoption("--bless"):
        golden.write_text(table())
    assert table() == golden.read_text(), "pytest --bless writes the table anew"


@pytest.mark.parametrize("batch", [1, 2, 16, 128])
def test_the_ten_models(batch: int, request: pytest.FixtureRequest) -> None:
    import models
    import torch

    wrong = []
    for name in models.NAMES if batch < 16 else SEVERAL:
        model, _ = models.make(name, batch)
        examples = [models.example(name, batch, seed) for seed in range(6)]
        inputs = [*examples, *(with_specials(args, seed) for seed, args in enumerate(examples))]
        strided = [arg.repeat_interleave(2, -1)[..., ::2] if arg.is_floating_point() else arg for arg in examples[0]]
        wrong += differences(name, model, [*inputs, strided] if name in SEVERAL else inputs)
    assert torch.get_num_threads() >= 1 and not wrong, "\n".join(wrong)
    if batch == 1:
        check_table("models.ways", request.config)


def test_the_modules(request: pytest.FixtureRequest) -> None:
    import modules

    assert len(modules.MODULES) >= 30
    wrong = []
    for name, make in modules.MODULES.items():
        model, args = make()
        wrong += differences(name, model, [args, args, *(with_specials(args, seed) for seed in range(4))])
    assert not wrong, "\n".join(wrong)
    check_table("modules.ways", request.config)
