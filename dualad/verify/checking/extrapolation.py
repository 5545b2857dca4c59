"""Difference quotients extrapolated to a step of zero (Richardson 1911), with error bounds."""

from __future__ import annotations

import numpy as np

from .samples import RATIO

__all__ = ["best"]

COLUMNS = 4


def best(d: np.ndarray, noise: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """The estimate with the smallest bound that agrees with all estimates from smaller steps.

    Args:
        d: quotients for decreasing steps, one row for each.
        noise: bounds of their rounding errors.
        order: the powers of h in the error of d: 2, 4, 6, ... or 1, 2, 3, ...
    """
    value, bound = _extrapolated(d, noise, order)
    best_value, best_bound = np.full(d.shape[1], np.nan), np.full(d.shape[1], np.inf)
    low, high = np.full(d.shape[1], -np.inf), np.full(d.shape[1], np.inf)
    alive = np.ones(d.shape[1], bool)
    for v, e in zip(value[::-1], bound[::-1], strict=True):
        known = np.isfinite(v) & np.isfinite(e)
        new_low, new_high = np.fmax(low, v - e), np.fmin(high, v + e)
        alive &= ~known | (new_low <= new_high)
        better = alive & known & (e < best_bound)
        best_value, best_bound = np.where(better, v, best_value), np.where(better, e, best_bound)
        low, high = np.where(alive & known, new_low, low), np.where(alive & known, new_high, high)
    return best_value, best_bound


def _extrapolated(d: np.ndarray, noise: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """For each step the best column of the extrapolation table, and its bound."""
    value, bound = d.copy(), np.full(d.shape, np.inf)
    bound[1:] = np.abs(d[1:] - d[:-1]) + noise[1:]
    table, carried = d, noise
    for column in range(1, min(COLUMNS, len(d) - 1) + 1):
        factor = RATIO ** (order * column)
        above, below = table[:-1], table[1:]
        refined = (factor * below - above) / (factor - 1)
        carried = (factor * carried[1:] + carried[:-1]) / (factor - 1)
        # What the last step changed in this column, and what this column changed: two witnesses.
        error = np.full(refined.shape, np.inf)
        error[1:] = np.abs(refined[1:] - refined[:-1])
        error = np.fmax(error, np.abs(refined - below)) + carried
        rows = slice(column, None)
        better = error < bound[rows]
        value[rows] = np.where(better, refined, value[rows])
        bound[rows] = np.where(better, error, bound[rows])
        table = refined
    return value, bound
