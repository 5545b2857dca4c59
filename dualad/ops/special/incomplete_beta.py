"""The incomplete beta functions in argument and both shapes, and their inverses (DLMF 8.17).

As for the incomplete gamma functions: the derivative of I_x(a, b) in a is an integral of the
density times log t - psi(a) + psi(a + b), from 0 to x or, with the other sign, from x to 1, and
one of the two has no cancellation. The derivative in b is the same by symmetry. In the variable
r = log(t / (1 - t)) the integrand decays exponentially to both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.special import beta, gammaln, rgamma

from .bell import bell
from .gamma import polygamma, psi_difference, psi_differences
from .incomplete_gamma import deviance, stirling_error
from .quadrature import blockwise, decaying, up_to
from .table import formula, kernel, special

__all__ = ["beta_density", "betainc_in_shapes", "log_poch", "one_sided"]


def _density(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x**(a - 1) y**(b - 1) / beta(a, b) where x + y = 1."""
    a, b, x, y = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (a, b, x, y)))
    with np.errstate(all="ignore"):
        plain = (a < 1) | (b < 1) | (x <= 0) | (y <= 0)
        log_x = np.where(y < 0.5, np.log1p(-y), np.log(x))
        log_y = np.where(x < 0.5, np.log1p(-x), np.log(y))
        rest = _times(a - 1, log_x) + _times(b - 1, log_y)
        low = np.exp(rest + log_poch(np.maximum(a, b), np.minimum(a, b))) * rgamma(
            np.minimum(a, b)
        )
        p, q = np.where(plain, 1.0, a), np.where(plain, 1.0, b)
        u, v, n = np.where(plain, 0.5, x), np.where(plain, 0.5, y), p + q
        exponent = deviance(p, n * u) + deviance(q, n * v)
        exponent = exponent + stirling_error(p) + stirling_error(q) - stirling_error(n)
        high = np.sqrt(p * q / (2 * np.pi * n)) * np.exp(-exponent) / (u * v)
        value = np.where(plain, low, high)
        return np.where((x < 0) | (y < 0) | (a < 0) | (b < 0), np.nan, value)[()]


def log_poch(a: Any, b: Any) -> Any:
    """log gamma(a + b) - log gamma(a), by Stirling's formula where a is large (DLMF 5.11.1)."""
    large = a + b > 20
    p, n = np.where(large, a, 10.0), np.where(large, a + b, 10.0)
    step = np.where(large, b, 0.0)  # n - p has lost it where a is very large.
    gain = (p - 0.5) * np.log1p(step / p) + step * (np.log(n) - 1)
    gain = gain + stirling_error(n) - stirling_error(p)
    return np.where(large, gain, gammaln(a + b) - gammaln(a))


def _times(factor: Any, log: Any) -> Any:
    """A power's logarithm, where 0**0 is 1."""
    return np.where(factor == 0, 0.0, factor * log)


