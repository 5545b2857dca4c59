"""Eigenvalues and eigenvectors of general matrices, by SciPy's names.

The decomposition is SciPy's; its derivative is that of `ops.eigen`, where is said what of it is
not unique. The generalised problem is reduced to the ordinary one of b^-1 a.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.kinds.direction import constant
from ...engine.primitives.primitive import Opaque
from ...errors import NotDifferentiableError
from ..dropin import drop_in, matrix
from ..general_eigen import smooth_eig
from ..linalg import adjoint
from ..products import conj
from ..solve import inverse_for
from ..structure import sum_axes

__all__ = ["eig", "eigvals"]


def _plain_eig(a: Any, *b: Any, left: bool) -> tuple:
    """Eigenvalues, right and left eigenvectors."""
    w, *vectors = sp.eig(a, *b, left=left, right=True, check_finite=False)
    return (w, vectors[-1], vectors[0] if left else vectors[-1])


_general = Opaque(_plain_eig, name="scipy.linalg.eig", builtin=False)


def _left_vectors(v: Any, like: Any) -> Any:
    """The rows of V^-1 as unit vectors; the phase of the largest component is SciPy's."""
    rows = adjoint(inverse_for(v, "scipy.linalg.eig of a matrix without a basis of eigenvectors"))
    rows = rows / np.sqrt(sum_axes(np.real(rows * conj(rows)), axes=(0,)))
    size = np.abs(like)
    at = np.argmax(size, axis=0)[None, :] == np.arange(like.shape[0])[:, None]
    pivot = sum_axes(np.where(at, rows, 0), axes=(0,))
    wanted = np.sum(np.where(at, like / np.where(size == 0, 1, size), 0), axis=0)
    return rows * (wanted * conj(pivot) / np.abs(pivot))


def _eig(a: Any, b: Any, left: bool, homogeneous: bool, vectors: bool = True) -> tuple:
    a = matrix(a)
    given = (constant(a),) if b is None else (constant(a), constant(matrix(b, "b")))
    w, v, like = _general(*given, left=left)
    if b is not None:
        if homogeneous or left:
            what = "homogeneous_eigvals" if homogeneous else "left"
            raise NotDifferentiableError(
                f"scipy.linalg.eig of two matrices with {what}=True has no derivative rule: take "
                f"the eigenvalues as numbers, and for left eigenvectors the right ones of the "
                f"adjoint matrices."
            )
        inverse_for(b, "scipy.linalg.eig with a singular b")
        a = np.linalg.solve(matrix(b, "b"), a)
    w, v = smooth_eig(a, w, v, vectors)
    return w, v, _left_vectors(v, like) if left else None


@drop_in(sp.eig, a=2, b=2)
def eig(
    a: Any,
    b: Any = None,
    left: bool = False,
    right: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    """scipy.linalg.eig, generalised too where b is regular.

    Raises SingularPointError where a derivative is taken at a defective matrix.
    """
    w, v, rows = _eig(a, b, left, homogeneous_eigvals, left or right)
    if homogeneous_eigvals:
        w = np.stack([w, np.ones(w.shape, w.dtype)])
    chosen = [w, *([rows] if left else []), *([v] if right else [])]
    return tuple(chosen) if len(chosen) > 1 else w


@drop_in(sp.eigvals, a=2, b=2)
def eigvals(a: Any, b: Any = None, homogeneous_eigvals: bool = False) -> Any:
    """scipy.linalg.eigvals, from the decomposition that derivatives need."""
    return eig(a, b, False, False, homogeneous_eigvals=homogeneous_eigvals, check_finite=False)
