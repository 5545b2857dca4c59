"""Forward sensitivities of an initial value problem: SciPy's solver, our derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import SensitivityError, unknown_name
from ..extras import extra
from ..given import is_among, members
from ..notices import warn
from ..parameters.parameters import Parameters
from ..parameters.unit_text import units_by_name
from ..results.time_sensitivities import TimeSensitivities
from .algebraic import Algebraic, ConsistentStart, consistent_events
from .assemble import first_order
from .events import named
from .initial_value import InitialValueProblem
from .mass import with_mass
from .model import Model, listed
from .question import (
    absolute_tolerance,
    functions_by_name,
    initial_state,
    output_times,
    relative_tolerance,
    scales,
    sensitivity_atol,
    sensitivity_rtol,
    span,
)
from .repetition import add_comparison, make_repeatable
from .second_order import Asked, second_order
from .stepper import solver_class
from .times import Moments

__all__ = ["ode"]


def ode(
    rhs: Callable[..., Any],
    y0: Any,
    params: Mapping[str, Any],
    t_span: Any,
    *,
    t_eval: Any = None,
    wrt: Iterable[str] | None = None,
    states: Sequence[str] | None = None,
    outputs: Mapping[str, Callable[..., Any]] | Sequence[str] | None = None,
    integrals: Mapping[str, Callable[..., Any]] | None = None,
    events: Any = (),
    order: int = 1,
    method: str | type = "Radau",
    rtol: float = 1e-6,
    atol: Any = 1e-9,
    sens_rtol: Any = None,
    sens_atol: Any = None,
    error_control: str = "full",
    pscale: Mapping[str, float] | None = None,
    corrector: str | None = None,
    jac: Any = "ad",
    jac_sparsity: Any = None,
    mass: Any = None,
    compile: bool | str = "auto",
    dense_output: bool = False,
    max_step: float = np.inf,
    first_step: float | None = None,
    max_steps: int = 10**6,
    compare: bool = False,
    progress: bool = False,
    on_failure: str = "raise",
    units: Mapping[str, str] | str | None = None,
    time_unit: str | None = None,
) -> TimeSensitivities:
    """The solution of y' = rhs(t, y, p) and its derivatives dy/dp, integrated together.

    States and sensitivities share the steps and the error test, so that both are as accurate as
    asked. Derivatives come from dual numbers: rhs stays plain NumPy, and is never differenced.

    Args:
        rhs: rhs(t, y, p) gives dy/dt of shape (n,), as an array, a list, or a mapping of the names
            of the states; p.k1 or p["k1"] is a parameter.
        y0: the state at the start: an array, a mapping of names to numbers, or a function y0(p).
        params: all parameters, by name: numbers or `Parameter` objects.
        t_span: the first and the last time: numbers, `Time` objects, or functions of p.
        t_eval: the times of the result in order, or a function of p that gives them; a time may
            come more than once. Default: where the solver stepped. Where a time depends on
            parameters, so does the state there: S is the total derivative, f(t) dt/dp included.
        wrt: the parameters to differentiate by; default all that are not fixed. The result does
            not depend on which others are asked for, but for the steps that the solver chooses.
        states: names of the states; default those of y0, or y1, y2, ...
        outputs: name -> g(t, y, p): more outputs beside the states; or a list of the names of
            states to keep.
        integrals: name -> g(t, y, p): integrals over the span, in the error test; the result has
            them, with their derivatives, as `integrals`.
        events: `Event` objects; the result has their times, with derivatives, as `events[name]`.
        order: 2 adds second derivatives, `hessian`, of outputs, integrals and event times. That
            rhs itself jumps at an event is for order 1.
        method: a name that `scipy.integrate.solve_ivp` knows, or an OdeSolver class.
        rtol, atol: tolerances of the states; atol may differ from state to state, as an array or
            by name.
        sens_rtol, sens_atol: tolerances of the sensitivities, one number or one by parameter;
            default rtol, and atol / pscale_j for the sensitivity by p_j.
        error_control: "full", or "states": sensitivities are left out of the error test.
        pscale: the scale of a parameter, by name; default |p_j|, or 1 where p_j is 0.
        corrector: how implicit methods solve their equations: "staggered" solves for the states
            first and then for each sensitivity, by one factorisation of size n; "simultaneous"
            for all at once, by one of size n (1 + k). Default: "staggered" for Radau and BDF with
            their Jacobian by dual numbers or by `jac`, "simultaneous" for others.
        jac: "ad"; a function jac(t, y, p) for df/dy, dense or sparse, which is checked at the
            start and is for Newton's method alone; or None: SciPy differences the right-hand side
            of the joint system.
        jac_sparsity: the entries of df/dy that may be other than zero, as a matrix; "auto" finds
            them by running rhs on index sets. The linear algebra is sparse then. Default: "auto"
            for a hundred states and more, if few entries are found.
        mass: a constant matrix M, or M(p), for M y' = rhs. Where it is singular, some equations
            are algebraic: a system of index 1. The start and the state after an update are then
            moved to the nearest consistent one with the same M y.
        compile: whether the passes of rhs that carry tangents are traced once and run as programs
            (`dualad.compile`, whose rules rhs has to keep: it depends on its arguments). It costs
            some milliseconds, and then makes them several times faster. "auto" does so in long
            integrations, of a rhs that can be seen to keep the rules: it reads no list, dict or
            other object that may change inside, is a plain function, and asks for no types.
        dense_output: keep the interpolant, for `TimeSensitivities.at`.
        max_step, first_step: the longest and the first step.
        max_steps: after so many steps the integration fails.
        compare: integrate without sensitivities too, and say in `stats` what they cost.
        progress: show on a terminal how far a long run has come.
        on_failure: "raise", or "partial": a result of what there is, with `success` False.
        units: of states, outputs and integrals, by name, or one for all.
        time_unit: the unit of t.

    Raises:
        ModelError: rhs fails, has a wrong shape, is not finite, or the solver gives up.
        ParameterError: a parameter has no usable value, a name is unknown or comes twice.
        EventError: an event has no time, or its time no derivative.
        MissingExtraError: SciPy is not installed.

    Warns:
        SensitivityWarning: rhs has a kink or a jump under the solution; a parameter does not enter
            the model; the scale of a parameter is unknown, because it is 0.

    >>> import numpy as np
    >>> def rhs(t, y, p):
    ...     return np.array([-p.k * y[0]])
    >>> result = ode(rhs, [1.0], {"k": 0.5}, (0.0, 2.0), t_eval=[2.0])
    >>> bool(abs(result.S[0, 0, 0] + 2.0 * np.exp(-1.0)) < 1e-6)    # dy/dk = -t exp(-k t)
    True
    """
    parameters = params if isinstance(params, Parameters) else Parameters(params)
    chosen = parameters.chosen(wrt)
    base = solver_class(method, extra("scipy.integrate"))
    start, names = initial_state(y0, parameters, states)
    selected, derived = wanted_outputs(outputs, names)
    rates = functions_by_name("integrals", integrals, (*names, *derived))
    units = units_by_name(units, (*names, *derived, *rates), what="state, output or integral")
    ends = span(t_span, parameters, chosen)
    times = None if t_eval is None else output_times(t_eval, ends, parameters, chosen)
    require_choice("error_control", error_control, ("full", "states"))
    require_choice("on_failure", on_failure, ("raise", "partial"))
    require_choice("compile", compile, (False, True, "auto"))
    require_jac(jac, jac_sparsity)
    scale = scales(chosen, pscale)
    rtol = relative_tolerance(rtol)
    tolerance = absolute_tolerance(atol, names, tuple(rates), start)
    rhs = listed(rhs, names, float(ends.t[0]), start, parameters)
    slopes, happening = with_mass(rhs, mass, parameters, names), named(events)
    if isinstance(slopes, Algebraic):
        if callable(jac):
            raise SensitivityError(
                "jac does not go with a singular mass matrix, whose system has another Jacobian: "
                "leave it out, dual numbers find it"
            )
        y0 = ConsistentStart(slopes, y0, t_span[0])
        start, happening = (
            initial_state(y0, parameters, names)[0],
            consistent_events(slopes, happening),
        )
    written = (rhs, mass) if callable(mass) else (rhs,)
    model = Model(slopes, parameters, names, rates, written)
    sensitivity_atol(sens_atol, tolerance, chosen, scale, model.rows)
    problem = InitialValueProblem(
        model, y0 if callable(y0) else start, start, ends, times, chosen, scale, rtol, tolerance,
        sensitivity_rtol(sens_rtol, rtol, chosen), sens_atol, base, happening,
        {
            "error_control": error_control, "corrector": corrector, "jac": jac,
            "jac_sparsity": jac_sparsity, "max_step": require_positive("max_step", max_step),
            "first_step": first_step_in(ends, first_step),
            "max_steps": require_positive("max_steps", max_steps), "on_failure": on_failure,
            "compile": compile,
        },
    )  # fmt: skip
    require_choice("order", order, (1, 2))
    if order == 2:
        asked = Asked(t_span, t_eval, dense_output, progress)
        result = second_order(problem, derived, selected, asked)
    else:
        result = first_order(problem, derived, selected, dense_output, progress)
    if compare:
        add_comparison(result, problem)
    with_units(result, units, time_unit)
    make_repeatable(problem, derived, selected, result, t_span, t_eval)
    for text in result.warnings:
        warn(text, stacklevel=2)
    return result


def wanted_outputs(
    outputs: Any, states: tuple[str, ...]
) -> tuple[tuple[str, ...] | None, dict[str, Callable[..., Any]]]:
    """The names to keep, None for all, and the derived outputs."""
    if outputs is None or isinstance(outputs, Mapping):
        return None, functions_by_name("outputs", outputs, states)
    if callable(outputs):
        raise SensitivityError(
            f"outputs must be a mapping of names to functions of (t, y, p), or names of states, "
            f"got a function: {{'name': {getattr(outputs, '__name__', 'g')}}} gives it a name"
        )
    of = "names of states, or a mapping of names to functions of (t, y, p)"
    wanted = (outputs,) if isinstance(outputs, str) else tuple(members("outputs", outputs, of))
    for name in wanted:
        if not is_among(name, states):
            raise SensitivityError(unknown_name("output", name, states))
        if wanted.count(name) > 1:
            raise SensitivityError(f"the output {name!r} is asked for twice")
    if not wanted:
        raise SensitivityError("outputs is empty: name a state, or leave it out for all")
    return wanted, {}


def with_units(result: TimeSensitivities, given: Mapping[str, str], time_unit: str | None) -> None:
    """Give each output and integral its unit."""
    result.time_unit = time_unit
    result.output_units = {n: u for n, u in given.items() if n in result.outputs}
    if result.integrals is not None:
        names = result.integrals.outputs
        result.integrals.output_units = {n: u for n, u in given.items() if n in names}
    if time_unit:
        for times in result.events.values():
            times.output_units = dict.fromkeys(times.outputs, time_unit)


def require_choice(what: str, value: Any, choices: Sequence[Any]) -> None:
    if value not in choices:
        known = " or ".join(map(repr, choices))
        raise SensitivityError(f"{what} must be {known}, got {value!r}")


def require_positive(what: str, value: Any) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not value > 0:
        raise SensitivityError(f"{what} must be positive, got {value!r}")
    return float(value)


def first_step_in(ends: Moments, value: Any) -> float | None:
    if value is None:
        return None
    length = abs(float(ends.t[1] - ends.t[0]))
    if require_positive("first_step", value) > length:
        raise SensitivityError(f"first_step is {value:g}, longer than t_span, {length:g}")
    return float(value)


def require_jac(jac: Any, sparsity: Any) -> None:
    if not (jac is None or jac == "ad" or callable(jac)):
        raise SensitivityError(
            f"jac must be 'ad', None or a function of (t, y, p) that gives df/dy, got {jac!r}"
        )
    if isinstance(sparsity, str) and sparsity != "auto":
        raise SensitivityError(f"jac_sparsity must be a matrix or 'auto', got {sparsity!r}")
    if jac is None and sparsity is not None:
        raise SensitivityError("jac_sparsity goes with jac='ad', not with a differenced Jacobian")
