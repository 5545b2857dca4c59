"""Kinks and jumps of a right-hand side: found by noting which way each decision went.

Comparisons, abs, maximum, floor, where and their kin decide by the sign of something. The
right-hand side is run once more a step on arrays that note those decisions; where two steps
differ, something switched between them.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..parameters.parameters import ModelParameters
from .step import Step
from .variational import VariationalSystem

__all__ = ["Decision", "Switch", "Switches"]

#: How many switches are located; a model that switches all the time would cost too much.
LOCATED = 20
#: So many in next to no time, and there would be no end of them.
CHATTER = 64
#: More jumps than these may be one at which the solution is held.
MANY = 4


@dataclass(frozen=True)
class Decision:
    """What was decided, which way, and by which line of the model."""

    operation: str
    outcome: bytes
    line: str = ""


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


class Notes:
    """The decisions of one run, and of whose code they are."""

    def __init__(self, source: str | None = None):
        self.decisions: list[Decision] = []
        self.source = source

    def add(self, operation: str, outcome: Any) -> None:
        # Both zeros are one: ceil(-0.5) is -0.0.
        way = (np.asarray(outcome) + 0).tobytes()
        self.decisions.append(Decision(operation, way, self.line()))

    def line(self) -> str:
        """Where in the user's file the present call comes from."""
        if self.source is None:
            return ""
        frame: Any = sys._getframe()
        while frame is not None and frame.f_code.co_filename != self.source:
            frame = frame.f_back
        return "" if frame is None else f"line {frame.f_lineno} of {self.source}"


COMPARED = {
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
}  # fmt: skip
#: What a ufunc decides, from its inputs.
DECIDES: dict[Any, Callable[..., Any]] = {
    np.absolute: lambda x: x >= 0,
    np.fabs: lambda x: x >= 0,
    np.sign: lambda x: np.sign(x),
    np.heaviside: lambda x, h: np.sign(x),
    np.maximum: lambda a, b: a >= b,
    np.minimum: lambda a, b: a >= b,
    np.fmax: lambda a, b: a >= b,
    np.fmin: lambda a, b: a >= b,
    np.floor: lambda x: np.floor(x),
    np.ceil: lambda x: np.ceil(x),
    np.trunc: lambda x: np.trunc(x),
    np.rint: lambda x: np.rint(x),
    np.floor_divide: lambda a, b: np.floor(a / b),
    np.remainder: lambda a, b: np.floor(a / b),
    np.fmod: lambda a, b: np.trunc(a / b),
    np.divmod: lambda a, b: np.floor(a / b),
    np.modf: lambda x: np.trunc(x),
    np.copysign: lambda a, b: np.signbit(b),
    np.signbit: lambda x: np.signbit(x),
}
#: Which entry is taken when these go along an array.
REDUCTIONS = {
    np.maximum: np.argmax, np.minimum: np.argmin, np.fmax: np.argmax, np.fmin: np.argmin,
}  # fmt: skip


def taken(pick: Callable[..., Any], x: Any, axis: Any) -> Any:
    """Which entries along an axis are picked; those of the whole where there are several axes."""
    return pick(x, axis if axis is None or isinstance(axis, int) else None)


#: What a function decides, from its arguments.
FUNCTIONS_DECIDE: dict[Any, Callable[..., Any]] = {
    np.max: lambda x, axis=None, *a, **k: taken(np.argmax, x, axis),
    np.min: lambda x, axis=None, *a, **k: taken(np.argmin, x, axis),
    np.nanmax: lambda x, axis=None, *a, **k: taken(np.nanargmax, x, axis),
    np.nanmin: lambda x, axis=None, *a, **k: taken(np.nanargmin, x, axis),
    np.ptp: lambda x, axis=None, *a, **k: np.stack(
        [taken(np.argmax, x, axis), taken(np.argmin, x, axis)]
    ),
    np.sort: lambda x, *a, **k: np.argsort(x),
    np.argmax: np.argmax,
    np.argmin: np.argmin,
    np.argsort: np.argsort,
    np.searchsorted: np.searchsorted,
    np.digitize: np.digitize,
    np.median: lambda x, *a, **k: np.argsort(np.ravel(x)),
    np.round: lambda x, *a, **k: np.round(x, *a, **k),
    np.clip: lambda x, low=None, high=None, **k: (
        np.greater_equal(x, -np.inf if low is None else low)
        & np.less_equal(x, np.inf if high is None else high)
    ),
    np.interp: lambda x, xp, *a, **k: np.searchsorted(xp, x),
    np.trunc: lambda x: np.trunc(x),
}


