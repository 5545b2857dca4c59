"""Shape, order and place: the linear operations that move entries or add them up.

A few primitives carry them all, in pairs that are each other's transposes: reshape and itself,
transpose and itself, broadcast_to and sum_axes, concatenate and slices, cast and itself, and
getitem and scatter of `indexing`. Everything else here is written with these. What is a view in
NumPy is linked to its base.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engine.guard import either_zero_wins_raw, zero_wins_raw
from ..engine.inplace import layout, link, store
from ..engine.primitive import Linear, align
from ..engine.shape import BOUND, sum_to
from ..engine.traced import Spec, TracedArray, as_operand, raw
from .indexing import getitem, scatter
from .registry import PREDICATE, function

__all__ = ["broadcast", "cast", "concat", "reshape", "sum_axes", "transpose"]


# --- cast ------------------------------------------------------------------------------------


def _cast(x: Any, dtype: Any) -> Any:
    """x in another dtype; a complex x gives its real part where the dtype is real."""
    dtype = np.dtype(dtype)
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    return x.astype(dtype)


cast = Linear(
    _cast,
    lambda ct, x, dtype: cast(ct, dtype=x.dtype),
    batch=lambda args, mine, dtype: cast(args[0], dtype=dtype),
    spec=lambda x, dtype: Spec(x.shape, np.dtype(dtype)),
    show=lambda x, dtype: f"{x if 'complex' in dtype else f'np.real({x})'}.astype({dtype})",
    name="cast",
)


# --- reshape, transpose ----------------------------------------------------------------------


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


reshape = Linear(
    lambda x, shape: np.reshape(x, shape),
    lambda ct, x, shape: reshape(ct, shape=x.shape),
    batch=lambda args, mine, shape: reshape(args[0], shape=(args[0].shape[0], *shape)),
    spec=lambda x, shape: Spec(shape, x.dtype),
    show=lambda x, shape: f"np.reshape({x}, {shape})",
    name="reshape",
)
transpose = Linear(
    lambda x, axes: np.transpose(x, axes),
    lambda ct, x, axes: transpose(ct, axes=tuple(np.argsort(axes).tolist())),
    batch=lambda args, mine, axes: transpose(args[0], axes=(0, *(a + 1 for a in axes))),
    spec=lambda x, axes: Spec(tuple(x.shape[a] for a in axes), x.dtype),
    show=lambda x, axes: f"np.transpose({x}, {axes})",
    name="transpose",
)


# --- broadcast_to, sum -----------------------------------------------------------------------


def _broadcast_batch(args: tuple, mine: tuple, shape: tuple) -> Any:
    (x,) = args
    lead = (1,) * (len(shape) - (x.ndim - 1))
    x = x if not lead else reshape(x, shape=(x.shape[0], *lead, *x.shape[1:]))
    return broadcast(x, shape=(x.shape[0], *shape))


broadcast = Linear(
    lambda x, shape: np.broadcast_to(x, shape),
    lambda ct, x, shape: sum_to(ct, x.shape),
    batch=_broadcast_batch,
    spec=lambda x, shape: Spec(shape, x.dtype),
    show=lambda x, shape: f"np.broadcast_to({x}, {shape})",
    name="broadcast_to",
)


def _spread(ct: Any, x: Any, axes: tuple) -> Any:
    """The transpose of a sum over axes."""
    kept = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    return broadcast(ct if ct.shape == kept else reshape(ct, shape=kept), shape=x.shape)


sum_axes = Linear(
    lambda x, axes: np.add.reduce(x, axis=axes),
    _spread,
    batch=lambda args, mine, axes: sum_axes(args[0], axes=tuple(a + 1 for a in axes)),
    spec=lambda x, axes: Spec(tuple(n for k, n in enumerate(x.shape) if k not in axes), x.dtype),
    show=lambda x, axes: f"np.sum({x}, axis={axes})",
    name="sum_axes",
)


zero_wins = Linear(
    zero_wins_raw,
    lambda ct, a, b: zero_wins(ct, np.conj(b)),
    lambda ct, a, b: zero_wins(np.conj(a), ct),
    batch=lambda args, mine: zero_wins(*align(args, mine)),
    show=lambda a, b: f"np.where({a} == 0, 0, {a} * {b})",
    name="zero_wins",
)
either_zero_wins = Linear(
    either_zero_wins_raw,
    lambda ct, a, b: either_zero_wins(ct, np.conj(b)),
    lambda ct, a, b: either_zero_wins(np.conj(a), ct),
    batch=lambda args, mine: either_zero_wins(*align(args, mine)),
    show=lambda a, b: f"np.where(({a} == 0) | ({b} == 0), 0, {a} * {b})",
    name="either_zero_wins",
)
BOUND.update(
    broadcast_to=broadcast,
    cast=cast,
    either_zero_wins=either_zero_wins,
    reshape=reshape,
    sum_axes=sum_axes,
    zero_wins=zero_wins,
)


# --- concatenation ---------------------------------------------------------------------------


def _cut(ct: Any, k: int, *xs: Any, axis: int) -> Any:
    return next(share for _, share in _cut_all(ct, (None,) * k + (k,), *xs, axis=axis))


def _cut_all(ct: Any, parents: tuple, *xs: Any, axis: int) -> Iterator[tuple[int, Any]]:
    start, before, behind = 0, (slice(None),) * axis, (slice(None),) * (ct.ndim - axis - 1)
    for k, (x, i) in enumerate(zip(xs, parents, strict=False)):
        stop = start + x.shape[axis]
        if i is not None:
            yield k, getitem(ct, index=(*before, slice(start, stop), *behind))
        start = stop


def _concat_batch(args: tuple, mine: tuple, axis: int) -> Any:
    n = next(a.shape[0] for a, m in zip(args, mine, strict=True) if m)
    full = [a if m else broadcast(a, shape=(n, *a.shape)) for a, m in zip(args, mine, strict=True)]
    return concat(*full, axis=axis + 1)


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


# --- axes ------------------------------------------------------------------------------------


def axis_of(axis: Any, ndim: int) -> int:
    axis = int(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """A NumPy axis argument as a tuple of axes."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(axis_of(a, ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return axes


