"""How far rounding moves the values of a function, measured where it is sampled.

At the smallest steps the second difference of a smooth function is nothing but that error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .samples import EPS, NOISE_LEVELS, RATIO, Samples, sample, steps

__all__ = ["roughness", "rounding_noise"]

#: A claim may lose all digits; that shows at steps that are small beside the arguments.
ROUGH, NEAR = 10.0, 1e-3
#: In how many larger steps rounding must show itself.
WINDOW = 4
#: Relative to the value: rounding in steps as coarse as this is a property of the code (single
#: precision inside, an offset that cancels), and not a feature of the function.
QUANTUM = 1e-5


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
        return 4 * rounding_noise(s, ROUGH)[0]


def rounding_noise(s: Samples, most: float = QUANTUM) -> tuple[np.ndarray, np.ndarray]:
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
