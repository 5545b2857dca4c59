"""Bringing tangents to the shape and dtype of outputs, and cotangents to those of arguments.

`fit` and `unfit` are each other's transposes. The few linear primitives they need are bound in
`ops.structure`, where all of that kind are stated.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..arrays.memory import LARGE
from ..arrays.sums import quick_sum, total as sum_as_numpy
from ..levels.spec import Spec, spec_of

__all__ = [
    "BOUND",
    "FEW",
    "either_zero_wins",
    "fit",
    "sum_to",
    "unfit",
    "zero_wins",
    "zeros",
    "zeros_like",
]

#: Linear primitives the engine itself uses, by name.
BOUND: dict[str, Any] = {}

#: Up to how many entries an array of its own is quicker than one that is broadcast.
FEW = 1024


def fit(t: Any, out: Any) -> Any:
    """Bring a tangent to the shape and dtype of its output (a value or a Spec)."""
    if not hasattr(t, "dtype"):
        t = np.asarray(t)
    if t.shape != out.shape:
        t = BOUND["broadcast_to"](t, shape=out.shape)
    return t if t.dtype == out.dtype else BOUND["cast"](t, dtype=out.dtype)


def unfit(ct: Any, spec: Any) -> Any:
    """Bring a cotangent to the shape and dtype of its argument: the transpose of `fit`.

    A Spec without a dtype takes any.
    """
    if ct.shape != spec.shape:
        ct = sum_to(ct, spec.shape)
    if spec.dtype is None or ct.dtype == spec.dtype:
        return ct
    return BOUND["cast"](ct, dtype=spec.dtype)


def sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Sum over the axes along which `shape` would be broadcast to x's: the transpose of that."""
    small = type(x) is np.ndarray and x.size < LARGE
    if small and not shape:
        return np.add.reduce(x, None)
    lead = len(x.shape) - len(shape)
    axes = tuple(range(lead))
    if x.shape[lead:] != shape:
        axes += tuple([k + lead for k, n in enumerate(shape) if n == 1 and x.shape[k + lead] != 1])
    if small:
        x = np.add.reduce(x, axes)
        return x if x.shape == shape else x.reshape(shape)
    if type(x) is np.ndarray:
        sums = sum_as_numpy(x, axes) if (quick := quick_sum(x, axes)) is None else quick
        return sums if sums.shape == shape else sums.reshape(shape)
    x = BOUND["sum_axes"](x, axes=axes)
    return x if x.shape == shape else BOUND["reshape"](x, shape=shape)


def either_zero_wins(a: Any, b: Any) -> Any:
    """a * b, but 0 wherever a or b is 0."""
    return BOUND["either_zero_wins"](a, b)


def zero_wins(a: Any, b: Any) -> Any:
    """a * b, but 0 wherever a is 0."""
    return BOUND["zero_wins"](a, b)


def zeros(spec: Spec) -> np.ndarray:
    """A zero array that takes no memory; read only."""
    return _zeros(spec.shape, spec.dtype)


def zeros_like(x: Any) -> np.ndarray:
    """Zeros in the shape and dtype of a value, not to be written to."""
    if type(x) is np.ndarray and x.size <= FEW:
        return np.zeros(x.shape, x.dtype)
    return zeros(spec_of(x))


@functools.lru_cache(maxsize=256)
def _zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    return np.broadcast_to(np.zeros((), dtype), shape)
