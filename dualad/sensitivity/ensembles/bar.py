"""How far an ensemble has come, on a terminal: by tqdm, where it is installed."""

from __future__ import annotations

import sys
from typing import Any, TextIO

__all__ = ["Bar"]


class Bar:
    """A bar that fills with the members; silent where the stream is no terminal."""

    def __init__(self, total: int, start: int, shown: bool, stream: TextIO | None = None):
        self.stream = sys.stderr if stream is None else stream
        self.total, self.count, self.failed = total, start, 0
        self.shown = shown and self.stream.isatty()
        self._tqdm: Any = None
        if self.shown:
            try:
                from tqdm import tqdm
            except ImportError:
                return
            self._tqdm = tqdm(total=total, initial=start, unit="member", file=self.stream)

    def __call__(self, done: int, failed: int) -> None:
        """So many more members are done, so many of them failed."""
        self.count, self.failed = self.count + done, self.failed + failed
        if self._tqdm is not None:
            self._tqdm.set_postfix(failed=self.failed, refresh=False)
            self._tqdm.update(done)
        elif self.shown:
            self.stream.write(f"\r{self.count} of {self.total} members, {self.failed} failed")
            self.stream.flush()

    def close(self) -> None:
        """End the line."""
        if self._tqdm is not None:
            self._tqdm.close()
        elif self.shown:
            self.stream.write("\n")
