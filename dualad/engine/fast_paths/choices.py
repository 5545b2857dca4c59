"""np.where of small arrays: the fast path of what chooses entries by a mask.

It takes a plain mask, and beside constants duals of plain float64 values, or values recorded over
either. For all else it says None, and the caller takes the general path, the linear primitive
`where`, which it agrees with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kinds.dual import Dual
from ..kinds.recorded import Recorded
from ..levels.level import Level
from ..levels.spec import Spec
from ..primitives.shape import FEW, fit, sum_to, unfit
from ..programs.entries import add_cotangent
from ..programs.kept import kept
from .contractions import moved, noted

__all__ = ["chosen"]

ndarray, float64 = np.ndarray, np.float64
F64, BOOL = np.dtype(float64), np.dtype(bool)
#: The function itself, without the question whether an argument handles it.
where = getattr(np.where, "__wrapped__", np.where)
ZERO = Spec((), F64)


def is_plain(x: Any) -> bool:
    if type(x) is ndarray:
        return x.dtype is F64 and x.size <= FEW
    return type(x) is float64 or type(x) is float


def chosen(primitive: Any, mask: Any, x: Any, y: Any) -> Any:
    """Of x where the mask is true, else of y; None where that is not for here."""
    if not (type(mask) is ndarray and mask.dtype is BOOL and 0 < mask.size <= FEW and mask.ndim):
        return None
    kind = type(x) if type(x) is Dual or type(x) is Recorded else type(y)
    if kind is Dual:
        return of_duals(mask, x, y)
    return of_recorded(primitive, mask, x, y) if kind is Recorded else None


def of_duals(mask: Any, x: Any, y: Any) -> Any:
    """The same of operands of which one is a dual, or both are, of one level."""
    level: Level | None = None
    values, moves = [], []
    for a in (x, y):
        t: Any = 0.0
        if type(a) is Dual and (level is None or a.level is level):
            level, a, t = a.level, a.primal, a.tangent
            if not is_plain(t):
                return None
        if not is_plain(a):
            return None
        values.append(a)
        moves.append(t)
    out, t = where(mask, *values), where(mask, *moves)
    # Where a constant is what makes the result larger, its tangent is to be repeated.
    return moved(level, out, t) if t.shape == out.shape else None  # type: ignore[arg-type]


def of_recorded(primitive: Any, mask: Any, x: Any, y: Any) -> Any:
    """The same of operands of which one is recorded, or both are, at one level."""
    level: Level | None = None
    values: list[Any] = []
    parents: list[int | None] = []
    for a in (x, y):
        i = None
        if type(a) is Recorded and (level is None or a.level is level):
            level, a, i = a.level, a.primal, a.tangent
        values.append(a)
        parents.append(i)
    a, b = values
    if type(a) is Dual or type(b) is Dual:
        out = of_duals(mask, a, b)
    else:
        out = where(mask, a, b) if is_plain(a) and is_plain(b) else None
    if out is None:
        return None
    shapes = [ZERO.shape if type(v) is float else v.shape for v in values]
    entry = (pull_chosen, *parents, primitive, kept(mask), *shapes, out.shape)
    return noted(level, out, entry)  # type: ignore[arg-type]


def pull_chosen(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """Hand each operand the entries of the cotangent where it was chosen."""
    _, i, j, primitive, mask, *shapes, _ = entry
    if type(ct) is ndarray and ct.dtype is F64:
        for k, first, second, shape in ((i, ct, 0.0, shapes[0]), (j, 0.0, ct, shapes[1])):
            if k is not None:
                share = where(mask, first, second)
                add_cotangent(g, k, share if share.shape == shape else sum_to(share, shape))
        return
    like = [Spec(shape, F64) for shape in shapes]
    for n, k in enumerate((i, j)):
        if k is not None:
            share = primitive.transposes[1 + n](ct, mask, *like)
            add_cotangent(g, k, unfit(share, like[n]))


def push_chosen(entry: tuple, v: Any) -> Any:
    _, i, j, primitive, mask, _, _, shape = entry
    zero = np.zeros(())
    moves = [zero if k is None else v[k] for k in (i, j)]
    return fit(primitive(mask, *moves), Spec(shape, F64))


pull_chosen.push = push_chosen  # type: ignore[attr-defined]
