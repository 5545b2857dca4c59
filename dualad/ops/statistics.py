"""Variance, standard deviation, averages and covariance: written with sums and lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.traced import raw
from .norms import length
from .products import array_of, conj
from .reduce import all_axes, finish, given, kept, np_mean, np_sum, number_of, without_nan
from .registry import function
from .structure import axes_of

__all__ = ["centered"]


# --- variance and standard deviation -------------------------------------------------------------


def centered(a: Any, axis: Any, where: Any, mean: Any) -> Any:
    """The deviations from the mean, 0 where masked."""
    if not given(mean):
        mean = np_mean(a, axis, None, None, True, where=where)
    deviation = a - mean
    return deviation if where is True else np.where(where, deviation, 0)


def _deviations(a: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """The deviations, and what the sum of their squares is divided by."""
    where = True if options["where"] is np._NoValue else options["where"]
    correction = options["correction"]
    if given(correction):
        if options["ddof"]:
            raise ValueError("ddof and correction can't be provided simultaneously.")
    else:
        correction = options["ddof"]
    if given(options["dtype"]):
        a = a.astype(options["dtype"])
    elif a.dtype.kind in "iub":
        a = a.astype(np.float64)
    count = number_of(a, options["axis"], where)
    divisor = (
        np.maximum(count - correction, 0) if where is not True else max(count - correction, 0)
    )
    return centered(a, options["axis"], where, options["mean"]), divisor


def _square(x: Any) -> Any:
    return np.real(x) ** 2 + np.imag(x) ** 2 if x.dtype.kind == "c" else x * x


def _variance(a: Any, options: dict[str, Any]) -> Any:
    deviation, divisor = _deviations(a, options)
    result = np_sum(_square(deviation), options["axis"]) / divisor
    axes = all_axes(options["axis"], a.ndim)
    return finish(result, a, axes, options["keepdims"], options["out"])


def _deviation(a: Any, options: dict[str, Any]) -> Any:
    """The length of the deviations, so that constant data have the slope 0 and not NaN."""
    deviation, divisor = _deviations(a, options)
    axes = all_axes(options["axis"], a.ndim)
    if isinstance(divisor, (int, float)) and divisor > 0:
        result = length(deviation, axes=axes, divisor=divisor)
    else:
        result = length(deviation, axes=axes) / np.sqrt(divisor)
    return finish(result, a, axes, options["keepdims"], options["out"])


def _moment(f: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's signature of var and std."""

    def moment(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        where: Any = True,
        mean: Any = None,
        correction: Any = None,
    ) -> Any:
        options = {
            "axis": axis, "dtype": dtype, "out": out, "ddof": ddof, "keepdims": keepdims,
            "where": where, "mean": mean, "correction": correction,
        }  # fmt: skip
        return f(a, options)

    return moment


function(np.var)(_moment(_variance))
function(np.std)(_moment(_deviation))
function(np.nanvar)(without_nan(_moment(_variance)))
function(np.nanstd)(without_nan(_moment(_deviation)))


# --- weighted average ----------------------------------------------------------------------------


@function(np.average)
def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: Any = False,
) -> Any:
    """sum(weights * a) / sum(weights), differentiable in both."""
    a = array_of(a)
    if weights is None:
        result = np.mean(a, axis=axis, keepdims=keepdims)
        total = result.dtype.type(a.size / result.size)
    else:
        w = _weights(array_of(weights), a, axis)
        dtype = np.result_type(a.dtype, w.dtype, *([np.float64] if a.dtype.kind in "iub" else []))
        total = np.sum(w, axis=axis, dtype=dtype, keepdims=keepdims)
        if np.any(raw(total) == 0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = np.sum(a * w, axis=axis, keepdims=keepdims) / total
    return (result, np.broadcast_to(total, result.shape)) if returned else result


def _weights(w: Any, a: Any, axis: Any) -> Any:
    """The weights, so shaped that they broadcast against the array."""
    if w.shape == a.shape:
        return w
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = axes_of(axis, a.ndim)
    if w.shape != tuple(a.shape[k] for k in axes):
        raise ValueError(
            "Shape of weights must be consistent with shape of a along specified axis."
        )
    order = tuple(np.argsort(axes).tolist())
    rest = tuple(k for k in range(a.ndim) if k not in axes)
    return np.reshape(np.transpose(w, order), kept(a.shape, rest))


# --- covariance ----------------------------------------------------------------------------------


def _observations(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """One row a variable, one column an observation."""
    x = _rows(array_of(m), rowvar, array_of(m).ndim)
    if y is not None:
        y = array_of(y)
        x = np.concatenate([x, _rows(y, rowvar, 1 if y.ndim < 2 or y.shape[0] == 1 else 2)], 0)
    if given(dtype):
        return x.astype(dtype)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def _rows(x: Any, rowvar: bool, ndim: int) -> Any:
    if x.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    x = np.atleast_2d(x)
    return x if rowvar or ndim == 1 else np.transpose(x)


def _count(x: Any, ddof: Any, w: Any, aweights: Any) -> Any:
    """The number of observations less what the degrees of freedom take."""
    if w is None:
        return x.shape[1] - ddof
    total = np.sum(w)
    if ddof == 0:
        return total
    if aweights is None:
        return total - ddof
    return total - ddof * np.sum(w * aweights) / total


@function(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """The covariance matrix, differentiable in the data and in the weights `aweights`."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    x = _observations(m, y, rowvar, dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    w = None if fweights is None else np.asarray(fweights, float)
    if aweights is not None:
        aweights = array_of(aweights)
        w = aweights if w is None else w * aweights
    x = x - np.expand_dims(average(x, 1, w), 1)
    weighted = x if w is None else x * w
    product = np.matmul(x, conj(np.transpose(weighted)))
    return np.squeeze(product / _positive(_count(x, ddof, w, aweights)))


def _positive(count: Any) -> Any:
    """A count of observations; NumPy's warning and division by zero where it is not positive."""
    if np.all(raw(count) > 0):
        return count
    import warnings

    warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=4)
    return 0.0


@function(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """The correlation matrix: covariances divided by both standard deviations."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = np.sqrt(np.real(np.diagonal(c)))
    return c / np.expand_dims(deviation, 1) / deviation
