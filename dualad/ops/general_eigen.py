"""Eigenvalues and eigenvectors of general matrices: eig, and its values alone.

What of them is unique, and what holds where eigenvalues are repeated, is said in `eigen`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.kinds.direction import constant, direction
from ..engine.levels.traced import raw
from ..engine.primitives.composite import Composite
from ..engine.primitives.primitive import align
from ..errors import DirectionNeededError, SingularPointError
from .complexes import imag, real
from .decided import deciding, off_ties
from .gaps import inverse_gaps, ties
from .linalg import diagonal_of, square
from .products import conj
from .registry import function
from .structure import sum_axes

__all__ = ["eig", "eig_given", "smooth_eig"]

EigResult = type(np.linalg.eig(np.eye(1)))

DEFECTIVE = (
    "np.linalg.eig has no derivative here: the matrix is defective (it has no basis of "
    "eigenvectors), and its eigenvalues move with infinite speed. Differentiate a smooth function "
    "of the matrix instead (np.trace, np.linalg.det, its powers)."
)


def _left_inverse(v: Any) -> Any:
    """V^-1, whose rows are the left eigenvectors."""
    try:
        inverse = np.linalg.inv(v)
    except np.linalg.LinAlgError as error:
        raise SingularPointError(DEFECTIVE) from error
    if np.max(np.abs(raw(inverse)), initial=0) * np.finfo(v.dtype).eps > 1e-2:
        raise SingularPointError(DEFECTIVE)
    return inverse


def _normalised(dv: Any, v: Any) -> Any:
    """dV, to which each v_i is added in the share that keeps its length and its phase."""
    if np.dtype(v.dtype).kind != "c":
        return dv - v * sum_axes(v * dv, axes=(v.ndim - 2,))[..., None, :]
    size = np.abs(constant(v))
    largest = np.argmax(size, axis=-2)[..., None, :] == np.arange(v.shape[-2])[:, None]
    along = sum_axes(conj(v) * dv, axes=(v.ndim - 2,))
    pivot = sum_axes(np.where(largest, v, 0), axes=(v.ndim - 2,))
    turn = imag(sum_axes(np.where(largest, conj(v), 0) * dv, axes=(v.ndim - 2,)))
    turn = turn / real(pivot * conj(pivot))
    return dv - v * (real(along) + 1j * turn)[..., None, :]


SPLIT = (
    "np.linalg.eig has no derivative here: eigenvalues are repeated, and along this direction "
    "their eigenvectors do not move smoothly. Use np.linalg.eigvals where only eigenvalues are "
    "needed, np.linalg.eigh for symmetric matrices, or a function of the matrix itself "
    "(np.linalg.matrix_power, dualad.scipy.linalg.expm, logm, sqrtm)."
)


def _repeated(w: Any) -> bool:
    """Whether two values, which are in no order, are equal within rounding."""
    return bool(np.any(raw(ties(w)) & ~np.eye(w.shape[-1], dtype=bool)))


def _off_split(m: Any, tied: Any) -> Any:
    """Zeros, as off_ties; what m says of tied pairs is an error that names eig."""
    try:
        return off_ties(m, tied)
    except DirectionNeededError as error:
        raise SingularPointError(SPLIT) from error


#: What moves eigenvectors of a general matrix between tied pairs, as `decided`.
_decided_general = deciding(_off_split, "decided_at_ties_of_eig")


def _eig_rule(t: Any, out: tuple, a: Any, *given: Any, vectors: bool = True) -> tuple:
    w, v = out
    repeated = _repeated(w)
    if repeated and not vectors:
        # Only the values are used, but their second derivative depends on how the vectors move.
        w, v = eig_given(a, constant(w), constant(v), vectors=True)
    m = _left_inverse(v) @ t @ v
    values = diagonal_of(m)
    if repeated and not vectors:
        return values, None
    inner = inverse_gaps(w) * m
    if repeated:
        inner = inner + _decided_general(m, ties(w))
    return values, _normalised(v @ inner, v)


eig = Composite(
    lambda a: tuple(np.linalg.eig(a)),
    _eig_rule,
    batch=lambda args, mine: eig(args[0]),
    name="eig",
)
#: eig with a decomposition that is given; of which only the values are used, unless `vectors`.
eig_given = Composite(
    lambda a, w, v, vectors: (w, v),
    _eig_rule,
    None,
    None,
    batch=lambda args, mine, vectors: eig_given(*args, vectors=vectors),
    name="eig_given",
    builtin=False,
)


def _split(v: Any, m: Any, tied: Any) -> Any:
    """The eigenvectors v, changed within repeated eigenvalues so that m is diagonal there.

    They stay as they are where there is no such basis, or only a complex one of a real matrix.
    """
    v, m, tied = map(np.array, np.broadcast_arrays(v, m, tied))
    for k in np.ndindex(*v.shape[:-2]):
        for row in range(v.shape[-1]):
            group = np.flatnonzero(tied[k][row])
            if group[0] == row and len(group) > 1:
                block = m[k][np.ix_(group, group)]
                basis = np.linalg.eig(block)[1]
                regular = np.linalg.cond(basis) * np.finfo(basis.dtype).eps < 1e-8
                if regular and (v.dtype.kind == "c" or basis.dtype.kind != "c"):
                    columns = v[k][:, group] @ basis
                    v[k][:, group] = columns / np.linalg.norm(columns, axis=0)
    return v


#: A change of basis, at values that are known.
_adapted_general = Composite(
    _split,
    None,
    None,
    None,
    batch=lambda args, mine: _adapted_general(*align(args, mine)),
    name="adapted_eigenvectors",
    builtin=False,
)


def smooth_eig(a: Any, w: Any, v: Any, vectors: bool = True) -> tuple:
    """The decomposition (w, v) of a with its derivative, adapted to a direction that is known."""
    moves = direction(a) if vectors and _repeated(w) else None
    if moves is not None and np.all(np.isfinite(raw(moves))):
        v = _adapted_general(v, _left_inverse(v) @ moves @ v, ties(w))
        w = w + 0 * np.real(v[..., 0, :])
    return eig_given(a, w, v, vectors=vectors)


@function(np.linalg.eig)
def np_eig(a: Any) -> Any:
    """Eigenvalues and eigenvectors of a square matrix; see `eigen` for what is not unique.

    Raises SingularPointError where a derivative is taken at a defective matrix, or of eigenvectors
    of repeated eigenvalues along a direction in which they do not move smoothly.
    """
    square(a)
    w, v = eig(constant(a))
    return EigResult(*smooth_eig(a, w, v))


@function(np.linalg.eigvals)
def np_eigvals(a: Any) -> Any:
    """The eigenvalues of a square matrix, from the decomposition that derivatives need."""
    square(a)
    w, v = eig(constant(a))
    return smooth_eig(a, w, v, vectors=False)[0]
