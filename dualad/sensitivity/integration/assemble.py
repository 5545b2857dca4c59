"""From an integration to the result: outputs, events and integrals with their derivatives."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import SensitivityError
from ..results.sensitivities import Sensitivities
from ..results.time_sensitivities import TimeSensitivities
from .events import EventTimes
from .initial_value import InitialValueProblem, Solved
from .observe import Outputs

__all__ = ["absent", "first_order", "observe", "settings"]


def first_order(
    problem: InitialValueProblem, derived: Any, selected: Any, keep: bool, progress: bool
) -> TimeSensitivities:
    """Integrate, and put the result together."""
    solved = problem.solve(keep=keep, progress=progress)
    system, n = solved.system, len(problem.model.states)
    outputs = Outputs(system, derived, selected)
    t = np.array(solved.trajectory.t)
    rows, slopes = solved.split(solved.trajectory.z)
    dt = moves_of_times(solved, t)
    observed = [observe(solved, outputs, *row) for row in zip(t, rows, slopes, dt, strict=True)]
    y = np.array([v for v, _ in observed]).reshape(t.size, len(outputs.names))
    s = np.array([d for _, d in observed]).reshape(t.size, len(outputs.names), system.k)
    firings = solved.run.handler.firings
    by_name = {
        name: EventTimes(name, [e for e in firings if e.name == name], n, problem.chosen)
        for name, _ in problem.events
    }
    integrals = totals(solved)
    notes = [] if solved.run.switches is None else solved.run.switches.warnings()
    traces = [s, solved.split([solved.trajectory.last[1]])[1], *(e.dt for e in by_name.values())]
    notes += absent(solved.unused(traces), notes)
    if not solved.trajectory.success:
        notes.append(solved.trajectory.message)
    return TimeSensitivities(
        t, y, s, outputs.names, problem.chosen, solved.stats(), settings(problem, solved),
        interpolant(solved, outputs) if keep else None, warnings=notes,
        dt=dt if dt.any() else None, events=by_name, event_log=firings, integrals=integrals,
        success=solved.trajectory.success, message=solved.trajectory.message,
    )  # fmt: skip


def absent(names: list[str], notes: list[str]) -> list[str]:
    """A sentence for each parameter without any effect; notes are those of jumps."""
    jumps = any("jumps" in text for text in notes)
    how = "enters at most by the jumps" if jumps else "does not enter the model"
    return [f"parameter {name!r} {how}: its sensitivities are exactly 0" for name in names]


def settings(problem: InitialValueProblem, solved: Solved) -> dict[str, Any]:
    """How the result was computed."""
    out = {
        "method": solved.method.name,
        "rtol": problem.rtol,
        "atol": float(problem.atol[0]) if not np.ptp(problem.atol) else problem.atol.tolist(),
        "error_control": problem.option("error_control"),
        "noise": max(problem.rtol, *problem.sens_rtol.tolist()),
    }
    if solved.method.corrector is not None:
        out["corrector"] = solved.method.corrector
        out["sparse"] = solved.system.sparse
    return out


def moves_of_times(solved: Solved, t: np.ndarray) -> np.ndarray:
    """dt/dp of the times of the result, shape (nt, k)."""
    problem = solved.problem
    if problem.times is not None:
        return problem.times.dt[: t.size]
    out = np.zeros((t.size, solved.system.k))
    if t.size:
        out[0] = problem.span.dt[0]
        if solved.trajectory.success and t[-1] == problem.span.t[1]:
            out[-1] = problem.span.dt[1]
    return out


def observe(
    solved: Solved, outputs: Outputs, t: float, row: np.ndarray, slope: np.ndarray, dt: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Outputs at one time, and their total derivatives."""
    n = outputs.n
    slope = slope[:n]
    if dt.any():
        slope = slope + np.outer(solved.system.flow(t, row)[:n], dt)
    return outputs.at(t, row[:n], slope, dt)


def totals(solved: Solved) -> Sensitivities | None:
    """The integrals up to the end, and their total derivatives."""
    problem, n = solved.problem, len(solved.problem.model.states)
    if not problem.model.integrals:
        return None
    t, dt, z = solved.end()
    rows, slopes = solved.split([z])
    total = slopes[0, n:]
    if dt.any():
        total = total + np.outer(solved.system.flow(t, rows[0])[n:], dt)
    return Sensitivities(
        rows[0, n:], total, outputs=tuple(problem.model.integrals), parameters=problem.chosen
    )


def interpolant(solved: Solved, outputs: Outputs) -> Callable[[np.ndarray], Any]:
    """The outputs and their derivatives at any times of the span."""
    pieces = solved.trajectory.pieces
    sign = 1.0 if solved.problem.span.t[1] > solved.problem.span.t[0] else -1.0
    starts = [sign * piece.t0 for piece in pieces]
    still = np.zeros(solved.system.k)

    def at(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = sorted((pieces[0].t0, pieces[-1].t1))
        if times.size and not (low <= times.min() and times.max() <= high):
            raise SensitivityError(
                f"the times must lie in the span, from {low:g} to {high:g}: {times}"
            )
        found = [max(0, bisect.bisect_right(starts, sign * t) - 1) for t in times.tolist()]
        z = [pieces[i].z(t) for i, t in zip(found, times.tolist(), strict=True)]
        rows, slopes = solved.split(z)
        seen = [
            observe(solved, outputs, t, y, s, still)
            for t, y, s in zip(times.tolist(), rows, slopes, strict=True)
        ]
        m = len(outputs.names)
        return (
            np.array([v for v, _ in seen]).reshape(-1, m),
            np.array([d for _, d in seen]).reshape(-1, m, solved.system.k),
        )

    return at
