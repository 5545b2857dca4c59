"""How a mismatch is found and told: which Jacobian, where, both values, what is allowed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import DualADError

__all__ = ["GradcheckError", "GradcheckInputError", "Mismatch", "digits", "worst", "wrong_entries"]


class GradcheckError(DualADError, RuntimeError):
    """A derivative did not pass gradcheck.

    Attributes:
        mismatch: the entry of a Jacobian that is wrong; None if another property failed.
    """

    def __init__(self, message: str, mismatch: Mismatch | None = None):
        super().__init__(message)
        self.mismatch = mismatch


class GradcheckInputError(DualADError, ValueError, AssertionError):
    """What gradcheck was given does not say what to check, or cannot be checked."""


@dataclass(frozen=True)
class Mismatch:
    """The worst entry of a Jacobian that is not what it should be.

    Attributes:
        mode: how the analytic value was computed.
        output, output_entry: which entry of which output was differentiated; of a complex
            output, `part` says which part.
        input, input_entry: with respect to what.
        analytic, numeric: the two values. For a complex input, d/dRe + 1j * d/dIm.
        tolerance: the largest difference that was allowed.
        wrong, entries: how many entries of this Jacobian are wrong, of how many.
        hints: what may be the cause.
        others: what else is wrong, a line each.
    """

    mode: str
    output: str
    output_entry: tuple[int, ...]
    part: str
    input: str
    input_entry: tuple[int, ...]
    analytic: complex
    numeric: complex
    tolerance: float
    wrong: int
    entries: int
    hints: list[str]
    others: list[str] = field(default_factory=list)

    @property
    def difference(self) -> float:
        """The absolute value of analytic - numeric."""
        return abs(self.analytic - self.numeric)

    @property
    def place(self) -> str:
        """Which Jacobian, in words."""
        return f"{self.part}{self.output} with respect to {self.input}, by {self.mode}"

    def __str__(self) -> str:
        lines = [
            f"Jacobian mismatch for {self.place}: {self.wrong} of {self.entries} entries wrong",
            f"  worst: entry {self.output_entry} of {self.output}, entry {self.input_entry} of "
            f"{self.input}",
            f"  analytical {digits(self.analytic)}",
            f"  numerical  {digits(self.numeric)}",
            f"  difference {self.difference:.4g}, allowed {self.tolerance:.4g} "
            f"(atol + rtol * |numeric|)",
        ]
        lines += [f"  hint: {line}" for line in self.hints]
        lines += [f"  wrong too: {line}" for line in self.others]
        return "\n".join(lines)


def wrong_entries(found: np.ndarray, reference: np.ndarray, allowed: Any) -> np.ndarray:
    """Where two arrays differ by more than is allowed; a NaN agrees with nothing."""
    with np.errstate(all="ignore"):
        return ~((np.abs(found - reference) <= allowed) | (found == reference))


def worst(found: np.ndarray, reference: np.ndarray, allowed: Any) -> tuple[int, ...] | None:
    """The index of the worst of the wrong entries, None if there is none."""
    wrong = wrong_entries(found, reference, allowed)
    if not wrong.any():
        return None
    with np.errstate(all="ignore"):
        excess = np.abs(found - reference) - allowed
    rank = np.where(wrong, np.where(np.isnan(excess), np.inf, excess), -np.inf)
    return tuple(int(k) for k in np.unravel_index(np.argmax(rank), rank.shape))


def digits(value: complex) -> str:
    """A value as reports show it."""
    return f"{value:.12g}"
