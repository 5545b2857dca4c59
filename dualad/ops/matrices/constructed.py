"""Matrices put together from vectors and blocks: toeplitz, block_diag, companion and their kin.

Entries are gathered by constant indices, or joined with zeros: nothing here has a formula.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.levels.traced import raw
from ..dropin import drop_in, operand
from ..products import conj

__all__ = [
    "block_diag",
    "circulant",
    "companion",
    "convolution_matrix",
    "diagsvd",
    "fiedler",
    "fiedler_companion",
    "hankel",
    "khatri_rao",
    "leslie",
    "toeplitz",
]


def _vector(x: Any) -> Any:
    return np.atleast_1d(operand(x))


def _grid(rows: int, columns: int) -> tuple[Any, Any]:
    """Row and column numbers of a matrix, which broadcast to it."""
    return np.arange(rows)[:, None], np.arange(columns)[None, :]


# --- constant along diagonals --------------------------------------------------------------------


@drop_in(sp.toeplitz, c=1, r=1)
def toeplitz(c: Any, r: Any = None) -> Any:
    """scipy.linalg.toeplitz: entry (i, j) is c[i - j] or r[j - i]; r[0] is not read."""
    c = _vector(c)
    r = conj(c) if r is None else _vector(r)
    i, j = _grid(c.shape[0], r.shape[0])
    return np.concatenate([r[:0:-1], c])[i - j + r.shape[0] - 1]


@drop_in(sp.circulant, c=1)
def circulant(c: Any) -> Any:
    """scipy.linalg.circulant: entry (i, j) is c[i - j], counted round."""
    c = _vector(c)
    i, j = _grid(c.shape[0], c.shape[0])
    return c[(i - j) % c.shape[0]]


@drop_in(sp.hankel)
def hankel(c: Any, r: Any = None) -> Any:
    """scipy.linalg.hankel: entry (i, j) is c[i + j], continued by r[1:]."""
    c = np.ravel(operand(c))
    r = np.zeros(c.shape, c.dtype) if r is None else np.ravel(operand(r))
    i, j = _grid(c.shape[0], r.shape[0])
    return np.concatenate([c, r[1:]])[i + j]


@drop_in(sp.convolution_matrix, a=1)
def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """scipy.linalg.convolution_matrix: its product with v is np.convolve(a, v, mode)."""
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    a = operand(a)
    m = a.shape[0]
    i, j = _grid(m + n - 1, n)
    inside = (i >= j) & (i - j < m)
    whole = np.where(inside, a[np.where(inside, i - j, 0)], 0)
    trim = min(n, m) - 1
    first = {"full": 0, "same": trim // 2, "valid": trim}[mode]
    length = {"full": m + n - 1, "same": max(m, n), "valid": max(m, n) - trim}[mode]
    return whole[first : first + length]


# --- companions ----------------------------------------------------------------------------------


def _monic(a: Any) -> Any:
    a = _vector(a)
    if a.shape[0] < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    if np.any(raw(a[0]) == 0):
        raise ValueError("The first coefficient in `a` must not be zero.")
    return a[1:] / a[0]


@drop_in(sp.companion, a=1)
def companion(a: Any) -> Any:
    """scipy.linalg.companion: its eigenvalues are the roots of the polynomial a."""
    row = -_monic(a)
    n = row.shape[0]
    return np.concatenate([row[None, :], np.eye(n - 1, n, dtype=row.dtype)])


@drop_in(sp.fiedler_companion, a=1)
def fiedler_companion(a: Any) -> Any:
    """scipy.linalg.fiedler_companion: a pentadiagonal companion matrix."""
    row = -_monic(a)
    n = row.shape[0]
    if n == 1:
        return row[None, :]
    fixed = np.zeros((n, n))
    fixed[range(3, n, 2), range(1, n - 2, 2)] = 1.0
    fixed[range(0, n - 2, 2), range(2, n, 2)] = 1.0
    fixed[1, 0] = 1.0
    place = np.full((n, n), -1)
    place[range(2, n, 2), range(1, n - 1, 2)] = range(2, n, 2)
    place[range(0, n - 1, 2), range(1, n, 2)] = range(1, n, 2)
    place[0, 0] = 0
    return np.where(place >= 0, row[np.maximum(place, 0)], fixed.astype(row.dtype))


@drop_in(sp.fiedler, a=1)
def fiedler(a: Any) -> Any:
    """scipy.linalg.fiedler: entry (i, j) is |a[i] - a[j]|, with slope 0 where they are equal."""
    a = _vector(a)
    return np.abs(a[:, None] - a[None, :])


@drop_in(sp.leslie, f=1, s=1)
def leslie(f: Any, s: Any) -> Any:
    """scipy.linalg.leslie: fertilities in the first row, survivals below the diagonal."""
    f, s = _vector(f), _vector(s)
    if f.shape[0] != s.shape[0] + 1:
        raise ValueError("The length of s must be one less than the length of f.")
    below = np.concatenate([np.diag(s), np.zeros((s.shape[0], 1), s.dtype)], axis=1)
    return np.concatenate([f[None, :], below])


# --- blocks --------------------------------------------------------------------------------------


@drop_in(sp.block_diag)
def block_diag(*arrs: Any) -> Any:
    """scipy.linalg.block_diag; blocks of stacks are broadcast against each other."""
    blocks = [np.atleast_2d(operand(a)) for a in arrs]
    stack = np.broadcast_shapes(*(b.shape[:-2] for b in blocks))
    blocks = [np.broadcast_to(b, (*stack, *b.shape[-2:])) for b in blocks]
    width = sum(b.shape[-1] for b in blocks)
    rows, left = [], 0
    for b in blocks:
        height, right = b.shape[-2], width - left - b.shape[-1]
        sides = [np.zeros((*stack, height, k), b.dtype) for k in (left, right)]
        rows.append(np.concatenate([sides[0], b, sides[1]], axis=-1))
        left += b.shape[-1]
    return np.concatenate(rows, axis=-2)


@drop_in(sp.khatri_rao, a=2, b=2)
def khatri_rao(a: Any, b: Any) -> Any:
    """scipy.linalg.khatri_rao: the Kronecker product of each pair of columns."""
    a, b = operand(a), operand(b)
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("The both arrays should be 2-dimensional.")
    if a.shape[1] != b.shape[1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    return np.reshape(a[:, None, :] * b[None, :, :], (-1, a.shape[1]))


@drop_in(sp.diagsvd, s=1)
def diagsvd(s: Any, M: int, N: int) -> Any:
    """scipy.linalg.diagsvd: singular values on the diagonal of an M x N matrix."""
    part = np.diag(operand(s))
    n = part.shape[0]
    if n == M:
        return np.concatenate([part, np.zeros((M, N - M), part.dtype)], axis=1)
    if n == N:
        return np.concatenate([part, np.zeros((M - N, N), part.dtype)])
    raise ValueError("Length of s must be M or N.")
