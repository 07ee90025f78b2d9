"""Thirty small modules of the kinds that people deploy, beside the ten of models.py.

    MODULES[name]() -> (module in eval mode or function, arguments)

Nothing in here knows about any compiler. Weights and arguments are the same each time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

MODULES: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {}


def case(make: Callable[[], tuple[Any, tuple[Any, ...]]]) -> Callable[[], tuple[Any, tuple[Any, ...]]]:
    def seeded() -> tuple[Any, tuple[Any, ...]]:
        torch.manual_seed(7)
        model, args = make()
        if isinstance(model, nn.Module):
            model.eval()
            for module in model.modules():
                if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
                    module.running_mean.uniform_(-0.5, 0.5)
                    module.running_var.uniform_(0.5, 1.5)
        return model, args

    MODULES[make.__name__] = seeded
    return seeded


# ── recurrent ────────────────────────────────────────────────────────────────────────────────────────────────────────


class LSTMStep(nn.Module):
    def __init__(self, n: int = 12, hidden: int = 20) -> None:
        super().__init__()
        self.gates = nn.Linear(n + hidden, 4 * hidden)

    def forward(self, x: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor]) -> Any:
        h, c = state
        i, f, g, o = self.gates(torch.cat([x, h], dim=1)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, (h, c)


@case
def lstm_step() -> Any:
    return LSTMStep(), (torch.randn(3, 12), (torch.randn(3, 20), torch.randn(3, 20)))


class Unrolled(nn.Module):
    """An Elman layer over time, a loop in Python."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.Linear(6 + 10, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = x.new_zeros(x.shape[0], 10)
        out = []
        for t in range(x.shape[1]):
            h = torch.tanh(self.cell(torch.cat([x[:, t], h], dim=-1)))
            out.append(h)
        return torch.stack(out, dim=1)


@case
def elman_layer() -> Any:
    return Unrolled(), (torch.randn(2, 5, 6),)


@case
def gru_layer() -> Any:
    return nn.GRU(6, 8, batch_first=True), (torch.randn(2, 4, 6),)


@case
def minimal_gated_unit() -> Any:
    w = torch.randn(8, 8)

    def step(x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        f = torch.sigmoid(x @ w + h)
        return torch.lerp(h, torch.tanh(x @ w + f * h), f)

    return step, (torch.randn(4, 8), torch.randn(4, 8))


# ── attention ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Causal(nn.Module):
    """Self-attention with a causal mask that is a buffer."""

    def __init__(self, d: int = 16, heads: int = 2, longest: int = 16) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)
        self.register_buffer("mask", torch.tril(torch.ones(longest, longest)).bool())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))


@case
def causal_attention() -> Any:
    return Causal(), (torch.randn(2, 7, 16),)


class Cached(nn.Module):
    """One step of decoding: the new key and value go behind those of the cache, which is returned."""

    def __init__(self, d: int = 16) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x: torch.Tensor, cache: dict[str, torch.Tensor]) -> Any:
        k = torch.cat([cache["k"], self.k(x)], dim=1)
        v = torch.cat([cache["v"], self.v(x)], dim=1)
        y = F.scaled_dot_product_attention(self.q(x), k, v)
        return y, {"k": k, "v": v}


@case
def cached_attention() -> Any:
    return Cached(), (torch.randn(2, 1, 16), {"k": torch.randn(2, 5, 16), "v": torch.randn(2, 5, 16)})


class Relative(nn.Module):
    """Attention with a bias by distance, looked up in a table, and a padding mask."""

    def __init__(self, d: int = 12, longest: int = 8) -> None:
        super().__init__()
        self.proj = nn.Linear(d, 3 * d)
        self.bias = nn.Embedding(2 * longest - 1, 1)
        steps = torch.arange(longest)
        self.register_buffer("distance", steps[:, None] - steps[None, :] + longest - 1)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        t = x.shape[1]
        q, k, v = self.proj(x).split(x.shape[-1], dim=-1)
        scores = torch.einsum("bid,bjd->bij", q, k) / q.shape[-1] ** 0.5 + self.bias(self.distance[:t, :t]).squeeze(-1)
        padding = torch.arange(t)[None, :] >= lengths[:, None]
        return torch.softmax(scores.masked_fill(padding[:, None, :], -1e9), dim=-1) @ v


@case
def relative_attention() -> Any:
    return Relative(), (torch.randn(2, 6, 12), torch.tensor([6, 3]))


