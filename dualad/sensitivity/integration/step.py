"""One step of an integration, and what interpolates in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Interpolant", "Step"]


class Interpolant:
    """The stepper's interpolant of its last step, made when it is first asked for.

    Some steppers evaluate the right-hand side more than once for it (DOP853 three times), and most
    steps pass without an event or a time of the result. It must be asked before the next step.
    """

    def __init__(self, solver: Any):
        self.solver, self.t, self.end = solver, solver.t, solver.y
        self.found: Callable[[Any], np.ndarray] | None = None

    def __call__(self, t: Any) -> np.ndarray:
        if t == self.t:
            return self.end
        return self.made()(t)

    def made(self) -> Callable[[Any], np.ndarray]:
        if self.found is None:
            self.found, self.solver = self.solver.dense_output(), None
        assert self.found is not None
        return self.found


@dataclass
class Step:
    """One step of the integration: from t0, where z was z0, to t1; z(t) interpolates."""

    t0: float
    t1: float
    z0: np.ndarray
    z: Interpolant
