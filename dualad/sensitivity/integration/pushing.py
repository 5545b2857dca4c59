"""One forward pass of a function f(t, y, q) that carries its derivatives along many directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine.kinds.batched import batched, unbatch
from ...engine.kinds.batched_dual import BatchedDual, general, make_batched_dual, packed
from ...engine.kinds.dual import Dual, make_dual
from ...engine.levels.buffer import settled
from ...engine.levels.level import Level

__all__ = ["derivative", "gathered", "pushed"]


def pushed(
    f: Callable[[Any, Any, list[Any]], Any],
    t: Any,
    y: Any,
    q: Sequence[Any],
    *,
    dt: Any = None,
    dy: Any = None,
    dq: Any = None,
) -> tuple[Any, Any]:
    """f(t, y, q) and its derivatives along m directions (dt, dy, dq), in one pass.

    Args:
        f: gives an array or a scalar; its arguments are t, the vector y, and the list q.
        t, y, q: where; a number, a vector, and numbers. They may be traced.
        dt, dy, dq: the directions, of shapes (m,), (m, n) and (m, len(q)); None where it is zero.

    Returns:
        The value, and the derivatives with an axis of length m in front, or None in place of
        them where f does not depend on what moves. `derivative` gives zeros there.
    """
    m = next(len(d) for d in (dt, dy, dq) if d is not None)
    with Level("ode") as outer, Level("ode") as level:

        def lift(value: Any, move: Any) -> Any:
            value = np.float64(value) if type(value) in (float, int) else value
            return packed(make_dual(level, value, batched(outer, move, m)))

        moved_t = t if dt is None else lift(t, dt)
        moved_y = y if dy is None else lift(y, dy)
        moved_q = list(q) if dq is None else [lift(v, dq[:, j]) for j, v in enumerate(q)]
        out = f(moved_t, moved_y, moved_q)
        out = general(out)
        if type(out) is not Dual or out.level is not level:
            return settled(out), None
        return settled(out.primal), unbatch(outer, settled(out.tangent), m)


def derivative(value: Any, moves: Any, m: int) -> Any:
    """The derivatives along m directions as an array, zeros where there is no dependence."""
    return np.zeros((m, *np.shape(value))) if moves is None else moves


def gathered(out: Any) -> Any:
    """A list of duals that `pushed` made, and numbers, as one dual; anything else as it is.

    The engine stacks such lists too, one operation an entry and level; for a right-hand side that
    is written entry by entry this is a third of its cost.
    """
    if isinstance(out, np.ndarray):
        if out.dtype != object or out.ndim != 1:
            return out
        out = out.tolist()
    if not isinstance(out, (list, tuple)):
        return out
    first = next((x for x in out if type(x) is BatchedDual), None)
    if first is None:
        return out
    level, m = first.level, first.tangent.shape[0]
    values, moves = np.zeros(len(out)), np.zeros((m, len(out)))
    for i, x in enumerate(out):
        if type(x) is BatchedDual:
            if x.level is not level or type(x.primal) is not np.float64:
                return out
            values[i], moves[:, i] = x.primal, x.tangent
        elif type(x) is float or type(x) is np.float64:
            values[i] = x
        else:
            return out
    return make_batched_dual(level, values, moves)
