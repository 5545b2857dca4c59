"""Sums and products of sparse matrices with traced entries or operands."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import MissingRuleError, NotDifferentiableError
from .entries import TracedSparse, is_sparse, lifted, scipy_class, unboxed_entry
from .products import collected, sparse_product

__all__ = [
    "add",
    "boxed",
    "dense_of",
    "divide",
    "matmul",
    "matrix_power",
    "multiply",
    "power",
    "rdivide",
    "rmatmul",
    "rsubtract",
    "subtract",
    "times",
]

ROOT = __name__.partition(".")[0]


def boxed(operation: Callable[..., Any]) -> Callable[..., Any]:
    """An operation that sees engine values; its result has the face of its operands."""

    @functools.wraps(operation)
    def call(*args: Any, **kwargs: Any) -> Any:
        pairs = [unboxed_entry(a) for a in args]
        face = next((f for _, f in pairs if f is not None), None)
        out = operation(*(a for a, _ in pairs), **kwargs)
        if face is None:
            return out
        if not isinstance(out, TracedSparse):
            return face.wrap(out)
        return TracedSparse(out.entries, out.structure, face)

    return call


def _is_scalar(x: Any) -> bool:
    return not is_sparse(x) and np.ndim(x) == 0


# --- products with vectors and matrices ----------------------------------------------------------


def _times_dense(a: TracedSparse, x: Any, transposed: bool) -> Any:
    entries, pattern, by_columns = a.compressed()
    if x.ndim not in (1, 2) or x.shape[0] != a.shape[not transposed]:
        raise ValueError(f"dimension mismatch: a sparse {a.shape} and a dense {x.shape}")
    return sparse_product(entries, x, transposed=transposed != by_columns, **pattern)


@boxed
def matmul(a: Any, x: Any) -> Any:
    """a @ x for a sparse a and an x that is a vector, a matrix or sparse."""
    a = lifted(a)
    if is_sparse(x):
        return _sparse_times_sparse(a, lifted(x))
    if _is_scalar(x):
        raise ValueError("Scalar operands are not allowed, use '*' instead")
    return _times_dense(a, x, False)


@boxed
def rmatmul(a: Any, x: Any) -> Any:
    """x @ a for a dense x."""
    if _is_scalar(x):
        raise ValueError("Scalar operands are not allowed, use '*' instead")
    return np.transpose(_times_dense(lifted(a), np.transpose(x), True))


def _sparse_times_sparse(a: TracedSparse, b: TracedSparse) -> TracedSparse:
    """The sum over all pairs of entries a_ik b_kj, collected at the place (i, j)."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"matmul: dimension mismatch, {a.shape} and {b.shape}")
    matrix = a.is_matrix and b.is_matrix
    form = a.format if a.format != "coo" else "csr"
    a, b = a.deduped(), b.tocsr()
    row, k = a.coords
    start, stop = b.structure.indptr[k], b.structure.indptr[k + 1]
    count = (stop - start).astype(np.int64)
    left = np.repeat(np.arange(a.nnz), count)
    right = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count) + start[left]
    where = (row[left], b.structure.indices[right])
    shape = (a.shape[0], b.shape[1])
    pairs = scipy_class("coo", matrix)((np.ones(len(left)), where), shape=shape)
    return TracedSparse(a.entries[left] * b.entries[right], pairs).deduped().asformat(form)


# --- entry by entry ------------------------------------------------------------------------------


@boxed
def add(a: Any, b: Any) -> Any:
    """a + b: the union of two patterns, or a dense matrix."""
    a = lifted(a)
    if not is_sparse(b):
        if _is_scalar(b):
            raise NotImplementedError(
                "adding a scalar to a sparse matrix fills it: add it to A.toarray()"
            )
        return dense_of(a) + b
    b = lifted(b)
    if a.shape != b.shape:
        raise ValueError(f"inconsistent shapes: {a.shape} and {b.shape}")
    coo = scipy_class("coo", a.is_matrix)
    where = tuple(np.concatenate(pair) for pair in zip(a.coords, b.coords, strict=True))
    both = coo((np.ones(a.nnz + b.nnz), where), shape=a.shape)
    entries = np.concatenate([a.entries, b.entries])
    form = a.format if a.format != "coo" else "csr"
    return TracedSparse(entries, both).deduped().asformat(form)


