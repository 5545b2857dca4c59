"""Newton matrices a I - b J of size n, factorised once and solved for many right-hand sides.

The Jacobian of states and k sensitivities has the same n x n block J on the whole diagonal. So one
factorisation of size n serves the states and, after them, every sensitivity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..extras import extra

__all__ = ["Factorised"]


class Factorised:
    """An LU of a I - b J.

    Args:
        a, b: numbers; a may be complex.
        matrix: J, of shape (n, n), an array or a sparse matrix.
    """

    def __init__(self, a: complex, b: float, matrix: Any):
        self.solve_columns = (sparse_lu if hasattr(matrix, "tocsc") else dense_lu)(a, b, matrix)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """x with (a I - b J) x = r, for r of shape (n,), or for each row r of shape (m, n)."""
        return self.solve_columns(rows.T).T


def dense_lu(a: complex, b: float, matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    lapack, blas = extra("scipy.linalg.lapack"), extra("scipy.linalg.blas")
    whole = np.array(matrix, type(a), order="F")
    whole *= -b
    whole.flat[:: len(whole) + 1] += a
    kind = "z" if np.iscomplexobj(whole) else "d"
    lu, pivots, _ = getattr(lapack, f"{kind}getrf")(whole, overwrite_a=True)
    one, many = getattr(lapack, f"{kind}getrs"), getattr(blas, f"{kind}trsm")
    order = row_order(pivots)

    # OpenBLAS wakes its threads for every getrs of two columns or more, of size 2 even, and on a
    # busy machine waits for them a hundred times as long as it computes. Its trsm does not.
    def solve(columns: np.ndarray) -> np.ndarray:
        if columns.ndim == 1 or columns.shape[1] == 1:
            return one(lu, pivots, columns)[0]
        permuted = columns.T.take(order, 1).T
        # By position (side, lower, transposed, unit, overwrite): names take twice as long.
        halfway = many(1.0, lu, permuted, 0, 1, 0, 1, 1)
        return many(1.0, lu, halfway, 0, 0, 0, 0, 1)

    return solve


def row_order(pivots: np.ndarray) -> np.ndarray:
    """Which row of the right-hand side is the i-th, after the exchanges of an LU."""
    order = np.arange(len(pivots))
    for i, j in enumerate(pivots.tolist()):
        order[i], order[j] = order[j], order[i]
    return order


def sparse_lu(a: complex, b: float, matrix: Any) -> Callable[[np.ndarray], np.ndarray]:
    sparse = extra("scipy.sparse")
    whole = (a * sparse.eye(matrix.shape[0], format="csc") - b * matrix).tocsc()
    lu = extra("scipy.sparse.linalg").splu(whole)
    return lambda columns: lu.solve(np.asarray(columns, whole.dtype, order="F"))
