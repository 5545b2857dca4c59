"""Events: when they happen, by how much that time moves, and what they change.

An event happens at the time T where g(t, y, p) changes its sign along the solution. With s- the
sensitivity before it and f- the slope of the states before it,

    dT/dp = -(g_y s- + g_p) / (g_y f- + g_t),
    s+ = h_y s- + h_p + (h_y f- + h_t - f+) dT/dp,

where y+ = h(T, y-, p) is the state after it, and f+ its slope. Galan, Feehery, Barton, Parametric
sensitivity functions for hybrid discrete/continuous systems (1999).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import EventError, SensitivityError
from ..given import members
from ..parameters.parameters import Parameters
from ..results.sensitivities import Sensitivities

__all__ = ["Event", "EventTimes", "Firing", "named", "require_no_zeno", "sliding"]


@dataclass(frozen=True)
class Event:
    """Something that happens when g(t, y, p) changes its sign.

    The rules: an event fires where g crosses zero along the solution, not where an update of
    another event jumps across zero. One whose g is zero at the start, or just after an update, is
    not fired by that: it fires when g comes back; nor is one whose g is zero at the very end. At
    the instant of an event the result holds the state after the update. Two events in one instant
    are recorded both; if both have an update, that is an error, since the order of the updates
    would matter. An event without an update tells the integration of a jump of the right-hand
    side: the sensitivities then jump as they must.

    Attributes:
        g: g(t, y, p) gives a number.
        update: update(t, y, p) gives the state after the event, as a list, or as a mapping of
            those states that change.
        terminal: whether the integration ends here (after `max_count` times, if that is given).
        direction: 1 for rising zeros of g alone, -1 for falling ones, 0 for both.
        name: how the result calls it; default the name of g, or event1, event2, ...
        max_count: after so many times it does not happen any more.
    """

    g: Callable[..., Any]
    update: Callable[..., Any] | None = None
    terminal: bool = False
    direction: float = 0
    name: str | None = None
    max_count: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.g) or not (self.update is None or callable(self.update)):
            raise SensitivityError("g and update of an event must be functions of (t, y, p)")
        count = self.max_count
        if count is not None and (not isinstance(count, int) or count < 1):
            raise SensitivityError(f"max_count must be a positive integer, got {count!r}")
        if self.direction not in (-1, 0, 1):
            raise SensitivityError(f"direction must be -1, 0 or 1, got {self.direction!r}")


def named(events: Any) -> tuple[tuple[str, Event], ...]:
    """The events with their names.

    Raises:
        SensitivityError: something is no Event, or a name comes twice.
    """
    alone = isinstance(events, Event) or callable(events)
    several = [events] if alone else members("events", events, "Event objects or functions g")
    out = []
    for i, event in enumerate(several):
        if callable(event):
            event = Event(event)
        if not isinstance(event, Event):
            raise SensitivityError(f"events must be Event objects, got {event!r}")
        own = getattr(event.g, "__name__", "<lambda>")
        out.append((event.name or (f"event{i + 1}" if own.startswith("<") else own), event))
    names = [name for name, _ in out]
    for name in names:
        if names.count(name) > 1:
            raise SensitivityError(f"there are two events of the name {name!r}: give them name=")
    return tuple(out)


@dataclass(frozen=True)
class Firing:
    """One event that happened.

    Attributes:
        t: when.
        name: which.
        dt: dT/dp, shape (k,).
        y, S: the states before the update as functions of the parameters: (n,) and the total
            derivative (n, k).
        y_after, S_after: the same after the update.
    """

    t: float
    name: str
    dt: np.ndarray
    y: np.ndarray
    S: np.ndarray
    y_after: np.ndarray
    S_after: np.ndarray


class EventTimes(Sensitivities):
    """The times at which one event happened, and their derivatives: outputs in their own right.

    Attributes:
        times: when, shape (m,); also `values`.
        dt: dT/dp, shape (m, k); also `jacobian`.
        y, S: the states before the update, (m, n), and their total derivatives (m, n, k): those of
            the state at the event, whose time moves with the parameters.
        y_after, S_after: the same after the update.
    """

    def __init__(
        self,
        name: str,
        firings: Sequence[Firing],
        states: int,
        parameters: Parameters,
        bends: Sequence[np.ndarray] | None = None,
    ):
        m, k = len(firings), len(parameters)
        super().__init__(
            np.array([e.t for e in firings]).reshape(m),
            np.array([e.dt for e in firings]).reshape(m, k),
            outputs=[f"{name}[{i + 1}]" for i in range(m)],
            parameters=parameters,
            hessian=None if bends is None else np.array(bends).reshape(m, k, k),
        )
        self.name = name
        self.y = np.array([e.y for e in firings]).reshape(m, states)
        self.y_after = np.array([e.y_after for e in firings]).reshape(m, states)
        self.S = np.array([e.S for e in firings]).reshape(m, states, k)
        self.S_after = np.array([e.S_after for e in firings]).reshape(m, states, k)

    @property
    def times(self) -> np.ndarray:
        return self.values

    @property
    def dt(self) -> np.ndarray:
        return self.jacobian

    def replace(self, **changes: Any) -> Any:
        """The event times as plain `Sensitivities`, with some arguments changed."""
        return Sensitivities(**{**self._arguments(), **changes})


def require_no_zeno(name: str, times: Sequence[float], t1: float, span: float) -> None:
    """Times that pile up before the end of the span are an error.

    Intervals that shrink by a constant factor, to a thousandth of the first, would go on so
    without end before the time that the geometric series gives.
    """
    gaps = np.abs(np.diff(times))
    if not gaps.size:
        return
    last = float(times[-1])
    tiny = 64 * np.spacing(max(abs(last), span))
    if gaps.size >= 3 and gaps[-3:].max() <= tiny:
        raise EventError(pile(name, len(times), last))
    if gaps.size >= CHATTER and gaps[-CHATTER:].sum() <= 1e-6 * span:
        raise EventError(sliding(name, last))
    if gaps.size < 6 or not gaps[-1] < 1e-3 * gaps.max():
        return
    ratios = gaps[-5:] / gaps[-6:-1]
    r = ratios.mean()
    if r < 0.999 and np.ptp(ratios) < 0.02 * r:
        limit = last + np.sign(t1 - times[0]) * gaps[-1] * r / (1 - r)
        if (limit - last) * (t1 - limit) > 0:
            raise EventError(pile(name, len(times), limit))


#: So many times in next to no time, and an event would go on like that.
CHATTER = 16


def sliding(name: str, t: float) -> str:
    """What is said where a solution cannot leave the surface of an event."""
    return (
        f"event {name!r} cannot be passed at t = {t:.9g}: the right-hand side pushes back from "
        f"both sides to where it is zero, so that the solution slides along there (or chatters, "
        f"in steps that vanish). Write the equations of the sliding motion into rhs, from an "
        f"event with an update or a terminal one on; or make the jump steep and smooth, as "
        f"np.tanh(g / width) does"
    )


def pile(name: str, count: int, t: float) -> str:
    return (
        f"event {name!r} happens without end before t = {t:.9g} (a Zeno sequence): it happened "
        f"{count} times so far at shrinking intervals. End the integration before that time, make "
        f"the event terminal, or give it a max_count"
    )
