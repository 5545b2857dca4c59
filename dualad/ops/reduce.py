"""Reductions over axes: sum, mean, product, log-sum-exp, and what all reductions share.

The sum is a linear primitive (`structure.sum_axes`). Product and log-sum-exp state one forward
rule each; all other names are written with these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.arrays.guard import quiet
from ..engine.fast_paths.contractions import summed
from ..engine.levels.traced import raw
from ..engine.primitives.composite import Composite
from ..engine.primitives.inplace import store
from .registry import function, kinks, ufunc_method
from .structure import axes_of, reshape, sum_axes

__all__ = [
    "all_axes",
    "finish",
    "given",
    "in_range",
    "kept",
    "number_of",
    "prepared",
    "product",
    "reduce_of",
    "unreduced",
    "without_nan",
]

#: All axes of an array, by its rank.
EVERY = tuple(tuple(range(n)) for n in range(65))


# --- the arguments that all reductions share -----------------------------------------------------


def given(option: Any) -> bool:
    """Whether an optional argument was passed."""
    return option is not None and option is not np._NoValue


def kept(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with ones where it was reduced."""
    return tuple([1 if k in axes else n for k, n in enumerate(shape)])


def unreduced(out: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """A reduced array, so shaped that it broadcasts against what it was reduced from."""
    return reshape(out, shape=kept(shape, axes))


def prepared(a: Any, dtype: Any, where: Any, neutral: Any) -> Any:
    """The array to reduce: of the wanted dtype, the neutral element where it is masked."""
    if given(dtype):
        a = a.astype(dtype)
    return a if where is True or where is np._NoValue else np.where(where, a, neutral)


def finish(result: Any, a: Any, axes: tuple[int, ...], keepdims: Any, out: Any) -> Any:
    """What every reduction does last: keepdims and out."""
    if keepdims and keepdims is not np._NoValue:
        result = unreduced(result, a.shape, axes)
    return result if out is None else store(out, result)


def all_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes to reduce, None standing for all; NumPy takes 0 and -1 for a number too."""
    if axis is None or (ndim == 0 and not isinstance(axis, (tuple, list)) and axis in (0, -1)):
        return EVERY[ndim]
    return axes_of(axis, ndim)


def reduce_of(u: np.ufunc, f: Callable[..., Any]) -> None:
    """Let u.reduce be the reduction f; its axis is 0 by default."""

    @ufunc_method(u, "reduce")
    def reduce(a: Any, axis: Any = 0, dtype: Any = None, **options: Any) -> Any:
        return f(prepared(a, dtype, True, None), axis, **options)


def valid(a: Any, where: Any) -> Any:
    """Which entries are neither NaN nor masked."""
    number = np.equal(a, a)
    return number if where is True or where is np._NoValue else np.logical_and(number, where)


def without_nan(f: Callable[..., Any]) -> Callable[..., Any]:
    """The reduction f of the entries that are not NaN."""

    def reduce(a: Any, *args: Any, where: Any = True, **options: Any) -> Any:
        return f(a, *args, where=valid(a, where), **options)

    return reduce


# --- sum and mean --------------------------------------------------------------------------------


@function(np.sum)
def np_sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The sum is linear."""
    if dtype is not None or where is not True:
        a = prepared(a, dtype, where, 0)
    axes = None if axis is None else all_axes(axis, a.ndim)
    total = summed(a, axes)
    if total is None:
        axes = EVERY[a.ndim] if axes is None else axes
        total = sum_axes(a, axes=axes)
    if dtype is not None and total.dtype != dtype:  # of few bits NumPy's own sum has more
        total = total.astype(dtype)
    if initial is not None and given(initial):
        total = total + initial
    if keepdims is False and out is None:
        return total
    return finish(total, a, EVERY[a.ndim] if axes is None else axes, keepdims, out)


@function(np.mean)
def np_mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """The sum, divided by the number of entries."""
    if dtype is None and a.dtype.kind in "iub":
        dtype = np.float64
    if dtype is None and a.dtype == np.float16:
        mean = np_mean(a, axis, np.float32, None, keepdims, where=where).astype(np.float16)
        return mean if out is None else store(out, mean)
    total = np_sum(a, axis, dtype, None, keepdims, None, where)
    count = number_of(a, axis, where, keepdims)
    if type(count) is int and count == 0:
        count = total.dtype.type(0)  # NumPy's zero warns, Python's would raise.
    elif type(count) is not int:
        count = count.astype(total.dtype)  # An array of integers would make float64 of float32.
    mean = total / count
    return mean if out is None else store(out, mean)


def number_of(a: Any, axis: Any, where: Any = True, keepdims: Any = False) -> Any:
    """How many entries are reduced to one."""
    if where is not True and where is not np._NoValue:
        mask = np.broadcast_to(where, a.shape)
        return np.sum(mask, axis=axis, keepdims=keepdims)
    count = 1
    for k in all_axes(axis, a.ndim):
        count *= a.shape[k]
    return count


@function(np.trace)
def np_trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """The sum of a diagonal."""
    return np_sum(np.diagonal(a, offset, axis1, axis2), -1, dtype, out)


@function(np.linalg.trace)
def linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of a diagonal of the last two axes."""
    return np_trace(x, offset, -2, -1, dtype)


# --- product -------------------------------------------------------------------------------------

SMALL, LARGE = 1e-30, 1e30


def in_range(out: Any) -> bool:
    """Whether all products are so far from 0 and infinity that dividing by a factor is safe."""
    size = np.abs(raw(out))
    return bool(np.all((size > SMALL) & (size < LARGE)))


def _others(x: Any, out: Any, axis: int) -> Any:
    """The product of all factors but one, for each one: no division where a factor may be zero."""
    if in_range(out):
        return np.expand_dims(out, axis) / x
    one = np.ones((*x.shape[:axis], 1, *x.shape[axis + 1 :]), x.dtype)
    lead = (slice(None),) * axis
    before = np.cumprod(x[(*lead, slice(None, -1))], axis=axis)
    after = np.flip(np.cumprod(np.flip(x[(*lead, slice(1, None))], axis), axis=axis), axis)
    return np.concatenate([one, before], axis) * np.concatenate([after, one], axis)


def _product_rule(t: Any, out: Any, x: Any, axis: int) -> Any:
    return None if x.shape[axis] == 0 else np.sum(t * _others(x, out, axis), axis=axis)


product = Composite(
    lambda x, axis: np.multiply.reduce(x, axis=axis),
    _product_rule,
    batch=lambda args, mine, axis: product(args[0], axis=axis + 1),
    name="prod",
)


def _merged(a: Any, axes: tuple[int, ...]) -> tuple[Any, int]:
    """The array with the axes to reduce made one, and the place of that."""
    if len(axes) == 1:
        return a, axes[0]
    if len(axes) == a.ndim:
        return np.reshape(a, (a.size,)), 0
    rest = tuple(k for k in range(a.ndim) if k not in axes)
    moved = np.transpose(a, rest + axes)
    shape = tuple(a.shape[k] for k in rest)
    return np.reshape(moved, (*shape, number_of(a, axes))), len(shape)


@function(np.prod)
def np_prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """Each factor counts with the product of the others, exact with zeros among them."""
    a = prepared(a, dtype, where, 1)
    axes = all_axes(axis, a.ndim)
    merged, place = _merged(a, axes)
    result = product(merged, axis=place)
    if given(initial):
        result = result * initial
    return finish(result, a, axes, keepdims, out)


# --- log-sum-exp ---------------------------------------------------------------------------------


def _logaddexp_rule(t: Any, out: Any, x: Any, axis: int) -> Any:
    """The softmax of x, in its limit where the result is infinite: the largest share evenly."""
    full = np.expand_dims(out, axis)
    with quiet():
        weight = np.exp(x - full)
    if np.all(np.isfinite(raw(out))):
        return np.sum(weight * t, axis=axis)
    hit = x == full
    count = np.maximum(np.sum(hit, axis=axis, keepdims=True), 1)
    weight = np.where(np.isfinite(full), weight, hit / count)
    return np.sum(np.where(weight == 0, 0, weight * t), axis=axis)


logaddexp_of = Composite(
    lambda x, axis: np.logaddexp.reduce(x, axis=axis),
    _logaddexp_rule,
    batch=lambda args, mine, axis: logaddexp_of(args[0], axis=axis + 1),
    name="logaddexp.reduce",
)


def _logaddexp(
    a: Any, axis: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Any:
    a = prepared(a, None, where, -np.inf)
    axes = all_axes(axis, a.ndim)
    merged, place = _merged(a, axes)
    result = logaddexp_of(merged, axis=place)
    if given(initial):
        result = np.logaddexp(result, initial)
    return finish(result, a, axes, keepdims, None)


# --- the same by other names ---------------------------------------------------------------------

reduce_of(np.add, np_sum)
reduce_of(np.multiply, np_prod)
reduce_of(np.logaddexp, _logaddexp)

function(np.nansum)(without_nan(np_sum))
function(np.nanmean)(without_nan(np_mean))
function(np.nanprod)(without_nan(np_prod))


# --- where a derivative is not unique, or not finite ---------------------------------------------

# Zeros among factors are factors like any others.
kinks(
    ("np.prod(x)", "[0.0, 2.0]", "[2.0, 0.0]", "the product of the others"),
    ("np.prod(x)", "[0.0, 0.0, 3.0]", "[0.0, 0.0, 0.0]", "the product of the others"),
    ("np.sum(np.abs(x))", "[0.0, -1.0]", "[0.0, -1.0]", "as abs"),
)
