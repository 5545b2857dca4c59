"""Backward differentiation formulas of order 1 to 5 for states and sensitivities.

The formulas, the choice of order and the error test are those of SciPy's BDF (Shampine and
Reichelt, The MATLAB ODE suite, 1997); without sensitivities the steps are the same to the last
bit. `D` holds the backward differences of z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .blocks import Factorised
from .linear import Linear
from .staggered import Convergence, Staggered, largest_row, root_mean_square

__all__ = ["StaggeredBDF"]

HIGHEST = 5
NEWTON = 4
LEAST_FACTOR, LARGEST_FACTOR = 0.2, 10.0


@dataclass
class Attempt:
    """One attempt at a step: what the formulas give, and how far from the prediction that is."""

    t: float
    c: float
    predicted: np.ndarray
    psi: np.ndarray
    change: np.ndarray
    iterations: int = 0
    linear: Linear | None = None


class StaggeredBDF(Staggered):
    """SciPy's BDF with a step of its own; see `Staggered`."""

    error_order = 1
    D: np.ndarray
    order: int
    h_abs: float
    direction: float
    LU: Factorised | None

    def begin(self: Any) -> None:
        super().begin()
        self.D[2:] = 0  # SciPy leaves what memory held, which may warn when it is subtracted

    def _step_impl(self: Any) -> tuple[bool, str | None]:
        least = 10 * abs(np.nextafter(self.t, self.direction * np.inf) - self.t)
        if self.h_abs > self.max_step:
            self.rescale(self.max_step / self.h_abs)
        elif self.h_abs < least:
            self.rescale(least / self.h_abs)
        self.fresh = False
        while True:
            if self.h_abs < least:
                return False, self.TOO_SMALL_STEP
            t = self.t + self.h_abs * self.direction
            if self.direction * (t - self.t_bound) > 0:
                t = self.t_bound
                self.rescale(abs(t - self.t) / self.h_abs)
                self.LU = None
            self.h_abs = abs(t - self.t)
            attempt = self.attempt(t)
            if attempt is None:
                self.rescale(0.5)
                self.LU = None
                continue
            safety = 0.9 * (2 * NEWTON + 1) / (2 * NEWTON + attempt.iterations)
            size = self.error(attempt, self.order, attempt.change)
            if size <= 1:
                break
            self.block_norm.refuse()
            power = -1 / (self.order + 1)
            self.rescale(max(LEAST_FACTOR, safety * size**power))
        self.accept(attempt)
        if self.n_equal_steps > self.order:
            self.choose_order(size, safety)
        return True, None

    # --- one attempt

    def attempt(self: Any, t: float) -> Attempt | None:
        """States, then sensitivities; None where an iteration does not converge.

        Where the states alone fail the error test, the sensitivities are left at their prediction.
        """
        order, n = self.order, self.size
        z = self.D[: order + 1].sum(axis=0)
        psi = (self.D[1 : order + 1].T @ self.gamma[1 : order + 1]) / self.alpha[order]
        c = (t - self.t) / self.alpha[order]
        out = Attempt(t, c, z, psi, np.zeros_like(z))
        while not self.states(out):
            if self.fresh:
                return None
            self.take_up(t, z[:n])
            self.fresh, self.LU = True, None
        if self.system.k and self.states_error(out) <= 1 and not self.sensitivities(out):
            return None
        return out

    def states(self: Any, a: Attempt) -> bool:
        """Newton's method for the states."""
        n = self.size
        y, psi = a.predicted[:n].copy(), a.psi[:n]
        scale = self.atol[:n] + self.rtol[0] * np.abs(y)
        change: Any = 0
        if self.LU is None:
            self.LU, self.linear_rate = self.factorised(1.0, a.c), None
        goal = Convergence(self.newton_tol, NEWTON)
        while goal.count < NEWTON and not goal.done:
            f = self.system.states(a.t, y)
            if not np.isfinite(f).all():
                return False
            step = self.LU(a.c * f - psi - change)
            if goal.hopeless(root_mean_square(step / scale)):
                return False
            y += step
            change = change + step
        a.iterations = goal.count
        a.change[:n] = change
        return goal.done

    def sensitivities(self: Any, a: Attempt) -> bool:
        """The linear equations of the sensitivities at the states that were found."""
        n = self.size
        a.linear = self.system.linear(a.t, a.predicted[:n] + a.change[:n])
        if not a.linear.finite():
            return False
        if self.iterated(a, a.linear):
            return True
        # The Jacobian that Newton's method has is too old for them.
        self.take_up(a.t, a.predicted[:n] + a.change[:n], a.linear)
        self.LU, self.linear_rate = self.factorised(1.0, a.c), None
        return self.iterated(a, a.linear)

    def iterated(self: Any, a: Attempt, linear: Linear) -> bool:
        s, psi = self.rows(a.predicted)[1:].copy(), self.rows(a.psi)[1:]
        scale = self.rows(self.atol)[1:] + self.rtol[1:, np.newaxis] * np.abs(s)
        change = np.zeros_like(s)
        goal = Convergence(self.newton_tol, NEWTON, self.linear_rate)
        while goal.count < NEWTON and not goal.done:
            step = self.LU(a.c * linear(s) - psi - change)
            if goal.hopeless(largest_row(step / scale)):
                return False
            s += step
            change += step
        self.linear_rate = goal.rate
        self.rows(a.change)[1:] = change
        return goal.done

    # --- errors

    def scale(self: Any, a: Attempt) -> np.ndarray:
        return self.rows(self.atol) + self.rtol[:, np.newaxis] * np.abs(
            self.rows(a.predicted + a.change)
        )

    def states_error(self: Any, a: Attempt) -> float:
        n = self.size
        scale = self.atol[:n] + self.rtol[0] * np.abs(a.predicted[:n] + a.change[:n])
        return root_mean_square(self.error_const[self.order] * a.change[:n] / scale)

    def error(self: Any, a: Attempt, order: int, difference: np.ndarray) -> float:
        """The size of the error that a difference of z stands for."""
        return self.block_norm.of_rows(
            self.error_const[order] * self.rows(difference) / self.scale(a)
        )

    # --- between steps

    def accept(self: Any, a: Attempt) -> None:
        order, D = self.order, self.D
        self.n_equal_steps += 1
        self.t, self.y = a.t, a.predicted + a.change
        D[order + 2] = a.change - D[order + 1]
        D[order + 1] = a.change
        for i in reversed(range(order + 1)):
            D[i] += D[i + 1]
        self.accepted = a

    def choose_order(self: Any, size: float, safety: float) -> None:
        """The order, of one less, the same and one more, that allows the longest step."""
        order, a = self.order, self.accepted
        sizes = [np.inf, size, np.inf]
        if order > 1:
            sizes[0] = self.error(a, order - 1, self.D[order])
        if order < HIGHEST:
            sizes[2] = self.error(a, order + 1, self.D[order + 2])
        with np.errstate(divide="ignore"):
            factors = np.array(sizes) ** (-1 / np.arange(order, order + 3))
        self.order += int(np.argmax(factors)) - 1
        self.rescale(min(LARGEST_FACTOR, safety * factors.max()))
        self.LU = None

    def rescale(self: Any, factor: float) -> None:
        """Make the step longer by a factor, and the differences those of the new step."""
        order = self.order
        self.D[: order + 1] = (binomials(order, factor) @ binomials(order, 1.0)).T @ (
            self.D[: order + 1]
        )
        self.h_abs *= factor
        self.n_equal_steps, self.linear_rate = 0, None


def binomials(order: int, factor: float) -> np.ndarray:
    """The matrix from backward differences to values at the points of a step of another length."""
    i, j = np.arange(1, order + 1)[:, np.newaxis], np.arange(1, order + 1)
    out = np.zeros((order + 1, order + 1))
    out[1:, 1:] = (i - 1 - factor * j) / i
    out[0] = 1
    return np.cumprod(out, axis=0)
