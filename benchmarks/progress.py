"""How far a run is, on a terminal."""

import sys
import time

__all__ = ["Progress"]


class Progress:
    """One line of standard error that is written again; nothing where that is no terminal."""

    def __init__(self, total: int):
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.terminal = sys.stderr.isatty()

    def step(self, text: str) -> None:
        self.done += 1
        elapsed = time.monotonic() - self.start
        self.write(f"[{self.done}/{self.total}] {elapsed:4.0f} s  {text}")

    def end(self) -> None:
        self.write("")

    def write(self, text: str) -> None:
        if self.terminal:
            print(f"\r{text:78.78s}", end="\n" * (not text), file=sys.stderr, flush=True)
