"""The LAPACK that NumPy brings with it: factors, and triangular matrices.

np.linalg keeps its factors to itself, so that a value and its derivatives would factorise one
matrix several times, and it knows no triangular systems. The routines are in a library that is
loaded with NumPy; where that has the names of NumPy's own wheels, whose integers have 64 bits,
they are called here. Elsewhere there is no factor, and np.linalg does the work again.
"""

from __future__ import annotations

import ctypes
import functools
import math
import operator
from typing import Any

import numpy as np

from ..engine.arrays.memory import F64, copied, workspace
from .linalg import clear_above

__all__ = [
    "LU",
    "add_outer",
    "add_product_and_transpose",
    "add_square",
    "cholesky",
    "eigh",
    "has_symmetric_products",
    "invert_lower",
    "is_found",
    "solve_triangle",
    "symmetric_product",
]

Int = ctypes.c_int64
ONE = ctypes.c_double(1.0)
#: How many columns of an inverse are made at a time.
BLOCK = 64
#: What CBLAS calls them.
BY_ROWS, LEFT, UPPER, LOWER, NOT_TRANSPOSED = 101, 141, 121, 122, 111
#: Between which sums of squares dsyevd does not scale a matrix of less than 1e5 rows.
UNSCALED = 1e-280, 1e280


class _Routines:
    """Factors, systems, both at once, and triangles: their inverses and systems."""

    def __init__(self, library: Any):
        pointer, length = ctypes.c_void_p, ctypes.c_size_t
        self.getrf = library.scipy_dgetrf_64_
        self.getrs = library.scipy_dgetrs_64_
        self.gesv = library.scipy_dgesv_64_
        self.getri = library.scipy_dgetri_64_
        self.potrf = library.scipy_dpotrf_64_
        self.trtri = library.scipy_dtrtri_64_
        self.trsv = library.scipy_dtrsv_64_
        self.trsm = library.scipy_dtrsm_64_
        self.getrf.argtypes, self.getrf.restype = [pointer] * 6, None
        self.gesv.argtypes, self.gesv.restype = [pointer] * 8, None
        self.sytrd = library.scipy_dsytrd_64_
        self.stedc = library.scipy_dstedc_64_
        self.ormtr = library.scipy_dormtr_64_
        self.ger = library.scipy_cblas_dger64_
        self.symm = library.scipy_cblas_dsymm64_
        self.syr2k = library.scipy_cblas_dsyr2k64_
        self.syrk = library.scipy_cblas_dsyrk64_
        self.getri.argtypes, self.getri.restype = [pointer] * 7, None
        # Fortran passes the lengths of strings last.
        self.potrf.argtypes, self.potrf.restype = [pointer] * 5 + [length], None
        self.trtri.argtypes, self.trtri.restype = [pointer] * 6 + [length] * 2, None
        self.getrs.argtypes, self.getrs.restype = [pointer] * 9 + [length], None
        self.trsv.argtypes, self.trsv.restype = [pointer] * 8 + [length] * 3, None
        self.trsm.argtypes, self.trsm.restype = [pointer] * 11 + [length] * 4, None
        flag, real = ctypes.c_int, ctypes.c_double
        inputs = [real, pointer, Int, pointer, Int, real, pointer, Int]
        self.symm.argtypes, self.symm.restype = [flag] * 3 + [Int] * 2 + inputs, None
        self.syr2k.argtypes, self.syr2k.restype = [flag] * 3 + [Int] * 2 + inputs, None
        self.syrk.argtypes = [flag] * 3 + [Int] * 2 + [real, pointer, Int, real, pointer, Int]
        self.syrk.restype = None
        vectors = [pointer, Int, pointer, Int, pointer, Int]
        self.ger.argtypes, self.ger.restype = [flag] + [Int] * 2 + [real, *vectors], None
        self.sytrd.argtypes, self.sytrd.restype = [pointer] * 10 + [length], None
        self.stedc.argtypes, self.stedc.restype = [pointer] * 11 + [length], None
        self.ormtr.argtypes, self.ormtr.restype = [pointer] * 13 + [length] * 3, None


