"""The matrices that `linear_solve` takes, each with its product and one factorisation.

A matrix of parameters is a dense array, a sparse matrix of `dualad.scipy.sparse`, whose entries
may be traced, or a function x -> A x.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ...engine.levels.values import as_value
from ...errors import DualADError
from ..errors import ModelError, SensitivityError
from ..extras import extra
from .factor import Factor, null_combinations

__all__ = ["MatrixKind", "dense_array", "matrix_kind"]

ITERATIVE = ("gmres", "bicgstab", "cg", "minres")


class MatrixKind(Protocol):
    """What `linear_solve` asks of a matrix A(q)."""

    n: int

    def solve(self, right: np.ndarray) -> np.ndarray:
        """x with A x = right, shapes (n, m)."""

    def product(self, matrix: Any, x: Any) -> Any:
        """A x, where A is another, maybe traced, value of the kind, and x may be traced."""


def matrix_kind(matrix: Any, name: str, unknowns: Sequence[str], options: dict) -> MatrixKind:
    """The kind of a matrix at the parameters themselves, factored."""
    if extra("scipy.sparse").issparse(matrix):
        return _Sparse(matrix, name)
    if callable(matrix) or hasattr(matrix, "matvec"):
        return _Operator(matrix, name, options)
    return _Dense(matrix, name, unknowns)


def square(shape: tuple[int, ...], name: str) -> int:
    """The size of a square matrix."""
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise ModelError(f"{name} must be a square matrix, got shape {shape}")
    return shape[0]


def dense_array(matrix: Any, name: str, kinds: str = "fiu") -> Any:
    """A returned value as an array of real numbers, traced or not; or of other kinds."""
    try:
        value = as_value(matrix, name)
    except (DualADError, ValueError) as error:
        raise ModelError(f"{name}: {error}") from error
    if value.dtype.kind not in kinds:
        raise ModelError(f"{name} must be real, got {value.dtype}")
    return value


class _Dense:
    def __init__(self, matrix: Any, name: str, unknowns: Sequence[str]):
        value = dense_array(matrix, name)
        self.name, self.n = name, square(value.shape, name)
        value = np.array(value, float)
        if not np.isfinite(value).all():
            raise ModelError(f"{name} is not finite in row {_first_bad(value)}")
        self.factor = Factor(value)
        if self.factor.singular:
            names = unknowns or [f"x{i + 1}" for i in range(self.n)]
            free = "; ".join(null_combinations(self.factor.null_space(), names))
            raise ModelError(f"{name} is singular: the equations leave ({free}) open")

    def solve(self, right: np.ndarray) -> np.ndarray:
        return self.factor.solve(right)

    def product(self, matrix: Any, x: Any) -> Any:
        return dense_array(matrix, self.name, "fiuc") @ x


class _Sparse:
    """An LU factorisation of a sparse matrix; each solution is refined once."""

    def __init__(self, matrix: Any, name: str):
        self.name, self.n = name, square(tuple(matrix.shape), name)
        self.matrix = matrix.tocsc().astype(float)
        if not np.isfinite(self.matrix.data).all():
            raise ModelError(f"{name} is not finite in row {_first_bad(self.matrix)}")
        try:
            self.lu = extra("scipy.sparse.linalg").splu(self.matrix)
        except RuntimeError as error:
            raise ModelError(f"{name} is singular: a pivot of its factorisation is 0") from error
        pivots = np.abs(self.lu.U.diagonal())
        if pivots.min() <= 1e-15 * pivots.max() and self.condition() > 1e15:
            raise ModelError(f"{name} is singular to rounding")

    def condition(self) -> float:
        """An estimate of the condition number in the 1-norm."""
        linalg = extra("scipy.sparse.linalg")
        n = self.matrix.shape[0]
        inverse = linalg.LinearOperator(
            (n, n), matvec=self.lu.solve, rmatvec=lambda b: self.lu.solve(b, "T")
        )
        return float(linalg.onenormest(inverse) * np.abs(self.matrix).sum(axis=0).max())

    def solve(self, right: np.ndarray) -> np.ndarray:
        x = self.lu.solve(right)
        return x + self.lu.solve(right - self.matrix @ x)

    def product(self, matrix: Any, x: Any) -> Any:
        sparse = extra("scipy.sparse")
        if sparse.issparse(matrix):
            from ...scipy.sparse import csc_array

            matrix = csc_array(matrix)
        return matrix @ x


class _Operator:
    """A function x -> A x, or an object whose matvec computes it."""

    def __init__(self, matrix: Any, name: str, options: dict):
        self.name = name
        self.n = options["n"]
        self.inner = _Iterative(product_of(matrix), self.n, name, options)

    def solve(self, right: np.ndarray) -> np.ndarray:
        return self.inner.solve(right)

    def product(self, matrix: Any, x: Any) -> Any:
        apply = product_of(matrix)
        return np.stack([apply(x[:, j]) for j in range(x.shape[1])], axis=1)


def product_of(matrix: Any) -> Callable[[Any], Any]:
    """x -> A x; a SciPy operator is asked below its conversion to plain arrays."""
    if hasattr(matrix, "_matvec"):
        return lambda x: np.reshape(matrix._matvec(x), (-1,))
    return matrix.matvec if hasattr(matrix, "matvec") else matrix


class _Iterative:
    """A Krylov method to rounding: each solution is refined until its residual stays."""

    def __init__(self, product: Callable[[Any], Any], n: int, name: str, options: dict):
        linalg = extra("scipy.sparse.linalg")
        if options["method"] not in ITERATIVE:
            raise SensitivityError(f"method must be one of {', '.join(ITERATIVE)}")
        self.method = getattr(linalg, options["method"])
        self.operator = linalg.LinearOperator((n, n), matvec=product, dtype=float)
        self.name, self.n = name, n
        self.preconditioner, self.tol = options["preconditioner"], options["tol"]

    def solve(self, right: np.ndarray) -> np.ndarray:
        return np.stack([self.column(right[:, j]) for j in range(right.shape[1])], axis=1)

    def column(self, right: np.ndarray) -> np.ndarray:
        x, size = np.zeros(self.n), np.abs(right).max(initial=0.0)
        left, last = right, np.inf
        for _ in range(8):
            rest = np.abs(left).max(initial=0.0)
            if rest <= 1e-3 * self.tol * size or rest >= 0.5 * last:
                break
            last = rest
            step, _ = self.method(self.operator, left, rtol=1e-10, M=self.preconditioner)
            x = x + step
            left = right - self.operator @ x
        if not np.abs(left).max(initial=0.0) <= self.tol * size:
            raise ModelError(
                f"the iteration for {self.name} did not converge: a residual of "
                f"{np.abs(left).max():.3g} is left of {size:.3g}, tol = {self.tol:g}. Give a "
                f"preconditioner, or a matrix that can be factored"
            )
        return x


def _first_bad(matrix: Any) -> int:
    rows = matrix.tocoo() if hasattr(matrix, "tocoo") else None
    if rows is None:
        return int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
    return int(rows.row[~np.isfinite(rows.data)][0])
