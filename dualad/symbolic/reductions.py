"""Reductions of symbolic arrays that are not sums or products: extremes, means, order."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from .entries import entry, expression
from .errors import REMEDY, NotSymbolicError
from .tables import METHODS, handles
from .value import FUNCTIONS, Symbolic, apply, entries_of, store, symbolic, wrapped

__all__ = ["reduced"]


def reduced(name: str, a: Any, axis: Any, keepdims: bool = False) -> Symbolic:
    """A ufunc of two arguments from one entry to the next along axes, None for all."""
    entries, f = entries_of(a), entry(name)
    chosen_axes = range(entries.ndim) if axis is None else np.atleast_1d(axis)
    axes = sorted(int(k) % entries.ndim for k in chosen_axes)
    kept = tuple(1 if k in axes else n for k, n in enumerate(entries.shape))
    rows = np.moveaxis(entries, axes, range(len(axes)))
    rows = rows.reshape(-1, *rows.shape[len(axes) :])
    out = functools.reduce(np.frompyfunc(f, 2, 1), rows)
    result = wrapped(out)
    return result.reshape(kept) if keepdims else result


def by_reduction(name: str) -> Callable[..., Any]:
    def reduce(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **_: Any) -> Any:
        result = reduced(name, a, axis, bool(keepdims) and keepdims is not np._NoValue)
        return result if out is None else store(out, result)

    return reduce


for _functions, _name in (
    ((np.max, np.amax, np.nanmax), "maximum"),
    ((np.min, np.amin, np.nanmin), "minimum"),
    ((np.all,), "logical_and"),
    ((np.any,), "logical_or"),
):
    handles(*_functions)(by_reduction(_name))

FUNCTIONS[np.nansum] = FUNCTIONS[np.sum]
FUNCTIONS[np.nanprod] = FUNCTIONS[np.prod]


def ufunc_reduce(name: str, a: Any, axis: Any = 0, keepdims: bool = False, **_: Any) -> Symbolic:
    return reduced(name, a, axis, keepdims)


def ufunc_accumulate(name: str, a: Any, axis: int = 0, **_: Any) -> Symbolic:
    f = np.frompyfunc(entry(name), 2, 1)
    return wrapped(f.accumulate(entries_of(a), axis=axis, dtype=object))


def ufunc_outer(name: str, a: Any, b: Any, **_: Any) -> Symbolic:
    return wrapped(np.frompyfunc(entry(name), 2, 1).outer(entries_of(a), entries_of(b)))


def ufunc_at(name: str, a: Any, index: Any, *values: Any) -> None:
    buffer = a.entries if isinstance(a, Symbolic) else a
    if buffer.dtype != object:
        raise NotSymbolicError(f"{name}.at cannot write symbols into a plain array: {REMEDY}")
    getattr(np, name).at(buffer, index, *map(entries_of, values))


METHODS |= {
    "reduce": ufunc_reduce,
    "accumulate": ufunc_accumulate,
    "outer": ufunc_outer,
    "at": ufunc_at,
}


@handles(np.sort)
def sort(a: Any, axis: Any = -1, **_: Any) -> Symbolic:
    """A network of exchanges of neighbours: as many rounds as there are entries."""
    entries = entries_of(a)
    rows = entries.ravel() if axis is None else np.moveaxis(entries, axis, 0)
    columns = list(rows)
    low, high = (np.frompyfunc(entry(name), 2, 1) for name in ("minimum", "maximum"))
    for k in range(len(columns)):
        for j in range(k % 2, len(columns) - 1, 2):
            left, right = columns[j : j + 2]
            columns[j : j + 2] = low(left, right), high(left, right)
    out = np.stack([np.asarray(c, dtype=object) for c in columns]) if columns else rows
    return wrapped(out if axis is None else np.moveaxis(out, 0, axis))


@handles(np.median)
def median(a: Any, axis: Any = None, **_: Any) -> Symbolic:
    """Of an even number the mean of the two in the middle."""
    ordered = sort(a, axis)
    n = ordered.shape[0 if axis is None else axis]
    middle = [FUNCTIONS[np.take](ordered, k, axis or 0) for k in ((n - 1) // 2, n // 2)]
    return (middle[0] + middle[1]) / 2


@handles(np.ptp)
def ptp(a: Any, axis: Any = None) -> Symbolic:
    return reduced("maximum", a, axis) - reduced("minimum", a, axis)


@handles(np.mean, np.nanmean)
def mean(a: Any, axis: Any = None, keepdims: Any = False, **_: Any) -> Symbolic:
    total = reduced("add", a, axis, bool(keepdims) and keepdims is not np._NoValue)
    return total / sympy.Rational(entries_of(a).size, max(total.size, 1))


@handles(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, **_: Any) -> Symbolic:
    if weights is None:
        return mean(a, axis)
    w = symbolic(weights)
    return reduced("add", symbolic(a) * w, axis) / reduced("add", w, axis)


@handles(np.var, np.nanvar)
def var(
    a: Any,
    axis: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    correction: Any = None,
    **_: Any,
) -> Symbolic:
    away = symbolic(a) - mean(a, axis, True)
    ddof = ddof if correction is None or correction is np._NoValue else correction
    total = reduced("add", away * away, axis, bool(keepdims) and keepdims is not np._NoValue)
    return total / (sympy.Rational(entries_of(a).size, max(total.size, 1)) - expression(ddof))


@handles(np.std, np.nanstd)
def std(a: Any, axis: Any = None, **options: Any) -> Symbolic:
    return apply("sqrt", var(a, axis, **options))
