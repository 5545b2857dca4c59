"""Specs: the shape and dtype of a value, without the value."""

from __future__ import annotations

from typing import Any

import numpy as np

from .traced import FLOAT64, TracedArray

__all__ = ["Spec", "spec_of"]


class Spec:
    """Shape and dtype of a value, without the value."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any):
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    def __repr__(self) -> str:
        return f"{np.dtype(self.dtype).name}[{','.join(map(str, self.shape))}]"


#: The Spec of the scalars that most scalars are.
SCALARS = {np.float64: Spec((), FLOAT64), float: Spec((), FLOAT64), int: Spec((), np.dtype(int))}


def spec_of(x: Any) -> Spec:
    """The Spec of any value: traced, array, scalar or Spec."""
    if type(x) is np.ndarray:
        return Spec(x.shape, x.dtype)
    known = SCALARS.get(type(x))
    if known is not None and (known.dtype is FLOAT64 or -(2**63) <= x < 2**63):
        return known
    if isinstance(x, TracedArray):
        return Spec(x.shape, x.dtype)
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        return Spec(x.shape, x.dtype)
    a = np.asarray(x)
    return Spec(a.shape, a.dtype)
