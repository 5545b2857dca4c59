"""Contractions: sums of products over axes of two arrays, and products of many matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.primitives.inplace import store
from .operands import array_of
from .products import column, conj, contract, matmul, np_matmul, product, row
from .registry import function, ufunc
from .structure import axes_of, axis_of

__all__ = ["last_axis", "np_tensordot"]


@ufunc(np.vecdot)
def np_vecdot(a: Any, b: Any) -> Any:
    """The sum of conj(a) * b over the last axis."""
    return np.sum(conj(a) * b, axis=-1)


def _matvec(a: Any, x: Any) -> Any:
    return matmul(a, x) if x.ndim == 1 else np_matmul(a, column(x))[..., 0]


def _vecmat(x: Any, a: Any) -> Any:
    return matmul(conj(x), a) if x.ndim == 1 else np_matmul(row(conj(x)), a)[..., 0, :]


if hasattr(np, "matvec"):  # NumPy 2.2
    ufunc(np.matvec)(_matvec)
    ufunc(np.vecmat)(_vecmat)


@function(np.linalg.vecdot)
def linalg_vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sum of conj(x1) * x2 over an axis."""
    x1, x2 = array_of(x1), array_of(x2)
    return np_vecdot(last_axis(x1, axis), last_axis(x2, axis))


@function(np.tensordot)
def np_tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum over the last axes of a and the first of b, or over given pairs of axes."""
    a, b = array_of(a), array_of(b)
    if isinstance(axes, (int, np.integer)):
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
        if axes > min(a.ndim, b.ndim):
            raise ValueError("shape-mismatch for sum")
    else:
        left, right = (axes_of(_sequence(x), v.ndim) for x, v in zip(axes, (a, b), strict=True))
    if [a.shape[k] for k in left] != [b.shape[k] for k in right]:
        raise ValueError("shape-mismatch for sum")
    return contract(a, b, left, right)


def _sequence(axes: Any) -> tuple:
    return (axes,) if isinstance(axes, (int, np.integer)) else tuple(axes)


@function(np.linalg.tensordot)
def linalg_tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """np.tensordot by the array API's name."""
    return np_tensordot(x1, x2, axes)


@function(np.dot)
def np_dot(a: Any, b: Any, out: Any = None) -> Any:
    """The sum over the last axis of a and the second last of b."""
    a, b = array_of(a), array_of(b)
    if a.ndim == 0 or b.ndim == 0:
        result = a * b
    elif b.ndim <= 2:
        result = product(a, b)
    else:
        result = np_tensordot(a, b, (-1, -2))
    return result if out is None else store(out, result)


@function(np.inner)
def np_inner(a: Any, b: Any, /) -> Any:
    """The sum over the last axes of both."""
    a, b = array_of(a), array_of(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return product(a, b) if a.ndim == b.ndim == 1 else np_tensordot(a, b, (-1, -1))


@function(np.vdot)
def np_vdot(a: Any, b: Any, /) -> Any:
    """The sum of conj(a) * b over all entries."""
    return product(conj(np.ravel(array_of(a))), np.ravel(array_of(b)))


@function(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """The product of several matrices, in the order that costs least."""
    parts = [array_of(x) for x in arrays]
    if len(parts) < 2:
        raise ValueError("Expecting at least two arrays.")
    first, last = parts[0].ndim == 1, parts[-1].ndim == 1
    parts[0] = row(parts[0]) if first else parts[0]
    parts[-1] = column(parts[-1]) if last else parts[-1]
    result = _chain(
        parts, _splits([*(p.shape[0] for p in parts), parts[-1].shape[1]]), 0, len(parts)
    )
    shape = result.shape[first : 2 - last]
    result = result if shape == result.shape else np.reshape(result, shape)
    return result if out is None else store(out, result)


def _splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each run of a chain of matrices (Cormen et al., matrix-chain order)."""
    n = len(sizes) - 1
    cost = {(i, i + 1): 0 for i in range(n)}
    best = {}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            cost[i, j], best[i, j] = min(
                (cost[i, k] + cost[k, j] + sizes[i] * sizes[k] * sizes[j], k)
                for k in range(i + 1, j)
            )
    return best


def _chain(parts: list, splits: dict, i: int, j: int) -> Any:
    if j == i + 1:
        return parts[i]
    k = splits[i, j]
    return matmul(_chain(parts, splits, i, k), _chain(parts, splits, k, j))


def last_axis(x: Any, axis: int) -> Any:
    """An array with one of its axes moved to the end."""
    return x if axis == -1 and x.ndim else np.moveaxis(x, axis_of(axis, x.ndim), -1)
