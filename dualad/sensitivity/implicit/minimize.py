"""Minima of an objective with parameters, and how the minimiser moves with them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...transforms.gradient import grad
from ...transforms.jacobian import jacfwd
from ..errors import ModelError, SensitivityError
from ..extras import extra
from ..given import number
from ..parameters.parameters import Parameters
from ..results.implicit_result import checked_order
from ..results.sensitivities import Sensitivities
from .bounds import ActiveBounds, Bounds, bounds_of
from .equations import UserFunction
from .implicit import ImplicitProblem
from .root import assembled
from .unknowns import unknowns_of

__all__ = ["minimize"]

REMEDY = (
    "The minimum is flat along them: leave one of the unknowns out, or add a term for it; or the "
    "objective has a kink there (abs, maximum), where it has no second derivative"
)
#: Methods of `scipy.optimize.minimize` that take second derivatives.
WITH_HESSIAN = ("newton-cg", "trust-exact", "trust-ncg", "trust-krylov", "dogleg", "trust-constr")
#: Those that take no derivatives, and those that keep within bounds.
WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
BOUNDED = ("l-bfgs-b", "tnc", "slsqp", "trust-constr", *WITHOUT_GRADIENT)


def minimize(
    objective: Callable[..., Any],
    x0: Any,
    params: Mapping[str, Any],
    *,
    bounds: Any = None,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    wrt: Iterable[str] | None = None,
    order: int = 1,
    method: str | None = None,
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
        bounds: of the unknowns: a mapping of names to pairs (lower, upper), or one pair an
            unknown; each of a pair is a number, None, or a function of p. An unknown at a bound
            moves with the bound only.
        method: of `scipy.optimize.minimize`, one without constraints; default "trust-exact",
            within bounds "L-BFGS-B".
        tol: relative to the terms of the gradient, what may be left of it.
        options: of `scipy.optimize.minimize`'s method.

    Returns:
        Sensitivities of the unknowns; `stats["objective"]` is the least value, `stats["active"]`
        says which bounds hold, with their multipliers.

    Raises:
        ModelError: no minimum is found; what is found is a saddle (the error names the direction)
            or flat; the objective fails or drops a derivative; an unknown is at a bound without
            being pushed there, where the minimiser has no derivative.

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

    gradient = Gradient(user)
    within = None if bounds is None else bounds_of(bounds, user)
    method = method or ("trust-exact" if within is None else "L-BFGS-B")
    free = ActiveBounds(
        within or Bounds(user, ([None] * len(user.unknowns.names),) * 2), gradient,
        np.zeros(len(user.unknowns.names), int),
    )  # fmt: skip
    problem = ImplicitProblem(user, free, free.names(), q)
    x, message = searched(problem, gradient.value, method, options, within)
    problem, x = settled(problem, x)
    problem.require_solved(x, number("tol", tol), np.abs(x).max() or 1.0, message)
    active: Any = problem.rows
    require_minimum(problem, x, np.flatnonzero(active.active == 0))
    if within is not None:
        push, terms = pushes(problem, gradient, x)
        active.require_strict(x, push, terms)
    branch = problem.branch(x, order, REMEDY)
    result = assembled(problem, branch, outputs, order, method, tol, units, begun)
    result.stats["objective"] = float(gradient.value(x, q))
    if within is not None:
        result.stats["active"] = active.said(x, push)
    return result


def settled(problem: ImplicitProblem, x: np.ndarray) -> tuple[ImplicitProblem, np.ndarray]:
    """The minimum near x by Newton's method, with the bounds that hold there.

    Raises:
        ModelError: the bounds that hold are not found.
    """
    rows: Any = problem.rows
    bounds, gradient, q = rows.bounds, rows.gradient, problem.q
    active = bounds.active(x, np.asarray(gradient(x, q), float), q)
    for _ in range(2 * len(x) + 10):
        rows = ActiveBounds(bounds, gradient, active)
        moved = ImplicitProblem(problem.user, rows, rows.names(), q)
        moved.residuals, moved.jacobians = problem.residuals, problem.jacobians
        problem = moved
        x = rows.on_bounds(problem.polish(rows.on_bounds(x, q)), q)
        other = rows.next(x, np.asarray(gradient(x, q), float), q)
        if other is None:
            return problem, x
        active = other
        x = np.clip(x, *bounds.at(q))
    raise ModelError(
        f"the bounds that hold at a minimum of {problem.user.name} are not found "
        f"{problem.user.where(x)}: start elsewhere, or try another method",
        y=x,
    )


def pushes(
    problem: ImplicitProblem, gradient: Callable[[Any, Any], Any], x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The gradient at x, and for each entry the size of the terms it is made of."""
    n = len(x)
    both = jacfwd(lambda z: gradient(z[:n], z[n:]))(np.concatenate([x, problem.q]))
    push = np.asarray(gradient(x, problem.q), float)
    terms = np.abs(both) @ np.abs(np.concatenate([x, problem.q]))
    return push, np.maximum(terms, np.abs(push))


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
        if np.iscomplexobj(x) or np.iscomplexobj(q):
            raise SensitivityError(
                "the gradient that vanishes at a minimum is itself a derivative, which a complex "
                "step cannot be taken through"
            )
        return grad(lambda x: self.value(x, q))(x)


def searched(
    problem: ImplicitProblem,
    value: Callable[..., Any],
    method: str,
    options: dict[str, Any],
    bounds: Bounds | None = None,
) -> tuple[np.ndarray, str]:
    """Where SciPy's minimiser ends, and what it says."""
    if not isinstance(method, str):
        raise SensitivityError(f"method must be a name of scipy.optimize, got {method!r}")
    x0, q = problem.user.unknowns.start, problem.q
    more: dict[str, Any] = {}
    if bounds is not None:
        if method.lower() not in BOUNDED:
            raise SensitivityError(
                f"the minimiser {method!r} does not take bounds: take 'L-BFGS-B', or another that "
                f"does"
            )
        low, high = bounds.at(q)
        x0 = np.clip(x0, low, high)
        more["bounds"] = list(zip(low, high, strict=True))
    if not np.isfinite(float(value(x0, q))):
        raise ModelError(f"{problem.user.name} is not finite {problem.user.where(x0)}", y=x0)
    problem.require_finite(x0, problem.residual(x0), f"the derivative of {problem.user.name}")
    if method.lower() in WITH_HESSIAN:
        more["hess"] = problem.jacobian
    if method.lower() not in WITHOUT_GRADIENT:
        more["jac"] = problem.residual
    try:
        with np.errstate(all="ignore"):
            found = extra("scipy.optimize").minimize(
                lambda x: float(value(x, q)), x0, method=method, options=options, **more,
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


def require_minimum(problem: ImplicitProblem, x: np.ndarray, free: np.ndarray) -> None:
    """The Hessian by the unknowns that are free must not have a negative eigenvalue."""
    if not free.size:
        return
    hessian = jacfwd(lambda x: problem.rows(x, problem.q))(x)[np.ix_(free, free)]
    scale = np.sqrt(np.abs(np.diag(hessian)))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(hessian / np.outer(scale, scale))
    if values[0] < -1e-10 * max(np.abs(values).max(), 1e-300):
        direction = np.abs(vectors[:, 0] / scale)
        name = problem.user.unknowns.names[int(free[np.argmax(direction)])]
        raise ModelError(
            f"{problem.user.name} is stationary but has no minimum {problem.user.where(x)}: it "
            f"falls along a direction in which {name} changes most. Start elsewhere",
            y=x,
        )
