"""Running reductions: cumsum, cumprod, and those of ufuncs.

The running sum is a linear primitive. The running product and the running extremum state a
forward rule each, both with the linear recurrence s[k] = a[k] s[k-1] + b[k].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.levels.spec import Spec
from ..engine.primitives.composite import Composite
from ..engine.primitives.inplace import store
from ..engine.primitives.linear import Linear
from .reduce import in_range, prepared
from .registry import function, kinks, ufunc_method
from .structure import axis_of

__all__ = ["cumulative_product", "cumulative_sum", "recurrence"]


def recurrence(a: Any, b: Any, axis: int) -> Any:
    """s[k] = a[k] s[k-1] + b[k] along an axis, in log2(n) steps that each double the reach.

    Only sums and products: exact with zeros in a, linear in b. (Hillis and Steele, "Data parallel
    algorithms", 1986, applied to the composition of the maps s -> a s + b.)
    """
    n, lead, reach = b.shape[axis], (slice(None),) * axis, 1
    while reach < n:
        head, tail = (*lead, slice(None, reach)), (*lead, slice(reach, None))
        back = (*lead, slice(None, n - reach))
        b = np.concatenate([b[head], b[tail] + a[tail] * b[back]], axis)
        if 2 * reach < n:
            a = np.concatenate([a[head], a[tail] * a[back]], axis)
        reach *= 2
    return b


def _shifted(x: Any, axis: int, first: float) -> Any:
    """x moved on by one along an axis."""
    lead = (slice(None),) * axis
    start = np.full((*x.shape[:axis], min(x.shape[axis], 1), *x.shape[axis + 1 :]), first, x.dtype)
    return np.concatenate([start, x[(*lead, slice(None, -1))]], axis)


# --- sum -----------------------------------------------------------------------------------------

cumulative_sum = Linear(
    lambda x, axis: np.add.accumulate(x, axis=axis),
    lambda ct, x, axis: np.flip(cumulative_sum(np.flip(ct, axis), axis=axis), axis),
    batch=lambda args, mine, axis: cumulative_sum(args[0], axis=axis + 1),
    spec=lambda x, axis: Spec(x.shape, x.dtype),
    show=lambda x, axis: f"np.cumsum({x}, axis={axis})",
    name="cumsum",
)


# --- product -------------------------------------------------------------------------------------


def _cumprod_rule(t: Any, out: Any, x: Any, axis: int) -> Any:
    if in_range(out):
        return out * np.cumsum(t / x, axis=axis)
    return recurrence(x, t * _shifted(out, axis, 1), axis)


cumulative_product = Composite(
    lambda x, axis: np.multiply.accumulate(x, axis=axis),
    _cumprod_rule,
    batch=lambda args, mine, axis: cumulative_product(args[0], axis=axis + 1),
    name="cumprod",
)


# --- extrema -------------------------------------------------------------------------------------


def _running_rule(t: Any, out: Any, x: Any, axis: int) -> Any:
    """The mean tangent of all entries so far that attain the present extremum."""
    hit = x == out
    same = (out == _shifted(out, axis, np.nan)) * 1.0
    count = recurrence(same, hit * 1.0, axis)
    return recurrence(same, np.where(hit, t, 0), axis) / np.maximum(count, 1)


def _running(ufunc: np.ufunc) -> Composite:
    primitive = Composite(
        lambda x, axis: ufunc.accumulate(x, axis=axis),
        _running_rule,
        batch=lambda args, mine, axis: primitive(args[0], axis=axis + 1),
        name=f"{ufunc.__name__}.accumulate",
    )
    return primitive


running_maximum = _running(np.maximum)
running_minimum = _running(np.minimum)


# --- NumPy's names -------------------------------------------------------------------------------


def _accumulate(primitive: Any, a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    a = prepared(a, dtype, True, None)
    if axis is None:
        a, axis = a if a.ndim == 1 else np.ravel(a), 0
    result = primitive(a, axis=axis_of(axis, a.ndim))
    return result if out is None else store(out, result)


@function(np.cumsum)
def np_cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The running sum is linear."""
    return _accumulate(cumulative_sum, a, axis, dtype, out)


@function(np.cumprod)
def np_cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The running product, exact with zeros among the factors."""
    return _accumulate(cumulative_product, a, axis, dtype, out)


@function(np.nancumsum)
def np_nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The running sum of what is not NaN."""
    return np_cumsum(np.where(a == a, a, 0), axis, dtype, out)


@function(np.nancumprod)
def np_nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The running product of what is not NaN."""
    return np_cumprod(np.where(a == a, a, 1), axis, dtype, out)


def _cumulative(
    primitive: Any, first: float, x: Any, axis: Any, dtype: Any, out: Any, include_initial: bool
) -> Any:
    if axis is None:
        if x.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` is required.")
        axis = 0
    x = np.atleast_1d(x)
    axis = axis_of(axis, x.ndim)
    result = _accumulate(primitive, x, axis, dtype, None)
    if include_initial:
        start = np.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), first, result.dtype)
        result = np.concatenate([start, result], axis)
    return result if out is None else store(out, result)


if hasattr(np, "cumulative_sum"):  # NumPy 2.1

    @function(np.cumulative_sum)
    def np_cumulative_sum(
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        """The running sum by the array API's name."""
        return _cumulative(cumulative_sum, 0, x, axis, dtype, out, include_initial)

    @function(np.cumulative_prod)
    def np_cumulative_prod(
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        """The running product by the array API's name."""
        return _cumulative(cumulative_product, 1, x, axis, dtype, out, include_initial)


@ufunc_method(np.add, "accumulate")
def add_accumulate(a: Any, axis: int = 0, dtype: Any = None) -> Any:
    """np.add.accumulate."""
    return _accumulate(cumulative_sum, a, axis, dtype, None)


@ufunc_method(np.multiply, "accumulate")
def multiply_accumulate(a: Any, axis: int = 0, dtype: Any = None) -> Any:
    """np.multiply.accumulate."""
    return _accumulate(cumulative_product, a, axis, dtype, None)


@ufunc_method(np.maximum, "accumulate")
def maximum_accumulate(a: Any, axis: int = 0, dtype: Any = None) -> Any:
    """np.maximum.accumulate; ties share evenly."""
    return _accumulate(running_maximum, a, axis, dtype, None)


@ufunc_method(np.minimum, "accumulate")
def minimum_accumulate(a: Any, axis: int = 0, dtype: Any = None) -> Any:
    """np.minimum.accumulate; ties share evenly."""
    return _accumulate(running_minimum, a, axis, dtype, None)


# --- where a derivative is not unique, or not finite ---------------------------------------------

# Ties share evenly, whatever their order; a zero among factors is a factor like any other.
kinks(
    ("np.maximum.accumulate(x)[2]", "[2.0, 1.0, 2.0]", "[0.5, 0.0, 0.5]", "ties share evenly"),
    ("np.cumprod(x)[2]", "[0.0, 2.0, 3.0]", "[6.0, 0.0, 0.0]", "the product of the others"),
    ("np.cumprod(x)[2]", "[0.0, 0.0, 3.0]", "[0.0, 0.0, 0.0]", "the product of the others"),
)
