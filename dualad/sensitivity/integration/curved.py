"""From an integration of the first-order system to a result with second derivatives.

Where a time T of the result depends on the parameters, the state there is y(T(p), p), with

    y_i = s_i + f T_i,
    y_ij = h_ij + s_i' T_j + s_j' T_i + f' T_i T_j + f T_ij,

where ' is the derivative along the solution.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SensitivityError
from ..results.sensitivities import Sensitivities
from ..results.time_sensitivities import TimeSensitivities
from .assemble import moves_of_times, settings
from .events import EventTimes
from .initial_value import InitialValueProblem, Solved
from .lifted_events import TimeMoves
from .observe import Outputs
from .pushing import derivative, pushed
from .times import second_moments

if TYPE_CHECKING:
    from .second_order import Asked, FirstOrder

__all__ = ["Curved"]


class Curved:
    """Rows of a result with their first and second derivatives.

    Args:
        problem: of the states.
        first: the first-order system; solved: its integration.
        outputs: the outputs of the result.
    """

    def __init__(
        self, problem: InitialValueProblem, first: FirstOrder, solved: Solved, outputs: Outputs
    ):
        self.problem, self.first, self.solved, self.outputs = problem, first, solved, outputs
        self.n, self.k = first.n, first.k
        self.q: list[Any] = [np.float64(v) for v in problem.chosen.values()]

    def result(self, asked: Asked) -> TimeSensitivities:
        """The whole result."""
        solved, problem = self.solved, self.problem
        trajectory = solved.trajectory
        t = np.array(trajectory.t)
        dt, ddt = moves_of_times(solved, t), self.bends_of_times(t, asked)
        found = [self.row(*row) for row in zip(t, trajectory.z, dt, ddt, strict=True)]
        m, k = len(self.outputs.names), self.k
        events, log = self.events()
        return TimeSensitivities(
            t, np.reshape([r[0] for r in found], (t.size, m)),
            np.reshape([r[1] for r in found], (t.size, m, k)), self.outputs.names,
            problem.chosen, solved.stats(), settings(problem, solved),
            self.interpolant() if asked.keep else None,
            hessian=np.reshape([r[2] for r in found], (t.size, m, k, k)),
            dt=dt if dt.any() else None, events=events, event_log=log,
            integrals=self.integrals(events, asked), success=trajectory.success,
            message=trajectory.message,
        )  # fmt: skip

    # --- one row

    def state(
        self, t: float, z: np.ndarray, dt: np.ndarray, ddt: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All rows (n,) and their total derivatives (n, k) and (n, k, k)."""
        problem, n, k = self.problem, self.n, self.k
        rows, slopes = self.solved.split([z])
        y, scales = rows[0, :n], problem.scales
        s = rows[0, n:].reshape(k, n).T / scales
        h = np.moveaxis(slopes[0, n:].reshape(k, n, k), 0, 1) / scales[:, np.newaxis]
        h = 0.5 * (h + np.swapaxes(h, 1, 2))
        if not (dt.any() or ddt.any()):
            return y, s, h
        f = np.asarray(self.first.f(t, y, self.q), float)
        value, moves = pushed(
            self.first.f, t, y, self.q, dt=np.append(np.zeros(k), 1.0),
            dy=np.concatenate([s.T, f[np.newaxis]]), dq=np.eye(k + 1)[:, :k],
        )  # fmt: skip
        moves = np.asarray(derivative(value, moves, k + 1)).T
        mixed = moves[:, :k, np.newaxis] * dt
        h = h + mixed + np.swapaxes(mixed, 1, 2)
        h = h + np.multiply.outer(moves[:, k], np.outer(dt, dt)) + np.multiply.outer(f, ddt)
        return y, s + np.outer(f, dt), h

    def row(self, t: float, z: np.ndarray, dt: np.ndarray, ddt: np.ndarray) -> tuple[Any, ...]:
        """Outputs (m,), and their total derivatives (m, k) and (m, k, k)."""
        n = self.outputs.n
        y, s, h = (part[:n] for part in self.state(t, z, dt, ddt))
        values, slopes = self.outputs.at(t, y, s, dt)
        return values, slopes, self.outputs.second(t, y, s, h, dt, ddt)

    # --- times

    def bends_of_times(self, t: np.ndarray, asked: Asked) -> np.ndarray:
        """Second derivatives of the times of the result, (nt, k, k)."""
        out = np.zeros((t.size, self.k, self.k))
        ends = self.bends(asked.t_span)
        if self.problem.times is not None:
            return self.bends(asked.t_eval)[: t.size]
        if t.size:
            out[0] = ends[0]
            if self.solved.trajectory.success and t[-1] == self.problem.span.t[1]:
                out[-1] = ends[1]
        return out

    def bends(self, entries: Any) -> np.ndarray:
        return second_moments(entries, self.problem.model.parameters, self.problem.chosen)

    # --- events, integrals, interpolant

    def events(self) -> tuple[dict[str, EventTimes], list[Any]]:
        """The event times with their derivatives, and the log."""
        states, log = len(self.problem.model.states), self.solved.run.handler.firings
        short = [
            replace(
                e, y=e.y[:states], S=e.S[:states],
                y_after=e.y_after[:states], S_after=e.S_after[:states],
            )
            for e in log
        ]  # fmt: skip
        out = {}
        for name, event in self.problem.events:
            moves = TimeMoves(name, event, self.first)
            bends = [self.bend(moves, e) for e in log if e.name == name]
            out[name] = EventTimes(
                name, [e for e in short if e.name == name], states, self.problem.chosen, bends
            )
        return out, short

    def bend(self, moves: TimeMoves, firing: Any) -> np.ndarray:
        """The second derivatives of the time of one event, (k, k)."""
        value, slopes = pushed(
            moves.at, firing.t, firing.y, self.q, dt=firing.dt, dy=firing.S.T, dq=np.eye(self.k)
        )
        out = np.asarray(derivative(value, slopes, self.k)) / self.problem.scales
        return 0.5 * (out + out.T)

    def integrals(self, events: dict[str, EventTimes], asked: Asked) -> Sensitivities | None:
        """The integrals up to the end."""
        problem, n = self.problem, len(self.problem.model.states)
        if not problem.model.integrals:
            return None
        t, dt, z = self.solved.end()
        ddt = np.zeros((self.k, self.k))
        if self.solved.trajectory.success:
            stopped = "ended the integration" in self.solved.trajectory.message
            name = self.solved.run.handler.firings[-1].name if stopped else ""
            ddt = events[name].hessian[-1] if name else self.bends(asked.t_span)[1]  # type: ignore
        y, s, h = (part[n:] for part in self.state(t, z, dt, ddt))
        return Sensitivities(
            y, s, hessian=h, outputs=tuple(problem.model.integrals), parameters=problem.chosen
        )

    def interpolant(self) -> Callable[[np.ndarray], Any]:
        """Outputs and their derivatives of both orders, at any times of the span."""
        pieces = self.solved.trajectory.pieces
        sign = 1.0 if self.problem.span.t[1] > self.problem.span.t[0] else -1.0
        starts = [sign * piece.t0 for piece in pieces]
        still, m = (np.zeros(self.k), np.zeros((self.k, self.k))), len(self.outputs.names)

        def at(times: np.ndarray) -> tuple[np.ndarray, ...]:
            low, high = sorted((pieces[0].t0, pieces[-1].t1))
            if times.size and not (low <= times.min() and times.max() <= high):
                raise SensitivityError(
                    f"the times must lie in the span, from {low:g} to {high:g}: {times}"
                )
            found = [
                pieces[max(0, bisect.bisect_right(starts, sign * t) - 1)].z(t)
                for t in times.tolist()
            ]
            rows = [self.row(t, z, *still) for t, z in zip(times.tolist(), found, strict=True)]
            shapes = ((-1, m), (-1, m, self.k), (-1, m, self.k, self.k))
            return tuple(
                np.array([row[i] for row in rows]).reshape(shape) for i, shape in enumerate(shapes)
            )

        return at
