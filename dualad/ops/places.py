"""Places: which entries, by order, value or truth. They are integers, without a derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.levels.spec import spec_of
from ..engine.levels.traced import TracedArray, raw
from ..engine.levels.values import as_operand
from ..engine.primitives.primitive import Opaque, Primitive
from ..engine.primitives.shape import zeros
from ..errors import LostDerivativeError
from .constants import into
from .operands import as_array, flat_if_none
from .registry import PREDICATE, function
from .structure import axes_of, axis_of

__all__ = ["of_many_sizes"]

# --- along axes ------------------------------------------------------------------------------


def _behind_batch(name: str) -> Callable[..., Any]:
    """The batch rule of an operation along an axis, or axes, of its only argument."""

    def batch(args: tuple, mine: tuple, axis: Any, **params: Any) -> Any:
        axis = tuple(a + 1 for a in axis) if isinstance(axis, tuple) else axis + 1
        return along[name](args[0], axis=axis, **params)

    return batch


#: Operations without derivative along an axis, which is never negative or None.
along = {
    f.__name__: Opaque(f, batch=_behind_batch(f.__name__))
    for f in (np.count_nonzero, np.argmax, np.argmin, np.argsort, np.argpartition)
}


@function(np.count_nonzero, result=PREDICATE)
def np_count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return along["count_nonzero"](a, axis=axes_of(axis, a.ndim), keepdims=keepdims)


def _extreme(name: str, a: Any, axis: Any, keepdims: bool) -> Any:
    if axis is not None:
        return along[name](a, axis=axis_of(axis, a.ndim), keepdims=keepdims)
    at = along[name](np.ravel(a), axis=0)
    return np.reshape(at, (1,) * a.ndim) if keepdims else at


@function(np.argmax, result=PREDICATE)
def np_argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    return into(out, _extreme("argmax", a, axis, keepdims))


@function(np.argmin, result=PREDICATE)
def np_argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    return into(out, _extreme("argmin", a, axis, keepdims))


@function(np.argsort, result=PREDICATE)
def np_argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    a, axis = flat_if_none(a, axis)
    return along["argsort"](a, axis=axis, kind="stable" if stable else kind)


@function(np.argpartition, result=PREDICATE)
def np_argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Any:
    a, axis = flat_if_none(a, axis)
    return along["argpartition"](a, axis=axis, kth=kth, kind=kind)


_lexsort = Opaque(np.lexsort)


@function(np.lexsort, result=PREDICATE)
def np_lexsort(keys: Any, axis: int = -1) -> Any:
    keys = keys if isinstance(keys, TracedArray) else np.stack(np.broadcast_arrays(*keys))
    return _lexsort(keys, axis=axis)


# --- places ----------------------------------------------------------------------------------


def of_many_sizes(name: str) -> Callable[..., Any]:
    """The batch rule of what gives a different number of results for different values."""

    def batch(args: tuple, mine: tuple, **params: Any) -> Any:
        raise LostDerivativeError(
            f"{name} under vmap gives a different number of results for each entry of the batch, "
            f"which no array holds: use np.where(mask, x, 0), or a Python loop instead of vmap."
        )

    return batch


_nonzero = Opaque(np.nonzero, batch=of_many_sizes("np.nonzero"))


@function(np.nonzero, result=PREDICATE)
def np_nonzero(a: Any) -> Any:
    return _nonzero(a)


@function(np.flatnonzero, result=PREDICATE)
def np_flatnonzero(a: Any) -> Any:
    return _nonzero(np.ravel(a))[0]


@function(np.argwhere, result=PREDICATE)
def np_argwhere(a: Any) -> Any:
    return np.transpose(np.nonzero(np.atleast_1d(a)))[:, : a.ndim]


def _searchsorted_batch(args: tuple, mine: tuple, **params: Any) -> Any:
    if mine == (False, True):
        return _searchsorted(*args, **params)
    return Primitive.batch(_searchsorted, args, mine, params)


_searchsorted = Opaque(np.searchsorted, batch=_searchsorted_batch)


@function(np.searchsorted, result=PREDICATE)
def np_searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    return _searchsorted(as_operand(a), as_operand(v), side=side, sorter=sorter)


@function(np.digitize, result=PREDICATE)
def np_digitize(x: Any, bins: Any, right: bool = False) -> Any:
    bins = as_operand(bins)
    side: Any = "left" if right else "right"
    if np.all(bins[1:] >= bins[:-1]):
        return np.searchsorted(bins, x, side=side)
    if not np.all(bins[1:] <= bins[:-1]):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return bins.shape[0] - np.searchsorted(bins[::-1], x, side=side)


# --- what is not a number ------------------------------------------------------------------------


def _all_nan_refused(a: Any, axis: Any, filler: float) -> Any:
    bad = np.isnan(a)
    if np.any(raw(np.all(bad, axis=axis))):
        raise ValueError("All-NaN slice encountered")
    return np.where(bad, filler, a)


@function(np.nanargmax, result=PREDICATE)
def np_nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """The place of the largest entry that is not NaN."""
    return np_argmax(_all_nan_refused(a, axis, -np.inf), axis, out, keepdims=keepdims is True)


@function(np.nanargmin, result=PREDICATE)
def np_nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """The place of the smallest entry that is not NaN."""
    return np_argmin(_all_nan_refused(a, axis, np.inf), axis, out, keepdims=keepdims is True)


# --- places as one number, or as one an axis -----------------------------------------------------

_unravel = Opaque(np.unravel_index, elementwise=True)
_ravel = Opaque(
    lambda *at, **options: np.ravel_multi_index(at, **options),
    name="ravel_multi_index",
    elementwise=True,
)


@function(np.unravel_index, result=PREDICATE)
def np_unravel_index(indices: Any, shape: Any, order: Any = "C") -> Any:
    """One index an axis from places in the flattened array."""
    return _unravel(indices, shape=shape, order=order)


@function(np.ravel_multi_index, result=PREDICATE)
def np_ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C"
) -> Any:
    """Places in the flattened array from one index an axis."""
    return _ravel(*multi_index, dims=dims, mode=mode, order=order)


@function(np.ix_)
def np_ix_(*args: Any) -> Any:
    """An open mesh: each sequence along an axis of its own."""
    sequences = [as_array(x) for x in args]
    if any(x.ndim != 1 for x in sequences):
        raise ValueError("Cross index must be 1 dimensional")
    places = [np.nonzero(x)[0] if x.dtype.kind == "b" else x for x in sequences]
    n = len(places)
    return tuple(
        np.reshape(x, (1,) * k + (x.size,) + (1,) * (n - k - 1)) for k, x in enumerate(places)
    )


def _of_shape(f: Any) -> Callable[..., Any]:
    """The rule of a function that reads no more than the shape of an array."""

    def rule(arr: Any, *args: Any, **kwargs: Any) -> Any:
        return f(zeros(spec_of(arr)), *args, **kwargs)

    return rule


_f: Any
for _f in (np.diag_indices_from, np.tril_indices_from, np.triu_indices_from):
    function(_f, result=PREDICATE)(_of_shape(_f))

for _f in (np.packbits, np.unpackbits):
    function(_f, result=PREDICATE)(Opaque(_f))
