"""A line on a terminal that says how far an integration has come."""

from __future__ import annotations

import sys
import time
from typing import TextIO

__all__ = ["Progress"]


class Progress:
    """Rewrites one line a few times a second; silent where the stream is no terminal.

    Nothing is shown of a run that ends within the first half second.
    """

    def __init__(self, t1: float, shown: bool = True, stream: TextIO | None = None):
        self.t1, self.stream = t1, sys.stderr if stream is None else stream
        self.shown = shown and self.stream.isatty()
        self._next = time.monotonic() + 0.5
        self._width = 0

    def __call__(self, t: float, steps: int) -> None:
        """One step is done, the time is t."""
        if not self.shown or time.monotonic() < self._next:
            return
        line = f"t = {t:.3g} of {self.t1:.3g}, {steps} steps"
        self._write(line)
        self._next = time.monotonic() + 0.2

    def close(self) -> None:
        """Clear the line."""
        if self._width:
            self._write("")
            self.stream.write("\r")
            self.stream.flush()

    def _write(self, line: str) -> None:
        self.stream.write("\r" + line.ljust(self._width))
        self.stream.flush()
        self._width = len(line)
