"""Random vectors: the normal and the Dirichlet distribution.

The normal distribution function has slopes that are probabilities in fewer dimensions: in a limit,
the density there times the probability of the others given that value; in a correlation, the
density of that pair times the probability of the others given both (Plackett, "A reduction formula
for normal multivariate integrals", 1954).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats as st
from scipy import special

from ...engine.direction import constant
from ...engine.primitive import Composite
from ...engine.traced import raw
from ...errors import NotDifferentiableError, SingularPointError
from ..dropin import is_tracked, operand, unboxed
from ..linalg import diagonal_of
from .univariate import passed

__all__ = ["dirichlet", "multivariate_normal"]

LOG_2PI = float(np.log(2 * np.pi))


class _Drop:
    """SciPy's object for plain arguments and for all names without a rule."""

    def __init__(self, original: Any):
        self.original = original

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "original":
            raise AttributeError(name)
        return passed(self.original, name, type(self))

    def _serve(self, name: str, rule: Any, args: tuple, kwds: dict) -> Any:
        def call(*args: Any, **kwds: Any) -> Any:
            served = rule if is_tracked((args, kwds)) else getattr(self.original, name)
            return served(*args, **kwds)

        return unboxed(call, args, kwds)


class _Frozen(_Drop):
    """A distribution with its parameters."""

    def __init__(self, dist: Any, functions: tuple, args: tuple, kwds: dict):
        self.dist, self.functions, self.args, self.kwds = dist, functions, args, kwds

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("dist", "functions", "args", "kwds"):
            raise AttributeError(name)
        if name in self.functions:
            return lambda x, **more: getattr(self.dist, name)(x, *self.args, **self.kwds, **more)
        return getattr(self.dist.original(*self.args, **self.kwds), name)


# --- Dirichlet -----------------------------------------------------------------------------------


def _on_simplex(x: Any, alpha: Any) -> Any:
    """x with its last entry, which may be left out, after SciPy's checks of the values."""
    if alpha.ndim != 1:
        raise ValueError(
            f"Parameter vector 'a' must be one dimensional, but a.shape = {alpha.shape}."
        )
    if x.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise ValueError(
            f"Vector 'x' must have either the same number of entries as, or one entry fewer than, "
            f"parameter vector 'a', but alpha.shape = {alpha.shape} and x.shape = {x.shape}."
        )
    if x.shape[0] != alpha.shape[0]:
        x = np.concatenate([x, 1 - np.sum(x, axis=0, keepdims=True)])
    value = constant(x)
    if np.any(raw(alpha) <= 0):
        raise ValueError("All parameters must be greater than 0")
    if np.any(raw(value) < 0) or np.any(raw(value) > 1):
        raise ValueError("Each entry in 'x' must be between zero and one.")
    if np.any(np.abs(raw(np.sum(value, axis=0) - 1)) > 1e-9):
        raise ValueError("The input vector 'x' must lie within the normal simplex.")
    return x


def _dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    alpha = operand(alpha)
    x = _on_simplex(operand(x), alpha)
    column = np.reshape(alpha, (-1,) + (1,) * (x.ndim - 1))
    log_beta = np.sum(special.gammaln(alpha)) - special.gammaln(np.sum(alpha))
    return np.sum(special.xlogy(column - 1, x), axis=0) - log_beta


class _Dirichlet(_Drop):
    """scipy.stats.dirichlet: the entries of x count as independent, as in SciPy's formula."""

    def __call__(self, alpha: Any, seed: Any = None) -> _Frozen:
        return _Frozen(self, ("pdf", "logpdf"), (alpha,), {})

    def logpdf(self, x: Any, alpha: Any) -> Any:
        """The logarithm of the density."""
        return self._serve("logpdf", _dirichlet_logpdf, (x, alpha), {})

    def pdf(self, x: Any, alpha: Any) -> Any:
        """The density."""
        return self._serve("pdf", lambda *a: np.exp(_dirichlet_logpdf(*a)), (x, alpha), {})


dirichlet = _Dirichlet(st.dirichlet)


# --- the normal distribution: its density --------------------------------------------------------


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


def _bivariate(h: float, k: float, rho: float) -> float:
    """P(X < h, Y < k) at correlation rho, by Owen's T function (Owen, 1956, equation 2.1)."""
    if np.isinf(h) or np.isinf(k):
        return 0.0 if min(h, k) == -np.inf else float(special.ndtr(min(h, k)))
    root = np.sqrt((1 - rho) * (1 + rho))
    if h == 0 and k == 0:
        return 0.25 + np.arcsin(rho) / (2 * np.pi)

    def owen(a: float, b: float) -> float:
        if a == 0:
            return float(np.arctan(np.copysign(np.inf, b)) / (2 * np.pi))
        return float(special.owens_t(a, (b - rho * a) / (a * root)))

    apart = 0.5 if h * k < 0 or (h * k == 0 and h + k < 0) else 0.0
    return float(special.ndtr(h) + special.ndtr(k)) / 2 - owen(h, k) - owen(k, h) - apart


def _plain_probability(z: Any, r: Any, options: tuple) -> Any:
    """P(Z < z) of standard normal numbers with correlations r; from three on it is SciPy's."""
    r = (r + r.T) / 2
    if len(z) == 1:
        return special.ndtr(z[0])
    if len(z) == 2:
        return np.float64(_bivariate(float(z[0]), float(z[1]), float(r[0, 1])))
    return np.float64(st.multivariate_normal.cdf(z, None, r, True, **dict(options)))


def _given(z: Any, r: Any, known: list[int], options: tuple) -> Any:
    """The probability of all other numbers, given the values of some."""
    rest = [k for k in range(z.shape[0]) if k not in known]
    if not rest:
        return 1.0
    weights = np.linalg.solve(r[known][:, known], r[known][:, rest]).T
    spread = r[rest][:, rest] - weights @ r[known][:, rest]
    scale = np.sqrt(diagonal_of(spread))
    moved = (z[rest] - weights @ z[known]) / scale
    return probability(moved, spread / (scale[:, None] * scale), options=options)


def _in_limits(t: Any, out: Any, z: Any, r: Any, options: tuple) -> Any:
    slopes = [
        np.exp(-z[i] * z[i] / 2 - LOG_2PI / 2) * _given(z, r, [i], options)
        for i in range(z.shape[0])
    ]
    return np.sum(np.stack(slopes) * t)


def _in_correlations(t: Any, out: Any, z: Any, r: Any, options: tuple) -> Any:
    """r counts as symmetric: both entries of a pair have half of its slope."""
    total = 0.0
    for i in range(z.shape[0]):
        for j in range(i):
            rho = r[i, j]
            rest = (1 - rho) * (1 + rho)
            form = (z[i] * z[i] - 2 * rho * z[i] * z[j] + z[j] * z[j]) / rest
            density = np.exp(-form / 2 - LOG_2PI) / np.sqrt(rest)
            total = total + density * _given(z, r, [i, j], options) * (t[i, j] + t[j, i]) / 2
    return total


probability = Composite(
    _plain_probability, _in_limits, _in_correlations, name="scipy.stats.multivariate_normal.cdf"
)


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


class _MultivariateNormal(_Drop):
    """scipy.stats.multivariate_normal: both entries of a covariance have half of its slope."""

    def __call__(
        self,
        mean: Any = None,
        cov: Any = 1,
        allow_singular: bool = False,
        seed: Any = None,
        **kwds: Any,
    ) -> _Frozen:
        functions = ("pdf", "logpdf", "cdf", "logcdf")
        return _Frozen(self, functions, (mean, cov, allow_singular), kwds)

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
