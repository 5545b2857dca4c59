"""One factorisation of a scaled matrix, its rank, and the directions that it does not see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..extras import extra

__all__ = ["Factor", "combination", "echelon", "null_combinations"]

EPS = float(np.finfo(float).eps)


class Factor:
    """A pivoted QR factorisation of an (m, n) matrix, m >= n, for many right-hand sides.

    Rows and columns are scaled first, so that the units of equations and unknowns do not decide
    what counts as zero. A system of more equations than unknowns is solved in least squares; for
    one that has a solution that is the solution.

    >>> Factor(np.array([[2.0, 0.0], [0.0, 4.0]])).solve(np.array([2.0, 2.0]))
    array([1. , 0.5])
    """

    def __init__(self, matrix: np.ndarray, tolerance: float | None = None):
        self.matrix = matrix
        self.row_scale = reciprocal(np.abs(matrix).max(axis=1, initial=0.0))
        rows = matrix * self.row_scale[:, np.newaxis]
        self.column_scale = reciprocal(np.sqrt((rows * rows).sum(axis=0)))
        self.scaled = rows * self.column_scale
        self.q, self.r, self.pivots = extra("scipy.linalg").qr(
            self.scaled, mode="economic", pivoting=True
        )
        sizes = np.abs(np.diag(self.r))
        limit = 20 * max(matrix.shape) * EPS if tolerance is None else tolerance
        self.rank = int((sizes > limit * max(sizes[0], 1.0)).sum()) if sizes.size else 0

    @property
    def singular(self) -> bool:
        """Whether some direction of the unknowns is not seen."""
        return self.rank < self.matrix.shape[1]

    def solve(self, right: np.ndarray) -> np.ndarray:
        """x with matrix @ x = right, refined once; directions not seen stay as they are.

        Further axes of the right-hand side are kept.
        """
        columns = right.reshape(len(right), -1)
        x = self._solve(columns)
        x = x + self._solve(columns - self.matrix @ x)
        return x.reshape(self.matrix.shape[1], *right.shape[1:])

    def _solve(self, columns: np.ndarray) -> np.ndarray:
        k = self.rank
        z = extra("scipy.linalg").solve_triangular(
            self.r[:k, :k], self.q[:, :k].T @ (columns * self.row_scale[:, np.newaxis])
        )
        out = np.zeros((self.matrix.shape[1], columns.shape[1]))
        out[self.pivots[:k]] = z
        return out * self.column_scale[:, np.newaxis]

    def null_space(self) -> np.ndarray:
        """The directions of the unknowns that are not seen, as columns in their own units."""
        vectors = np.linalg.svd(self.scaled)[2]
        return vectors[self.rank :].T * self.column_scale[:, np.newaxis]

    def weakest(self) -> np.ndarray:
        """The direction that is seen least, as a column."""
        return np.linalg.svd(self.scaled)[2][-1:].T * self.column_scale[:, np.newaxis]


def reciprocal(sizes: np.ndarray) -> np.ndarray:
    """1 / sizes, rounded to powers of two so that scaling is exact; 1 where a size is 0."""
    good = np.isfinite(sizes) & (sizes > 0)
    exponents = np.frexp(np.where(good, sizes, 1.0))[1]
    return np.where(good, np.ldexp(1.0, -exponents), 1.0)


def echelon(rows: np.ndarray, tolerance: float = 1e-9) -> np.ndarray:
    """The reduced row echelon form of independent rows, as few names in each as there can be.

    >>> echelon(np.array([[1.0, 1.0, 2.0], [1.0, -1.0, 0.0]]))
    array([[1., 0., 1.],
           [0., 1., 1.]])
    """
    out, at = np.array(rows, float), 0
    for column in range(out.shape[1]):
        if at == len(out):
            break
        best = at + int(np.argmax(np.abs(out[at:, column])))
        if abs(out[best, column]) <= tolerance * max(np.abs(out).max(), 1e-300):
            out[at:, column] = 0.0
            continue
        out[[at, best]] = out[[best, at]]
        out[at] /= out[at, column]
        for other in range(len(out)):
            if other != at:
                out[other] -= out[other, column] * out[at]
        at += 1
    small = tolerance * np.abs(out).max(axis=1, keepdims=True, initial=0.0)
    return np.where(np.abs(out) <= small, 0.0, out)


def null_combinations(directions: np.ndarray, names: Sequence[str]) -> list[str]:
    """Each direction (a column) in words, such as "S1 - S2"."""
    return [combination(row, names) for row in echelon(directions.T)]


def combination(weights: np.ndarray, names: Sequence[str]) -> str:
    """A weighted sum of names, weights to four digits.

    >>> combination(np.array([1.0, 0.0, -0.5]), ["a", "b", "c"])
    'a - 0.5 c'
    """
    parts: list[str] = []
    for weight, name in zip(weights, names, strict=True):
        if weight != 0:
            size = f"{abs(weight):.4g}"
            sign = ("-" if weight < 0 else "") if not parts else (" - " if weight < 0 else " + ")
            parts.append(f"{sign}{'' if size == '1' else size + ' '}{name}")
    return "".join(parts) or "0"
