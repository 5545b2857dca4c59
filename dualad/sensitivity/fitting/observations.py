"""Observations with their standard deviations, as one vector of independent entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import ParameterError, SensitivityError, unknown_name
from ..extras import extra

__all__ = ["Observations", "observations", "without_index"]


class Divided:
    """Each entry along the first axis by its standard deviation."""

    def __init__(self, sigma: np.ndarray):
        self.sigma = sigma

    def __call__(self, a: np.ndarray) -> np.ndarray:
        return a / self.sigma.reshape(-1, *[1] * (a.ndim - 1))


class Whitened:
    """L^-1 of what lies along the first axis, where L L' is the covariance; or its transpose."""

    def __init__(self, lower: np.ndarray, trans: str = "N"):
        self.lower, self.trans = lower, trans

    def __call__(self, a: np.ndarray) -> np.ndarray:
        flat = extra("scipy.linalg").solve_triangular(
            self.lower, a.reshape(len(a), -1), lower=True, trans=self.trans
        )
        return np.asarray(flat).reshape(a.shape)


@dataclass(frozen=True)
class Observations:
    """What was observed, flat.

    Attributes:
        y: the observations, shape (m,).
        names: the outputs they are of, for a mapping; else None: the model's as they come.
        shape: that of the data, where they are one array.
        kept: which of the model's entries were observed, (m_all,).
        known: whether the standard deviations are known, or a common factor is estimated.
        weigh: divides by the standard deviations along the first axis (or makes correlated
            observations independent).
        pull: the transpose of weigh, of a vector.
        log_weight: the sum of the logarithms of the standard deviations.
        sigma: the standard deviations, shape (m,).
        output_of: which of the outputs each observation is of, (m,).
        own: whether each output has a standard deviation of its own that is estimated.
    """

    y: np.ndarray
    names: tuple[str, ...] | None
    shape: tuple[int, ...]
    kept: np.ndarray
    known: bool
    weigh: Callable[[np.ndarray], np.ndarray]
    pull: Callable[[np.ndarray], np.ndarray]
    log_weight: float
    sigma: np.ndarray
    output_of: np.ndarray
    own: bool = False

    def weighed_by(self, sigma: np.ndarray) -> Observations:
        """The same observations with other standard deviations."""
        return replace(
            self,
            weigh=Divided(sigma),
            pull=Divided(sigma),
            log_weight=float(np.log(sigma).sum()),
            sigma=sigma,
        )


def observations(
    data: Any, sigma: Any, covariance: Any, absolute: bool, missing: str
) -> Observations:
    """The observations that the arguments of `fit` describe.

    Raises:
        SensitivityError: they hold NaN, or none at all; a standard deviation is not positive; the
            covariance is none.
    """
    values, names, shape, sizes = _flat(data)
    finite = np.isfinite(values)
    if missing not in ("error", "drop"):
        raise SensitivityError(f"missing must be 'error' or 'drop', got {missing!r}")
    if not finite.all() and missing == "error":
        at = int(np.flatnonzero(~finite)[0])
        raise SensitivityError(
            f"the data hold {values[at]} (entry {at}, {int((~finite).sum())} in all): leave such "
            f"observations out, with missing='drop' or from the data"
        )
    y = values[finite]
    if not y.size:
        raise SensitivityError("there are no observations")
    if covariance is not None:
        if sigma is not None:
            raise SensitivityError("give sigma or covariance, not both")
        return _correlated(y, names, shape, finite, covariance, absolute)
    s, known = _deviations(sigma, data, len(values))
    own = isinstance(sigma, str) and names is not None and len(names) > 1
    bare = Observations(
        y, names, shape, finite, known and absolute, np.asarray, np.asarray, 0.0, s[finite],
        np.repeat(np.arange(len(sizes)), sizes)[finite], own,
    )  # fmt: skip
    return bare.weighed_by(s[finite])


