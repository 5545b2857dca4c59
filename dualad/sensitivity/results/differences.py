"""Derivatives by differences, extrapolated to a step of zero, with an estimate of their error.

Ridders, Accurate computation of F'(x) and F'(x)F''(x), Adv. Eng. Softw. 4 (1982): the step is
divided again and again, a polynomial in its square is extrapolated to zero, and the entry of the
tableau that differs least from its neighbours is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Difference", "central", "complex_step"]

#: The steps are divided by this, so many times.
RATIO, STEPS = 2.0, 10
#: The last step at which nothing is decided, and how well the one-sided derivatives are known.
FEWEST, SIDES = 2, 1e-4


@dataclass(frozen=True)
class Difference:
    """A derivative by differences.

    Attributes:
        value: the derivative.
        error: what it may be off, by its own estimate.
        left, right: the one-sided derivatives, NaN where they were not asked for.
    """

    value: np.ndarray
    error: np.ndarray
    left: np.ndarray
    right: np.ndarray


def central(
    f: Callable[[np.ndarray], Any],
    x: np.ndarray,
    j: int,
    h: float,
    one_sided: bool = True,
    enough: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Difference:
    """df/dx_j by extrapolated central differences; in the precision of x.

    Args:
        f: gives an array of real numbers.
        x: shape (k,).
        j: the entry that moves.
        h: the largest step.
        one_sided: whether the one-sided derivatives are extrapolated, too.
        enough: gives for a derivative the error with which it is good enough: the steps are
            divided no further then. Default: as good as it gets.
    """
    here = np.asarray(f(x))
    at = here if one_sided else None
    middle, left, right = [], [], []
    for i in range(STEPS):
        step = np.zeros_like(x)
        step[j] = (x[j] + h / RATIO**i) - x[j]
        up, down = np.asarray(f(x + step)), np.asarray(f(x - step))
        middle.append((up - down) / (2 * step[j]))
        if at is not None:
            right.append((up - at) / step[j])
            left.append((at - down) / step[j])
        if enough is not None and i >= FEWEST and _settled(middle, left, right, enough):
            break
    value, error = extrapolated(middle, RATIO**2)
    # Two values that are the same to the last bit say nothing of what lies below that bit.
    rounding = np.finfo(here.dtype).eps * np.abs(here) / abs(h)
    error = np.maximum(error, np.where(np.isfinite(rounding), rounding, 0.0))
    if at is None:
        none = np.full(np.shape(value), np.nan)
        return Difference(value, error, none, none)
    return Difference(value, error, extrapolated(left, RATIO)[0], extrapolated(right, RATIO)[0])


def _settled(
    middle: list[np.ndarray],
    left: list[np.ndarray],
    right: list[np.ndarray],
    enough: Callable[[np.ndarray], np.ndarray],
) -> bool:
    """Whether all entries are known well enough, and whether each has one derivative or two."""
    value, error = extrapolated(middle, RATIO**2)
    if not (error <= enough(value)).all():
        return False
    sides = [extrapolated(side, RATIO) for side in (left, right) if side]
    size = np.abs([v for v, _ in sides]).max(axis=0, initial=0.0)
    return all((e <= SIDES * size + enough(value)).all() for _, e in sides)


def extrapolated(first: list[np.ndarray], ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """The limit of a sequence for step zero, and its error; each entry for itself.

    ratio: what an error of the first order of the expansion is divided by at each step.
    """
    best, error = first[0], np.full(np.shape(first[0]), np.inf)
    row = [first[0]]
    for i in range(1, len(first)):
        new = [first[i]]
        for m in range(1, i + 1):
            factor = ratio**m
            new.append((factor * new[m - 1] - row[m - 1]) / (factor - 1))
            with np.errstate(invalid="ignore"):
                off = np.maximum(np.abs(new[m] - new[m - 1]), np.abs(new[m] - row[m - 1]))
            better = off < error
            best = np.where(better, new[m], best)
            error = np.where(better, off, error)
        row = new
    return best, error


def complex_step(f: Callable[[np.ndarray], Any], x: np.ndarray, j: int) -> Difference:
    """df/dx_j as Im f(x + i h e_j) / h, exact to rounding for a function that is analytic.

    Squire and Trapp, Using complex variables to estimate derivatives of real functions (1998).
    """
    h = 1e-30 * max(1.0, abs(float(x[j])))
    moved = x.astype(complex)
    moved[j] += 1j * h
    value = np.imag(np.asarray(f(moved))) / h
    none = np.full(np.shape(value), np.nan)
    return Difference(value, 1e-14 * np.abs(value), none, none)
