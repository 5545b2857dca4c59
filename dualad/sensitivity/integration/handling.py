"""What happens at an event: its exact time, that time's derivative, and the jump."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import EventError, ModelError, unknown_name
from ..named import mapping_of
from ..parameters.parameters import ModelParameters
from .crossings import Crossings
from .events import Event, Firing, require_no_zeno
from .model import Model, plain, sealed, states_there_are
from .pushing import derivative, pushed
from .sides import Sides
from .steep import steep_zero
from .step import Step
from .stepper import Method
from .variational import VariationalSystem

__all__ = ["Handler", "update_of_rows"]


class Handler:
    """Takes the solution through events.

    Args:
        system: states and sensitivities.
        method: how a step to the exact time of an event is made.
        crossings: where events are.
        span: the first and the last time.
    """

    def __init__(
        self,
        system: VariationalSystem,
        method: Method,
        crossings: Crossings,
        span: tuple[float, float],
    ):
        self.system, self.method, self.crossings, self.span = system, method, crossings, span
        self.sides = Sides(system, crossings)
        self.firings: list[Firing] = []
        self.times: dict[int, list[float]] = {}
        #: the events at which the right-hand side itself jumps: names and times
        self.jumps: list[tuple[str, float]] = []

    def exact(self, i: int, step: Step, t: float) -> tuple[float, np.ndarray]:
        """Time and z of event i, by the right-hand side: the interpolant gives only the start.

        The integration is carried from the beginning of the step to the time, which is then
        corrected by Newton's rule, until the correction is so small that following the slope is
        exact.
        """
        low, high = sorted((step.t0, step.t1))
        refusal: EventError | None = None
        for _ in range(4):
            z = self.method.to(step.t0, step.z0, t)
            if not np.isfinite(z).all():
                break
            try:
                move = self.newton(i, step, t, z, t != step.t0)
            except EventError as error:
                # Beyond a jump it may not move at all; before it, it does.
                refusal = error
                break
            if self.settled(move, step, t):
                return t + move, z + move * self.system(t, z)
            t = float(np.clip(t + move, low, high))
        try:
            return self.from_before(i, step, t)
        except EventError as error:
            found = steep_zero(self, i, step, t)
            if found is None:
                raise refusal or error from None
            return found

    def from_before(self, i: int, step: Step, t: float) -> tuple[float, np.ndarray]:
        """The same where the right-hand side jumps at the event: never stepping beyond it."""
        base, z = step.t0, step.z0
        sign = self.crossings.signs[i]
        ahead = t - base
        for _ in range(100):
            trial = base + 0.99 * ahead
            moved = self.method.to(base, z, trial)
            if np.isfinite(moved).all() and np.sign(self.crossings.value(i, trial, moved)) == sign:
                base, z = trial, moved
                ahead = self.newton(i, step, base, z, False)
            else:
                ahead *= 0.5
            if self.settled(ahead, step, base):
                return base + ahead, z + ahead * self.system(base, z)
        raise EventError(
            f"the time of event {self.crossings.events[i][0]!r} near t = {t:.9g} does not settle: "
            f"its function is not smooth there"
        )

    def newton(self, i: int, step: Step, t: float, z: np.ndarray, beside: bool) -> float:
        """How far from t the event is by the slope there, or by the slope just before t."""
        n = self.system.n
        slope = self.sides.before(i, step, t, z) if beside else self.system.flow(t, z[:n])
        rate = self.rate(i, t, z, slope)
        ends = [self.crossings.value(i, s, step.z(s)) for s in (step.t0, step.t1)]
        if abs(rate * (step.t1 - step.t0)) < 1e-8 * max(map(abs, ends)):
            raise EventError(self.crossings.touched(i, t))
        return -self.crossings.value(i, t, z) / rate

    def settled(self, move: float, step: Step, t: float) -> bool:
        return abs(move) <= 1e-9 * abs(step.t1 - step.t0) or t + move == t

    def rate(self, i: int, t: float, z: np.ndarray, slope: np.ndarray) -> float:
        """dg/dt along the solution; an error, where it is as good as zero."""
        y = z[: self.system.n]
        rate = self.crossings.rate(i, t, y, slope)
        size = self.crossings.size(i, t, y, slope)[1]
        if not abs(rate) > 1e-8 * size:
            raise EventError(self.crossings.touched(i, t))
        return rate

    def moved(self, i: int, t: float, z: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """dT/dp of event i, scaled as the sensitivities are, shape (k,)."""
        system = self.system
        rows = z.reshape(system.k + 1, system.n)
        if not system.k:
            return np.zeros(0)
        g = self.crossings.function(i)
        value, moves = pushed(g, t, rows[0], system.values, dy=rows[1:], dq=system.units)
        return -derivative(value, moves, system.k) / self.rate(i, t, z, slope)

    def together(self, t: float, z: np.ndarray, candidates: list[int], i: int) -> list[int]:
        """The events that happen in the same instant as event i."""
        y = z[: self.system.n]
        slope = self.system.flow(t, y)
        same = [
            j
            for j in candidates
            if j != i
            and abs(self.crossings.value(j, t, z)) <= self.crossings.size(j, t, y, slope)[0]
        ]
        changing = [j for j in (i, *same) if self.crossings.events[j][1].update is not None]
        if len(changing) > 1:
            names = " and ".join(repr(self.crossings.events[j][0]) for j in changing)
            raise EventError(
                f"the events {names} happen in one instant, t = {t:.9g}, and both have an update: "
                f"their order would matter. Make one event of them, with one update"
            )
        return [i, *same]

    def handle(self, step: Step, t: float, candidates: list[int]) -> Outcome:
        """Take the solution through the first of the candidates, and those of the same instant."""
        system, n = self.system, self.system.n
        first = candidates[0]
        try:
            t, z = self.exact(first, step, t)
        except EventError:
            self.crossings.require_passage(first, t, step.z(t)[:n])
            raise
        firing = self.together(t, z, candidates, first)
        with np.errstate(all="ignore"):
            slopes = self.crossings.held(first, t, z[:n])
            slopes = slopes or self.sides.both(first, step, t, z)
        before, after = slopes if slopes is not None else (system.flow(t, z[:n]),) * 2
        if slopes is not None:
            self.jumps.append((self.crossings.events[first][0], t))
            self.crossings.require_passage(first, t, z[:n])
        moves = {i: self.moved(i, t, z, before) for i in firing}
        changing = [i for i in firing if self.crossings.events[i][1].update is not None]
        z_after = z
        if changing:
            z_after = self.jump(changing[0], t, z, before, moves[changing[0]])
        elif slopes is not None:
            z_after = self.kicked(z, before - after, moves[first])
            z_after[:n] += self.sides.beyond(first, t, z, before)
        for i in sorted(firing):
            self.note(i, t, z, z_after, before, after, moves[i], bool(changing))
        stop = [i for i in firing if self.ends(i)]
        again = bool(changing) or slopes is not None
        self.crossings.follow(firing, t, z[:n], before)
        return Outcome(t, z, z_after, again, bool(stop), nudge=slopes is not None and not changing)

    def ends(self, i: int) -> bool:
        event = self.crossings.events[i][1]
        return event.terminal and self.crossings.counts[i] >= (event.max_count or 1)

    def note(
        self,
        i: int,
        t: float,
        z: np.ndarray,
        z_after: np.ndarray,
        before: np.ndarray,
        after: np.ndarray,
        moves: np.ndarray,
        updated: bool,
    ) -> None:
        """Count event i and keep what it was."""
        system, (name, event) = self.system, self.crossings.events[i]
        n = len(system.model.states)
        if updated:
            after = system.flow(t, z_after[: system.n])
        sides = []
        for values, slope in ((z, before), (z_after, after)):
            rows = values.reshape(system.k + 1, system.n)
            total = (rows[1:, :n] + np.outer(moves, slope[:n])) / system.scales[:, np.newaxis]
            sides += [rows[0, :n].copy(), total.T]
        self.firings.append(Firing(float(t), name, moves / system.scales, *sides))
        self.crossings.counts[i] += 1
        times = self.times.setdefault(i, [])
        times.append(t)
        if event.max_count is None:
            require_no_zeno(name, times, self.span[1], abs(self.span[1] - self.span[0]))

    # --- jumps

    def jump(
        self, i: int, t: float, z: np.ndarray, slope: np.ndarray, moves: np.ndarray
    ) -> np.ndarray:
        """z after the update of event i."""
        system, (name, event) = self.system, self.crossings.events[i]
        rows = z.reshape(system.k + 1, system.n)
        h = update_of_rows(name, event, system.model, system.wrt.names)
        out = np.empty_like(rows)
        carried = rows[1:] + np.outer(moves, slope)
        if system.k:
            value, total = pushed(
                h, t, rows[0], system.values, dt=moves, dy=carried, dq=system.units
            )
            total = derivative(value, total, system.k)
        else:
            value, total = h(t, sealed(rows[0]), []), carried
        out[0] = value
        if not np.isfinite(out[0]).all():
            raise EventError(f"the update of event {name!r} is not finite at t = {t:g}: {out[0]}")
        out[1:] = total - np.outer(moves, system.flow(t, out[0]))
        return out.ravel()

    def kicked(self, z: np.ndarray, drop: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """z after a jump of the right-hand side, which moves with the time of the event."""
        rows = z.reshape(self.system.k + 1, self.system.n).copy()
        rows[1:] += np.outer(moves, drop)
        return rows.ravel()


def update_of_rows(
    name: str, event: Event, model: Model, names: tuple[str, ...]
) -> Callable[..., Any]:
    """The update of an event as a function (t, y, q) of all rows; q are the values of names."""
    n, what = len(model.states), f"the update of event {name!r}"

    def h(t: Any, y: Any, q: list[Any]) -> Any:
        p = ModelParameters({**model.fixed, **dict(zip(names, q, strict=True))})
        states = y[:n] if model.integrals else y
        out = model.value(what, ByName(event.update, model.states), t, states, p)
        if out.shape != (n,):
            raise EventError(
                f"{what} returned shape {out.shape} at t = {plain(t):g}; "
                f"{states_there_are(model.states)}, so it must be {(n,)}"
            )
        return np.concatenate([out, y[n:]]) if model.integrals else out

    return h


class Outcome:
    """What became of the solution at an event.

    Attributes:
        t, before, after: when, and z on either side.
        again: whether the integration begins anew there.
        stop: whether it ends there.
        nudge: whether it must begin a little later, on the other side of a jump of the slope.
    """

    def __init__(
        self,
        t: float,
        before: np.ndarray,
        after: np.ndarray,
        again: bool,
        stop: bool,
        nudge: bool,
    ):
        self.t, self.before, self.after = t, before, after
        self.again, self.stop, self.nudge = again, stop, nudge


class ByName:
    """An update that gives a mapping of the states that change, as one that gives all."""

    def __init__(self, update: Any, states: tuple[str, ...]):
        self.update, self.states = update, states
        # Where an error is looked for: in the user's code.
        self.__code__ = getattr(update, "__code__", None)

    def __call__(self, t: Any, y: Any, p: Any) -> Any:
        out = self.update(t, y, p)
        named = mapping_of(out)
        if named is None:
            return out
        for name in named:
            if name not in self.states:
                raise ModelError(unknown_name("state", name, self.states))
        return [named.get(name, y[i]) for i, name in enumerate(self.states)]
