"""The normal distribution of vectors: its density, and the probability of an orthant."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats as st

from ...engine.kinds.direction import constant
from ...engine.levels.traced import raw
from ...errors import NotDifferentiableError, SingularPointError
from ..dropin import operand
from ..linalg import diagonal_of
from .objects import DropIn, FrozenDistribution
from .orthants import LOG_2PI, probability

__all__ = ["multivariate_normal"]


# --- density -------------------------------------------------------------------------------------


def _parameters(mean: Any, cov: Any) -> tuple[Any, Any]:
    """The mean as a vector and the covariance as a matrix, by SciPy's rules."""
    if hasattr(cov, "covariance"):
        cov = cov.covariance
    cov = operand(1.0 if cov is None else cov)
    if mean is None:
        mean = np.zeros(cov.shape[0] if cov.ndim == 2 else 1)
    mean = operand(mean)
    n = mean.size
    mean = np.reshape(mean, (n,)) if n == 1 else mean
    if mean.ndim != 1:
        raise ValueError(f"Array 'mean' must be a vector of length {n}.")
    if n == 1:
        cov = np.reshape(cov, (1, 1))
    elif cov.ndim == 0:
        cov = cov * np.eye(n)
    elif cov.ndim == 1:
        cov = np.diag(cov)
    if cov.shape != (n, n):
        raise ValueError(
            f"Dimension mismatch: array 'cov' is of shape {cov.shape}, but 'mean' is a vector of "
            f"length {n}."
        )
    return mean, cov


def _points(x: Any, n: int) -> Any:
    """The quantiles with one point in the last axis."""
    x = operand(x)
    if x.ndim == 0:
        return np.reshape(x, (1,))
    return x[:, None] if x.ndim == 1 and n == 1 else x


def _kept_values(cov: Any, allow_singular: bool) -> Any:
    """Which eigenvalues count, after SciPy's checks."""
    w = np.linalg.eigvalsh(constant(cov))
    eps = 1e6 * np.finfo(float).eps * np.max(np.abs(w), axis=-1, keepdims=True)
    if np.any(raw(w < -eps)):
        raise ValueError("The input matrix must be symmetric positive semidefinite.")
    kept = w > eps
    if not allow_singular and not np.all(raw(kept)):
        raise np.linalg.LinAlgError(
            "When `allow_singular is False`, the input matrix must be symmetric positive definite."
        )
    return kept


def _normal_logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    mean, cov = _parameters(mean, cov)
    n = mean.shape[0]
    dev = _points(x, n) - mean
    kept = _kept_values(cov, allow_singular)
    if np.all(raw(kept)):
        weighted = np.linalg.solve(cov, dev[..., None])[..., 0]
        log_det, rank = np.linalg.slogdet(cov)[1], n
        outside: Any = False
    else:
        symmetric = (cov + np.swapaxes(cov, -1, -2)) / 2
        weighted = (np.linalg.pinv(symmetric, rtol=1e6 * np.finfo(float).eps) @ dev[..., None])[
            ..., 0
        ]
        w, v = np.linalg.eigh(symmetric)
        log_det = np.sum(np.where(kept, np.log(np.where(kept, w, 1.0)), 0.0))
        rank = np.sum(kept)
        off = constant(dev) @ (constant(v) * ~kept)
        limit = 1e9 * np.finfo(float).eps * np.max(np.abs(constant(w)))
        outside = np.linalg.norm(off, axis=-1) >= limit
    value = -(rank * LOG_2PI + log_det + np.sum(dev * weighted, axis=-1)) / 2
    value = np.where(outside, -np.inf, value)
    return np.squeeze(value)


# --- the normal distribution function ------------------------------------------------------------


def _normal_cdf(
    x: Any,
    mean: Any = None,
    cov: Any = 1,
    allow_singular: bool = False,
    maxpts: Any = None,
    abseps: float = 1e-5,
    releps: float = 1e-5,
    *,
    lower_limit: Any = None,
    rng: Any = None,
) -> Any:
    if lower_limit is not None:
        raise NotDifferentiableError(
            "scipy.stats.multivariate_normal.cdf with lower_limit has no derivative rule: write "
            "the probability of a box as a signed sum of cdf over its corners."
        )
    mean, cov = _parameters(mean, cov)
    _kept_values(cov, allow_singular)
    n = mean.shape[0]
    scale = np.sqrt(diagonal_of(cov))
    r = cov / (scale[:, None] * scale)
    if np.any(raw(np.abs(constant(r)) - np.eye(n)) >= 1 - 1e-13):
        raise SingularPointError(
            "scipy.stats.multivariate_normal.cdf has no derivative here: two components are "
            "perfectly correlated."
        )
    z = (_points(x, n) - mean) / scale
    given = {"maxpts": maxpts, "abseps": abseps, "releps": releps, "rng": rng}
    options = tuple((name, v) for name, v in given.items() if v is not None)
    rows = np.reshape(z, (-1, n))
    values = np.stack([probability(rows[k], r, options=options) for k in range(rows.shape[0])])
    return np.squeeze(np.reshape(values, z.shape[:-1]))


class _MultivariateNormal(DropIn):
    """scipy.stats.multivariate_normal: both entries of a covariance have half of its slope."""

    def __call__(
        self,
        mean: Any = None,
        cov: Any = 1,
        allow_singular: bool = False,
        seed: Any = None,
        **kwds: Any,
    ) -> FrozenDistribution:
        functions = ("pdf", "logpdf", "cdf", "logcdf")
        return FrozenDistribution(self, functions, (mean, cov, allow_singular), kwds)

    def logpdf(self, *args: Any, **kwds: Any) -> Any:
        """The logarithm of the density."""
        return self._serve("logpdf", _normal_logpdf, args, kwds)

    def pdf(self, *args: Any, **kwds: Any) -> Any:
        """The density."""
        return self._serve("pdf", lambda *a, **k: np.exp(_normal_logpdf(*a, **k)), args, kwds)

    def cdf(self, *args: Any, **kwds: Any) -> Any:
        """The probability of the orthant below x."""
        return self._serve("cdf", _normal_cdf, args, kwds)

    def logcdf(self, *args: Any, **kwds: Any) -> Any:
        """The logarithm of the probability of the orthant below x."""
        return self._serve("logcdf", lambda *a, **k: np.log(_normal_cdf(*a, **k)), args, kwds)


multivariate_normal = _MultivariateNormal(st.multivariate_normal)
