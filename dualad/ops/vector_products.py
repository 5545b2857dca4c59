"""Products of vectors: outer and Kronecker products, and the cross product in space.

The transpose of the cross product in one factor is again one, with the conjugate of the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.levels.spec import Spec
from ..engine.primitives.inplace import store
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from .contractions import last_axis
from .operands import array_of
from .products import column, conj
from .registry import function
from .structure import axis_of

__all__ = ["cross"]


@function(np.outer)
def np_outer(a: Any, b: Any, out: Any = None) -> Any:
    """Every entry of a times every entry of b."""
    result = column(np.ravel(array_of(a))) * np.ravel(array_of(b))
    return result if out is None else store(out, result)


@function(np.linalg.outer)
def linalg_outer(x1: Any, x2: Any, /) -> Any:
    """The outer product of two vectors."""
    return np_outer(x1, x2)


@function(np.kron)
def np_kron(a: Any, b: Any) -> Any:
    """The Kronecker product: blocks a[i, j, ...] * b."""
    a, b = array_of(a), array_of(b)
    n = max(a.ndim, b.ndim)
    a_shape, b_shape = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    wide = np.reshape(a, tuple(s for k in a_shape for s in (k, 1)))
    narrow = np.reshape(b, tuple(s for k in b_shape for s in (1, k)))
    return np.reshape(wide * narrow, tuple(p * q for p, q in zip(a_shape, b_shape, strict=True)))


def _cross_spec(a: Any, b: Any) -> Spec:
    return Spec(np.broadcast_shapes(a.shape, b.shape), np.result_type(a.dtype, b.dtype))


cross = Linear(
    lambda a, b: np.cross(a, b),
    lambda ct, a, b: cross(conj(b), ct),
    lambda ct, a, b: cross(ct, conj(a)),
    batch=lambda args, mine: cross(*align(args, mine)),
    spec=_cross_spec,
    show=lambda a, b: f"np.cross({a}, {b})",
    name="cross",
)


@function(np.cross)
def np_cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """The vector product of vectors of two or three components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = array_of(a), array_of(b)
    a, b = last_axis(a, axisa), last_axis(b, axisb)
    sizes = (a.shape[-1], b.shape[-1])
    if not set(sizes) <= {2, 3}:
        raise ValueError(f"cross products are of vectors of 2 or 3 components, got {sizes}")
    if sizes == (2, 2):
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    out = cross(_in_space(a), _in_space(b))
    return out if axisc == -1 else np.moveaxis(out, -1, axis_of(axisc, out.ndim))


def _in_space(x: Any) -> Any:
    """A vector of two components with a third that is zero."""
    if x.shape[-1] == 3:
        return x
    return np.concatenate([x, np.zeros((*x.shape[:-1], 1), x.dtype)], -1)


@function(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The vector product of vectors of three components."""
    x1, x2 = array_of(x1), array_of(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{x1.shape[axis]} and {x2.shape[axis]} dimensional instead."
        )
    return np_cross(x1, x2, axis=axis)
