"""Inverses of triangular matrices, whose work is in matrix products.

NumPy solves no triangular systems. The inverse of a triangular matrix, made of those of its
halves, is about as accurate as substitution (Higham, *Accuracy and Stability of Numerical
Algorithms*, section 14.2), and takes a fifth of the time of np.linalg.inv.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..engine.arrays.memory import F64, copied, workspace, zeros
from . import lapack
from .linalg import above, clear_above

__all__ = ["by_halves", "fill", "inverse_by_factors", "inverse_of_definite", "square_of_lower"]

#: Up to this many rows a triangular matrix is inverted as any other.
SMALL = 16
#: And so many as LAPACK, which works on one entry at a time, inverts triangles.
MEDIUM = 64


def by_halves(x: np.ndarray) -> np.ndarray:
    """The inverse of each lower triangular matrix, which has zeros above its diagonal."""
    if x.shape[-1] <= SMALL:
        return np.linalg.inv(x)
    if x.ndim == 2 and x.dtype == np.float64 and lapack.is_found():
        out = copied(x)
        _invert(out)
        return out
    out = zeros(x.shape, x.dtype)
    fill(out, x)
    return out


def fill(out: np.ndarray, x: np.ndarray) -> None:
    """The inverse of lower triangles, where out, zero above its diagonal, may be x itself."""
    cuts = _cuts(x.shape[-1], SMALL)
    _fill_diagonal(out, x, cuts)
    _fill_corners(out, x, cuts)


def _invert(x: np.ndarray) -> None:
    """Put its inverse in the place of a lower triangular matrix."""
    cuts = _cuts(x.shape[-1], MEDIUM)
    for start, stop in itertools.pairwise(cuts):
        lapack.invert_lower(x[start:stop, start:stop])
    _fill_corners(x, x, cuts)


def _fill_corners(out: np.ndarray, x: np.ndarray, cuts: list[int]) -> None:
    """The rest of the inverse, of which the blocks between the cuts are known."""
    while len(cuts) > 2:
        for start, middle, stop in zip(cuts[:-1:2], cuts[1::2], cuts[2::2], strict=True):
            _fill_corner(out, x, slice(start, middle), slice(middle, stop))
        cuts = cuts[::2]


def _cuts(n: int, most: int) -> list[int]:
    """Where halving ends in blocks of so many rows, of which there are a power of two."""
    cuts = [0, n]
    while n > most:
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


def inverse_by_factors(factors: np.ndarray, order: np.ndarray | None) -> np.ndarray:
    """The inverse of a matrix whose rows, in this order, are L U; LAPACK's of NumPy is needed.

    Of the factors U^T is on and below the diagonal, L^T above a diagonal of ones. The inverse has
    the columns of X in that order, X L = U^-1; the rows of X^T are found from the last ones up.
    """
    x = copied(factors)
    clear_above(x)
    _invert(x)
    for start, stop in reversed(list(itertools.pairwise(_cuts(len(x), MEDIUM)))):
        block, rows = slice(start, stop), x[start:stop]
        if stop < len(x):
            rows -= factors[block, stop:] @ x[stop:]
        rows[...] = _inverse_of_unit(factors[block, block]) @ rows
    if order is None:
        return x.T
    out = workspace(x.shape, x.dtype)
    out[order] = x
    return out.T


def inverse_of_definite(factors: np.ndarray) -> np.ndarray:
    """The inverse of a symmetric matrix L U, U = D L^T with a positive D, of factors as above.

    Its Cholesky factor is L sqrt(D), which is the transpose of U with each column scaled. LAPACK's
    of NumPy is needed.
    """
    x, n = workspace(factors.shape, F64), len(factors)
    scale, cuts = 1 / np.sqrt(np.diagonal(factors)), _cuts(n, MEDIUM)
    for start, stop in itertools.pairwise(cuts):
        np.multiply(factors[start:stop, :stop], scale[:stop], out=x[start:stop, :stop])
        clear_above(x[start:stop, start:stop])
        x[start:stop, stop:] = 0
    _invert(x)
    return square_of_lower(x)


def _inverse_of_unit(x: np.ndarray) -> np.ndarray:
    """The inverse of what is above a diagonal of ones."""
    lower = np.where(above(len(x)).T, x.T, np.eye(len(x)))
    lapack.invert_lower(lower)
    return lower.T


def square_of_lower(x: np.ndarray) -> np.ndarray:
    """x^T x of a lower triangular matrix, without most of the products with its zeros."""
    out = workspace(x.shape, x.dtype)
    for start, stop in itertools.pairwise(_cuts(len(x), MEDIUM)):
        rows = out[start:stop, :stop]
        np.matmul(x[start:, start:stop].T, x[start:, :stop], out=rows)
        out[:start, start:stop] = rows[:, :start].T
    return out.T
