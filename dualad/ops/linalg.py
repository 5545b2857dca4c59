"""Matrices on the last two axes: what the families of numpy.linalg share.

The families are `solve`, `determinants`, `factorizations`, `eigen`, `singular` and `norms`;
products of matrices are in `products`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.traced import raw
from ..errors import SingularPointError
from .arranging import np_diagonal
from .products import conj
from .registry import function
from .structure import axes_of, matrix_transpose, transpose

__all__ = [
    "adjoint",
    "diagonal_of",
    "half_triangle",
    "inverse_for",
    "real_dtype",
    "square",
    "transposed",
]


def transposed(x: Any) -> Any:
    """The transpose of each matrix."""
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
    mask = np.tri(x.shape[-1], dtype=real_dtype(x))
    np.fill_diagonal(mask, 0.5)
    return mask if lower else mask.T


def square(a: Any) -> None:
    """Refuse what is not a stack of square matrices, as NumPy does."""
    if a.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def inverse_for(a: Any, what: str) -> Any:
    """The inverse that a rule needs, or an error that says whose derivative does not exist."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError as error:
        raise SingularPointError(
            f"{what} has no derivative here: {_size(a)} is singular. Move the point off the "
            f"singularity (a + eps * np.eye(n)), or take dualad.stop_gradient(a)."
        ) from error


def _size(a: Any) -> str:
    shape = raw(a).shape
    return f"a matrix of shape {shape[-2:]}" + (" in the stack" if len(shape) > 2 else "")


# --- NumPy's names that only move entries --------------------------------------------------------


@function(np.linalg.matrix_transpose)
def linalg_matrix_transpose(x: Any, /) -> Any:
    """The transpose of each matrix."""
    return matrix_transpose(x)


@function(np.linalg.diagonal)
def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonal of each matrix."""
    return np_diagonal(x, offset, *axes_of((-2, -1), x.ndim))
