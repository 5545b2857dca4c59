"""Products in which a zero wins over infinity: that of the first factor, or that of either.

They are linear in each factor, as the products they stand for are.
"""

from __future__ import annotations

import numpy as np

from ..engine.arrays.guard import either_zero_wins_raw, zero_wins_raw
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from ..engine.primitives.shape import BOUND

__all__ = ["either_zero_wins", "zero_wins"]

zero_wins = Linear(
    zero_wins_raw,
    lambda ct, a, b: zero_wins(ct, np.conj(b)),
    lambda ct, a, b: zero_wins(np.conj(a), ct),
    batch=lambda args, mine: zero_wins(*align(args, mine)),
    show=lambda a, b: f"np.where({a} == 0, 0, {a} * {b})",
    name="zero_wins",
)
either_zero_wins = Linear(
    either_zero_wins_raw,
    lambda ct, a, b: either_zero_wins(ct, np.conj(b)),
    lambda ct, a, b: either_zero_wins(np.conj(a), ct),
    batch=lambda args, mine: either_zero_wins(*align(args, mine)),
    show=lambda a, b: f"np.where(({a} == 0) | ({b} == 0), 0, {a} * {b})",
    name="either_zero_wins",
)

BOUND.update(either_zero_wins=either_zero_wins, zero_wins=zero_wins)
