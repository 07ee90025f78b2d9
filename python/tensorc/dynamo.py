"""torch.compile(model, backend="tensorc"): what torch finds by the entry point of this package.

Dynamo traces the model and guards it; each of its graphs is compiled as a model is: captured for the arguments that its
calls bring, native where it has eager's bits, else run as Dynamo wrote it, with the reason in a warning.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tensorc.compiled import Compiled


def backend(graph: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """`example_inputs` may be tensors without values: versions are made of the first calls."""
    plain = torch.fx.GraphModule(graph, graph.graph)  # Dynamo's own writes its code at its first call
    vars(plain)["__qualname__"] = "a graph of torch.compile"  # what warnings call it
    return Compiled(plain, frozen=True)  # that nothing outside of it changes is what Dynamo's guards are for
