"""Arranging entries: in another order, repeated, on or off a diagonal, in windows.

All are slices, gathers and joins of what there is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .getitem import getitem, scatter
from .joining import np_concatenate
from .keys import FULL
from .registry import function
from .structure import axes_of, axis_of
from .views import np_broadcast_to, np_copy, np_moveaxis, np_ravel, np_reshape, np_swapaxes

__all__ = ["np_diagonal"]


@function(np.flip)
def np_flip(m: Any, axis: Any = None) -> Any:
    axes = axes_of(axis, m.ndim)
    return m[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(m.ndim))]


@function(np.flipud)
def np_flipud(m: Any) -> Any:
    return np_flip(m, 0)


@function(np.fliplr)
def np_fliplr(m: Any) -> Any:
    return np_flip(m, 1)


@function(np.rot90)
def np_rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    i, j = axes_of(tuple(axes), m.ndim)
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return np_flip(m, (i, j))
    return np_swapaxes(np_flip(m, j), i, j) if k == 1 else np_flip(np_swapaxes(m, i, j), j)


@function(np.roll)
def np_roll(a: Any, shift: Any, axis: Any = None) -> Any:
    if axis is None:
        return np_reshape(np_roll(np_ravel(a), shift, 0), a.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = np.broadcast_to(np.asarray(shift), (len(axes),)).tolist()
    out = a
    for k, s in zip((axis_of(k, a.ndim) for k in axes), shifts, strict=True):
        s %= max(a.shape[k], 1)
        if s:
            lead = (slice(None),) * k
            out = np_concatenate([out[(*lead, slice(-s, None))], out[(*lead, slice(None, -s))]], k)
    return np_copy(a) if out is a else out


@function(np.repeat)
def np_repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    if axis is None:
        a, axis = np_ravel(a), 0
    axis = axis_of(axis, a.ndim)
    at = np.repeat(np.arange(a.shape[axis]), repeats)
    return a[(slice(None),) * axis + (at,)]


@function(np.tile)
def np_tile(A: Any, reps: Any) -> Any:
    reps = tuple(reps) if isinstance(reps, (tuple, list, np.ndarray)) else (reps,)
    d = max(A.ndim, len(reps))
    shape = (1,) * (d - A.ndim) + A.shape
    reps = (1,) * (d - len(reps)) + reps
    pairs = tuple(k for n in shape for k in (1, n))
    wide = tuple(k for r, n in zip(reps, shape, strict=True) for k in (int(r), n))
    out = np_broadcast_to(np_reshape(A, pairs), wide)
    return np_copy(np_reshape(out, tuple(int(r) * n for r, n in zip(reps, shape, strict=True))))


@function(np.diagonal)
def np_diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Entries of a diagonal, with the axis along it last."""
    i, j = axes_of((axis1, axis2), a.ndim)
    moved = a if (i, j) == (a.ndim - 2, a.ndim - 1) else np_moveaxis(a, (i, j), (-2, -1))
    down, right = max(-offset, 0), max(offset, 0)
    at = np.arange(max(0, min(a.shape[i] - down, a.shape[j] - right)))
    ends = (at + down if down else at, at + right if right else at)
    return getitem(moved, index=(FULL,) * (a.ndim - 2) + ends)


@function(np.diag)
def np_diag(v: Any, k: int = 0) -> Any:
    if v.ndim == 2:
        return np_diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.shape[0] + abs(k)
    at = np.arange(v.shape[0])
    return scatter(v, index=(at + max(-k, 0), at + max(k, 0)), shape=(n, n))


@function(np.diagflat)
def np_diagflat(v: Any, k: int = 0) -> Any:
    return np_diag(np_ravel(v), k)


def _below(m: Any, k: int) -> Any:
    """Where a matrix is on or below its diagonal k."""
    return np.tri(m.shape[-2:][0], m.shape[-1], k, np.bool_)


@function(np.tril)
def np_tril(m: Any, k: int = 0) -> Any:
    return np.where(_below(m, k), m, np.zeros((), m.dtype))


@function(np.triu)
def np_triu(m: Any, k: int = 0) -> Any:
    return np.where(_below(m, k - 1), np.zeros((), m.dtype), m)


@function(np.resize)
def np_resize(a: Any, new_shape: Any) -> Any:
    """The entries in C order, repeated as often as needed."""
    shape = (int(new_shape),) if isinstance(new_shape, (int, np.integer)) else tuple(new_shape)
    n = math.prod(shape)
    if a.size == 0 or n == 0:
        return np.zeros_like(a, shape=shape)
    return np_reshape(np_ravel(a)[np.arange(n) % a.size], shape)


@function(np.lib.stride_tricks.sliding_window_view)
def np_sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """A gather along the index that NumPy slides its windows over; it does not follow writes."""
    window = (
        (window_shape,) if isinstance(window_shape, (int, np.integer)) else tuple(window_shape)
    )
    axes = axes_of(axis, x.ndim)
    if len(window) != len(axes):
        raise ValueError("window_shape must have one entry for each axis")
    out = x
    for k, w in zip(axes, window, strict=True):
        at = np.lib.stride_tricks.sliding_window_view(np.arange(x.shape[k]), w)
        out = np_moveaxis(out[(slice(None),) * k + (at,)], k + 1, -1)
    return out
