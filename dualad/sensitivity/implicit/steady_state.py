"""Steady states of rates of change, and their derivatives by the parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...transforms.jacobian import jacfwd
from ..errors import ModelError, SensitivityError
from ..extras import extra
from ..given import members
from ..notices import warn
from ..parameters.parameters import Parameters
from ..results.implicit_result import checked_order
from ..results.steady_sensitivities import SteadyPoint, SteadySensitivities
from .autonomous import autonomous
from .conserved import Total, declared_totals, found_totals
from .implicit import ImplicitProblem
from .root import assembled, posed, problem_of

__all__ = ["steady_state"]

METHODS = ("auto", "newton", "integrate")
#: How many decades of time, from the fastest time scale on, a state may take to settle.
DECADES = 16
#: How many steps a decade of time may take: one that settles takes some tens, an oscillation more.
MANY = 400
REMEDY = (
    "The steady states may form a line: declare what is conserved along it, with conserved=, or "
    "look for a fold of the steady states near these parameters"
)


def steady_state(
    rhs: Callable[..., Any],
    x0: Any,
    params: Mapping[str, Any],
    *,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    wrt: Iterable[str] | None = None,
    order: int = 1,
    conserved: Any = "auto",
    stable: bool = True,
    method: str = "auto",
    tol: float = 1e-12,
    units: Mapping[str, str | None] | None = None,
    args: Sequence[Any] = (),
) -> SteadySensitivities:
    """The state x with rhs(x, p) = 0 that x0 leads to, and its derivatives dx/dp.

    Args:
        rhs: rhs(x, p, *args), the rates of change, of the shape of x, written in NumPy; or
            rhs(t, x, p, *args), the right-hand side of `ode`, which must not depend on t.
        x0: the state at the start: an array, a mapping of names to numbers, or a function x0(p);
            it decides the conserved totals, and which of several steady states is meant.
        params: all parameters, by name.
        outputs: names and functions g(x, p, *args) of further outputs, such as fluxes.
        wrt: the parameters to differentiate by; default all that are not fixed.
        order: 2 gives second derivatives as well.
        conserved: "auto" finds the weighted sums of states that no rate changes; None takes none;
            else see `root`. The derivatives keep the totals that x0 has; they follow x0(p).
        stable: that the state is unstable is an error.
        method: "newton" solves from x0; "integrate" first follows the rates in time; "auto"
            integrates where Newton's method finds no stable state, or one with a change of sign.
        tol: how small each rate must be beside the terms that it is made of.
        units: of the states and outputs, by name.
        args: further arguments of rhs, outputs and conserved.

    Raises:
        ModelError: no steady state is reached; it is unstable (the error names the eigenvalue);
            or it is not isolated (the error names the direction).

    >>> def cycle(x, p):
    ...     v = p.k * x[0] - p.m * x[1]
    ...     return np.array([-v, v])
    >>> r = steady_state(cycle, {"A": 3.0, "B": 0.0}, {"k": 1.0, "m": 2.0})
    >>> r.totals, r.values.round(6), r.jacobian.round(6)[0]
    (('A + B',), array([2., 1.]), array([-0.666667,  0.333333]))
    """
    begun = time.perf_counter()
    if method not in METHODS:
        raise SensitivityError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    parameters, chosen = Parameters(params), Parameters(params).chosen(wrt)
    args = members("args", args, "further arguments of the function")
    user = posed(autonomous(rhs, len(args)), x0, parameters, chosen, args, "the right-hand side")
    if isinstance(conserved, str) and conserved == "auto":
        totals = found_totals(user, user.unknowns.start, chosen.vector())
    else:
        totals = [] if conserved is None else declared_totals(conserved, user)
    problem = problem_of(user, totals, chosen)
    point = settled(problem, totals, method, tol, stable)
    branch = problem.branch(point.x, checked_order(order), REMEDY)
    result = assembled(problem, branch, outputs, order, method, tol, units, begun)
    if stable and (value := point.neutral()) is not None:
        result.warnings.append(undamped(point, value))
    return SteadySensitivities(
        **result._arguments(), point=point, totals=[name for name, _ in totals]
    )


def settled(
    problem: ImplicitProblem, totals: Sequence[Total], method: str, tol: float, stable: bool
) -> SteadyPoint:
    """The steady state that the start leads to.

    Raises:
        ModelError: there is none, or only an unstable one.
    """
    x0 = problem.user.unknowns.start
    refusal: ModelError | None = None
    if method != "integrate":
        try:
            point = point_at(problem, totals, problem.solve(x0, "hybr", tol))
            require_meant(point, x0, stable)
            return point
        except ModelError as error:
            if method == "newton" or isinstance(error.__cause__, Exception):
                raise
            refusal = error
    point = followed(problem, totals, tol, refusal)
    require_meant(point, x0, stable)
    return point


def point_at(problem: ImplicitProblem, totals: Sequence[Total], x: np.ndarray) -> SteadyPoint:
    """A solution as a steady point."""
    q, user = problem.q, problem.user
    by_x = jacfwd(lambda x: user.shaped_like_unknowns(x, q))(x)
    gradients = [jacfwd(lambda x, c=c: c(x, q))(x) for _, c in totals]
    return SteadyPoint(user, x, q, by_x, np.array(gradients).reshape(-1, len(x)))


def require_meant(point: SteadyPoint, x0: np.ndarray, stable: bool) -> None:
    """A stable state, with no negative amount of what began without one."""
    bad = point.unstable() if stable else None
    if bad is not None:
        raise ModelError(
            f"the steady state of {point.user.name} is unstable {point.user.where(point.x)}: the "
            f"eigenvalue {_number(bad)} has a positive real part. stable=False accepts it",
            y=point.x,
        )
    negative = (x0 >= 0).all() and (point.x < -1e-9 * np.abs(point.x).max()).any()
    if negative and stable:
        raise ModelError(
            f"the steady state of {point.user.name} has negative values, though x0 has none, "
            f"{point.user.where(point.x)}. stable=False accepts it",
            y=point.x,
        )


def undamped(point: SteadyPoint, value: complex) -> str:
    """The warning, given, that states beside the steady one do not come back to it."""
    text = (
        f"the steady state of {point.user.name} is neither stable nor unstable: the eigenvalue "
        f"{_number(value)} has no real part {point.user.where(point.x)}"
    )
    warn(text, stacklevel=3)
    return text


def _number(value: complex) -> str:
    return f"{value.real:.6g}" if value.imag == 0 else f"{value.real:.6g} {value.imag:+.6g}i"


def followed(
    problem: ImplicitProblem, totals: Sequence[Total], tol: float, refusal: ModelError | None
) -> SteadyPoint:
    """Where the rates lead in time, polished.

    The horizon grows by decades from the fastest time scale at the start; after each, Newton's
    method is tried from the state reached, and believed where it does not lead away from it.
    """
    user, q = problem.user, problem.q
    x, t = user.unknowns.start, 0.0
    with np.errstate(all="ignore"):
        problem.require_finite(x, np.array(user.shaped_like_unknowns(x, q), float), user.name)
        by_x = point_at(problem, [], x).by_x
        problem.require_finite(x, by_x, f"the derivative of {user.name}")
        fastest = np.abs(np.linalg.eigvals(by_x)).max()
    step = 1.0 / fastest if fastest > 0 else 1.0
    for _ in range(DECADES):
        x, t, why = integrated(problem, x, t, 10.0 * max(t, step), step)
        if why:
            break
        found = problem.polish(x)
        near = np.abs(found - x).max() <= 1e-3 * np.abs(x).max() + 1e-12
        try:
            if near:
                problem.require_solved(found, tol, np.abs(x).max() or 1.0, "it was followed")
                return point_at(problem, totals, found)
        except ModelError:
            continue
    rates = np.array(user.shaped_like_unknowns(x, q), float)
    worst = int(np.argmax(np.abs(rates) / np.maximum(np.abs(x), 1e-300)))
    before = f" Newton's method before that: {refusal}" if refusal is not None else ""
    raise ModelError(
        f"no steady state of {user.name} was reached by t = {t:.3g}: {user.unknowns.names[worst]} "
        f"still changes at {rates[worst]:.3g}, {user.where(x)}. "
        f"{why or 'It may grow without end'}.{before}",
        t,
        x,
    )


def integrated(
    problem: ImplicitProblem, x: np.ndarray, t0: float, t1: float, step: float
) -> tuple[np.ndarray, float, str]:
    """The state at t1, or where the solver gave up and why; step is the fastest time scale."""
    user, q = problem.user, problem.q
    rates = np.array(user.shaped_like_unknowns(x, q), float)
    size = max(np.abs(x).max(), np.abs(rates).max() * step, 1e-300)
    with np.errstate(all="ignore"):
        solver = extra("scipy.integrate").BDF(
            lambda t, x: np.array(user.shaped_like_unknowns(x, q), float),
            t0,
            x,
            t1,
            jac=lambda t, x: jacfwd(lambda x: user.shaped_like_unknowns(x, q))(x),
            rtol=1e-6,
            atol=1e-9 * size,
        )
        for _ in range(MANY):
            message = solver.step()
            if solver.status != "running":
                break
    state, t = np.array(solver.y, float), float(solver.t)
    if solver.status == "running":
        grows = np.abs(state).max() > 1e6 * size
        says = "it grows without end" if grows else "it may oscillate"
        return state, t, f"It still moved after {MANY} steps: {says}"
    return state, t, f"The integration ended: {message}" if solver.status == "failed" else ""
