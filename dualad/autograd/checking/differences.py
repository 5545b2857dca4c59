"""Numeric derivatives: central differences of a function along directions of one input."""

from __future__ import annotations

from typing import Any

import numpy as np

from .subject import Subject, Variable

__all__ = ["Differences"]

#: A step of fewer units of rounding of its entry would drown in the rounding of func.
ROUNDING_UNITS = 4096


class Differences:
    """Central differences of a subject with step eps.

    An entry so large that eps is less than 4096 units of its rounding (above about 1e6 in
    float64) is moved by that much instead. The quotient is taken with the step as it was rounded.
    """

    def __init__(self, subject: Subject, eps: float):
        self.subject, self.eps = subject, eps

    def along(self, x: Variable, where: Any, direction: Any) -> tuple[list[np.ndarray], Any]:
        """The derivatives of all outputs when x[where] moves along a direction.

        Returns the derivatives and the direction to which they belong: the given one up to
        rounding, longer in entries that need a larger step.
        """
        up, down, moved = self._both_sides(x, where, direction)
        width = 2 * self.eps
        with np.errstate(all="ignore"):
            return [(u - d) / width for u, d in zip(up, down, strict=True)], moved / width

    def entry(self, x: Variable, where: tuple[int, ...], unit: complex) -> list[np.ndarray]:
        """The derivatives of all outputs with respect to one entry of x."""
        slopes, moved = self.along(x, where, unit)
        length = (moved / unit).real
        with np.errstate(all="ignore"):
            return [s / length for s in slopes]

    def one_sided(
        self, x: Variable, where: tuple[int, ...], unit: complex
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The derivatives from the left and from the right."""
        up, down, moved = self._both_sides(x, where, unit)
        here = list(map(_wide, self.subject.values()))
        half = (moved / unit).real / 2
        with np.errstate(all="ignore"):
            left = [(h - d) / half for h, d in zip(here, down, strict=True)]
            right = [(u - h) / half for u, h in zip(up, here, strict=True)]
        return left, right

    def _both_sides(self, x: Variable, where: Any, direction: Any) -> tuple[list, list, Any]:
        """The outputs on both sides of x[where], and by how much it was moved in all."""
        memory = x.memory
        here = np.array(memory[where])
        step = self._step(here) * direction
        try:
            # The user did not ask for these points, and need not hear of what is undefined there.
            with np.errstate(all="ignore"):
                memory[where] = here + step
                above, up = np.array(memory[where]), self.subject.values()
                memory[where] = here - step
                below, down = np.array(memory[where]), self.subject.values()
        finally:
            memory[where] = here
        return list(map(_wide, up)), list(map(_wide, down)), above - below

    def _step(self, here: np.ndarray) -> np.ndarray:
        # A coarse format has no step that is both small and many units: 1 % of the entry then.
        least = min(ROUNDING_UNITS * float(np.finfo(here.dtype).eps), 0.01)
        size = np.where(np.isfinite(here), np.abs(here), 0.0)
        return np.maximum(self.eps, least * size)


def _wide(value: np.ndarray) -> np.ndarray:
    """In double precision at least, for the difference of two."""
    return value.astype(np.result_type(value.dtype, np.float64))
