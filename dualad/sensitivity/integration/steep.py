"""The time of an event whose function is steep: its slope nearby tells nothing of its zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..extras import extra
from .step import Step

if TYPE_CHECKING:
    from .handling import Handler

__all__ = ["steep_zero"]


def steep_zero(handler: Handler, i: int, step: Step, t: float) -> tuple[float, np.ndarray] | None:
    """Time and z of event i, which is between two exact states near t, as of tanh(1e8 (y - 1)).

    None where its function is not steep at its zero, or where the right-hand side jumps there.
    """
    system, crossings = handler.system, handler.crossings

    def state(s: float) -> np.ndarray:
        return handler.method.to(step.t0, step.z0, s)

    def g(s: float) -> float:
        return crossings.value(i, s, state(s))

    (low, high), width = sorted((step.t0, step.t1)), 1e-12 * abs(step.t1 - step.t0)
    for _ in range(20):
        width *= 4
        left, right = max(t - width, low), min(t + width, high)
        if g(left) * g(right) < 0:
            break
    else:
        return None
    brentq = extra("scipy.optimize").brentq
    found = float(brentq(g, left, right, xtol=4e-16 * abs(t), rtol=1e-15))
    z = state(found)
    y = z[: system.n]
    arriving, leaving = handler.sides.before(i, step, found, z), system.flow(found, y)
    values = [abs(crossings.value(i, s, step.z(s))) for s in (low, high)]
    is_steep = abs(crossings.rate(i, found, y, leaving)) * (high - low) > max(values)
    return (found, z) if is_steep and np.allclose(arriving, leaving, rtol=1e-3, atol=0.0) else None
