"""A line on a terminal that says how far long work has come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

__all__ = ["Line"]


class Line:
    """Rewrites one line a few times a second; silent where the stream is no terminal.

    Nothing is shown of work that ends within the first half second.
    """

    def __init__(self, shown: bool = True, stream: TextIO | None = None):
        self.stream = sys.stderr if stream is None else stream
        self.shown = shown and self.stream.isatty()
        self._next = time.monotonic() + 0.5
        self._width = 0

    def say(self, text: Callable[[], str]) -> None:
        """What there is to say now, if it is time to say something."""
        if not self.shown or time.monotonic() < self._next:
            return
        self._write(text())
        self._next = time.monotonic() + 0.2

    def close(self) -> None:
        """Clear the line."""
        if self._width:
            self._write("")
            self.stream.write("\r")
            self.stream.flush()

    def __reduce__(self) -> tuple[type[Line], tuple[bool]]:
        # A stream does not go to another process: there nothing is shown.
        return Line, (False,)

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, line: str) -> None:
        self.stream.write("\r" + line.ljust(self._width))
        self.stream.flush()
        self._width = len(line)
