"""Eigenvalues and eigenvectors of Hermitian matrices, by SciPy's names.

The decomposition is SciPy's, with its drivers and signs; its derivative is that of `ops.eigen`,
where is said what of it is not unique. The generalised problem is reduced to an ordinary one by
the Cholesky factor of b.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.kinds.direction import constant
from ...engine.levels.traced import raw
from ...engine.primitives.primitive import Opaque
from ..decided import direction_at_ties
from ..dropin import drop_in, matrix, operand
from ..eigen import _eigh_given, adapted
from ..gaps import ties
from ..linalg import adjoint
from .banded import hermitian_of_band
from .systems import hermitian
from .triangular import solve_triangular

__all__ = [
    "eig_banded",
    "eigh",
    "eigh_tridiagonal",
    "eigvals_banded",
    "eigvalsh",
    "eigvalsh_tridiagonal",
]


# --- a Hermitian matrix whose decomposition is given ---------------------------------------------


def _moving(a: Any, w: Any, v: Any) -> tuple:
    """The decomposition (w, v) of a Hermitian a, given without derivative, with its derivative.

    At repeated eigenvalues v is turned to move smoothly where the direction is known.
    """
    moves = direction_at_ties(a, w)
    if moves is not None:
        v = v @ adapted(adjoint(v) @ moves @ v, ties(w))
        w = w + 0 * np.real(v[0])
    return _eigh_given(a, w, v, lower=True)


# --- SciPy's decomposition, without derivative ---------------------------------------------------


def _places(w: Any, subset: dict) -> slice:
    """Where in ascending eigenvalues a subset is."""
    by_index, by_value = subset.get("subset_by_index"), subset.get("subset_by_value")
    if "select_range" in subset:
        by_name = subset["select_range"]
        by_index, by_value = (by_name, None) if subset["select"] == "i" else (None, by_name)
    if by_index is not None:
        return slice(int(by_index[0]), int(by_index[1]) + 1)
    if by_value is None:
        return slice(None)
    rows = np.reshape(raw(w), (-1, w.shape[-1]))
    places = {tuple(int(np.searchsorted(row, x, "right")) for x in by_value) for row in rows}
    if len(places) > 1:
        raise ValueError("the matrices of a batch have different numbers of values in the range")
    return slice(*places.pop())


def _with_phases_of(some: Any, v: Any, at: slice) -> Any:
    """v, in which the vectors at some places have the phases of the ones given."""
    if some.shape != v[:, at].shape:
        return v
    phase = np.sum(np.conj(v[:, at]) * some, axis=0)
    size = np.abs(phase)
    same = size > 0.5 * np.linalg.norm(v[:, at], axis=0) * np.linalg.norm(some, axis=0)
    out = v.copy()
    out[:, at] *= np.where(same, phase / np.where(same, size, 1), 1)
    return out


def _plain_decomposition(*matrices: Any, solver: str, subset: dict, options: dict) -> tuple:
    """All eigenvalues and vectors; those of a subset with the phases that SciPy gives them."""
    solve = getattr(sp, solver)
    w, v = solve(*matrices, **options)
    if subset:
        some = solve(*matrices, **options, **subset)[1]
        v = _with_phases_of(some, v, _places(w, subset))
    return w, v


_decomposition = Opaque(_plain_decomposition, name="scipy.linalg.eigh", builtin=False)


# --- the Hermitian problem -----------------------------------------------------------------------


def _reduced(a: Any, b: Any, kind: int) -> tuple:
    """The ordinary problem of a generalised one, and the map of its vectors to theirs and back."""
    factor = np.linalg.cholesky(b)
    if kind == 1:
        half = solve_triangular(factor, a, lower=True, check_finite=False)
        c = solve_triangular(factor, adjoint(half), lower=True, check_finite=False)
    else:
        c = adjoint(factor) @ a @ factor
    if kind == 3:
        return c, lambda y: factor @ y, lambda v: np.linalg.solve(constant(factor), v)
    return (
        c,
        lambda y: solve_triangular(factor, y, trans=2, lower=True, check_finite=False),
        lambda v: constant(adjoint(factor)) @ v,
    )


def _eigh(a: Any, b: Any, lower: bool, kind: int, subset: dict, driver: Any) -> tuple[Any, Any]:
    a = hermitian(matrix(a), lower)
    options: dict = {"lower": lower, "check_finite": False}
    if subset:
        subset = {**subset, "driver": driver}
    elif driver is not None:
        options["driver"] = driver
    if b is None:
        given = _decomposition(constant(a), solver="eigh", subset=subset, options=options)
        w, v = _moving(a, *given)
        return _chosen(w, v, subset)
    b = hermitian(matrix(b, "b"), lower)
    if b.shape != a.shape:
        raise ValueError(f"wrong b dimensions {b.shape}, should be {a.shape}")
    options["type"] = kind
    pair = constant(a), constant(b)
    w, v = _decomposition(*pair, solver="eigh", subset=subset, options=options)
    c, forth, back = _reduced(a, b, kind)
    w, y = _moving(c, w, back(v))
    return _chosen(w, forth(y), subset)


def _chosen(w: Any, v: Any, subset: dict) -> tuple[Any, Any]:
    at = _places(w, subset)
    return w[at], v[:, at]


# --- SciPy's names for Hermitian matrices --------------------------------------------------------


@drop_in(sp.eigh, a=2, b=2)
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    type: int = 1,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    """scipy.linalg.eigh, generalised too; gradients are in the triangles that are read."""
    given = {"subset_by_index": subset_by_index, "subset_by_value": subset_by_value}
    subset = {k: x for k, x in given.items() if x is not None}
    w, v = _eigh(a, b, bool(lower), type, subset, driver)
    return w if eigvals_only else (w, v)


@drop_in(sp.eigvalsh, a=2, b=2)
def eigvalsh(a: Any, b: Any = None, **options: Any) -> Any:
    """scipy.linalg.eigvalsh, from the decomposition that derivatives need."""
    return eigh(a, b, eigvals_only=True, check_finite=False, **options)


NAMES_OF_SELECT = {0: "a", 1: "v", 2: "i", "all": "a", "value": "v", "index": "i"}


def _banded(
    a: Any, solver: str, given: tuple, options: dict, select: Any, select_range: Any
) -> tuple[Any, Any]:
    """The decomposition of a banded matrix a by a solver that takes it as the given arrays."""
    name = select.lower() if isinstance(select, str) else select
    name = NAMES_OF_SELECT.get(name, name)
    if name not in ("a", "v", "i"):
        raise ValueError("invalid argument for select")
    subset = {} if name == "a" else {"select": name, "select_range": tuple(select_range)}
    parts = _decomposition(*map(constant, given), solver=solver, subset=subset, options=options)
    w, v = _moving(a, *parts)
    return _chosen(w, v, subset)


@drop_in(sp.eigh_tridiagonal, d=1, e=1)
def eigh_tridiagonal(
    d: Any,
    e: Any,
    eigvals_only: bool = False,
    select: Any = "a",
    select_range: Any = None,
    tol: Any = 0.0,
    lapack_driver: Any = "auto",
) -> Any:
    """scipy.linalg.eigh_tridiagonal."""
    d, e = operand(d), operand(e)
    if "c" in (d.dtype.kind, e.dtype.kind):
        raise TypeError("Only real arrays currently supported")
    if d.ndim != 1 or e.ndim != 1 or d.shape[0] != e.shape[0] + 1:
        raise ValueError(f"d {d.shape} must have one more element than e {e.shape}")
    a = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    w, v = _banded(a, "eigh_tridiagonal", (d, e), {}, select, select_range)
    return w if eigvals_only else (w, v)


@drop_in(sp.eigvalsh_tridiagonal, d=1, e=1)
def eigvalsh_tridiagonal(d: Any, e: Any, *args: Any, **options: Any) -> Any:
    """scipy.linalg.eigvalsh_tridiagonal."""
    return eigh_tridiagonal(d, e, True, *args, check_finite=False, **options)


@drop_in(sp.eig_banded, a_band=2)
def eig_banded(
    a_band: Any,
    lower: bool = False,
    eigvals_only: bool = False,
    select: Any = "a",
    select_range: Any = None,
    max_ev: int = 0,
) -> Any:
    """scipy.linalg.eig_banded, through the whole matrix."""
    band, options = operand(a_band), {"lower": lower}
    a = hermitian_of_band(band, lower)
    w, v = _banded(a, "eig_banded", (band,), options, select, select_range)
    return w if eigvals_only else (w, v)


@drop_in(sp.eigvals_banded, a_band=2)
def eigvals_banded(a_band: Any, lower: bool = False, *args: Any, **options: Any) -> Any:
    """scipy.linalg.eigvals_banded, through the whole matrix."""
    return eig_banded(a_band, lower, True, *args, check_finite=False, **options)
