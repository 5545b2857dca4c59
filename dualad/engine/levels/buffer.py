"""Buffers: arrays without a derivative into which traced values can be written."""

from __future__ import annotations

from typing import Any

import numpy as np

from .level import Level
from .traced import SLOT, TracedArray

__all__ = ["BOTTOM", "Buffer", "buffer", "frozen", "settled"]


class Buffer(TracedArray):
    """An array without any derivative that can take traced values by assignment.

    This is what `np.zeros_like(x)` gives for a traced x. Its level is below all others.
    """

    __slots__ = ()
    kind = "buffer"

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        out = primitive(*(a.primal if type(a) is Buffer else a for a in args), **params)
        return tuple(map(buffer, out)) if isinstance(out, tuple) else buffer(out)

    __hash__ = object.__hash__

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.primal, dtype)

    def __float__(self) -> float:
        return float(self.primal)

    def __int__(self) -> int:
        return int(self.primal)

    def __complex__(self) -> complex:
        return complex(self.primal)

    def item(self, *args: Any) -> Any:
        """The entry as a Python number."""
        return self.primal.item(*args)

    def __reduce__(self) -> Any:
        return self.primal.__reduce__()

    def tolist(self) -> Any:
        """The entries as nested lists of Python numbers."""
        return self.primal.tolist()


BOTTOM = Level("buffer")
BOTTOM.rank = 0


def buffer(value: Any) -> Any:
    """Wrap a plain array; scalars, and what is traced or has no tangent space, stay themselves."""
    if type(value) is not np.ndarray or value.dtype.kind not in "fc":
        return value
    b = object.__new__(Buffer)
    b.level, b.primal, b.tangent = BOTTOM, value, None
    return b


def settled(operand: Any) -> Any:
    """An operand of another level: a buffer, which has no derivative, as its plain value."""
    return operand.primal if type(operand) is Buffer else operand


def frozen(array: Any) -> Any:
    """The present value of an array, as an array that later writes do not touch."""
    if not isinstance(array, TracedArray):
        return array
    if type(array) is Buffer:
        return array.primal
    if array.waits:
        array.general()
    f = object.__new__(type(array))
    f.level, f.primal, f.tangent = array.level, SLOT.__get__(array), array.tangent
    return f
