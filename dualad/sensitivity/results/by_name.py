"""A dictionary whose missing keys are named together with those that there are."""

from __future__ import annotations

from typing import Any

from ..errors import EventError, unknown_name

__all__ = ["EventsByName", "UnknownEventError"]


class UnknownEventError(EventError, KeyError):
    """There is no event of that name; it is a KeyError too, as for any mapping."""

    def __str__(self) -> str:
        return str(self.args[0])


class EventsByName(dict[str, Any]):
    """What a result knows of its events, by their names.

    >>> EventsByName({"bounce": 1})["dose"]
    Traceback (most recent call last):
    ...
    dualad.sensitivity.results.by_name.UnknownEventError: there is no event 'dose': there is bounce
    """

    def __missing__(self, name: Any) -> Any:
        raise UnknownEventError(unknown_name("event", name, self))
