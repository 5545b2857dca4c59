"""The incomplete gamma functions in argument and shape, and their inverses (DLMF chapter 8).

The derivative of P(a, x) in a is an integral of t**(a - 1) exp(-t) (log t - psi(a)) / gamma(a),
from 0 to x or, with the other sign, from x on: the sum of both is the derivative of 1. The factor
changes sign at t = exp(psi(a)), so that one of the two integrals has no cancellation.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.special import gammaln, psi, rgamma, xlogy

from .bell import bell
from .gamma import BERNOULLI, polygamma
from .quadrature import blockwise, decaying, up_to
from .table import kernel, special

__all__ = ["deviance", "gamma_density", "gammainc_in_shape", "stirling_error"]

#: log gamma(a) = (a - 1/2) log a - a + log(2 pi) / 2 + a sum of these over a**(2 k + 1)
STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156]


def stirling_error(a: Any) -> Any:
    """log gamma(a) less Stirling's formula, for a > 0 (DLMF 5.11.1)."""
    big = np.where(a < 10, 10.0, a)
    series = np.polynomial.polynomial.polyval(big**-2, STIRLING) / big
    small = np.where(a < 10, a, 1.0)
    direct = gammaln(small) - (small - 0.5) * np.log(small) + small - 0.5 * np.log(2 * np.pi)
    return np.where(a < 10, direct, series)


def deviance(a: Any, x: Any) -> Any:
    """a log(a / x) + x - a, by its series where the terms cancel (Loader 2000)."""
    v = (a - x) / (a + x)
    near = np.abs(v) < 0.1
    w = np.where(near, v, 0.0)
    series: Any = 0.0
    for k in range(17, 1, -2):
        series = 1 / k + w * w * series
    return np.where(near, (a - x) * w + 2 * a * w**3 * series, xlogy(a, a / x) + x - a)


def _density(a: Any, x: Any) -> Any:
    """x**(a - 1) exp(-x) / gamma(a), for any real a."""
    a, x = np.float64(a), np.float64(x)
    with np.errstate(all="ignore"):
        low = np.exp(xlogy(a - 1, x) - x) * rgamma(a)
        b = np.where(a < 1, 1.0, a)
        high = np.sqrt(b / (2 * np.pi)) * np.exp(-deviance(b, x) - stirling_error(b)) / x
        value = np.where((a < 1) | (x == 0), low, high)
        return np.where(np.isposinf(x), 0.0, np.where(x < 0, np.nan, value))[()]


gamma_density = kernel(
    _density,
    "out * (log(y) - psi(x))",
    "gamma_density(x - 1, y) - gamma_density(x, y)",
    name="gamma_density",
)


def _log_ratio(a: Any, x: Any) -> Any:
    """log x - psi(a), accurate also where it is near 0 for large a (DLMF 5.11.2)."""
    big = np.where(a < 10, 10.0, a)
    tail = [b / (2 * k) for k, b in enumerate(BERNOULLI, start=1)]
    gap = 0.5 / big + big**-2 * np.polynomial.polynomial.polyval(big**-2, tail)
    gap = np.where(a < 10, np.log(a) - psi(a), gap)
    near = np.abs(x - a) < 0.5 * a
    step = np.where(near, (x - a) / a, 0.0)
    return gap + np.where(near, np.log1p(step), np.log(x) - np.log(a))


def _factor(n: int, a: Any, level: Any) -> Any:
    """The polynomial in s by which a derivative of order n multiplies the density at x exp(s)."""
    slopes = [-polygamma(k, a) for k in range(1, n)]
    return lambda s: bell(n, 0, lambda i, j: level + s if i == 1 else slopes[i - 2])


def _from_zero(n: int, a: Any, x: Any) -> Any:
    """The integral from 0 to x, over its density at x, in t = x exp(-s)."""
    factor = _factor(n, a, _log_ratio(a, x))
    return decaying(lambda s: -a * s - x * np.expm1(-s), lambda s: factor(-s))


def _to_infinity(n: int, a: Any, x: Any) -> Any:
    """The integral from x on, over its density at x; a plateau from x to about a + 1 apart."""
    knee = np.where(x < 1, np.maximum(x, a + 1), x)
    length = np.log(knee / x)
    factor = _factor(n, a, _log_ratio(a, knee))
    tail = decaying(lambda s: a * s - knee * np.expm1(s), factor)
    plateau = up_to(length, lambda s: -a * s - knee * np.expm1(-s), lambda s: factor(-s))
    return np.exp(a * length - (knee - x)) * (tail + plateau)


def _column(n: int, a: Any, x: Any) -> Any:
    """The derivative of order n of P(a, x) in a, for columns of a and x."""
    bad = (a < 0) | (x < 0) | np.isnan(a) | np.isnan(x)
    flat = (x == 0) | np.isposinf(x) | np.isposinf(a)
    a, x = np.where(bad | flat, 1.0, np.maximum(a, 1e-300)), np.where(bad | flat, 1.0, x)
    below = (_log_ratio(a, x) < 0)[:, 0]
    out = np.empty_like(a)
    out[below] = _from_zero(n, a[below], x[below])
    out[~below] = -_to_infinity(n, a[~below], x[~below])
    out = np.where(flat, 0.0, out * x * _density(a, x))
    return np.where(bad, np.nan, out)


@cache
def gammainc_in_shape(n: int) -> Any:
    """The derivative of order n >= 1 of gammainc(a, x) in a."""

    def in_x(out: Any, a: Any, x: Any) -> Any:
        slopes = [np.log(x) - psi(a)] + [-polygamma(k, a) for k in range(1, n)]
        return gamma_density(a, x) * bell(n, 0, lambda i, j: slopes[i - 1])

    return kernel(
        lambda a, x: blockwise(lambda *columns: _column(n, *columns), a, x),
        lambda out, a, x: gammainc_in_shape(n + 1)(a, x),
        in_x,
        name="gammainc_in_shape" if n == 1 else f"gammainc_in_shape_{n}",
    )


gammainc_in_shape(1)

# fmt: off
special("gammainc",     "gammainc_in_shape(x, y)",  "gamma_density(x, y)")
special("gammaincc",    "-gammainc_in_shape(x, y)", "-gamma_density(x, y)")
special("gammaincinv",  "-gammainc_in_shape(x, out) / gamma_density(x, out)",
                        "1 / gamma_density(x, out)")
special("gammainccinv", "-gammainc_in_shape(x, out) / gamma_density(x, out)",
                        "-1 / gamma_density(x, out)")
# fmt: on
