"""Triangular factors: cholesky and qr.

Both solve their defining equation for the tangents of the factors, of which the triangular or
the skew part is picked out (Murray, "Differentiation of the Cholesky decomposition", 2016;
Walter and Lehmann, "Algorithmic differentiation of linear algebra functions with application in
optimum experimental design", 2010, section 3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.arrays.guard import quiet
from ..engine.levels.spec import Spec
from ..engine.levels.traced import raw
from ..engine.primitives.chain import Cases, Chain, Link
from ..engine.primitives.composite import Composite
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from ..errors import NotDifferentiableError, SingularPointError
from .hermitian import folded, halved, hermitian
from .in_place import Fold, Halve, Step, Subtract, Times, run, run_transposed
from .linalg import adjoint, diagonal_of, half_triangle, square, transposed
from .products import matmul
from .registry import function
from .shared import cholesky_of, inverse_known, inverse_of_lower
from .triangular import by_halves

__all__ = ["cholesky", "qr", "qr_rule"]

QRResult = type(np.linalg.qr(np.eye(1)))


# --- triangular matrices -------------------------------------------------------------------------

triangular_inverse = Composite(
    inverse_of_lower,
    Chain(Link(matmul, 1, lambda out, x: (-out,)), Link(matmul, 0, lambda out, x: (out,))),
    reads="out",
    batch=lambda args, mine: triangular_inverse(args[0]),
    name="triangular_inverse",
)


# --- cholesky ------------------------------------------------------------------------------------

#: From this many rows on a factor is differentiated block by block.
LARGE = 64


def _upper_rule(t: Any, out: Any, a: Any, upper: bool) -> Any:
    t, out = adjoint(t), adjoint(out)
    return adjoint(_lower_rule(a)(t, out, a, upper=False))


def _lower_rule(a: Any) -> Chain:
    return _by_blocks if a.shape[-1] >= LARGE else _by_inverse


#: dL = L P(L^-1 dA L^-H), where P takes the lower triangle and half of the diagonal.
_by_inverse = Chain(
    Link(halved, keywords=lambda **_: {"lower": True}),
    Link(matmul, 1, lambda out, inverse: (inverse,)),
    Link(matmul, 0, lambda out, inverse: (adjoint(inverse),)),
    Link(folded, keywords=lambda **_: {"lower": True}),
    Link(matmul, 1, lambda out, inverse: (out,)),
    reads=lambda out, a, upper: (out, triangular_inverse(out)),
)
cholesky = Composite(
    lambda a, upper: np.linalg.cholesky(a, upper=True) if upper else cholesky_of(a),
    Cases(lambda out, a, upper: _upper_rule if upper else _lower_rule(a)),
    reads="out",
    batch=lambda args, mine, upper: cholesky(args[0], upper=upper),
    name="cholesky",
)


def _steps(
    factor: np.ndarray, start: int, stop: int, inverse: np.ndarray | None = None
) -> list[Step]:
    """The rule, in place of the triangle of dA with half of its diagonal.

    For a small block on the diagonal it is the formula itself. Else, by halves:
    [[A, .], [B, C]] has the factor [[K, .], [M, N]], K K^H = A, M K^H = B and N N^H = C - M M^H.
    Hence dM = (dB - M dK^H) K^-H, and dN is that of a matrix which moves by dC - dM M^H - M dM^H.
    """
    if stop - start <= LARGE:
        whole = slice(start, stop)
        low = factor[..., whole, whole]
        inverse = by_halves(low) if inverse is None else inverse
        return [
            Times((whole, whole), inverse, adjoint(inverse)),
            Fold((whole, whole)),
            Times((whole, whole), low, None),
        ]
    middle = (start + stop) // 2
    first, last = slice(start, middle), slice(middle, stop)
    corner, n = factor[..., last, first], middle - start
    known = by_halves(factor[..., first, first]) if inverse is None else inverse[..., :n, :n]
    rest = None if inverse is None else inverse[..., n:, n:]
    # A small block may be any matrix that is half of dA, a larger one has to be a triangle.
    return [
        *_steps(factor, start, middle, known),
        Subtract((last, first), (first, first), corner, None),
        Times((last, first), None, adjoint(known)),
        Subtract((last, last), (last, first), corner, None),
        *([Fold((last, last))] if stop - middle > LARGE else ()),
        *_steps(factor, middle, stop, rest),
    ]


def _steps_of(factor: np.ndarray) -> list[Step]:
    n = factor.shape[-1]
    with quiet():
        steps = _steps(factor, 0, n, inverse_known(factor))
    return [Halve((slice(n), slice(n))), *steps]


def _blocked(
    run: Callable[..., Any],
    transpose: Callable[[], Linear],
    rule: Callable[..., Any],
    show: Callable[[str, str, str, str], str],
    name: str,
) -> Linear:
    """A linear map of one triangle of a matrix, and its rule in the factor."""

    def impl(t: Any, factor: Any) -> Any:
        if t.shape != factor.shape:
            t = np.broadcast_to(t, np.broadcast_shapes(t.shape, factor.shape))
        return run(_steps_of(factor), t)

    primitive = Linear(
        impl,
        lambda ct, t, factor: transpose()(ct, factor),
        None,
        rules=(None, rule),
        batch=lambda args, mine: primitive(*align(args, mine)),
        spec=lambda t, factor: Spec(
            np.broadcast_shapes(t.shape, factor.shape), np.result_type(t.dtype, factor.dtype)
        ),
        show=lambda t, factor: show(
            t,
            factor,
            f"np.linalg.inv({factor})",
            f"(np.tri({factor}.shape[-1]) - np.eye({factor}.shape[-1]) / 2)",
        ),
        name=name,
    )
    return primitive


def _tangent_in_factor(t: Any, out: Any, moved: Any, factor: Any) -> Any:
    """Of L P(X + X^H), where X = L^-1 M L^-H and M is half of dA, so that dX = -Y X - X Y^H."""
    inverse = triangular_inverse(factor)
    x, y = inverse @ (moved * half_triangle(moved)) @ adjoint(inverse), inverse @ t
    return t @ (inverse @ out) - factor @ folded(y @ x + x @ adjoint(y), lower=True)


def _cotangent_in_factor(t: Any, out: Any, ct: Any, factor: Any) -> Any:
    """Of half of Z = L^-H U L^-1, where L^H C and U have one lower triangle.

    Hence dZ = L^-H dU L^-1 - V^H Z - Z V with V = dL L^-1.
    """
    inverse = triangular_inverse(factor)
    upper = adjoint(inverse)
    z = upper @ hermitian(adjoint(factor) @ ct, lower=True) @ inverse
    zv = z @ (t @ inverse)
    moved = upper @ hermitian(adjoint(t) @ ct, lower=True) @ inverse - zv - adjoint(zv)
    return moved * half_triangle(moved)


def _show_adjoint(x: str) -> str:
    return f"np.conj(np.swapaxes({x}, -1, -2))"


def _show_tangent(t: str, factor: str, inverse: str, half: str) -> str:
    moved = f"({half} * {t} + {_show_adjoint(f'{half} * {t}')})"
    return f"{factor} @ ({half} * ({inverse} @ {moved} @ {_show_adjoint(inverse)}))"


def _show_cotangent(t: str, factor: str, inverse: str, half: str) -> str:
    moved = f"{half} * ({_show_adjoint(factor)} @ {t})"
    both = f"({moved} + {_show_adjoint(moved)})"
    return f"{half} * ({_show_adjoint(inverse)} @ {both} @ {inverse})"


#: The rule of cholesky for the lower triangle, and its transpose.
cholesky_tangent = _blocked(
    run, lambda: cholesky_cotangent, _tangent_in_factor, _show_tangent, "cholesky_tangent"
)
cholesky_cotangent = _blocked(
    run_transposed,
    lambda: cholesky_tangent,
    _cotangent_in_factor,
    _show_cotangent,
    "cholesky_cotangent",
)
_by_blocks = Chain(Link(cholesky_tangent, 0, lambda out, a: (out,)))


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
    reads="out",
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
