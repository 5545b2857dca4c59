"""Derivatives from function values alone, each with a bound of its error.

Central differences are taken for steps from about the size of the argument down to 64 units of
its rounding, each a quarter of the one before, and extrapolated (Richardson 1911). Two things
make the bound one that may be believed:

- The rounding error of the function is measured where it is differentiated: at the smallest steps
  the second difference of a smooth function is nothing but that error.
- An estimate from a large step counts only if it agrees, within both bounds, with those of all
  smaller steps. So a function that is straight from afar and steep near by is not taken for
  straight, and one that jumps not far away is differentiated this side of the jump. Among those
  that count, the one with the smallest bound wins (a rule of choice due to Lepski 1990).

Why not numdifftools: it estimates errors from how estimates scatter, which is no bound (for
steep functions it is often too small), needs one more dependency, and evaluates entry by entry.
What is needed here are these pages: `samples`, `rounding`, `extrapolation` and this one.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from .extrapolation import best
from .rounding import rounding_noise
from .samples import EPS, RATIO, Samples

__all__ = ["Slope", "slope"]

#: So many of the largest steps are a look from afar.
FROM_AFAR = (4, 6, 9, 13)
#: So many of the smallest steps show whether a slope has an end.
LAST = 6
#: By how much the measured rounding error may be too small.
CAUTION = (1.5, 48.0)


@dataclass
class Slope:
    """A derivative along a line.

    Attributes:
        value, bound: of each output; an infinite bound where there is none.
        left, right: the derivatives from both sides where these differ, else the value.
        kink: where they differ.
        one_sided: where the function has no values on one of the sides.
        size: the largest slope from afar: what is large for this derivative.
        bend: the largest change to one side, over the step: not zero for a parabola at its top.
    """

    value: np.ndarray
    bound: np.ndarray
    left: np.ndarray
    right: np.ndarray
    kink: np.ndarray
    one_sided: np.ndarray
    size: np.ndarray
    bend: np.ndarray


def slope(s: Samples) -> Slope:
    """The derivative of every output at 0, with bounds."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns of NaN have no maximum
        h = s.h
        both = _trusting(s, (s.up - s.down) / (2 * h), 1 / h, 2)
        right = _trusting(s, (s.up - s.mid) / h, 2 / h, 1)
        left = _trusting(s, (s.mid - s.down) / h, 2 / h, 1)
        value, bound = both
        bound = np.where(_two_minds(s, value, bound), np.inf, bound)
        no_left = ~np.isfinite(s.down[-1]) & np.isfinite(s.up[-1])
        no_right = ~np.isfinite(s.up[-1]) & np.isfinite(s.down[-1])
        for side, missing in ((right, no_left), (left, no_right)):
            value, bound = np.where(missing, side[0], value), np.where(missing, side[1], bound)
        gap = np.abs(right[0] - left[0])
        kink = np.isfinite(gap) & (gap > 3 * (right[1] + left[1]))
        value = np.where(kink, (left[0] + right[0]) / 2, value)
        bound = np.where(kink, np.fmax(left[1], right[1]), bound)
        endless = _endless(s)
        afar = (np.abs(s.up - s.down) / (2 * h))[: FROM_AFAR[1]]
        size = np.nan_to_num(np.nanmax(afar, axis=0), posinf=0.0)
        sides = np.fmax(np.abs(s.up - s.mid), np.abs(s.down - s.mid)) / h
        bend = np.nan_to_num(np.nanmax(sides[: FROM_AFAR[1]], axis=0), posinf=0.0)
    keep = ~kink
    value = np.where(np.isfinite(value), value, np.nan)
    value = np.where(endless != 0, np.where(endless > 0, np.inf, -np.inf), value)
    return Slope(
        value,
        np.where(np.isfinite(value) & np.isfinite(bound), bound, np.inf),
        np.where(keep, value, left[0]),
        np.where(keep, value, right[0]),
        kink & (endless == 0),
        no_left | no_right,
        size,
        bend,
    )


def _endless(s: Samples) -> np.ndarray:
    """At an edge of the domain: the sign of a slope that grows without bound (sqrt at 0), or 0."""
    up, down = (s.up - s.mid) / s.h, (s.mid - s.down) / s.h
    found = np.zeros(len(s.mid))
    for d, other in ((up, down), (down, up)):
        last = d[-LAST:]
        edge = ~np.isfinite(other[-1])
        noise = 8 * EPS * np.abs(s.mid) / s.h[-1]
        grows = (np.abs(last[1:]) > 1.4 * np.abs(last[:-1])).all(axis=0)
        turns = (np.sign(last) != np.sign(last[-1])).any(axis=0)
        found = np.where(
            edge & grows & ~turns & (np.abs(last[-1]) > noise), np.sign(last[-1]), found
        )
    return found


def _trusting(
    s: Samples, d: np.ndarray, over: np.ndarray, order: int
) -> tuple[np.ndarray, np.ndarray]:
    """The best estimate, the rounding error taken as measured, or larger where that says more.

    What is so small that some tens of the measured error would explain it is no feature of the
    function, and larger steps need not agree with it.
    """
    measured, floor = rounding_noise(s)
    unresolved = _unresolved(s, measured + floor) if order == 2 else 0.0
    value, bound = best(d, (CAUTION[0] * measured + floor) * over + unresolved, order)
    for caution in CAUTION[1:]:
        other, wider = best(d, (caution * (measured + floor)) * over + unresolved, order)
        better = wider < bound
        value, bound = np.where(better, other, value), np.where(better, wider, bound)
    return value, bound


def _unresolved(s: Samples, noise: np.ndarray) -> np.ndarray:
    """How far the slopes of both sides differ at steps too large to resolve the function.

    A step resolves a function if its second difference is that of a parabola, 16 times that of
    the next step. Where it is not, central differences may agree with each other by symmetry
    alone, while what goes on near by is hidden in rounding.
    """
    even = s.up - 2 * s.mid + s.down
    expected = np.vstack([RATIO**2 * even[1:], even[-1:]])
    wild = ~(np.abs(even - expected) <= np.abs(even) / 2 + 2 * noise) & (np.abs(even) > noise)
    beside = np.vstack([even[1:], even[-1:]])
    size = np.nan_to_num(np.fmax(np.abs(even), np.abs(beside)), posinf=0.0)
    return np.where(wild, 2 * size / s.h, 0.0)


def _two_minds(s: Samples, value: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Where the function has one slope from near by and another from afar, and trembles between.

    It may be a small fast oscillation, of which the near slope is right, or rounding in teeth
    wider than the smallest steps, of which the far slope is. Values alone cannot tell.
    """
    h = s.h
    d = (s.up - s.down) / (2 * h)
    floor = 2 * EPS * np.fmax(np.abs(s.up), np.abs(s.down)) / h
    doubt = np.zeros(len(value), bool)
    for coarse in FROM_AFAR:
        far, e = best(d[:coarse], floor[:coarse], 2)
        gap = np.abs(far - value)
        apart = np.fmax(2 * (e + bound), np.fmax(np.abs(far), np.abs(value)) / 100)
        differ = np.isfinite(far) & (gap > apart) & (e < np.abs(far) / 100)
        reach = np.max(np.where(np.abs(d - value) <= gap / 10, h, 0.0), axis=0)
        between = (h > reach) & (np.abs(d - far) > np.abs(far) / 10)
        sign = np.where(between, np.sign(d - far), 0.0)
        turns = (sign[1:] * sign[:-1] < 0).sum(axis=0)
        doubt |= differ & (gap * reach <= np.abs(s.mid) / 2) & (turns >= 2)
    return doubt
