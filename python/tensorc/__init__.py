"""tensorc: compiles typed Python functions over tensors, ahead of time, into native extension modules; and models of
torch as they are, by tensorc.compile."""

from tensorc.api import exempt, mode, native
from tensorc.model import compile

__version__ = "0.1.0"
__all__ = ["__version__", "compile", "exempt", "mode", "native"]
