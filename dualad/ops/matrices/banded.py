"""Banded systems. A band with u rows above the diagonal is stored as ab[u + i - j, j] = a[i, j].

What is outside the matrix in such an array is not read, and has no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.levels.spec import Spec
from ...engine.primitives.linear import Linear
from ..dropin import drop_in, operand
from ..products import conj
from .systems import hermitian
from .triangular import as_columns, cholesky

__all__ = [
    "cho_solve_banded",
    "cholesky_banded",
    "hermitian_of_band",
    "solve_banded",
    "solveh_banded",
]


# --- bands ---------------------------------------------------------------------------------------


def _diagonals(ab: Any, above: int) -> dict[int, Any]:
    """The diagonals of a banded matrix by their offset j - i, those that it has."""
    n = ab.shape[1]
    found = {}
    for row in range(ab.shape[0]):
        k = above - row
        if abs(k) < n:
            found[k] = ab[row, k:] if k >= 0 else ab[row, : n + k]
    return found


def _padded(diagonal: Any, k: int) -> Any:
    """A diagonal as a row of the array that stores the band."""
    filler = np.zeros(abs(k), diagonal.dtype)
    return np.concatenate([filler, diagonal] if k >= 0 else [diagonal, filler])


def _band(diagonals: dict[int, Any], below: int, above: int, n: int) -> Any:
    """The array that stores a band of these diagonals."""
    dtype = diagonals[0].dtype
    rows = [
        _padded(diagonals[k], k) if k in diagonals else np.zeros(n, dtype)
        for k in range(above, -below - 1, -1)
    ]
    return np.stack(rows)


def _adjoint(ab: Any, below: int, above: int) -> Any:
    """The band of the conjugate transpose, which has `above` rows below its diagonal."""
    moved = {-k: conj(d) for k, d in _diagonals(ab, above).items()}
    return _band(moved, above, below, ab.shape[1])


def _times(ab: Any, above: int, x: Any) -> Any:
    """The banded matrix times columns x."""
    total = None
    for k, d in _diagonals(ab, above).items():
        n = d.shape[0]
        term = np.reshape(d, (n, 1)) * (x[k:] if k >= 0 else x[:n])
        filler = np.zeros((abs(k), x.shape[1]), x.dtype)
        term = np.concatenate([term, filler] if k >= 0 else [filler, term])
        total = term if total is None else total + term
    return total


def _whole(ab: Any, above: int) -> Any:
    """The matrix itself."""
    return sum(np.diag(d, k) for k, d in _diagonals(ab, above).items())


def _hermitian_band(ab: Any, lower: bool) -> Any:
    """Both sides of a Hermitian band of which one is stored."""
    width = ab.shape[0] - 1
    one = _diagonals(ab, 0 if lower else width)
    other = {-k: conj(d) for k, d in one.items() if k}
    return _band({**one, **other, 0: _real_part(one[0])}, width, width, ab.shape[1])


def _real_part(d: Any) -> Any:
    return (d + conj(d)) / 2


def hermitian_of_band(ab: Any, lower: bool) -> Any:
    """The Hermitian matrix of which one side of the band is stored."""
    return hermitian(_whole(ab, 0 if lower else ab.shape[0] - 1), lower)


# --- systems -------------------------------------------------------------------------------------


def banded_solution(ab: Any, b: Any, below: int, above: int) -> Any:
    """The x of a banded system; its source is what a linear program prints."""
    from scipy.linalg import solve_banded

    return solve_banded((below, above), ab, b, check_finite=False)


def positive_banded_solution(ab: Any, b: Any, lower: bool) -> Any:
    """The x of a positive definite banded system."""
    from scipy.linalg import solveh_banded

    return solveh_banded(ab, b, lower=lower, check_finite=False)


_banded = Linear(
    banded_solution,
    None,
    lambda ct, ab, b, below, above: _banded(
        _adjoint(ab, below, above), ct, below=above, above=below
    ),
    rules=(
        lambda t, out, ab, b, below, above: (
            -_banded(ab, _times(t, above, out), below=below, above=above)
        ),
        None,
    ),
    spec=lambda ab, b, **_: Spec(b.shape, np.result_type(ab.dtype, b.dtype)),
    name="scipy.linalg.solve_banded",
)
_positive = Linear(
    positive_banded_solution,
    None,
    lambda ct, ab, b, lower: _positive(ab, ct, lower=lower),
    rules=(
        lambda t, out, ab, b, lower: (
            -_positive(ab, _times(_hermitian_band(t, lower), ab.shape[0] - 1, out), lower=lower)
        ),
        None,
    ),
    spec=lambda ab, b, lower: Spec(b.shape, np.result_type(ab.dtype, b.dtype)),
    name="scipy.linalg.solveh_banded",
)


def _columns_for(ab: Any, b: Any) -> tuple[Any, bool]:
    b, flat = as_columns(b)
    if ab.shape[-1] != b.shape[0]:
        raise ValueError("shapes of ab and b are not compatible.")
    return b, flat


@drop_in(sp.solve_banded, ab=2, b="1|2")
def solve_banded(l_and_u: Any, ab: Any, b: Any) -> Any:
    """scipy.linalg.solve_banded: linear in b, differentiable in the stored band."""
    below, above = map(int, l_and_u)
    ab = operand(ab)
    if below + above + 1 != ab.shape[0]:
        raise ValueError(
            f"invalid values for the number of lower and upper diagonals: l+u+1 "
            f"({below + above + 1}) does not equal ab.shape[0] ({ab.shape[0]})"
        )
    b, flat = _columns_for(ab, b)
    x = _banded(ab, b, below=below, above=above)
    return x[:, 0] if flat else x


@drop_in(sp.solveh_banded, ab=2, b="1|2")
def solveh_banded(ab: Any, b: Any, lower: bool = False) -> Any:
    """scipy.linalg.solveh_banded: a Hermitian positive definite matrix by one side of its band."""
    ab = operand(ab)
    b, flat = _columns_for(ab, b)
    x = _positive(ab, b, lower=bool(lower))
    return x[:, 0] if flat else x


# --- Cholesky ------------------------------------------------------------------------------------


@drop_in(sp.cholesky_banded, ab=2)
def cholesky_banded(ab: Any, lower: bool = False) -> Any:
    """scipy.linalg.cholesky_banded, through the whole matrix: n**2 numbers in memory.

    What is stored outside the matrix stays as it is, as in SciPy.
    """
    ab = operand(ab)
    factor = cholesky(hermitian_of_band(ab, lower), lower, check_finite=False)
    width, n = ab.shape[0] - 1, ab.shape[1]
    below, above = (width, 0) if lower else (0, width)
    inside = {k: np.ones(n - abs(k), ab.dtype) for k in range(-below, above + 1) if abs(k) < n}
    moved = {k: np.diagonal(factor, k) for k in inside}
    return _band(moved, below, above, n) + ab * (1 - _band(inside, below, above, n))


@drop_in(sp.cho_solve_banded)
def cho_solve_banded(cb_and_lower: Any, b: Any) -> Any:
    """scipy.linalg.cho_solve_banded: two triangular banded systems."""
    cb, lower = cb_and_lower
    cb, width = operand(cb), cb.shape[0] - 1
    b, flat = _columns_for(cb, b)
    sides = (width, 0) if lower else (0, width)
    other = _adjoint(cb, *sides)
    first, second = ((cb, sides), (other, sides[::-1]))[:: 1 if lower else -1]
    x = b
    for band, (below, above) in (first, second):
        x = _banded(band, x, below=below, above=above)
    return x[:, 0] if flat else x
