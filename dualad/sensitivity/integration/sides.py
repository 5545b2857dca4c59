"""The slopes of the states on either side of an event, where the right-hand side may jump."""

from __future__ import annotations

import numpy as np

from .crossings import Crossings
from .step import Step
from .variational import VariationalSystem

__all__ = ["Sides"]


class Sides:
    """What the right-hand side is just before and just after an event.

    At the event itself rounding decides on which side it stands, so it is looked at beside it, on
    the line along which the solution arrives: that line goes through the event at a speed that is
    not zero, while the slope beyond a jump may be so small that following it leads nowhere.

    Args:
        system: states and sensitivities.
        crossings: the functions of the events.
    """

    def __init__(self, system: VariationalSystem, crossings: Crossings):
        self.system, self.crossings = system, crossings

    def before(self, i: int, step: Step, t: float, z: np.ndarray) -> np.ndarray:
        """The slope with which the solution arrives at event i, at (t, z) or near to it."""
        return self.arriving(i, step, t, z)[0]

    def arriving(self, i: int, step: Step, t: float, z: np.ndarray) -> tuple[np.ndarray, float]:
        """That slope, and how far beside the event its sides are looked at."""
        n, flow = self.system.n, self.system.flow
        y = z[:n]
        slope = flow(t, y) if t == step.t0 else flow(step.t0, step.z0[:n])
        width = self.width(i, step, t, y, slope)
        for _ in range(2):
            slope = flow(t - width, y - width * slope)
        return slope, width

    def width(self, i: int, step: Step, t: float, y: np.ndarray, slope: np.ndarray) -> float:
        """How far beside the event: so that its function is surely not zero there any more."""
        ahead = np.sign(step.t1 - step.t0)
        width = 1e-6 * abs(step.t1 - step.t0) + 64 * np.spacing(abs(t))
        rate, rounding = abs(self.crossings.rate(i, t, y, slope)), self.crossings.rounding(i, t, y)
        if rate:
            width = max(width, min(64 * rounding / rate, abs(step.t1 - step.t0)))
        return float(ahead * width)

    def both(
        self, i: int, step: Step, t: float, z: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The slopes just before and just after event i at (t, z), if they differ; else None."""
        slope, width = self.arriving(i, step, t, z)
        y, sides = z[: self.system.n], []
        for way in (-width, width):
            one, two = (self.system.flow(t + k * way, y + k * way * slope) for k in (1, 2))
            sides.append((2 * one - two, np.abs(two - one)))
        (before, change), (after, change_after) = sides
        jump = np.abs(after - before)
        limit = 4 * (change + change_after) + 1e-9 * np.maximum(np.abs(before), np.abs(after))
        return (before, after) if (jump > limit).any() else None

    def beyond(self, i: int, t: float, z: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """The move of the states, of some last bits, that leaves event i surely behind.

        A slope beyond the jump that is next to nothing would not do so.
        """
        y = z[: self.system.n]
        rate = self.crossings.heading(i, t, y, slope)
        way = 64 * self.crossings.rounding(i, t, y) / abs(rate)
        return way * self.crossings.ahead * slope
