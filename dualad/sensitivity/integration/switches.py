"""Kinks and jumps of a right-hand side: found by noting which way each decision went.

The right-hand side is run once more a step on arrays that note its decisions; where two steps
differ, something switched between them. What time alone decides, at a moment that neither states
nor parameters move, contributes nothing to any derivative, and is not mentioned.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..parameters.parameters import ModelParameters
from .decisions import Decision, Notes, noting
from .pushing import derivative, pushed
from .step import Step
from .variational import VariationalSystem

__all__ = ["Switch", "Switches"]

#: How many switches are located; a model that switches all the time would cost too much.
LOCATED = 20
#: So many in next to no time, and there would be no end of them.
CHATTER = 64
#: More jumps than these may be one at which the solution is held.
MANY = 4
#: What holds of the derivatives there, by their order.
AT_A_KINK = {
    1: "The sensitivities are right beside it; at the kink itself they are one-sided",
    2: "First derivatives are right beside it; the second lack what the time of the kink "
    "contributes: declare it, events=[Event(g)], with g(t, y, p) zero there",
}


#: How far states and parameters are moved to see whether a switch moves with them, relatively.
NUDGE = 1e-6


@dataclass(frozen=True)
class Switch:
    """A time at which a decision changed.

    Attributes:
        t: when.
        decision: what was decided, after it.
        before, after: the slopes of the states on either side.
        jump: whether the slopes differ; else they have a kink.
    """

    t: float
    decision: Decision
    before: np.ndarray
    after: np.ndarray
    jump: bool


class Switches:
    """Watches the decisions of a right-hand side along the solution.

    Args:
        system: states and sensitivities.
        span: the first and the last time.
        atol: the tolerance of the n rows.
    """

    def __init__(self, system: VariationalSystem, span: tuple[float, float], atol: np.ndarray):
        self.system, self.model, self.span, self.atol = system, system.model, span, atol
        self.found: list[Switch] = []
        self.more = 0
        #: when the latest decisions changed
        self.latest: deque[float] = deque(maxlen=CHATTER)
        self.last: list[Decision] | None = None
        #: the places in a run of the decisions that are known to be those of time alone
        self.timed: set[int] = set()
        code = getattr(self.model.rhs, "__code__", None)
        self.source = getattr(code, "co_filename", None)

    def begin(self, t: float, z: np.ndarray) -> None:
        """The decisions at the start; a model that makes none is not watched any more."""
        self.last = self.decisions(t, z) or None

    def decisions(
        self, t: float, z: np.ndarray, source: str | None = None, moved: Any = ()
    ) -> list[Decision]:
        """What is decided at (t, z), where some parameters are moved to other values.

        It is nothing where the model does not run on such arrays.
        """
        notes = Notes(source)
        model, n = self.model, len(self.model.states)
        values = {**model.fixed, **dict(moved)}
        p = ModelParameters({k: noting(np.float64(v), notes) for k, v in values.items()})
        y, moment = noting(np.array(z[:n]), notes), noting(np.float64(t), notes)
        try:
            with np.errstate(all="ignore"):
                for f in (model.rhs, *model.integrals.values()):
                    f(moment, y, p)
        except Exception:
            return []
        return notes.decisions

    def after(self, step: Step, end: float, declared: list[float]) -> None:
        """Compare the end of a step (or the event in it) with its beginning."""
        if self.last is None:
            return
        z = step.z(end)
        now = self.decisions(end, z)
        if (
            now != self.last
            and self.last
            and now
            and not self.timed.issuperset(changed(self.last, now))
        ):
            self.locate(step, end, declared)
        self.last = now or self.last

    @property
    def chatters(self) -> bool:
        """Whether the latest jumps lie so close that there would be no end of them."""
        if len(self.latest) < CHATTER or not any(s.jump for s in self.found):
            return False
        return abs(self.latest[-1] - self.latest[0]) <= 1e-5 * abs(self.span[1] - self.span[0])

    def locate(self, step: Step, end: float, declared: list[float]) -> None:
        self.latest.append(end)
        if len(self.found) >= LOCATED:
            self.more += 1
            return
        low, high = step.t0, end
        start = self.decisions(low, step.z(low))
        for _ in range(60):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            if self.decisions(middle, step.z(middle)) == start:
                low = middle
            else:
                high = middle
        near = 1e-6 * abs(self.span[1] - self.span[0])
        # At the ends of the span there is no solution on one of the sides.
        at_end = any(abs(high - t) <= 1e-6 * near for t in self.span)
        if not (at_end or any(abs(high - t) <= near for t in declared)):
            with np.errstate(all="ignore"):
                found = self.switch(step, low, high)
            self.found += [found] if found is not None else []

    def switch(self, step: Step, low: float, high: float) -> Switch | None:
        """What switched between two times that are next to each other; None where f is smooth."""
        n = len(self.model.states)
        ahead = step.t1 - step.t0
        width = 1e-9 * ahead + np.copysign(64 * np.spacing(abs(high)), ahead)
        before, early = (self.slopes(step, low - i * width)[:n] for i in (1, 2))
        after, late = (self.slopes(step, high + i * width)[:n] for i in (1, 2))
        ends = [self.slopes(step, t)[:n] for t in (step.t0, step.t1)]
        largest = np.abs([before, after, *ends]).max(axis=0)
        # Beside a kink the slopes differ by what they change within the width, and not by more.
        change = np.abs(before - early) + np.abs(late - after)
        jump = np.abs(after - before) > 4 * change + 1e-8 * largest
        if not jump.any() and not self.bends(step, low - width, high + width):
            return None
        if self.by_time_alone(step, low, high):
            return None
        first, then = (self.decisions(t, step.z(t), self.source) for t in (low, high))
        new = [d for c, d in zip(first, then, strict=False) if c != d]
        decision = new[0] if new else Decision("a branch", b"")
        return Switch(high, decision, before, after, bool(jump.any()))

    def by_time_alone(self, step: Step, low: float, high: float) -> bool:
        """Whether states and parameters, moved a little, leave the moment of a switch where it is.

        The two times are next to each other, so that whatever else enters would tip the balance.
        """
        system = self.system
        # A run without sensitivities may be on behalf of one that has them, by any parameter.
        p = dict(system.wrt if system.k else self.model.parameters)
        scales = system.scales if system.k else [abs(v) or 1.0 for v in p.values()]
        sides = [(t, step.z(t)[: system.n]) for t in (low, high)]
        runs = [self.decisions(t, y) for t, y in sides]
        rng = np.random.default_rng(0)
        for size in (NUDGE, -NUDGE, NUDGE, -NUDGE):
            dy, dp = (
                rng.uniform(0.5, 1.0, n) * rng.choice([-1, 1], n) for n in (system.n, len(p))
            )
            moved = dict(zip(p, np.array([*p.values()]) + size * dp * scales, strict=True))
            for (t, y), run in zip(sides, runs, strict=True):
                near = y + size * dy * np.maximum(np.abs(y), self.atol[: system.n])
                if self.decisions(t, near, moved=moved) != run:
                    return False
        self.timed.update(changed(*runs))
        return True

    def slopes(self, step: Step, t: float) -> np.ndarray:
        return self.system.flow(t, step.z(t)[: self.system.n])

    def bends(self, step: Step, before: float, after: float) -> bool:
        """Whether the derivatives of the slopes are not the same at two times.

        What would move states and sensitivities by less than their tolerance over the whole span
        is no kink: a solution that has died away goes through zero by its error alone.
        """
        sides = [self.second(step, t) for t in (before, after)]
        ends = [self.second(step, t) for t in (step.t0, step.t1)]
        drop = np.abs(sides[1] - sides[0])
        limit = 1e-6 * np.abs([*sides, *ends]).max(axis=0)
        if self.system.k:
            span = abs(self.span[1] - self.span[0])
            limit += self.atol / span ** np.array([2.0] + [1.0] * self.system.k)[:, np.newaxis]
        return bool((drop > limit).any())

    def second(self, step: Step, t: float) -> np.ndarray:
        """The derivatives of the slopes along the solution and by the parameters, (k + 1, n)."""
        system = self.system
        rows = step.z(t).reshape(system.k + 1, system.n)
        dt, dy = np.zeros(system.k + 1), rows.copy()
        dt[0], dy[0] = 1.0, system.flow(t, rows[0])
        dq = np.concatenate((np.zeros((1, system.k)), system.units)) if system.k else None
        value, moves = pushed(system.f, t, rows[0], system.values, dt=dt, dy=dy, dq=dq)
        return derivative(value, moves, system.k + 1)

    # --- in words

    def warnings(self, order: int = 1) -> list[str]:
        """A sentence for the jumps and one for the kinks; order is that of the derivatives."""
        jumps = [s for s in self.found if s.jump]
        kinks = [s for s in self.found if not s.jump]
        out = []
        if jumps:
            out.append(
                f"{self.model.name} jumps under the solution at {self.times(jumps)}"
                f"{self.place(jumps[0])}: dy/dt is {sides(jumps[0])}. The sensitivities lack "
                f"what the time of the jump contributes: declare it, events=[Event(g)], with "
                f"g(t, y, p) zero there"
            )
            if len(jumps) + self.more > MANY:
                out[-1] += (
                    "; where it pushes the solution back to the jump from both sides (a sliding "
                    "mode), write the equations of that motion, or make the jump steep and smooth"
                )
        if kinks:
            out.append(
                f"{self.model.name} has a kink under the solution at {self.times(kinks)}"
                f"{self.place(kinks[0])}: dy/dt is {sides(kinks[0])}, its derivatives are not the "
                f"same on both sides. {AT_A_KINK[order]}"
            )
        return out

    def times(self, switches: list[Switch]) -> str:
        text = ", ".join(f"t = {s.t:.6g}" for s in switches[:4])
        count = len(switches) + (self.more if len(switches) > 4 else 0)
        return text + (f" and {count - 4} more times" if count > 4 else "")

    def place(self, switch: Switch) -> str:
        decision = switch.decision
        return f" ({decision.operation}{', ' * bool(decision.line)}{decision.line})"


def changed(before: list[Decision], after: list[Decision]) -> set[int]:
    """The places at which two runs differ; one more where one of them is longer."""
    places = {i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b}
    return places if len(before) == len(after) else places | {-1}


def sides(switch: Switch) -> str:
    before, after = (np.array2string(s[:6], precision=6) for s in (switch.before, switch.after))
    return f"{before} before and {after} after"
