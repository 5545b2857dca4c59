"""Lengths: numpy.linalg.norm and its kin.

The Euclidean length and the p-norm state a forward rule each; the other norms are sums and
extrema of absolute values, or of singular values. At 0 the subgradient is 0, the one of least
norm; a second derivative there is infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.arrays.guard import quiet
from ..engine.kinds.duck import duck_under
from ..engine.levels.traced import raw
from ..engine.primitives.composite import Composite
from .products import conj
from .reduce import all_axes, finish, unreduced
from .registry import function, kinks
from .structure import axes_of, sum_axes
from .zero_wins import zero_wins

__all__ = ["inner", "length", "radial"]


# --- the Euclidean length ------------------------------------------------------------------------


def _length(x: Any, axes: tuple) -> Any:
    if x.dtype.kind == "c":
        return np.sqrt(np.add.reduce((x * x.conj()).real, axis=axes))
    if len(axes) == x.ndim:
        flat = x.ravel(order="K")
        return np.sqrt(flat.dot(flat))
    return np.sqrt(np.add.reduce(x * x, axis=axes))


def inner(x: Any, t: Any, axes: tuple) -> Any:
    """The real inner product Re <x, t> over axes."""
    if len(axes) == x.ndim == t.ndim:
        product = np.vdot(x, t)
    else:
        product = sum_axes(conj(x) * t, axes=axes)
    return np.real(product) if product.dtype.kind == "c" else product


def radial(t: Any, out: Any, x: Any, axes: tuple) -> Any:
    """<x, t> / out, the slope of a length; where out is 0 it is 0, and its own slope infinite."""
    if duck_under(out) is None and np.all(raw(out) != 0):
        return inner(x, t, axes) / out
    with quiet():
        steep = unreduced(1 / out, x.shape, axes)
        return inner(zero_wins(x, steep), t, axes)


length = Composite(
    _length,
    radial,
    batch=lambda args, mine, axes: length(args[0], axes=tuple(k + 1 for k in axes)),
    name="length",
)


# --- the p-norm ----------------------------------------------------------------------------------


def _power_rule(t: Any, out: Any, x: Any, axes: tuple, p: float) -> Any:
    """sign(x) (|x| / out)**(p - 1), and 0 where x is 0."""
    size = np.abs(x)
    full = unreduced(out, x.shape, axes)
    sign = np.sign(x) if x.dtype.kind == "f" else x / np.where(size == 0, 1, size)
    with quiet():
        ratio = (size / np.where(full == 0, 1, full)) ** (p - 1)
    return inner(zero_wins(sign, ratio), t, axes)


power_norm = Composite(
    lambda x, axes, p: np.add.reduce(np.abs(x) ** p, axis=axes) ** (1 / p),
    _power_rule,
    batch=lambda args, mine, axes, p: power_norm(args[0], axes=tuple(k + 1 for k in axes), p=p),
    name="p_norm",
)


# --- NumPy's names -------------------------------------------------------------------------------


def _vector_norm(x: Any, order: Any, axes: tuple) -> Any:
    if order is None or order == 2:
        return length(x, axes=axes)
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order '{order}' for vectors")
    if order == np.inf:
        return np.max(np.abs(x), axis=axes)
    if order == -np.inf:
        return np.min(np.abs(x), axis=axes)
    if order == 0:
        return np.sum(x != 0, axis=axes) * np.ones((), x.real.dtype)
    if order == 1:
        return np.sum(np.abs(x), axis=axes)
    return power_norm(x, axes=axes, p=float(order))


def _matrix_norm(x: Any, order: Any, axes: tuple) -> Any:
    if order is None or order in ("fro", "f"):
        return length(x, axes=axes)
    if order not in (1, -1, 2, -2, np.inf, -np.inf, "nuc"):
        raise ValueError("Invalid norm order for matrices.")
    x = np.moveaxis(x, axes, (-2, -1))
    if order in (2, -2, "nuc"):
        values = np.abs(np.linalg.svd(x, compute_uv=False))  # with slope 0 at 0
    else:
        values = np.sum(np.abs(x), axis=-2 if abs(order) == 1 else -1)
    if order == "nuc":
        return np.sum(values, axis=-1)
    return np.max(values, axis=-1) if order > 0 else np.min(values, axis=-1)


@function(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Vector and matrix norms; the subgradient at 0 is 0, ties of a largest entry share evenly."""
    x = x if x.dtype.kind in "fc" else x.astype(float)
    axes = all_axes(axis, x.ndim)
    flat = axis is None and (
        ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1)
    )
    if flat:
        result = length(x, axes=axes)
    elif len(axes) == 1:
        result = _vector_norm(x, ord, axes)
    elif len(axes) == 2:
        result = _matrix_norm(x, ord, axes)
    else:
        raise ValueError("Improper number of dimensions to norm.")
    return finish(result, x, axes, keepdims, None)


@function(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of all entries along axes as one vector."""
    axes = all_axes(axis, x.ndim)
    return finish(_vector_norm(x, ord, axes), x, axes, keepdims, None)


@function(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of matrices over the last two axes."""
    axes = axes_of((-2, -1), x.ndim)
    return finish(_matrix_norm(x, ord, axes), x, axes, keepdims, None)


# --- where a derivative is not unique, or not finite ---------------------------------------------

# At 0 the subgradient of least norm.
kinks(
    (
        "np.linalg.norm(x)",
        "[0.0, 0.0]",
        "[0.0, 0.0]",
        "the tip of a cone: the subgradient of least norm",
    ),
    ("np.linalg.norm(x, 1)", "[0.0, 1.0]", "[0.0, 1.0]", "as abs"),
    ("np.linalg.norm(x, np.inf)", "[2.0, -2.0]", "[0.5, -0.5]", "ties share evenly"),
    ("np.linalg.norm(x, 3)", "[0.0, 0.0]", "[0.0, 0.0]", "the subgradient of least norm"),
)
