"""Sparse linear systems: one primitive, and the factorisation that all its calls share.

M x = b gives M dx = db - dM x. Value, tangents and cotangents solve with one matrix or its
transpose, so that one factorisation serves them all.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from ...engine.levels.spec import Spec
from ...engine.primitives.linear import Linear
from ...engine.primitives.primitive import Primitive
from ...errors import SingularPointError
from ..products import conj
from ..structure import reshape, transpose
from .products import sparse_product

__all__ = ["Factors", "sparse_solve"]


class Factors:
    """The factorisations of the matrices of one pattern, made when they are first needed.

    They belong to one call, or to one object of the user, and go with it.
    """

    #: it holds what follows from the other parameters: a printed program leaves it out
    unprinted = True

    def __init__(self, **options: Any):
        self.options = options
        self.known: dict[tuple, Any] = {}

    def of(self, data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
        """The factorisation of the transposed matrix of this pattern."""
        data = np.asarray(data)
        content = hashlib.blake2b(np.ascontiguousarray(data).data).digest()
        key = (data.dtype.str, len(data), content)
        if key not in self.known:
            self.known[key] = _factorised(data, indices, indptr, shape, self.options)
        return self.known[key]


def _factorised(data: Any, indices: Any, indptr: Any, shape: tuple, options: dict) -> Any:
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    wide = data.astype(np.complex128 if data.dtype.kind == "c" else np.float64)
    try:
        # What is compressed by rows is its transpose compressed by columns.
        return splu(csc_array((wide, indices, indptr), shape=shape[::-1], copy=True), **options)
    except RuntimeError as error:
        raise SingularPointError(
            f"a sparse linear system has no solution with a derivative: {error}."
        ) from None


#: the way of the transposed system
ADJOINT = {"N": "H", "H": "N", "T": "C", "C": "T"}


def sparse_solution(
    data: Any,
    b: Any,
    indices: Any,
    indptr: Any,
    shape: tuple[int, int],
    trans: str,
    factors: Any = None,
) -> Any:
    """The solution x of M x = b; its source is what a linear program prints."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import splu

    if factors is None:
        wide = np.asarray(data, np.complex128 if data.dtype.kind == "c" else np.float64)
        factors_of_m = splu(csr_array((wide, indices, indptr), shape=shape).T.tocsc(copy=True))
    else:
        factors_of_m = factors.of(data, indices, indptr, shape)
    way, conjugated = {"N": ("T", 0), "T": ("N", 0), "H": ("N", 1), "C": ("T", 1)}[trans]
    dtype = np.result_type(data.dtype, b.dtype, np.float32)
    wide = np.asarray(b, np.complex128 if b.dtype.kind == "c" else np.float64)
    if data.dtype.kind == "c":
        wide = np.asarray(wide.conj() if conjugated else wide, np.complex128)
        x = factors_of_m.solve(wide, way)
        x = x.conj() if conjugated else x
    elif b.dtype.kind == "c":
        x = factors_of_m.solve(wide.real.copy(), way)
        x = x + 1j * factors_of_m.solve(wide.imag.copy(), way)
    else:
        x = factors_of_m.solve(wide, way)
    return x.astype(dtype, copy=False)


def _applied(data: Any, x: Any, trans: str, **pattern: Any) -> Any:
    """M x, M^T x, M^H x or conj(M) x."""
    entries = conj(data) if trans in "HC" else data
    return sparse_product(entries, x, transposed=trans in "TH", **pattern)


def _in_entries(t: Any, out: Any, data: Any, b: Any, trans: str, factors: Any, **p: Any) -> Any:
    moved = _applied(t, out, trans, **p)
    return -sparse_solve(data, moved, trans=trans, factors=factors, **p)


def _pull_side(ct: Any, data: Any, b: Any, trans: str, **params: Any) -> Any:
    return sparse_solve(data, ct, trans=ADJOINT[trans], **params)


def _spec(data: Any, b: Any, **params: Any) -> Spec:
    return Spec(b.shape, np.result_type(data.dtype, b.dtype, np.float32))


def _batch(args: tuple, mine: tuple, **params: Any) -> Any:
    """A batch of right-hand sides is more columns; each matrix of a batch is factorised."""
    data, b = args
    if mine[0]:
        return Primitive.batch(sparse_solve, args, mine, params)
    columns = transpose(b, axes=(1, 0, *range(2, b.ndim)))
    flat = reshape(columns, shape=(columns.shape[0], math.prod(columns.shape[1:])))
    x = reshape(sparse_solve(data, flat, **params), shape=columns.shape)
    return transpose(x, axes=(1, 0, *range(2, b.ndim)))


sparse_solve = Linear(
    sparse_solution,
    None,
    _pull_side,
    rules=(_in_entries, None),
    batch=_batch,
    spec=_spec,
    name="scipy.sparse.solve",
)
