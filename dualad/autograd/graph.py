"""PyTorch's `torch.autograd.graph`: what concerns the graph of tensors that require grad."""

from __future__ import annotations

from collections.abc import Iterable

from ..engine.arrays.storage import bump
from ..engine.levels.traced import raw
from ..engine.requires_grad.graph import Node
from ..errors import ArgumentError
from ..tensor import Tensor
from .edges import GradientEdge, get_gradient_edge
from .multi_hooks import register_multi_grad_hook
from .saving import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Say that the memory of a tensor, or of several, was written to by other means.

    A backward that reads it as it was before is an error then.

    Raises:
        ArgumentError: something is no tensor.

    >>> import dualad
    >>> x = dualad.tensor([1.0, 2.0])
    >>> x.numpy()[0] = 5.0
    >>> dualad.autograd.graph.increment_version(x)
    """
    tensors = (tensor,) if isinstance(tensor, Tensor) else tensor
    if not isinstance(tensors, Iterable):
        raise ArgumentError(
            f"increment_version takes a tensor or several, not {type(tensor).__name__}"
        )
    for t in tensors:
        if not isinstance(t, Tensor):
            raise ArgumentError(f"increment_version takes tensors, not {type(t).__name__}")
        bump(raw(t._full()))
