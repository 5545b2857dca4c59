"""Pseudo-inverse and least squares.

dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P for the pseudo-inverse P of A (Golub and
Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
variables separate", 1973, equation 4.12). It holds while the rank stays the same; at a matrix
whose rank can grow the pseudo-inverse jumps, and this is its derivative at constant rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.primitives.composite import Composite
from .complexes import real
from .constants import plain
from .linalg import adjoint, diagonal_of, half_triangle
from .operands import array_of
from .products import conj
from .registry import function
from .structure import reshape, sum_axes

__all__ = ["least_squares", "pinv_rule", "pseudo_inverse"]


# --- pinv ----------------------------------------------------------------------------------------


def pinv_rule(t: Any, out: Any, a: Any, rcond: Any) -> Any:
    """The tangent of the pseudo-inverse out of a, at constant rank."""
    inward = out @ adjoint(out) @ adjoint(t)
    outward = adjoint(t) @ adjoint(out) @ out
    return inward - (out @ t + inward @ a) @ out + outward - out @ (a @ outward)


pseudo_inverse = Composite(
    lambda a, rcond: np.linalg.pinv(a, rcond),
    pinv_rule,
    batch=lambda args, mine, rcond: pseudo_inverse(args[0], rcond=rcond),
    name="pinv",
)


@function(np.linalg.pinv)
def np_pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Any:
    """The pseudo-inverse, differentiated at constant rank."""
    if rcond is not None and rtol is not np._NoValue:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rcond is None and rtol is not np._NoValue:
        rcond = max(a.shape[-2:]) * np.finfo(a.dtype).eps if rtol is None else rtol
    if hermitian:
        half = a * half_triangle(a)
        a = half + adjoint(half)
    return pseudo_inverse(a, rcond=None if rcond is None else plain(rcond, "rcond of pinv"))


# --- lstsq ---------------------------------------------------------------------------------------


def _residual_move(move: Any, r: Any) -> Any:
    """The tangent of sum |r|**2 from that of b - A x at fixed x, because A^H r = 0."""
    product = 2 * conj(r) * move
    return sum_axes(real(product) if np.dtype(r.dtype).kind == "c" else product, axes=(0,))


def _lstsq_rule_a(t: Any, out: tuple, a: Any, b: Any, rcond: Any) -> tuple:
    x, residuals = out[:2]
    p = np_pinv(a, rcond)
    r = b - a @ x
    outward = adjoint(t) @ (adjoint(p) @ x)
    dx = p @ (adjoint(p) @ (adjoint(t) @ r) - t @ x - a @ outward) + outward
    dr = _residual_move(-(t @ x), r) if residuals.size else None
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    ds = diagonal_of(adjoint(u) @ t @ adjoint(vh))
    return dx, dr, None, real(ds) if np.dtype(a.dtype).kind == "c" else ds


def _lstsq_rule_b(t: Any, out: tuple, a: Any, b: Any, rcond: Any) -> tuple:
    x, residuals = out[:2]
    p = np_pinv(a, rcond)
    return p @ t, _residual_move(t, b - a @ x) if residuals.size else None, None, None


least_squares = Composite(
    lambda a, b, rcond: np.linalg.lstsq(a, b, rcond),
    _lstsq_rule_a,
    _lstsq_rule_b,
    name="lstsq",
)


@function(np.linalg.lstsq)
def np_lstsq(a: Any, b: Any, rcond: Any = None) -> tuple:
    """Solution, sums of squared residuals, rank and singular values.

    Where the rank is not full, the least solution is differentiated among matrices of that rank.
    """
    a, b = array_of(a), array_of(b)
    eps = np.finfo(np.result_type(a.dtype, b.dtype)).eps
    rcond = max(a.shape) * eps if rcond is None else plain(rcond, "rcond of lstsq")
    rcond = eps if rcond < 0 else rcond
    if b.ndim != 1:
        return least_squares(a, b, rcond=rcond)
    x, residuals, rank, s = least_squares(a, reshape(b, shape=(*b.shape, 1)), rcond=rcond)
    return reshape(x, shape=x.shape[:1]), residuals, rank, s
