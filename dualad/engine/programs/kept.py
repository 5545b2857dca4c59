"""Constant operands as a tape keeps them: as they are now, whatever is written into them later."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.memory import large_copy, originals
from ..levels.buffer import frozen
from ..levels.traced import TracedArray

__all__ = ["kept"]


def kept(constant: Any) -> Any:
    """A constant operand as it is now, whatever the user writes into it later."""
    if type(constant) is np.ndarray:
        if not may_change(constant):
            return constant
        copy = copied(constant)
        if originals.known is not None:
            originals.known[id(copy)] = copy, constant
        return copy
    return frozen(constant) if isinstance(constant, TracedArray) else constant


def may_change(array: Any) -> bool:
    """Whether the memory of an array can be written to through it, or what it is a view of."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False


def copied(array: np.ndarray) -> np.ndarray:
    """A copy, which takes no more memory than the array where that is broadcast.

    Its entries lie in memory as those of the array: that decides which reshapes are views.
    """
    if 0 not in array.strides:
        return large_copy(array)
    one = array[tuple([slice(0, 1) if step == 0 else slice(None) for step in array.strides])]
    return np.broadcast_to(one.copy(), array.shape)
