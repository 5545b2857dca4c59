"""Matrices on the last two axes: what the families of numpy.linalg share.

The families are `solve`, `determinants`, `factorizations`, `eigen`, `singular` and `norms`;
products of matrices are in `products`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .arranging import np_diagonal
from .products import conj
from .registry import function
from .structure import axes_of, transpose
from .views import matrix_transpose

__all__ = [
    "above",
    "adjoint",
    "clear_above",
    "diagonal_of",
    "half_triangle",
    "real_dtype",
    "square",
    "transposed",
]

#: Up to this many rows masks are kept for the next matrix of that size.
KEPT = 512
#: From this many rows on zeros are written to whole blocks, which takes less than by a mask.
CLEARED = 128


def transposed(x: Any) -> Any:
    """The transpose of each matrix."""
    if type(x) is np.ndarray:
        return x.swapaxes(-1, -2)
    last = x.ndim - 1
    return transpose(x, axes=(*range(last - 1), last, last - 1))


def adjoint(x: Any) -> Any:
    """The conjugate transpose of each matrix."""
    return conj(transposed(x))


def diagonal_of(x: Any) -> Any:
    """The diagonal of each matrix."""
    return np.diagonal(x, axis1=-2, axis2=-1)


def real_dtype(x: Any) -> np.dtype:
    """The dtype of the modulus of x."""
    return np.empty(0, x.dtype).real.dtype


def half_triangle(x: Any, lower: bool = True) -> Any:
    """A mask that keeps one triangle of square matrices x and half of their diagonal.

    mask * x plus its adjoint is the Hermitian matrix of which x holds that triangle.
    """
    n, dtype = x.shape[-1], real_dtype(x)
    mask = _half_triangle(n, dtype) if n <= KEPT else _half_triangle.__wrapped__(n, dtype)
    return mask if lower else mask.T


@functools.lru_cache(maxsize=4)
def _half_triangle(n: int, dtype: np.dtype) -> np.ndarray:
    mask = np.tri(n, dtype=dtype)
    np.fill_diagonal(mask, 0.5)
    mask.flags.writeable = False
    return mask


def above(n: int) -> np.ndarray:
    """Which entries of a square matrix are above its diagonal."""
    return _above(n) if n <= KEPT else _above.__wrapped__(n)


@functools.lru_cache(maxsize=4)
def _above(n: int) -> np.ndarray:
    mask = np.tri(n, dtype=bool)
    return np.logical_not(mask, out=mask)


def clear_above(x: np.ndarray) -> None:
    """Write zeros above the diagonal of each matrix."""
    n = x.shape[-1]
    if n <= CLEARED:
        np.copyto(x, 0, where=above(n))
        return
    middle = n // 2
    x[..., :middle, middle:] = 0
    clear_above(x[..., :middle, :middle])
    clear_above(x[..., middle:, middle:])


def square(a: Any) -> None:
    """Refuse what is not a stack of square matrices, as NumPy does."""
    if a.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


# --- NumPy's names that only move entries --------------------------------------------------------


@function(np.linalg.matrix_transpose)
def linalg_matrix_transpose(x: Any, /) -> Any:
    """The transpose of each matrix."""
    return matrix_transpose(x)


@function(np.linalg.diagonal)
def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonal of each matrix."""
    return np_diagonal(x, offset, *axes_of((-2, -1), x.ndim))
