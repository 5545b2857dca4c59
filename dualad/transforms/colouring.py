"""Groups of the columns of a sparse matrix of which no two share a row.

One tangent along the sum of a group gives the entries of all its columns. The order and the rule
are those of Curtis, Powell, Reid, On the estimation of sparse Jacobian matrices (1974).
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["coloured"]


def coloured(pattern: Any) -> np.ndarray:
    """A group for each column, another for columns that share a row; fullest columns first.

    pattern: a matrix of scipy.sparse by columns, with an entry wherever one may be.
    """
    counts = pattern.astype(np.int32)
    sharing = (counts.T @ counts).tocsr()
    colour = np.full(pattern.shape[1], -1)
    for j in np.argsort(-np.diff(pattern.indptr), kind="stable"):
        near = colour[sharing.indices[sharing.indptr[j] : sharing.indptr[j + 1]]]
        taken = np.zeros(near.size + 1, bool)
        taken[near[(near >= 0) & (near < near.size)]] = True
        colour[j] = np.argmin(taken)
    return colour
