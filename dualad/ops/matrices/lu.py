"""Triangular factors with pivots: lu and ldl.

B = P^T A = L U gives L^-1 dB U^-1 = L^-1 dL + dU U^-1, whose strictly lower part is L^-1 dL (de
Hoog, Anderssen and Lukas, "Differentiation of matrix functionals using triangular factorization",
2011).
The order of the pivots is locally constant; where two candidates tie the factors jump.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.kinds.direction import constant
from ...engine.levels.traced import raw
from ...engine.primitives.composite import Composite
from ...engine.primitives.primitive import Opaque
from ...errors import SingularPointError
from ..dropin import drop_in, matrix, operand
from ..indexing import index
from ..linalg import adjoint, diagonal_of, real_dtype, transposed
from ..solve import inverse_for
from .systems import hermitian as _hermitian, symmetric
from .triangular import as_columns, solve_triangular, triangular_solve

__all__ = ["ldl", "lu", "lu_factor", "lu_solve"]


# --- the tangents of both factors ----------------------------------------------------------------


def _moves(db: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
    """dL and dU of one B = L U, which may be tall or wide.

    The last pivot of a B that is not tall divides nothing: it may be zero.
    """
    k = lower.shape[1]
    tall = lower.shape[0] > k
    head = upper[:, :k]
    _require_pivots(raw(diagonal_of(head)[: k if tall else k - 1]))
    if not tall:
        last = np.arange(k) == k - 1
        head = np.where(last[:, None] & last, 1, head)
    z = triangular_solve(lower[:k], db[:k], trans=0, lower=True, unit=True)
    x = triangular_solve(head, transposed(z[:, :k]), trans=1, lower=False, unit=False)
    strict = np.tril(transposed(x), -1)
    d_upper = np.triu(z - strict @ upper)
    d_lower = lower[:k] @ strict
    if not tall:
        return d_lower, d_upper
    rest = transposed(db[k:] - lower[k:] @ d_upper)
    below = transposed(triangular_solve(head, rest, trans=1, lower=False, unit=False))
    return np.concatenate([d_lower, below]), d_upper


def _require_pivots(pivots: Any) -> None:
    if np.any(pivots == 0):
        raise SingularPointError(
            "scipy.linalg.lu has no derivative here: a pivot is zero before the last column, and "
            "the factors jump. Move the point off the singularity, or take "
            "dualad.stop_gradient(a)."
        )


def rows_of(x: Any, order: Any) -> Any:
    """The rows of x in an order that may differ within a batch, where x may be plain."""
    return index(x, (order,))


# --- lu ------------------------------------------------------------------------------------------


def _plain_lu(a: Any) -> tuple:
    """(p, L, U) with a = L[p] U."""
    return tuple(sp.lu(a, p_indices=True, check_finite=False))


def _lu_rule(t: Any, out: tuple, a: Any) -> tuple:
    p, lower, upper = out
    return None, *_moves(rows_of(t, np.argsort(p)), lower, upper)


lu_parts = Composite(_plain_lu, _lu_rule, name="scipy.linalg.lu")


@drop_in(sp.lu, a=2)
def lu(a: Any, permute_l: bool = False, p_indices: bool = False) -> tuple:
    """scipy.linalg.lu: both factors move, the permutation is constant."""
    a = operand(a)
    p, lower, upper = lu_parts(a)
    if permute_l:
        return rows_of(lower, p), upper
    if p_indices:
        return p, lower, upper
    return rows_of(np.eye(a.shape[0], dtype=real_dtype(a)), p), lower, upper


# --- lu_factor and lu_solve ----------------------------------------------------------------------


def _permutation(pivots: Any, rows: int) -> Any:
    """The order of rows that a list of interchanges leads to."""
    order = np.arange(rows)
    for i, p in enumerate(pivots):
        order[[i, p]] = order[[p, i]]
    return order


_order = Opaque(_permutation, name="scipy.linalg.pivots")


def _factor_rule(t: Any, out: tuple, a: Any) -> tuple:
    packed, pivots = out
    m, n = a.shape
    k = min(m, n)
    lower = np.tril(packed[:, :k], -1) + np.eye(m, k)
    d_lower, d_upper = _moves(rows_of(t, _order(pivots, rows=m)), lower, np.triu(packed[:k]))
    if m > k:
        d_upper = np.concatenate([d_upper, np.zeros((m - k, n))])
    if n > k:
        d_lower = np.concatenate([d_lower, np.zeros((m, n - k))], axis=1)
    return d_lower + d_upper, None


lu_packed = Composite(
    lambda a: tuple(sp.lu_factor(a, check_finite=False)),
    _factor_rule,
    name="scipy.linalg.lu_factor",
)


@drop_in(sp.lu_factor, a=2)
def lu_factor(a: Any) -> tuple:
    """scipy.linalg.lu_factor: both factors in one matrix move, the pivots are constant."""
    return lu_packed(operand(a))


@drop_in(sp.lu_solve)
def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0) -> Any:
    """scipy.linalg.lu_solve: two triangular systems and a permutation."""
    packed, pivots = lu_and_piv
    packed = matrix(packed, "lu")
    b, flat = as_columns(b)
    if b.shape[0] != packed.shape[0]:
        raise ValueError(f"Shapes of lu {packed.shape} and b {b.shape} are incompatible")
    if trans not in (0, 1, 2):
        raise ValueError(f"trans must be 0, 1 or 2, got {trans!r}")
    order = _order(pivots, rows=packed.shape[0])

    def half(x: Any, lower: bool) -> Any:
        return solve_triangular(packed, x, trans, lower, lower, check_finite=False)

    if trans:
        x = rows_of(half(half(b, False), True), np.argsort(order))
    else:
        x = half(half(rows_of(b, order), True), False)
    return x[:, 0] if flat else x


# --- ldl -----------------------------------------------------------------------------------------


def _ldl_rule(t: Any, out: tuple, a: Any, lower: bool, hermitian: bool) -> tuple:
    """L^-1 dA L^-* = L^-1 dL D + dD + D (L^-1 dL)^*, of which D and dD hold blocks of order 2."""
    flip, read = (adjoint, _hermitian) if hermitian else (transposed, symmetric)
    t = read(t, lower)
    factor, d, order = out
    factor = rows_of(factor, order)
    inverse = np.linalg.inv(factor)
    x = inverse @ index(rows_of(t, order), (slice(None), order)) @ flip(inverse)
    joined = np.abs(constant(d)) + np.eye(d.shape[-1]) != 0
    side = np.tri(d.shape[-1], k=-1, dtype=bool) if lower else ~np.tri(d.shape[-1], dtype=bool)
    turn = np.where(side & ~joined, x, 0) @ inverse_for(d, "scipy.linalg.ldl")
    return rows_of(factor @ turn, np.argsort(order)), np.where(joined, x, 0), None


ldl_parts = Composite(
    lambda a, lower, hermitian: tuple(sp.ldl(a, lower, hermitian, check_finite=False)),
    _ldl_rule,
    name="scipy.linalg.ldl",
)


@drop_in(sp.ldl, A=2)
def ldl(A: Any, lower: bool = True, hermitian: bool = True) -> tuple:
    """scipy.linalg.ldl: the pivots and the sizes of the blocks of D are locally constant."""
    return ldl_parts(matrix(A), lower=bool(lower), hermitian=bool(hermitian))
