"""Writes of a captured graph that nobody can see.

relu_(x) is relu(x) where x, and whatever shares memory with it, was made by the graph itself and is not read again. The
graph then has an operation without effects, which gives the same bits.
"""

from collections.abc import Iterable

import torch
from torch._ops import OpOverload
from torch.fx import Node

_MARK = "tensorc_written"  # in a node's meta


def _memory(node: Node) -> int | None:
    """Which memory the node's tensor lies in; None: it is no tensor."""
    value = node.meta.get("val")
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


def _without_effect(target: OpOverload) -> OpOverload | None:
    """The same operation on a new tensor, if there is one of the same arguments."""
    schema = target._schema
    name, overload = schema.name.removeprefix("aten::"), schema.overload_name or "default"
    found = getattr(getattr(torch.ops.aten, name.removesuffix("_"), None), overload, None)
    if not name.endswith("_") or not isinstance(found, OpOverload) or found._schema.is_mutable:
        return None
    same = _rest(schema) == _rest(found._schema)
    return found if same and len(found._schema.returns) == 1 else None


def _rest(schema: torch.FunctionSchema) -> list[str]:
    """What arguments there are behind the first."""
    return [f"{argument.name}: {argument.type}" for argument in schema.arguments[1:]]


def _is_last_look(write: Node, written: Node, place: dict[Node, int]) -> bool:
    """Whether the tensor that is written to is the graph's own, and read again through this node's result alone."""
    memory = _memory(written)
    for node, at in place.items():
        if at >= place[write] or _memory(node) != memory:
            continue
        if node.op == "placeholder" or any(place[user] > place[write] for user in node.users):
            return False
    return memory is not None


def replace(nodes: Iterable[Node]) -> None:
    """Changes the targets of such nodes. What is left of an operation that writes has an effect."""
    place = {node: number for number, node in enumerate(nodes)}
    for node in place:
        if isinstance(node.target, OpOverload) and node.target._schema.is_mutable and node.args:
            found = _without_effect(node.target)
            written = node.args[0]
            if found is not None and isinstance(written, Node) and _is_last_look(node, written, place):
                node.target = found
                node.meta[_MARK] = written


def written_by(node: Node) -> Node | None:
    """Of a node that was changed: what it wrote to, whose type its result has to have."""
    written: Node | None = node.meta.get(_MARK)
    return written
