"""The gamma function and its kin (DLMF chapter 5).

Differences of digamma functions are computed as differences, so that beta, poch and binom keep
their precision where the two are nearly equal.
"""

from __future__ import annotations

from functools import cache
from math import factorial
from typing import Any

import numpy as np
from scipy.special import _ufuncs as private, gamma, psi, rgamma

from ...engine.arrays.guard import quiet
from .table import constant, formula, kernel, special

__all__ = ["complex_polygamma", "polygamma", "psi_difference", "rgamma_slope"]

BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510]
SHIFT = 13


@formula
def polygamma(n: int, x: Any) -> Any:
    """The n-th derivative of psi, n >= 1, at real x (DLMF 25.11.12)."""
    return (-1.0) ** (n + 1) * factorial(n) * private._zeta(n + 1.0, x)


def _tail(n: int, power: Any) -> Any:
    """The asymptotic series of the n-th derivative of psi in power(p) = z**-p (DLMF 5.15.9)."""
    total = power(n + 1) * (factorial(n) / 2)
    if n > 0:
        total = total + power(n) * factorial(n - 1)
    for k, b in enumerate(BERNOULLI, start=1):
        total = total + power(2 * k + n) * (b * factorial(2 * k + n - 1) / factorial(2 * k))
    return -((-1.0) ** n) * total


@cache
def complex_polygamma(n: int) -> Any:
    """The n-th derivative of psi, n >= 1, at complex arguments."""

    def impl(z: Any) -> Any:
        z = np.array(z, np.complex128)
        total = np.zeros_like(z)
        with quiet():
            while (low := (z.real < SHIFT) & (np.abs(z.imag) < SHIFT)).any():
                total[low] -= (-1.0) ** n * factorial(n) * z[low] ** -(n + 1)
                z[low] += 1
            # Left of the imaginary axis the series still holds, far from the real axis.
            return (total + _tail(n, lambda p: z**-p))[()]

    return kernel(impl, lambda out, z: complex_polygamma(n + 1)(z), name=f"complex_polygamma_{n}")


@cache
def psi_differences(n: int) -> Any:
    """The n-th derivative of psi at x + y less that at x, real, without cancellation."""

    def impl(x: Any, y: Any) -> Any:
        x, y = np.float64(x), np.float64(y)
        with quiet():
            # For whole y the reflection formula DLMF 5.5.4 swaps the two arguments.
            mirrored = (y == np.rint(y)) & ((x <= 0) | (x + y <= 0)) & (x < 1) & (x + y < 1)
            u = np.where(mirrored, 1 - x - y, x)
            sign = np.where(mirrored, (-1.0) ** (n + 1), 1.0)
            direct = (u <= 0) | (u + y <= 0)
            safe, step = np.where(direct, 1.0, u), np.where(direct, 1.0, y)
            plain = _derivative(n, u + y) - _derivative(n, u)
            return np.where(direct, plain, sign * _difference(n, safe, step))[()]

    return kernel(
        impl,
        lambda out, x, y: psi_differences(n + 1)(x, y),
        lambda out, x, y: polygamma(n + 1, x + y),
        name="psi_difference" if n == 0 else f"psi_difference_{n}",
    )


def _derivative(n: int, x: Any) -> Any:
    return psi(x) if n == 0 else polygamma(n, x)


def _difference(n: int, x: Any, y: Any) -> Any:
    """For x > 0 and x + y > 0: SHIFT terms of the series, then the asymptotic one."""
    total = 0.0
    for _ in range(SHIFT):
        total = total - (-1.0) ** n * factorial(n) * _power_difference(n + 1, x, y)
        x = x + 1
    tail = _tail(n, lambda p: _power_difference(p, x, y))
    return total + tail + (np.log1p(y / x) if n == 0 else 0)


def _power_difference(p: int, x: Any, y: Any) -> Any:
    """(x + y)**-p - x**-p."""
    return x**-p * np.expm1(-p * np.log1p(y / x))


psi_difference = psi_differences(0)


@formula
def rgamma_slope(x: Any) -> Any:
    """The derivative of 1 / gamma, by reflection left of 1/2, where it has no poles."""
    left = np.real(x) < 0.5
    u, v = np.where(left, x, 0.0), np.where(left, 1.0, x)
    k = np.rint(np.real(u))
    sign = 1 - 2 * (k % 2)
    sine, cosine = sign * np.sin(np.pi * (u - k)), sign * np.cos(np.pi * (u - k))
    mirrored = gamma(1 - u) * (cosine - psi(1 - u) * sine / np.pi)
    return np.where(left, mirrored, -psi(v) * rgamma(v))[()]


@formula
def poch_slope(out: Any, x: Any, y: Any) -> Any:
    """d/dx of gamma(x + y) / gamma(x); where the denominator has a pole that of 1 / gamma."""
    zero = out == 0
    return np.where(zero, gamma(x + y) * rgamma_slope(x), out * psi_difference(x, y))[()]


@formula
def binom_slope(out: Any, n: Any, k: Any) -> Any:
    """d/dn of binom(n, k)."""
    at_pole = gamma(n + 1) * rgamma(k + 1) * rgamma_slope(n - k + 1)
    return np.where(out == 0, at_pole, out * psi_difference(n - k + 1, k))[()]


@formula
def binom_slope_below(out: Any, n: Any, k: Any) -> Any:
    """d/dk of binom(n, k)."""
    other = rgamma_slope(k + 1) * rgamma(n - k + 1) - rgamma(k + 1) * rgamma_slope(n - k + 1)
    inside = out * psi_difference(k + 1, n - 2 * k)
    return np.where(out == 0, gamma(n + 1) * other, inside)[()]


# fmt: off
special("gamma",    "out * psi(x)")
special("gammaln",  "psi(x)")
special("loggamma", "psi(x)")
special("rgamma",   "rgamma_slope(x)")
special("psi",      "polygamma(1, x)", complex=(lambda out, z: complex_polygamma(1)(z),))
special("beta",     "-out * psi_difference(x, y)", "-out * psi_difference(y, x)")
special("betaln",   "-psi_difference(x, y)", "-psi_difference(y, x)")
special("poch",     "poch_slope(out, x, y)", "out * psi(x + y)")
special("binom",    "binom_slope(out, x, y)", "binom_slope_below(out, x, y)")
constant("gammasgn")
# fmt: on