def without_index(x: Any) -> Any:
    """The numbers of a pandas Series, which takes no traced values; anything else as it is."""
    return x.to_numpy() if hasattr(x, "to_numpy") and not hasattr(x, "columns") else x


def _flat(data: Any) -> tuple[np.ndarray, tuple[str, ...] | None, tuple[int, ...], list[int]]:
    """All observations in one vector, names of a mapping's items, shape of an array, sizes."""
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        data = {str(name): data[name].to_numpy() for name in data.columns}
    if isinstance(data, Mapping):
        if not data:
            raise SensitivityError("there are no observations")
        parts = [_real(f"the data of {name!r}", item).reshape(-1) for name, item in data.items()]
        whole = np.concatenate(parts)
        return whole, tuple(map(str, data)), whole.shape, [part.size for part in parts]
    array = _real("the data", data)
    return array.reshape(-1), None, array.shape, [array.size]


def _real(what: str, item: Any) -> np.ndarray:
    out = np.asarray(item.to_numpy() if hasattr(item, "to_numpy") else item)
    if out.dtype.kind not in "fiu":
        raise SensitivityError(f"{what} must be real numbers, got {out.dtype}")
    return out.astype(float)


def _deviations(sigma: Any, data: Any, m: int) -> tuple[np.ndarray, bool]:
    """The standard deviation of each observation, and whether they were given."""
    if sigma is None or (isinstance(sigma, str) and sigma == "estimate"):
        return np.ones(m), False
    if isinstance(sigma, str):
        raise SensitivityError(f"sigma must be None, 'estimate' or numbers, got {sigma!r}")
    if isinstance(sigma, Mapping):
        out = _by_name(sigma, data)
    else:
        given = _real("sigma", sigma)
        shape = np.shape(data) if not isinstance(data, Mapping) else (m,)
        try:
            out = np.broadcast_to(given, shape).reshape(-1)
        except ValueError:
            raise SensitivityError(
                f"sigma has shape {given.shape}; it must be one number, or of the shape {shape} "
                f"of the data"
            ) from None
    bad = np.flatnonzero(~(np.isfinite(out) & (out > 0)))
    if bad.size:
        raise SensitivityError(
            f"sigma must be positive and finite; it is {out[bad[0]]:g} for entry {bad[0]}"
        )
    return out, True


def _by_name(sigma: Mapping[str, Any], data: Any) -> np.ndarray:
    names = list(getattr(data, "columns", data)) if not isinstance(data, np.ndarray) else []
    for name in sigma:
        if name not in names:
            raise ParameterError(f"sigma: {unknown_name('output', name, map(str, names))}")
    for name in names:
        if name not in sigma:
            raise ParameterError(
                f"sigma has no entry for {name!r}: give one for each name of the data, or one "
                "number for all"
            )
    return np.concatenate(
        [
            np.broadcast_to(_real(f"sigma of {n!r}", sigma[n]), np.shape(data[n])).reshape(-1)
            for n in names
        ]
    )


def _correlated(
    y: np.ndarray,
    names: tuple[str, ...] | None,
    shape: tuple[int, ...],
    kept: np.ndarray,
    covariance: Any,
    absolute: bool,
) -> Observations:
    matrix = _real("the covariance of the data", covariance)
    if matrix.shape != (len(kept), len(kept)):
        raise SensitivityError(
            f"the covariance of the data has shape {matrix.shape}; there are {len(kept)} of them"
        )
    matrix = matrix[np.ix_(kept, kept)]
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0):
        raise SensitivityError("the covariance of the data is not symmetric")
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    try:
        lower = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise SensitivityError(
            f"the covariance of the data is not positive definite: its smallest eigenvalue is "
            f"{smallest:.3g}"
        ) from None

    sizes = np.diag(lower)
    return Observations(
        y, names, shape, kept, absolute, Whitened(lower), Whitened(lower, "T"),
        float(np.log(sizes).sum()), np.sqrt(np.diag(matrix)), np.zeros(len(y), int),
    )  # fmt: skip
