"""Hermitian matrices of which one triangle is read, as LAPACK reads it.

Two linear maps, each the transpose of the other: a triangle to the Hermitian matrix that it stands
for, and a matrix to the triangle that its Hermitian part folds into. The other triangle is not
read in the one and zero in the other, whatever it held.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.memory import copied
from ..engine.primitive import Linear
from ..engine.traced import Spec
from .linalg import above, adjoint, half_triangle

__all__ = ["folded", "hermitian"]


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
    np.copyto(out, 0, where=_other_triangle(t, lower))
    _diagonal(out)[...] *= 0.5
    return out


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


#: The Hermitian matrix of which t holds one triangle.
hermitian = Linear(
    _hermitian,
    lambda ct, t, lower: folded(ct, lower=lower),
    batch=lambda args, mine, lower: hermitian(args[0], lower=lower),
    spec=lambda t, lower: Spec(t.shape, t.dtype),
    show=lambda t, lower: _plus_adjoint(_twice_the_triangle(t, lower == "True")) + " / 2",
    name="hermitian",
)
#: One triangle of t + t^H, with half of the diagonal.
folded = Linear(
    _folded,
    lambda ct, t, lower: hermitian(ct, lower=lower),
    batch=lambda args, mine, lower: folded(args[0], lower=lower),
    spec=lambda t, lower: Spec(t.shape, t.dtype),
    show=lambda t, lower: _twice_the_triangle(_plus_adjoint(t), lower == "True") + " / 2",
    name="folded",
)