@functools.cache
def _routines() -> _Routines | None:
    try:
        return _Routines(ctypes.CDLL(np.linalg._umath_linalg.__file__))
    except (AttributeError, OSError, TypeError):
        return None


def is_found() -> bool:
    """Whether these routines are there."""
    return _routines() is not None


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
    clear_above(factor)
    return factor


def eigh(a: np.ndarray, lower: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """Eigenvalues and eigenvectors of a symmetric matrix of float64 as by np.linalg.eigh; or None.

    It is what dsyevd does, without copies and in memory that is there already. None where a is
    zero, or so large or small that it has to be scaled, or where nobody decomposes it.
    """
    routines = _routines()
    if routines is None:
        return None
    n, triangle = a.shape[0], b"L" if lower else b"U"
    columns, vectors = copied(a.T), workspace(a.shape, np.float64)
    w, off, tau, whole = np.empty(n), np.zeros(n), np.empty(n), np.empty(3 + 5 * n, np.int64)
    work, info = workspace((1 + 4 * n + n * n,), np.float64), Int(0)
    size, failed = ctypes.byref(Int(n)), ctypes.byref(info)
    room, length = _address(work), ctypes.byref(Int(work.size))
    routines.sytrd(
        triangle, size, _address(columns), size, _address(w), _address(off), _address(tau),
        room, length, failed, 1,
    )  # fmt: skip
    if not UNSCALED[0] < np.vdot(w, w) + 2 * np.vdot(off, off) < UNSCALED[1]:
        return None
    routines.stedc(
        b"I", size, _address(w), _address(off), _address(vectors), size, room, length,
        _address(whole), ctypes.byref(Int(whole.size)), failed, 1,
    )  # fmt: skip
    if info.value:
        return None
    routines.ormtr(
        b"L", triangle, b"N", size, size, _address(columns), size, _address(tau),
        _address(vectors), size, room, length, failed, 1, 1, 1,
    )  # fmt: skip
    return w, copied(vectors.T)


# --- products ----------------------------------------------------------------------------------


def add_outer(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> bool:
    """Add x y^T to a matrix of float64, or say that it is not done."""
    routines = _routines()
    if routines is None or not (out.flags.c_contiguous and out.dtype == x.dtype == y.dtype == F64):
        return False
    if not (np.isfinite(np.vdot(x, x)) and np.isfinite(np.vdot(y, y))):
        return False  # BLAS leaves out what is times zero
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    n, k = out.shape
    routines.ger(BY_ROWS, n, k, 1.0, _address(x), 1, _address(y), 1, _address(out), k)
    return True


# --- symmetric matrices --------------------------------------------------------------------------


def has_symmetric_products(*matrices: np.ndarray) -> bool:
    """Whether the following take these matrices."""
    return _routines() is not None and all(
        x.ndim == 2 and x.dtype == np.float64 and x.flags.c_contiguous and x.size for x in matrices
    )


def symmetric_product(t: np.ndarray, x: np.ndarray, lower: bool) -> np.ndarray:
    """The product with x of the symmetric matrix of which t holds a triangle."""
    routines = _routines()
    assert routines is not None
    (n, k), out = x.shape, workspace(x.shape, np.float64)
    routines.symm(
        BY_ROWS, LEFT, LOWER if lower else UPPER, n, k, 1.0, _address(t), n, _address(x), k, 0.0,
        _address(out), k,
    )  # fmt: skip
    return out


def add_product_and_transpose(
    out: np.ndarray, a: np.ndarray, b: np.ndarray, lower: bool, keep: float = 1.0
) -> None:
    """Put keep * out + a b^T + b a^T in one triangle of out; the other one is left as it is."""
    routines = _routines()
    assert routines is not None
    n, k = a.shape
    routines.syr2k(
        BY_ROWS, LOWER if lower else UPPER, NOT_TRANSPOSED, n, k, 1.0, _address(a), k,
        _address(b), k, keep, _address(out), n,
    )  # fmt: skip


def add_square(
    out: np.ndarray, x: np.ndarray, lower: bool, times: float, keep: float = 1.0
) -> None:
    """Put keep * out + times * x x^T in one triangle of out; the other one is left as it is."""
    routines = _routines()
    assert routines is not None
    n, k = x.shape
    routines.syrk(
        BY_ROWS, LOWER if lower else UPPER, NOT_TRANSPOSED, n, k, times, _address(x), k, keep,
        _address(out), n,
    )  # fmt: skip


# --- triangles -----------------------------------------------------------------------------------
# What is by rows here is by columns in LAPACK: a lower triangle is an upper one there.


def invert_lower(x: np.ndarray) -> None:
    """Put its inverse in the place of a lower triangle; what is above the diagonal is not read."""
    routines = _routines()
    assert routines is not None
    n, step, info = Int(x.shape[0]), Int(x.strides[0] // x.itemsize), Int(0)
    routines.trtri(
        b"U", b"N", ctypes.byref(n), _address(x), ctypes.byref(step), ctypes.byref(info), 1, 1
    )
    if info.value:
        raise np.linalg.LinAlgError("Singular matrix")


def solve_triangle(a: np.ndarray, b: np.ndarray, lower: bool) -> np.ndarray | None:
    """The x with a x = b, for a triangular a of float64, by substitution; or None.

    None where a is singular, where a or x is not finite, or where nobody substitutes.
    """
    routines = _routines()
    by_rows = a.strides[1] == a.itemsize
    rows = a if by_rows else a.T
    between, entry = rows.strides
    if routines is None or entry != a.itemsize or between % entry or between < len(a) * entry:
        return None
    diagonal = np.diagonal(a)
    if not (diagonal.all() and np.isfinite(diagonal).all()):
        return None
    x = np.array(b, order="C")
    n, step, k = Int(a.shape[0]), Int(between // entry), Int(b.shape[1])
    triangle = b"U" if lower == by_rows else b"L"
    if b.shape[1] == 1:
        routines.trsv(
            triangle, b"T" if by_rows else b"N", b"N", ctypes.byref(n), _address(rows),
            ctypes.byref(step), _address(x), ctypes.byref(k), 1, 1, 1,
        )  # fmt: skip
    else:
        # By columns it is x^T a^T = b^T.
        routines.trsm(
            b"R", triangle, b"N" if by_rows else b"T", b"N", ctypes.byref(k), ctypes.byref(n),
            ctypes.byref(ONE), _address(rows), ctypes.byref(step), _address(x), ctypes.byref(k),
            1, 1, 1, 1,
        )  # fmt: skip
    return x if np.isfinite(x).all() else None


# --- factors -------------------------------------------------------------------------------------


class LU:
    """The factors of a regular matrix, rows exchanged."""

    __slots__ = ("columns", "pivots")

    def __init__(self, columns: np.ndarray, pivots: np.ndarray):
        """The factors in one matrix, transposed, and which row was exchanged with which.

        So U^T is on and below the diagonal of `columns`, L^T above it.
        """
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

    def is_definite(self) -> bool:
        """Whether a symmetric matrix with these factors is so: U is D L^T with a positive D."""
        exchanged = np.count_nonzero(self.pivots != np.arange(1, len(self.pivots) + 1))
        return not exchanged and bool(self.columns.diagonal().min() > 0)

    def order(self) -> np.ndarray | None:
        """Which row of the matrix has come to each place; None where no rows were exchanged."""
        rows = list(range(len(self.pivots)))
        exchanged = [(k, p - 1) for k, p in enumerate(self.pivots.tolist()) if p != k + 1]
        for k, pivot in exchanged:
            rows[k], rows[pivot] = rows[pivot], rows[k]
        return np.array(rows) if exchanged else None

    def slogdet(self) -> tuple:
        """Sign and logarithm of the determinant, added up as np.linalg.slogdet does."""
        diagonal = self.columns.diagonal()
        exchanges = np.count_nonzero(self.pivots != np.arange(1, len(diagonal) + 1))
        negative = np.count_nonzero(diagonal < 0)
        sizes = (np.abs(diagonal) if negative else diagonal).tolist()
        total = functools.reduce(operator.add, map(math.log, sizes), 0.0)
        return np.float64(-1.0 if (exchanges + negative) % 2 else 1.0), np.float64(total)
