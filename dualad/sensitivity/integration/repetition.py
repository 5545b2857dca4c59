"""The same problem without sensitivities: to compare the cost, and to check the derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..results.result import TimeSensitivities
from .assemble import observe
from .complex_steps import ComplexRun
from .initial_value import InitialValueProblem
from .model import Model
from .observe import Outputs
from .question import initial_state, output_times, span
from .times import Moments

__all__ = ["add_comparison", "repetition"]


def add_comparison(result: TimeSensitivities, problem: InitialValueProblem) -> None:
    """What the sensitivities cost, as ratios to the integration of the states alone."""
    alone = problem.without_sensitivities().solve(watch=False).stats()
    result.stats["alone"] = alone
    for name in ("wall", "steps", "rhs"):
        result.stats[f"{name}_ratio"] = result.stats[name] / max(alone[name], 1e-9)


def repetition(
    problem: InitialValueProblem,
    derived: Any,
    selected: Any,
    result: TimeSensitivities,
    t_span: Any,
    t_eval: Any,
) -> Callable[[np.ndarray], np.ndarray] | None:
    """The values again, for other values of the parameters, by an integration without duals."""
    if t_eval is None and (problem.events or not result.success):
        return None

    every = (*problem.model.states, *derived)
    order_of = [every.index(name) for name in result.outputs]

    def again(vector: np.ndarray) -> np.ndarray:
        if np.iscomplexobj(vector):
            return ComplexRun(problem, derived, order_of, result.t, t_span, t_eval)(vector)
        moved = problem.chosen.moved(np.asarray(vector, float).tolist())
        parameters = problem.model.parameters.replace(**dict(moved))
        none = parameters.subset([])
        ends = span(t_span, parameters, none)
        order: Any = slice(None)
        if t_eval is None:
            times: Any = np.array([ends.t[0], *result.t[1:-1], ends.t[1]])
            if ends.moving[1]:
                # The end may have moved before others of the times: integrate up to the last.
                sign = np.sign(ends.t[1] - ends.t[0])
                order = np.argsort(np.argsort(sign * times))
                times = sign * np.sort(sign * times)
                ends = Moments(times[[0, -1]], ends.dt, ends.moving)
        else:
            times = t_eval
        start, _ = initial_state(problem.y0, parameters, problem.model.states)
        model = Model(problem.model.rhs, parameters, problem.model.states, problem.model.integrals)
        alone = problem.without_sensitivities(
            model=model, start=start, y0=start, span=ends,
            times=output_times(times, ends, parameters, none),
            rtol=max(problem.rtol * 1e-2, 1e-11), atol=problem.atol * 1e-2,
        ).solve(watch=False)  # fmt: skip
        outputs = Outputs(alone.system, derived, selected)
        rows, slopes = alone.split(alone.trajectory.z)
        still = np.zeros(0)
        return np.array(
            [
                observe(alone, outputs, t, y, s, still)[0]
                for t, y, s in zip(alone.trajectory.t, rows, slopes, strict=True)
            ]
        )[order]

    return again
