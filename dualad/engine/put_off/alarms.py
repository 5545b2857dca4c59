"""How NumPy's warnings are given: whether they may come late, and then as at the operation.

That is NumPy's error state, and Python's warning filters. Where either would make an exception of
a warning, or call something, an operation cannot be put off: it has to come where it belongs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..arrays.guard import error_state, restore, set_state

__all__ = ["Alarms"]

#: Whether the filters are a list that can be compared and put back, as `catch_warnings` does it:
#: they are none where they belong to a context.
CAN_WAIT = (
    hasattr(warnings, "_filters_mutated")
    and hasattr(warnings, "_showwarnmsg_impl")
    and not getattr(sys.flags, "context_aware_warnings", False)
)


class Alarms:
    """The error state and the warning filters as they are when this is made."""

    __slots__ = ("filters", "known", "may_be_late", "shown", "state")

    def __init__(self) -> None:
        self.state = error_state()
        self.filters: Any = warnings.filters
        self.known = list(warnings.filters)
        self.shown = shown()
        self.may_be_late = (
            CAN_WAIT
            and error_state() is self.state
            and set(np.geterr().values()) <= {"ignore", "warn"}
            and not raises(self.known)
        )

    def are_the_same(self) -> bool:
        """Whether warnings would be given now as then."""
        return (
            error_state() is self.state
            and warnings.filters is self.filters
            and self.known == self.filters
            and shown() == self.shown
        )

    @contextmanager
    def of_the_operations(self) -> Iterator[None]:
        """Warnings within are given as they would have been then."""
        if self.are_the_same():
            yield
            return
        token = set_state(self.state)
        try:
            with warnings.catch_warnings():
                warnings.filters = self.known
                warnings._filters_mutated()  # type: ignore[attr-defined]
                warnings._showwarnmsg_impl, warnings.showwarning = self.shown  # type: ignore
                yield
        finally:
            restore(token)


def shown() -> tuple[Any, Any]:
    """What shows a warning now."""
    return getattr(warnings, "_showwarnmsg_impl", None), warnings.showwarning


def raises(filters: list) -> bool:
    """Whether a warning of NumPy's may become an exception: the first filter that fits decides."""
    for action, message, category, module, line in filters:
        if issubclass(RuntimeWarning, category):
            if action == "error":
                return True
            if message is None is module and not line:
                return False
    return False
