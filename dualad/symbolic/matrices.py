"""Linear algebra on symbolic matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from .entries import expression
from .errors import REMEDY, NotSymbolicError
from .reductions import reduced
from .tables import UFUNCS, handles
from .value import FUNCTIONS, Symbolic, apply, entries_of, symbolic

__all__ = ["norm", "per_matrix"]


def per_matrix(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one matrix, on stacks of them."""

    def call(a: Any) -> Symbolic:
        entries = entries_of(a)
        if entries.ndim == 2:
            return symbolic(f(sympy.Matrix(entries)))
        return Symbolic(np.stack([call(Symbolic(m)).entries for m in entries]))

    return call


FUNCTIONS[np.linalg.det] = per_matrix(lambda m: m.det(method="berkowitz"))
FUNCTIONS[np.linalg.inv] = per_matrix(lambda m: m.adjugate() / m.det(method="berkowitz"))


@handles(np.linalg.solve)
def solve(a: Any, b: Any) -> Symbolic:
    """Cramer's rule: no pivot has to be known to differ from zero."""
    return UFUNCS["matmul"](FUNCTIONS[np.linalg.inv](a), symbolic(b))


@handles(np.linalg.slogdet)
def slogdet(a: Any) -> tuple[Symbolic, Symbolic]:
    d = FUNCTIONS[np.linalg.det](a)
    return apply("sign", d), apply("log", apply("absolute", d))


@handles(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Symbolic:
    base = FUNCTIONS[np.linalg.inv](a) if n < 0 else symbolic(a)
    return Symbolic(np.linalg.matrix_power(base.entries, abs(n)))


@handles(np.linalg.cholesky)
def cholesky(a: Any, *, upper: bool = False) -> Symbolic:
    """Column by column; the pivots are taken to be positive, as they are where NumPy succeeds."""
    m = entries_of(a)
    n = len(m)
    low = np.full((n, n), sympy.Integer(0), object)
    for j in range(n):
        low[j, j] = sympy.sqrt(m[j, j] - sum(low[j, :j] ** 2))
        for i in range(j + 1, n):
            low[i, j] = (m[i, j] - sum(low[i, :j] * low[j, :j])) / low[j, j]
    return Symbolic(low.T if upper else low)


@handles(np.linalg.norm, np.linalg.vector_norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Symbolic:
    """Norms of vectors, and of a matrix the one of Frobenius."""
    if symbolic(x).ndim == 2 and axis is None and ord not in (None, "fro"):
        raise NotSymbolicError(f"the matrix norm {ord!r} is not known on symbols: {REMEDY}")
    size = apply("absolute", x)
    if ord in (None, 2, "fro"):
        return apply("sqrt", reduced("add", size * size, axis, keepdims))
    if ord in (np.inf, -np.inf):
        return reduced("maximum" if ord > 0 else "minimum", size, axis, keepdims)
    p = expression(ord)
    return reduced("add", size**p, axis, keepdims) ** (1 / p)
