"""Chains of reshape, transpose and broadcast become one, or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.primitives.primitive import PRIMITIVES
from ...engine.staging.operations import Operation, Variable
from .arithmetic import stands_for
from .constants import is_elementwise
from .rewriting import Known, Made, Rules

__all__ = ["ARRANGEMENT"]


def _maker(x: Any, made: Made, *names: str) -> Operation | None:
    maker = made.get(x) if type(x) is Variable else None
    return maker if maker is not None and maker.primitive.name in names else None


def _shape(x: Any) -> tuple[int, ...]:
    return x.shape if type(x) is Variable else np.shape(x)


def reshape_once(operation: Operation, made: Made) -> Operation | Known | None:
    """A reshape of a reshape is one; one to the same shape is none."""
    (x,), shape = operation.operands, operation.params["shape"]
    if type(x) is Variable and x.shape == shape and stands_for(x, operation.results[0]):
        return Known(x)
    inner = _maker(x, made, "reshape")
    if inner is None or type(inner.operands[0]) is not Variable:
        return None
    if not inner.operands[0].contiguous:
        return None  # the first one brings the entries into order
    return operation._replace(operands=inner.operands, aliases=inner.operands)


def transpose_once(operation: Operation, made: Made) -> Operation | Known | None:
    """A transpose of a transpose is one; one that moves nothing is none."""
    (x,), axes = operation.operands, operation.params["axes"]
    if axes == tuple(range(len(axes))) and stands_for(x, operation.results[0]):
        return Known(x)
    inner = _maker(x, made, "transpose")
    if inner is None:
        return None
    axes = tuple([inner.params["axes"][k] for k in axes])
    return operation._replace(
        operands=inner.operands, params={"axes": axes}, aliases=inner.aliases
    )


def broadcast_by_operand(operation: Operation, made: Made) -> Operation | None:
    """An operand is not broadcast first where another one has the shape of the result."""
    operands = list(operation.operands)
    for k, x in enumerate(operands):
        inner = _maker(x, made, "broadcast_to")
        if inner is not None and is_elementwise(operation):
            source = inner.operands[0]
            shapes = [_shape(source if n == k else b) for n, b in enumerate(operands)]
            if np.broadcast_shapes(*shapes) == operation.results[0].shape:
                operands[k] = source
                return operation._replace(operands=tuple(operands))
    return None


def scatter_as_reshape(operation: Operation, made: Made) -> Operation | None:
    """Zeros with all entries filled in are the values in another shape."""
    index = operation.params["index"]
    if not all(k is None or k is Ellipsis or _is_full(k) for k in index):
        return None
    return operation._replace(
        primitive=PRIMITIVES["reshape"],
        params={"shape": operation.params["shape"]},
        aliases=tuple([x for x in operation.operands if type(x) is Variable]),
    )


def _is_full(k: Any) -> bool:
    return type(k) is slice and k == slice(None)


ARRANGEMENT = Rules(
    {
        "reshape": (reshape_once,),
        "transpose": (transpose_once,),
        "scatter_add": (scatter_as_reshape,),
        "": (broadcast_by_operand,),
    }
)
