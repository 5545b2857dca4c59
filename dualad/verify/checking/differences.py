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
What is needed here is this page.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Samples", "Slope", "roughness", "sample", "slope", "steps"]

RATIO = 4.0
COLUMNS = 4
EPS = float(np.finfo(np.float64).eps)
#: The least step in units of the rounding of the argument.
LEAST = 64
#: Levels at which the second difference of a smooth function is rounding error.
NOISE_LEVELS = 8
#: A claim may lose all digits; that shows at steps that are small beside the arguments.
ROUGH, NEAR = 10.0, 1e-3
#: So many of the largest steps are a look from afar.
FROM_AFAR = (4, 6, 9, 13)
#: So many of the smallest steps show whether a slope has an end.
LAST = 6
#: In how many larger steps rounding must show itself.
WINDOW = 4
#: By how much the measured rounding error may be too small.
CAUTION = (1.5, 48.0)
#: Relative to the value: rounding in steps as coarse as this is a property of the code (single
#: precision inside, an offset that cancels), and not a feature of the function.
QUANTUM = 1e-5


@dataclass
class Samples:
    """Values of a function along a line: at 0, at +h and at -h for decreasing steps h.

    One column for each output; h has one column for all, or one for each.
    """

    h: np.ndarray
    mid: np.ndarray
    up: np.ndarray
    down: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[Samples]) -> Samples:
        """Samples along several lines, with equally many steps, side by side."""
        h = [np.broadcast_to(s.h, s.up.shape) for s in parts]
        return cls(
            np.hstack(h),
            np.concatenate([s.mid for s in parts]),
            np.hstack([s.up for s in parts]),
            np.hstack([s.down for s in parts]),
        )


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


def steps(x: float, scale: float = 1.0, unit: float | None = None) -> np.ndarray:
    """Steps for an argument: powers of two, so that x + h and x - h are (nearly) exact.

    Args:
        x: the value.
        scale: what is large beside it; the first step is a quarter of the larger one.
        unit: the rounding unit of the argument, if it is not that of x.
    """
    top = 2.0 ** (math.floor(math.log2(max(abs(x), scale))) - 2)
    if unit is None:
        unit = float(np.spacing(abs(x))) if x else EPS * scale
    least = max(LEAST * unit, 1e-290)
    n = max(NOISE_LEVELS + 3, math.ceil(math.log(top / least, RATIO)) + 1)
    return top * RATIO ** -np.arange(n, dtype=float)


def sample(f: Callable[[float], np.ndarray], h: np.ndarray, mid: np.ndarray) -> Samples:
    """The values of f(t) at 0 (given) and on both sides of it; NaN where f has none."""
    return Samples(h[:, None], mid, _rows(f, h, mid), _rows(f, -h, mid))


def _rows(f: Callable[[float], np.ndarray], ts: np.ndarray, mid: np.ndarray) -> np.ndarray:
    out = np.full((len(ts), mid.size), np.nan)
    for k, t in enumerate(ts):
        try:
            out[k] = f(float(t))
        except Exception:  # whatever the code raises there: it has no value
            continue
    return out


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
    measured, floor = _noise(s)
    unresolved = _unresolved(s, measured + floor) if order == 2 else 0.0
    value, bound = _best(d, (CAUTION[0] * measured + floor) * over + unresolved, order)
    for caution in CAUTION[1:]:
        other, wider = _best(d, (caution * (measured + floor)) * over + unresolved, order)
        better = wider < bound
        value, bound = np.where(better, other, value), np.where(better, wider, bound)
    return value, bound


