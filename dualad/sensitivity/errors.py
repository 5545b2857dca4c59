"""What goes wrong with a model, its parameters or what was asked of it, and by whose doing."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from ..errors import DualADError

__all__ = [
    "CheckError",
    "EventError",
    "ModelError",
    "NotIdentifiableError",
    "NotIdentifiableWarning",
    "ParameterError",
    "SensitivityError",
    "SensitivityWarning",
    "UnknownNameError",
    "unknown_name",
]


class SensitivityError(DualADError, ValueError):
    """A sensitivity analysis was asked for in a way that has no answer."""


class ParameterError(SensitivityError):
    """A parameter has no usable value, or a name is unknown, repeated or missing."""


class UnknownNameError(ParameterError, KeyError):
    """There is nothing of that name; it is a KeyError too, as for any mapping."""

    def __str__(self) -> str:
        return str(self.args[0])


class ModelError(SensitivityError):
    """The model failed: a wrong shape, a NaN, an exception of its own, a step that got too small.

    `t` and `y` are the last time and state that were good, where there are any.
    """

    def __init__(self, message: str, t: float | None = None, y: Any = None):
        super().__init__(message)
        self.t, self.y = t, y


class EventError(SensitivityError):
    """An event has no time, or its time no derivative: it is touched, or comes without end."""


class NotIdentifiableError(SensitivityError):
    """Parameters cannot be told apart by what is observed."""


class CheckError(SensitivityError):
    """A derivative disagrees with what an independent method found."""


class SensitivityWarning(UserWarning):
    """A result that is right but may not mean what it seems to."""


class NotIdentifiableWarning(SensitivityWarning):
    """Parameters cannot be told apart by what is observed; a result holds for the others."""


def unknown_name(what: str, name: Any, known: Iterable[str]) -> str:
    """The sentence that says which names there are, the nearest one first."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"there is no {what} {name!r}: there is {', '.join(names) or 'none'}{hint}"
