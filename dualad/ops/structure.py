"""Shape: the linear operations that arrange entries along other axes, or add them up.

A few primitives carry them all, in pairs that are each other's transposes: reshape and itself,
transpose and itself, broadcast_to and sum_axes, cast and itself. What NumPy
has under other names, in `views`, `joining` and `arranging`, is written with these and with
those of `getitem`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.arrays.sums import is_total, quick_sum, total
from ..engine.levels.spec import Spec
from ..engine.primitives.linear import Linear
from ..engine.primitives.shape import BOUND, FEW, sum_to

__all__ = ["broadcast", "cast", "reshape", "sum_axes", "transpose"]


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


def inverse(axes: tuple) -> tuple:
    """The permutation that undoes a permutation of axes."""
    out = [0] * len(axes)
    for k, a in enumerate(axes):
        out[a] = k
    return tuple(out)


reshape = Linear(
    lambda x, shape: x.reshape(shape),
    lambda ct, x, shape: reshape(ct, shape=x.shape),
    batch=lambda args, mine, shape: reshape(args[0], shape=(args[0].shape[0], *shape)),
    spec=lambda x, shape: Spec(shape, x.dtype),
    show=lambda x, shape: f"np.reshape({x}, {shape})",
    name="reshape",
)
transpose = Linear(
    lambda x, axes: x.transpose(axes),
    lambda ct, x, axes: transpose(ct, axes=inverse(axes)),
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


def spread(x: Any, shape: tuple[int, ...]) -> Any:
    """x broadcast to a shape, for rules: a small plain array is copied."""
    if type(x) in (np.ndarray, np.float64) and math.prod(shape) <= FEW:
        out = np.empty(shape, x.dtype)
        out[...] = x
        return out
    return broadcast(x, shape=shape)


def _spread(ct: Any, x: Any, axes: tuple) -> Any:
    """The transpose of a sum over axes."""
    shape = x.shape
    if not ct.shape:
        return spread(ct, shape)
    kept = tuple([1 if k in axes else n for k, n in enumerate(shape)])
    if type(ct) is np.ndarray and math.prod(shape) > FEW:
        return np.broadcast_to(ct.reshape(kept), shape)
    return spread(ct if ct.shape == kept else reshape(ct, shape=kept), shape)


sum_axes = Linear(
    total,
    _spread,
    batch=lambda args, mine, axes: sum_axes(args[0], axes=tuple(a + 1 for a in axes)),
    spec=lambda x, axes: Spec(tuple(n for k, n in enumerate(x.shape) if k not in axes), x.dtype),
    show=lambda x, axes: f"np.sum({x}, axis={axes})",
    quick=quick_sum,
    is_total=is_total,
    name="sum_axes",
)

BOUND.update(broadcast_to=broadcast, cast=cast, reshape=reshape, sum_axes=sum_axes)


# --- axes ------------------------------------------------------------------------------------


def axis_of(axis: Any, ndim: int) -> int:
    axis = int(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """A NumPy axis argument as a tuple of axes."""
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(axis_of(a, ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return axes
