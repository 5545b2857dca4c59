"""LU factors of the LAPACK that NumPy brings with it.

np.linalg keeps its factors to itself, so that a value and its derivatives would factorise one
matrix several times. The routines that it calls are in a library that is loaded with NumPy; where
that has the names of NumPy's own wheels, whose integers have 64 bits, they are called here in the
same way. Elsewhere there is no factor, and np.linalg does the work again.
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from ..engine.memory import copied
from .linalg import above

__all__ = ["LU", "cholesky", "invert_lower", "inverts"]

Int = ctypes.c_int64
#: How many columns of an inverse are made at a time.
BLOCK = 64


class _Routines:
    """Factors, systems, both at once, and the inverse."""

    def __init__(self, library: Any):
        pointer, length = ctypes.c_void_p, ctypes.c_size_t
        self.getrf = library.scipy_dgetrf_64_
        self.getrs = library.scipy_dgetrs_64_
        self.gesv = library.scipy_dgesv_64_
        self.getri = library.scipy_dgetri_64_
        self.potrf = library.scipy_dpotrf_64_
        self.trtri = library.scipy_dtrtri_64_
        self.getrf.argtypes, self.getrf.restype = [pointer] * 6, None
        self.gesv.argtypes, self.gesv.restype = [pointer] * 8, None
        self.getri.argtypes, self.getri.restype = [pointer] * 7, None
        # Fortran passes the lengths of strings last.
        self.potrf.argtypes, self.potrf.restype = [pointer] * 5 + [length], None
        self.trtri.argtypes, self.trtri.restype = [pointer] * 6 + [length] * 2, None
        self.getrs.argtypes, self.getrs.restype = [pointer] * 9 + [length], None


@functools.cache
def _routines() -> _Routines | None:
    try:
        return _Routines(ctypes.CDLL(np.linalg._umath_linalg.__file__))
    except (AttributeError, OSError, TypeError):
        return None


def _address(x: np.ndarray) -> int:
    address: int = x.__array_interface__["data"][0]
    return address


def cholesky(a: np.ndarray) -> np.ndarray | None:
    """The lower factor of a matrix of float64 by the call of np.linalg.cholesky; or None.

    None where the matrix is not positive definite, or nobody factorises it.
    """
    routines = _routines()
    if routines is None:
        return None
    columns, n, info = copied(a.T), Int(a.shape[0]), Int(0)
    size = ctypes.byref(n)
    routines.potrf(b"L", size, _address(columns), size, ctypes.byref(info), 1)
    if info.value != 0:
        return None
    factor = copied(columns.T)
    np.copyto(factor, 0, where=above(a.shape[0]))
    return factor


def inverts(x: np.ndarray) -> bool:
    """Whether `invert_lower` can invert blocks of this matrix."""
    return (
        x.ndim == 2 and x.dtype == np.float64 and x.strides[1] == x.itemsize
        and x.strides[0] % x.itemsize == 0 and _routines() is not None
    )  # fmt: skip


def invert_lower(x: np.ndarray) -> None:
    """Put its inverse in the place of a lower triangle; what is above the diagonal is not read."""
    routines = _routines()
    assert routines is not None
    n, step, info = Int(x.shape[0]), Int(x.strides[0] // x.itemsize), Int(0)
    # By columns it is an upper triangle.
    routines.trtri(
        b"U", b"N", ctypes.byref(n), _address(x), ctypes.byref(step), ctypes.byref(info), 1, 1
    )
    if info.value:
        raise np.linalg.LinAlgError("Singular matrix")


class LU:
    """The factors of a regular matrix, rows exchanged."""

    __slots__ = ("columns", "pivots")

    def __init__(self, columns: np.ndarray, pivots: np.ndarray):
        """The factors in one matrix, transposed, and which row was exchanged with which."""
        self.columns, self.pivots = columns, pivots

    @staticmethod
    def of(a: np.ndarray) -> LU | None:
        """The factors of a matrix of float64; None where it is singular, or nobody gives them."""
        routines = _routines()
        if routines is None:
            return None
        n, info = Int(a.shape[0]), Int(0)
        lu = LU(copied(a.T), np.empty(a.shape[0], np.int64))
        size, columns, pivots = ctypes.byref(n), _address(lu.columns), _address(lu.pivots)
        routines.getrf(size, size, columns, size, pivots, ctypes.byref(info))
        return lu if info.value == 0 else None

    @staticmethod
    def solving(a: np.ndarray, b: np.ndarray) -> tuple[LU, np.ndarray] | None:
        """The factors, and what np.linalg.solve(a, b) gives by the same call; or None, as `of`."""
        routines = _routines()
        if routines is None:
            return None
        lu, x = LU(copied(a.T), np.empty(a.shape[0], np.int64)), np.array(b.T, order="C")
        n, columns, info = Int(b.shape[0]), Int(b.shape[1]), Int(0)
        size = ctypes.byref(n)
        routines.gesv(
            size, ctypes.byref(columns), _address(lu.columns), size, _address(lu.pivots),
            _address(x), size, ctypes.byref(info),
        )  # fmt: skip
        return (lu, np.array(x.T, order="C")) if info.value == 0 else None

    def solve(self, b: np.ndarray, transposed: bool = False) -> np.ndarray:
        """The solution for each column of b, with the matrix or its transpose."""
        routines = _routines()
        assert routines is not None
        x = np.array(b.T, order="C")
        n, columns, info = Int(b.shape[0]), Int(b.shape[1]), Int(0)
        size = ctypes.byref(n)
        routines.getrs(
            b"T" if transposed else b"N", size, ctypes.byref(columns), _address(self.columns),
            size, _address(self.pivots), _address(x), size, ctypes.byref(info), 1,
        )  # fmt: skip
        return np.array(x.T, order="C")

    def inverse(self) -> np.ndarray:
        """The inverse."""
        routines = _routines()
        assert routines is not None
        x, work = copied(self.columns), np.empty(BLOCK * len(self.pivots))
        n, length, info = Int(len(self.pivots)), Int(work.size), Int(0)
        size = ctypes.byref(n)
        routines.getri(
            size, _address(x), size, _address(self.pivots), _address(work),
            ctypes.byref(length), ctypes.byref(info),
        )  # fmt: skip
        return x.T

    def slogdet(self) -> tuple:
        """Sign and logarithm of the determinant, added up as np.linalg.slogdet does."""
        diagonal = np.diagonal(self.columns)
        exchanges = np.count_nonzero(self.pivots != np.arange(1, len(diagonal) + 1))
        negative = np.count_nonzero(diagonal < 0)
        total = 0.0
        for size in np.abs(diagonal).tolist():
            total += math.log(size)
        return np.float64(-1.0 if (exchanges + negative) % 2 else 1.0), np.float64(total)
