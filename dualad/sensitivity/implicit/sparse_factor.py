"""Sparse Jacobians of equations: found along few directions, factorised by a sparse LU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ModelError, SensitivityError
from ..extras import extra
from ..integration.index_sets import Traced
from ..integration.pushing import derivative, pushed
from ..integration.sparsity import Colouring, numerical_pattern
from .equations import UserFunction
from .factor import EPS, Factor, reciprocal

__all__ = ["SparseFactor", "SparseJacobian", "sparse_jacobian"]


class SparseFactor:
    """What `Factor` is, for a sparse square matrix."""

    def __init__(self, matrix: Any):
        sparse = extra("scipy.sparse")
        self.matrix = matrix.tocsc()
        size = abs(self.matrix)
        self.rows = reciprocal(size.max(axis=1).toarray().ravel())
        scaled = sparse.diags_array(self.rows) @ self.matrix
        self.columns = reciprocal(abs(scaled).max(axis=0).toarray().ravel())
        scaled = (scaled @ sparse.diags_array(self.columns)).tocsc()
        try:
            self.lu = extra("scipy.sparse.linalg").splu(scaled)
            self.singular = self.condition(scaled) > 0.05 / (len(self.rows) * EPS)
        except RuntimeError:
            self.singular = True

    def condition(self, scaled: Any) -> float:
        """An estimate of the condition number in the 1-norm."""
        linalg = extra("scipy.sparse.linalg")
        inverse = linalg.LinearOperator(
            scaled.shape, matvec=self.lu.solve, rmatvec=lambda b: self.lu.solve(b, "T")
        )
        return float(linalg.onenormest(inverse) * abs(scaled).sum(axis=0).max())

    def solve(self, right: np.ndarray) -> np.ndarray:
        """x with matrix @ x = right, refined once; NaN where the matrix is singular."""
        columns = np.asarray(right, float).reshape(len(right), -1)
        if not hasattr(self, "lu"):
            return np.full(right.shape, np.nan)
        x = self._solve(columns)
        x = x + self._solve(columns - self.matrix @ x)
        return x.reshape(right.shape)

    def _solve(self, columns: np.ndarray) -> np.ndarray:
        inner = self.lu.solve(self.rows[:, np.newaxis] * columns)
        return np.asarray(self.columns[:, np.newaxis] * inner)

    def null_space(self) -> np.ndarray:
        """As that of `Factor`, from the dense matrix."""
        return Factor(self.matrix.toarray()).null_space()

    def weakest(self) -> np.ndarray:
        """As that of `Factor`, from the dense matrix."""
        return Factor(self.matrix.toarray()).weakest()


class SparseJacobian:
    """dF/dx of equations F(x, q) as a sparse matrix, from one direction a group of columns.

    Args:
        user: the equations' function, for messages.
        pattern: the entries that may be other than zero.
        found: whether it was found by us.
    """

    def __init__(self, user: UserFunction, pattern: Any, found: bool):
        self.user, self.colouring = user, Colouring(pattern, found)

    def __call__(self, f: Callable[[Any], Any], x: np.ndarray) -> Any:
        """The Jacobian of f at x.

        Raises:
            SensitivityError: f has derivatives outside of the pattern.
        """
        colouring = self.colouring
        seeds = colouring.seeds_and_probe
        value, moves = pushed(lambda t, y, q: f(y), 0.0, x, [], dy=seeds)
        slopes = np.asarray(derivative(value, moves, len(seeds)))
        entries = colouring.entries(slopes)
        wrong = colouring.lacks(entries, slopes[-1])
        if wrong.size:
            names = ", ".join(self.user.unknowns.names[i] for i in wrong[:6])
            raise SensitivityError(
                f"jac_sparsity lacks an entry in the equation of {names} {self.user.where(x)}: "
                f"give all entries that may become other than zero, or leave it out"
            )
        return colouring.matrix(entries)


def sparse_jacobian(given: Any, user: UserFunction, q: np.ndarray) -> SparseJacobian:
    """The Jacobian by a pattern that was given, or "auto": found by running the equations.

    Raises:
        SensitivityError: the pattern has another shape.
    """
    n, x0 = len(user.unknowns.names), user.unknowns.start
    if isinstance(given, str):
        if given != "auto":
            raise SensitivityError(f"jac_sparsity must be a matrix or 'auto', got {given!r}")
        return SparseJacobian(user, found_pattern(user, x0, q), True)
    try:
        pattern = extra("scipy.sparse").csc_matrix(given)
    except (TypeError, ValueError) as error:
        raise SensitivityError(f"jac_sparsity is no matrix: {error}") from error
    if pattern.shape != (n, n):
        raise SensitivityError(
            f"jac_sparsity has shape {pattern.shape}; there are {n} unknowns, so it must be "
            f"{(n, n)}"
        )
    return SparseJacobian(user, pattern != 0, False)


def found_pattern(user: UserFunction, x0: np.ndarray, q: np.ndarray) -> Any:
    """The pattern by index sets; where the function refuses them, by its Jacobian near x0."""
    seen = user.seen(q)
    try:
        sets = Traced.run(lambda x: user.f(user.unknowns.shaped(x), seen, *user.args), x0)
        if len(sets) != x0.size:
            raise ModelError("another shape")
    except Exception:
        return numerical_pattern(lambda x: user.shaped_like_unknowns(x, q), x0)
    rows = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    columns = np.array([j for s in sets for j in sorted(s)], int)
    return extra("scipy.sparse").csc_matrix(
        (np.ones(rows.size, bool), (rows, columns)), (x0.size, x0.size)
    )
