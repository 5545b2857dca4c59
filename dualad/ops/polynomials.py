"""Polynomials by their coefficients, the highest power first: NumPy's `poly` functions.

All but two are sums and products. Roots and characteristic polynomials state a forward rule each,
which is exact where eigenvalues coincide.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.levels.traced import TracedArray, raw
from ..engine.primitives.composite import Composite
from ..errors import SingularPointError
from .operands import array_of
from .registry import function

__all__ = ["characteristic", "polynomial_roots"]


def coefficients(p: Any) -> Any:
    """The coefficients of a poly1d, or of what stands for them."""
    return np.atleast_1d(p.coeffs if isinstance(p, np.poly1d) else array_of(p))


def alike(result: Any, *given: Any) -> Any:
    """The result as a poly1d if one was given."""
    return np.poly1d(result) if any(isinstance(p, np.poly1d) for p in given) else result


# --- values, sums and products -------------------------------------------------------------------


@function(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Horner's scheme."""
    p, x = coefficients(p), x if isinstance(x, np.poly1d) else array_of(x)
    if isinstance(x, np.poly1d):
        y: Any = np.poly1d(0)
    elif p.shape[0] == 0:
        return np.zeros(x.shape, np.result_type(p.dtype, x.dtype))
    else:
        y = np.zeros(x.shape, x.dtype)
    for k in range(p.shape[0]):
        y = y * x + p[k]
    return y


def _added(op: Callable[..., Any], a1: Any, a2: Any) -> Any:
    p, q = coefficients(a1), coefficients(a2)
    n = max(p.shape[0], q.shape[0])
    p, q = (np.concatenate([np.zeros(n - v.shape[0], v.dtype), v]) for v in (p, q))
    return alike(op(p, q), a1, a2)


