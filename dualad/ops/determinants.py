"""Determinants: det and slogdet.

det a is a polynomial in the entries of a, and its gradient the matrix of cofactors, at singular
matrices too (Magnus and Neudecker, *Matrix Differential Calculus*, section 8.3, where the adjugate
is the transpose of the cofactors).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.arrays.guard import quiet
from ..engine.arrays.memory import LARGE, large_result
from ..engine.kinds.direction import constant
from ..engine.levels.spec import Spec
from ..engine.levels.traced import raw
from ..engine.primitives.chain import Cases, Chain, Link
from ..engine.primitives.composite import Composite
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from .complexes import imag, real
from .linalg import adjoint, real_dtype, square, transposed
from .products import conj
from .registry import function, kinks
from .shared import inverse_beside, slogdet_of
from .solve import inverse_again, inverse_for

__all__ = ["cofactors", "determinant", "slogdet"]

SlogdetResult = type(np.linalg.slogdet(np.eye(1)))


def _over_matrices(ct: Any, x: Any) -> Any:
    """x, of which each matrix is scaled."""
    if type(ct) is np.float64 and type(x) is np.ndarray and x.size >= LARGE:
        return large_result(np.multiply, ct, x)
    return ct * x if x.ndim == 2 else ct[..., None, None] * x


#: The trace of a^T b, of each matrix.
trace_of_product = Linear(
    lambda a, b: np.einsum("...ij,...ij->...", a, b),
    lambda ct, a, b: _over_matrices(ct, conj(b)),
    lambda ct, a, b: _over_matrices(ct, conj(a)),
    batch=lambda args, mine: trace_of_product(*align(args, mine)),
    spec=lambda a, b: Spec(
        np.broadcast_shapes(a.shape, b.shape)[:-2], np.result_type(a.dtype, b.dtype)
    ),
    show=lambda a, b: f"np.sum({a} * {b}, axis=(-2, -1))",
    name="trace_of_product",
)


# --- cofactors -----------------------------------------------------------------------------------


def cofactors(a: Any, det: Any) -> Any:
    """The gradient of det, whose value is given: the transposed adjugate of each matrix.

    Exact with all its derivatives, whatever the rank: up to 3 x 3 by minors, beyond by the inverse
    where the matrix is regular, else by that of its regular part.
    """
    n = a.shape[-1]
    if n <= 1:
        return np.ones(a.shape, a.dtype)
    if n == 2:
        return a[..., ::-1, ::-1] * np.array([[1, -1], [-1, 1]], real_dtype(a))
    if n == 3:
        return np.cross(a[..., [1, 2, 0], :], a[..., [2, 0, 1], :])
    inverse = _regular_inverse(a)
    if inverse is not None:
        return transposed(det[..., None, None] * inverse)
    return transposed(_adjugates(a))


def _regular_inverse(a: Any) -> Any:
    """The inverse; None if a matrix of the stack is singular or nearly so."""
    with quiet():
        try:
            inverse = inverse_again(a)
        except np.linalg.LinAlgError:
            return None
        norms = [np.max(np.sum(np.abs(raw(x)), -1), -1, initial=0) for x in (a, inverse)]
    return None if np.any(norms[0] * norms[1] * _small(a) > 1) else inverse


def _small(a: Any) -> Any:
    """The ratio to the largest below which a singular value counts as small."""
    return np.sqrt(np.finfo(a.dtype).eps)


def _adjugates(a: Any) -> Any:
    """The adjugate of each matrix of a stack, by the number of its small singular values."""
    s = np.linalg.svd(constant(a), compute_uv=False)
    count = np.sum((s <= _small(a) * s[..., :1]) * np.ones((), int), axis=-1)
    counts = np.unique(raw(count))
    if counts.size == 1:
        return _adjugate(a, int(counts[0]))
    total, n = np.zeros((), a.dtype), a.shape[-1]
    for m in counts.tolist():
        mine = (count == m)[..., None, None]
        harmless = np.diag(np.arange(n) < n - m).astype(a.dtype)
        total = np.where(mine, _adjugate(np.where(mine, a, harmless), m), total)
    return total


def _adjugate(a: Any, m: int) -> Any:
    """The adjugate of matrices of which m singular values are small.

    In fixed unitary bases that are singular vectors at this point, a is [[p, q], [r, s]] with p
    regular, and the determinant of a is that of p times that of c = s - r p^-1 q, which is small.
    """
    u, _, vh = np.linalg.svd(constant(a))
    phase = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    b, k = adjoint(u) @ a @ adjoint(vh), a.shape[-1] - m
    p, q, r, s = b[..., :k, :k], b[..., :k, k:], b[..., k:, :k], b[..., k:, k:]
    det_p, inverse = np.linalg.det(p)[..., None, None], np.linalg.inv(p)
    right, left = inverse @ q, r @ inverse
    det_c, adj_c = _by_traces(s - r @ right)
    top = [det_c * inverse + right @ adj_c @ left, -right @ adj_c]
    rows = [np.concatenate(top, -1), np.concatenate([-adj_c @ left, adj_c], -1)]
    return adjoint(vh) @ (phase * det_p * np.concatenate(rows, -2)) @ adjoint(u)


def _by_traces(c: Any) -> tuple:
    """Determinant and adjugate as polynomials (Faddeev and LeVerrier): for matrices near zero."""
    n, one = c.shape[-1], np.eye(c.shape[-1])
    power, coefficient = one + 0 * c, 1
    for k in range(1, n + 1):
        if k > 1:
            power = c @ power + coefficient * one
        coefficient = -np.trace(c @ power, axis1=-2, axis2=-1)[..., None, None] / k
    sign = (-1) ** n
    return sign * coefficient, -sign * power


# --- det and slogdet -----------------------------------------------------------------------------

determinant = Composite(
    lambda a: np.linalg.det(a),
    Chain(Link(trace_of_product, 1, lambda out, a: (cofactors(a, out),))),
    batch=lambda args, mine: determinant(args[0]),
    name="det",
)


def _slope(out: tuple, a: Any) -> tuple:
    """d log det a = tr(a^-1 da)."""
    inverse = inverse_beside(out[1], a) if type(a) is np.ndarray else None
    inverse = inverse_for(a, "np.linalg.slogdet") if inverse is None else inverse
    return (transposed(inverse),)


#: The sign of a real determinant does not move.
_real_rule = Chain(Link(trace_of_product, 1, _slope), part=1)


def _complex_rule(t: Any, out: tuple, a: Any) -> tuple:
    """The real part moves the logarithm, the imaginary one the phase."""
    move = trace_of_product(*_slope(out, a), t)
    return imag(move) * (1j * out[0]), real(move)


slogdet = Composite(
    slogdet_of,
    Cases(lambda out, a: _complex_rule if np.dtype(a.dtype).kind == "c" else _real_rule),
    batch=lambda args, mine: slogdet(args[0]),
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


# --- where a derivative is not unique, or not finite ---------------------------------------------

# A determinant is a polynomial: its slope at a singular matrix is that of the cofactors.
kinks(
    ("np.linalg.det(np.diag(x))", "[0.0, 2.0]", "[2.0, 0.0]", "the cofactors"),
    ("np.linalg.det(np.diag(x))", "[0.0, 0.0, 2.0]", "[0.0, 0.0, 0.0]", "the cofactors"),
)
