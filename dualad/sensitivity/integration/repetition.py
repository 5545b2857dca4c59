"""The same problem without sensitivities: to compare the cost, and to check the derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..results.time_sensitivities import TimeSensitivities
from .assemble import observe
from .complex_steps import ComplexRun
from .initial_value import InitialValueProblem, Solved
from .model import Model
from .observe import Outputs
from .question import initial_state, output_times, span
from .times import Moments, moments

__all__ = ["add_comparison", "make_repeatable"]


def add_comparison(result: TimeSensitivities, problem: InitialValueProblem) -> None:
    """What the sensitivities cost, as ratios to the integration of the states alone."""
    alone = problem.without_sensitivities().solve(watch=False).stats()
    result.stats["alone"] = alone
    for name in ("wall", "steps", "rhs"):
        result.stats[f"{name}_ratio"] = result.stats[name] / max(alone[name], 1e-9)


def make_repeatable(
    problem: InitialValueProblem,
    derived: Any,
    selected: Any,
    result: TimeSensitivities,
    t_span: Any,
    t_eval: Any,
) -> None:
    """Let a result, its integrals and its events compute their values again."""
    if not result.success:
        return
    again = Repetition(problem, derived, selected, result, t_span, t_eval)
    if t_eval is not None or not problem.events:
        result.again = again
    if result.integrals is not None:
        result.integrals.again = again.integrals
        result.integrals.settings = result.settings
    for name, times in result.events.items():
        times.again = EventRepetition(again, name)
        times.settings = result.settings


class Repetition:
    """The values for other values of the parameters, by an integration without duals."""

    def __init__(
        self,
        problem: InitialValueProblem,
        derived: Any,
        selected: Any,
        result: TimeSensitivities,
        t_span: Any,
        t_eval: Any,
    ):
        self.problem, self.derived, self.selected = problem, derived, selected
        self.t, self.t_span, self.t_eval = result.t, t_span, t_eval
        every = (*problem.model.states, *derived)
        self.order = [every.index(name) for name in result.outputs]

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """The outputs, (nt, m)."""
        if np.iscomplexobj(vector):
            return self.complex_run()(vector)
        alone, order = self.solved(vector, True)
        outputs = Outputs(alone.system, self.derived, self.selected)
        rows, slopes = alone.split(alone.trajectory.z)
        still = np.zeros(0)
        return np.array(
            [
                observe(alone, outputs, t, y, s, still)[0]
                for t, y, s in zip(alone.trajectory.t, rows, slopes, strict=True)
            ]
        )[order[order < len(rows)]]

    def integrals(self, vector: np.ndarray) -> np.ndarray:
        """The integrals up to the end."""
        n = len(self.problem.model.states)
        if np.iscomplexobj(vector):
            return self.complex_run().end(vector)[n:]
        return self.solved(vector, False)[0].trajectory.last[1][n:]

    def times_of(self, name: str, vector: np.ndarray) -> np.ndarray:
        """The times of an event."""
        if np.iscomplexobj(vector):
            self.complex_run()
        log = self.solved(vector, False)[0].run.handler.firings
        return np.array([e.t for e in log if e.name == name])

    def complex_run(self) -> ComplexRun:
        return ComplexRun(self.problem, self.derived, self.order, self.t, self.t_span, self.t_eval)

    def solved(self, vector: np.ndarray, at_times: bool) -> tuple[Solved, np.ndarray]:
        """The integration, and the order of its rows in the result."""
        problem = self.problem
        moved = problem.chosen.moved(np.asarray(vector, float).tolist())
        parameters = problem.model.parameters.replace(**dict(moved))
        none = parameters.subset([])
        ends = span(self.t_span, parameters, none)
        order, times = np.zeros(0, int), None
        if at_times:
            times = np.array([ends.t[0], *self.t[1:-1], ends.t[1]])
            if self.t_eval is not None:
                times = moments(self.t_eval, parameters, none, "t_eval").t
            # Times that move may pass each other, or the end: integrate up to the last.
            sign = np.sign(ends.t[1] - ends.t[0])
            order = np.argsort(np.argsort(sign * times, kind="stable"), kind="stable")
            times = sign * np.sort(sign * times)
            if sign * (times[-1] - ends.t[1]) > 0:
                ends = Moments(np.array([ends.t[0], times[-1]]), ends.dt, ends.moving)
        start, _ = initial_state(problem.y0, parameters, problem.model.states)
        model = Model(problem.model.rhs, parameters, problem.model.states, problem.model.integrals)
        alone = problem.without_sensitivities(
            model=model, start=start, y0=start, span=ends,
            times=None if times is None else output_times(times, ends, parameters, none),
            rtol=max(problem.rtol * 1e-2, 1e-11), atol=problem.atol * 1e-2,
        ).solve(watch=False)  # fmt: skip
        return alone, order


class EventRepetition:
    """The times of one event again."""

    def __init__(self, repetition: Repetition, name: str):
        self.repetition, self.name = repetition, name

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """The times, (m,)."""
        return self.repetition.times_of(self.name, vector)
