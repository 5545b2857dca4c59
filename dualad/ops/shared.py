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
import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.guard import quiet
from .linalg import above
from .workspace import workspace

__all__ = ["inverse_of", "inverse_of_lower", "solve_by"]

#: From this many rows on it pays to look for what is known of a matrix.
LEAST = 64
#: Up to this many rows a triangular matrix is inverted as any other.
SMALL = 16


# --- what is known -------------------------------------------------------------------------------


class _Memory(threading.local):
    """Of the last matrix of a thread: who owns its memory, and [it as it was, its inverse]."""

    def __init__(self) -> None:
        self.owner: Callable[[], Any] = lambda: None
        self.known: list[Any] = []


_memory = _Memory()


def _owner(a: np.ndarray) -> np.ndarray:
    return a if a.base is None else a.base


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
    out = workspace(x.shape, x.dtype)
    out[...] = 0
    _fill(out, x)
    return out


def _fill(out: np.ndarray, x: np.ndarray) -> None:
    """The inverse of lower triangles, where out may be x itself, and is zero above its diagonal.

    Nearly all of the work is in matrix products: six times as fast as np.linalg.inv.
    """
    cuts = _cuts(x.shape[-1])
    _fill_diagonal(out, x, cuts)
    while len(cuts) > 2:
        for start, middle, stop in zip(cuts[:-1:2], cuts[1::2], cuts[2::2], strict=True):
            _fill_corner(out, x, slice(start, middle), slice(middle, stop))
        cuts = cuts[::2]


def _cuts(n: int) -> list[int]:
    """Where halving ends in blocks that are small, of which there are a power of two."""
    cuts = [0, n]
    while n > SMALL:
        middles = [(start + stop) // 2 for start, stop in itertools.pairwise(cuts)]
        cuts = sorted([*cuts, *middles])
        n -= n // 2
    return cuts


def _fill_diagonal(out: np.ndarray, x: np.ndarray, cuts: list[int]) -> None:
    """The inverses of the small blocks on the diagonal, all at once."""
    blocks = [slice(*ends) for ends in itertools.pairwise(cuts)]
    most = max(b.stop - b.start for b in blocks)
    small = np.zeros((len(blocks), *x.shape[:-2], most, most), x.dtype)
    np.einsum("...ii->...i", small)[...] = 1
    for k, b in enumerate(blocks):
        n = b.stop - b.start
        small[k, ..., :n, :n] = x[..., b, b]
    for b, inverse in zip(blocks, np.linalg.inv(small), strict=True):
        n = b.stop - b.start
        out[..., b, b] = inverse[..., :n, :n]


def _fill_corner(out: np.ndarray, x: np.ndarray, first: slice, last: slice) -> None:
    """[[a, 0], [c, b]]^-1 = [[a^-1, 0], [-b^-1 c a^-1, b^-1]], where a^-1 and b^-1 are known."""
    corner = x[..., last, first] @ out[..., first, first]
    np.negative(corner, out=corner)
    np.matmul(out[..., last, last], corner, out=out[..., last, first])


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
    return _square_of_lower(factor)


def _square_of_lower(x: np.ndarray) -> np.ndarray:
    """x^T x of a lower triangular matrix, without the products of its block of zeros."""
    h = x.shape[0] // 2
    first, corner, last = x[:h, :h], x[h:, :h], x[h:, h:]
    out = workspace(x.shape, x.dtype)
    np.matmul(first.T, first, out=out[:h, :h])
    out[:h, :h] += corner.T @ corner
    np.matmul(last.T, corner, out=out[h:, :h])
    out[:h, h:] = out[h:, :h].T
    np.matmul(last.T, last, out=out[h:, h:])
    return out


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