class Noting(np.ndarray):
    """An array that notes what is decided by its values."""

    notes: Notes

    def __array_finalize__(self, other: Any) -> None:
        self.notes = getattr(other, "notes", None)  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        notes = next((x.notes for x in inputs if isinstance(x, Noting)), self.notes)
        plain = [np.asarray(x) if isinstance(x, Noting) else x for x in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(
                np.asarray(x) if isinstance(x, Noting) else x for x in kwargs["out"]
            )
        result = getattr(ufunc, method)(*plain, **kwargs)
        if method == "__call__":
            if ufunc in COMPARED:
                notes.add(ufunc.__name__, result)
            elif ufunc in DECIDES:
                with np.errstate(all="ignore"):
                    notes.add(ufunc.__name__, DECIDES[ufunc](*plain))
        elif method in ("reduce", "accumulate") and ufunc in REDUCTIONS:
            along = method == "accumulate"
            picked = taken(REDUCTIONS[ufunc], plain[0], kwargs.get("axis", 0))
            notes.add(ufunc.__name__, result == plain[0] if along else picked)
        return noting(result, notes)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in FUNCTIONS_DECIDE:
            named = {k: stripped(v) for k, v in kwargs.items()}
            self.notes.add(func.__name__, FUNCTIONS_DECIDE[func](*stripped(args), **named))
            result = func(*stripped(args), **named)
        else:
            result = super().__array_function__(func, types, args, kwargs)
        return noting(result, self.notes)

    def __getitem__(self, key: Any) -> Any:
        return noting(np.asarray(self)[key], self.notes)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    # What does not go by way of a ufunc or a function is handed on to one that does.

    def __round__(self, digits: int = 0) -> Any:
        return np.round(self, digits)

    def clip(self, *args: Any, **kwargs: Any) -> Any:
        return np.clip(self, *args, **kwargs)

    def max(self, *args: Any, **kwargs: Any) -> Any:
        return np.max(self, *args, **kwargs)

    def min(self, *args: Any, **kwargs: Any) -> Any:
        return np.min(self, *args, **kwargs)

    def argmax(self, *args: Any, **kwargs: Any) -> Any:
        return np.argmax(self, *args, **kwargs)

    def argmin(self, *args: Any, **kwargs: Any) -> Any:
        return np.argmin(self, *args, **kwargs)

    def item(self, *at: Any) -> Any:
        return self[at] if at else self.reshape(())

    def tolist(self) -> Any:
        return self if not self.ndim else [x.tolist() for x in self]


def noting(value: Any, notes: Notes) -> Any:
    """A real array or scalar that notes; all else stays itself."""
    if isinstance(value, (np.ndarray, np.floating)) and value.dtype.kind == "f":
        out = np.asarray(value).view(Noting)
        out.notes = notes
        return out
    return tuple(noting(v, notes) for v in value) if type(value) is tuple else value


def stripped(args: Any) -> Any:
    if isinstance(args, (tuple, list)):
        return type(args)(stripped(a) for a in args)
    return np.asarray(args) if isinstance(args, Noting) else args


class Switches:
    """Watches the decisions of a right-hand side along the solution."""

    def __init__(self, system: VariationalSystem, span: tuple[float, float]):
        self.system, self.model, self.span = system, system.model, span
        self.found: list[Switch] = []
        self.more = 0
        #: when the latest decisions changed
        self.latest: deque[float] = deque(maxlen=CHATTER)
        self.last: list[Decision] | None = None
        code = getattr(self.model.rhs, "__code__", None)
        self.source = getattr(code, "co_filename", None)

    def begin(self, t: float, z: np.ndarray) -> None:
        """The decisions at the start; a model that makes none is not watched any more."""
        self.last = self.decisions(t, z) or None

    def decisions(self, t: float, z: np.ndarray, source: str | None = None) -> list[Decision]:
        """What is decided at (t, z); nothing where the model does not run on such arrays."""
        notes = Notes(source)
        model, n = self.model, len(self.model.states)
        p = ModelParameters({k: noting(np.float64(v), notes) for k, v in model.fixed.items()})
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
        if now != self.last and self.last and now:
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
            self.found.append(self.switch(step, low, high))

    def switch(self, step: Step, low: float, high: float) -> Switch:
        """What switched between two times that are next to each other."""
        n = self.system.n
        first, then = (self.decisions(t, step.z(t), self.source) for t in (low, high))
        changed = [d for c, d in zip(first, then, strict=False) if c != d]
        decision = changed[0] if changed else Decision("a branch", b"")
        width = 1e-9 * (step.t1 - step.t0)
        times = (low - width, high + width, step.t0, step.t1)
        slopes = [self.system.flow(t, step.z(t)[:n])[: len(self.model.states)] for t in times]
        before, after = slopes[:2]
        size = 1e-8 * np.abs(slopes).max(axis=0)
        return Switch(high, decision, before, after, bool((np.abs(after - before) > size).any()))

    # --- in words

    def warnings(self) -> list[str]:
        """One sentence for the jumps, one for the kinks."""
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
                f"same on both sides. The sensitivities are right beside it; at the kink itself "
                f"they are one-sided"
            )
        return out

    def times(self, switches: list[Switch]) -> str:
        text = ", ".join(f"t = {s.t:.6g}" for s in switches[:4])
        count = len(switches) + (self.more if len(switches) > 4 else 0)
        return text + (f" and {count - 4} more times" if count > 4 else "")

    def place(self, switch: Switch) -> str:
        decision = switch.decision
        return f" ({decision.operation}{', ' * bool(decision.line)}{decision.line})"


def sides(switch: Switch) -> str:
    before, after = (np.array2string(s[:6], precision=6) for s in (switch.before, switch.after))
    return f"{before} before and {after} after"