# --- views -----------------------------------------------------------------------------------


def _shares_memory(base: Any, view: Any) -> bool:
    """Whether NumPy gave a view, and not a copy; a linear variable has no memory to ask."""
    a, b = raw(base), raw(view)
    return isinstance(a, Spec) or (isinstance(a, np.ndarray) and np.may_share_memory(a, b))


def _undo_reshape(base: Any, value: Any) -> Any:
    return reshape(value, shape=base.shape)


def _undo_transpose(base: Any, value: Any, axes: tuple) -> Any:
    return transpose(value, axes=tuple(np.argsort(axes).tolist()))


def read_only(base: Any, value: Any) -> Any:
    raise ValueError("assignment destination is read-only")


def _is_view_of_each(a: Any, shape: tuple) -> bool:
    """Whether the reshape of each entry of a batch is a view, though that of all together is not.

    The axis of a batch may lie anywhere in memory: this asks an array that lies as one entry does.
    """
    steps = layout(a)
    if steps is None or raw(a).ndim == a.ndim:
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
    flags = getattr(raw(a), "flags", None)
    if order not in ("A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if order == "K" and flags is not None and not flags.forc:
        raise ValueError("order='K' needs an array that is contiguous in C or in Fortran order")
    return flags is not None and flags.fnc


@function(np.reshape)
def np_reshape(
    a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None
) -> Any:
    shape = _full_shape(a, newshape if shape is None else shape)
    if math.prod(shape) != a.size:
        raise ValueError(f"cannot reshape array of size {a.size} into shape {shape}")
    if copy:
        a = np_copy(a)
    if _is_fortran(a, order):
        return np_transpose(np_reshape(np_transpose(a), shape[::-1]))
    return a if shape == a.shape else _reshaped(a, shape)


@function(np.transpose)
def np_transpose(a: Any, axes: Any = None) -> Any:
    if axes is None:
        axes = tuple(range(a.ndim))[::-1]
    axes = tuple(axis_of(k, a.ndim) for k in axes)
    if sorted(axes) != list(range(a.ndim)):
        raise ValueError("axes don't match array")
    return a if a.ndim < 2 else _permuted(a, axes)


@function(np.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    if x.ndim < 2:
        raise ValueError(
            f"Input array must be at least 2-dimensional, but it is {x.ndim}-dimensional"
        )
    return np_swapaxes(x, -1, -2)


@function(np.swapaxes)
def np_swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    axes = list(range(a.ndim))
    i, j = axis_of(axis1, a.ndim), axis_of(axis2, a.ndim)
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


def _at_least(n: int, a: Any) -> Any:
    if a.ndim >= n:
        return a
    if n == 3 and a.ndim == 2:
        return np_reshape(a, (*a.shape, 1))
    if n == 3 and a.ndim == 1:
        return np_reshape(a, (1, *a.shape, 1))
    return np_reshape(a, (1,) * (n - a.ndim) + a.shape)


def _each(n: int, arrays: tuple) -> Any:
    out = [
        _at_least(n, a if isinstance(a, TracedArray) else np.asarray(a))
        for a in map(as_operand, arrays)
    ]
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
    return [x if isinstance(x, TracedArray) else np.asarray(x) for x in map(as_operand, xs)]


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
    parts = arrays_of(arrays)
    if out is not None:
        return store(out, np_concatenate(parts, axis, dtype=dtype))
    if axis is None:
        parts, axis = [np.ravel(p) for p in parts], 0
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if any(p.ndim == 0 for p in parts):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = axis_of(axis, parts[0].ndim)
    for p in parts[1:]:
        a, b = list(parts[0].shape), list(p.shape)
        if len(a) != len(b) or a[:axis] + a[axis + 1 :] != b[:axis] + b[axis + 1 :]:
            raise ValueError(
                f"all the input array dimensions except for the concatenation axis must match "
                f"exactly, got shapes {[q.shape for q in parts]} along axis {axis}"
            )
    joined = concat(*parts, axis=axis)
    return joined if dtype is None else joined.astype(dtype)


@function(np.stack)
def np_stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    parts = arrays_of(arrays)
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({p.shape for p in parts}) != 1:
        raise ValueError(
            f"all input arrays must have the same shape, got {[p.shape for p in parts]}"
        )
    axis = axis_of(axis, parts[0].ndim + 1)
    parts = [np.expand_dims(p, axis) for p in parts]
    return np_concatenate(parts, axis, out, dtype=dtype)


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


def _cuts(n: int, sections: Any, equal: bool) -> list[tuple[int, int]]:
    if isinstance(sections, (int, np.integer)):
        if equal and n % sections:
            raise ValueError("array split does not result in an equal division")
        each, extra = divmod(n, int(sections))
        sizes = [each + 1] * extra + [each] * (int(sections) - extra)
        ends = np.cumsum([0, *sizes]).tolist()
    else:
        ends = [0, *(slice(int(k)).indices(n)[1] for k in sections), n]
    return [(a, max(a, b)) for a, b in itertools.pairwise(ends)]


def _split(ary: Any, sections: Any, axis: int, equal: bool) -> list[Any]:
    axis = axis_of(axis, ary.ndim)
    lead = (slice(None),) * axis
    return [ary[(*lead, slice(a, b))] for a, b in _cuts(ary.shape[axis], sections, equal)]


@function(np.split)
def np_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return _split(ary, indices_or_sections, axis, True)


@function(np.array_split)
def np_array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return _split(ary, indices_or_sections, axis, False)


@function(np.hsplit)
def np_hsplit(ary: Any, indices_or_sections: Any) -> Any:
    return _split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0, True)


@function(np.vsplit)
def np_vsplit(ary: Any, indices_or_sections: Any) -> Any:
    return _split(ary, indices_or_sections, 0, True)


@function(np.dsplit)
def np_dsplit(ary: Any, indices_or_sections: Any) -> Any:
    return _split(ary, indices_or_sections, 2, True)


# --- order -----------------------------------------------------------------------------------


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
    i, j = axes_of((axis1, axis2), a.ndim)
    moved = np_moveaxis(a, (i, j), (-2, -1))
    n = len(np.diagonal(np.empty((a.shape[i], a.shape[j]), np.bool_), offset))
    at = np.arange(n)
    return moved[(..., at + max(-offset, 0), at + max(offset, 0))]


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


@function(np.copy)
def np_copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    # A copy of an array without axes is one, which can be written to; +a is a scalar.
    return +a if a.ndim else getitem(+a, index=(Ellipsis,))


@function(np.shape, result=PREDICATE)
def np_shape(a: Any) -> Any:
    return a.shape


@function(np.ndim, result=PREDICATE)
def np_ndim(a: Any) -> Any:
    return a.ndim


@function(np.size, result=PREDICATE)
def np_size(a: Any, axis: Any = None) -> Any:
    return a.size if axis is None else math.prod(a.shape[k] for k in axes_of(axis, a.ndim))


# --- many at once ----------------------------------------------------------------------------


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


if hasattr(np, "unstack"):  # NumPy 2.1

    @function(np.unstack)
    def np_unstack(x: Any, /, *, axis: int = 0) -> Any:
        return tuple(np_moveaxis(x, axis, 0))


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