@function(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials."""
    return _added(np.add, a1, a2)


@function(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials."""
    return _added(np.subtract, a1, a2)


@function(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials."""
    return alike(np.convolve(coefficients(a1), coefficients(a2)), a1, a2)


@function(np.polydiv)
def polydiv(u: Any, v: Any) -> Any:
    """Quotient and remainder; leading zeros of the remainder are dropped, as NumPy does."""
    top, divisor = coefficients(u) + 0.0, coefficients(v) + 0.0
    degree = divisor.shape[0]
    quotient = []
    while top.shape[0] >= degree:
        quotient.append(top[0] / divisor[0])
        top = np.concatenate([top[1:degree] - quotient[-1] * divisor[1:], top[degree:]])
    # NumPy keeps no leading coefficients that are zero within its tolerance of 1e-8.
    while top.shape[0] > 1 and np.all(np.isclose(raw(top[0]), 0)):
        top = top[1:]
    zero = np.zeros(1, top.dtype)
    quotients = np.stack(quotient) if quotient else zero
    return alike(quotients, u, v), alike(top if top.shape[0] else zero, u, v)


@function(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """The m-th derivative of a polynomial."""
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    c = coefficients(p)
    for _ in range(m):
        c = c[:-1] * np.arange(c.shape[0] - 1, 0, -1)
    return alike(c, p)


@function(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """An m-th antiderivative of a polynomial, with constants of integration k."""
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.atleast_1d(array_of(0.0 if k is None else k))
    if constants.shape[0] == 1 and m > 1:
        constants = constants[np.zeros(m, np.intp)]
    if constants.shape[0] < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    c = coefficients(p)
    for i in range(m):
        c = np.concatenate([c / np.arange(c.shape[0], 0, -1), constants[i : i + 1]])
    return alike(c, p)


# --- powers, least squares -----------------------------------------------------------------------


@function(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """The powers of x as columns, the highest first unless increasing."""
    x = array_of(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    x = x.astype(np.promote_types(x.dtype, np.int_), copy=False)
    n = x.shape[0] if N is None else int(N)
    if n == 0:
        return np.zeros((x.shape[0], 0), x.dtype)
    columns = [np.ones(x.shape, x.dtype)]
    for _ in range(n - 1):
        columns.append(columns[-1] * x)
    return np.stack(columns if increasing else columns[::-1], axis=1)


@function(np.polyfit)
def polyfit(
    x: Any,
    y: Any,
    deg: Any,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """The polynomial of least squares, differentiable in abscissae, ordinates and weights."""
    x, y, n = array_of(x) + 0.0, array_of(y) + 0.0, int(deg) + 1
    _check_fit(x, y, n)
    rcond = x.shape[0] * np.finfo(x.dtype).eps if rcond is None else rcond
    left, right = vander(x, n), y
    if w is not None:
        w = array_of(w) + 0.0
        left = left * w[:, None]
        right = right * (w[:, None] if right.ndim == 2 else w)
    scale = np.sqrt(np.sum(left * left, axis=0))
    left = left / scale
    c, residuals, rank, singular = np.linalg.lstsq(left, right, rcond)
    c = np.transpose(np.transpose(c) / scale)
    if not full and np.any(raw(rank) != n):
        message = "Polyfit may be poorly conditioned"
        warnings.warn(message, np.exceptions.RankWarning, stacklevel=4)
    if full:
        return c, residuals, rank, singular, rcond
    return (c, _covariance(left, scale, residuals, x, y, n, cov)) if cov else c


def _check_fit(x: Any, y: Any, n: int) -> None:
    if n < 1:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1 or x.size == 0:
        raise TypeError("expected non-empty 1D vector for x")
    if not 1 <= y.ndim <= 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")


def _covariance(left: Any, scale: Any, residuals: Any, x: Any, y: Any, n: int, cov: Any) -> Any:
    base = np.linalg.inv(np.matmul(np.transpose(left), left)) / np.outer(scale, scale)
    if cov != "unscaled" and x.shape[0] <= n:
        raise ValueError(
            "the number of data points must exceed order to scale the covariance matrix"
        )
    factor = 1 if cov == "unscaled" else residuals / (x.shape[0] - n)
    return base * factor if y.ndim == 1 else base[:, :, None] * factor


# --- roots, characteristic polynomials -----------------------------------------------------------


def _roots_rule(t: Any, out: Any, p: Any) -> Any:
    """A simple root z of p moves by -dp(z) / p'(z)."""
    if out.shape[0] == 0:
        return None
    slope = np.polyval(np.polyder(p), out)
    if np.any(raw(slope) == 0):
        raise SingularPointError(
            "np.roots: a multiple root of a polynomial has no derivative with respect to the "
            "coefficients. Its symmetric functions do: use the coefficients themselves."
        )
    return -np.matmul(np.vander(out, p.shape[0]), t) / slope


polynomial_roots = Composite(lambda p: np.roots(p), _roots_rule, name="roots")


@function(np.roots)
def roots(p: Any) -> Any:
    """The roots of a polynomial, each simple, differentiable in the coefficients."""
    p = coefficients(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    return polynomial_roots(p)


def _characteristic_rule(t: Any, out: Any, a: Any) -> Any:
    """d det(z I - A) = -tr(adj(z I - A) dA), with the adjugate as a polynomial in z.

    Its coefficients are B[0] = I, B[k] = A B[k-1] + c[k] I (Faddeev and Leverrier; Gantmacher,
    The Theory of Matrices, chapter IV), which holds for any eigenvalues.
    """
    identity = np.eye(a.shape[0])
    adjugate, moved = identity, [np.sum(t * 0)]
    for k in range(1, a.shape[0] + 1):
        moved.append(-np.sum(np.transpose(adjugate) * t))
        adjugate = np.matmul(a, adjugate) + out[k] * identity
    return np.stack(moved)


characteristic = Composite(lambda a: np.poly(a), _characteristic_rule, name="poly")


@function(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """The polynomial with the given roots; of a square matrix its characteristic polynomial."""
    zeros = np.atleast_1d(array_of(seq_of_zeros))
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] != 0:
        return characteristic(zeros)
    if zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    c = np.ones(1, zeros.dtype)
    for k in range(zeros.shape[0]):
        c = np.convolve(c, np.stack([1.0, -zeros[k]]).astype(zeros.dtype))
    return np.real(c) if _in_pairs(raw(zeros)) else c


def _in_pairs(zeros: Any) -> bool:
    """Whether complex roots come in conjugate pairs, so that the polynomial is real."""
    if isinstance(zeros, TracedArray) or np.dtype(zeros.dtype).kind != "c":
        return False
    return bool(np.all(np.sort(zeros) == np.sort(np.conj(zeros))))
