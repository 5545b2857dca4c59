"""Where the search for a solution of equations ends: SciPy's, or Newton's method, damped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import SensitivityError
from ..extras import extra

if TYPE_CHECKING:
    from .implicit import ImplicitProblem

__all__ = ["STEPS", "searched"]

#: Newton steps at most: from a search that ended near a simple root, six are many.
STEPS = 60


def searched(problem: ImplicitProblem, x0: np.ndarray, method: str) -> tuple[np.ndarray, str]:
    """Where SciPy's root finder ends, and what it says."""
    if not isinstance(method, str):
        raise SensitivityError(f"method must be a name of scipy.optimize.root, got {method!r}")
    optimize = extra("scipy.optimize")
    with np.errstate(all="ignore"):
        if problem.sparse is not None:
            x = damped(problem, x0)
            if x is not None:
                return x, "Newton's method ended."
            found = optimize.least_squares(
                problem.residual, x0, jac=problem.jacobian, method="trf", x_scale="jac",
                tr_solver="lsmr", xtol=1e-10, ftol=1e-10, gtol=1e-14, max_nfev=1000,
            )  # fmt: skip
        elif problem.square:
            jac = {"jac": problem.jacobian} if method in ("hybr", "lm") else {}
            try:
                found = optimize.root(problem.residual, x0, method=method, **jac)
            except ValueError as error:
                if isinstance(error, SensitivityError):
                    raise
                raise SensitivityError(f"method {method!r} is refused: {error}") from error
        else:
            found = optimize.least_squares(
                problem.residual, x0, jac=problem.jacobian, method="lm", xtol=1e-12, ftol=1e-12
            )
    return np.array(found.x, float), " ".join(str(found.message).split())


def damped(problem: ImplicitProblem, x: np.ndarray) -> np.ndarray | None:
    """Where Newton's method ends whose steps are halved until they shrink the next step.

    None, where it gets stuck. Deuflhard, Newton Methods for Nonlinear Problems (2004),
    section 3.3.
    """
    value = problem.residual(x)
    for _ in range(STEPS):
        factor = problem.factor(problem.jacobian(x))
        move = factor.solve(value)
        size = np.linalg.norm(move)
        if not np.isfinite(size):
            return None
        if size <= 1e-8 * np.linalg.norm(x):
            return x - move
        share = 1.0
        while True:
            trial = x - share * move
            value = problem.residual(trial)
            next_size = np.linalg.norm(factor.solve(value))
            if np.isfinite(next_size) and next_size <= (1.0 - share / 2.0) * size:
                break
            share /= 2.0
            if share < 1e-4:
                return None
        x = trial
    return None
