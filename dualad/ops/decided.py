"""Vectors of repeated values: what they move by, where the direction alone decides that."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.kinds.direction import direction
from ..engine.levels.spec import Spec
from ..engine.levels.traced import raw
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from ..errors import DirectionNeededError
from .gaps import has_ties, ties

__all__ = ["decided", "deciding", "direction_at_ties", "off_ties", "turned"]

UNDECIDED = (
    "the eigenvectors or singular vectors of repeated values move in a way that depends on the "
    "direction, which is known in first-order forward mode only: use dualad.jvp or dualad.jacfwd "
    "at this point, or write the function without eigenvectors"
)


def off_ties(m: Any, tied: Any) -> Any:
    """Zeros: what m says of tied pairs does not move vectors that are adapted to it."""
    size = np.abs(m)
    apart = np.where(tied & ~np.eye(m.shape[-1], dtype=bool), size, 0)
    if np.any(apart > 1e-6 * np.max(size, axis=(-2, -1), initial=0, keepdims=True)):
        raise DirectionNeededError(UNDECIDED)
    return np.zeros(np.broadcast_shapes(m.shape, tied.shape), m.dtype)


def _from_ties(ct: Any, m: Any, tied: Any) -> Any:
    """Reverse mode cannot tell how vectors that are not adapted enter the result.

    The cotangent of the vectors does not say: it is zero for (V * f(w)) @ V^H where f(w) = 0, and
    the derivative still has entries between tied pairs, f'(w) times those of V^H dA V.
    """
    if np.any(raw(tied) & ~np.eye(m.shape[-1], dtype=bool)):
        raise DirectionNeededError(UNDECIDED)
    return decided(ct, tied)


def deciding(off: Any, name: str) -> Linear:
    """`off` of a matrix and its tied pairs, which are refused in the transpose."""
    primitive = Linear(
        off,
        _from_ties,
        None,
        batch=lambda args, mine: primitive(*align(args, mine)),
        spec=lambda m, tied: Spec(np.broadcast_shapes(m.shape, tied.shape), m.dtype),
        show=lambda m, tied: f"0 * {m}",
        name=name,
    )
    return primitive


#: What moves vectors between tied pairs: nothing in forward mode, where they are adapted.
decided = deciding(off_ties, "decided_at_ties")


def turned(m: Any, w: Any, gaps: Any) -> Any:
    """V^-1 dV from V^-1 dA V: divided by the gaps; refused where ties leave it undecided."""
    return gaps * m + decided(m, ties(w)) if has_ties(w) else gaps * m


def direction_at_ties(a: Any, w: Any) -> Any:
    """The direction of a, where it is known and its sorted values w have ties; else None."""
    moves = direction(a)
    if moves is None or not has_ties(w):
        return None
    return moves if np.all(np.isfinite(raw(moves))) else None
