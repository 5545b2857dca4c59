"""Arrays of one repeated value become that value, where another operand has the shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.staged import Operation, Variable
from ..program import variables_of
from .rewriting import Known, Made

__all__ = ["CONSTANTS", "is_elementwise", "uniform"]


def is_elementwise(operation: Operation) -> bool:
    """Whether entries of the result come from the entries of the operands at their place."""
    primitive = operation.primitive
    if operation.params or len(operation.results) != 1:
        return False
    return primitive.name == "where" or (
        isinstance(primitive.impl, np.ufunc)
        and primitive.impl.nout == 1
        and primitive.impl.signature is None
        and primitive.impl.nin == len(operation.operands)
    )


def uniform(a: Any) -> Any:
    """The value that all entries of a constant have, as a scalar; None where they differ."""
    if isinstance(a, np.generic):
        return a
    if not isinstance(a, np.ndarray) or a.size == 0 or a.dtype.kind not in "fciub":
        return None
    first = a[(0,) * a.ndim]
    a = a[tuple([slice(0, 1) if step == 0 else slice(None) for step in a.strides])]
    if a[(-1,) * a.ndim] != first or not (a == first).all():
        return None
    if first == 0 and a.dtype.kind in "fc" and a.tobytes() != np.zeros_like(a).tobytes():
        return None  # zeros of either sign
    return first


def scalar_for_uniform(operation: Operation, made: Made) -> Operation | None:
    """An array of one value becomes a scalar where the shape of the result comes from others."""
    if not is_elementwise(operation):
        return None
    shape = operation.results[0].shape
    operands = list(operation.operands)
    for k, a in enumerate(operands):
        if isinstance(a, np.ndarray) and a.ndim:
            others = [np.shape(b) if type(b) is not Variable else b.shape
                      for n, b in enumerate(operands) if n != k]  # fmt: skip
            if np.broadcast_shapes(*others) == shape and (value := uniform(a)) is not None:
                operands[k] = value
                return operation._replace(operands=tuple(operands))
    return None


def folded(operation: Operation, made: Made) -> Known | None:
    """An operation on constants alone is a constant."""
    if not is_elementwise(operation) and operation.primitive.name not in ARRANGING:
        return None
    if variables_of(operation):
        return None
    with np.errstate(all="ignore"):
        return Known(operation.primitive.impl(*operation.operands, **operation.params))


ARRANGING = ("reshape", "transpose", "broadcast_to", "getitem")


CONSTANTS = (scalar_for_uniform, folded)
