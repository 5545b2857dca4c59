"""Extrema: max, min and their kin. Ties share evenly, in forward and in reverse mode."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.inplace import store
from ..engine.primitive import Composite
from ..engine.traced import raw
from .indexing import getitem
from .reduce import all_axes, finish, given, number_of, reduce_of, unreduced, valid
from .registry import function, kinks

__all__ = ["maximum_of", "minimum_of"]


def _extremum_rule(t: Any, out: Any, x: Any, axes: tuple) -> Any:
    """The mean tangent of all entries that attain the extremum."""
    hit = x == unreduced(out, x.shape, axes)
    count = np.maximum(np.sum(hit, axis=axes), 1)
    return np.sum(np.where(hit, t, 0), axis=axes) / count


def _chosen(a: Any, ufunc: np.ufunc, axes: tuple) -> Any:
    """The extrema as entries of a, which takes no rule; None where one is not attained once."""
    x = raw(a)
    if type(x) is not np.ndarray or x.shape != a.shape or x.size == 0:
        return None
    out = ufunc.reduce(x, axis=axes, keepdims=True)
    hit = x == out
    if np.count_nonzero(hit) != out.size or np.any(out != out):  # a NaN is attained nowhere
        return None
    if len(axes) == x.ndim:
        return getitem(a, index=tuple(map(int, np.unravel_index(hit.argmax(), x.shape))))
    return getitem(a, index=_places(hit, axes))


def _places(hit: np.ndarray, axes: tuple) -> tuple:
    """The index of the hits, one along the axes to reduce, in the shape of the others."""
    kept_axes = [k for k in range(hit.ndim) if k not in axes]
    shape = [hit.shape[k] for k in kept_axes]
    if len(axes) > 1:
        order = (*kept_axes, *axes)
        found = np.nonzero(hit.transpose(order))
        return tuple([found[order.index(k)].reshape(shape) for k in range(hit.ndim)])
    flat, (axis,) = np.flatnonzero(hit), axes
    n, after = hit.shape[axis], math.prod(hit.shape[axis + 1 :])
    place = flat // after % n if after > 1 else flat % n
    if after > 1:  # the hits come in the order of the array: each to where its row ends up
        place[flat // (n * after) * after + flat % after] = place.copy()
    index = [np.arange(shape[0])] if len(shape) == 1 else np.ogrid[tuple(map(slice, shape))]
    return (*index[:axis], place.reshape(shape), *index[axis:])


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
        result = np.zeros(rest, a.dtype) + initial
    else:
        result = _chosen(a, pair, axes)
        if result is None:
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
    if a.dtype.kind in "iub":
        return f(a, axis, out, keepdims, initial, where)
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


# --- where a derivative is not unique, or not finite ---------------------------------------------

# Ties of extrema share evenly.
kinks(
    ("np.max(x)", "[2.0, 2.0, 1.0]", "[0.5, 0.5, 0.0]", "ties share evenly"),
    ("np.min(x)", "[2.0, 2.0, 2.0]", "[1/3, 1/3, 1/3]", "ties share evenly"),
    ("np.max(x)", "[np.nan, 1.0]", "[0.0, 0.0]", "no entry attains a NaN"),
    (
        "np.nanmax(x)",
        "[np.nan, 1.0, 1.0]",
        "[0.0, 0.5, 0.5]",
        "ties of what is not NaN share evenly",
    ),
    ("np.nanmin(x)", "[np.nan, 1.0]", "[0.0, 1.0]", "the NaN that is ignored has slope 0"),
    ("np.ptp(x)", "[1.0, 1.0]", "[0.0, 0.0]", "that of max less that of min"),
)
