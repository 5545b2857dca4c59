"""Radau's method of order 5 for states and sensitivities.

The method, its error estimate of order 3 and its choice of steps are those of SciPy's Radau
(Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.8); without
sensitivities the steps are the same but for rounding. A step has three stages, at the fractions
C of it; Z holds what they add to the state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..extras import extra
from .linear import Linear, together
from .staggered import Convergence, Staggered, largest_row, root_mean_square

__all__ = ["StaggeredRadau"]

NEWTON = 6
LEAST_FACTOR, LARGEST_FACTOR = 0.2, 10.0
#: The estimated error of a step of length h is this times h^4 D^4 y.
ESTIMATE = -1 / (60 * 3.6378342527444957)


@dataclass
class Attempt:
    """One attempt at a step of length h: the stages of z, shape (3, k + 1, n)."""

    t: float
    h: float
    Z: np.ndarray
    iterations: int = 0
    rate: float | None = None
    linears: list[Linear] = field(default_factory=list)
    fourth: np.ndarray = field(default_factory=lambda: np.zeros(0))


class StaggeredRadau(Staggered):
    """SciPy's Radau with a step of its own; see `Staggered`."""

    error_order = 3

    def begin(self: Any) -> None:
        super().begin()
        tableau = extra("scipy.integrate._ivp.radau")
        self.C, self.E, self.T, self.TI = tableau.C, tableau.E, tableau.T, tableau.TI
        self.MU_REAL, self.MU_COMPLEX = float(tableau.MU_REAL), complex(tableau.MU_COMPLEX)
        self.lus: tuple[Any, Any] | None = None

    def _step_impl(self: Any) -> tuple[bool, str | None]:
        least = 10 * abs(np.nextafter(self.t, self.direction * np.inf) - self.t)
        length, before = self.h_abs, (self.h_abs_old, self.error_norm_old)
        if length > self.max_step or length < least:
            length, before = max(min(length, self.max_step), least), (None, None)
        rejected = False
        while True:
            if length < least:
                return False, self.TOO_SMALL_STEP
            t = self.t + length * self.direction
            if self.direction * (t - self.t_bound) > 0:
                t = self.t_bound
            length = abs(t - self.t)
            attempt = self.attempt(t)
            if attempt is None:
                length *= 0.5
                self.lus = None
                continue
            size = self.error(attempt, rejected)
            safety = 0.9 * (2 * NEWTON + 1) / (2 * NEWTON + attempt.iterations)
            if size <= 1:
                break
            self.block_norm.refuse()
            length *= max(LEAST_FACTOR, safety * growth(length, size, *before))
            self.lus, rejected = None, True
        self.accept(attempt)
        factor = min(LARGEST_FACTOR, safety * growth(length, size, *before))
        self.next_step(attempt, factor)
        self.h_abs_old, self.error_norm_old = self.h_abs, size
        self.h_abs = length * self.factor
        return True, None

    # --- one attempt

    def attempt(self: Any, t: float) -> Attempt | None:
        """States, then sensitivities; None where an iteration does not converge."""
        h, n = t - self.t, self.size
        if self.sol is None:
            Z = np.zeros((3, self.n))
        else:
            Z = self.sol(self.t + h * self.C).T - self.y
        out = Attempt(t, h, Z.reshape(3, self.system.k + 1, n))
        start = out.Z[:, 0].copy()
        while not self.states(out, start):
            if self.current_jac:
                return None
            self.take_up(self.t, self.y[:n])
            self.current_jac, self.lus = True, None
        if self.system.k and not self.sensitivities(out):
            return None
        return out

    def factorise(self: Any, h: float) -> None:
        self.lus = (
            self.factorised(self.MU_REAL / h, 1.0), self.factorised(self.MU_COMPLEX / h, 1.0),
        )  # fmt: skip
        self.linear_rate = None

    def states(self: Any, a: Attempt, Z: np.ndarray) -> bool:
        """Newton's method for the states at the three stages."""
        if self.lus is None:
            self.factorise(a.h)
        y, times = self.y[: self.size], (self.t + a.h * self.C).tolist()
        scale = self.atol[: self.size] + np.abs(y) * self.rtol[0]
        W, F = self.TI @ Z, np.empty_like(Z)
        goal = Convergence(self.newton_tol, NEWTON)
        while goal.count < NEWTON and not goal.done:
            for i in range(3):
                F[i] = self.system.states(times[i], y + Z[i])
            if not np.isfinite(F).all():
                return False
            step = self.newton_step(F, W, a.h)
            if goal.hopeless(root_mean_square(step / scale)):
                return False
            W += step
            Z = self.T @ W
        a.iterations, a.rate = goal.count, goal.rate
        a.Z[:, 0] = Z
        return goal.done

    @staticmethod
    def mixed(matrix: np.ndarray, stages: np.ndarray) -> np.ndarray:
        return (matrix @ stages.reshape(3, -1)).reshape(stages.shape)

    def newton_step(self: Any, F: np.ndarray, W: np.ndarray, h: float) -> np.ndarray:
        """The change of W, in whose coordinates the three stages are one real and one complex."""
        real, both = self.lus
        TF = self.mixed(self.TI, F)
        out = np.empty_like(W)
        out[0] = real(TF[0] - self.MU_REAL / h * W[0])
        pair = both(TF[1] + 1j * TF[2] - self.MU_COMPLEX / h * (W[1] + 1j * W[2]))
        out[1], out[2] = pair.real, pair.imag
        return out

    def sensitivities(self: Any, a: Attempt) -> bool:
        """The linear equations of the sensitivities at the stages that were found."""
        y, times = self.y[: self.size], (self.t + a.h * self.C).tolist()
        a.linears = [self.system.linear(times[i], y + a.Z[i, 0]) for i in range(3)]
        if not all(linear.finite() for linear in a.linears):
            return False
        if self.iterated(a):
            return True
        # The Jacobian that Newton's method has is too old for them.
        self.take_up(a.t, y + a.Z[2, 0], a.linears[2])
        self.factorise(a.h)
        return self.iterated(a)

    def iterated(self: Any, a: Attempt) -> bool:
        s, Z = self.rows(self.y)[1:], a.Z[:, 1:]
        scale = self.rows(self.atol)[1:] + np.abs(s) * self.rtol[1:, np.newaxis]
        W, slopes = self.mixed(self.TI, Z), together(a.linears)
        goal = Convergence(self.newton_tol, NEWTON, self.linear_rate)
        while goal.count < NEWTON and not goal.done:
            step = self.newton_step(slopes(s + Z), W, a.h)
            if goal.hopeless(largest_row(step / scale)):
                return False
            W += step
            Z = self.mixed(self.T, W)
        self.linear_rate = goal.rate
        a.Z[:, 1:] = Z
        return goal.done

    # --- errors

    def error(self: Any, a: Attempt, rejected: bool) -> float:
        """The size of the estimated error; after a refused step it is filtered once more."""
        z, stages = self.rows(self.y), (self.E @ a.Z.reshape(3, -1)).reshape(a.Z.shape[1:]) / a.h
        error = self.lus[0](self.rows(self.f) + stages)
        scale = self.rows(self.atol) + (
            np.maximum(np.abs(z), np.abs(z + a.Z[2])) * self.rtol[:, np.newaxis]
        )
        size, a.fourth = self.block_norm.of_rows(error / scale), error
        if rejected and size > 1:
            slopes = self.rows(self.system(self.t, (z + error).ravel()))
            size = self.block_norm.of_rows(self.lus[0](slopes + stages) / scale)
        return size

    # --- between steps

    def _dense_output_impl(self: Any) -> Any:
        return Interpolated(self.sol, self.fourth)

    def accept(self: Any, a: Attempt) -> None:
        self.t_old, self.y_old = self.t, self.y
        self.Z = a.Z.reshape(3, self.n)
        self.t, self.y = a.t, self.y + self.Z[2]
        if not self.system.k:
            self.f = self.system.states(self.t, self.y)
        else:
            last = a.linears[2]
            self.f = np.concatenate((last.value, last(self.rows(self.y)[1:]).ravel()))
        self.sol = self._compute_dense_output()
        self.fourth = a.fourth.ravel()

    def next_step(self: Any, a: Attempt, factor: float) -> None:
        """Whether the next step has this one's length and factorisations, or new ones."""
        slow = a.iterations > 2 and a.rate > 1e-3  # type: ignore[operator]
        self.factor = factor if slow or factor >= 1.2 else 1.0
        if slow or factor >= 1.2:
            self.lus = None
        if slow:
            self.take_up(self.t, self.y[: self.size], a.linears[2] if a.linears else None)
        self.current_jac = slow


class Interpolated:
    """The solution within a step, with an error of fifth order in its length.

    The polynomial of the stages has one of fourth order, h^4 D^4 y N(x) / 6 with N the integral of
    (x - c_1) (x - c_2) (x - c_3), which is as large as the estimated error of the step, a hundred
    times the true error at its end. The estimate is h^4 D^4 y too, but for a constant.
    """

    def __init__(self, polynomial: Any, estimate: np.ndarray):
        self.polynomial, self.estimate = polynomial, estimate

    def __call__(self, t: float) -> np.ndarray:
        x = (t - self.polynomial.t_old) / self.polynomial.h
        missing = (((x / 4 - 0.6) * x + 0.45) * x - 0.1) * x / 6
        return self.polynomial(t) + missing / ESTIMATE * self.estimate


def growth(
    length: float, size: float, length_before: float | None, size_before: float | None
) -> float:
    """By how much the next step may be longer, from this error and the one before."""
    more = 1.0
    if length_before is not None and size_before is not None and size != 0:
        more = length / length_before * (size_before / size) ** 0.25
    with np.errstate(divide="ignore"):
        return float(min(1.0, more) * np.float64(size) ** -0.25)
