"""Marker classes for annotations. They promise dtype, device and rank, never a size; values are torch.Tensors."""


class TensorF32Cpu1D:
    """A float32 tensor of rank 1 on the CPU."""


class TensorF32Cpu2D:
    """A float32 tensor of rank 2 on the CPU."""


class TensorI64Cpu1D:
    """An int64 tensor of rank 1 on the CPU: the result of a classification."""


class TensorF32Cuda0_1D:  # noqa: N801 (the reference's spelling)
    """A float32 tensor of rank 1 on cuda:0."""


class TensorF32Cuda0_2D:  # noqa: N801
    """A float32 tensor of rank 2 on cuda:0."""


__all__ = ["TensorF32Cpu1D", "TensorF32Cpu2D", "TensorF32Cuda0_1D", "TensorF32Cuda0_2D", "TensorI64Cpu1D"]
