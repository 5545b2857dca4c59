"""Null directions with as few parameters as possible: the circuits of a set of columns."""

from __future__ import annotations

import itertools
import math

import numpy as np

__all__ = ["sparse_null_basis"]

#: So many sets of one size are searched at most.
MANY = 20_000


def sparse_null_basis(matrix: np.ndarray, tol: float, max_size: int) -> tuple[int, np.ndarray]:
    """The rank of a matrix with columns of length 1, and a basis of its null space.

    A basis vector is sought among the smallest sets of columns that are dependent; beyond max_size
    the reduced echelon form of the null space gives the rest.

    Args:
        matrix: shape (rows, k).
        tol: singular values up to it are 0.
        max_size: the size of sets up to which is searched.

    Returns:
        The rank, and the basis, shape (k - rank, k).
    """
    k = matrix.shape[1]
    _, sigma, vt = np.linalg.svd(matrix, full_matrices=True)
    rank = int((sigma > tol).sum())
    null = vt[rank:]
    if not len(null):
        return rank, null
    found = _circuits(matrix, null, tol, max_size)
    for row in _echelon(null):
        if len(found) == len(null):
            break
        if _independent(found, row):
            found.append(row)
    return rank, np.reshape(found, (len(null), k))


def _circuits(matrix: np.ndarray, null: np.ndarray, tol: float, max_size: int) -> list[np.ndarray]:
    """Independent null vectors of the smallest dependent sets of columns."""
    active = np.flatnonzero(np.linalg.norm(null, axis=0) > 1e-6)
    found: list[np.ndarray] = []
    sets: list[set[int]] = []
    for size in range(2, min(max_size, len(active)) + 1):
        if math.comb(len(active), size) > MANY:
            break
        for chosen in itertools.combinations(active.tolist(), size):
            if any(s <= set(chosen) for s in sets):
                continue
            vector = _dependence(matrix[:, chosen], tol)
            if vector is None:
                continue
            sets.append(set(chosen))
            row = np.zeros(matrix.shape[1])
            row[list(chosen)] = vector
            if _independent(found, row):
                found.append(row)
            if len(found) == len(null):
                return found
    return found


def _dependence(columns: np.ndarray, tol: float) -> np.ndarray | None:
    """The combination of the columns that is 0, if there is one."""
    _, sigma, vt = np.linalg.svd(columns, full_matrices=True)
    if len(sigma) == columns.shape[1] and sigma[-1] > tol:
        return None
    return np.asarray(vt[-1])


def _independent(found: list[np.ndarray], row: np.ndarray) -> bool:
    if not found:
        return True
    rows = np.array([*found, row])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return bool(np.linalg.svd(rows, compute_uv=False)[-1] > 1e-6)


def _echelon(null: np.ndarray) -> np.ndarray:
    """The reduced row echelon form with the largest pivots first."""
    out = null.copy()
    free = list(range(out.shape[1]))
    for i in range(len(out)):
        block = np.abs(out[i:][:, free])
        r, c = (int(n) for n in np.unravel_index(int(block.argmax()), block.shape))
        pivot = free.pop(c)
        out[[i, i + r]] = out[[i + r, i]]
        out[i] /= out[i, pivot]
        others = np.arange(len(out)) != i
        out[others] -= np.outer(out[others, pivot], out[i])
    out[np.abs(out) < 1e-9] = 0.0
    return out
