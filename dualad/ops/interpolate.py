"""Piecewise linear interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.levels.traced import TracedArray, raw
from ..engine.primitives.composite import Composite
from .batch_axis import batch_size
from .operands import array_of
from .registry import function, kinks

__all__ = ["interpolation"]


def _rows(args: tuple, mine: tuple) -> Any:
    """Elementwise in x; with a batch of knots, one after another."""
    if mine == (True, False, False):
        return interpolation(*args)
    return np.stack(
        [
            interpolation(*(a[k] if m else a for a, m in zip(args, mine, strict=True)))
            for k in range(batch_size(args, mine))
        ]
    )


def _at(values: Any, k: Any) -> Any:
    """values[k]; the index may be batched."""
    if not isinstance(k, TracedArray):
        return values[k]
    return np.reshape(np.take_along_axis(values, np.ravel(k), 0), k.shape)


def _ends(x: Any, xp: Any, values: Any) -> tuple[Any, Any, Any, Any]:
    """The ends of the interval that holds x, the right one at a knot, and the values there."""
    last = max(xp.shape[0] - 2, 0)
    k = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, last)
    right = k + 1 if xp.shape[0] > 1 else k
    return _at(xp, k), _at(xp, right), _at(values, k), _at(values, right)


def _slope(x: Any, xp: Any, fp: Any) -> Any:
    """The slope of the interval that holds x, 0 outside of the knots."""
    x0, x1, f0, f1 = _ends(x, xp, fp)
    width = np.where(x1 == x0, 1, x1 - x0)
    return np.where((x < xp[0]) | (x > xp[-1]), 0, (f1 - f0) / width)


def _hat(x: Any, xp: Any, values: Any) -> Any:
    """The interpolant of values at the knots, linear in them; flat outside of the knots."""
    x0, x1, v0, v1 = _ends(x, xp, values)
    share = (np.clip(x, xp[0], xp[-1]) - x0) / np.where(x1 == x0, 1, x1 - x0)
    return v0 * (1 - share) + v1 * share


interpolation = Composite(
    lambda x, xp, fp: np.interp(x, xp, fp),
    lambda t, out, x, xp, fp: t * _slope(x, xp, fp),
    lambda t, out, x, xp, fp: -_slope(x, xp, fp) * _hat(x, xp, t),
    lambda t, out, x, xp, fp: _hat(x, xp, t),
    batch=_rows,
    name="interp",
)


@function(np.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Piecewise linear interpolation, differentiable in x, in the values and in the knots.

    At a knot the slope in x is that of the interval to the right; outside of the knots it is 0.
    """
    x, xp, fp = (_floating(array_of(v)) for v in (x, xp, fp))
    if period is not None:
        if np.any(raw(period) == 0):
            raise ValueError("period must be a non-zero value")
        x, xp, fp = _periodic(x, xp, fp, np.abs(period))
        left = right = None
    out = interpolation(x, xp, fp)
    out = out if left is None else np.where(x < xp[0], left, out)
    return out if right is None else np.where(x > xp[-1], right, out)


def _floating(x: Any) -> Any:
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """One period of knots in order, with a neighbour from the next at each end."""
    x, xp = x % period, xp % period
    order = np.argsort(xp)
    xp, fp = _at(xp, order), _at(fp, order)
    xp = np.concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return x, xp, np.concatenate([fp[-1:], fp, fp[:1]])


# --- where a derivative is not unique, or not finite ---------------------------------------------

# At a knot the interval to the right, at the last one that to the left.
kinks(
    (
        "np.interp(x, [0.0, 1.0, 2.0], [0.0, 1.0, 4.0])",
        "1.0",
        "3.0",
        "at a knot the interval to the right",
    ),
    (
        "np.interp(x, [0.0, 1.0, 2.0], [0.0, 1.0, 4.0])",
        "2.0",
        "3.0",
        "at the last knot the one to the left",
    ),
    ("np.interp(x, [0.0, 1.0, 2.0], [0.0, 1.0, 4.0])", "2.5", "0.0", "outside it is constant"),
)
