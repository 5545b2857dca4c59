"""How a tensor of a transformation lies in memory: whether another shape is a view or a copy.

What a transformation tracks is never changed in place; a write gives the tensor a new value, in
other memory, which may have another order. So a tensor keeps the strides that it had before it
was first written to, and a view has those that its base gives it: then `reshape` and `contiguous`
copy where they do so outside of the transformation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.arrays.storage import overlap
from ..engine.levels.traced import memory_of
from .face import State

__all__ = ["keep_strides", "layout", "share_strides", "stays_a_view"]

#: what a tensor was laid out as before it was written to: an attribute of it
STRIDES = "_strides"


def layout(x: State) -> np.ndarray:
    """An array without meaning that is laid out as this tensor; of a batch, as one entry."""
    shape = x._value.shape
    if x._view is not None:
        found = x._view.read(layout(x._view.base))
        if isinstance(found, np.ndarray) and found.shape == shape:
            return found
    strides = x.__dict__[STRIDES] if STRIDES in x.__dict__ else _strides(x)
    dtype = np.dtype(x._value.dtype)
    if strides is None:
        return np.empty(shape, dtype)
    length = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if x.numel() else 0
    memory = np.empty(length, dtype)
    steps = [s * dtype.itemsize for s in strides]
    return np.lib.stride_tricks.as_strided(memory, shape, steps)


def _strides(x: State) -> tuple[int, ...] | None:
    """The strides of the present value in entries; None for those of rows."""
    memory, shape = memory_of(x._full()), x._value.shape
    if not isinstance(memory, np.ndarray) or memory.dtype != x._value.dtype:
        return None
    first = memory.ndim - len(shape)  # Axes of batches are in front.
    if first < 0 or memory.shape[first:] != shape:
        return None
    if first == 0 and memory.flags.c_contiguous:
        return None
    return tuple(abs(s) // memory.itemsize for s in memory.strides[first:])


def keep_strides(x: State) -> None:
    """Before the first write: the tensor stays laid out as it is now."""
    if len(x._value.shape) > 1 and STRIDES not in x.__dict__:
        x.__dict__[STRIDES] = _strides(x)


def share_strides(x: State, other: State) -> None:
    """Lay a tensor out as another one that has its value."""
    if STRIDES in other.__dict__:
        x.__dict__[STRIDES] = other.__dict__[STRIDES]


def stays_a_view(x: State, read: Callable[[Any], Any]) -> bool:
    """Whether another shape of a tensor lies in the memory of it."""
    if x._view is None and STRIDES not in x.__dict__ and _strides(x) is None:
        return True
    base = layout(x)
    return not base.size or overlap(read(base), base)
