"""Quantiles and medians: an entry, or two neighbours of the sorted order and a weight between.

Which entries they are carries no derivative. The weight carries that of q.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..engine.levels.traced import TracedArray, raw
from ..engine.levels.values import as_operand
from ..engine.primitives.inplace import store
from ..engine.primitives.primitive import Opaque
from .operands import as_array
from .registry import function, kinks
from .statistics import weights_beside
from .structure import axes_of

__all__: list[str] = []

#: Hyndman and Fan, Sample quantiles in statistical packages (1996): alpha and beta of the
#: position n q + alpha + q (1 - alpha - beta) - 1, counted from 0.
CONTINUOUS = {
    "linear": (1, 1),
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
#: The rank, counted from 0, of the one entry that is taken.
DISCRETE: dict[str, Any] = {
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.round((n - 1) * q),
    "inverted_cdf": lambda n, q: np.ceil(n * q - 1),
    "closest_observation": lambda n, q: _closest(n * q - 1.5),
}
#: The weight of the upper of two entries where the position is that of the lower, and else.
HALVES = {"midpoint": (0, 0.5), "averaged_inverted_cdf": (0.5, 1.0)}
METHODS = (*CONTINUOUS, *DISCRETE, *HALVES)


def _closest(position: Any) -> Any:
    """The next rank, but for a whole number that is odd: then that."""
    below = np.floor(position)
    return np.where((position == below) & (below % 2 == 1), below, below + 1)


def _position(method: str, n: Any, q: Any) -> Any:
    if method == "averaged_inverted_cdf":
        return n * q - 1
    if method not in CONTINUOUS:
        return (n - 1) * q
    alpha, beta = CONTINUOUS[method]
    if alpha == beta == 1:
        return (n - 1) * q
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def _rows(a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """a with the axes that are reduced as one last axis, and the shape that keepdims gives."""
    axes = axes_of(axis, a.ndim)
    rest = [k for k in range(a.ndim) if k not in axes]
    kept = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
    moved = np.transpose(a, (*rest, *axes))
    n = int(np.prod([a.shape[k] for k in axes]))
    return np.reshape(moved, (*(a.shape[k] for k in rest), n)), kept


def _ranked(rows: Any, at: Any) -> Any:
    """The entries of each row with the ranks `at` (m,), or (..., m) where rows differ in them."""
    if isinstance(at, TracedArray) or at.ndim > 1:
        order = np.argsort(rows, -1, kind="stable")
        places = np.take_along_axis(
            order, np.broadcast_to(at, (*rows.shape[:-1], at.shape[-1])), -1
        )
    else:
        order = np.argpartition(rows, np.unique(at).tolist(), -1)
        places = order[..., at]
    return np.take_along_axis(rows, places, -1)


def _between(low: Any, high: Any, t: Any, weak: bool) -> Any:
    """low + t (high - low), exact at both ends; a weak t does not widen the result."""
    step, rest, near_high = high - low, 1 - t, t >= 0.5
    if weak and np.dtype(low.dtype).kind == "f":
        t, rest = t.astype(low.dtype), rest.astype(low.dtype)
    return np.where(near_high, high - step * rest, low + step * t)


def _at_quantiles(rows: Any, n: Any, q: Any, method: str, weak: bool) -> Any:
    """The quantiles q (m,) of the first n entries of each sorted row, as (..., m)."""
    if method in DISCRETE:
        return _ranked(rows, _integer(DISCRETE[method](n, q), n))
    position = _position(method, n, q)
    below = np.floor(position)
    low, high = (_ranked(rows, _integer(below + k, n)) for k in (0, 1))
    if method in CONTINUOUS:
        t = position - below
    else:
        t = np.where(position == below, *HALVES[method])
    return _between(low, high, t, weak)


def _integer(rank: Any, n: Any) -> Any:
    return np.clip(rank, 0, n - 1).astype(np.intp)


def _checked(a: Any, q: Any, method: str, weights: Any) -> tuple[Any, Any]:
    a, q = as_array(a), as_array(q)
    if method not in METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {', '.join(METHODS)}")
    if weights is not None and method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    if np.dtype(a.dtype).kind == "c":
        raise TypeError("a must be an array of real numbers")
    if not np.all((raw(q) >= 0) & (raw(q) <= 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    return a, q


def _finish(result: Any, rest: tuple, q: Any, kept: tuple, keepdims: bool, out: Any) -> Any:
    """(..., m) as the axes of q followed by those that are left."""
    result = np.reshape(np.moveaxis(result, -1, 0), q.shape + (kept if keepdims else rest))
    if out is not None:
        return store(out, result)
    return result if result.shape else result[()]  # NumPy gives a scalar


def _where_any(bad: Any, result: Any) -> Any:
    """result, but NaN in the rows that are bad."""
    if isinstance(bad, TracedArray) or bad.any():
        return np.where(bad[..., None], np.nan, result)
    return result


def _quantile(
    a: Any, q: Any, weak: bool, axis: Any, out: Any, method: str, keepdims: bool, weights: Any
) -> Any:
    a, q = _checked(a, q, method, weights)
    rows, kept = _rows(a, axis)
    if rows.shape[-1] == 0:
        raise IndexError("the quantile of no entries is not defined")
    if weights is None:
        result = _at_quantiles(rows, rows.shape[-1], np.ravel(q), method, weak)
    else:
        result = _weighted(rows, a, weights, axis, q)
    result = _where_any(np.any(np.isnan(rows), -1), result)
    return _finish(result, rows.shape[:-1], q, kept, keepdims, out)


def _nanquantile(
    a: Any, q: Any, weak: bool, axis: Any, out: Any, method: str, keepdims: bool, weights: Any
) -> Any:
    a, q = _checked(a, q, method, weights)
    rows, kept = _rows(a, axis)
    n = np.count_nonzero(~np.isnan(rows), -1, keepdims=True)
    _warn_if_empty(n)
    if weights is None:
        result = _at_quantiles(rows, n, np.ravel(q), method, weak)
    else:
        result = _weighted(rows, a, weights, axis, q)
    result = _where_any(n[..., 0] == 0, result)
    return _finish(result, rows.shape[:-1], q, kept, keepdims, out)


# --- weights -------------------------------------------------------------------------------------


def _weighted(rows: Any, a: Any, weights: Any, axis: Any, q: Any) -> Any:
    """The entries at which the sum of weights reaches a share q; NaN have no weight."""
    w = np.broadcast_to(weights_beside(as_array(weights), a, axis), a.shape)
    if np.any(raw(w) < 0):
        raise ValueError("Weights must be non-negative.")
    places = weighted_places(rows, _rows(w, axis)[0], np.ravel(q))
    return np.take_along_axis(rows, places, -1)


def _weighted_places(rows: Any, weights: Any, q: Any) -> Any:
    places = np.zeros((*rows.shape[:-1], q.shape[-1]), np.intp)
    for at in np.ndindex(rows.shape[:-1]):
        order = np.argsort(rows[at])
        order = order[: np.count_nonzero(~np.isnan(rows[at]))]
        if order.size:
            share = np.cumsum(weights[at][order], dtype=np.float64)
            if not np.isfinite(share[-1]) or share[-1] == 0:
                raise ValueError("Weights included NaN, inf or were all zero.")
            share = (share / share[-1]).astype(np.result_type(q, np.float16))
            share = np.where(share == 0, -1, share)
            rank = np.minimum(np.searchsorted(share, q, side="left"), order.size - 1)
            places[at] = order[rank]
    return places


weighted_places = Opaque(_weighted_places, name="weighted_places")


# --- NumPy's names -------------------------------------------------------------------------------


def _warn_if_empty(n: Any) -> None:
    if np.any(raw(n) == 0):
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=4)


def _is_weak(q: Any) -> bool:
    return type(q) in (int, float)


@function(np.quantile)
def np_quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    return _quantile(a, q, _is_weak(q), axis, out, method, keepdims, weights)


@function(np.percentile)
def np_percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    return _quantile(
        a, np.true_divide(as_operand(q), 100), _is_weak(q), axis, out, method, keepdims, weights
    )


@function(np.nanquantile)
def np_nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    return _nanquantile(a, q, _is_weak(q), axis, out, method, keepdims, weights)


@function(np.nanpercentile)
def np_nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    return _nanquantile(
        a, np.true_divide(as_operand(q), 100), _is_weak(q), axis, out, method, keepdims, weights
    )


def _middle(rows: Any, n: Any) -> Any:
    """The mean of the two middle entries of each row, or the one of an odd number n."""
    if isinstance(n, int):
        entries = _ranked(rows, np.array([n // 2] if n % 2 else [n // 2 - 1, n // 2]))
        return entries if n % 2 else (entries[..., :1] + entries[..., 1:]) / 2
    entries = _ranked(rows, _integer(np.concatenate([(n - 1) // 2, n // 2], -1), n))
    return (entries[..., :1] + entries[..., 1:]) / 2


@function(np.median)
def np_median(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    rows, kept = _rows(a, axis)
    if rows.shape[-1] == 0:
        raise IndexError("the median of no entries is not defined")
    result = _where_any(np.any(np.isnan(rows), -1), _middle(rows, rows.shape[-1]))
    return _finish(result, rows.shape[:-1], np.zeros(()), kept, keepdims, out)


@function(np.nanmedian)
def np_nanmedian(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    rows, kept = _rows(a, axis)
    n = np.count_nonzero(~np.isnan(rows), -1, keepdims=True)
    _warn_if_empty(n)
    result = _where_any(n[..., 0] == 0, _middle(rows, n))
    return _finish(result, rows.shape[:-1], np.zeros(()), kept, keepdims, out)


# --- where a derivative is not unique, or not finite ---------------------------------------------

# Quantiles are means of the entries at their places.
kinks(
    ("np.median(x)", "[1.0, 2.0]", "[0.5, 0.5]", "the mean of the two in the middle"),
    ("np.median(x)", "[1.0, 3.0, 2.0]", "[0.0, 0.0, 1.0]", "the one in the middle"),
    ("np.percentile(x, 25)", "[0.0, 4.0]", "[0.75, 0.25]", "linear between two entries"),
    (
        "np.nanmedian(x)",
        "[np.nan, 1.0, 2.0]",
        "[0.0, 0.5, 0.5]",
        "the NaN that is ignored has slope 0",
    ),
)
