"""In which direction a value moves, where that is known while the function runs.

An operation whose result is not unique at a point (the eigenvectors of a repeated eigenvalue) can
choose the result that moves smoothly along this direction.
"""

from __future__ import annotations

from typing import Any

from ..levels.traced import TracedArray
from .batched import Batched, batched
from .batched_dual import general
from .dual import Dual

__all__ = ["constant", "direction"]


def constant(x: Any) -> Any:
    """The value of x without any derivative; a batch stays a batch."""
    if type(x) is Batched:
        return batched(x.level, constant(x.primal), x.tangent)
    return constant(x.primal) if isinstance(x, TracedArray) and not x.ends else x


def direction(x: Any) -> Any:
    """The tangent of x, without derivatives of its own; None in reverse mode, which knows none."""
    x = general(x)
    if type(x) is Dual:
        return constant(x.tangent)
    if type(x) is Batched:
        moves = direction(x.primal)
        return None if moves is None else batched(x.level, moves, x.tangent)
    return None
