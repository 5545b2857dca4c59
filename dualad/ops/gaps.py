"""Gaps between eigenvalues: which are tied, their inverses, and the resolvent made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.arrays.memory import workspace, zeros
from ..engine.kinds.direction import constant
from ..engine.levels.spec import Spec
from ..engine.levels.traced import raw
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from .linalg import adjoint
from .products import conj

__all__ = [
    "LEAST",
    "columns_of_resolvent",
    "diagonal_of_product",
    "has_ties",
    "inverse_gaps",
    "resolvent",
    "resolvent_in_values",
    "resolvent_in_vectors",
    "show_resolvent",
    "ties",
    "used_columns",
]


EPSILON = float(np.finfo(np.float64).eps)


# --- ties ----------------------------------------------------------------------------------------


def _tolerance(w: Any) -> Any:
    """What counts as rounding beside the largest modulus."""
    return np.max(np.abs(w), axis=-1, initial=0, keepdims=True) * _rounding(w)


def _rounding(w: Any) -> float:
    """The ratio to the largest modulus that counts as rounding."""
    return 4 * w.shape[-1] * (EPSILON if w.dtype == np.float64 else float(np.finfo(w.dtype).eps))


def ties(w: Any) -> Any:
    """Which pairs of values are equal within rounding; each is with itself."""
    w = constant(w)
    return np.abs(w[..., None, :] - w[..., :, None]) <= _tolerance(w)[..., None]


def inverse_gaps(w: Any, in_order: bool = False) -> Any:
    """1 / (w_j - w_i), and 0 where they are equal; it takes less where w is known to be sorted."""
    if in_order and type(w) is np.ndarray and not has_ties(w):
        gaps = workspace((*w.shape, w.shape[-1]), w.dtype)
        np.subtract(w[..., None, :], w[..., :, None], out=gaps)
        np.einsum("...ii->...i", gaps)[...] = np.inf
        return np.reciprocal(gaps, out=gaps)
    tied = ties(w)
    gaps = np.where(tied, 1, w[..., None, :] - w[..., :, None])
    return np.where(tied, 0, 1 / gaps)


def has_ties(w: Any) -> bool:
    """Whether two neighbours of sorted values are equal within rounding."""
    values = w if type(w) is np.ndarray else raw(w)
    if type(values) is np.ndarray and values.ndim == 1 and values.size > 1:
        gaps, size = values[1:] - values[:-1], max(abs(values[0]), abs(values[-1]))
        return bool(np.minimum.reduce(np.abs(gaps, gaps)) <= size * _rounding(values))
    return bool(np.any(np.abs(np.diff(values)) <= _tolerance(values)))


# --- diagonals of products -----------------------------------------------------------------------


def _over_columns(ct: Any, x: Any) -> Any:
    """x, of which each column is scaled."""
    if type(ct) is type(x) is np.ndarray and ct.ndim + 1 == x.ndim:
        return np.multiply(x, ct[..., None, :], out=workspace(x.shape, np.result_type(x, ct)))
    return x * ct[..., None, :]


#: The diagonal of V^T X: the sum of v * x over each column.
diagonal_of_product = Linear(
    lambda v, x: np.einsum("...ij,...ij->...j", v, x),
    lambda ct, v, x: _over_columns(ct, conj(x)),
    lambda ct, v, x: _over_columns(ct, conj(v)),
    batch=lambda args, mine: diagonal_of_product(*align(args, mine)),
    spec=lambda v, x: Spec(
        (*np.broadcast_shapes(v.shape, x.shape)[:-2], x.shape[-1]),
        np.result_type(v.dtype, x.dtype),
    ),
    show=lambda v, x: f"np.sum({v} * {x}, axis=-2)",
    name="diagonal_of_product",
)


# --- the resolvent -------------------------------------------------------------------------------

#: From this many rows on columns of zeros are looked for.
LEAST = 48


def _resolvent(v: Any, w: Any, x: Any) -> Any:
    """V (F * V^H X), where columns of zeros in X cost nothing."""
    if type(x) is np.ndarray and x.ndim == v.ndim == w.ndim + 1 == 2 and x.shape[0] >= LEAST:
        used = used_columns(x, w)
        if used is not None:
            out = zeros(x.shape, np.result_type(v, x))
            out[:, used] = columns_of_resolvent(v, w, x, used)
            return out
    inner = np.matmul(adjoint(v), x)
    gaps = inverse_gaps(w, in_order=True)
    inner = np.multiply(inner, gaps, out=inner if gaps.ndim <= inner.ndim else None)
    return np.matmul(v, inner)


def used_columns(x: np.ndarray, w: np.ndarray) -> np.ndarray | None:
    """Which columns of x are not zero; None where most are not, or values are tied."""
    used = _columns_with_entries(x)
    return used if 2 * len(used) < x.shape[1] and not has_ties(w) else None


def _columns_with_entries(x: np.ndarray) -> np.ndarray:
    """Which columns hold more than zeros, of whichever sign."""
    if x.dtype != np.float64:
        return np.flatnonzero(x.any(axis=0))
    bits = np.bitwise_or.reduce(x.view(np.uint64), axis=0)
    return np.add(bits, bits, bits).nonzero()[0]  # without the sign


def columns_of_resolvent(
    v: np.ndarray, w: np.ndarray, x: np.ndarray, used: np.ndarray
) -> np.ndarray:
    """These columns of the resolvent of x, where no values are tied."""
    gaps = w[used] - w[:, None]
    gaps[used, np.arange(len(used))] = np.inf
    return v @ ((adjoint(v) @ x[:, used]) / gaps)


def _batched_resolvent(args: tuple, mine: tuple[bool, ...]) -> Any:
    """Of stacks, each of which may have axes that another one lacks; w has one fewer than v."""
    v, w, x = args
    v, rows, x = align((v, w[..., None, :], x), mine)
    return resolvent(v, rows[..., 0, :], x)


def _show_gaps(w: str) -> str:
    gaps = f"({w}[..., None, :] - {w}[..., :, None])"
    size = f"np.max(np.abs({w}), axis=-1, initial=0)[..., None, None]"
    tied = f"(np.abs{gaps} <= {size} * (4 * {w}.shape[-1] * np.finfo({w}.dtype).eps))"
    return f"(~{tied} / np.where({tied}, 1, {gaps}))"


def show_resolvent(v: str, w: str, x: str) -> str:
    """The resolvent as an expression of NumPy."""
    return f"{v} @ ({_show_gaps(w)} * (np.conj(np.swapaxes({v}, -1, -2)) @ {x}))"


def _moved_gaps(t: Any, w: Any) -> Any:
    """The tangent of the inverse gaps from that of the values."""
    gaps = inverse_gaps(w)
    return gaps * gaps * (t[..., :, None] - t[..., None, :])


def resolvent_in_vectors(t: Any, v: Any, w: Any, x: Any) -> Any:
    """What a tangent of the eigenvectors moves."""
    return t @ (inverse_gaps(w) * (adjoint(v) @ x)) + v @ (inverse_gaps(w) * (adjoint(t) @ x))


def resolvent_in_values(t: Any, v: Any, w: Any, x: Any) -> Any:
    """What a tangent of the eigenvalues moves."""
    return v @ (_moved_gaps(t, w) * (adjoint(v) @ x))


#: (w_j - A)^+ x_j for each column x_j, of the Hermitian matrix with these eigenvectors and values.
resolvent = Linear(
    _resolvent,
    None,
    None,
    lambda ct, v, w, x: resolvent(v, w, ct),
    rules=(
        lambda t, out, v, w, x: resolvent_in_vectors(t, v, w, x),
        lambda t, out, v, w, x: resolvent_in_values(t, v, w, x),
        None,
    ),
    batch=_batched_resolvent,
    spec=lambda v, w, x: Spec(
        np.broadcast_shapes(v.shape, x.shape), np.result_type(v.dtype, x.dtype)
    ),
    show=show_resolvent,
    name="resolvent",
)
