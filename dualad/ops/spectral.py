"""How the eigenvalues and eigenvectors of a Hermitian matrix move, as one linear map.

dw_j = v_j^H dA v_j and dv_j = (w_j - A)^+ dA v_j are the rows of one matrix, dw above dV, so that
the transpose sees the cotangents of both. The share of the eigenvalues is V diag(c) V^H, which is
Hermitian: half of it is computed. That of a few eigenvectors, as where the others are not used,
is of low rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..engine.arrays.memory import large_product, workspace, zeros
from ..engine.levels.spec import Spec
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from ..engine.primitives.shape import zeros_like
from . import lapack
from .gaps import (
    LEAST,
    columns_of_resolvent,
    diagonal_of_product,
    has_ties,
    resolvent,
    resolvent_in_values,
    resolvent_in_vectors,
    show_resolvent,
    used_columns,
)
from .hermitian import (
    folded_product,
    hermitian_product,
    show_folded_product,
    show_hermitian_product,
    with_half_diagonal,
)
from .products import conj

__all__ = ["joined", "spectral_move"]


#: No column is used.
NONE = np.empty(0, np.intp)


# --- values --------------------------------------------------------------------------------------


def _move(t: Any, v: Any, w: Any, lower: bool) -> Any:
    if _is_plain(t, v, w) and not has_ties(w):
        return _move_of_one(t, v, w, lower)
    moved = hermitian_product(t, v, lower=lower)
    vectors = resolvent(v, w, moved)
    out = workspace((*vectors.shape[:-2], vectors.shape[-2] + 1, vectors.shape[-1]), vectors.dtype)
    out[..., 0, :] = diagonal_of_product(conj(v), moved)
    out[..., 1:, :] = vectors
    return out


def _is_plain(t: Any, v: Any, w: Any) -> bool:
    """Whether it is one large real matrix."""
    return (
        type(t) is type(v) is type(w) is np.ndarray and w.ndim == 1 and w.size >= LEAST
        and w.dtype == np.float64 and lapack.has_symmetric_products(t, v)
    )  # fmt: skip


def _move_of_one(t: np.ndarray, v: np.ndarray, w: np.ndarray, lower: bool) -> np.ndarray:
    """The same for one matrix, in the memory of few: V^T dA V has both in it."""
    moved, out = lapack.symmetric_product(t, v, lower), workspace((w.size + 1, w.size), w.dtype)
    inner = large_product(v.T, moved)
    out[0] = inner.diagonal()
    gaps = np.subtract(w, w[:, None], out=moved)
    np.einsum("ii->i", gaps)[...] = np.inf
    np.divide(inner, gaps, out=inner)
    np.matmul(v, inner, out=out[1:])
    return out


def _cotangent(ct: Any, v: Any, w: Any, lower: bool) -> Any:
    values, vectors = ct if type(ct) is tuple else (ct[..., 0, :], ct[..., 1:, :])
    if _is_large(values, vectors, v, w):
        used = NONE if vectors is None else used_columns(vectors, w)
        if used is not None:
            return _of_few(values, vectors, used, v, w, lower)
    moved = v * values[..., None, :]
    moved = moved if vectors is None else moved + resolvent(v, w, vectors)
    return folded_product(moved, v, lower=lower)


def _is_large(values: Any, vectors: Any, v: Any, w: Any) -> bool:
    """Whether it is one large real matrix; cotangents of vectors that are None are zero."""
    return (
        len(w.shape) == 1 and w.size >= LEAST and lapack.has_symmetric_products(v)
        and values.dtype == v.dtype
        and (vectors is None or (vectors.ndim == 2 and vectors.dtype == v.dtype))
    )  # fmt: skip


def joined(cotangents: list, out: tuple) -> Any:
    """The cotangent of a move from those of values and vectors; None is zero.

    Those of arrays are only put together, not into one array.
    """
    values, vectors = cotangents
    values = zeros_like(out[0]) if values is None else values
    if all(type(x) is np.ndarray for x in (values, *out)):
        if vectors is None or type(vectors) is np.ndarray:
            return values, vectors
    return _stacked(values, zeros_like(out[1]) if vectors is None else vectors)


def _of_few(
    values: np.ndarray, vectors: np.ndarray, used: np.ndarray, v: np.ndarray, w: np.ndarray,
    lower: bool,
) -> np.ndarray:  # fmt: skip
    """One triangle of 2 V diag(c) V^T, by the root of c, and of what few eigenvectors add."""
    out = zeros(v.shape, v.dtype)
    keep = 0.0
    for times, part in _scaled(v, values):
        lapack.add_square(out, part, lower, times, keep)
        keep = 1.0
    if used.size:
        few = np.ascontiguousarray(v[:, used])
        moves = columns_of_resolvent(v, w, vectors, used)
        lapack.add_product_and_transpose(out, moves, few, lower, keep)
    return with_half_diagonal(out)


def _scaled(v: np.ndarray, c: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
    """Pairs (s, X), of whose s X X^T the sum is 2 V diag(c) V^T; columns of zeros are left out."""
    scaled = np.multiply(v, np.sqrt(np.abs(c)), out=workspace(v.shape, v.dtype))
    if np.minimum.reduce(c) > 0:
        yield 2.0, scaled
        return
    falls = c < 0
    for times, mine in ((2.0, (c != 0) & ~falls), (-2.0, falls)):
        if mine.any():
            yield times, scaled if mine.all() else np.ascontiguousarray(scaled[:, mine])


# --- the primitives ------------------------------------------------------------------------------


def _before(ct: Any, v: Any, w: Any) -> Any:
    """The cotangent of A V."""
    return v * ct[..., :1, :] + resolvent(v, w, ct[..., 1:, :])


def _stacked(values: Any, vectors: Any) -> Any:
    return np.concatenate([values[..., None, :], vectors], -2)


def _move_in_vectors(t: Any, out: Any, m: Any, v: Any, w: Any, lower: bool) -> Any:
    moved, by_t = hermitian_product(m, v, lower=lower), hermitian_product(m, t, lower=lower)
    values = diagonal_of_product(conj(t), moved) + diagonal_of_product(conj(v), by_t)
    return _stacked(values, resolvent_in_vectors(t, v, w, moved) + resolvent(v, w, by_t))


def _move_in_values(t: Any, out: Any, m: Any, v: Any, w: Any, lower: bool) -> Any:
    vectors = resolvent_in_values(t, v, w, hermitian_product(m, v, lower=lower))
    return _stacked(0 * vectors[..., 0, :], vectors)


def _cotangent_in_vectors(t: Any, out: Any, ct: Any, v: Any, w: Any, lower: bool) -> Any:
    moved = t * ct[..., :1, :] + resolvent_in_vectors(t, v, w, ct[..., 1:, :])
    return folded_product(moved, v, lower=lower) + folded_product(
        _before(ct, v, w), t, lower=lower
    )


def _cotangent_in_values(t: Any, out: Any, ct: Any, v: Any, w: Any, lower: bool) -> Any:
    return folded_product(resolvent_in_values(t, v, w, ct[..., 1:, :]), v, lower=lower)


def _batched(primitive: Any, args: tuple, mine: tuple[bool, ...], lower: bool) -> Any:
    """Of stacks; w has one axis fewer than the others."""
    t, v, w = args
    t, v, rows = align((t, v, w[..., None, :]), mine)
    return primitive(t, v, rows[..., 0, :], lower=lower)


def _spec(rows: int) -> Any:
    def spec(t: Any, v: Any, w: Any, lower: bool) -> Spec:
        stack, n = np.broadcast_shapes(t.shape[:-2], v.shape[:-2]), v.shape[-1]
        return Spec((*stack, n + rows, n), np.result_type(t.dtype, v.dtype))

    return spec


def _show_move(t: str, v: str, w: str, lower: str) -> str:
    moved = f"({show_hermitian_product(t, v, lower)})"
    values = f"np.sum(np.conj({v}) * {moved}, axis=-2)"
    return f"np.concatenate([{values}[..., None, :], {show_resolvent(v, w, moved)}], -2)"


def _show_cotangent(ct: str, v: str, w: str, lower: str) -> str:
    vectors = show_resolvent(v, w, f"{ct}[..., 1:, :]")
    return show_folded_product(f"({v} * {ct}[..., :1, :] + {vectors})", v, lower)


#: How eigenvalues, in the first row, and eigenvectors move as one triangle of the matrix does.
spectral_move = Linear(
    _move,
    lambda ct, t, v, w, lower: spectral_cotangent(ct, v, w, lower=lower),
    None,
    None,
    rules=(None, _move_in_vectors, _move_in_values),
    batch=lambda args, mine, lower: _batched(spectral_move, args, mine, lower),
    spec=_spec(1),
    show=_show_move,
    name="spectral_move",
)
spectral_cotangent = Linear(
    _cotangent,
    lambda c, ct, v, w, lower: spectral_move(c, v, w, lower=lower),
    None,
    None,
    rules=(None, _cotangent_in_vectors, _cotangent_in_values),
    batch=lambda args, mine, lower: _batched(spectral_cotangent, args, mine, lower),
    spec=_spec(0),
    show=_show_cotangent,
    name="spectral_cotangent",
)