class Rotary(nn.Module):
    """Queries rotated by position, as language models do it, with RMS norms."""

    def __init__(self, d: int = 16) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(d, eps=1e-6)
        self.q = nn.Linear(d, d, bias=False)
        self.register_buffer("inverse", 1.0 / (10000 ** (torch.arange(0, d, 2).float() / d)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        angles = torch.outer(torch.arange(x.shape[1], dtype=torch.float32), self.inverse)
        angles = torch.cat([angles, angles], dim=-1)
        q = self.q(self.norm(x))
        one, two = q.chunk(2, dim=-1)
        return q * angles.cos() + torch.cat([-two, one], dim=-1) * angles.sin()


@case
def rotary() -> Any:
    return Rotary(), (torch.randn(2, 5, 16),)


# ── blocks and convolutions ──────────────────────────────────────────────────────────────────────────────────────────


class Residual(nn.Module):
    def __init__(self, n: int = 24) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(n), nn.Linear(n, 2 * n), nn.Linear(2 * n, n)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(F.gelu(self.up(self.norm(x)), approximate="tanh"))


@case
def residual_blocks() -> Any:
    return nn.Sequential(Residual(), Residual(), nn.Dropout(0.3), nn.Linear(24, 4)), (torch.randn(3, 24),)


@case
def gated_linear_unit() -> Any:
    return nn.Sequential(nn.Linear(10, 16), nn.GLU(), nn.Linear(8, 12), nn.SiLU(), nn.Linear(12, 2)), (torch.randn(5, 10),)


@case
def small_cnn() -> Any:
    layers = [nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)), (torch.randn(2, 1, 12, 12),)


class BasicBlock(nn.Module):
    """A residual block of a ResNet; its activations write in place."""

    def __init__(self, n: int = 4) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(n, n, 3, padding=1, bias=False), nn.BatchNorm2d(n)
        self.conv2, self.bn2 = nn.Conv2d(n, n, 3, padding=1, bias=False), nn.BatchNorm2d(n)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += x
        return self.relu(y)


@case
def resnet_block() -> Any:
    return BasicBlock(), (torch.randn(1, 4, 8, 8),)


class SqueezeExcite(nn.Module):
    def __init__(self, n: int = 6) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(n, n, 3, padding=1, groups=n)
        self.fc1, self.fc2 = nn.Conv2d(n, 2, 1), nn.Conv2d(2, n, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.hardswish(self.depthwise(x))
        scale = x.mean((2, 3), keepdim=True)
        return x * F.hardsigmoid(self.fc2(F.relu(self.fc1(scale))))


@case
def squeeze_excite() -> Any:
    return SqueezeExcite(), (torch.randn(2, 6, 5, 5),)


class WaveBlock(nn.Module):
    """Dilated causal convolutions with gates and skips."""

    def __init__(self, n: int = 6) -> None:
        super().__init__()
        self.filters = nn.ModuleList(nn.Conv1d(n, n, 2, dilation=2**i) for i in range(3))
        self.gates = nn.ModuleList(nn.Conv1d(n, n, 2, dilation=2**i) for i in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skip = torch.zeros_like(x)
        for i, (f, g) in enumerate(zip(self.filters, self.gates, strict=True)):
            padded = F.pad(x, (2**i, 0))
            y = torch.tanh(f(padded)) * torch.sigmoid(g(padded))
            x, skip = x + y, skip + y
        return F.relu(skip)


@case
def wave_block() -> Any:
    return WaveBlock(), (torch.randn(2, 6, 9),)


# ── experts, graphs, trees ───────────────────────────────────────────────────────────────────────────────────────────


class SoftExperts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(8, 3)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.ELU()) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = F.softmax(self.gate(x), dim=-1)
        return sum(weight[:, i : i + 1] * expert(x) for i, expert in enumerate(self.experts))


@case
def soft_experts() -> Any:
    return SoftExperts(), (torch.randn(4, 8),)


class GraphLayer(nn.Module):
    """Messages along edges, added up at their targets, divided by degrees."""

    def __init__(self) -> None:
        super().__init__()
        self.own, self.message = nn.Linear(5, 5), nn.Linear(5, 5)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        source, target = edges
        messages = self.message(x)[source]
        total = torch.zeros_like(x).index_add(0, target, messages)
        degree = torch.zeros(x.shape[0]).scatter_add(0, target, torch.ones(target.shape[0])).clamp(min=1)
        return F.relu(self.own(x) + total / degree.unsqueeze(1))


@case
def graph_layer() -> Any:
    return GraphLayer(), (torch.randn(6, 5), torch.tensor([[0, 1, 2, 3, 3, 5], [1, 0, 3, 2, 5, 4]]))


class Trees(nn.Module):
    """An ensemble of decision trees of depth 3: each step gathers a feature and a threshold, and goes left or right."""

    def __init__(self, trees: int = 5, features: int = 7) -> None:
        super().__init__()
        self.register_buffer("feature", torch.randint(0, features, (trees, 7)))
        self.register_buffer("threshold", torch.randn(trees, 7))
        self.register_buffer("leaf", torch.randn(trees, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        at = torch.zeros(x.shape[0], self.feature.shape[0], dtype=torch.int64)
        row = torch.arange(self.feature.shape[0])
        for _ in range(3):
            value = torch.gather(x, 1, self.feature[row, at])
            at = 2 * at + 1 + (value > self.threshold[row, at]).long()
        return self.leaf[row, at - 7].sum(dim=1).sigmoid()


@case
def tree_ensemble() -> Any:
    return Trees(), (torch.randn(4, 7),)


# ── tokens ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class NextToken(nn.Module):
    """Tokens to the probabilities of the next one: top-k and nucleus filters over the logits."""

    def __init__(self, words: int = 40, d: int = 16) -> None:
        super().__init__()
        self.embed, self.mix, self.head = nn.Embedding(words, d, padding_idx=0), Causal(d, 2), nn.Linear(d, words, bias=False)
        self.temperature = 0.7

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits = self.head(self.mix(self.embed(ids)))[:, -1] / self.temperature
        least = torch.topk(logits, 10).values[:, -1:]
        logits = logits.masked_fill(logits < least, -float("inf"))
        ordered, order = torch.sort(logits, descending=True)
        beyond = ordered.softmax(-1).cumsum(-1) > 0.9
        beyond = torch.cat([torch.zeros_like(beyond[:, :1]), beyond[:, :-1]], dim=-1)
        keep = torch.zeros_like(beyond).scatter(1, order, ~beyond)
        p = torch.where(keep, logits, torch.tensor(float("-inf"))).softmax(-1)
        return p, p.argmax(-1)


@case
def next_token() -> Any:
    return NextToken(), (torch.randint(1, 40, (2, 6)),)


class BagOfWords(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(50, 8), nn.Linear(8, 3)

    def forward(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        mask = (ids != 0).unsqueeze(-1).float()
        pooled = (self.embed(ids) * mask).sum(1) / mask.sum(1).clamp_min(1.0)
        score = F.log_softmax(self.head(pooled), dim=-1)
        return {"score": score, "label": score.argmax(dim=-1)}


@case
def bag_of_words() -> Any:
    return BagOfWords(), (torch.tensor([[4, 7, 0, 0], [9, 9, 3, 1]]),)


# ── images and boxes ─────────────────────────────────────────────────────────────────────────────────────────────────


@case
def normalise_image() -> Any:
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])

    def prepare(image: torch.Tensor) -> torch.Tensor:
        x = image.permute(2, 0, 1).float() / 255
        x = (x - mean[:, None, None]) / std[:, None, None]
        return F.interpolate(x.unsqueeze(0), size=(6, 6), mode="bilinear", align_corners=False).flip(-1)

    return prepare, (torch.randint(0, 256, (8, 10, 3), dtype=torch.uint8),)


@case
def box_iou() -> Any:
    def iou(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        def area(x: torch.Tensor) -> torch.Tensor:
            return (x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1])

        low = torch.max(a[:, None, :2], b[None, :, :2])
        high = torch.min(a[:, None, 2:], b[None, :, 2:])
        inter = (high - low).clamp(min=0).prod(-1)
        return inter / (area(a)[:, None] + area(b)[None, :] - inter)

    def boxes(n: int) -> torch.Tensor:
        low = torch.rand(n, 2) * 50
        return torch.cat([low, low + 5 + torch.rand(n, 2) * 20], dim=1)

    return iou, (boxes(5), boxes(4))


@case
def heatmap_peaks() -> Any:
    def peaks(heat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        heat = torch.sigmoid(heat)
        heat = heat * (F.max_pool2d(heat, 3, stride=1, padding=1) == heat)
        score, place = heat.flatten(1).topk(4)
        return score, torch.div(place, heat.shape[-1], rounding_mode="floor"), place % heat.shape[-1]

    return peaks, (torch.randn(2, 6, 7),)


# ── forecasting, flows, control ──────────────────────────────────────────────────────────────────────────────────────


class Decomposed(nn.Module):
    """A linear forecast of trend and season, after instance normalisation, which is undone."""

    def __init__(self, past: int = 24, future: int = 6) -> None:
        super().__init__()
        self.trend, self.season = nn.Linear(past, future), nn.Linear(past, future)
        self.average = nn.AvgPool1d(5, stride=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean, std = x.mean(1, keepdim=True), torch.sqrt(x.var(1, keepdim=True, unbiased=False) + 1e-5)
        x = ((x - mean) / std).transpose(1, 2)
        trend = self.average(F.pad(x, (2, 2), mode="replicate"))
        return (self.trend(trend) + self.season(x - trend)).transpose(1, 2) * std + mean


@case
def forecast() -> Any:
    return Decomposed(), (torch.randn(2, 24, 3),)


@case
def holt_winters() -> Any:
    def smooth(x: torch.Tensor, alpha: float = 0.3, beta: float = 0.1) -> torch.Tensor:
        level, slope = x[:, 0], x[:, 1] - x[:, 0]
        out = []
        for t in range(1, x.shape[1]):
            before = level
            level = alpha * x[:, t] + (1 - alpha) * (level + slope)
            slope = beta * (level - before) + (1 - beta) * slope
            out.append(level + slope)
        return torch.stack(out, -1)

    return smooth, (torch.randn(3, 6),)


class Coupling(nn.Module):
    """An affine coupling layer of a normalising flow, with its log-determinant and the log-density."""

    def __init__(self, n: int = 6) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n // 2, 16), nn.Tanh(), nn.Linear(16, n))
        self.register_buffer("order", torch.randperm(n))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a, b = x[:, self.order].chunk(2, dim=1)
        shift, scale = self.net(a).chunk(2, dim=1)
        scale = 2 * torch.tanh(scale / 2)
        z = torch.cat([a, b * scale.exp() + shift], dim=1)
        log_density = -0.5 * (z.pow(2) + math.log(2 * math.pi)).sum(1) + scale.sum(1)
        return z, log_density


@case
def coupling_flow() -> Any:
    return Coupling(), (torch.randn(3, 6),)


class Gaussian(nn.Module):
    """A policy's mean and log-probability of an action squashed by tanh."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.mean = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU()), nn.Linear(16, 2)
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def forward(self, x: torch.Tensor, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean = self.mean(self.body(x))
        std = self.log_std.clamp(-5, 2).exp().expand_as(mean)
        log_p = torch.distributions.Normal(mean, std, validate_args=False).log_prob(action).sum(-1)
        return torch.tanh(mean), log_p - torch.log1p(-torch.tanh(action).square() + 1e-6).sum(-1)


@case
def gaussian_policy() -> Any:
    return Gaussian(), (torch.randn(4, 5), torch.randn(4, 2))


@case
def kalman_step() -> Any:
    f, h = torch.tensor([[1.0, 1.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0]])

    def step(x: torch.Tensor, p: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, p = f @ x, f @ p @ f.T + 0.01 * torch.eye(2)
        s = h @ p @ h.T + 0.5
        gain = p @ h.T / s
        return x + gain @ (z - h @ x), (torch.eye(2) - gain @ h) @ p

    return step, (torch.randn(2, 1), torch.eye(2), torch.randn(1, 1))


# ── what writes, and what has sizes that depend on values ────────────────────────────────────────────────────────────


class InPlace(nn.Module):
    """Writes to tensors that it has made itself."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x).mul_(0.5).add_(1.0)
        return F.leaky_relu(y, 0.1, inplace=True).clamp_(max=2.0)


@case
def in_place() -> Any:
    return InPlace(), (torch.randn(3, 6),)


@case
def detections_above_threshold() -> Any:
    def keep(scores: torch.Tensor, boxes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        good = scores > 0.5
        return scores[good], boxes[good]

    return keep, (torch.rand(8), torch.rand(8, 4))


class Patches(nn.Module):
    """An image cut into patches, a class token before them, their places added: the front of a vision transformer."""

    def __init__(self, d: int = 8, patch: int = 4, places: int = 5) -> None:
        super().__init__()
        self.patch, self.proj = patch, nn.Linear(3 * patch * patch, d)
        self.token, self.place = nn.Parameter(torch.randn(1, 1, d)), nn.Parameter(torch.randn(1, places, d))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        b = image.shape[0]
        x = F.unfold(image, self.patch, stride=self.patch).transpose(1, 2)
        x = torch.cat([self.token.expand(b, -1, -1), self.proj(x)], dim=1)
        return F.normalize(x + self.place, dim=-1)


@case
def image_patches() -> Any:
    return Patches(), (torch.randn(2, 3, 8, 8),)
