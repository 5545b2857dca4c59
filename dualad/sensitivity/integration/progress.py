"""A line on a terminal that says how far an integration has come."""

from __future__ import annotations

from typing import TextIO

from ..progress import Line

__all__ = ["Progress"]


class Progress(Line):
    """Says the time and the steps of an integration; see `Line`."""

    def __init__(self, t1: float, shown: bool = True, stream: TextIO | None = None):
        super().__init__(shown, stream)
        self.t1 = t1

    def __call__(self, t: float, steps: int) -> None:
        """One step is done, the time is t."""
        if self.shown:
            self.say(lambda: f"t = {t:.3g} of {self.t1:.3g}, {steps} steps")
