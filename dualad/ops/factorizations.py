"""Triangular factors: cholesky and qr.

Both solve their defining equation for the tangents of the factors, of which the triangular or
the skew part is picked out (Murray, "Differentiation of the Cholesky decomposition", 2016;
Walter and Lehmann, "Algorithmic differentiation of linear algebra functions with application in
optimum experimental design", 2010, section 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.primitive import Composite
from ..engine.traced import raw
from ..errors import NotDifferentiableError, SingularPointError
from .linalg import adjoint, diagonal_of, half_triangle, square, transposed
from .registry import function
from .shared import inverse_of_lower

__all__ = ["cholesky", "qr", "qr_rule"]

QRResult = type(np.linalg.qr(np.eye(1)))


# --- triangular matrices -------------------------------------------------------------------------

triangular_inverse = Composite(
    inverse_of_lower,
    lambda t, out, x: -(out @ t @ out),
    batch=lambda args, mine: triangular_inverse(args[0]),
    name="triangular_inverse",
)


# --- cholesky ------------------------------------------------------------------------------------


def _cholesky_rule(t: Any, out: Any, a: Any, upper: bool) -> Any:
    """dL = L P(L^-1 dA L^-H), where P takes the lower triangle and half of the diagonal."""
    factor = adjoint(out) if upper else out
    inverse = triangular_inverse(factor)
    x = inverse @ (t * half_triangle(a, lower=not upper)) @ adjoint(inverse)
    moved = factor @ ((x + adjoint(x)) * half_triangle(a))
    return adjoint(moved) if upper else moved


cholesky = Composite(
    lambda a, upper: np.linalg.cholesky(a, upper=upper),
    _cholesky_rule,
    batch=lambda args, mine, upper: cholesky(args[0], upper=upper),
    name="cholesky",
)


@function(np.linalg.cholesky)
def np_cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """The triangular factor of a Hermitian positive definite matrix.

    NumPy reads one triangle of a, the lower one unless upper=True, and the derivative is that of
    this function: the gradient has entries in that triangle only, which count for both. Write
    cholesky((a + a.T) / 2) for a symmetric gradient. Along symmetric directions both agree.
    """
    square(a)
    return cholesky(a, upper=bool(upper))


# --- qr ------------------------------------------------------------------------------------------


def qr_rule(t: Any, out: tuple, a: Any, mode: str) -> tuple:
    """dA R^-1 = dQ + Q dR R^-1, in which Q^H dQ is skew and dR R^-1 triangular.

    R has a real diagonal. Of a wide A only the leading square block determines Q.
    """
    q, r = out
    k = min(a.shape[-2:])
    if mode == "complete" and a.shape[-2] > k:
        raise NotDifferentiableError(
            f"np.linalg.qr(a, mode='complete') of a matrix of shape {a.shape[-2:]} has no "
            f"derivative: the last {a.shape[-2] - k} columns of q are an arbitrary basis. Use "
            f"mode='reduced'."
        )
    _require_full_rank(r)
    left = t[..., :k] @ transposed(triangular_inverse(transposed(r[..., :k])))
    c = adjoint(q) @ left
    half = c * half_triangle(c)
    skew = half - adjoint(half)
    dr = (adjoint(q) @ t - skew @ r) * (np.tri(k, a.shape[-1], -1) == 0)
    return left + q @ (skew - c), dr


def _require_full_rank(r: Any) -> None:
    size = np.abs(diagonal_of(raw(r)))
    tiny = np.finfo(size.dtype).eps * max(r.shape[-2:])
    if np.any(size <= tiny * np.max(np.abs(raw(r)), axis=(-2, -1), initial=0)[..., None]):
        raise SingularPointError(
            f"np.linalg.qr has no derivative here: a matrix of shape {r.shape[-2:]} has linearly "
            f"dependent leading columns, and q jumps. Drop the dependent columns, or take "
            f"dualad.stop_gradient(a)."
        )


qr = Composite(
    lambda a, mode: tuple(np.linalg.qr(a, mode)),
    qr_rule,
    batch=lambda args, mine, mode: qr(args[0], mode=mode),
    name="qr",
)


@function(np.linalg.qr)
def np_qr(a: Any, mode: str = "reduced") -> Any:
    """Orthogonal and triangular factor; signs of the diagonal of r are locally constant.

    Modes 'reduced' and 'r' need leading columns that are linearly independent, 'complete' also a
    matrix that is not tall, because the rest of its q would be arbitrary.
    """
    if mode not in ("reduced", "complete", "r"):
        raise NotDifferentiableError(
            f"np.linalg.qr(a, mode={mode!r}) is not differentiable here: it gives Householder "
            f"vectors. Use mode='reduced', 'complete' or 'r'."
        )
    if a.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    q, r = qr(a, mode="complete" if mode == "complete" else "reduced")
    return r if mode == "r" else QRResult(q, r)
