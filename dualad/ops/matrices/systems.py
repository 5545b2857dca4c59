"""Linear systems, inverses, determinants and least squares by SciPy's names.

They are NumPy's, with their rules, applied to the matrix that SciPy reads: `assume_a` says which
entries those are, and gradients are zero in the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.kinds.direction import constant
from ...engine.levels.spec import Spec
from ...engine.levels.traced import raw
from ...engine.primitives.composite import Composite
from ...engine.primitives.linear import Linear
from ..complexes import real
from ..dropin import drop_in, matrix, operand
from ..least_squares import least_squares, pinv_rule
from ..linalg import adjoint, diagonal_of, real_dtype, transposed
from .triangular import as_columns, solve_triangular, triangle

__all__ = ["det", "hermitian", "inv", "lstsq", "norm", "pinv", "pinvh", "solve"]


# --- the matrix that is read ---------------------------------------------------------------------


def hermitian(a: Any, lower: bool) -> Any:
    """The Hermitian matrix of which a holds one triangle; its diagonal is taken as real."""
    strict = triangle(a, lower, strict=True)
    middle = diagonal_of(a)
    middle = real(middle) if a.dtype.kind == "c" else middle
    return (
        strict
        + adjoint(strict)
        + np.expand_dims(middle, -2) * np.eye(a.shape[-1], dtype=middle.dtype)
    )


def symmetric(a: Any, lower: bool) -> Any:
    """The symmetric matrix of which a holds one triangle."""
    strict = triangle(a, lower, strict=True)
    return strict + transposed(triangle(a, lower))


def near_diagonal(a: Any, width: int) -> Any:
    """The entries of a that are not further than width from the diagonal."""
    return np.tril(np.triu(a, -width), width)


LONG_NAMES = {"gen": "general", "sym": "symmetric", "her": "hermitian", "pos": "positive definite"}


# --- solve and inv -------------------------------------------------------------------------------


def positive_solution(a: Any, b: Any, lower: bool) -> Any:
    """The x of a positive definite system; its source is what a linear program prints."""
    from scipy.linalg import solve

    return solve(a, b, lower=lower, assume_a="pos", check_finite=False)


positive = Linear(
    positive_solution,
    None,
    lambda ct, a, b, lower: positive(a, ct, lower=lower),
    rules=(
        lambda t, out, a, b, lower: -positive(a, hermitian(t, lower) @ out, lower=lower),
        None,
    ),
    spec=lambda a, b, lower: Spec(b.shape, np.result_type(a.dtype, b.dtype)),
    name="scipy.linalg.solve pos",
)


def _triangular(a: Any, b: Any, lower: bool, transpose: bool) -> Any:
    return solve_triangular(a, b, trans=int(transpose), lower=lower)


def _by_reading(read: Any) -> Any:
    def solver(a: Any, b: Any, lower: bool, transpose: bool) -> Any:
        m = read(a, lower)
        return np.linalg.solve(transposed(m) if transpose else m, b)

    return solver


#: How a system is solved under each assumption: (a, columns b, lower, transpose) -> x.
SOLVERS = {
    "general": _by_reading(lambda a, lower: a),
    "banded": _by_reading(lambda a, lower: a),
    "diagonal": _by_reading(lambda a, lower: near_diagonal(a, 0)),
    "tridiagonal": _by_reading(lambda a, lower: near_diagonal(a, 1)),
    "symmetric": _by_reading(symmetric),
    "hermitian": _by_reading(hermitian),
    "positive definite": lambda a, b, lower, transpose: positive(a, b, lower=lower),
    "upper triangular": lambda a, b, lower, transpose: _triangular(a, b, False, transpose),
    "lower triangular": lambda a, b, lower, transpose: _triangular(a, b, True, transpose),
}


def _solver(assume_a: Any) -> Any:
    name = LONG_NAMES.get(assume_a, assume_a) or "general"
    if name not in SOLVERS:
        raise ValueError(f"{assume_a} is not a recognized matrix structure")
    return SOLVERS[name]


@drop_in(sp.solve, a=2, b="1|2")
def solve(
    a: Any, b: Any, lower: bool = False, assume_a: Any = None, transposed: bool = False
) -> Any:
    """scipy.linalg.solve: linear in b, differentiable in the entries of a that are read.

    A general a that happens to have a structure is not treated as if it kept it.
    """
    a = matrix(np.atleast_2d(operand(a)))
    b, flat = as_columns(b)
    if transposed and a.dtype.kind == "c":
        raise NotImplementedError(
            "scipy.linalg.solve does not solve a^T x = b for complex matrices: pass "
            "np.transpose(a)"
        )
    x = _solver(assume_a)(a, b, bool(lower), bool(transposed))
    return x[:, 0] if flat else x


@drop_in(sp.inv)
def inv(a: Any, *, assume_a: Any = None, lower: bool = False) -> Any:
    """scipy.linalg.inv: the inverse of the matrix that is read."""
    a = operand(a)
    if assume_a in (None, "gen", "general"):
        return np.linalg.inv(a)
    if a.ndim > 2:
        return np.stack([inv(m, assume_a=assume_a, lower=lower) for m in a])
    return _solver(assume_a)(matrix(a), np.eye(a.shape[-1], dtype=a.dtype), bool(lower), False)


# --- det, norm -----------------------------------------------------------------------------------


@drop_in(sp.det)
def det(a: Any) -> Any:
    """scipy.linalg.det, in double precision; its gradient is the cofactors, at singular a too."""
    a = operand(a)
    return np.linalg.det(a.astype(np.complex128 if a.dtype.kind == "c" else np.float64))


@drop_in(sp.norm)
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """scipy.linalg.norm: as np.linalg.norm."""
    return np.linalg.norm(operand(a), ord, axis, keepdims)


# --- pseudo-inverses -----------------------------------------------------------------------------

pseudo_inverse = Composite(
    lambda a, atol, rtol: sp.pinv(a, atol=atol, rtol=rtol, check_finite=False),
    lambda t, out, a, atol, rtol: pinv_rule(t, out, a, None),
    name="scipy.linalg.pinv",
)


@drop_in(sp.pinv, a=2)
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False) -> Any:
    """scipy.linalg.pinv, differentiated at constant rank."""
    return _pinv(operand(a), atol, rtol, return_rank)


@drop_in(sp.pinvh, a=2)
def pinvh(
    a: Any, atol: Any = None, rtol: Any = None, lower: bool = True, return_rank: bool = False
) -> Any:
    """scipy.linalg.pinvh: the gradient is in the triangle that is read."""
    return _pinv(hermitian(matrix(a), lower), atol, rtol, return_rank)


def _pinv(a: Any, atol: Any, rtol: Any, return_rank: bool) -> Any:
    out = pseudo_inverse(a, atol=atol, rtol=rtol)
    if not return_rank:
        return out
    s = np.linalg.svdvals(constant(a))
    rtol = max(a.shape) * np.finfo(a.dtype).eps if rtol is None else rtol
    return out, np.sum(s > (0 if atol is None else atol) + rtol * np.max(s))


# --- least squares -------------------------------------------------------------------------------


@drop_in(sp.lstsq, a=2, b="1|2")
def lstsq(a: Any, b: Any, cond: Any = None, lapack_driver: Any = None) -> tuple:
    """scipy.linalg.lstsq: solution, squared residuals, rank and singular values."""
    a = operand(a)
    b, flat = as_columns(b)
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"Shape mismatch: a and b should have the same number of rows {a.shape}")
    if lapack_driver not in (None, "gelsd", "gelsy", "gelss"):
        raise ValueError(f'LAPACK driver "{lapack_driver}" is not found')
    dtype = np.result_type(a.dtype, b.dtype)
    cond = np.finfo(dtype).eps if cond is None else raw(cond)
    x, residuals, rank, s = least_squares(a.astype(dtype), b.astype(dtype), rcond=cond)
    residuals = residuals[0] if flat and residuals.size else residuals
    if lapack_driver == "gelsy":
        residuals, s = np.zeros(0, real_dtype(a)), None
    return x[:, 0] if flat else x, residuals, rank, s
