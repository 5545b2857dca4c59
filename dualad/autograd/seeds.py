"""What `backward` and `grad` are asked: tensors with a history, and a cotangent for each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.levels.spec import Spec
from ..engine.requires_grad.graph import Node
from ..engine.requires_grad.visible import is_functional
from ..errors import ArgumentError, LevelError, ShapeError
from ..tensor import Tensor
from ..transforms.boundary import match
from .edges import GradientEdge, node_of_edge, spec_of_edge

__all__ = [
    "as_list",
    "cotangent_of",
    "node_of_output",
    "outputs_and_cotangents",
    "paired",
    "refuse_functional",
]


def as_list(x: Any, what: str) -> list[Any]:
    """One tensor or several as a list that is not empty."""
    xs = [x] if isinstance(x, (Tensor, GradientEdge)) else list(x)
    if not xs:
        raise LevelError(f"the {what} cannot be empty")
    return xs


def outputs_and_cotangents(tensors: Any, grad_tensors: Any) -> tuple[list[Any], list[Any]]:
    """Outputs, and for each a cotangent that fits it; a scalar's is 1 where none is given."""
    ys, cts = paired(tensors, grad_tensors)
    return ys, [cotangent_of(y, ct, k) for k, (y, ct) in enumerate(zip(ys, cts, strict=True))]


def paired(tensors: Any, grad_tensors: Any) -> tuple[list[Any], list[Any]]:
    """Outputs and as many cotangents as given, None where there is none."""
    ys = [tensors] if isinstance(tensors, (Tensor, GradientEdge)) else list(tensors)
    cts = grad_tensors
    cts = [cts] * len(ys) if cts is None or isinstance(cts, Tensor) else cts
    if not isinstance(cts, (tuple, list)):
        raise ArgumentError(f"gradients must be Tensors or None, not {type(cts).__name__}")
    if len(cts) != len(ys):
        raise ArgumentError(f"got {len(ys)} tensors and {len(cts)} gradients for them")
    for ct in cts:
        if ct is not None and not hasattr(ct, "shape"):
            raise ArgumentError(f"gradients can be Tensors or None, but got {type(ct).__name__}")
    return ys, list(cts)


def cotangent_of(y: Any, ct: Any, k: int) -> Any:
    """The cotangent of output number k, checked, or 1 for a real scalar."""
    y = spec_of_edge(y) if isinstance(y, GradientEdge) else y
    if ct is not None:
        if ct.shape != y.shape:
            raise ShapeError(
                f"mismatch in shape: the gradient of output {k} has shape {ct.shape}, it should "
                f"be {y.shape}"
            )
        # A gradient of another floating dtype is handed on: a custom function may ask for that.
        ct = ct.to(y.dtype) if isinstance(ct, Tensor) and ct.dtype.kind in "biu" else ct
        return match(
            ct,
            Spec(y.shape, _gradient_dtype(ct, y)),
            f"mismatch in dtype: the gradient of output {k}",
        )
    if math.prod(y.shape) != 1:
        raise ShapeError(
            f"grad can be implicitly created only for scalar outputs, output {k} has shape "
            f"{y.shape}"
        )
    if y.dtype.kind == "c":
        raise ShapeError(
            "grad can be implicitly created only for real scalar outputs, not complex ones"
        )
    return np.ones(y.shape, y.dtype)


def _gradient_dtype(ct: Any, y: Any) -> np.dtype:
    dtype = np.dtype(getattr(ct, "dtype", y.dtype))
    return dtype if dtype.kind == "f" and y.dtype.kind == "f" else y.dtype


def node_of_output(y: Any, k: int) -> Node:
    """The node of output number k; an error where it has no history."""
    if isinstance(y, GradientEdge):
        return node_of_edge(y)
    refuse_functional(y, f"output {k}")
    node = y._node()
    if node is not None:
        return node
    raise LevelError(
        f"element {k} of tensors does not require grad and does not have a grad_fn: no input of "
        "it was made with requires_grad=True, or it was computed under no_grad"
    )


def refuse_functional(x: Tensor, name: str) -> None:
    """Refuse a tensor that a functional transformation tracks."""
    if is_functional(x._full()):
        raise LevelError(
            f"{name} belongs to a running transformation, not to the graph of tensors that "
            "require grad: use dualad.grad or dualad.vjp inside of it"
        )
