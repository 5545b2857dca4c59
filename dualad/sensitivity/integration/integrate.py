"""The integration of states and sensitivities: step by step, through events, to the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .crossings import Crossings
from .handling import Handler, Outcome
from .step import Interpolant, Step
from .stepper import Method
from .switches import Switches
from .variational import VariationalSystem

__all__ = ["Piece", "Trajectory", "integrate"]


@dataclass
class Piece:
    """An interpolant between two times."""

    t0: float
    t1: float
    z: Callable[[Any], np.ndarray]


@dataclass
class Trajectory:
    """What an integration gave.

    Attributes:
        t, z: the times of the result, and z there.
        last: the last good time and z.
        pieces: the interpolants, where they are kept.
        success, message: whether the end was reached, or a terminal event; what was said.
    """

    t: list[float] = field(default_factory=list)
    z: list[np.ndarray] = field(default_factory=list)
    last: tuple[float, np.ndarray] = (0.0, np.zeros(0))
    pieces: list[Piece] = field(default_factory=list)
    success: bool = True
    message: str = "the end of the span was reached"


class Integration:
    """One integration from t0 to t1; see `integrate`."""

    def __init__(
        self,
        system: VariationalSystem,
        method: Method,
        span: tuple[float, float],
        times: np.ndarray | None,
        crossings: Crossings,
        switches: Switches | None,
        keep: bool,
        max_steps: int,
    ):
        self.system, self.method, self.span, self.times = system, method, span, times
        self.crossings, self.switches = crossings, switches
        self.handler = Handler(system, method, crossings, span)
        self.keep, self.max_steps = keep, max_steps
        self.out = Trajectory()
        self.next = 0
        self.forward = span[1] > span[0]

    def run(self, z: np.ndarray) -> Trajectory:
        """From z at t0 to the end."""
        t, t1 = self.span
        first = self.method.first_step
        self.out.last = (t, z)
        self.begin(t, z)
        if self.times is None:
            self.emit(t, z)
        while True:
            solver = self.method.start(t, z, t1, first=first)
            outcome = self.leg(solver)
            if outcome is None or outcome.stop:
                break
            t, z = self.restart(outcome)
            first = None
            if not self.before(t, t1):
                break
        return self.out

    def begin(self, t: float, z: np.ndarray) -> None:
        if self.crossings.events:
            self.crossings.begin(t, z)
        if self.switches is not None:
            self.switches.begin(t, z)

    def leg(self, solver: Any) -> Outcome | None:
        """Steps up to the next event that interrupts; None at the end, or at a failure."""
        while solver.status == "running":
            t0, z0 = solver.t, solver.y
            if self.method.steps >= self.max_steps:
                self.require_passage(t0, z0)
                self.fail(f"max_steps = {self.max_steps} steps were taken")
                return None
            message = solver.step()
            if solver.status == "failed":
                self.require_passage(t0, z0)
                self.fail(str(message))
                return None
            if solver.t == t0:
                self.fail(f"a step changes t = {t0:g} no more: a singularity may be there")
                return None
            step = Step(t0, solver.t, z0, Interpolant(solver))
            outcome = self.through(step, solver.y)
            if outcome is not None:
                return outcome
            if self.switches is not None and self.switches.chatters:
                self.fail("it jumps again and again in next to no time")
                return None
        return None

    def require_passage(self, t: float, z: np.ndarray) -> None:
        """An error that says so where no step is taken because an event holds the solution."""
        for i in range(len(self.crossings.events)):
            if self.crossings.active(i):
                self.crossings.require_passage(i, t, z[: self.system.n])

    def fail(self, message: str) -> None:
        self.out.success, self.out.message = False, message

    def through(self, step: Step, z1: np.ndarray) -> Outcome | None:
        """Take one step into the result; an event that interrupts it ends it there."""
        after = step.t0
        while self.crossings.events:
            found = self.crossings.first(step, after)
            if found is None:
                break
            outcome = self.handler.handle(step, *found)
            self.look(step, outcome.t)
            if outcome.again or outcome.stop:
                self.close(step, outcome)
                return outcome
            after = outcome.t
        self.look(step, step.t1)
        self.piece(step, step.t1)
        self.outputs(step, step.t1, z1)
        self.out.last = (step.t1, z1)
        return None

    def look(self, step: Step, end: float) -> None:
        if self.switches is not None:
            self.switches.after(step, end, [e.t for e in self.handler.firings])

    def close(self, step: Step, outcome: Outcome) -> None:
        """The part of a step before the event that interrupts it, and both sides of the event."""
        self.piece(step, outcome.t)
        if self.times is None:
            self.emit(outcome.t, outcome.before)
            if outcome.again:
                self.emit(outcome.t, outcome.after)
        else:
            self.outputs(step, outcome.t, None)
            self.outputs_at(outcome.t, outcome.after)
        self.out.last = (outcome.t, outcome.after)
        if outcome.stop:
            name = self.handler.firings[-1].name
            self.out.message = f"event {name!r} ended the integration at t = {outcome.t:.9g}"

    def restart(self, outcome: Outcome) -> tuple[float, np.ndarray]:
        """Where to go on after an event."""
        t, z = outcome.t, outcome.after
        if outcome.nudge:
            # A moment later the right-hand side is surely on its new side.
            width = 1e-9 * abs(self.span[1] - self.span[0]) + 64 * np.spacing(abs(t))
            width = min(width, abs(self.span[1] - t)) * (1 if self.forward else -1)
            slope = self.system(t + width, z + width * self.system(t + width, z))
            t, z = t + width, z + width * slope
            if self.times is not None:
                self.outputs_at(t, z)
        if outcome.again:
            self.begin_after(t, z)
        return t, z

    def begin_after(self, t: float, z: np.ndarray) -> None:
        self.crossings.begin(t, z)
        if self.switches is not None and self.switches.last is not None:
            self.switches.begin(t, z)

    # --- the result

    def before(self, a: float, b: float) -> bool:
        return a < b if self.forward else a > b

    def emit(self, t: float, z: np.ndarray) -> None:
        self.out.t.append(float(t))
        self.out.z.append(np.array(z))

    def piece(self, step: Step, end: float) -> None:
        if self.keep:
            self.out.pieces.append(Piece(step.t0, end, step.z.made()))

    def outputs(self, step: Step, end: float, z1: np.ndarray | None) -> None:
        """The times of the result in a step; z1 is z at its end, None where an event ended it."""
        if self.times is None:
            assert z1 is not None
            self.emit(end, z1)
            return
        while self.next < self.times.size:
            t = self.times[self.next]
            inside = self.before(t, end) or (t == end and z1 is not None)
            if not inside:
                break
            self.emit(t, z1 if t == end and z1 is not None else step.z(t))
            self.next += 1

    def outputs_at(self, t: float, z: np.ndarray) -> None:
        """Times of the result that are this instant but for rounding."""
        assert self.times is not None
        while self.next < self.times.size:
            close = abs(self.times[self.next] - t) <= 8 * np.spacing(abs(t))
            if not (close or self.before(self.times[self.next], t)):
                break
            self.emit(self.times[self.next], z)
            self.next += 1


def integrate(*args: Any, **kwargs: Any) -> tuple[Trajectory, Integration]:
    """Integrate; gives the trajectory, and the integration with its events and switches.

    The arguments are those of `Integration`, and z, the joint state at the start.
    """
    z = kwargs.pop("z")
    run = Integration(*args, **kwargs)
    return run.run(z), run
