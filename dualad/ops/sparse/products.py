"""Products of a sparse matrix: two bilinear primitives, each the other's transpose.

A sparse matrix is a vector of stored entries and a pattern that no derivative reaches: `indices`,
`indptr` and `shape` of the compressed row format. `sparse_product` is M x, or with transposed=True
M^T x. Its transpose in x is another such product; in the entries it is `sampled_product`, the
matrix u v^T of which only the entries of the pattern are computed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine.levels.spec import Spec
from ...engine.primitives.linear import Linear
from ..batch_axis import batch_size
from ..products import conj
from ..structure import reshape, transpose

__all__ = ["collected", "rows_of", "sampled_product", "sparse_product"]


def rows_of(indptr: np.ndarray) -> np.ndarray:
    """The row of each stored entry."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


# --- one pattern many times ----------------------------------------------------------------------


def _blocks(n: int, indices: Any, indptr: Any, shape: tuple[int, int]) -> dict[str, Any]:
    """The pattern of the block diagonal matrix of n matrices of one pattern."""
    step = np.arange(n, dtype=np.int64)[:, None]
    return {
        "indices": (indices + shape[1] * step).ravel(),
        "indptr": np.append(0, (indptr[1:] + len(indices) * step).ravel()),
        "shape": (n * shape[0], n * shape[1]),
    }


def _joined(x: Any, mine: bool, n: int) -> Any:
    """A batch of vectors or matrices one below the other; what is the same for all, n times."""
    if not mine:
        x = np.broadcast_to(x, (n, *x.shape))
    return reshape(x, shape=(n * x.shape[1], *x.shape[2:]))


# --- the product ---------------------------------------------------------------------------------


def sparse_matmul(
    data: Any, x: Any, indices: Any, indptr: Any, shape: tuple[int, int], transposed: bool
) -> Any:
    """The product with a vector or matrix; its source is what a linear program prints."""
    from scipy.sparse import csr_array

    matrix = csr_array((data, indices, indptr), shape=shape)
    return (matrix.T if transposed else matrix) @ x


def _product_spec(
    data: Any, x: Any, indices: Any, indptr: Any, shape: tuple[int, int], transposed: bool
) -> Spec:
    return Spec((shape[transposed], *x.shape[1:]), np.result_type(data.dtype, x.dtype))


def _pull_entries(ct: Any, data: Any, x: Any, transposed: bool, **pattern: Any) -> Any:
    left, right = (conj(x), ct) if transposed else (ct, conj(x))
    return sampled_product(left, right, **pattern)


def _pull_operand(ct: Any, data: Any, x: Any, transposed: bool, **pattern: Any) -> Any:
    return sparse_product(conj(data), ct, transposed=not transposed, **pattern)


def _product_batch(args: tuple, mine: tuple, transposed: bool, **pattern: Any) -> Any:
    """A batch of operands is more columns; a batch of matrices is one block diagonal matrix."""
    data, x = args
    if not mine[0]:
        columns = transpose(x, axes=(1, 0, *range(2, x.ndim)))
        flat = reshape(columns, shape=(columns.shape[0], math.prod(columns.shape[1:])))
        out = sparse_product(data, flat, transposed=transposed, **pattern)
        out = reshape(out, shape=(out.shape[0], *columns.shape[1:]))
        return transpose(out, axes=(1, 0, *range(2, x.ndim)))
    n = data.shape[0]
    entries, operands = _joined(data, True, n), _joined(x, mine[1], n)
    out = sparse_product(entries, operands, transposed=transposed, **_blocks(n, **pattern))
    return reshape(out, shape=(n, pattern["shape"][transposed], *out.shape[1:]))


sparse_product = Linear(
    sparse_matmul,
    _pull_entries,
    _pull_operand,
    batch=_product_batch,
    spec=_product_spec,
    name="scipy.sparse.product",
)


# --- its transpose in the entries ----------------------------------------------------------------


def sampled_matmul(u: Any, v: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """The entries of the matrix u v^T at the places of a pattern."""
    rows = np.repeat(np.arange(shape[0]), np.diff(indptr))
    if u.ndim == 1:
        return u[rows] * v[indices]
    return np.einsum("ek,ek->e", u[rows], v[indices])


def _sampled_spec(u: Any, v: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Spec:
    return Spec((len(indices),), np.result_type(u.dtype, v.dtype))


def _sampled_batch(args: tuple, mine: tuple, **pattern: Any) -> Any:
    n = batch_size(args, mine)
    u, v = (_joined(a, m, n) for a, m in zip(args, mine, strict=True))
    out = sampled_product(u, v, **_blocks(n, **pattern))
    return reshape(out, shape=(n, len(pattern["indices"])))


sampled_product = Linear(
    sampled_matmul,
    lambda ct, u, v, **pattern: sparse_product(ct, conj(v), transposed=False, **pattern),
    lambda ct, u, v, **pattern: sparse_product(ct, conj(u), transposed=True, **pattern),
    batch=_sampled_batch,
    spec=_sampled_spec,
    name="scipy.sparse.sampled_product",
)


# --- entries that fall together ------------------------------------------------------------------


def collected(data: Any, places: np.ndarray, size: int) -> Any:
    """The vector of a size to which each entry was added at its place."""
    n = len(places)
    return sparse_product(
        np.ones(n, data.dtype),
        data,
        indices=np.asarray(places),
        indptr=np.arange(n + 1),
        shape=(n, size),
        transposed=True,
    )
