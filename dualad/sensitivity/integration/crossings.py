"""Where the functions of events cross zero: found on the interpolant of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import EventError
from ..extras import extra
from ..parameters.parameters import ModelParameters
from .events import Event, sliding
from .model import sealed
from .pushing import derivative, pushed
from .step import Step
from .variational import VariationalSystem

__all__ = ["Crossings"]

#: At how many inner points of a step the functions of events are looked at, and at most.
INNER, MOST = 3, 1000


class Crossings:
    """The signs of the functions of events, followed along the solution.

    Args:
        system: states and sensitivities.
        events: the events with their names.
        rtol, atol: tolerances of the n rows; below them a zero and a near zero are the same.
        ahead: 1 where the integration goes forwards in time, -1 where it goes backwards.
    """

    def __init__(
        self,
        system: VariationalSystem,
        events: tuple[tuple[str, Event], ...],
        rtol: float,
        atol: np.ndarray,
        ahead: int,
    ):
        self.system, self.events, self.rtol, self.atol = system, events, rtol, atol
        self.ahead = ahead
        self.n, self.plain = len(system.model.states), ModelParameters(system.model.fixed)
        self.signs = [0] * len(events)
        #: how fast each function changes in the direction of the integration
        self.rates = [0.0] * len(events)
        self.counts = [0] * len(events)

    # --- one event's function

    def function(self, i: int) -> Callable[[Any, Any, list[Any]], Any]:
        """g of event i, as a function of (t, y, q)."""
        name, event = self.events[i]
        model, names = self.system.model, self.system.wrt.names

        def g(t: Any, y: Any, q: list[Any]) -> Any:
            p = ModelParameters({**model.fixed, **dict(zip(names, q, strict=True))})
            return model.scalar(f"the function of event {name!r}", event.g, t, y[: self.n], p)

        return g

    def value(self, i: int, t: float, z: np.ndarray) -> float:
        """g of event i at (t, z)."""
        name, event = self.events[i]
        what = f"the function of event {name!r}"
        y = sealed(z[: self.n])
        out = float(self.system.model.scalar(what, event.g, t, y, self.plain))
        if not np.isfinite(out):
            raise EventError(f"{what} is {out} at t = {t:g}")
        return out

    def rate(self, i: int, t: float, y: np.ndarray, slope: np.ndarray) -> float:
        """How fast g of event i changes in time along the solution."""
        _, moves = pushed(
            self.function(i), t, y, self.system.values, dt=np.ones(1), dy=slope[np.newaxis]
        )
        return 0.0 if moves is None else float(moves[0])

    def heading(self, i: int, t: float, y: np.ndarray, slope: np.ndarray) -> float:
        """How fast it changes in the direction of the integration."""
        return self.ahead * self.rate(i, t, y, slope)

    def size(self, i: int, t: float, y: np.ndarray, slope: np.ndarray) -> tuple[float, float]:
        """Below which g is as good as zero, and its rate of change without any cancellation."""
        n, slopes = y.size, self.slopes(i, t, y)
        noise = slopes[:n] @ (self.atol + self.rtol * np.abs(y))
        rounding = 1e-14 * (slopes[:n] @ np.abs(y) + slopes[n] * abs(t))
        return float(noise + rounding), float(slopes[:n] @ np.abs(slope) + slopes[n])

    def noise(self, i: int, t: float, step: Step) -> float:
        """Below which g of event i is as good as zero, at a time of a step."""
        y = step.z(t)[: self.system.n]
        return self.size(i, t, y, self.system.flow(t, y))[0]

    def slopes(self, i: int, t: float, y: np.ndarray) -> np.ndarray:
        """How much g of event i changes with each of the states, and with the time."""
        n = y.size
        dt, dy = np.zeros(n + 1), np.zeros((n + 1, n))
        dt[n], dy[:n] = 1.0, np.eye(n)
        value, moves = pushed(self.function(i), t, y, self.system.values, dt=dt, dy=dy)
        return np.abs(derivative(value, moves, n + 1))

    def rounding(self, i: int, t: float, y: np.ndarray) -> float:
        """How much g of event i changes by the last bits of its arguments."""
        return float(self.slopes(i, t, y) @ np.spacing(np.abs([*y, t])))

    # --- along the solution

    def active(self, i: int) -> bool:
        limit = self.events[i][1].max_count
        return limit is None or self.counts[i] < limit or self.events[i][1].terminal

    def begin(self, t: float, z: np.ndarray) -> None:
        """Note on which side of zero each function is; one that is zero goes where it is going."""
        y = z[: self.system.n]
        slope = self.system.flow(t, y)
        for i in range(len(self.events)):
            g = self.value(i, t, z)
            self.rates[i] = self.heading(i, t, y, slope)
            zero = abs(g) <= self.size(i, t, y, slope)[0]
            self.signs[i] = int(np.sign(self.rates[i] if zero else g))

    def follow(self, fired: list[int], t: float, y: np.ndarray, slope: np.ndarray) -> None:
        """Some events have fired, and the solution goes on as before."""
        for i in range(len(self.events)):
            self.rates[i] = self.heading(i, t, y, slope)
            if i in fired:
                self.signs[i] = int(np.sign(self.rates[i]))

    def first(self, step: Step, after: float) -> tuple[float, list[int]] | None:
        """The first crossing in a step after a time, and all events that may cross with it."""
        times: dict[int, float] = {}
        signs, rates = list(self.signs), list(self.rates)
        z1 = step.z(step.t1)
        slope = self.system.flow(step.t1, z1[: self.system.n])
        for i in range(len(self.events)):
            if not self.active(i):
                continue
            rates[i] = self.heading(i, step.t1, z1[: self.system.n], slope)
            found, signs[i] = self.scan(i, step, after, rates[i])
            if found is not None:
                times[i] = found
        if not times:
            self.signs, self.rates = signs, rates
            return None
        order = sorted(times, key=lambda i: abs(times[i] - step.t0))
        t = times[order[0]]
        z = step.z(t)
        for i in set(range(len(self.events))) - set(times):
            # The others are looked at again from here on.
            self.signs[i] = int(np.sign(self.value(i, t, z))) or self.signs[i]
        return t, order

    def scan(self, i: int, step: Step, after: float, rate: float) -> tuple[float | None, int]:
        """When event i fires in a step, if it does; and the sign of its function at the end."""
        points = self.points(i, step, after, rate)
        turning = self.turning(i, step, after, rate)
        if turning is not None:
            y = step.z(turning)[: self.system.n]
            if self.held(i, turning, y) is not None:
                return turning, -self.signs[i]
        if turning is not None:
            value = self.value(i, turning, step.z(turning))
            points = sorted([*points, (turning, value)], key=lambda point: abs(point[0] - after))
        sign, direction, left = self.signs[i], self.events[i][1].direction, after
        for right, value in points:
            new = int(np.sign(value))
            if sign and new == -sign:
                if not direction or direction == new:
                    return self.root(i, step, left, right, sign), new
                sign = new
            elif not sign and abs(value) > self.noise(i, right, step):
                sign = new
            left = right
        return None, sign

    def points(self, i: int, step: Step, after: float, rate: float) -> list[tuple[float, float]]:
        """Times in a step, to its end, and the values of the function of event i there.

        There are more of them where the function changes so fast that it must go up and down.
        """
        count = INNER + 1
        while True:
            times = np.linspace(after, step.t1, count + 1)
            values = [self.value(i, t, step.z(t)) for t in times.tolist()]
            path = max(abs(self.rates[i]), abs(rate)) * abs(step.t1 - after)
            wanted = min(MOST, int(4 * path / (max(values) - min(values) or np.inf)))
            if wanted <= 4 * count:
                return list(zip(times.tolist()[1:], values[1:], strict=True))
            count = wanted

    def turning(self, i: int, step: Step, after: float, rate: float) -> float | None:
        """Where the function of event i turns back on its way to zero.

        Raises:
            EventError: it turns at zero.
        """
        before = self.rates[i]
        if not (self.signs[i] * before < 0 and self.signs[i] * rate > 0):
            return None

        def along(t: float) -> float:
            y = step.z(t)[: self.system.n]
            return self.heading(i, t, y, self.system.flow(t, y))

        if along(after) * along(step.t1) >= 0:
            return None
        t = float(extra("scipy.optimize").brentq(along, after, step.t1))
        z = step.z(t)
        y = z[: self.system.n]
        if abs(self.value(i, t, z)) <= self.size(i, t, y, self.system.flow(t, y))[0]:
            if not self.require_passage(i, t, y):
                raise EventError(self.touched(i, t))
        return t

    def held(self, i: int, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The slopes before and beyond g = 0 where both point at it, near (t, y); else None.

        Args:
            i: the event.
            t, y: a time and states near to where g is zero.
        """
        slope = self.system.flow(t, y)
        value, rate = self.value(i, t, y), self.rate(i, t, y, slope)
        noise = self.size(i, t, y, slope)[0]
        if not (rate and self.signs[i]) or abs(value) > 16 * noise:
            return None
        width = (2 * abs(value) + 4 * noise) / abs(rate)
        found: dict[int, np.ndarray] = {}
        for way in (-width * slope, width * slope):
            side = int(np.sign(self.value(i, t, y + way)))
            near, far = (self.system.flow(t, y + k * way) for k in (1, 2))
            moves = self.heading(i, t, y + way, near)
            # Where a smooth solution turns, it comes back twice as fast from twice as far.
            smooth = abs(self.heading(i, t, y + 2 * way, far) - moves) > 0.5 * abs(moves)
            if not smooth and moves * side < -1e-3 * self.size(i, t, y + way, near)[1]:
                found[side] = 2 * near - far
        if set(found) != {-1, 1}:
            return None
        return found[self.signs[i]], found[-self.signs[i]]

    def require_passage(self, i: int, t: float, y: np.ndarray) -> bool:
        """Whether the solution is held at g = 0, where the event moves it away or ends it.

        Raises:
            EventError: it is held, and nothing does so: it stays there.
        """
        if self.held(i, t, y) is None:
            return False
        name, event = self.events[i]
        if not event.terminal and event.update is None:
            raise EventError(sliding(name, t))
        return True

    def touched(self, i: int, t: float) -> str:
        return (
            f"event {self.events[i][0]!r} touches zero at t = {t:.9g} without crossing it: its "
            f"time has no derivative there. Move the threshold, or take it out of the events"
        )

    def root(self, i: int, step: Step, left: float, right: float, sign: int) -> float:
        """Where the function of event i is zero, between two times of different sign."""

        def g(t: float) -> float:
            return self.value(i, t, step.z(t))

        inner = left
        width = right - left
        for _ in range(60):
            if np.sign(g(inner)) == sign:
                break
            width /= 2
            inner = left + width
        else:
            y = step.z(left)[: self.system.n]
            if self.require_passage(i, left, y):
                return left
            raise EventError(self.touched(i, left))
        far = right if inner == left else min(left + 2 * width, right, key=lambda t: abs(t - left))
        if g(inner) * g(far) > 0:
            far = right
        # Where it does not converge, the zero is not a simple one; what follows says so.
        found, _ = extra("scipy.optimize").brentq(
            g, inner, far, xtol=4e-16 * max(abs(left), abs(right)), rtol=1e-15,
            full_output=True, disp=False,
        )  # fmt: skip
        self.require_continuous(i, step, float(found))
        return float(found)

    def require_continuous(self, i: int, step: Step, t: float) -> None:
        """Twice as far from a zero, a function is further from zero; from a jump it is not.

        A steep function looks like a jump from afar: then it is looked at from nearer.

        Raises:
            EventError: the function of event i jumps across zero at t.
        """
        least = np.copysign(64 * np.spacing(abs(t)), step.t1 - step.t0)
        width = 1e-6 * (step.t1 - step.t0) + least
        while True:
            sides = [
                [self.value(i, s, step.z(s)) for s in (t + w, t + 2 * w)] for w in (-width, width)
            ]
            if not all(near and abs(far) <= 1.1 * abs(near) for near, far in sides):
                return
            if width == least:
                break
            width = max(0.1 * width, least, key=abs)
        raise EventError(
            f"the function of event {self.events[i][0]!r} jumps across zero at t = {t:.9g}, "
            f"so that it does not tell the derivative of that time. Give a function that goes "
            f"through zero, as np.sin(np.pi * t / p.tau) for every tau; or, if this is no "
            f"event, direction={-int(np.sign(sides[1][0])):+d}"
        )
