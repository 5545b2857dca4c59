"""Batching: a value with one leading axis that the user's function does not see."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import LostDerivativeError
from ..levels.buffer import settled
from ..levels.level import Level
from ..levels.rules import FUNCTIONS
from ..levels.traced import TracedArray

__all__ = ["Batched", "batched", "unbatch"]


class Batched(TracedArray):
    """Many values at once: `primal` has the batch axis in front, `tangent` is its length."""

    __slots__ = ()
    kind = "batched"

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        mine, values, n = [], [], 0
        for a in args:
            m = type(a) is Batched and a.level is level
            mine.append(m)
            values.append(a.primal if m else settled(a))
            if m:
                n = a.tangent
        out = primitive.batch(tuple(values), tuple(mine), params)
        if isinstance(out, tuple):
            return tuple([batched(level, o, n) for o in out])
        return batched(level, out, n)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.primal.shape[1:]

    @property
    def ndim(self) -> int:
        return self.primal.ndim - 1

    def __bool__(self) -> bool:
        raise LostDerivativeError(
            "a vmapped function branches on a batched value, which is many values at once: use "
            "np.where or np.select, or a Python loop instead of vmap."
        )


def batched(level: Level, value: Any, n: int) -> Batched:
    """A value of a vmap level: n entries along its first axis."""
    if level.closed:
        level.new(Batched)
    b = Batched()
    b.level, b.primal, b.tangent = level, value, n
    return b


def unbatch(level: Level, x: Any, n: int) -> Any:
    """The value of x with the batch axis in front; what is the same for all is repeated."""
    if type(x) is Batched and x.level is level:
        return x.primal
    if isinstance(x, TracedArray):
        return FUNCTIONS[np.broadcast_to](x, (n, *x.shape))
    return np.broadcast_to(np.asarray(x), (n, *np.shape(x))).copy()
