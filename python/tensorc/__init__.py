"""tensorc: compiles typed Python functions over tensors, ahead of time, into native extension modules."""

from tensorc.api import exempt, mode, native

__version__ = "0.1.0"
__all__ = ["__version__", "exempt", "mode", "native"]
