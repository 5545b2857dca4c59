"""Many tangents at once: a plain value with its tangents in one array, their axis in front.

A `BatchedDual` means what a `Dual` means whose tangent is `Batched` at the level `lanes` of its
level, and `general` gives that. It exists only where both are plain float64, so that one
operation on it is one of NumPy on the value and a few on the array of tangents; what gives
anything else gives the general dual. See `codegen` for the elementwise operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..levels.buffer import Buffer
from ..levels.level import Level
from ..levels.traced import TracedArray
from ..primitives.linear import Linear
from ..primitives.shape import zeros_like
from .batched import Batched, batched
from .dual import Dual, make_dual

__all__ = [
    "BatchedDual",
    "completed",
    "general",
    "make_batched_dual",
    "packed",
    "vector_moves",
]

ndarray, float64 = np.ndarray, np.float64
F64 = np.dtype(float64)


class BatchedDual(Dual):
    """A plain float64 value; `tangent` is an array of as many tangents as its first axis says."""

    __slots__ = ()

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        if isinstance(primitive, Linear):
            done = linear(primitive, level, args, params)
            if done is not None:
                return done
        args = tuple(
            [a.general() if type(a) is BatchedDual and a.level is level else a for a in args]
        )
        out = Dual.bind(primitive, level, args, params)
        return tuple(map(packed, out)) if isinstance(out, tuple) else packed(out)

    def general(self) -> Dual:
        """The same as a dual whose tangent is batched."""
        t = self.tangent
        return make_dual(self.level, self.primal, batched(self.level.lanes, t, t.shape[0]))


def general(x: Any) -> Any:
    """Any value, one with many tangents as the dual that it stands for, and computed."""
    if isinstance(x, Dual):
        return x if type(x) is Dual else x.general()
    return x.general() if isinstance(x, TracedArray) and x.waits else x


def make_batched_dual(level: Level, primal: Any, tangents: Any) -> BatchedDual:
    """A plain float64 value with its tangents; a closed level raises the leak error."""
    if level.closed:
        level.new(BatchedDual)
    d = BatchedDual()
    d.level, d.primal, d.tangent = level, primal, tangents
    return d


def packed(d: Any) -> Any:
    """A dual as one with many tangents, if it is one; the level's lanes are those of the first."""
    if type(d) is not Dual or type(d.tangent) is not Batched:
        return d
    x, t, level = d.primal, d.tangent.primal, d.level
    if type(t) is not ndarray or t.dtype is not F64 or t.shape[1:] != x.shape:
        return d
    if type(x) is not float64 and not (type(x) is ndarray and x.dtype is F64):
        return d
    if level.lanes is None:
        level.lanes = d.tangent.level
    return make_batched_dual(level, x, t) if d.tangent.level is level.lanes else d


def vector_moves(dx: Any, y: Any, dy: Any, x: Any) -> Any:
    """The tangents dx y + dy x of a number x times a vector y, laid out in memory as dy."""
    t = dy * x
    t += np.multiply(dx[:, None], y, order="F") if dy.flags.f_contiguous else dx[:, None] * y
    return t


def completed(primitive: Any, level: Level, tangents: tuple, out: Any, args: tuple) -> Any:
    """An operation whose value is computed, with the tangents that the general rule gives."""
    moves = tuple([None if t is None else batched(level.lanes, t, t.shape[0]) for t in tangents])
    return packed(make_dual(level, out, primitive.jvp(moves, out, args, {})))


def linear(primitive: Linear, level: Level, args: tuple, params: dict) -> Any:
    """A linear operation, its tangents by its batch rule; None where that does not say it all."""
    batch = primitive._batch
    if batch is None:
        return None
    values, moves = [], []
    for a in args:
        if type(a) is BatchedDual and a.level is level:
            values.append(a.primal)
            moves.append(a.tangent)
        elif type(a) is Buffer or not isinstance(a, TracedArray):
            values.append(a.primal if type(a) is Buffer else a)
            moves.append(None)
        else:
            return None
    t = linear_tangents(primitive, batch, values, moves, params)
    if t is None or t.dtype is not F64:
        return None
    out = primitive.impl(*values, **params)
    if t.shape[1:] != out.shape or out.dtype is not F64:
        return None
    return make_batched_dual(level, out, t)


def linear_tangents(
    primitive: Linear, batch: Callable[..., Any], values: list, moves: list, params: dict
) -> Any:
    """The tangents of a linear operation; None where a rule of another kind is needed."""
    if primitive.joint:
        movable = primitive.movable(len(values))
        mine = tuple([t is not None for t in moves])
        moved = [
            t if t is not None else zeros_like(x) if moves_along else x
            for t, x, moves_along in zip(moves, values, movable, strict=True)
        ]
        return batch(tuple(moved), mine, **params)
    total = None
    for k, t in enumerate(moves):
        if t is None:
            continue
        if not primitive.variadic and primitive.transposes[k] is None:
            return None
        mine = tuple([j == k for j in range(len(moves))])
        term = batch((*values[:k], t, *values[k + 1 :]), mine, **params)
        total = term if total is None else total + term
    return total
