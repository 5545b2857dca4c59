"""Entries at places that values name: take, take_along_axis, compress, delete, insert.

The places carry no derivative; the derivative is that of the entries taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .constants import into
from .indexing import index
from .operands import as_array, flat_if_none
from .registry import function
from .structure import axes_of

__all__ = ["along_axis", "in_range"]


def in_range(at: Any, n: int, mode: str) -> Any:
    """Indices as NumPy's mode wants them; "raise" leaves that to the indexing itself."""
    return at % n if mode == "wrap" else np.clip(at, 0, n - 1) if mode == "clip" else at


def _lead(axis: int) -> tuple:
    return (slice(None),) * axis


@function(np.take)
def np_take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    a = as_array(a)
    a, axis = flat_if_none(a, axis)
    at = in_range(as_array(indices), a.shape[axis], mode)
    return into(out, index(a, (*_lead(axis), at)))


def along_axis(at: Any, shape: tuple, axis: int) -> tuple:
    """The key that picks one entry along an axis at each place: x[key] is take_along_axis."""
    if at.ndim != len(shape):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return tuple(
        [
            at if k == axis else np.arange(n).reshape((n,) + (1,) * (len(shape) - k - 1))
            for k, n in enumerate(shape)
        ]
    )


@function(np.take_along_axis)
def np_take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    arr, indices = as_array(arr), as_array(indices)
    arr, axis = flat_if_none(arr, axis)
    return index(arr, along_axis(indices, arr.shape, axis))


@function(np.compress)
def np_compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    a, axis = flat_if_none(a, axis)
    return into(out, index(a, (*_lead(axis), np.flatnonzero(condition))))


@function(np.extract)
def np_extract(condition: Any, arr: Any) -> Any:
    return index(np.ravel(arr), np.flatnonzero(condition))


@function(np.delete)
def np_delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    arr, axis = flat_if_none(arr, axis)
    kept = np.delete(np.arange(arr.shape[axis]), obj)
    return index(arr, (*_lead(axis), kept))


@function(np.insert)
def np_insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """The entries of arr and of values, in the order in which NumPy inserts their positions."""
    arr, values = as_array(arr), as_array(values)
    arr, axis = flat_if_none(arr, axis)
    n = arr.shape[axis]
    at = np.arange(n)[obj] if isinstance(obj, slice) else np.asarray(obj)
    at = np.flatnonzero(at) if at.dtype.kind == "b" else at
    if values.ndim < arr.ndim:
        values = np.reshape(values, (1,) * (arr.ndim - values.ndim) + values.shape)
    if at.ndim == 0:
        values = np.moveaxis(values, 0, axis)
    shape = list(arr.shape)
    shape[axis] = values.shape[axis] if at.size == 1 else at.size
    order = np.insert(np.arange(n), at, np.arange(n, n + shape[axis]))
    joined = np.concatenate([arr, np.broadcast_to(values, shape).astype(arr.dtype)], axis)
    return index(joined, (*_lead(axis), order))


@function(np.trim_zeros)
def np_trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    filt = as_array(filt)
    places = np.nonzero(filt)
    axes = axes_of(axis, filt.ndim)
    key = [slice(None)] * filt.ndim
    for k in axes:
        at = places[k]
        first, last = (int(at.min()), int(at.max()) + 1) if at.size else (0, 0)
        n = filt.shape[k] if at.size else 0
        key[k] = slice(first if "f" in trim.lower() else 0, last if "b" in trim.lower() else n)
    return index(filt, tuple(key))
