"""The boundary for what most arguments are: float64 arrays and numbers, each an argument.

With them there is nothing to take apart, to name or to convert, which is most of what a
transformation of a small function costs. Everything else says None here, and the general boundary
takes over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.kinds.batched import Batched, batched
from ..engine.kinds.batched_dual import BatchedDual, make_batched_dual
from ..engine.kinds.dual import Dual, make_dual
from ..engine.kinds.recorded import Recorded
from ..engine.levels.buffer import frozen
from ..engine.levels.level import Level
from ..engine.levels.traced import raw
from ..engine.levels.tree import LEAF_TREE, Tree, flatten

__all__ = [
    "PlainLeaves",
    "is_number",
    "moved_vectors",
    "plain_duals",
    "plain_length",
    "plain_value",
    "value_and_tangent",
]

ndarray, float64 = np.ndarray, np.float64
F64 = np.dtype(float64)
NUMBERS = (float, float64)
TRACED = (Dual, BatchedDual, Recorded)


def plain_value(x: Any) -> Any:
    """An argument as the engine computes with it; None where it is not plain or traced float64."""
    kind = type(x)
    if kind is ndarray:
        return x if x.dtype is F64 else None
    if kind is float64:
        return x
    if kind is float:
        return float64(x)
    if kind is Dual and is_plain(x.primal):  # of which this is a copy, as below
        return make_dual(x.level, x.primal, x.tangent)
    return frozen(x) if kind in TRACED and is_plain(raw(x)) else None


class PlainLeaves:
    """The leaves of arguments: their types, their values, the structure of each argument."""

    __slots__ = ("trees", "types", "values")

    def __init__(self, trees: list[Tree], types: list[type], values: list[Any]):
        self.trees, self.types, self.values = trees, types, values

    @classmethod
    def of(cls, args: Sequence[Any]) -> PlainLeaves | None:
        """The leaves of these; None where one is not plain or traced float64, or there is none."""
        for arg in args:
            if type(arg) is not ndarray or arg.dtype is not F64:
                break
        else:
            n = len(args)
            return cls([LEAF_TREE] * n, [ndarray] * n, list(args)) if n else None
        trees: list[Tree] = []
        types: list[type] = []
        values: list[Any] = []
        for arg in args:
            leaves, tree = flatten(arg)
            trees.append(tree)
            for x in leaves:
                value = plain_value(x)
                if value is None:
                    return None
                types.append(type(x))
                values.append(value)
        return cls(trees, types, values) if values else None


def is_number(value: Any) -> bool:
    """Whether the value of a result is one float64, plain or traced."""
    kind = type(value)
    if kind is Dual and type(value.primal) is float64:
        return True
    return kind is float64 or (kind in TRACED and value.shape == () and is_plain(raw(value)))


def is_plain(value: Any) -> bool:
    """Whether a value is a float64 array or number of NumPy."""
    return type(value) is float64 or (type(value) is ndarray and value.dtype is F64)


def plain_duals(level: Level, primals: Sequence[Any], tangents: Sequence[Any]) -> list[Any] | None:
    """A dual for each primal and tangent; the tangents may be batched."""
    out: list[Any] = []
    for x, t in zip(primals, tangents, strict=True):
        kind, moves = type(x), type(t)
        if kind is ndarray:
            if x.dtype is not F64:
                return None
            if moves is ndarray and t.dtype is F64 and t.shape == x.shape:
                out.append(make_dual(level, x, t))
                continue
        elif kind is float or kind is float64:
            x = float64(x)
            if moves is float or moves is float64:
                out.append(make_dual(level, x, float64(t)))
                continue
        else:
            return None
        if moves is not Batched or not t.level.is_open:
            return None
        many = t.primal
        if type(many) is not ndarray or many.dtype is not F64 or many.shape[1:] != x.shape:
            return None
        if level.lanes is None:
            level.lanes = t.level
        elif level.lanes is not t.level:
            return None
        out.append(make_batched_dual(level, x, many))
    return out


def value_and_tangent(level: Level, result: Any) -> tuple[Any, Any] | None:
    """Value and tangent of a result that is a plain dual of a level."""
    kind = type(result)
    if (kind is not Dual and kind is not BatchedDual) or result.level is not level:
        return None
    x, t = result.primal, result.tangent
    if type(x) is not float64 and type(x) is not ndarray:
        return None
    if kind is BatchedDual:
        return x, batched(level.lanes, t, t.shape[0])
    return (x, t) if type(t) is float64 or type(t) is ndarray else None


def plain_length(arrays: Sequence[Any]) -> int | None:
    """The length of the first axis that float64 arrays have in common."""
    n = None
    for a in arrays:
        if type(a) is not ndarray or a.dtype is not F64 or a.ndim == 0:
            return None
        if n is None:
            n = a.shape[0]
        elif a.shape[0] != n:
            return None
    return n


def moved_vectors(level: Level, vectors: Sequence[Any]) -> list[Any] | None:
    """Each vector moving along each of its own entries: the tangents are the identity's rows."""
    n = 0
    for x in vectors:
        if type(x) is not ndarray or x.dtype is not F64 or x.ndim != 1:
            return None
        n += len(x)
    identity = np.zeros((n, n))
    identity.reshape(-1)[:: n + 1] = 1.0
    out, start = [], 0
    for x in vectors:
        stop = start + len(x)
        # The tangents of an entry lie together: so do those of a slice, which are read in one go.
        out.append(make_batched_dual(level, x, identity.T[:, start:stop]))
        start = stop
    return out
