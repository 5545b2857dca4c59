"""Values of a function along a line, on both sides of a point, for decreasing steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Samples", "sample", "steps"]

RATIO = 4.0
EPS = float(np.finfo(np.float64).eps)
#: The least step in units of the rounding of the argument.
LEAST = 64
#: Levels at which the second difference of a smooth function is rounding error.
NOISE_LEVELS = 8


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
