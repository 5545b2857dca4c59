"""Minima of an objective with parameters, and how the minimiser moves with them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...transforms.jacobian import jacfwd
from ...transforms.reverse import grad
from ..errors import ModelError, SensitivityError
from ..extras import extra
from ..parameters.parameters import Parameters
from ..results.implicit_result import checked_order
from ..results.sensitivities import Sensitivities
from .equations import UserFunction
from .implicit import ImplicitProblem
from .root import assembled
from .unknowns import unknowns_of

__all__ = ["minimize"]

REMEDY = "The minimum is flat along them: leave one of the unknowns out, or add a term for it"
#: Methods of `scipy.optimize.minimize` that take second derivatives.
WITH_HESSIAN = ("newton-cg", "trust-exact", "trust-ncg", "trust-krylov", "dogleg")


def minimize(
    objective: Callable[..., Any],
    x0: Any,
    params: Mapping[str, Any],
    *,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    wrt: Iterable[str] | None = None,
    order: int = 1,
    method: str = "trust-exact",
    tol: float = 1e-10,
    units: Mapping[str, str | None] | None = None,
    args: Sequence[Any] = (),
    **options: Any,
) -> Sensitivities:
    """The x that minimises objective(x, p), and its derivatives dx/dp.

    SciPy searches with exact gradients; Newton's method makes the gradient vanish to rounding. The
    derivatives are those of the stationarity condition: H dx/dp_j = -d(gradient)/dp_j.

    Args:
        objective: objective(x, p, *args), one number, written in NumPy.
        x0, params, outputs, wrt, order, units, args: see `root`.
        method: of `scipy.optimize.minimize`, one without bounds and constraints.
        tol: relative to the terms of the gradient, what may be left of it.
        options: of `scipy.optimize.minimize`'s method.

    Returns:
        Sensitivities of the unknowns; `stats["objective"]` is the least value.

    Raises:
        ModelError: no minimum is found; what is found is a saddle (the error names the direction)
            or flat; the objective fails or drops a derivative.

    >>> r = minimize(lambda x, p: np.sum((x - p.a) ** 2), [0.0, 0.0], {"a": 3.0})
    >>> r.values, r.jacobian[:, 0]
    (array([3., 3.]), array([1., 1.]))
    """
    begun = time.perf_counter()
    checked_order(order)
    parameters, chosen = Parameters(params), Parameters(params).chosen(wrt)
    user = UserFunction(
        objective, parameters, chosen.names, unknowns_of(x0, parameters), args, "the objective"
    )
    q = chosen.vector()
    user.try_out(user.unknowns.start, q)

    names = tuple(f"the derivative of {user.name} by {n}" for n in user.unknowns.names)
    gradient = Gradient(user)
    problem = ImplicitProblem(user, gradient, names, q)
    x, message = searched(problem, gradient.value, method, options)
    x = problem.polish(x)
    problem.require_solved(x, tol, np.abs(x).max() or 1.0, message)
    require_minimum(problem, x)
    branch = problem.branch(x, order, REMEDY)
    result = assembled(problem, branch, outputs, order, method, tol, units, begun)
    result.stats["objective"] = float(gradient.value(x, q))
    return result


class Gradient:
    """The derivatives of an objective by its unknowns."""

    def __init__(self, user: UserFunction):
        self.user = user

    def value(self, x: Any, q: Any) -> Any:
        """The objective itself, one number."""
        out = self.user(x, q)
        if out.shape != ():
            raise ModelError(f"{self.user.name} returned shape {out.shape}: it must be one number")
        return out

    def __call__(self, x: Any, q: Any) -> Any:
        return grad(lambda x: self.value(x, q))(x)


def searched(
    problem: ImplicitProblem, value: Callable[..., Any], method: str, options: dict[str, Any]
) -> tuple[np.ndarray, str]:
    """Where SciPy's minimiser ends, and what it says."""
    x0, q = problem.user.unknowns.start, problem.q
    if not np.isfinite(float(value(x0, q))):
        raise ModelError(f"{problem.user.name} is not finite {problem.user.where(x0)}", y=x0)
    problem.require_finite(x0, problem.residual(x0), f"the derivative of {problem.user.name}")
    more = {"hess": problem.jacobian} if method.lower() in WITH_HESSIAN else {}
    try:
        with np.errstate(all="ignore"):
            found = extra("scipy.optimize").minimize(
                lambda x: float(value(x, q)), x0, jac=problem.residual, method=method,
                options=options, **more,
            )  # fmt: skip
    except ValueError as error:
        if isinstance(error, ModelError):
            raise
        raise SensitivityError(f"the minimiser {method!r} refused: {error}") from error
    x = np.array(found.x, float)
    if not np.isfinite(x).all() or not np.isfinite(found.fun):
        raise ModelError(
            f"no minimum of {problem.user.name} was found: it has no lower bound, or is not "
            f"defined where the search went. The minimiser said: {found.message}"
        )
    return x, str(found.message)


def require_minimum(problem: ImplicitProblem, x: np.ndarray) -> None:
    """The Hessian must not have a negative eigenvalue."""
    hessian = jacfwd(lambda x: problem.rows(x, problem.q))(x)
    scale = np.sqrt(np.abs(np.diag(hessian)))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(hessian / np.outer(scale, scale))
    if values[0] < -1e-10 * max(np.abs(values).max(), 1e-300):
        direction = np.abs(vectors[:, 0] / scale)
        name = problem.user.unknowns.names[int(np.argmax(direction))]
        raise ModelError(
            f"{problem.user.name} is stationary but has no minimum {problem.user.where(x)}: it "
            f"falls along a direction in which {name} changes most. Start elsewhere",
            y=x,
        )
