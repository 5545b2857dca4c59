"""Determinants: det and slogdet.

det a is a polynomial in the entries of a, and its gradient the matrix of cofactors, at singular
matrices too (Magnus and Neudecker, *Matrix Differential Calculus*, section 8.3, where the adjugate
is the transpose of the cofactors).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.guard import quiet
from ..engine.primitive import Composite
from ..engine.traced import raw
from .complexes import imag, real
from .linalg import adjoint, diagonal_of, inverse_for, real_dtype, square, transposed
from .products import conj
from .registry import function
from .structure import sum_axes

__all__ = ["cofactors", "determinant", "slogdet"]

SlogdetResult = type(np.linalg.slogdet(np.eye(1)))


def _trace_of_product(a: Any, b: Any) -> Any:
    """The trace of a^T b, of each matrix."""
    product = a * b
    return sum_axes(product, axes=(product.ndim - 2, product.ndim - 1))


# --- cofactors -----------------------------------------------------------------------------------


def cofactors(a: Any) -> Any:
    """The gradient of det: the transposed adjugate of each matrix.

    Up to 3 x 3 by minors, which are polynomials: exact with all their derivatives. Larger ones
    exact with their first derivatives, singular or not, which makes second derivatives of det
    exact; from the third on at matrices that are not singular.
    """
    n = a.shape[-1]
    if n <= 1:
        return np.ones(a.shape, a.dtype)
    if n == 2:
        return a[..., ::-1, ::-1] * np.array([[1, -1], [-1, 1]], real_dtype(a))
    if n == 3:
        return np.cross(a[..., [1, 2, 0], :], a[..., [2, 0, 1], :])
    return _cofactors(a)


def _regular_inverse(a: Any) -> Any:
    """The inverse of plain matrices; None if one of them is nearly singular."""
    with quiet():
        try:
            inverse = np.linalg.inv(a)
        except np.linalg.LinAlgError:
            return None
        condition = np.abs(a).sum(-1).max(-1) * np.abs(inverse).sum(-1).max(-1)
    limit = 1 / np.sqrt(np.finfo(a.dtype).eps)
    return None if np.any(condition > limit) else inverse


def _products_of_others(s: Any) -> Any:
    """For each entry of the last axis the product of all others, by no division."""
    one = np.ones((*s.shape[:-1], 1), s.dtype)
    before = np.cumprod(np.concatenate([one, s[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([one, s[..., :0:-1]], -1), -1)[..., ::-1]
    return before * after


def _products_of_rest(s: Any) -> Any:
    """For each pair of entries of the last axis the product of all others; 0 for equal places."""
    n = s.shape[-1]
    one = np.ones((*s.shape[:-1], 1), s.dtype)
    before = np.cumprod(np.concatenate([one, s[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([one, s[..., :0:-1]], -1), -1)[..., ::-1]
    later = np.tri(n, k=-1, dtype=bool).T
    runs = np.cumprod(np.where(later, s[..., None, :], 1), -1)
    between = np.concatenate([np.broadcast_to(one[..., None], (*s.shape, 1)), runs[..., :-1]], -1)
    pairs = np.where(later, before[..., :, None] * between * after[..., None, :], 0)
    return pairs + transposed(pairs)


def _plain_cofactors(a: Any) -> Any:
    """det a times the inverse transpose, or from the singular values where that is inaccurate."""
    inverse = _regular_inverse(a)
    if inverse is not None:
        return np.linalg.det(a)[..., None, None] * transposed(inverse)
    u, s, vh = np.linalg.svd(a)
    phase = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return phase * (conj(u) * _products_of_others(s)[..., None, :]) @ conj(vh)


def _cofactors_rule(t: Any, out: Any, a: Any) -> Any:
    """With b = a^-1 it is tr(b t) out - b^T t^T out; what that is in the limit of a singular a."""
    if _regular_inverse(raw(a)) is not None:
        b = transposed(np.linalg.inv(a))
        return _trace_of_product(b, t)[..., None, None] * out - b @ transposed(t) @ out
    u, s, vh = np.linalg.svd(a)
    phase = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    m = adjoint(u) @ t @ adjoint(vh)
    rest = _products_of_rest(s)
    trace_part = (rest @ diagonal_of(m)[..., None]) * np.eye(s.shape[-1])
    return phase * (conj(u) @ (trace_part - rest * transposed(m)) @ conj(vh))


_cofactors = Composite(
    _plain_cofactors, _cofactors_rule, batch=lambda args, mine, **params: _cofactors(args[0], **params), name="cofactors"
)


# --- det and slogdet -----------------------------------------------------------------------------

determinant = Composite(
    lambda a: np.linalg.det(a),
    lambda t, out, a: _trace_of_product(cofactors(a), t),
    batch=lambda args, mine, **params: determinant(args[0], **params),
    name="det",
)


def _slogdet_rule(t: Any, out: tuple, a: Any) -> tuple:
    """d log det a = tr(a^-1 da): its real part moves the logarithm, its imaginary the phase."""
    inverse = inverse_for(a, "np.linalg.slogdet")
    move = _trace_of_product(transposed(inverse), t)
    if np.dtype(a.dtype).kind != "c":
        return None, move
    return imag(move) * (1j * out[0]), real(move)


slogdet = Composite(
    lambda a: tuple(np.linalg.slogdet(a)),
    _slogdet_rule,
    batch=lambda args, mine, **params: slogdet(args[0], **params),
    name="slogdet",
)


@function(np.linalg.det)
def np_det(a: Any) -> Any:
    """The determinant; its gradient is the cofactor matrix, also where a is singular."""
    square(a)
    return determinant(a)


@function(np.linalg.slogdet)
def np_slogdet(a: Any) -> Any:
    """Sign and logarithm of the determinant; the sign of a real one is constant.

    Raises SingularPointError where a derivative is taken at a singular matrix.
    """
    square(a)
    return SlogdetResult(*slogdet(a))
