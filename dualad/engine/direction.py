"""In which direction a value moves, where that is known while the function runs.

An operation whose result is not unique at a point (the eigenvectors of a repeated eigenvalue) can
choose the result that moves smoothly along this direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .batched import Batched, batched
from .dual import Dual
from .recorded import Recorded, push_tape
from .traced import Spec, TracedArray

__all__ = ["constant", "direction"]


def constant(x: Any) -> Any:
    """The value of x without any derivative; a batch stays a batch."""
    if type(x) is Batched:
        return batched(x.level, constant(x.primal), x.tangent)
    return constant(x.primal) if isinstance(x, TracedArray) else x


def direction(x: Any) -> Any:
    """The tangent of x, without derivatives of its own; None where it is unknown.

    In forward mode it is known. In reverse mode it is, up to a factor, where the function that is
    differentiated has one real number as its only input.
    """
    if type(x) is Dual:
        return constant(x.tangent)
    if type(x) is Recorded:
        return _direction_on_tape(x)
    if type(x) is Batched:
        moves = direction(x.primal)
        return None if moves is None else batched(x.level, moves, x.tangent)
    return None


def _direction_on_tape(x: Recorded) -> Any:
    tape = x.level.tape
    inputs = [entry for entry in tape[:2] if isinstance(entry, Spec)]
    if len(inputs) != 1 or inputs[0].size != 1 or np.dtype(inputs[0].dtype).kind != "f":
        return None
    unit = np.ones(inputs[0].shape, inputs[0].dtype)[()]
    (moves,) = push_tape(tape, [unit], [x.tangent])
    return None if moves is None else constant(moves)
