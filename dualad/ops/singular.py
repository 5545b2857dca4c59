"""Singular values: svd, rank and condition number.

With M = U^H dA V, H = M + M^H and N = M - M^H it is ds = Re diag M, and the skew matrices U^H dU
and V^H dV are half of H_ij / (s_j - s_i), plus and minus half of N_ij / (s_j + s_i) (Giles, 2008,
section 3.2, so written that the polar factor U V^H stays exact at equal singular values).

**What is not unique.** Complex singular vectors u_i and v_i share a free phase, whose motion
is split evenly. Equal singular values are treated as repeated eigenvalues are, see `eigen`.
Quotients by a singular value that is zero are 0: singular values are exact at any rank, vectors
where the rank is full, or one less and the matrix square. With full_matrices=True the other
columns of U and V are an arbitrary basis: exact is what their span alone decides, its projector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.arrays.guard import quiet
from ..engine.kinds.direction import constant
from ..engine.primitives.composite import Composite
from ..engine.primitives.primitive import Opaque
from .complexes import real
from .decided import direction_at_ties, turned
from .eigen import adapted, np_eigh
from .gaps import inverse_gaps, ties
from .linalg import adjoint, diagonal_of
from .registry import PREDICATE, function

__all__ = ["svd"]

SVDResult = type(np.linalg.svd(np.eye(1)))


# --- the decomposition ---------------------------------------------------------------------------


def _zero(s: Any) -> Any:
    """Which singular values are zero within rounding."""
    s = constant(s)
    tolerance = 4 * s.shape[-1] * np.finfo(s.dtype).eps * np.max(s, axis=-1, initial=0)
    return s <= tolerance[..., None]


def _inverse_sums(s: Any) -> Any:
    """1 / (s_j + s_i), and 0 where both are zero."""
    zero = _zero(s)
    both = np.logical_and(zero[..., None, :], zero[..., :, None])
    return np.where(both, 0, 1 / np.where(both, 1, s[..., None, :] + s[..., :, None]))


def _svd_rule(t: Any, out: tuple, a: Any, *_: Any, full: bool) -> tuple:
    u, s, vh = out
    k = s.shape[-1]
    u1, v1 = u[..., :k], adjoint(vh[..., :k, :])
    tv, tu = t @ v1, adjoint(t) @ u1
    m = adjoint(u1) @ tv
    even = turned(m + adjoint(m), s, inverse_gaps(s, in_order=True) / 2)
    odd = (m - adjoint(m)) * (_inverse_sums(s) / 2)
    zero = _zero(s)
    scale = np.where(zero, 0, 1 / np.where(zero, 1, s))[..., None, :]
    du = _moved_basis(u, tv * scale, even + odd, k)
    dv = _moved_basis(adjoint(vh), tu * scale, even - odd, k)
    values = diagonal_of(m)
    return du, real(values) if np.dtype(a.dtype).kind == "c" else values, adjoint(dv)


def _moved_basis(u: Any, outward: Any, turn: Any, k: int) -> Any:
    """dU: the first k columns turn among themselves, and move out of their span."""
    if u.shape[-2] == k:
        return u @ turn
    u1 = u[..., :k]
    du = u1 @ (turn - adjoint(u1) @ outward) + outward
    if u.shape[-1] == k:
        return du
    rest = -u1 @ adjoint(adjoint(u[..., k:]) @ outward)
    return np.concatenate([du, rest], axis=-1)


svd = Composite(
    lambda a, full: tuple(np.linalg.svd(a, full_matrices=full)),
    _svd_rule,
    reads="out",
    batch=lambda args, mine, full: svd(args[0], full=full),
    name="svd",
)
#: svd with a decomposition that is given, because it is one of several.
_svd_given = Composite(
    lambda a, u, s, vh, full: (u, s, vh),
    _svd_rule,
    None,
    None,
    None,
    reads="out",
    batch=lambda args, mine, full: _svd_given(*args, full=full),
    name="svd_given",
    builtin=False,
)


def _smooth_svd(a: Any, full: bool) -> tuple:
    """The decomposition, with singular vectors that move smoothly where the direction is known."""
    u, s, vh = svd(constant(a), full=full)
    k, moves = s.shape[-1], direction_at_ties(a, s)
    if moves is None:
        return _svd_given(a, u, s, vh, full=full)
    half = adjoint(u[..., :k]) @ moves @ adjoint(vh[..., :k, :])
    turn = adapted(half + adjoint(half), ties(s))
    u = np.concatenate([u[..., :k] @ turn, u[..., k:]], axis=-1)
    vh = np.concatenate([adjoint(turn) @ vh[..., :k, :], vh[..., k:, :]], axis=-2)
    return _svd_given(a, u, s + 0 * np.real(turn[..., 0, :]), vh, full=full)


def _of_hermitian(a: Any) -> tuple:
    """The decomposition of a Hermitian matrix from its eigenvectors, with NumPy's signs."""
    w, v = np_eigh(a)
    order = np.argsort(np.abs(w), axis=-1)[..., ::-1]
    w, v = np.take_along_axis(w, order, -1), np.take_along_axis(v, order[..., None, :], -1)
    return v, np.abs(w), adjoint(v * np.sign(w)[..., None, :])


@function(np.linalg.svd)
def np_svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Singular values, and vectors; see this module for what of them is not unique."""
    if hermitian:
        u, s, vh = _of_hermitian(a)
    else:
        u, s, vh = _smooth_svd(a, bool(full_matrices and compute_uv))
    return SVDResult(u, s, vh) if compute_uv else s


@function(np.linalg.svdvals)
def np_svdvals(x: Any, /) -> Any:
    """The singular values, from the decomposition that derivatives need."""
    return _smooth_svd(x, False)[1]


# --- rank and condition --------------------------------------------------------------------------

_matrix_rank = Opaque(
    np.linalg.matrix_rank,
    batch=lambda args, mine, **params: _matrix_rank(args[0], **params),
)


@function(np.linalg.matrix_rank, result=PREDICATE)
def np_matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The rank: locally constant."""
    if A.ndim < 2:
        return np.any(A != 0) * np.ones((), int)
    return _matrix_rank(A, tol=tol, hermitian=hermitian, rtol=rtol)


@function(np.linalg.cond)
def np_cond(x: Any, p: Any = None) -> Any:
    """The condition number; infinite, and without derivative, at a singular matrix."""
    with quiet():
        if p in (None, 2, -2):
            s = np_svdvals(x)
            return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
        axes = (-2, -1)
        return np.linalg.norm(x, p, axes) * np.linalg.norm(np.linalg.inv(x), p, axes)
