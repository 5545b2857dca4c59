"""What a right-hand side decides by the values of its arguments, noted as it runs.

Comparisons, abs, maximum, floor, where and their kin decide by the sign of something; they are met
on arrays that note which way each decision went.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Decision", "Notes", "noting"]


@dataclass(frozen=True)
class Decision:
    """What was decided, which way, and by which line of the model."""

    operation: str
    outcome: bytes
    line: str = ""


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