@boxed
def subtract(a: Any, b: Any) -> Any:
    """a - b."""
    return add(a, -b)


@boxed
def rsubtract(a: Any, b: Any) -> Any:
    """b - a."""
    a = lifted(a)
    return add(a.with_entries(-a.entries), b)


def dense_of(a: TracedSparse) -> Any:
    """The dense matrix; places that are stored twice are added up."""
    row, col = a.coords
    m, n = a.shape
    flat = collected(a.entries, np.asarray(row, np.int64) * n + col, m * n)
    return np.reshape(flat, (m, n))


@boxed
def times(a: Any, x: Any) -> Any:
    """a * x: by entries for sparse arrays, the matrix product for sparse matrices."""
    a = lifted(a)
    if _is_scalar(x):
        return a.with_entries(a.entries * x)
    if a.is_matrix:
        return matmul(a, x)
    return multiply(a, x)


@boxed
def multiply(a: Any, x: Any) -> Any:
    """The product by entries."""
    a = lifted(a)
    if _is_scalar(x):
        return a.with_entries(a.entries * x)
    if is_sparse(x):
        return _both(a, lifted(x))
    return TracedSparse(a.entries * _entries_of(x, a), _listed(a))


def _listed(a: TracedSparse) -> Any:
    """The pattern as a list of places, in the order of the entries."""
    coo = scipy_class("coo", a.is_matrix)
    return coo((np.ones(a.nnz), a.coords), shape=a.shape)


def _entries_of(x: Any, a: TracedSparse) -> Any:
    """The entries of a dense operand at the places of a sparse one."""
    if np.broadcast_shapes(x.shape, a.shape) != a.shape:
        raise NotDifferentiableError(
            f"a sparse matrix of shape {a.shape} is not repeated to the shape of {x.shape}: write "
            "the product with A.toarray()."
        )
    row, col = a.coords
    return np.broadcast_to(x, a.shape)[row, col]


def _both(a: TracedSparse, b: TracedSparse) -> TracedSparse:
    """The product of two patterns where both have an entry."""
    if a.shape != b.shape:
        raise NotDifferentiableError(
            f"by entries, sparse matrices of shapes {a.shape} and {b.shape} are not multiplied."
        )
    a, b = a.deduped(), b.deduped()
    form = a.format if a.format != "coo" else "csr"
    here, there = (np.asarray(m.coords[0], np.int64) * m.shape[1] + m.coords[1] for m in (a, b))
    places, left, right = np.intersect1d(here, there, assume_unique=True, return_indices=True)
    where = np.divmod(places, max(a.shape[1], 1))
    coo = scipy_class("coo", a.is_matrix)((np.ones(len(places)), where), shape=a.shape)
    return TracedSparse(a.entries[left] * b.entries[right], coo).asformat(form)


@boxed
def divide(a: Any, x: Any) -> Any:
    """a / x by entries, for a scalar or dense x."""
    if is_sparse(x):
        raise MissingRuleError(
            "the quotient of two sparse matrices is dense and mostly undefined: divide A.data, "
            "or the dense A.toarray()."
        )
    a = lifted(a)
    if _is_scalar(x):
        return a.with_entries(a.entries / x)
    return TracedSparse(a.entries / _entries_of(x, a), _listed(a))


def rdivide(a: Any, x: Any) -> Any:
    """x / a has infinities where a has no entry."""
    raise MissingRuleError("a division by a sparse matrix divides by zeros: use A.toarray().")


@boxed
def power(a: Any, n: Any) -> Any:
    """The entries to a power n > 0, which zero entries keep at zero."""
    if not _is_scalar(n) or not n > 0:
        raise NotDifferentiableError("entries of a sparse matrix are raised to powers n > 0 only")
    a = lifted(a).deduped()
    return a.with_entries(a.entries**n)


def matrix_power(a: Any, n: Any) -> Any:
    """The matrix power of a square sparse matrix, n = 1, 2, ..."""
    if not isinstance(n, (int, np.integer)) or n < 1:
        raise NotDifferentiableError("a sparse matrix is raised to integer powers n >= 1")
    out = a
    for _ in range(n - 1):
        out = matmul(out, a)
    return out
