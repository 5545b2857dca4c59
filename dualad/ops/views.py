"""NumPy's names for the same entries along other axes: reshape, transpose, ravel, and their kin.

What is a view in NumPy is linked to its base; the layout in memory decides that as it does there.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ..engine.levels.spec import Spec
from ..engine.levels.traced import TracedArray, memory_of
from ..engine.primitives.inplace import layout, link
from .getitem import getitem
from .registry import function
from .structure import axes_of, axis_of, broadcast, inverse, reshape, transpose

__all__ = ["in_order"]


# --- what is a view --------------------------------------------------------------------------


def _shares_memory(base: Any, view: Any) -> bool:
    """Whether NumPy gave a view, and not a copy; a linear variable has no memory to ask."""
    a, b = memory_of(base), memory_of(view)
    if isinstance(a, Spec):
        return True
    if type(a) is np.ndarray is type(b) and (b.base is a or b.base is a.base is not None):
        return True
    return isinstance(a, np.ndarray) and np.may_share_memory(a, b)


def _undo_reshape(base: Any, value: Any) -> Any:
    return reshape(value, shape=base.shape)


def _undo_transpose(base: Any, value: Any, axes: tuple) -> Any:
    return transpose(value, axes=inverse(axes))


def read_only(base: Any, value: Any) -> Any:
    raise ValueError("assignment destination is read-only")


def _is_view_of_each(a: Any, shape: tuple) -> bool:
    """Whether the reshape of each entry of a batch is a view, though that of all together is not.

    The axis of a batch may lie anywhere in memory: this asks an array that lies as one entry does.
    """
    steps = layout(a)
    if steps is None or memory_of(a).ndim == a.ndim:
        return False
    axes = [k for k, n in enumerate(a.shape) if n != 1]
    inwards = sorted(axes, key=lambda k: -abs(steps[axes.index(k)]))
    one = np.empty([a.shape[k] for k in inwards], np.bool_).transpose(np.argsort(inwards))
    return one.strides == steps and np.may_share_memory(one, one.reshape(shape))


def _reshaped(a: Any, shape: tuple) -> Any:
    out = reshape(a, shape=shape)
    if isinstance(out, TracedArray) and (_shares_memory(a, out) or _is_view_of_each(a, shape)):
        return link(a, out, partial(reshape, shape=shape), _undo_reshape)
    return out


def _permuted(a: Any, axes: tuple) -> Any:
    out = transpose(a, axes=axes)
    return link(a, out, partial(transpose, axes=axes), partial(_undo_transpose, axes=axes))


# --- NumPy's names ---------------------------------------------------------------------------


def _is_fortran(a: Any, order: str) -> bool:
    """Whether `order` means the first index first for an array that lies in memory as a does."""
    if order in ("C", "F"):
        return order == "F"
    if order not in ("A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if _is_contiguous(a):
        return False
    fortran = _is_contiguous(transpose(a, axes=tuple(range(a.ndim))[::-1]))
    if order == "K" and not fortran:
        raise ValueError("order='K' needs an array that is contiguous in C or in Fortran order")
    return fortran


def _full_shape(x: Any, shape: Any) -> tuple[int, ...]:
    """The target shape with -1 resolved."""
    shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(map(int, shape))
    if shape.count(-1) == 1:
        known = -math.prod(shape)
        n = math.prod(x.shape)
        if known == 0 or n % known:
            raise ValueError(f"cannot reshape array of size {n} into shape {shape}")
        shape = tuple(n // known if s == -1 else s for s in shape)
    return shape


@function(np.reshape)
def np_reshape(
    a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None
) -> Any:
    shape = _full_shape(a, newshape if shape is None else shape)
    if math.prod(shape) != math.prod(a.shape):
        raise ValueError(f"cannot reshape array of size {a.size} into shape {shape}")
    if copy:
        a = np_copy(a)
    if order != "C" and _is_fortran(a, order):
        return np_transpose(np_reshape(np_transpose(a), shape[::-1]))
    return a if shape == a.shape else _reshaped(a, shape)


@function(np.transpose)
def np_transpose(a: Any, axes: Any = None) -> Any:
    n = a.ndim
    if axes is None:
        return a if n < 2 else _permuted(a, tuple(range(n - 1, -1, -1)))
    axes = tuple([axis_of(k, n) for k in axes])
    if sorted(axes) != list(range(n)):
        raise ValueError("axes don't match array")
    return a if n < 2 else _permuted(a, axes)


@function(np.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    if x.ndim < 2:
        raise ValueError(
            f"Input array must be at least 2-dimensional, but it is {x.ndim}-dimensional"
        )
    return np_swapaxes(x, -1, -2)


#: The two axes of a matrix, as most name them.
EXCHANGES = {(0, 1), (1, 0), (-1, -2), (-2, -1)}


@function(np.swapaxes)
def np_swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    n = a.ndim
    if n == 2 and type(axis1) is int is type(axis2) and (axis1, axis2) in EXCHANGES:
        return _permuted(a, (1, 0))
    axes = list(range(n))
    i, j = axis_of(axis1, n), axis_of(axis2, n)
    axes[i], axes[j] = axes[j], axes[i]
    return _permuted(a, tuple(axes))


@function(np.moveaxis)
def np_moveaxis(a: Any, source: Any, destination: Any) -> Any:
    src, dst = axes_of(source, a.ndim), axes_of(destination, a.ndim)
    if len(src) != len(dst):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    order = [n for n in range(a.ndim) if n not in src]
    for d, s in sorted(zip(dst, src, strict=True)):
        order.insert(d, s)
    return a if order == list(range(a.ndim)) else _permuted(a, tuple(order))


@function(np.rollaxis)
def np_rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    axis, start = axis_of(axis, a.ndim), start + a.ndim if start < 0 else start
    return np_moveaxis(a, axis, start - 1 if axis < start else start)


@function(np.broadcast_to)
def np_broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(map(int, shape))
    if np.broadcast_shapes(array.shape, shape) != shape:
        raise ValueError(f"cannot broadcast shape {array.shape} to {shape}")
    out = broadcast(array, shape=shape)
    return link(array, out, partial(broadcast, shape=shape), read_only)


@function(np.broadcast_arrays)
def np_broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    shape = np.broadcast_shapes(*(np.shape(a) for a in args))
    return tuple(np.broadcast_to(a, shape) for a in args)


@function(np.expand_dims)
def np_expand_dims(a: Any, axis: Any) -> Any:
    axis = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = a.ndim + len(axis)
    axes = axes_of(tuple(axis), ndim)
    rest = iter(a.shape)
    return np_reshape(a, tuple(1 if k in axes else next(rest) for k in range(ndim)))


@function(np.squeeze)
def np_squeeze(a: Any, axis: Any = None) -> Any:
    if axis is None:
        return np_reshape(a, tuple(n for n in a.shape if n != 1))
    axes = axes_of(axis, a.ndim)
    if any(a.shape[k] != 1 for k in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return np_reshape(a, tuple(n for k, n in enumerate(a.shape) if k not in axes))


@function(np.ravel)
def np_ravel(a: Any, order: str = "C") -> Any:
    """A view where the entries lie in the order asked for without gaps, else a copy."""
    if _is_fortran(a, order):
        a = np_transpose(a)
    if not _is_contiguous(a):
        a = np_copy(a)
    return np_reshape(a, (a.size,))


def _is_contiguous(a: Any) -> bool:
    steps, want = layout(a), 1
    if steps is None:
        return True
    for n, step in zip([n for n in reversed(a.shape) if n != 1], reversed(steps), strict=True):
        if step != want:
            return False
        want *= n
    return True


@function(np.copy)
def np_copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    # A copy of an array without axes is one, which can be written to; +a is a scalar.
    out = +a if a.ndim else getitem(+a, index=(Ellipsis,))
    return out if order == "K" else in_order(out, "F" if _is_fortran(a, order) else "C")


def in_order(x: Any, order: Any) -> Any:
    """x with its entries in memory in C or in Fortran order, as new memory where they are not."""
    if order == "C":
        return x if _is_contiguous(x) else np_reshape(np_ravel(x), x.shape)
    return np_transpose(in_order(np_transpose(x), "C")) if order == "F" else x
