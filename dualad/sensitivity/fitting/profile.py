"""Profile intervals: how far a parameter may go while the others make the best of it.

tau = sign (theta - estimate) sqrt((S(theta) - S(estimate)) / s^2) is close to a straight line,
and reaches Student's t at the ends. Bates and Watts, Nonlinear Regression Analysis (1988),
section 6.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import SensitivityError
from ..extras import extra
from ..notices import warn

if TYPE_CHECKING:
    from .fit_result import FitResult

__all__ = ["profile_intervals"]

#: How often the distance from the estimate is doubled, in search of the end.
DOUBLINGS = 40
#: In units of s, the step that ends a minimisation: the least sum of squares is then right to the
#: square of it.
CLOSE = 3e-4


def profile_intervals(fit: FitResult, t: float) -> np.ndarray:
    """Lower and upper ends for each parameter, (k, 2); infinite where there is none.

    Raises:
        SensitivityError: the loss is not linear.
    """
    if fit.problem.loss != "linear":
        raise SensitivityError("profile intervals are for the loss 'linear'")
    if np.isinf(fit.spread.variance):
        return np.array([[-np.inf, np.inf]] * len(fit.names))
    if fit.spread.variance == 0.0:
        # The data are met exactly: nothing else is as good.
        return np.repeat(fit.values[:, np.newaxis], 2, axis=1)
    profiles = [_Profile(fit, i) for i in range(len(fit.names))]
    return np.array([[profile.end(-1.0, t), profile.end(1.0, t)] for profile in profiles])


class _Profile:
    """The least sum of squares as a function of one parameter, in the scale of the search."""

    def __init__(self, fit: FitResult, i: int):
        self.problem, self.i, self.name = fit.problem, i, fit.names[i]
        self.phi = self.problem.to_phi(fit.values)
        self.scale = np.sqrt(fit.spread.variance)
        self.least = self.problem.cost(self.phi)
        self.others = np.arange(len(self.phi)) != i
        u = fit.standard_errors[i] / self.problem.slope(self.phi)[i]
        self.u = float(u) if np.isfinite(u) and u > 0 else max(abs(self.phi[i]), 1.0) * 0.1
        self.last = self.phi
        self.trace = self.tangent = self._tangent(fit)

    def _tangent(self, fit: FitResult) -> np.ndarray:
        """How the others follow the parameter near the estimate."""
        row = fit.spread.finite[self.i] / self.problem.slope(self.phi)
        return row / row[self.i] if row[self.i] > 0 else np.eye(len(row))[self.i]

    def tau(self, at: float) -> float:
        """The root of the excess of the sum of squares, in units of s."""
        start = self.last + self.trace * (at - self.last[self.i])
        start = np.clip(start, self.problem.lower, self.problem.upper)
        start[self.i] = at
        found = self.problem.polish(start, self.others, CLOSE * self.scale)
        cost = self.problem.cost(found)
        if np.isfinite(cost):
            if abs(at - self.last[self.i]) > 1e-9 * self.u:
                self.trace = (found - self.last) / (at - self.last[self.i])
            self.last = found
        self._watch(cost, found)
        return float(np.sqrt(2.0 * max(cost - self.least, 0.0)) / self.scale)

    def _watch(self, cost: float, phi: np.ndarray) -> None:
        if cost < self.least * (1.0 - 1e-6) - 1e-12 * self.scale**2:
            values = ", ".join(
                f"{n} = {v:.6g}"
                for n, v in zip(self.problem.free, self.problem.to_theta(phi), strict=True)
            )
            warn(
                f"the profile of {self.name} found a lower sum of squares than the fit, at "
                f"{values}: start the fit there",
                stacklevel=6,
            )
            self.least = cost

    def end(self, side: float, t: float) -> float:
        """Where tau reaches t on one side; the bound, or infinity, where it does not."""
        problem, here = self.problem, float(self.phi[self.i])
        bound = float((problem.lower if side < 0 else problem.upper)[self.i])
        self.last, self.trace = self.phi, self.tangent
        inner, step = here, t * self.u
        for _ in range(DOUBLINGS):
            outer = inner + side * step
            outer = max(outer, bound) if side < 0 else min(outer, bound)
            tau = self.tau(outer)
            if not np.isfinite(tau):
                step = step / 4.0
                if step < 1e-3 * self.u:
                    return self._theta(inner)
                continue
            if tau >= t:
                return self._theta(self._between(inner, outer, t))
            if outer == bound:
                return self._theta(bound)
            inner, step = outer, step * 2.0
        return self._theta(side * np.inf)

    def _between(self, inner: float, outer: float, t: float) -> float:
        return float(
            extra("scipy.optimize").brentq(
                lambda at: self.tau(at) - t, inner, outer, xtol=1e-6 * self.u, rtol=1e-10
            )
        )

    def _theta(self, phi: float) -> float:
        whole = np.array(self.phi)
        whole[self.i] = phi
        with np.errstate(over="ignore"):
            return float(self.problem.to_theta(whole)[self.i])
