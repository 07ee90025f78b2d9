"""conv1d against torch, bit by bit: one sample, and more, which are oneDNN's."""

import itertools

import kernels
import pytest
import torch
import torch.nn.functional as F
from test_recipes import KINDS, same, threads, values  # noqa: F401

pytestmark = pytest.mark.isolated

# channels, length, filters, width
SIZES = [(8, 34, 16, 3), (16, 36, 16, 3), (3, 50, 5, 5), (1, 20, 8, 5), (12, 50, 5, 2), (13, 30, 33, 4), (64, 40, 64, 3), (2, 9, 1, 3), (40, 30, 9, 7), (7, 8, 4, 8), (1, 5, 1, 2)]
NAMES = ["conv1d", "conv1d_columns"]


def check(name: str, kind: str, batch: int, size: tuple[int, ...], stride: int, dilation: int, bias: bool, padding: int = 0) -> bool:
    """Whether the rule took it."""
    channels, length, filters, width = size
    if length + 2 * padding < dilation * (width - 1) + 1:
        return False
    x, w = values(kind, (batch, channels, length)), values(kind, (filters, channels, width), 1)
    b = values(kind, (filters,), 2) if bias else None
    got = kernels.conv1d(name, x, w, b, stride, dilation, padding)
    if got is not None:
        same(got, F.conv1d(x, w, b, stride, padding, dilation), name, kind, batch, size, stride, dilation, bias, padding)
    return got is not None


def test_one_sample(threads: int) -> None:  # noqa: F811
    for name, kind, size, stride, dilation, bias in itertools.product(NAMES, KINDS[::threads], [*SIZES[:: 3 * threads - 2], (16, 20, 33, 1)], (1, 2), (1, 2), (False, True)):
        fits = size[1] > dilation * (size[3] - 1)
        assert check(name, kind, 1, size, stride, dilation, bias) == fits


def test_more_samples(threads: int) -> None:  # noqa: F811
    for kind, size, batch, dilation, bias in itertools.product(KINDS[::threads], SIZES[:: 3 * threads - 2], (2, 16), (1, 2), (False, True)):
        fits = size[1] > dilation * (size[3] - 1)
        assert check("conv1d", kind, batch, size, 1, dilation, bias) == fits
        assert not check("conv1d_columns", kind, batch, size, 1, dilation, bias)
    for size in [(256, 256, 20, 3), (24, 200, 256, 3), (16, 100, 16, 16)]:
        assert check("conv1d", "normal", 3, size, 1, 1, True)
    assert check("conv1d", "normal", 128, (16, 36, 16, 3), 1, 2, True)


def test_padding(threads: int) -> None:  # noqa: F811
    for kind, size, dilation, padding in itertools.product(KINDS[::threads], [*SIZES[:: 3 * threads - 2], (4, 1, 9, 3)], (1, 2), (1, 2, 3, 8)):
        fits = size[1] + 2 * padding > dilation * (size[3] - 1)
        out_length = size[1] + 2 * padding - dilation * (size[3] - 1)
        assert check("conv1d", kind, 1, size, 2, dilation, True, padding) == fits
        assert check("conv1d", kind, 5, size, 1, dilation, True, padding) == (fits and padding <= min(3, out_length, dilation * (size[3] - 1)))


def test_others_are_the_wheels() -> None:
    for batch, size, stride in [(2, (8, 34, 16, 1), 1), (2, (8, 34, 16, 3), 2), (0, (8, 34, 16, 3), 1), (1, (64, 400, 8, 3), 1), (2, (300, 40, 8, 3), 1)]:
        assert not check("conv1d", "normal", batch, size, stride, 1, True), (batch, size, stride)
    with torch.backends.mkldnn.flags(enabled=False):
        assert not check("conv1d", "normal", 2, (8, 34, 16, 3), 1, 1, True)
        assert check("conv1d_columns", "normal", 1, (8, 34, 16, 3), 1, 1, True)
