"""The PyTorch face: Tensor has PyTorch's names and meanings over the one engine.

A Tensor is a box with an identity; what it holds is an engine value: a plain array, a dual of a
dual_level, a value of the requires_grad graph, or a traced value of a transformation.
"""

from .core import Tensor
from .creation import (
    arange,
    as_tensor,
    empty,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    manual_seed,
    ones,
    ones_like,
    rand,
    randn,
    tensor,
    zeros,
    zeros_like,
)
from .devices import device
from .face import TensorFace, operand, unwrap, wrap
from .hooks import RemovableHandle, borrowed

__all__ = [
    "RemovableHandle",
    "Tensor",
    "TensorFace",
    "arange",
    "as_tensor",
    "borrowed",
    "device",
    "empty",
    "eye",
    "from_numpy",
    "full",
    "full_like",
    "linspace",
    "manual_seed",
    "ones",
    "ones_like",
    "operand",
    "rand",
    "randn",
    "tensor",
    "unwrap",
    "wrap",
    "zeros",
    "zeros_like",
]
