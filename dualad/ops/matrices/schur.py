"""The Schur and the Hessenberg form, which an orthogonal change of basis gives a matrix.

The Schur vectors are the orthonormalised eigenvectors; those of Hessenberg are products of
LAPACK's reflections.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.kinds.direction import constant
from ...engine.levels.traced import raw
from ...engine.primitives.primitive import Opaque
from ...errors import NotDifferentiableError, SingularPointError
from ..dropin import drop_in, matrix
from ..gaps import ties
from ..general_eigen import smooth_eig
from ..linalg import adjoint, diagonal_of, real_dtype
from ..products import conj
from .orthogonal import with_value

__all__ = ["hessenberg", "schur"]


def _plain_schur(a: Any, output: str, sort: Any) -> tuple:
    """T, Z and the number of sorted eigenvalues; the eigenvalues and unit eigenvectors of a."""
    t, z, *count = sp.schur(a, output, sort=sort, check_finite=False)
    v = np.eye(len(t), dtype=t.dtype)
    with np.errstate(all="ignore"):
        for k in range(1, len(t)):
            shifted = t[:k, :k] - t[k, k] * np.eye(k)
            if np.all(np.diagonal(shifted) != 0):
                v[:k, k] = sp.solve_triangular(shifted, -t[:k, k], check_finite=False)
    v = z @ (v / np.linalg.norm(v, axis=0))
    return t, z, np.array(count[0] if count else 0), np.diagonal(t).copy(), v


_schur = Opaque(_plain_schur, name="scipy.linalg.schur", builtin=False)


@drop_in(sp.schur, a=2)
def schur(a: Any, output: str = "real", sort: Any = None) -> tuple:
    """scipy.linalg.schur of a matrix with distinct eigenvalues, whose order is locally constant.

    Complex Schur vectors have free phases. The real form of a matrix with complex eigenvalues has
    no rule: use output='complex'.
    """
    a = matrix(a)
    if output in ("complex", "c"):
        a = a.astype(np.result_type(a.dtype, np.complex64))
    plain_t, plain_z, count, w, v = _schur(constant(a), output=output, sort=sort)
    if np.any(np.diagonal(raw(plain_t), -1, -2, -1) != 0):
        raise NotDifferentiableError(
            "scipy.linalg.schur(a, output='real') of a matrix with complex eigenvalues has no "
            "derivative rule: use output='complex'."
        )
    if np.any(raw(ties(w)) & ~np.eye(w.shape[-1], dtype=bool)):
        raise SingularPointError(
            "scipy.linalg.schur has no derivative here: eigenvalues are repeated, and the Schur "
            "vectors jump. Take dualad.stop_gradient(a), or a function of the matrix itself."
        )
    q, r = np.linalg.qr(smooth_eig(a, w, v)[1])
    pivots = constant(diagonal_of(r))
    z = with_value(q * (pivots / np.abs(pivots)), plain_z)
    t = with_value(np.triu(adjoint(z) @ a @ z), plain_t)
    return (t, z) if sort is None else (t, z, count)


def _reflector(x: Any) -> tuple[Any, Any]:
    """v and tau of LAPACK's (1 - tau v v^H)^H, which takes x to a real multiple of e_1."""
    lead = x[0]
    lead_real = np.real(lead)
    if np.any(np.all(raw(x)[..., 1:] == 0, axis=-1)) and x.shape[0] > 1:
        raise SingularPointError(
            "scipy.linalg.hessenberg has no derivative here: a column is zero below its "
            "subdiagonal, and the reflection jumps. Move the point off it, or take "
            "dualad.stop_gradient(a)."
        )
    length = np.linalg.norm(x)
    beta = np.where(constant(lead_real) >= 0, -length, length)
    v = np.concatenate([np.ones(1, x.dtype), x[1:] / (lead - beta)])
    return v, (beta - lead) / beta


@drop_in(sp.hessenberg, a=2)
def hessenberg(a: Any, calc_q: bool = False) -> Any:
    """scipy.linalg.hessenberg: LAPACK's reflections, each of them differentiated."""
    h = matrix(a)
    n = h.shape[0]
    q = np.eye(n, dtype=real_dtype(h))
    for k in range(n - 2 if h.dtype.kind == "f" or n <= 2 else n - 1):
        v, tau = _reflector(h[k + 1 :, k])
        v = np.concatenate([np.zeros(k + 1, v.dtype), v])
        h = h - conj(tau) * np.outer(v, conj(v) @ h)
        h = h - tau * np.outer(h @ v, conj(v))
        q = q - tau * np.outer(q @ v, conj(v))
    h = np.triu(h, -1) if n > 2 else h
    return (h, q) if calc_q else h
