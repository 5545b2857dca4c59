"""What rules share of a matrix: one factorisation serves all of them.

np.linalg gives none of its factors away, and the value and the derivatives of solve, slogdet and
cholesky each need one of the same matrix. The factors and the inverse of a larger matrix are
remembered, by its thread, as long as the matrix is alive, and found again by the identity of the
matrix and by its content. What a rule solves with an inverse is refined once, which makes the
error as small as that of a factorisation (Higham, *Accuracy and Stability of Numerical
Algorithms*, chapter 12); where the correction is not small, because the matrix is nearly singular,
it is solved by factorisation as ever.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.arrays.guard import quiet
from ..engine.arrays.memory import large_copy
from . import lapack
from .lapack import LU
from .linalg import above
from .triangular import by_halves, fill, inverse_by_factors, inverse_of_definite, square_of_lower

__all__ = [
    "cholesky_of",
    "eigh_of",
    "inverse_beside",
    "inverse_known",
    "inverse_of",
    "inverse_of_lower",
    "slogdet_of",
    "solution",
    "solve_by",
]

#: From this many rows on it pays to look for what is known of a matrix.
LEAST = 64
#: From this many rows on an inverse by products of blocks takes less time than LAPACK's.
MANY = 192
#: From this many rows on that of a positive definite matrix takes less time by a root of it.
DEFINITE = 96

every = np.logical_and.reduce


# --- what is known -------------------------------------------------------------------------------


class _Known:
    """What is known of a matrix as it was: its factors, its inverse.

    As it was is a copy, which no write to the matrix reaches, and where that lies. A product with
    a vector would cost less to keep and to compare, but hides what is changed in an entry that is
    tiny beside others of its row, where the determinant may hang on it.
    """

    __slots__ = ("copy", "inverse", "log_det", "lu", "place", "strides")

    def __init__(self, a: np.ndarray):
        self.copy, self.strides, self.place = large_copy(a), a.strides, _place(a)
        self.lu: LU | None = None
        self.inverse: np.ndarray | None = None
        #: the value that `slogdet_of` gave
        self.log_det: np.float64 | None = None

    def inverse_of(self, a: np.ndarray, is_transposed: bool = False) -> np.ndarray:
        """The inverse of a, of which it is known, or of whose transpose."""
        if self.inverse is None:
            self.inverse = _inverse(a.T if is_transposed else a, self.lu)
            self.inverse.flags.writeable = False
        return self.inverse.T if is_transposed else self.inverse

    def is_of(self, a: np.ndarray) -> bool:
        """Whether it is known of a, where the memory is the same."""
        return a.strides == self.strides and bool(every(np.equal(a, self.copy), axis=None))


def _place(a: np.ndarray) -> tuple:
    return a.__array_interface__["data"], a.shape, a.dtype


class _Memory(threading.local):
    """Of the last matrix of a thread: who owns its memory, and what is known, if anything."""

    def __init__(self) -> None:
        self.owner: Callable[[], Any] = lambda: None
        self.known: list[_Known] = []


_memory = _Memory()


def _owner(a: np.ndarray) -> np.ndarray:
    return a.base if isinstance(a.base, np.ndarray) else a


def _is_large(a: Any) -> bool:
    """Whether a is one plain real square matrix of which more is worth to be remembered."""
    return (
        type(a) is np.ndarray and a.ndim == 2 and a.shape[0] == a.shape[1] >= LEAST
        and a.dtype.char in "fd" and type(_owner(a)) is np.ndarray
    )  # fmt: skip


def _record(a: np.ndarray) -> _Known:
    """What is known of this matrix from now on; one that holds a NaN is never like it."""
    found, is_transposed = _recall(a)
    if found is not None and not is_transposed:
        return found
    record = _Known(a)
    known = [record]
    _memory.owner, _memory.known = weakref.ref(_owner(a), lambda _: known.clear()), known
    return record


def _remember(a: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Keep the inverse of a matrix, which nobody may write to from now on."""
    inverse.flags.writeable = False
    _record(a).inverse = inverse
    return inverse


def _recall(a: np.ndarray) -> tuple[_Known | None, bool]:
    """What is known of a or of its transpose, and of which."""
    if _memory.owner() is _owner(a) and _memory.known:
        (known,) = _memory.known
        if known.place == _place(a):
            if known.is_of(a):
                return known, False
            if known.is_of(a.T):
                return known, True
    return None, False


def inverse_known(a: np.ndarray) -> np.ndarray | None:
    """The inverse of a, if that of it or of its transpose is known."""
    if not _is_large(a) or all(k.inverse is None for k in tuple(_memory.known)):
        return None
    known, is_transposed = _recall(a)
    inverse = None if known is None else known.inverse
    return inverse.T if is_transposed and inverse is not None else inverse


# --- inverses ------------------------------------------------------------------------------------


def inverse_of_lower(x: np.ndarray) -> np.ndarray:
    """The inverse of each lower triangular matrix, which has zeros above its diagonal."""
    if not _is_large(x):
        return by_halves(x)
    inverse = inverse_known(x)
    return _remember(x, by_halves(x)) if inverse is None else inverse


