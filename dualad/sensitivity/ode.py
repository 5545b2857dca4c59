"""Forward sensitivities of an initial value problem: SciPy's solver, our derivatives."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .errors import ModelError, ParameterError
from .extras import extra
from .model import Model
from .parameters import Parameters
from .progress import Progress
from .question import absolute_tolerance, initial_state, output_times, scales, span
from .result import TimeSensitivities
from .stepper import counting, solver_class, takes_jacobian
from .variational import VariationalSystem

__all__ = ["ode"]


def ode(
    rhs: Callable[..., Any],
    y0: Any,
    params: Mapping[str, float],
    t_span: Sequence[float],
    *,
    t_eval: Any = None,
    wrt: Iterable[str] | None = None,
    states: Sequence[str] | None = None,
    method: str | type = "Radau",
    rtol: float = 1e-6,
    atol: Any = 1e-9,
    pscale: Mapping[str, float] | None = None,
    dense_output: bool = False,
    progress: bool = False,
) -> TimeSensitivities:
    """The solution of y' = rhs(t, y, p) and its derivatives dy/dp, integrated together.

    States and sensitivities share the steps and the error test, so that both are as accurate as
    asked. Derivatives come from dual numbers: rhs stays plain NumPy, and is never differenced.

    Args:
        rhs: rhs(t, y, p) gives dy/dt of shape (n,), as an array or a list; p.k1 or p["k1"] is a
            parameter.
        y0: the state at the start: an array, a mapping of names to numbers, or a function y0(p).
        params: all parameters, by name.
        t_span: the first and the last time.
        t_eval: the times of the result; default: where the solver stepped.
        wrt: the parameters to differentiate by; default all. The result does not depend on which
            others are asked for, but for the steps that the solver chooses.
        states: names of the states; default those of y0, or y1, y2, ...
        method: a name that `scipy.integrate.solve_ivp` knows, or an OdeSolver class. Implicit
            methods get the full Jacobian of the joint system, a dense matrix of size n (1 + k).
        rtol, atol: tolerances of the states; atol may differ from state to state. Those of the
            sensitivity by p_j are rtol and atol / pscale_j.
        pscale: the scale of a parameter, by name; default |p_j|, or 1 where p_j is 0.
        dense_output: keep the interpolant, for `TimeSensitivities.at`.
        progress: show on a terminal how far a long run has come.

    Raises:
        ModelError: rhs fails, has a wrong shape, is not finite, or the solver gives up.
        ParameterError: a parameter has no usable value, a name is unknown or comes twice.
        MissingExtraError: SciPy is not installed.

    >>> import numpy as np
    >>> def rhs(t, y, p):
    ...     return np.array([-p.k * y[0]])
    >>> result = ode(rhs, [1.0], {"k": 0.5}, (0.0, 2.0), t_eval=[2.0])
    >>> bool(abs(result.S[0, 0, 0] + 2.0 * np.exp(-1.0)) < 1e-6)    # dy/dk = -t exp(-k t)
    True
    """
    parameters = params if isinstance(params, Parameters) else Parameters(params)
    chosen = parameters if wrt is None else parameters.subset(wrt)
    if not len(chosen):
        raise ParameterError("there is no parameter to differentiate by")
    t0, t1 = span(t_span)
    times = None if t_eval is None else output_times(t_eval, t0, t1)
    start, names = initial_state(y0, parameters, states)
    tolerance = np.tile(absolute_tolerance(atol, len(names)), 1 + len(chosen))
    model = Model(rhs, parameters, names)
    system = VariationalSystem(model, chosen, scales(chosen, pscale))
    z0 = system.start(y0 if callable(y0) else start)
    require_sound(system, t0, z0)
    solver, solution, wall = solve(
        system, (t0, t1), z0, method, progress,
        t_eval=times, dense_output=dense_output, rtol=rtol, atol=tolerance,
    )  # fmt: skip
    y, s = split(system, solution.y)
    return TimeSensitivities(
        t=solution.t,
        y=y,
        S=s,
        outputs=names,
        parameters=chosen,
        stats={
            "steps": solver.steps,
            "rhs": system.rhs_calls,
            "tangent_rhs": system.rhs_calls * system.k,
            "jacobians": system.jacobian_calls,
            "factorisations": solution.nlu,
            "wall": wall,
        },
        settings={"method": solver.__name__, "rtol": rtol, "atol": atol},
        dense=(lambda t: split(system, solution.sol(t))) if dense_output else None,
    )


def require_sound(system: VariationalSystem, t0: float, z0: np.ndarray) -> None:
    """Before integrating: what is wrong at the start has no remedy in smaller steps."""
    y0 = z0[: system.n]
    system.model.require_finite(t0, y0, y0, "y0")
    system.model.try_out(t0, y0)
    system(t0, z0)
    if system.not_finite is not None:
        raise ModelError(system.not_finite, t0, y0)
    system.rhs_calls = 0


def solve(
    system: VariationalSystem,
    t_span: tuple[float, float],
    z0: np.ndarray,
    method: str | type,
    progress: bool,
    **options: Any,
) -> tuple[Any, Any, float]:
    """SciPy's solution, with the class that stepped it and the seconds that it took."""
    integrate = extra("scipy.integrate")
    report = Progress(t_span[1], progress)
    solver = counting(solver_class(method, integrate), report)
    if takes_jacobian(solver):
        options["jac"] = system.jacobian
    begun = time.perf_counter()
    try:
        solution = integrate.solve_ivp(system, t_span, z0, method=solver, **options)
    finally:
        report.close()
    wall = time.perf_counter() - begun
    if not solution.success:
        raise gave_up(solver, system, solution.message)
    return solver, solution, wall


def gave_up(solver: Any, system: VariationalSystem, message: str) -> ModelError:
    """The solver's own words, how far it came, and what was not finite on the way."""
    t, z = solver.last
    why = f"; the last value that was no number: {system.not_finite}" if system.not_finite else ""
    return ModelError(
        f"{solver.__name__} gave up after {solver.steps} steps at t = {t:g}: {message}{why}",
        t,
        z[: system.n],
    )


def split(system: VariationalSystem, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """States (nt, n) and unscaled sensitivities (nt, n, k) from columns of z."""
    rows = z.T.reshape(-1, system.k + 1, system.n)
    return rows[:, 0], np.moveaxis(rows[:, 1:], 1, 2) / system.scales
