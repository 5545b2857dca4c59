"""Eigenvalues and eigenvectors: what of them is unique, and those of Hermitian matrices.

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
from ..engine.primitives.chain import Cases, Chain, Link
from ..engine.primitives.composite import Composite
from .complexes import real
from .decided import decided, direction_at_ties
from .gaps import has_ties, ties
from .getitem import getitem
from .hermitian import hermitian, hermitian_product
from .keys import FULL
from .linalg import adjoint, real_dtype, square
from .registry import function
from .shared import eigh_of
from .spectral import joined, spectral_move

__all__ = ["adapted", "eigh"]

EighResult = type(np.linalg.eigh(np.eye(1)))


def adapted(m: Any, tied: Any) -> Any:
    """The unitary change of basis, within each set of tied values, that makes m diagonal there."""
    n = m.shape[-1]
    size = np.max(np.sum(np.abs(m), axis=-1), axis=-1)
    apart = np.where(size == 0, 1, 3 * size)[..., None]
    earlier = np.tri(n, k=-1, dtype=bool)
    place = np.sum(np.where(tied, False, earlier) * np.ones((), real_dtype(m)), axis=-1)
    blocks = np.where(tied, m, 0) + (place * apart)[..., None] * np.eye(n, dtype=place.dtype)
    return eigh(blocks, lower=True)[1]


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
    if direction(a) is None:
        return eigh(a, lower=lower)
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
