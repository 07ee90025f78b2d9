"""Captured programs in the cache folder: a later process that would capture the same need not.

An entry's name is the digest of all that a capture depends on: the code and what it reads (digest.py), the kind of the
arguments, torch's settings, the versions. Where that cannot be told there is no entry. An entry is kept only when the
first call ran no code that the digest has not seen; and what it holds is held against eager in each process anew.
"""

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from types import CodeType, FrameType
from typing import Any

import torch
from torch._ops import OpOverload

from tensorc import __version__, atomic, cc
from tensorc.capture import FUNCTIONS, Program, call_name
from tensorc.digest import PLAIN, Digest, Undigestible, is_known

_HERE = os.path.dirname(os.path.abspath(__file__))
_MOST_BYTES = 1 << 20  # of the tensors that an entry holds itself


def _settings() -> tuple[object, ...]:
    """Of torch, which its own code may ask for while it is captured."""
    cuda: Any = torch.backends.cuda
    return (
        torch.get_num_threads(),
        torch.get_default_device(),
        torch.get_float32_matmul_precision(),
        torch.are_deterministic_algorithms_enabled(),
        torch.backends.mkldnn.enabled,
        torch.backends.mha.get_fastpath_enabled(),
        (cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled()),
    )


def _versions() -> tuple[object, ...]:
    """Of all whose code stands for itself. Of ours the files' contents: a checkout has one version for many."""
    numpy = sys.modules.get("numpy")
    own = []
    for name in ("capture.py", "effects.py", "inplace.py", "digest.py", "warm.py"):
        with open(os.path.join(_HERE, name), "rb") as file:
            own.append(sha256(file.read()).hexdigest())
    return __version__, torch.__version__, sys.version, getattr(numpy, "__version__", None), own


class Memory:
    """What is known from earlier of one callable for one kind of arguments."""

    def __init__(self, function: Any, kind: Iterable[object], unwrap: Callable[[Any], Any]) -> None:
        """`kind` is the key of Arguments. Undigestible when nothing can be known."""
        kind = tuple(kind)
        if not all(type(part) in (*PLAIN, tuple) or isinstance(part, type) for part in kind):  # tuples: of strides
            raise Undigestible("arguments of other classes")
        self._digest = Digest(function, unwrap)
        key = sha256(repr((self._digest.hexdigest(), kind, _settings(), _versions())).encode())
        self._path = os.path.join(cc.cache_dir(), f"program-{key.hexdigest()[:32]}")
        self._strangers = False

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def program(self) -> Program | str | None:
        """The program; a text when it is known that there is none, and why; None when nothing is known."""
        try:
            with open(self._path, "rb") as file:
                whole = file.read()
            if whole[:32] != sha256(whole[32:]).digest():
                return None
            text, refused, constants, calls = pickle.loads(whole[32:])
            if refused is not None:
                return str(refused)
            found = tuple(self._digest.tensors[at] if isinstance(at, int) else at for at in constants)
            return Program(text, found, {node: (_operation(name), given) for node, (name, given) in calls.items()})
        except Exception:  # of another layout, cut short, not ours to read: it is as if there were none
            return None

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def listening(self) -> Iterator[None]:
        """The code that runs within, in this thread, is held against what the digest has seen."""
        if sys.getprofile() is not None:  # somebody else listens
            self._strangers = True
            yield
            return
        ran: set[CodeType] = set()

        def hear(frame: FrameType, event: str, argument: object) -> None:
            if event == "call":
                ran.add(frame.f_code)

        sys.setprofile(hear)
        try:
            yield
        finally:
            sys.setprofile(None)
            self._strangers = any(code not in self._digest.codes and not is_known(code) for code in ran)

    def keep(self, found: Program | str) -> None:
        """A program for later processes, or why there is none, if it can be kept. They have its tensors by their place
        among those of the digest, or from the entry."""
        if self._strangers:
            return
        constants: list[int | torch.Tensor] = []
        places = {id(tensor): at for at, tensor in enumerate(self._digest.tensors)}
        memory = {tensor.untyped_storage().data_ptr() for tensor in self._digest.tensors}
        program = found if isinstance(found, Program) else Program(b"", (), {})
        for tensor in program.constants:
            if id(tensor) not in places and tensor.untyped_storage().data_ptr() in memory:
                return  # a view that the code made: each process has its own
            constants.append(places.get(id(tensor), tensor))
        own = [tensor for tensor in constants if isinstance(tensor, torch.Tensor)]
        if sum(tensor.untyped_storage().nbytes() for tensor in own) > _MOST_BYTES:
            return
        calls = {node: (call_name(function), given) for node, (function, given) in program.calls.items()}
        refused = found if isinstance(found, str) else None
        with suppress(Exception):  # no folder to write to, constants that cannot be pickled: there is no entry then
            whole = pickle.dumps((program.text, refused, constants, calls))
            atomic.write(self._path, sha256(whole).digest() + whole)


def _operation(name: str) -> Callable[..., Any]:
    """ "aten.add.Tensor", "operator.add"."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    namespace, operation, overload = name.split(".")
    found: OpOverload = getattr(getattr(getattr(torch.ops, namespace), operation), overload)
    return found
