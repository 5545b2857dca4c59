"""Hermitian matrices of which one triangle is read, as LAPACK reads it.

Two linear maps, each the transpose of the other: a triangle to the Hermitian matrix that it stands
for, and a matrix to the triangle that its Hermitian part folds into. The other triangle is not
read in the one and zero in the other, whatever it held. And two products of which they are a part,
so that neither matrix has to be made whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.arrays.memory import copied, zeros
from ..engine.levels.spec import Spec
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from . import lapack
from .linalg import above, adjoint, clear_above, half_triangle

__all__ = [
    "folded",
    "folded_product",
    "halved",
    "hermitian",
    "hermitian_product",
    "show_folded_product",
    "show_hermitian_product",
    "with_half_diagonal",
]


def _hermitian(t: Any, lower: bool) -> Any:
    if not _is_plain(t):
        half = t * half_triangle(t, lower)
        return half + adjoint(half)
    out = copied(t)
    np.copyto(out, adjoint(t), where=_other_triangle(t, lower))
    if t.dtype.kind == "c":
        _diagonal(out).imag = 0
    return out


def _folded(t: Any, lower: bool) -> Any:
    if not _is_plain(t):
        return (t + adjoint(t)) * half_triangle(t, lower)
    out = copied(adjoint(t))
    out += t
    clear_above(out if lower else out.swapaxes(-1, -2))
    return with_half_diagonal(out)


def _halved(t: Any, lower: bool) -> Any:
    half = t * half_triangle(t, lower)
    if _is_plain(t):
        np.copyto(half, 0, where=_other_triangle(t, lower))  # whatever it held
    return half


def with_half_diagonal(x: np.ndarray) -> np.ndarray:
    """The matrix, of whose diagonal half is left."""
    if x.ndim == 2 and x.flags.c_contiguous:
        x.reshape(-1)[:: len(x) + 1] *= 0.5
    else:
        _diagonal(x)[...] *= 0.5
    return x


def _is_plain(t: Any) -> bool:
    return type(t) is np.ndarray and t.dtype.kind in "fc"


def _other_triangle(t: Any, lower: bool) -> np.ndarray:
    mask = above(t.shape[-1])
    return mask if lower else mask.T


def _diagonal(x: np.ndarray) -> np.ndarray:
    """The diagonal of each matrix, to be written to."""
    return np.einsum("...ii->...i", x)


def _twice_the_triangle(x: str, lower: bool) -> str:
    return f"(np.tril({x}) + np.tril({x}, -1))" if lower else f"(np.triu({x}) + np.triu({x}, 1))"


def _plus_adjoint(x: str) -> str:
    return f"({x} + np.conj(np.swapaxes({x}, -1, -2)))"


def _show_hermitian(x: str, lower: str) -> str:
    return _plus_adjoint(_twice_the_triangle(x, lower == "True")) + " / 2"


def _show_folded(x: str, lower: str) -> str:
    return _twice_the_triangle(_plus_adjoint(x), lower == "True") + " / 2"


#: One triangle of t with half of its diagonal, which is its own transpose.
halved = Linear(
    _halved,
    lambda ct, t, lower: halved(ct, lower=lower),
    batch=lambda args, mine, lower: halved(args[0], lower=lower),
    spec=lambda t, lower: Spec(t.shape, t.dtype),
    show=lambda t, lower: f"{_twice_the_triangle(t, lower == 'True')} / 2",
    name="halved",
)
#: The Hermitian matrix of which t holds one triangle.
hermitian = Linear(
    _hermitian,
    lambda ct, t, lower: folded(ct, lower=lower),
    batch=lambda args, mine, lower: hermitian(args[0], lower=lower),
    spec=lambda t, lower: Spec(t.shape, t.dtype),
    show=_show_hermitian,
    name="hermitian",
)
#: One triangle of t + t^H, with half of the diagonal.
folded = Linear(
    _folded,
    lambda ct, t, lower: hermitian(ct, lower=lower),
    batch=lambda args, mine, lower: folded(args[0], lower=lower),
    spec=lambda t, lower: Spec(t.shape, t.dtype),
    show=_show_folded,
    name="folded",
)


# --- products ------------------------------------------------------------------------------------


def _hermitian_product(t: Any, x: Any, lower: bool) -> Any:
    if _is_plain(t) and _is_plain(x) and lapack.has_symmetric_products(t, x):
        return lapack.symmetric_product(t, x, lower)
    return np.matmul(_hermitian(t, lower), x)


def _folded_product(a: Any, b: Any, lower: bool) -> Any:
    if _is_plain(a) and _is_plain(b) and lapack.has_symmetric_products(a, b):
        out = zeros((a.shape[0], a.shape[0]), a.dtype)
        lapack.add_product_and_transpose(out, a, b, lower, keep=0.0)
        return with_half_diagonal(out)
    return _folded(np.matmul(a, adjoint(b)), lower)


def _product_spec(t: Any, x: Any, lower: bool) -> Spec:
    stack = np.broadcast_shapes(t.shape[:-2], x.shape[:-2])
    return Spec((*stack, *x.shape[-2:]), np.result_type(t.dtype, x.dtype))


def _folded_spec(a: Any, b: Any, lower: bool) -> Spec:
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return Spec((*stack, a.shape[-2], a.shape[-2]), np.result_type(a.dtype, b.dtype))


def show_hermitian_product(t: str, x: str, lower: str) -> str:
    """The product as an expression of NumPy."""
    return f"({_show_hermitian(t, lower)}) @ {x}"


def show_folded_product(a: str, b: str, lower: str) -> str:
    """The triangle of a product as an expression of NumPy."""
    return _show_folded(f"({a} @ np.conj(np.swapaxes({b}, -1, -2)))", lower)


#: hermitian(t) @ x
hermitian_product = Linear(
    _hermitian_product,
    lambda ct, t, x, lower: folded_product(ct, x, lower=lower),
    lambda ct, t, x, lower: hermitian_product(t, ct, lower=lower),
    batch=lambda args, mine, lower: hermitian_product(*align(args, mine), lower=lower),
    spec=_product_spec,
    show=show_hermitian_product,
    name="hermitian_product",
)
#: folded(a @ b^H)
folded_product = Linear(
    _folded_product,
    lambda ct, a, b, lower: hermitian_product(ct, b, lower=lower),
    lambda ct, a, b, lower: hermitian_product(ct, a, lower=lower),
    batch=lambda args, mine, lower: folded_product(*align(args, mine), lower=lower),
    spec=_folded_spec,
    show=show_folded_product,
    name="folded_product",
)
