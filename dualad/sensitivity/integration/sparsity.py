"""Sparse Jacobians: which entries there are, and how few directions find them all.

Columns that share no row are found by one direction together: Curtis, Powell, Reid, On the
estimation of sparse Jacobian matrices (1974). The directions here are tangents, so that the
entries are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...transforms.colouring import coloured
from ...transforms.jacobian import jacfwd
from ..errors import SensitivityError
from ..extras import extra
from ..parameters.parameters import ModelParameters
from .index_sets import Traced
from .model import Model

__all__ = ["Colouring", "found_pattern", "given_pattern", "is_sparse"]


class Colouring:
    """A sparsity pattern, and its columns in groups of which no two share a row.

    Args:
        pattern: the entries (i, j) that may be other than zero, a boolean sparse matrix (n, n).
        found: whether the pattern was found by us, and so may be given up.
    """

    def __init__(self, pattern: Any, found: bool = False):
        self.found = found
        self.pattern = extra("scipy.sparse").csc_matrix(pattern, dtype=bool)
        self.pattern.sort_indices()
        n = self.pattern.shape[0]
        self.colour = coloured(self.pattern)
        self.size = int(self.colour.max()) + 1
        self.seeds = np.zeros((self.size, n))
        self.seeds[self.colour, np.arange(n)] = 1.0
        self.columns = np.repeat(np.arange(n), np.diff(self.pattern.indptr))
        self.groups = self.colour[self.columns]
        # Entries row by row: their order, and where each row that has some begins.
        self.by_row = np.argsort(self.pattern.indices, kind="stable")
        self.columns_by_row = self.columns[self.by_row]
        self.filled, self.starts = np.unique(self.pattern.indices[self.by_row], return_index=True)
        self.probe = np.random.default_rng(20).uniform(0.5, 1.5, n)
        self.seeds_and_probe = np.concatenate((self.seeds, self.probe[np.newaxis]))

    @property
    def pays(self) -> bool:
        """Whether so few groups are left that sparse matrices are the cheaper ones."""
        return 4 * self.size < self.pattern.shape[0]

    def entries(self, compressed: np.ndarray) -> np.ndarray:
        """The entries of the pattern, from the derivatives (groups, n) along the groups."""
        return compressed[self.groups, self.pattern.indices]

    def matrix(self, entries: np.ndarray) -> Any:
        """The sparse matrix that has these entries."""
        return extra("scipy.sparse").csc_matrix(
            (entries, self.pattern.indices, self.pattern.indptr), shape=self.pattern.shape
        )

    def product(self, by_row: np.ndarray, s: np.ndarray) -> np.ndarray:
        """The matrix times each vector s[..., :]; its entries are given row by row."""
        sums = np.add.reduceat(by_row * s[..., self.columns_by_row], self.starts, axis=-1)
        if self.filled.size == s.shape[-1]:
            return sums
        out = np.zeros_like(s)
        out[..., self.filled] = sums
        return out

    def lacks(self, entries: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """The rows with an entry outside the pattern, where `moved` is J times the probe."""
        terms = entries * self.probe[self.columns]
        rows, n = self.pattern.indices, moved.size
        size = np.bincount(rows, abs(terms), n) + abs(moved)
        return np.flatnonzero(abs(moved - np.bincount(rows, terms, n)) > 1e-9 * size)


def is_sparse(pattern: Any) -> bool:
    """Whether so few entries are left that grouping columns is worth while."""
    n = pattern.shape[0]
    return 10 * pattern.nnz < n * n


def given_pattern(sparsity: Any, n: int, m: int) -> Any:
    """The pattern of n states as the user gives it, with m full rows of integrands below."""
    sparse = extra("scipy.sparse")
    try:
        given = sparse.csc_matrix(sparsity)
    except (TypeError, ValueError) as error:
        raise SensitivityError(f"jac_sparsity is no matrix: {error}") from error
    if given.shape != (n, n):
        raise SensitivityError(
            f"jac_sparsity has shape {given.shape}; there are {n} states, so it must be {(n, n)}"
        )
    if not m:
        return given != 0
    below = sparse.csc_matrix(np.ones((m, n)))
    right = sparse.csc_matrix((n + m, m))
    return sparse.hstack([sparse.vstack([given != 0, below]), right], format="csc")


def found_pattern(model: Model, t: float, y: np.ndarray) -> Any:
    """The pattern of df/dy, by running rhs on index sets; where it refuses them, by its Jacobian.

    Index sets follow the branches taken at y; the Jacobian is taken at three points near y.
    Either is checked against a random direction at each later Jacobian.
    """
    p = ModelParameters(model.fixed)
    try:
        sets = Traced.run(lambda x: model.rhs(t, x, p), y)
    except Exception:
        return numerical_pattern(lambda x: model.slopes(t, x, p), y)
    rows = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    columns = np.concatenate([*sets, np.zeros(0, int)])
    shape = (len(sets), y.size)
    return extra("scipy.sparse").csc_matrix((np.ones(rows.size, bool), (rows, columns)), shape)


def numerical_pattern(f: Callable[[Any], Any], y: np.ndarray) -> Any:
    """Where the Jacobian is other than zero at y or at two points near it."""
    rng = np.random.default_rng(7)
    points = [y, *(y + 1e-3 * (abs(y) + abs(y).max() + 1e-3) * rng.random((2, y.size)))]
    found = np.zeros((y.size, y.size), bool)
    for point in points:
        found |= np.asarray(jacfwd(f)(point)) != 0
    return extra("scipy.sparse").csc_matrix(found)
