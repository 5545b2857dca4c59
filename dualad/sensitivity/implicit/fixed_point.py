"""Fixed points of a step with parameters, and their derivatives by the parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...transforms.jacobian import jacfwd
from ..errors import ModelError
from ..notices import warn
from ..parameters.parameters import Parameters
from ..results.implicit_result import checked_order
from ..results.sensitivities import Sensitivities
from .equations import UserFunction
from .factor import null_combinations
from .implicit import ImplicitProblem
from .root import assembled, posed

__all__ = ["fixed_point"]

REMEDY = "The step leaves it unchanged (an eigenvalue of 1)"


def fixed_point(
    step: Callable[..., Any],
    x0: Any,
    params: Mapping[str, Any],
    *,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    wrt: Iterable[str] | None = None,
    order: int = 1,
    method: str = "hybr",
    tol: float = 1e-12,
    max_steps: int = 200,
    units: Mapping[str, str | None] | None = None,
    args: Sequence[Any] = (),
) -> Sensitivities:
    """The solution of x = step(x, p) and its derivatives dx/dp.

    The step is repeated from x0 as long as that leads nearer; Newton's method with exact
    derivatives then takes over. So the fixed point is the one that the iteration would reach, and
    one that it cannot reach is found nevertheless, with a warning.

    Args:
        step: step(x, p, *args), of the shape of x, written in NumPy.
        x0, params, outputs, wrt, order, method, tol, units, args: see `root`.
        max_steps: how often the step is repeated at most.

    Returns:
        Sensitivities; `stats["spectral_radius"]` is the largest modulus of an eigenvalue of
        dstep/dx there: the factor by which an iteration approaches the fixed point.

    Raises:
        ModelError: there is no fixed point within tol, or it is not isolated.

    >>> r = fixed_point(lambda x, p: 0.5 * (x + p.a / x), 1.0, {"a": 2.0})
    >>> bool(np.isclose(r.values, 2.0**0.5)), bool(np.isclose(r.jacobian[0], 0.5 / 2.0**0.5))
    (True, True)
    """
    begun = time.perf_counter()
    parameters, chosen = Parameters(params), Parameters(params).chosen(wrt)
    user = posed(step, x0, parameters, chosen, args, "the step")
    q = chosen.vector()

    names = tuple(f"{name} - step" for name in user.unknowns.names)
    problem = ImplicitProblem(user, Move(user), names, q)
    start, taken = iterated(user, user.unknowns.start, q, max_steps)
    x = problem.solve(start, method, tol)
    values = eigenvalues(problem, x)
    branch = problem.branch(x, checked_order(order), REMEDY)
    radius = float(np.abs(values).max())
    notes = [] if radius < 1.0 else [not_attracting(user, x, radius)]
    result = assembled(problem, branch, outputs, order, method, tol, units, begun)
    result.stats.update(spectral_radius=radius, steps=taken)
    result.warnings.extend(notes)
    return result


class Move:
    """How far a step moves: x - step(x, p)."""

    def __init__(self, user: UserFunction):
        self.user = user

    def __call__(self, x: Any, q: Any) -> Any:
        return x - self.user.shaped_like_unknowns(x, q)


def iterated(
    user: UserFunction, x0: np.ndarray, q: np.ndarray, max_steps: int
) -> tuple[np.ndarray, int]:
    """Where repeating the step leads, and how many steps it took; the start, if it leads away."""
    x = x0
    first = last = np.inf
    for taken in range(max_steps):
        with np.errstate(all="ignore"):
            new = np.array(user.shaped_like_unknowns(x, q), float)
        move = float(np.abs(new - x).max()) if np.isfinite(new).all() else np.inf
        first = move if taken == 0 else first
        if not np.isfinite(move) or move > 1e3 * max(first, 1e-300):
            return x0, taken
        if move <= 1e-12 * np.abs(new).max() or (move >= last and move < 1e-6 * np.abs(new).max()):
            return new, taken + 1
        x, last = new, move
    return (x if last < first else x0), max_steps


def eigenvalues(problem: ImplicitProblem, x: np.ndarray) -> np.ndarray:
    """Those of dstep/dx.

    Raises:
        ModelError: one of them is 1: the fixed points are no single points.
    """
    user = problem.user
    jac = jacfwd(lambda x: user.shaped_like_unknowns(x, problem.q))(x)
    values, vectors = np.linalg.eig(jac)
    at = int(np.argmin(np.abs(values - 1.0)))
    if abs(values[at] - 1.0) > 1e-12 * (1.0 + np.abs(jac).sum(axis=1).max()):
        return values
    direction = vectors[:, at].real
    (free,) = null_combinations(direction[:, np.newaxis], user.unknowns.names)
    raise ModelError(
        f"{user.name} has no single fixed point {user.where(x)}: it leaves ({free}) unchanged (an "
        f"eigenvalue of 1), so that the fixed points are a line, or far away",
        y=x,
    )


def not_attracting(user: UserFunction, x: np.ndarray, radius: float) -> str:
    """The warning, given, that an iteration leads away."""
    text = (
        f"the fixed point of {user.name} is not attracting: the spectral radius of its derivative "
        f"is {radius:.4g}, so that repeating the step leads away from it {user.where(x)}"
    )
    warn(text, stacklevel=3)
    return text
