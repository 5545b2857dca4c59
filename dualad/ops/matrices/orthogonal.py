"""Orthogonal factors: qr, rq, svd, polar, and bases of subspaces.

Factors are NumPy's with their rules where SciPy calls the same LAPACK routine. rq is qr seen in a
mirror; the polar factor is U V^H of the singular value decomposition, whose rule keeps it exact at
equal singular values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.kinds.direction import constant
from ...engine.levels.traced import raw
from ...engine.primitives.composite import Composite
from ...engine.primitives.primitive import Opaque
from ...errors import NotDifferentiableError, SingularPointError
from ..dropin import drop_in, operand
from ..factorizations import qr_rule
from ..linalg import adjoint
from ..products import conj

__all__ = [
    "null_space",
    "orth",
    "orthogonal_procrustes",
    "polar",
    "qr",
    "rq",
    "subspace_angles",
    "svd",
    "svdvals",
]


def with_value(x: Any, value: Any) -> Any:
    """x moved by a constant, within rounding, to a value that is known."""
    return x + (value - constant(x))


# --- qr and rq -----------------------------------------------------------------------------------


def _refuse_mode(name: str, mode: str, modes: tuple, tall: bool) -> None:
    if mode not in modes:
        raise ValueError(f"Mode argument should be one of {list(modes)}")
    if mode == "raw" or (mode in ("full", "qr") and tall):
        why = "Householder vectors" if mode == "raw" else "an arbitrary basis of the complement"
        raise NotDifferentiableError(
            f"scipy.linalg.{name}(a, mode={mode!r}) has no derivative here: it gives {why}. Use "
            f"mode='economic' or 'r'."
        )


_column_order = Opaque(
    lambda a: sp.qr(a, mode="r", pivoting=True, check_finite=False)[1],
    name="scipy.linalg.qr pivots",
)


@drop_in(sp.qr, a=2)
def qr(a: Any, mode: str = "full", pivoting: bool = False) -> tuple:
    """scipy.linalg.qr; the order of columns that pivoting chooses is locally constant."""
    a = operand(a)
    m, n = a.shape
    _refuse_mode("qr", mode, ("full", "qr", "r", "economic", "raw"), m > n)
    order = _column_order(constant(a)) if pivoting else None
    if order is not None:
        a = np.take_along_axis(a, np.broadcast_to(order, a.shape), 1)
    q, r = np.linalg.qr(a)
    if mode == "r" and m > n:
        r = np.concatenate([r, np.zeros((m - n, n), a.dtype)])
    parts = (r,) if mode == "r" else (q, r)
    return parts if order is None else (*parts, order)


def _mirrored(x: Any) -> Any:
    """The adjoint, with rows and columns in reverse: it turns rq into qr."""
    return adjoint(x)[::-1, ::-1]


def _rq_rule(t: Any, out: tuple, a: Any) -> tuple:
    r, q = out
    dq, dr = qr_rule(_mirrored(t), (_mirrored(q), _mirrored(r)), _mirrored(a), "reduced")
    return _mirrored(dr), _mirrored(dq)


_rq = Composite(
    lambda a: tuple(sp.rq(a, mode="economic", check_finite=False)),
    _rq_rule,
    name="scipy.linalg.rq",
)


@drop_in(sp.rq, a=2)
def rq(a: Any, mode: str = "full") -> Any:
    """scipy.linalg.rq."""
    a = operand(a)
    m, n = a.shape
    _refuse_mode("rq", mode, ("full", "r", "economic"), n > m)
    r, q = _rq(a)
    if mode == "r" and n > m:
        r = np.concatenate([np.zeros((m, n - m), a.dtype), r], axis=1)
    return r if mode == "r" else (r, q)


# --- svd and polar -------------------------------------------------------------------------------

_gesvd = Opaque(
    lambda a, full: tuple(sp.svd(a, full, check_finite=False, lapack_driver="gesvd")),
    name="scipy.linalg.svd",
    builtin=False,
)


@drop_in(sp.svd, a=2)
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, lapack_driver: str = "gesdd"
) -> Any:
    """scipy.linalg.svd: see `ops.singular` for what of it is not unique."""
    if lapack_driver not in ("gesdd", "gesvd"):
        raise ValueError(f'lapack_driver must be "gesdd" or "gesvd", not "{lapack_driver}"')
    a = operand(a)
    u, s, vh = np.linalg.svd(a, full_matrices=bool(full_matrices and compute_uv))
    if not compute_uv:
        return s
    if lapack_driver == "gesvd":
        given = _gesvd(constant(a), full=bool(full_matrices))[0]
        phase = np.sum(conj(constant(u)) * given, axis=0)
        size = np.abs(phase)
        phase = np.where(size < 0.5, 1, phase / np.where(size < 0.5, 1, size))
        k, n = s.shape[0], vh.shape[0]
        back = conj(phase[:n]) if n <= u.shape[1] else np.append(conj(phase), np.ones(n - k))
        u, vh = u * phase, back[:, None] * vh
    return u, s, vh


@drop_in(sp.svdvals, a=2)
def svdvals(a: Any) -> Any:
    """scipy.linalg.svdvals."""
    return np.linalg.svdvals(operand(a))


def _require_rank(s: Any, name: str) -> None:
    values = raw(s)
    tiny = 4 * values.shape[-1] * np.finfo(values.dtype).eps
    if np.any(values[..., -1] <= tiny * values[..., 0]):
        raise SingularPointError(
            f"scipy.linalg.{name} has no derivative here: a singular value is zero, where the "
            f"orthogonal factor jumps. Move the point off the singularity, or take "
            f"dualad.stop_gradient(a)."
        )


@drop_in(sp.polar, a=2)
def polar(a: Any, side: str = "right") -> tuple:
    """scipy.linalg.polar: a = u p or p u, with p = u^H a or a u^H.

    Raises SingularPointError where a derivative is taken at a matrix without full rank.
    """
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    a = operand(a)
    w, s, vh = np.linalg.svd(a, full_matrices=False)
    _require_rank(s, "polar")
    u = w @ vh
    p = adjoint(u) @ a if side == "right" else a @ adjoint(u)
    return u, (p + adjoint(p)) / 2


@drop_in(sp.orthogonal_procrustes, A=2, B=2)
def orthogonal_procrustes(A: Any, B: Any) -> tuple:
    """scipy.linalg.orthogonal_procrustes: the unitary factor of A^H B, and its nuclear norm."""
    A, B = operand(A), operand(B)
    if A.ndim != 2 or A.shape != B.shape:
        raise ValueError(f"the shapes of A and B differ ({A.shape} vs {B.shape})")
    u, s, vh = np.linalg.svd(adjoint(A) @ B)
    _require_rank(s, "orthogonal_procrustes")
    return u @ vh, np.sum(s)


# --- subspaces -----------------------------------------------------------------------------------


def _rank(s: Any, shape: tuple, rcond: Any) -> int:
    """How many singular values count; the same for all matrices of a batch."""
    values = raw(s)
    rcond = np.finfo(values.dtype).eps * max(shape) if rcond is None else rcond
    limit = np.max(values, axis=-1, initial=0, keepdims=True) * rcond
    ranks = set(np.sum(values > limit, axis=-1).ravel().tolist())
    if len(ranks) > 1:
        raise ValueError("the matrices of a batch have different ranks")
    return ranks.pop()


@drop_in(sp.orth, A=2)
def orth(A: Any, rcond: Any = None) -> Any:
    """scipy.linalg.orth at constant rank; exact is what the span alone decides."""
    A = operand(A)
    u, s, _ = np.linalg.svd(A, full_matrices=False)
    return u[:, : _rank(s, A.shape, rcond)]


@drop_in(sp.null_space, A=2)
def null_space(A: Any, rcond: Any = None, *, lapack_driver: str = "gesdd") -> Any:
    """scipy.linalg.null_space at constant rank; exact is what the span alone decides."""
    A = operand(A)
    _, s, vh = svd(A, lapack_driver=lapack_driver, check_finite=False)
    return adjoint(vh[_rank(s, A.shape, rcond) :])


@drop_in(sp.subspace_angles, A=2, B=2)
def subspace_angles(A: Any, B: Any) -> Any:
    """scipy.linalg.subspace_angles: small angles by their sines, large ones by their cosines."""
    a, b = orth(A), orth(B)
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"A and B must have the same number of rows, got {a.shape}, {b.shape}")
    inner = adjoint(a) @ b
    cosines = np.linalg.svdvals(inner)[::-1]
    rest = b - a @ inner if a.shape[1] >= b.shape[1] else a - b @ adjoint(inner)
    sines = np.linalg.svdvals(rest)
    small = cosines**2 >= 0.5
    # Where one of them is used the other may be 1, where its inverse has no slope.
    by_sine = np.arcsin(np.where(small, np.minimum(sines, 1.0), 0.0))
    by_cosine = np.arccos(np.where(small, 0.0, cosines))
    return np.where(small, by_sine, by_cosine)
