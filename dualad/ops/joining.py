"""Joining arrays: concatenate, stack, block, and meshgrid.

Two linear primitives carry them all: concatenation, whose transposes are slices, and stacking,
whose transposes are layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..engine.fast_paths import joins
from ..engine.levels.spec import Spec
from ..engine.levels.traced import OBJECT, TracedArray
from ..engine.levels.values import as_operand
from ..engine.primitives.inplace import store
from ..engine.primitives.linear import Linear
from ..engine.primitives.shape import BOUND
from .batch_axis import batch_size
from .getitem import getitem
from .keys import FULL
from .operands import as_array
from .registry import function
from .structure import axis_of, spread
from .views import np_reshape

__all__ = ["arrays_of", "concat", "stack"]


#: The sequences that fast paths look at.
SEQUENCES = (list, tuple)


def entries(ct: Any, index: tuple) -> Any:
    """A part of a cotangent; that of a plain array without asking who handles it."""
    return ct[index] if type(ct) is np.ndarray else getitem(ct, index=index)


# --- concatenation ---------------------------------------------------------------------------


def _cut(ct: Any, k: int, *xs: Any, axis: int) -> Any:
    return next(share for _, share in _cut_all(ct, (None,) * k + (k,), *xs, axis=axis))


def _cut_all(ct: Any, parents: tuple, *xs: Any, axis: int) -> Iterator[tuple[int, Any]]:
    start, before, behind = 0, (FULL,) * axis, (FULL,) * (len(ct.shape) - axis - 1)
    for k, (x, i) in enumerate(zip(xs, parents, strict=False)):
        stop = start + x.shape[axis]
        if i is not None:
            yield k, entries(ct, (*before, slice(start, stop), *behind))
        start = stop


def _concat_batch(args: tuple, mine: tuple, axis: int) -> Any:
    return concat(*batched_all(args, mine), axis=axis + 1)


def batched_all(args: tuple, mine: tuple) -> list[Any]:
    """The arguments with the batch axis in front, also those that are the same for all entries."""
    n = batch_size(args, mine)
    return [a if m else spread(a, (n, *a.shape)) for a, m in zip(args, mine, strict=True)]


def _concat_spec(*xs: Any, axis: int) -> Spec:
    shape = list(xs[0].shape)
    shape[axis] = sum(x.shape[axis] for x in xs)
    return Spec(tuple(shape), np.result_type(*(x.dtype for x in xs)))


concat = Linear(
    lambda *xs, axis: np.concatenate(xs, axis=axis),
    _cut,
    joint=True,
    variadic=True,
    batch=_concat_batch,
    spec=_concat_spec,
    show=lambda *xs, axis: f"np.concatenate(({', '.join(xs)},), axis={axis})",
    transpose_all=_cut_all,
    name="concatenate",
)


# --- stacking --------------------------------------------------------------------------------


def _layer(ct: Any, k: int, *xs: Any, axis: int) -> Any:
    return entries(ct, (*(FULL,) * axis, k))


def _layers(ct: Any, parents: tuple, *xs: Any, axis: int) -> Iterator[tuple[int, Any]]:
    before = (FULL,) * axis
    for k, i in enumerate(parents):
        if i is not None:
            yield k, entries(ct, (*before, k))


def _stack_batch(args: tuple, mine: tuple, axis: int) -> Any:
    return stack(*batched_all(args, mine), axis=axis + 1)


def _stack_spec(*xs: Any, axis: int) -> Spec:
    shape = (*xs[0].shape[:axis], len(xs), *xs[0].shape[axis:])
    return Spec(shape, np.result_type(*(x.dtype for x in xs)))


def _stack(*xs: Any, axis: int) -> Any:
    if axis == 0:
        return np.array(xs)
    shape = xs[0].shape
    shape = (*shape[:axis], 1, *shape[axis:])
    return np.concatenate([x.reshape(shape) for x in xs], axis)


stack = Linear(
    _stack,
    _layer,
    joint=True,
    variadic=True,
    batch=_stack_batch,
    spec=_stack_spec,
    show=lambda *xs, axis: f"np.stack(({', '.join(xs)},), axis={axis})",
    transpose_all=_layers,
    name="stack",
)

BOUND.update(concatenate=concat, stack=stack)


# --- NumPy's names ---------------------------------------------------------------------------


def _at_least(n: int, a: Any) -> Any:
    if a.ndim >= n:
        return a
    if n == 3 and a.ndim == 2:
        return np_reshape(a, (*a.shape, 1))
    if n == 3 and a.ndim == 1:
        return np_reshape(a, (1, *a.shape, 1))
    return np_reshape(a, (1,) * (n - a.ndim) + a.shape)


def _each(n: int, arrays: tuple) -> Any:
    out = [_at_least(n, as_array(a)) for a in arrays]
    return out[0] if len(out) == 1 else tuple(out)


@function(np.atleast_1d)
def np_atleast_1d(*arys: Any) -> Any:
    return _each(1, arys)


@function(np.atleast_2d)
def np_atleast_2d(*arys: Any) -> Any:
    return _each(2, arys)


@function(np.atleast_3d)
def np_atleast_3d(*arys: Any) -> Any:
    return _each(3, arys)


def arrays_of(xs: Any) -> list[Any]:
    """A sequence of array-likes as values the engine computes with."""
    if isinstance(xs, (TracedArray, np.ndarray)):
        return [xs[k] for k in range(xs.shape[0])]
    out = []
    for x in xs:
        if not isinstance(x, TracedArray) and (type(x) is not np.ndarray or x.dtype is OBJECT):
            x = as_operand(x)
            x = x if isinstance(x, TracedArray) else np.asarray(x)
        out.append(x)
    return out


@function(np.concatenate)
def np_concatenate(
    arrays: Any,
    /,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    if axis == 0 and type(arrays) in SEQUENCES and out is None and dtype is None:
        done = joins.joined(arrays)
        if done is not None:
            return done
    parts = arrays_of(arrays)
    if out is not None:
        return store(out, np_concatenate(parts, axis, dtype=dtype))
    if axis is None:
        parts, axis = [np.ravel(p) for p in parts], 0
    if not parts:
        raise ValueError("need at least one array to concatenate")
    shapes = [p.shape for p in parts]
    if () in shapes:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    a = shapes[0]
    axis = axis_of(axis, len(a))
    for b in shapes:
        if len(a) != len(b) or (
            len(a) > 1 and (a[:axis] != b[:axis] or a[axis + 1 :] != b[axis + 1 :])
        ):
            raise ValueError(
                f"all the input array dimensions except for the concatenation axis must match "
                f"exactly, got shapes {shapes} along axis {axis}"
            )
    joined = concat(*parts, axis=axis)
    return joined if dtype is None else joined.astype(dtype)


@function(np.stack)
def np_stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    if axis == 0 and type(arrays) in SEQUENCES and out is None and dtype is None:
        done = joins.stacked(arrays)
        if done is not None:
            return done
    parts = arrays_of(arrays)
    if not parts:
        raise ValueError("need at least one array to stack")
    shapes = [p.shape for p in parts]
    if shapes.count(shapes[0]) != len(shapes):
        raise ValueError(f"all input arrays must have the same shape, got {shapes}")
    joined = stack(*parts, axis=axis_of(axis, len(shapes[0]) + 1))
    joined = joined if dtype is None else joined.astype(dtype)
    return joined if out is None else store(out, joined)


@function(np.hstack)
def np_hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    parts = [np.atleast_1d(p) for p in arrays_of(tup)]
    return np_concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype)


@function(np.vstack)
def np_vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return np_concatenate([np.atleast_2d(p) for p in arrays_of(tup)], 0, dtype=dtype)


@function(np.dstack)
def np_dstack(tup: Any) -> Any:
    return np_concatenate([np.atleast_3d(p) for p in arrays_of(tup)], 2)


@function(np.column_stack)
def np_column_stack(tup: Any) -> Any:
    parts = [np.expand_dims(np.atleast_1d(p), 1) if p.ndim < 2 else p for p in arrays_of(tup)]
    return np_concatenate(parts, 1)


@function(np.append)
def np_append(arr: Any, values: Any, axis: Any = None) -> Any:
    return np_concatenate(arrays_of((arr, values)), axis)


@function(np.block)
def np_block(arrays: Any) -> Any:
    def depth(x: Any) -> int:
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0

    def join(x: Any, level: int, ndim: int) -> Any:
        if level == 0:
            x = x if isinstance(x, TracedArray) else np.asarray(x)
            return np.reshape(x, (1,) * (ndim - x.ndim) + x.shape)
        return np_concatenate([join(v, level - 1, ndim) for v in x], ndim - level)

    def rank(x: Any) -> int:
        return max(map(rank, x)) if isinstance(x, list) else np.ndim(x)

    levels = depth(arrays)
    return join(arrays, levels, max(rank(arrays), levels))


@function(np.meshgrid)
def np_meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    place = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else list(range(n))
    parts = []
    for k, x in zip(place, arrays_of(xi), strict=True):
        parts.append(np.reshape(x, (1,) * k + (x.size,) + (1,) * (n - k - 1)))
    if not sparse:
        shape = np.broadcast_shapes(*(p.shape for p in parts))
        parts = [np.broadcast_to(p, shape) for p in parts]
    return tuple(map(np.copy, parts)) if copy else tuple(parts)
