# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


class Mine(ValueError):
    pass


def asserted(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    assert n > 0
    return x.relu()


def asserted_with_text(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    assert n > 0, "n must be positive"
    return x.relu()


def asserted_with_value(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    assert n > 0, n
    return x.relu()


def raised(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    if n < 0:
        raise ValueError("negative: größer %d {}")
    return x.relu()


def raised_class(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    if n < 0:
        raise ValueError
    if n == 0:
        raise RuntimeError()
    return x.relu()


def raised_formatted(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    if n < 0:
        raise ValueError(f"negative: {n}")
    return x.relu()


def raised_own(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    if n < 0:
        raise Mine("mine")
    return x.relu()


def raised_from(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    if n < 0:
        raise KeyError("k") from None
    return x.relu()


def not_implemented(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    raise NotImplementedError("later")


def other_types(n: int) -> int:
    if n == 0:
        raise TypeError("t")
    if n == 1:
        raise KeyError("k")
    if n == 2:
        raise IndexError("i")
    if n == 3:
        raise StopIteration
    if n == 4:
        raise KeyboardInterrupt
    if n == 5:
        raise ZeroDivisionError("z")
    return n


def in_a_loop(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = x
    for i in range(n):
        h = h.relu() + x
        if i == 3:
            raise ValueError("too far")
    return h


def tensor_error_in_a_loop(x: TensorF32Cpu2D, w: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = x.relu()
    for i in range(n):
        h = h @ w
    return h


def tried(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    try:
        if n < 0:
            raise ValueError("v")
        return x.relu()
    except ValueError:
        return x.tanh()
    finally:
        n = 3


def reraised(n: int) -> int:
    raise

# >>> check
# asserted native rextio-torch/tensor-relu-f32-cpu-2d
# asserted_with_text native rextio-torch/tensor-relu-f32-cpu-2d
# asserted_with_value rejected RXT010 @ 21:18-21:19
# raised native rextio-torch/tensor-relu-f32-cpu-2d
# raised_class native rextio-torch/tensor-relu-f32-cpu-2d
# raised_formatted rejected RXT010 @ 41:8-41:42
# raised_own rejected RXT010 @ 47:8-47:26
# raised_from rejected RXT010 @ 53:8-53:37
# not_implemented native
# other_types rejected RXT010 @ 69:8-69:27, RXT010 @ 71:8-71:31
# in_a_loop native rextio-torch/tensor-add-f32-cpu-same-rank rextio-torch/tensor-relu-f32-cpu-2d
# tensor_error_in_a_loop native rextio-torch/tensor-matmul-f32-cpu-2d rextio-torch/tensor-relu-f32-cpu-2d
# tried rejected RXT010 @ 94:4-101:13
# reraised rejected RXT010 @ 105:4-105:9
# >>> run
# asserted(rand(2, 3), 1); asserted(rand(2, 3), 0); asserted_with_text(rand(2, 3), 1); asserted_with_text(rand(2, 3), 0)
# asserted_with_value(rand(2, 3), 0)
# raised(rand(2, 3), 1); raised(rand(2, 3), -1); raised_class(rand(2, 3), 1); raised_class(rand(2, 3), 0)
# raised_class(rand(2, 3), -1); raised_formatted(rand(2, 3), -1); raised_own(rand(2, 3), 2); raised_from(rand(2, 3), -1)
# not_implemented(rand(2, 3)); other_types(each(0, 1, 2, 3, 4, 5, 6)); in_a_loop(rand(2, 3), each(0, 2, 9))
# tensor_error_in_a_loop(rand(2, 3), rand(3, 3), each(0, 2)); tensor_error_in_a_loop(rand(2, 3), rand(3, 4), each(0, 1, 2))
# tried(rand(2, 3), 1); tried(rand(2, 3), -1); reraised(1)