def inverse_of(a: Any) -> Any:
    """The inverse of a, as accurate as that of np.linalg.inv, and remembered."""
    if not _is_large(a):
        return np.linalg.inv(a)
    known, is_transposed = _recall(a)
    return _record(a).inverse_of(a) if known is None else known.inverse_of(a, is_transposed)


def inverse_beside(log_det: Any, a: np.ndarray) -> np.ndarray | None:
    """The inverse of a, whose factors gave this very value of `slogdet_of`; None if others did.

    That value belongs to a as it was then, which is what a rule is given: nothing is compared.
    """
    for known in tuple(_memory.known):
        if known.log_det is log_det is not None:
            return known.inverse_of(a)
    return None


def _inverse(a: np.ndarray, lu: LU | None) -> np.ndarray:
    if lu is None and a.dtype == np.float64:
        lu = LU.of(a)
    if lu is not None:
        if len(a) >= DEFINITE and lu.is_definite() and _is_symmetric(a):
            return inverse_of_definite(lu.columns)
        return lu.inverse() if len(a) < MANY else inverse_by_factors(lu.columns, lu.order())
    inverse = _by_cholesky(a)
    return np.linalg.inv(a) if inverse is None else inverse


def _is_symmetric(a: np.ndarray) -> bool:
    return bool(a[0, -1] == a[-1, 0] and every(np.equal(a, a.T), axis=None))


def _by_cholesky(a: np.ndarray) -> np.ndarray | None:
    """The inverse of a symmetric positive definite matrix, in half of the time; else None."""
    if not _is_symmetric(a):
        return None
    try:
        factor = np.linalg.cholesky(a)
        fill(factor, factor)
    except np.linalg.LinAlgError:
        return None
    return square_of_lower(factor)


# --- values, which are NumPy's -------------------------------------------------------------------
# To the last bit, but for the solution of a triangular system, which is by substitution and so
# more accurate than by factors (Higham, chapter 8); and with several threads OpenBLAS may
# factorise in another order for a determinant than for the solution of which it has the factors.


def solution(a: Any, b: Any) -> Any:
    """np.linalg.solve(a, b), of which the factors are remembered."""
    if _is_large(a) and _fits(a, b):
        x = _by_substitution(a, b)
        if x is not None:
            return x
        solved = LU.solving(a, b)
        if solved is not None:
            _record(a).lu, x = solved
            return x
    return np.linalg.solve(a, b)


def cholesky_of(a: Any) -> Any:
    """np.linalg.cholesky(a), in two thirds of the time."""
    factor = lapack.cholesky(a) if _is_large(a) and a.dtype == np.float64 else None
    return np.linalg.cholesky(a) if factor is None else factor


def eigh_of(a: Any, lower: bool) -> tuple:
    """np.linalg.eigh(a), in nine tenths of the time."""
    found = lapack.eigh(a, lower) if _is_large(a) and a.dtype == np.float64 else None
    return tuple(np.linalg.eigh(a, "L" if lower else "U")) if found is None else found


def slogdet_of(a: Any) -> tuple:
    """np.linalg.slogdet(a), of which the factors are remembered."""
    record = _factors(a) if _is_large(a) else None
    if record is None or record.lu is None:
        return tuple(np.linalg.slogdet(a))
    sign, record.log_det = record.lu.slogdet()
    return sign, record.log_det


def _fits(a: np.ndarray, b: Any) -> bool:
    """Whether LAPACK's double precision can solve a x = b."""
    return (
        type(b) is np.ndarray and b.ndim == 2 and b.shape[0] == a.shape[0] and b.size > 0
        and a.dtype == b.dtype == np.float64
    )  # fmt: skip


def _factors(a: np.ndarray) -> _Known | None:
    """What is known of a, its factors among it where it has some."""
    if a.dtype != np.float64:
        return None
    record = _record(a)
    if record.lu is None:
        record.lu = LU.of(a)
    return record


# --- systems -------------------------------------------------------------------------------------


def solve_by(a: Any, b: Any) -> Any:
    """np.linalg.solve(a, b) to the last few bits, with what is known of a."""
    if not (_is_large(a) and type(b) is np.ndarray and b.ndim == 2 and b.dtype == a.dtype):
        return np.linalg.solve(a, b)
    is_double = _fits(a, b)
    if is_double:
        x = _by_substitution(a, b)
        if x is not None:
            return x
        known, is_transposed = _recall(a)
        if known is not None and known.lu is not None:
            return known.lu.solve(b, is_transposed)
    with quiet():
        inverse = inverse_known(a)
        inverse = _of_triangle(a) if inverse is None else inverse
        x = None if inverse is None else _refined(a, inverse, b)
    return solution(a, b) if x is None else x


def _by_substitution(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """The solution with a triangular matrix; None where a is not, or x is not finite."""
    for is_lower, rows in ((True, a), (False, a.T)):
        if _is_lower(rows):
            return lapack.solve_triangle(a, b, is_lower)
    return None


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
    return not a[0, -1] and not np.logical_and(a, above(a.shape[0])).any()


def _refined(a: np.ndarray, inverse: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """The solution, corrected once; None where the correction says that it is not accurate."""
    x = inverse @ b
    step = inverse @ (b - a @ x)
    small = np.sqrt(np.finfo(a.dtype).eps)
    is_good = np.max(np.abs(step), axis=0) <= small * np.max(np.abs(x), axis=0)
    return x + step if is_good.all() else None
