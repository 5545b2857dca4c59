"""Eigenvalues and eigenvectors: eigh, eig, and their values alone.

dw_i = v_i^H dA v_i and dV = V (F * V^-1 dA V), F_ij = 1 / (w_j - w_i) (Giles, 2008, section 3.1;
Magnus and Neudecker, section 9.8).

**What is not unique.** An eigenvector has a free factor: V^H dV has a zero diagonal for eigh; eig
keeps NumPy's, which is length 1 and a fixed phase of the largest component. What does not depend
on such factors (projectors, moduli, functions of the matrix) has the one right derivative.

**Repeated eigenvalues.** Where w_i = w_j within rounding F_ij is 0, and derivatives are finite.
The first derivative is exact along directions dA for which V^H dA V is diagonal on the repeated
eigenvalues, and along all directions for what the eigenspace alone decides: symmetric functions
of repeated eigenvalues, and the projector V_r V_r^H on their space. eigh chooses V so that the
direction is diagonal wherever it is known while the function runs, which is in forward mode.
There all smooth functions, such as (V * f(w)) @ V^H, have their exact derivative, and each
eigenvalue has its one-sided one. Reverse mode knows no direction: where the answer depends on it,
grad and vjp take forward mode for the whole function, and DirectionNeededError says so where that
cannot be had. The same holds for eig, except that a direction may split repeated eigenvalues with
infinite speed, or into a complex pair of a real matrix. Their eigenvectors have no derivative
then, which is an error; eigvals has the derivative of the symmetric functions still.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.kinds.direction import constant, direction
from ..engine.levels.spec import Spec
from ..engine.levels.traced import raw
from ..engine.primitives.chain import Cases, Chain, Link
from ..engine.primitives.composite import Composite
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from ..errors import DirectionNeededError, SingularPointError
from .complexes import imag, real
from .gaps import has_ties, inverse_gaps, ties
from .getitem import getitem
from .hermitian import hermitian, hermitian_product
from .keys import FULL
from .linalg import adjoint, diagonal_of, real_dtype, square
from .products import conj
from .registry import function
from .shared import eigh_of
from .spectral import joined, spectral_move
from .structure import sum_axes

__all__ = [
    "adapted",
    "direction_at_ties",
    "eig",
    "eig_given",
    "eigh",
    "smooth_eig",
    "turned",
]

EighResult = type(np.linalg.eigh(np.eye(1)))
EigResult = type(np.linalg.eig(np.eye(1)))


# --- ties ----------------------------------------------------------------------------------------


UNDECIDED = (
    "the eigenvectors or singular vectors of repeated values move in a way that depends on the "
    "direction, which is known in first-order forward mode only: use dualad.jvp or dualad.jacfwd "
    "at this point, or write the function without eigenvectors"
)


def off_ties(m: Any, tied: Any) -> Any:
    """Zeros: what m says of tied pairs does not move vectors that are adapted to it."""
    size = np.abs(m)
    apart = np.where(tied & ~np.eye(m.shape[-1], dtype=bool), size, 0)
    if np.any(apart > 1e-6 * np.max(size, axis=(-2, -1), initial=0, keepdims=True)):
        raise DirectionNeededError(UNDECIDED)
    return np.zeros(np.broadcast_shapes(m.shape, tied.shape), m.dtype)


def _from_ties(ct: Any, m: Any, tied: Any) -> Any:
    """Reverse mode cannot tell how vectors that are not adapted enter the result.

    The cotangent of the vectors does not say: it is zero for (V * f(w)) @ V^H where f(w) = 0, and
    the derivative still has entries between tied pairs, f'(w) times those of V^H dA V.
    """
    if np.any(raw(tied) & ~np.eye(m.shape[-1], dtype=bool)):
        raise DirectionNeededError(UNDECIDED)
    return decided(ct, tied)


def deciding(off: Any, name: str) -> Linear:
    """`off` of a matrix and its tied pairs, which are refused in the transpose."""
    primitive = Linear(
        off,
        _from_ties,
        None,
        batch=lambda args, mine: primitive(*align(args, mine)),
        spec=lambda m, tied: Spec(np.broadcast_shapes(m.shape, tied.shape), m.dtype),
        show=lambda m, tied: f"0 * {m}",
        name=name,
    )
    return primitive


#: What moves vectors between tied pairs: nothing in forward mode, where they are adapted.
decided = deciding(off_ties, "decided_at_ties")


def turned(m: Any, w: Any, gaps: Any) -> Any:
    """V^-1 dV from V^-1 dA V: divided by the gaps; refused where ties leave it undecided."""
    return gaps * m + decided(m, ties(w)) if has_ties(w) else gaps * m


def direction_at_ties(a: Any, w: Any) -> Any:
    """The direction of a, where it is known and its sorted values w have ties; else None."""
    moves = direction(a)
    if moves is None or not has_ties(w):
        return None
    return moves if np.all(np.isfinite(raw(moves))) else None


def adapted(m: Any, tied: Any) -> Any:
    """The unitary change of basis, within each set of tied values, that makes m diagonal there."""
    n = m.shape[-1]
    size = np.max(np.sum(np.abs(m), axis=-1), axis=-1)
    apart = np.where(size == 0, 1, 3 * size)[..., None]
    earlier = np.tri(n, k=-1, dtype=bool)
    place = np.sum(np.where(tied, False, earlier) * np.ones((), real_dtype(m)), axis=-1)
    blocks = np.where(tied, m, 0) + (place * apart)[..., None] * np.eye(n, dtype=place.dtype)
    return eigh(blocks, lower=True)[1]


# --- Hermitian matrices --------------------------------------------------------------------------


def _values_and_vectors(both: Any) -> tuple:
    """The rows of a spectral move: those of complex matrices are real in the values."""
    stack = (FULL,) * (len(both.shape) - 2)
    values = getitem(both, index=(*stack, 0, FULL))
    vectors = getitem(both, index=(*stack, slice(1, None), FULL))
    return real(values) if np.dtype(both.dtype).kind == "c" else values, vectors


#: dw_j = v_j^H dA v_j and dv_j = (w_j - A)^+ dA v_j.
_moves = Chain(
    Link(spectral_move, 0, lambda out, *_: out[::-1], keywords=dict),
    split=_values_and_vectors,
    join=joined,
)


def _moves_at_ties(t: Any, out: tuple, a: Any, *args: Any, lower: bool) -> tuple:
    (w, v), moved = out, hermitian_product(t, out[1], lower=lower)
    values, vectors = _moves(t, out, a, *args, lower=lower)
    return values, vectors + v @ decided(adjoint(v) @ moved, ties(w))


_eigh_rule = Cases(lambda out, *_, lower: _moves_at_ties if has_ties(out[0]) else _moves)
eigh = Composite(
    eigh_of,
    _eigh_rule,
    reads="out",
    batch=lambda args, mine, lower: eigh(args[0], lower=lower),
    name="eigh",
)
#: eigh with a decomposition that is given, because it is one of several.
_eigh_given = Composite(
    lambda a, w, v, lower: (w, v),
    _eigh_rule,
    None,
    None,
    reads="out",
    batch=lambda args, mine, lower: _eigh_given(*args, lower=lower),
    name="eigh_given",
    builtin=False,
)


def _smooth_eigh(a: Any, lower: bool) -> tuple:
    """The decomposition, with eigenvectors that move smoothly where the direction is known."""
    w, v = eigh(constant(a), lower=lower)
    moves = direction_at_ties(a, w)
    if moves is not None:
        v = v @ adapted(adjoint(v) @ hermitian(moves, lower=lower) @ v, ties(w))
        w = w + 0 * np.real(v[..., 0, :])
    return _eigh_given(a, w, v, lower=lower)


def _reads_lower(uplo: str) -> bool:
    if uplo.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return uplo.upper() == "L"


@function(np.linalg.eigh)
def np_eigh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues and eigenvectors of a Hermitian matrix; see this module for what is not unique.

    NumPy reads one triangle of a, and the derivative is that of this function: the gradient has
    entries in that triangle only, which count for both. Write eigh((a + a.T) / 2) for a symmetric
    gradient. Along symmetric directions both agree.
    """
    square(a)
    return EighResult(*_smooth_eigh(a, _reads_lower(UPLO)))


@function(np.linalg.eigvalsh)
def np_eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of a Hermitian matrix, from the decomposition that derivatives need."""
    square(a)
    return _smooth_eigh(a, _reads_lower(UPLO))[0]


# --- general matrices ----------------------------------------------------------------------------


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
    """Eigenvalues and eigenvectors of a square matrix; see this module for what is not unique.

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