@formula
def power_density_slope(out: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """The derivative in x of x**(a - 1) y**(b - 1) / beta(a, b), y apart; at x = 0 its limit."""
    edge = x == 0
    limit = x ** np.where(edge, a - 2, 1.0) * y ** (b - 1) / beta(a, b)
    return (a - 1) * np.where(edge, limit, out / np.where(edge, 1.0, x))


beta_density = kernel(
    _density,
    "out * (log(z) + psi_difference(x, y))",
    "out * (log(w) + psi_difference(y, x))",
    "power_density_slope(out, x, y, z, w)",
    "power_density_slope(out, y, x, w, z)",
    name="beta_density",
)


def _slopes(a: Any, b: Any, log_x: Any, log_y: Any) -> Callable[[int, int], Any]:
    """The derivatives in (a, b) of the logarithm of the density."""

    def slope(i: int, j: int) -> Any:
        if i > 0 and j > 0:
            return polygamma(i + j - 1, a + b)
        constant = psi_differences(i - 1)(a, b) if i > 0 else psi_differences(j - 1)(b, a)
        return constant + (log_x if (i, j) == (1, 0) else log_y if (i, j) == (0, 1) else 0)

    return slope


def beyond(weight: Callable[[Any, Any], Any], a: Any, b: Any, x: Any, y: Any) -> Any:
    """The integral from x to 1 of density times weight(log t, log(1 - t)), over density(x) x y.

    For a < 1 the integrand is a plateau from a small x to the knee; that part stands apart.
    """
    peak = (a + 1) / (a + b + 2)
    plateau = (a < 1) & (x < peak)
    knee, rest = np.where(plateau, peak, x), np.where(plateau, (b + 1) / (a + b + 2), y)

    def falls(s: Any) -> tuple[Any, Any]:
        """How much log t and log(1 - t) have fallen at a distance s beyond the knee."""
        near = (s < 1) | (rest < 0.5)
        apart = np.log(np.where(near, 1.0, knee + rest * np.exp(-s)))  # rest rounds to 1
        first = np.where(near, np.log1p(rest * np.expm1(-s)), apart)
        return first, np.where(s < 500, np.log1p(knee * np.expm1(s)), s + first)

    def exponent(s: Any) -> Any:
        first, second = falls(s)
        return -a * first - b * second

    def factor(s: Any) -> Any:
        first, second = falls(s)
        return weight(np.log(knee) - first, np.log(rest) - second)

    gained, lost = np.log(knee / x), np.log1p((x - knee) / y)
    length = gained - lost
    total = decaying(exponent, factor) + up_to(
        length, lambda s: exponent(-s), lambda s: factor(-s)
    )
    return np.exp(a * gained + b * lost) * total


def one_sided(
    upper: Any, weight: Callable[..., Any], a: Any, b: Any, x: Any, y: Any, *more: Any
) -> Any:
    """The integral of the density times a weight from 0 to x, where that from 0 to 1 is 0.

    upper: the rows on which it is taken as minus the integral from x to 1. The weight is a
    function of log t, log(1 - t), a, b and more columns.
    """
    out = np.empty_like(a)
    for rows, sign in ((upper, -1.0), (~upper, 1.0)):
        p, q, u, v, *rest = (column[rows] for column in (a, b, x, y, *more))

        def weighed(log_t: Any, log_s: Any, p: Any = p, q: Any = q, rest: Any = rest) -> Any:
            return weight(log_t, log_s, p, q, *rest)

        if sign < 0:
            out[rows] = -beyond(weighed, p, q, u, v)
        else:
            out[rows] = beyond(lambda s, t, w=weighed: w(t, s), q, p, v, u)  # type: ignore[misc]
    return out * x * y * _density(a, b, x, y)


def _column(m: int, n: int, a: Any, b: Any, x: Any, y: Any) -> Any:
    """The derivative of order (m, n) of I_x(a, b), for columns."""
    bad = (a <= 0) | (b <= 0) | (x < 0) | (y < 0) | np.isnan(a + b + x)
    flat = (x == 0) | (y == 0)
    a, b, x, y = (np.where(bad | flat, 0.5, v) for v in (a, b, x, y))
    rising = np.log(x) + psi_difference(a, b) if m else -np.log(y) - psi_difference(b, a)

    def weight(log_t: Any, log_s: Any, a: Any, b: Any) -> Any:
        return bell(m, n, _slopes(a, b, log_t, log_s))

    out = one_sided((rising >= 0)[:, 0], weight, a, b, x, y)
    return np.where(bad, np.nan, np.where(flat, 0.0, out))


@cache
def betainc_in_shapes(m: int, n: int) -> Any:
    """The derivative of order (m, n) in (a, b) of I_x(a, b), as a function of a, b, x, 1 - x.

    Half of its derivative in x is stated for x and half for 1 - x: together they are right where
    the two add up to 1.
    """

    def in_x(out: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
        slope = _slopes(a, b, np.log(x), np.log(y))
        return 0.5 * beta_density(a, b, x, y) * bell(m, n, slope)

    return kernel(
        lambda *args: blockwise(lambda *columns: _column(m, n, *columns), *args),
        lambda out, *args: betainc_in_shapes(m + 1, n)(*args),
        lambda out, *args: betainc_in_shapes(m, n + 1)(*args),
        in_x,
        lambda out, *args: -in_x(out, *args),
        name={(1, 0): "betainc_in_a", (0, 1): "betainc_in_b"}.get((m, n), f"betainc_{m}_{n}"),
    )


betainc_in_shapes(1, 0)
betainc_in_shapes(0, 1)

# fmt: off
special("betainc",
        "betainc_in_a(x, y, z, 1 - z)",
        "betainc_in_b(x, y, z, 1 - z)",
        "beta_density(x, y, z, 1 - z)")
special("betaincc",
        "-betainc_in_a(x, y, z, 1 - z)",
        "-betainc_in_b(x, y, z, 1 - z)",
        "-beta_density(x, y, z, 1 - z)")
special("betaincinv",
        "-betainc_in_a(x, y, out, 1 - out) / beta_density(x, y, out, 1 - out)",
        "-betainc_in_b(x, y, out, 1 - out) / beta_density(x, y, out, 1 - out)",
        "1 / beta_density(x, y, out, 1 - out)")
special("betainccinv",
        "-betainc_in_a(x, y, out, 1 - out) / beta_density(x, y, out, 1 - out)",
        "-betainc_in_b(x, y, out, 1 - out) / beta_density(x, y, out, 1 - out)",
        "-1 / beta_density(x, y, out, 1 - out)")
# fmt: on
