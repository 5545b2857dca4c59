"""Inverses that rules share: one factorisation of a matrix serves all of them.

NumPy gives none of its factors away, and the derivatives of solve, slogdet and cholesky each need
one of the same matrix. The inverse of a larger matrix is remembered, by its thread, as long as the
matrix is alive, and found again by the identity of the matrix and by its content. What a rule
solves with it is refined once, which makes the error as small as that of a factorisation (Higham,
*Accuracy and Stability of Numerical Algorithms*, chapter 12); where the correction is not small,
because the matrix is nearly singular, it is solved by factorisation as ever.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.guard import quiet
from .linalg import above

__all__ = ["inverse_of", "inverse_of_lower", "solve_by"]

#: From this many rows on it pays to look for what is known of a matrix.
LEAST = 64
#: Up to this many rows a triangular matrix is inverted as any other.
SMALL = 32


# --- what is known -------------------------------------------------------------------------------


class _Memory(threading.local):
    """Of the last matrix of a thread: who owns its memory, and [it as it was, its inverse]."""

    def __init__(self) -> None:
        self.owner: Callable[[], Any] = lambda: None
        self.known: list[Any] = []


_memory = _Memory()


def _owner(a: np.ndarray) -> np.ndarray:
    return a.base if isinstance(a.base, np.ndarray) else a


def _is_large(a: Any) -> bool:
    """Whether a is one plain real matrix of which more is worth to be remembered."""
    return (
        type(a) is np.ndarray and a.ndim == 2 and a.shape[0] >= LEAST
        and a.dtype.char in "fd" and type(_owner(a)) is np.ndarray
    )  # fmt: skip


def remember(a: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Keep the inverse of a matrix, which nobody may write to from now on."""
    inverse.flags.writeable = False
    if np.isfinite(a @ _probe(a.shape[1], a.dtype)).all():
        known = [_likeness(a), inverse]
        _memory.owner, _memory.known = weakref.ref(_owner(a), lambda _: known.clear()), known
    return inverse


def _recall(a: np.ndarray) -> np.ndarray | None:
    """The inverse of a, if that of it or of its transpose is known."""
    if _memory.owner() is not _owner(a):
        return None
    likeness, inverse = _memory.known
    if _likeness(a) == likeness:
        return inverse
    return inverse.T if _likeness(a.T) == likeness else None


def _likeness(a: np.ndarray) -> tuple:
    """Where a matrix lies, and its product with a vector, which a write to it changes.

    No change goes unseen that is larger than the rounding error of a row.
    """
    place = a.__array_interface__["data"]
    product = a @ _probe(a.shape[1], a.dtype)
    return place, a.shape, a.strides, a.dtype, product.tobytes()


@functools.lru_cache(maxsize=8)
def _probe(n: int, dtype: np.dtype) -> np.ndarray:
    return (1 + np.arange(1, n + 1) * 0.6180339887498949 % 1).astype(dtype)


# --- inverses ------------------------------------------------------------------------------------


def inverse_of_lower(x: np.ndarray) -> np.ndarray:
    """The inverse of each lower triangular matrix, which has zeros above its diagonal."""
    if not _is_large(x):
        return _by_halves(x)
    inverse = _recall(x)
    return remember(x, _by_halves(x)) if inverse is None else inverse


def _by_halves(x: np.ndarray) -> np.ndarray:
    if x.shape[-1] <= SMALL:
        return np.linalg.inv(x)
    out = np.zeros_like(x, order="C")
    _fill(out, x)
    return out


def _fill(out: np.ndarray, x: np.ndarray) -> None:
    """[[a, 0], [c, b]]^-1 = [[a^-1, 0], [-b^-1 c a^-1, b^-1]], where out may be x itself.

    Nearly all of the work is in matrix products: five times as fast as np.linalg.inv.
    """
    n = x.shape[-1]
    if n <= SMALL:
        out[...] = np.linalg.inv(x)
        return
    h = n // 2
    _fill(out[..., :h, :h], x[..., :h, :h])
    _fill(out[..., h:, h:], x[..., h:, h:])
    corner = x[..., h:, :h] @ out[..., :h, :h]
    np.negative(corner, out=corner)
    np.matmul(out[..., h:, h:], corner, out=out[..., h:, :h])


def inverse_of(a: Any) -> Any:
    """The inverse of a, as accurate as that of np.linalg.inv, and remembered."""
    if not _is_large(a):
        return np.linalg.inv(a)
    inverse = _recall(a)
    if inverse is None:
        inverse = _by_cholesky(a)
        inverse = remember(a, np.linalg.inv(a) if inverse is None else inverse)
    return inverse


def _by_cholesky(a: np.ndarray) -> np.ndarray | None:
    """The inverse of a symmetric positive definite matrix, in half of the time; else None."""
    if a[0, -1] != a[-1, 0] or not np.array_equal(a, a.T):
        return None
    try:
        factor = np.linalg.cholesky(a)
        _fill(factor, factor)
    except np.linalg.LinAlgError:
        return None
    return factor.T @ factor


# --- systems -------------------------------------------------------------------------------------


def solve_by(a: Any, b: Any) -> Any:
    """np.linalg.solve(a, b) to the last few bits, with the inverse where that is known or easy."""
    if _is_large(a) and type(b) is np.ndarray and b.ndim == 2 and b.dtype == a.dtype:
        with quiet():
            inverse = _recall(a)
            inverse = _of_triangle(a) if inverse is None else inverse
            x = None if inverse is None else _refined(a, inverse, b)
        if x is not None:
            return x
    return np.linalg.solve(a, b)


def _of_triangle(a: np.ndarray) -> np.ndarray | None:
    """The inverse of a triangular matrix; None where a is not, or has none."""
    try:
        if _is_lower(a):
            return inverse_of_lower(a)
        if _is_lower(a.T):
            return inverse_of_lower(a.T).T
    except np.linalg.LinAlgError:
        pass
    return None


def _is_lower(a: np.ndarray) -> bool:
    return a[0, -1] == 0 and not np.logical_and(a, above(a.shape[0])).any()


def _refined(a: np.ndarray, inverse: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """The solution, corrected once; None where the correction says that it is not accurate."""
    x = inverse @ b
    step = inverse @ (b - a @ x)
    small = np.sqrt(np.finfo(a.dtype).eps)
    is_good = np.max(np.abs(step), axis=0) <= small * np.max(np.abs(x), axis=0)
    return x + step if is_good.all() else None
