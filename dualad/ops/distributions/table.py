"""The distributions of one random number: a formula a line, on the standard scale.

Formulas take (z, *shapes), z inside of the support. Where only the logarithm is stated the
function is its exponential, and the other way round (Johnson, Kotz and Balakrishnan, *Continuous
Univariate Distributions*, 1994).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats as st
from scipy import special
from scipy.special import betaln, gammaln, log_ndtr, ndtr, xlog1py, xlogy

from ..special.f_distribution import t_log_density
from .tails import log_beta_tail, log_gamma_tail, log_poisson_tail, log_probability
from .univariate import INF, Continuous, Discrete, exponential

__all__ = ["beta", "chi2", "expon", "gamma", "lognorm", "norm", "poisson", "t", "uniform"]

LOG_ROOT_2PI = float(0.5 * np.log(2 * np.pi))
LOG_2 = float(np.log(2))


def log1mexp(z: Any) -> Any:
    """log(1 - exp(-z)) for z > 0 (Maechler, "Accurately computing log(1 - exp(-|a|))", 2012)."""
    near = z < LOG_2
    close = np.log(-np.expm1(-np.where(near, z, 1.0)))
    return np.where(near, close, np.log1p(-np.exp(-np.where(near, 1.0, z))))


norm = Continuous(
    st.norm, (), (-INF, INF),
    logpdf=lambda z: -z * z / 2 - LOG_ROOT_2PI,
    cdf=ndtr,
    logcdf=log_ndtr,
    sf=lambda z: ndtr(-z),
    logsf=lambda z: log_ndtr(-z),
)  # fmt: skip

expon = Continuous(
    st.expon, (), (0.0, INF),
    logpdf=lambda z: -z,
    cdf=lambda z: -np.expm1(-z),
    logcdf=log1mexp,
    logsf=lambda z: -z,
)  # fmt: skip

uniform = Continuous(
    st.uniform, (), (0.0, 1.0),
    logpdf=lambda z: 0.0 * z,
    cdf=lambda z: 1.0 * z,
    sf=lambda z: 1 - z,
    logsf=lambda z: np.log1p(-z),
)  # fmt: skip

lognorm = Continuous(
    st.lognorm, ("s",), (0.0, INF),
    logpdf=lambda z, s: norm.formulas["logpdf"](np.log(z) / s) - np.log(s) - np.log(z),
    cdf=lambda z, s: ndtr(np.log(z) / s),
    logcdf=lambda z, s: log_ndtr(np.log(z) / s),
    sf=lambda z, s: ndtr(-np.log(z) / s),
    logsf=lambda z, s: log_ndtr(-np.log(z) / s),
)  # fmt: skip


# --- gamma, chi2, beta ---------------------------------------------------------------------------


def _gamma_cdf(z: Any, a: Any) -> Any:
    return special.gammainc(a, z)


def _gamma_sf(z: Any, a: Any) -> Any:
    return special.gammaincc(a, z)


def _beta_cdf(z: Any, a: Any, b: Any) -> Any:
    return special.betainc(a, b, z)


def _beta_sf(z: Any, a: Any, b: Any) -> Any:
    return special.betaincc(a, b, z)


gamma = Continuous(
    st.gamma, ("a",), (0.0, INF),
    logpdf=lambda z, a: xlogy(a - 1, z) - z - gammaln(a),
    cdf=_gamma_cdf,
    logcdf=lambda z, a: log_probability(_gamma_cdf, _gamma_sf, log_gamma_tail, z, a),
    sf=_gamma_sf,
)  # fmt: skip

chi2 = Continuous(
    st.chi2, ("df",), (0.0, INF),
    logpdf=lambda z, df: gamma.formulas["logpdf"](z / 2, df / 2) - LOG_2,
    cdf=lambda z, df: _gamma_cdf(z / 2, df / 2),
    logcdf=lambda z, df: gamma.formulas["logcdf"](z / 2, df / 2),
    sf=lambda z, df: _gamma_sf(z / 2, df / 2),
)  # fmt: skip

beta = Continuous(
    st.beta, ("a", "b"), (0.0, 1.0),
    logpdf=lambda z, a, b: xlog1py(b - 1, -z) + xlogy(a - 1, z) - betaln(a, b),
    cdf=_beta_cdf,
    logcdf=lambda z, a, b: log_probability(_beta_cdf, _beta_sf, log_beta_tail, z, a, b),
    sf=_beta_sf,
)  # fmt: skip


# --- Student's t ---------------------------------------------------------------------------------


def _t_logcdf(z: Any, df: Any) -> Any:
    """Above 0 the complement is the smaller one, and keeps its digits."""
    below = special.stdtr(df, np.where(z < 0, z, -z))
    return np.where(z < 0, np.log(below), np.log1p(-below))


def _normal_limit(formula: Any, limit: str) -> Any:
    """A formula that is the normal one at infinitely many degrees of freedom."""

    def both(z: Any, df: Any) -> Any:
        finite = np.isfinite(df)
        value = formula(z, np.where(finite, df, 1.0))
        return np.where(finite, value, norm.formula(limit)(z))

    return both


t = Continuous(
    st.t, ("df",), (-INF, INF),
    logpdf=_normal_limit(lambda z, df: t_log_density(df, z), "logpdf"),
    cdf=_normal_limit(lambda z, df: special.stdtr(df, z), "cdf"),
    logcdf=_normal_limit(_t_logcdf, "logcdf"),
    sf=_normal_limit(lambda z, df: special.stdtr(df, -z), "sf"),
    logsf=_normal_limit(lambda z, df: _t_logcdf(-z, df), "logsf"),
)  # fmt: skip


# --- Poisson -------------------------------------------------------------------------------------


def _poisson_cdf(k: Any, mu: Any) -> Any:
    return special.gammaincc(k + 1, mu)


def _poisson_sf(k: Any, mu: Any) -> Any:
    return special.gammainc(k + 1, mu)


def _poisson_logpmf(k: Any, mu: Any) -> Any:
    return xlogy(k, mu) - gammaln(k + 1) - mu


def _poisson_pmf(k: Any, mu: Any) -> Any:
    """At mu = 0 the power itself, whose slope is 1 for k = 1."""
    zero = mu == 0
    power = np.where(zero, mu, 0.0) ** k * np.exp(-mu - gammaln(k + 1))
    return np.where(zero, power, exponential(_poisson_logpmf(k, np.where(zero, 1.0, mu))))


poisson = Discrete(
    st.poisson, ("mu",), (0.0, INF),
    logpmf=_poisson_logpmf,
    pmf=_poisson_pmf,
    cdf=_poisson_cdf,
    logcdf=lambda k, mu: log_probability(_poisson_cdf, _poisson_sf, log_poisson_tail, k, mu),
    sf=_poisson_sf,
)  # fmt: skip
