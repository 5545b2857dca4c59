"""Functions on a grid: differences, the trapezoidal rule, gradients, phases, ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.levels.traced import TracedArray, raw
from ..engine.levels.values import as_operand
from ..engine.primitives.primitive import Opaque
from .constants import plain
from .operands import array_of
from .reduce import prepared
from .registry import function, kinks
from .structure import axes_of, axis_of

__all__ = ["along"]


def along(axis: int, key: Any) -> tuple:
    """An index that acts on one axis."""
    return (*(slice(None),) * axis, key)


# --- differences ---------------------------------------------------------------------------------


@function(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """n-th differences of neighbours."""
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    a = array_of(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = axis_of(axis, a.ndim)
    ends = [_end(e, a, axis) for e in (prepend, append)]
    parts = [p for p in (ends[0], a, ends[1]) if p is not None]
    a = np.concatenate(parts, axis) if len(parts) > 1 else a
    for _ in range(n):
        a = a[along(axis, slice(1, None))] - a[along(axis, slice(None, -1))]
    return a


def _end(e: Any, a: Any, axis: int) -> Any:
    if e is None or e is np._NoValue:
        return None
    e = array_of(e)
    return e if e.ndim else np.broadcast_to(e, (*a.shape[:axis], 1, *a.shape[axis + 1 :]))


@function(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of the flattened array, with given ends."""
    a = np.ravel(array_of(ary))
    parts = [np.ravel(array_of(p)) for p in (to_begin, a[1:] - a[:-1], to_end) if p is not None]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


@function(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The trapezoidal rule, differentiable in ordinates, abscissae and step."""
    y = array_of(y)
    axis = axis_of(axis, y.ndim)
    step = dx
    if x is not None:
        x = array_of(x)
        step = diff(x) if x.ndim == 1 else diff(x, axis=axis)
        if x.ndim == 1:
            step = np.reshape(step, (-1, *(1,) * (y.ndim - axis - 1)))
    low, high = y[along(axis, slice(None, -1))], y[along(axis, slice(1, None))]
    return np.sum(step * (high + low) / 2.0, axis=axis)


# --- gradient ------------------------------------------------------------------------------------


@function(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Second order differences inside, one-sided ones at the edges."""
    f = array_of(f)
    f = f if f.dtype.kind in "fc" else f.astype(np.float64)
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    axes = axes_of(axis, f.ndim) if axis is not None else tuple(range(f.ndim))
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
    spacings = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    results = [
        _gradient(f, array_of(h), k, edge_order) for h, k in zip(spacings, axes, strict=True)
    ]
    return results[0] if len(axes) == 1 else tuple(results)


def _gradient(f: Any, h: Any, axis: int, edge_order: int) -> Any:
    n = f.shape[axis]
    if n < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least "
            "(edge_order + 1) elements are required."
        )
    if h.ndim > 1 or (h.ndim == 1 and h.shape[0] != n):
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")

    def at(k: int) -> Any:
        return f[along(axis, slice(k, k + 1 or None))]

    step = np.broadcast_to(h, (n - 1,)) if h.ndim == 0 else h[1:] - h[:-1]
    first, last = _edges(at, step, edge_order)
    column = np.reshape(step, (-1, *(1,) * (f.ndim - axis - 1)))
    if _is_even(h, step):  # the middle value has no weight, also where it is NaN
        far = f[along(axis, slice(2, None))] - f[along(axis, slice(None, -2))]
        inner = far / (2.0 * (h if h.ndim == 0 else step[0]))
    else:
        slopes = (f[along(axis, slice(1, None))] - f[along(axis, slice(None, -1))]) / column
        low, high = along(axis, slice(None, -1)), along(axis, slice(1, None))
        before, after = column[:-1], column[1:]
        inner = (slopes[low] * after + slopes[high] * before) / (before + after)
    out = np.concatenate([first, inner, last], axis)
    return out if out.dtype == f.dtype else out.astype(f.dtype)


def _is_even(h: Any, step: Any) -> bool:
    """Whether all steps are one number, or equal numbers without a derivative."""
    if h.ndim == 0:
        return True
    return not isinstance(step, TracedArray) and bool(np.all(step == step[0]))


def _edges(at: Any, step: Any, edge_order: int) -> tuple[Any, Any]:
    """The one-sided differences at both ends, from f at an index and the steps."""
    first, last = (at(1) - at(0)) / step[0], (at(-1) - at(-2)) / step[-1]
    if edge_order == 2:
        second, third = (at(2) - at(1)) / step[1], (at(-2) - at(-3)) / step[-2]
        first = first + (first - second) * step[0] / (step[0] + step[1])
        last = last + (last - third) * step[-1] / (step[-1] + step[-2])
    return first, last


# --- phases --------------------------------------------------------------------------------------

#: How many periods are added to each entry, so that neighbours differ by less than a jump.
_turns = Opaque(
    lambda p, jump, axis, period: np.rint((np.unwrap(p, jump, axis, period=period) - p) / period),
    name="turns",
    batch=lambda args, mine, axis, **params: _turns(args[0], axis=axis + 1, **params),
)


@function(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """p plus whole periods, whose numbers carry no derivative."""
    size = plain(period, "the period of np.unwrap")
    jump = None if discont is None else plain(discont, "the discont of np.unwrap")
    turns = _turns(p, jump=jump, axis=axis_of(axis, p.ndim), period=size)
    return p + turns * period


# --- ranges --------------------------------------------------------------------------------------


@function(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Evenly spaced numbers, linear in start and stop."""
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    own = np.result_type(*(getattr(v, "dtype", v) for v in map(as_operand, (start, stop))), 0.0)
    start, stop = array_of(start) * 1.0, array_of(stop) * 1.0
    span = stop - start
    intervals = num - 1 if endpoint else num
    step = span / intervals if intervals > 0 else np.nan
    k = np.reshape(np.arange(num, dtype=span.dtype), (-1, *(1,) * span.ndim))
    out = k * (step if intervals > 0 else span) + start
    if endpoint and num > 1:
        out = np.where(k == intervals, stop, out)
    out = np.moveaxis(out, 0, axis) if axis != 0 else out
    out = prepared(out, dtype if dtype is not None or out.dtype == own else own, True, None)
    return (out, step) if retstep else out


@function(np.logspace)
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """base to the power of evenly spaced numbers."""
    start, stop, base = (array_of(v) for v in (start, stop, base))
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    if base.ndim:
        base = np.expand_dims(base, axis)
    return prepared(np.power(base, exponents), dtype, True, None)


@function(np.geomspace)
def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers of evenly spaced logarithm."""
    start, stop = array_of(start) * 1.0, array_of(stop) * 1.0
    if not np.all(raw(start)) or not np.all(raw(stop)):
        raise ValueError("Geometric sequence cannot include zero")
    out = start * (stop / start) ** linspace(
        np.zeros_like(start), np.ones_like(stop), num, endpoint
    )
    if endpoint and num > 1:
        last = np.reshape(np.arange(num), (-1, *(1,) * (out.ndim - 1))) == num - 1
        out = np.where(last, stop, out)
    out = np.moveaxis(out, 0, axis) if axis != 0 else out
    return prepared(out, dtype, True, None)


# --- where a derivative is not unique, or not finite ---------------------------------------------

# What is added to unwrap is constant.
kinks(
    (
        "np.unwrap(np.stack([x, y]), period=2.0)[1]",
        "0.0, 1.5",
        "0.0, 1.0",
        "the whole periods that are added are constant",
    ),
)
