"""NumPy's functions that write into an argument: copyto, put, place, fill_diagonal, add.at, ...

Each is an assignment by index, or a whole new value, for the array that is written to.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.levels.traced import TracedArray, objects
from ..engine.primitives.inplace import become, store, write
from .indexing import accumulated, replaced
from .operands import as_array
from .registry import function, ufunc_method
from .structure import axis_of
from .take import along_axis

__all__ = ["assign"]


def assign(x: Any, key: Any, v: Any) -> None:
    """x[key] = v."""
    if not isinstance(x, TracedArray):
        store(x, v)
    write(x, replaced(x, key, v))


def _cycled(v: Any, n: int) -> Any:
    """The entries of v, repeated as often as needed to give n of them."""
    v = np.ravel(as_array(v))
    return v if v.shape[0] == n else v[np.arange(n) % v.shape[0]]


def _assign_flat(a: Any, places: Any, values: Any) -> None:
    if not isinstance(a, TracedArray):
        store(a, values)
    assign(a, np.unravel_index(places, a.shape), values)


@function(np.copyto)
def np_copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    src = np.broadcast_to(as_array(src), dst.shape)
    if type(dst) is np.ndarray and dst.dtype == object and isinstance(src, TracedArray):
        return np.copyto(dst, objects(src), casting, where)
    store(dst, src if where is True else np.where(where, src, dst))


@function(np.put)
def np_put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    at = np.ravel(np.asarray(ind))
    at = at % a.size if mode == "wrap" else np.clip(at, 0, a.size - 1) if mode == "clip" else at
    if at.size and (at.min() < -a.size or at.max() >= a.size):
        raise IndexError(f"an index is out of bounds for an array of size {a.size}")
    _assign_flat(a, at % max(a.size, 1), _cycled(v, at.size))


@function(np.place)
def np_place(arr: Any, mask: Any, vals: Any) -> None:
    at = np.flatnonzero(mask)
    _assign_flat(arr, at, _cycled(vals, at.size))


@function(np.putmask)
def np_putmask(a: Any, mask: Any, values: Any) -> None:
    at = np.flatnonzero(mask)
    _assign_flat(a, at, _cycled(values, a.size)[at])


@function(np.put_along_axis)
def np_put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    if axis is None:
        return _assign_flat(arr, indices, values)
    assign(arr, along_axis(as_array(indices), arr.shape, axis_of(axis, arr.ndim)), values)


@function(np.fill_diagonal)
def np_fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    at = np.zeros(a.shape)
    np.fill_diagonal(at, 1.0, wrap)
    places = np.flatnonzero(at)
    _assign_flat(a, places, _cycled(val, places.size))


def resize(x: TracedArray, shape: Any) -> None:
    """x.resize(shape): the entries in C order, followed by zeros or cut off."""
    if hasattr(x, "_base") or any(view() is not None for view in getattr(x, "_views", None) or ()):
        raise ValueError(
            "cannot resize an array that references or is referenced by another array in this "
            "way. Use the np.resize function."
        )
    n, flat = math.prod(shape), np.ravel(x)
    if n > flat.size:
        flat = np.concatenate([flat, np.zeros(n - flat.size, x.dtype)])
    become(x, np.reshape(flat[:n], shape))


def _at(name: str, sign: int) -> None:
    """a[indices] += sign * b with repeated indices taken one after the other."""

    @ufunc_method(getattr(np, name), "at")
    def rule(a: Any, indices: Any, b: Any) -> None:
        if not isinstance(a, TracedArray):
            store(a, b)
        store(a, a + accumulated(a.shape, indices, as_array(b) * sign))


_at("add", 1)
_at("subtract", -1)
