"""Variance, standard deviation, averages and covariance.

Variance and standard deviation state a forward rule each. Constant data have the slope 0, as the
length of a vector has at 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.levels.traced import raw
from ..engine.primitives.composite import Composite
from .norms import inner, length, radial
from .operands import array_of
from .products import conj
from .reduce import all_axes, finish, given, kept, np_mean, np_sum, number_of, without_nan
from .registry import function, kinks
from .structure import axes_of

__all__ = ["deviation", "variance", "weights_beside"]


# --- variance and standard deviation -------------------------------------------------------------


def _from_mean(x: Any, axes: tuple) -> Any:
    """The deviations from the mean. They add up to 0, so the mean of a tangent has no share."""
    return x - np.mean(x, axis=axes, keepdims=True)


def _moment(f: Callable[..., Any], name: str, rule: Callable[..., Any]) -> Composite:
    """A moment about the mean, over axes, divided by `divisor`."""
    primitive = Composite(
        lambda x, axes, divisor: f(x, axis=axes, ddof=number_of(x, axes) - divisor),
        rule,
        batch=lambda args, mine, axes, divisor: primitive(
            args[0], axes=tuple(k + 1 for k in axes), divisor=divisor
        ),
        name=name,
    )
    return primitive


variance = _moment(
    np.var,
    "var",
    lambda t, out, x, axes, divisor: inner(_from_mean(x, axes), t, axes) * 2 / divisor,
)
deviation = _moment(
    np.std,
    "std",
    lambda t, out, x, axes, divisor: radial(t, out, _from_mean(x, axes), axes) / divisor,
)


def _divisor(count: Any, ddof: Any, correction: Any) -> Any:
    """The number of entries less the degrees of freedom."""
    if given(correction):
        if ddof:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    return max(count - ddof, 0) if isinstance(count, int) else np.maximum(count - ddof, 0)


def _deviations(a: Any, axis: Any, where: Any, mean: Any) -> Any:
    """The deviations from the mean, 0 where masked."""
    if not given(mean):
        mean = np_mean(a, axis, None, None, True, where=where)
    return a - mean if where is True else np.where(where, a - mean, 0)


def _square(x: Any) -> Any:
    return np.real(x) ** 2 + np.imag(x) ** 2 if x.dtype.kind == "c" else x * x


def _about_the_mean(primitive: Composite, general: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's signature of var and std; `general` takes deviations from a given or masked mean."""

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
        where = True if where is np._NoValue else where
        if given(dtype) or a.dtype.kind in "iub":
            a = a.astype(dtype if given(dtype) else np.float64)
        axes = all_axes(axis, a.ndim)
        divisor = _divisor(number_of(a, axes, where), ddof, correction)
        if where is True and not given(mean) and divisor > 0:
            result = primitive(a, axes=axes, divisor=divisor)
        else:
            if type(divisor) not in (int, float):  # the result has the dtype of the entries
                divisor = divisor.astype(a.dtype.type(0).real.dtype)
            result = general(_deviations(a, axes, where, mean), axes, divisor)
        return finish(result, a, axes, keepdims, out)

    return moment


def _root(n: Any) -> Any:
    """The root of a count, as a Python number if that is one: it has no dtype then."""
    return math.sqrt(n) if type(n) in (int, float) else np.sqrt(n)


np_var = _about_the_mean(variance, lambda x, axes, n: np_sum(_square(x), axes) / n)
np_std = _about_the_mean(deviation, lambda x, axes, n: length(x, axes=axes) / _root(n))
function(np.var)(np_var)
function(np.std)(np_std)
function(np.nanvar)(without_nan(np_var))
function(np.nanstd)(without_nan(np_std))


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
        w = weights_beside(array_of(weights), a, axis)
        dtype = np.result_type(a.dtype, w.dtype, *([np.float64] if a.dtype.kind in "iub" else []))
        total = np.sum(w, axis=axis, dtype=dtype, keepdims=keepdims)
        if np.any(raw(total) == 0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = np.sum(a * w, axis=axis, keepdims=keepdims) / total
    return (result, np.broadcast_to(total, result.shape)) if returned else result


def weights_beside(w: Any, a: Any, axis: Any) -> Any:
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
    return x.astype(dtype if given(dtype) else np.result_type(x.dtype, np.float64))


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


# --- where a derivative is not unique, or not finite ---------------------------------------------

# Constant data have the least spread: slope 0.
kinks(
    ("np.std(x)", "[1.0, 1.0]", "[0.0, 0.0]", "as the norm of the deviations at 0"),
    ("np.var(x)", "[1.0, 1.0]", "[0.0, 0.0]", "the function is smooth there"),
)
