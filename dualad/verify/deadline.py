"""A time limit that works in any thread, without signals.

SymPy is Python, so a trace function sees every call that it makes and can end it there.
"""

from __future__ import annotations

import sys
import time
from inspect import CO_GENERATOR
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Deadline", "OutOfTime"]

#: How many calls pass between two looks at the clock.
CALLS = 200


class OutOfTime(BaseException):
    """Raised inside the limited block; no `except Exception` on the way stops it."""


class Deadline:
    """Raise OutOfTime in the block when it has run for so many seconds.

    Blocks may be nested: the inner limit does not extend the outer one. It ends the block at the
    next call of a Python function, so one long operation of C code is waited for.

    >>> try:
    ...     with Deadline(0.05):
    ...         while True:
    ...             _ = divmod.__class__.__name__, str.join, repr(Deadline(1))
    ... except OutOfTime:
    ...     print("ended")
    ended
    """

    def __init__(self, seconds: float):
        self.seconds = seconds

    def __enter__(self) -> Deadline:
        self.before = sys.gettrace()
        outer = getattr(self.before, "__self__", None)
        self.end = time.monotonic() + self.seconds
        if isinstance(outer, Deadline):
            self.end = min(self.end, outer.end)
        self.left = CALLS
        sys.settrace(self.watch)
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        sys.settrace(self.before)

    def watch(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Called by Python at each call; Python stops tracing once it has raised.

        Generators are spared: one that is being closed would swallow the exception.
        """
        self.left -= 1
        if self.left < 0:
            if time.monotonic() > self.end and not frame.f_code.co_flags & CO_GENERATOR:
                raise OutOfTime(f"{self.seconds:g} s")
            self.left = CALLS
        return None
