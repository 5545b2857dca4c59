"""Extrema: max, min and their kin. Ties share evenly, in forward and in reverse mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.inplace import store
from ..engine.primitive import Composite
from .reduce import all_axes, finish, given, number_of, reduce_of, unreduced, valid
from .registry import function

__all__ = ["maximum_of", "minimum_of"]


def _extremum_rule(t: Any, out: Any, x: Any, axes: tuple) -> Any:
    """The mean tangent of all entries that attain the extremum."""
    hit = x == unreduced(out, x.shape, axes)
    if out.ndim == 0 and type(hit) is np.ndarray:
        at = np.flatnonzero(hit)
        if at.size == 1:
            return np.ravel(t)[int(at[0])]
    count = np.maximum(np.sum(hit, axis=axes), 1)
    return np.sum(np.where(hit, t, 0), axis=axes) / count


def _extremum(ufunc: np.ufunc, name: str) -> Composite:
    primitive = Composite(
        lambda x, axes: ufunc.reduce(x, axis=axes),
        _extremum_rule,
        batch=lambda args, mine, axes: primitive(args[0], axes=tuple(k + 1 for k in axes)),
        name=name,
    )
    return primitive


maximum_of = _extremum(np.maximum, "max")
minimum_of = _extremum(np.minimum, "min")


def _reduce_extremum(
    primitive: Composite,
    pair: np.ufunc,
    neutral: float,
    a: Any,
    axis: Any,
    out: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
) -> Any:
    if where is not True and where is not np._NoValue:
        if not given(initial):
            raise ValueError(
                f"reduction operation '{pair.__name__}' does not have an identity, so to use a "
                f"where mask one has to specify 'initial'"
            )
        a = np.where(where, a, neutral if a.dtype.kind == "f" else initial)
    axes = all_axes(axis, a.ndim)
    if given(initial) and number_of(a, axes) == 0:
        rest = tuple(n for k, n in enumerate(a.shape) if k not in axes)
        result = np.broadcast_to(np.asarray(initial, a.dtype), rest)
    else:
        result = primitive(a, axes=axes)
        if given(initial):
            result = pair(result, initial)
    return finish(result, a, axes, keepdims, out)


@function(np.max, np.amax)
def np_max(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The largest entry; ties share evenly."""
    return _reduce_extremum(
        maximum_of, np.maximum, -np.inf, a, axis, out, keepdims, initial, where
    )


@function(np.min, np.amin)
def np_min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The smallest entry; ties share evenly."""
    return _reduce_extremum(minimum_of, np.minimum, np.inf, a, axis, out, keepdims, initial, where)


@function(np.ptp)
def np_ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """Largest minus smallest entry."""
    result = np_max(a, axis, None, keepdims) - np_min(a, axis, None, keepdims)
    return result if out is None else store(out, result)


reduce_of(np.maximum, np_max)
reduce_of(np.minimum, np_min)


# --- ignoring NaN --------------------------------------------------------------------------------


def _nan_extremum(f: Callable[..., Any], neutral: float, a: Any, options: tuple) -> Any:
    axis, out, keepdims, initial, where = options
    number = valid(a, where)
    best = f(np.where(number, a, neutral), axis, None, keepdims, initial)
    if not given(initial):
        found = np.sum(number, axis=axis, keepdims=keepdims) > 0
        best = np.where(found, best, np.nan)
    return best if out is None else store(out, best)


@function(np.nanmax)
def np_nanmax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The largest entry that is not NaN; ties share evenly."""
    return _nan_extremum(np_max, -np.inf, a, (axis, out, keepdims, initial, where))


@function(np.nanmin)
def np_nanmin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The smallest entry that is not NaN; ties share evenly."""
    return _nan_extremum(np_min, np.inf, a, (axis, out, keepdims, initial, where))
