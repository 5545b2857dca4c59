"""The length of the first step, with errors measured as in every later one.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section II.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["first_step"]


def first_step(
    fun: Callable[[float, np.ndarray], np.ndarray],
    t: float,
    z: np.ndarray,
    t1: float,
    order: int,
    size: Callable[[np.ndarray], float],
    scale: np.ndarray,
    most: float = np.inf,
) -> float:
    """How long a step that begins at (t, z) may be.

    Args:
        fun: z' at (t, z).
        t, z: the start.
        t1: the end of the span.
        order: of the error estimate.
        size: the norm of what was divided by the scale.
        scale: the tolerance of each entry.
        most: the longest step.
    """
    span, sign = abs(t1 - t), float(np.sign(t1 - t))
    slope = fun(t, z)
    d0, d1 = size(z / scale), size(slope / scale)
    trial = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, span)
    ahead = fun(t + trial * sign, z + trial * sign * slope)
    d2 = size((ahead - slope) / scale) / trial
    if not np.isfinite(d2):
        return min(trial, most)
    if max(d1, d2) <= 1e-15:
        step: Any = max(1e-6, trial * 1e-3)
    else:
        step = (0.01 / max(d1, d2)) ** (1 / (order + 1))
    return float(min(100 * trial, step, span, most))
