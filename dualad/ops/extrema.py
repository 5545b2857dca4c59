"""Extrema: max, min and their kin. Ties share evenly, in forward and in reverse mode."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.arrays.guard import has_nan
from ..engine.arrays.memory import LARGE
from ..engine.levels.spec import Spec
from ..engine.levels.traced import raw
from ..engine.primitives.composite import Composite
from ..engine.primitives.inplace import store
from ..engine.primitives.linear import Linear
from .getitem import getitem, scatter
from .reduce import all_axes, finish, given, number_of, reduce_of, unreduced, valid
from .registry import function, kinks
from .structure import reshape

__all__ = ["maximum_of", "minimum_of"]


def _extremum_rule(t: Any, out: Any, x: Any, axes: tuple) -> Any:
    """The mean tangent of all entries that attain the extremum."""
    hit = x == unreduced(out, x.shape, axes)
    count = np.maximum(np.sum(hit, axis=axes), 1)
    return np.sum(np.where(hit, t, 0), axis=axes) / count


def _chosen(a: Any, ufunc: np.ufunc, axes: tuple, keepdims: Any) -> Any:
    """The extrema as entries of a, which takes no rule; None where one is not attained once."""
    x = raw(a)
    if type(x) is not np.ndarray or x.shape != a.shape or x.size == 0:
        return None
    out = ufunc.reduce(x, axis=axes, keepdims=True)
    hit = x == out
    if x.size >= LARGE and np.count_nonzero(hit) != out.size:
        return None
    places = hit.reshape(-1).nonzero()[0]
    if places.size != out.size or has_nan(out):  # a NaN is attained nowhere
        return None
    shape = out.shape
    if not keepdims or keepdims is np._NoValue:
        shape = tuple([n for k, n in enumerate(shape) if k not in axes])
    if not shape:
        return getitem(a, index=tuple(map(int, np.unravel_index(places[0], x.shape))))
    return attained(a, places=_by_row(places, hit, sorted(axes)).reshape(shape))


def _by_row(places: np.ndarray, hit: np.ndarray, axes: list[int]) -> np.ndarray:
    """The hits, one along the axes to reduce, by their places in the flat array."""
    first, last, shape = axes[0], axes[-1] + 1, hit.shape
    if last - first != len(axes):
        rest = [k for k in range(hit.ndim) if k not in axes]
        order = (*rest, *axes)
        found = np.nonzero(hit.transpose(order))
        at = [found[order.index(k)] for k in range(hit.ndim)]
        return np.asarray(np.ravel_multi_index(at, shape))
    after = math.prod(shape[last:])
    if after == 1:
        return hit.reshape(-1).nonzero()[0]
    # Where the hits are along the axes: a sum of what is zero elsewhere, in few bits.
    before, n = math.prod(shape[:first]), math.prod(shape[first:last])
    kind: Any = np.uint8 if n <= 1 << 8 else np.uint16 if n <= 1 << 16 else np.intp
    along = hit.reshape(before, n, after).view(np.uint8) * np.arange(n, dtype=kind)[:, None]
    row = np.add.reduce(along, axis=1, dtype=kind).astype(np.intp)
    if before > 1:
        row += n * np.arange(before)[:, None]
    row *= after
    row += np.arange(after)
    return row.reshape(-1)


def _put(values: Any, places: np.ndarray, shape: tuple) -> np.ndarray:
    out = np.zeros(shape, values.dtype)
    out.reshape(-1)[places] = values
    return out


def _add_into(out: np.ndarray, ct: Any, places: np.ndarray) -> None:
    if out.flags.c_contiguous:
        out.reshape(-1)[places] += ct
    else:
        out[np.unravel_index(places, out.shape)] += ct


def _attained_batch(args: tuple, mine: tuple, places: np.ndarray) -> Any:
    rows = reshape(args[0], shape=(args[0].shape[0], math.prod(args[0].shape[1:])))
    return getitem(rows, index=(slice(None), places))


def _put_batch(args: tuple, mine: tuple, places: np.ndarray, shape: tuple) -> Any:
    n = args[0].shape[0]
    rows = scatter(args[0], index=(slice(None), places), shape=(n, math.prod(shape)))
    return reshape(rows, shape=(n, *shape))


attained = Linear(
    lambda x, places: x.take(places) if type(x) is np.ndarray else np.take(x, places),
    lambda ct, x, places: put_back(ct, places=places, shape=x.shape),
    batch=_attained_batch,
    spec=lambda x, places: Spec(places.shape, x.dtype),
    show=lambda x, places: f"np.take({x}, {places})",
    add_into=_add_into,
    name="attained",
)
put_back = Linear(
    _put,
    lambda ct, values, places, shape: attained(ct, places=places),
    batch=_put_batch,
    spec=lambda values, places, shape: Spec(shape, values.dtype),
    name="put_back",
)


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
        result = _chosen(a, pair, axes, keepdims)
        if result is None:
            result = primitive(a, axes=axes)
        else:
            keepdims = False
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
