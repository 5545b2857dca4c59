"""Block lower triangular matrices: one factorisation of the diagonal block solves them.

The Jacobian of states and k sensitivities has the same n x n block J on the whole diagonal and
other blocks B_j in the first column alone. A Newton matrix a I - b J of that form is solved in
sequence: first the states, then each sensitivity with what the states contribute to it. So the
iterates are those of the whole matrix, at the price of one LU of size n. This is the staggered
corrector. The classes have the few operations by which SciPy's steppers make their matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..extras import extra

__all__ = ["Blocks", "Factorised", "Identity"]


class Blocks:
    """J on the diagonal, B_1 ... B_k below it in the first column.

    Args:
        diagonal: J, of shape (n, n), an array or a sparse matrix.
        below: the blocks B_j, an array (k, n, n) or a list of sparse matrices.
    """

    __array_ufunc__ = None

    def __init__(self, diagonal: Any, below: Any):
        self.diagonal, self.below = diagonal, below
        self.sparse = hasattr(diagonal, "tocsc")
        self.n, self.k = diagonal.shape[0], len(below)
        if self.sparse and self.k:
            self.stacked = extra("scipy.sparse").vstack(below, format="csr")
        elif self.k:
            self.stacked = np.asarray(below)

    def __rmul__(self, b: Any) -> Scaled:
        return Scaled(b, self)

    def dense(self) -> np.ndarray:
        """The whole matrix."""
        n, k = self.n, self.k
        out = np.zeros((k + 1, n, k + 1, n))
        for j in range(k + 1):
            out[j, :, j, :] = full(self.diagonal)
        for j in range(k):
            out[j + 1, :, 0, :] = full(self.below[j])
        return out.reshape((k + 1) * n, (k + 1) * n)

    def coupled(self, x: np.ndarray) -> np.ndarray:
        """The k vectors B_j x, as rows."""
        if not self.k:
            return np.zeros((0, self.n))
        if self.sparse:
            return (self.stacked @ x).reshape(self.k, self.n)
        return self.stacked @ x


def full(matrix: Any) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


class Scaled:
    """b times blocks."""

    __array_ufunc__ = None

    def __init__(self, b: Any, blocks: Blocks):
        self.b, self.blocks = b, blocks


class Identity:
    """a times the identity; minus blocks, or scaled blocks, it is a Newton matrix."""

    __array_ufunc__ = None

    def __init__(self, a: Any = 1.0):
        self.a = a

    def __rmul__(self, a: Any) -> Identity:
        return Identity(a * self.a)

    def __sub__(self, other: Blocks | Scaled) -> tuple[Any, Any, Blocks]:
        return (
            (self.a, other.b, other.blocks) if isinstance(other, Scaled) else (self.a, 1.0, other)
        )


class Factorised:
    """a I - b J, factorised: an LU of size n that solves for all blocks."""

    def __init__(self, matrix: tuple[Any, Any, Blocks]):
        a, self.b, self.blocks = matrix
        self.solve_block = sparse_lu(matrix) if self.blocks.sparse else dense_lu(a, self.b, matrix)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """x with (a I - b [J, B]) x = rhs, all blocks in one vector."""
        blocks = self.blocks
        rows = rhs.reshape(blocks.k + 1, blocks.n)
        first = self.solve_block(rows[0])
        if not blocks.k:
            return first
        rest = rows[1:] + self.b * blocks.coupled(first)
        return np.concatenate((first, self.solve_block(rest.T).T.ravel()))


def dense_lu(
    a: Any, b: Any, matrix: tuple[Any, Any, Blocks]
) -> Callable[[np.ndarray], np.ndarray]:
    linalg = extra("scipy.linalg")
    diagonal = matrix[2].diagonal
    lu = linalg.lu_factor(a * np.eye(len(diagonal)) - b * diagonal, overwrite_a=True)
    return lambda rhs: linalg.lu_solve(lu, rhs)


def sparse_lu(matrix: tuple[Any, Any, Blocks]) -> Callable[[np.ndarray], np.ndarray]:
    a, b, blocks = matrix
    sparse = extra("scipy.sparse")
    whole = (a * sparse.eye(blocks.n, format="csc") - b * blocks.diagonal).tocsc()
    lu = extra("scipy.sparse.linalg").splu(whole)
    return lambda rhs: lu.solve(np.ascontiguousarray(rhs, whole.dtype))