def roughness(f: Callable[[float], np.ndarray], mid: np.ndarray, eps: float) -> np.ndarray:
    """How far rounding moves the values of f(t) near 0, with some reserve.

    Args:
        f: of steps t relative to the arguments.
        mid: its value at 0.
        eps: the rounding unit with which it is computed.
    """
    s = sample(f, steps(0.0, 1.0, eps), mid)
    near = s.h[:, 0] <= NEAR
    s = Samples(s.h[near], s.mid, s.up[near], s.down[near])
    with np.errstate(all="ignore"):
        return 4 * _noise(s, ROUGH)[0]


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
        far, e = _best(d[:coarse], floor[:coarse], 2)
        gap = np.abs(far - value)
        apart = np.fmax(2 * (e + bound), np.fmax(np.abs(far), np.abs(value)) / 100)
        differ = np.isfinite(far) & (gap > apart) & (e < np.abs(far) / 100)
        reach = np.max(np.where(np.abs(d - value) <= gap / 10, h, 0.0), axis=0)
        between = (h > reach) & (np.abs(d - far) > np.abs(far) / 10)
        sign = np.where(between, np.sign(d - far), 0.0)
        turns = (sign[1:] * sign[:-1] < 0).sum(axis=0)
        doubt |= differ & (gap * reach <= np.abs(s.mid) / 2) & (turns >= 2)
    return doubt


def _noise(s: Samples, most: float = QUANTUM) -> tuple[np.ndarray, np.ndarray]:
    """How far a value may be from the function that the code means: measured, and at least."""
    even, odd = s.up - 2 * s.mid + s.down, s.up - s.down
    # Both vanish for a straight line, so that little but rounding is left at the smallest steps;
    # the odd one is scaled so that errors which are independent weigh the same in both.
    third = np.zeros_like(odd)
    third[:-1] = (odd[:-1] - RATIO * odd[1:]) / 2.4
    bent = np.nan_to_num(np.fmax(np.abs(even), np.abs(third)), posinf=0.0)
    largest = np.fmax(np.fmax(np.abs(s.up), np.abs(s.down)), np.abs(s.mid))
    least = bent[-NOISE_LEVELS:]
    # Where every larger step multiplies it, as 16 does for a parabola, it is curvature.
    grows = np.vstack([least[:-1] > 6 * least[1:], np.zeros((1, least.shape[1]), bool)])
    curvature = np.logical_and.accumulate(grows, axis=0)
    measured = np.max(np.where(curvature, 0.0, least), axis=0)
    return np.fmax(np.fmax(measured, _jumps(s, even, most)), _quantum(s)), 2 * EPS * largest


def _jumps(s: Samples, even: np.ndarray, most: float) -> np.ndarray:
    """Rounding that only larger steps see: a second difference that appears all at once.

    In (1 - cos x) / x**2 near 0 the cosine changes in steps much wider than those of x. A kink or
    a jump not far away appears at once, too, but as the step grows it grows or stays: what rises
    and falls is rounding.
    """
    size, second = np.abs(s.mid), np.abs(even)
    appears = second[:-1] > 1000 * (second[1:] + 2 * EPS * size)
    out = np.zeros(len(size))
    for k in range(WINDOW, len(appears)):
        near, signed = second[k - WINDOW : k + 1], np.sign(even[k - WINDOW : k + 1])
        small = near <= most * size
        both = small[:-1] & small[1:]
        trembles = both & ((near[:-1] < near[1:] / 2) | (signed[:-1] != signed[1:]))
        noise = np.max(np.where(small, near, 0.0), axis=0)
        out = np.where(appears[k] & small[-1] & trembles.any(axis=0), np.fmax(out, noise), out)
    return out


def _quantum(s: Samples) -> np.ndarray:
    """The height of the steps of a staircase: the least change, smaller steps changing nothing.

    A function that is flat on one side of a kink is none: it changes on the other side only.
    """
    up, down = np.abs(s.up - s.mid), np.abs(s.down - s.mid)
    level = np.arange(len(s.h))[:, None]
    first_up, first_down = (np.max(np.where(v > 0, level, -9), axis=0) for v in (up, down))
    moved = np.concatenate([up, down])
    least = np.fmin.reduce(np.where(moved > 0, moved, np.inf), axis=0)
    stairs = (np.abs(first_up - first_down) <= 2) & (np.fmax(first_up, first_down) < len(s.h) - 2)
    real = stairs & np.isfinite(least) & (least <= QUANTUM * np.abs(s.mid))
    return np.where(real, least, 0.0)


def _best(d: np.ndarray, noise: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
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
