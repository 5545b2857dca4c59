"""Linear systems and norms of sparse matrices, by the names of scipy.sparse.linalg."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from ...errors import MissingRuleError, ShapeError
from .arithmetic import boxed
from .entries import TracedSparse, concerns, is_sparse, lifted
from .solve import Factors, sparse_solve

__all__ = ["Factorization", "factorized", "norm", "splu", "spsolve"]


def _square(a: Any) -> TracedSparse:
    a = lifted(a)
    if a.shape[0] != a.shape[1]:
        raise ShapeError(f"matrix must be square (has shape {a.shape})")
    return a


def _solved(a: TracedSparse, b: Any, factors: Factors, trans: str = "N") -> Any:
    """The solution of a x = b, or of the system with the transposed or adjoint matrix."""
    entries, pattern, by_columns = a.compressed()
    if b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        raise ShapeError(f"the matrix has shape {a.shape}, the right-hand side {b.shape}")
    if by_columns:
        trans = {"N": "T", "T": "N", "H": "C"}[trans]
    if not entries.shape[0]:
        raise MissingRuleError("a linear system without stored entries has no solution")
    return sparse_solve(entries, b, trans=trans, factors=factors, **pattern)


@boxed
def _spsolve(a: Any, b: Any, permc_spec: Any = None) -> Any:
    if is_sparse(b):
        raise MissingRuleError(
            "spsolve with a sparse right-hand side has no derivative rule: pass b.toarray()."
        )
    b = np.ravel(b) if b.ndim == 2 and b.shape[1] == 1 else b
    return _solved(_square(a), b, Factors(permc_spec=permc_spec))


def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    """The solution x of A x = b: differentiable in b and in the stored entries of A.

    One factorisation serves the value, all tangents and all cotangents. Where anything is traced
    it is SuperLU's, and a singular A is an error; on plain arguments this is SciPy's function.

    Raises:
        SingularPointError: A is singular.
    """
    if not (concerns(A) or concerns(b)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)
            return spla.spsolve(A, b, permc_spec, use_umfpack)
    return _spsolve(A, b, permc_spec=permc_spec)


class Factorization:
    """The LU factors of a sparse matrix, for several right-hand sides; see `splu`."""

    def __init__(self, a: Any, **options: Any):
        self._a = a
        self._matrix = _square(a)
        self._factors = Factors(**options)
        self.shape, self.nnz = self._matrix.shape, self._matrix.nnz
        self._super: Any = None if concerns(a) else spla.splu(sp.csc_array(a), **options)

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """The solution of A x = rhs, of A^T x = rhs ("T") or of A^H x = rhs ("H")."""
        if self._super is not None and not concerns(rhs):
            return self._super.solve(rhs, trans)
        if trans not in ("N", "T", "H"):
            raise ValueError("trans must be N, T, or H")
        return _solve_with(self._matrix, rhs, factors=self._factors, trans=trans)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._super is None:
            raise MissingRuleError(f"{name} of LU factors has no derivative rule: use solve.")
        return getattr(self._super, name)


@boxed
def _solve_with(a: Any, b: Any, factors: Factors, trans: str) -> Any:
    return _solved(a, b, factors, trans)


def splu(A: Any, **options: Any) -> Factorization:
    """The LU factors of A, whose `solve` is differentiable in its argument and in A's entries."""
    return Factorization(A, **options)


def factorized(A: Any) -> Callable[[Any], Any]:
    """The function b -> x with A x = b, which factorises A once."""
    return splu(A).solve


@boxed
def _norm(a: Any, ord: Any = None, axis: Any = None) -> Any:
    a = a.deduped()
    if axis is not None or ord not in (None, "fro", 1, -1, np.inf, -np.inf):
        raise MissingRuleError(
            f"norm(A, {ord!r}, axis={axis!r}) of a sparse matrix with traced entries has no rule: "
            "the orders None, 'fro', 1, -1, inf and -inf have, over all of the matrix."
        )
    if ord in (None, "fro"):
        return np.linalg.norm(a.entries)
    sums = abs(a).sum(axis=0 if abs(ord) == 1 else 1)
    return np.max(sums) if ord > 0 else np.min(sums)


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """The Frobenius norm of a sparse matrix, or its norm as a map of l1 or of maxima."""
    return _norm(x, ord=ord, axis=axis) if concerns(x) else spla.norm(x, ord, axis)
