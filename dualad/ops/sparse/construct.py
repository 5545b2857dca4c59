"""Functions that make sparse matrices: of diagonals, of blocks, of products.

Where anything is traced they number all entries and let SciPy arrange the numbers.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...engine.levels.missing import missing_rule
from ...errors import NotDifferentiableError
from .arithmetic import add
from .entries import TracedSparse, concerns, is_sparse, lifted, scipy_class, traced, unboxed_entry
from .formats import adopted

__all__ = [
    "block_array",
    "block_diag",
    "bmat",
    "diags",
    "diags_array",
    "hstack",
    "issparse",
    "kron",
    "kronsum",
    "passed_on",
    "tril",
    "triu",
    "vstack",
]

ROOT = __name__.partition(".")[0]


def _any_traced(x: Any) -> bool:
    return concerns(x) or (isinstance(x, (list, tuple)) and any(map(_any_traced, x)))


def instead_of(original: Any) -> Callable[[Any], Any]:
    """The decorated function takes over where an argument is traced; plain results are adopted."""
    signature = inspect.signature(original)

    def register(rule: Any) -> Any:
        @functools.wraps(rule)
        def entry(*args: Any, **kwargs: Any) -> Any:
            if not any(map(_any_traced, (*args, *kwargs.values()))):
                return adopted(original(*args, **kwargs))
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return rule(**bound.arguments)

        entry.__signature__ = signature  # type: ignore[attr-defined]
        return entry

    return register


# --- arrangements of entries ---------------------------------------------------------------------


def _arranged(entries: Any, face: Any, result: Any, form: str | None, dtype: Any) -> Any:
    """The matrix whose entries are those that SciPy arranged by their numbers."""
    result = result.asformat(form or "csr" if result.format not in ("csr", "csc", "coo") else form)
    if result.format not in ("csr", "csc", "coo"):
        raise NotDifferentiableError(f"traced entries are not stored in the format {form}")
    out = TracedSparse(entries[result.data - 1], result, face)
    return out if dtype is None else out.with_entries(out.entries.astype(dtype))


def _diagonals(make: Any, diagonals: Any, offsets: Any, dtype: Any, **kwargs: Any) -> Any:
    one = np.ndim(offsets) == 0 and (
        not isinstance(diagonals, (list, tuple)) or np.ndim(unboxed_entry(diagonals[0])[0]) == 0
    )
    pairs = [unboxed_entry(d) for d in ([diagonals] if one else diagonals)]
    parts = [np.atleast_1d(d) for d, _ in pairs]
    ends = np.cumsum([p.shape[0] for p in parts])
    numbers = [np.arange(e - p.shape[0], e) + 1 for e, p in zip(ends, parts, strict=True)]
    form = kwargs.pop("format")
    dtype = None if type(dtype) is object else dtype  # SciPy's mark of an argument not given
    result = make(numbers, offsets=[offsets] if one else offsets, dtype=np.int64, **kwargs)
    face = next((f for _, f in pairs if f is not None), None)
    return _arranged(np.concatenate(parts), face, result, form, dtype)


@instead_of(sp.diags)
def diags(
    diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    """The matrix with given diagonals."""
    return _diagonals(sp.diags, diagonals, offsets, dtype, shape=shape, format=format)


@instead_of(sp.diags_array)
def diags_array(diagonals: Any, offsets: Any, shape: Any, format: Any, dtype: Any) -> Any:
    """The matrix with given diagonals."""
    return _diagonals(sp.diags_array, diagonals, offsets, dtype, shape=shape, format=format)


def _of_blocks(make: Any, blocks: Any, form: Any, dtype: Any) -> Any:
    """What SciPy makes of nested lists of blocks, by the numbers of their entries."""
    parts: list[TracedSparse] = []

    def numbered(block: Any) -> Any:
        if isinstance(block, (list, tuple)) and not _is_row_of_numbers(block):
            return [numbered(b) for b in block]
        if isinstance(block, np.ndarray) and block.dtype == object:
            return [numbered(b) for b in block]
        if block is None:
            return None
        part = _as_entries(block).deduped()
        start = sum(p.nnz for p in parts)
        parts.append(part)
        n = part.numbered
        return type(n)(n, copy=True)._with_data(n.data + start)

    arranged = make(numbered(blocks), format="coo")
    entries = np.concatenate([p.entries for p in parts])
    face = next((p.face for p in parts if p.face is not None), None)
    return _arranged(entries, face, arranged, form, dtype)


def _is_row_of_numbers(block: Any) -> bool:
    return not any(
        b is None or is_sparse(b) or isinstance(b, (list, tuple, np.ndarray)) or np.ndim(b)
        for b in block
    )


def _as_entries(block: Any) -> TracedSparse:
    if is_sparse(block):
        return lifted(block)
    value, face = unboxed_entry(block)
    value = np.atleast_2d(value)
    return traced("coo", False, value if face is None else face.wrap(value))


@instead_of(sp.block_diag)
def block_diag(mats: Any, format: Any, dtype: Any) -> Any:
    """The blocks along the diagonal."""
    return _of_blocks(sp.block_diag, mats, format, dtype)


@instead_of(sp.vstack)
def vstack(blocks: Any, format: Any, dtype: Any) -> Any:
    """The blocks one below the other."""
    return _of_blocks(sp.vstack, blocks, format, dtype)


@instead_of(sp.hstack)
def hstack(blocks: Any, format: Any, dtype: Any) -> Any:
    """The blocks side by side."""
    return _of_blocks(sp.hstack, blocks, format, dtype)


@instead_of(sp.bmat)
def bmat(blocks: Any, format: Any, dtype: Any) -> Any:
    """The matrix of rows of blocks."""
    return _of_blocks(sp.bmat, blocks, format, dtype)


@instead_of(sp.block_array)
def block_array(blocks: Any, format: Any, dtype: Any) -> Any:
    """The matrix of rows of blocks."""
    return _of_blocks(sp.block_array, blocks, format, dtype)


@instead_of(sp.tril)
def tril(A: Any, k: int, format: Any) -> Any:
    """The entries on and below a diagonal."""
    a = _as_entries(A).deduped()
    return _arranged(a.entries, a.face, sp.tril(a.numbered, k), format, None)


@instead_of(sp.triu)
def triu(A: Any, k: int, format: Any) -> Any:
    """The entries on and above a diagonal."""
    a = _as_entries(A).deduped()
    return _arranged(a.entries, a.face, sp.triu(a.numbered, k), format, None)


# --- products ------------------------------------------------------------------------------------


@instead_of(sp.kron)
def kron(A: Any, B: Any, format: Any) -> Any:
    """The Kronecker product: every entry of A times every entry of B."""
    a, b = _as_entries(A), _as_entries(B)
    (i, j), (k, m) = ([np.asarray(c, np.int64) for c in x.coords] for x in (a, b))
    where = (np.add.outer(i * b.shape[0], k).ravel(), np.add.outer(j * b.shape[1], m).ravel())
    shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    coo = scipy_class("coo", a.is_matrix and b.is_matrix)
    entries = np.ravel(np.expand_dims(a.entries, 1) * b.entries)
    face = a.face if a.face is not None else b.face
    return TracedSparse(entries, coo((np.ones(a.nnz * b.nnz), where), shape=shape), face).asformat(
        format
    )


@instead_of(sp.kronsum)
def kronsum(A: Any, B: Any, format: Any) -> Any:
    """The Kronecker sum of two square matrices, I x A + B x I."""
    a, b = _as_entries(A), _as_entries(B)
    left = kron(sp.eye_array(b.shape[0]), a)
    return add(left, kron(b, sp.eye_array(a.shape[0]))).asformat(format)


# --- all else ------------------------------------------------------------------------------------


def issparse(x: Any) -> bool:
    """Whether x is a sparse matrix or array, with plain or traced entries."""
    return is_sparse(x)


def passed_on(original: Any, name: str, covered: Sequence[str]) -> Any:
    """A function of SciPy that has no rule: its matrices are adopted, traced arguments refused."""

    @functools.wraps(original)
    def entry(*args: Any, **kwargs: Any) -> Any:
        if any(map(_any_traced, (*args, *kwargs.values()))):
            raise missing_rule(name, covered)
        return adopted(original(*args, **kwargs))

    return entry
