"""Operands of NumPy's functions, brought to the form in which rules compute with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.levels.traced import TracedArray
from ..engine.levels.values import as_operand
from .structure import axis_of

__all__ = ["array_of", "as_array", "flat_if_none"]


def as_array(x: Any) -> Any:
    """An operand as an array."""
    x = as_operand(x)
    return x if isinstance(x, TracedArray) else np.asarray(x)


def flat_if_none(a: Any, axis: Any) -> tuple[Any, int]:
    """An array and one of its axes; without an axis all entries along one."""
    return (np.ravel(a), 0) if axis is None else (a, axis_of(axis, a.ndim))


def array_of(x: Any) -> Any:
    """An operand of a product as something that has a shape."""
    x = as_operand(x)
    if not hasattr(x, "shape"):
        return np.asarray(x)
    return x.as_number() if isinstance(x, TracedArray) and x.ends else x
