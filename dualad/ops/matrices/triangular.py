"""Triangular systems and Cholesky factors, with what is solved by them.

op(T) x = b gives dx = op(T)^-1 (db - op(dT) x), where T holds one triangle of the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.levels.spec import Spec
from ...engine.primitives.linear import Linear
from ..dropin import drop_in, matrix, operand
from ..linalg import adjoint, transposed
from ..products import conj

__all__ = [
    "as_columns",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "solve_triangular",
    "triangle",
    "triangular_solve",
]

#: How SciPy lets the caller name a, its transpose and its conjugate transpose.
TRANS = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


# --- the primitive -------------------------------------------------------------------------------


def triangle(a: Any, lower: bool, strict: bool = False) -> Any:
    """One triangle of a, with or without its diagonal, and zeros elsewhere."""
    k = -1 if strict else 0
    return np.tril(a, k) if lower else np.triu(a, -k)


def _op(a: Any, trans: int) -> Any:
    return a if trans == 0 else transposed(a) if trans == 1 else adjoint(a)


def _rule(t: Any, out: Any, a: Any, b: Any, trans: int, lower: bool, unit: bool) -> Any:
    move = _op(triangle(t, lower, strict=unit), trans) @ out
    return -triangular_solve(a, move, trans=trans, lower=lower, unit=unit)


def _transpose(ct: Any, a: Any, b: Any, trans: int, lower: bool, unit: bool) -> Any:
    """The same triangle with the adjoint of op: conj T has no name of its own."""
    back = {0: 2, 1: 0, 2: 0}[trans]
    return triangular_solve(conj(a) if trans == 1 else a, ct, trans=back, lower=lower, unit=unit)


def triangular_solution(a: Any, b: Any, trans: int, lower: bool, unit: bool) -> Any:
    """The x of a triangular system; its source is what a linear program prints."""
    from scipy.linalg import solve_triangular

    return solve_triangular(a, b, trans, lower, unit, check_finite=False)


triangular_solve = Linear(
    triangular_solution,
    None,
    _transpose,
    rules=(_rule, None),
    spec=lambda a, b, **_: Spec(b.shape, np.result_type(a.dtype, b.dtype)),
    name="scipy.linalg.solve_triangular",
)


# --- SciPy's names -------------------------------------------------------------------------------


def as_columns(b: Any) -> tuple[Any, bool]:
    """A right-hand side as a matrix of columns, and whether it was a vector."""
    b = operand(b)
    return (np.reshape(b, (-1, 1)), True) if b.ndim == 1 else (b, False)


@drop_in(sp.solve_triangular, a=2, b="1|2")
def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Any:
    """scipy.linalg.solve_triangular: the gradient in a is zero off the triangle that is read."""
    a = matrix(a)
    b, flat = as_columns(b)
    if b.shape[0] != a.shape[0]:
        raise ValueError(f"shapes of a {a.shape} and b {b.shape} are incompatible")
    if trans not in TRANS:
        raise ValueError(f"trans must be one of {list(TRANS)}, got {trans!r}")
    x = triangular_solve(a, b, trans=TRANS[trans], lower=bool(lower), unit=bool(unit_diagonal))
    return x[:, 0] if flat else x


@drop_in(sp.cholesky)
def cholesky(a: Any, lower: bool = False) -> Any:
    """scipy.linalg.cholesky: the gradient is in the triangle that is read, as of np.linalg's."""
    return np.linalg.cholesky(operand(a), upper=not lower)


@drop_in(sp.cho_factor, a=2)
def cho_factor(a: Any, lower: bool = False) -> tuple:
    """scipy.linalg.cho_factor: its other triangle holds, as SciPy's does, the entries of a."""
    a = matrix(a)
    return cholesky(a, lower) + triangle(a, not lower, strict=True), lower


@drop_in(sp.cho_solve)
def cho_solve(c_and_lower: Any, b: Any) -> Any:
    """scipy.linalg.cho_solve: two triangular systems."""
    factor, lower = c_and_lower
    trans = (0, 2) if lower else (2, 0)
    half = solve_triangular(factor, b, trans[0], lower, check_finite=False)
    return solve_triangular(factor, half, trans[1], lower, check_finite=False)
