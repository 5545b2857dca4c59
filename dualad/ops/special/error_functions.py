"""Error functions, the normal distribution, Faddeeva, Dawson, Voigt and Fresnel (DLMF chapter 7).

The slopes of erfcx, dawsn and wofz are differences of two nearly equal terms for large arguments:
there the derivative of their asymptotic series takes over (DLMF 7.12.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erfcx, ndtr, wofz

from .table import NAMESPACE, formula, kernel, several, special

__all__ = ["faddeeva_slope"]

FAR = 10.0
ROOT_PI = float(np.sqrt(np.pi))
NAMESPACE.update(
    SLOPE=2 / ROOT_PI,
    HALF_ROOT_PI=ROOT_PI / 2,
    ROOT_HALF=float(np.sqrt(0.5)),
    ROOT_2PI=float(np.sqrt(2 * np.pi)),
    ROOT_2_OVER_PI=float(np.sqrt(2 / np.pi)),
    ROOT_HALF_PI=float(np.sqrt(np.pi / 2)),
    EIGHTH=complex(np.exp(-0.25j * np.pi)) / ROOT_PI,
    PI=float(np.pi),
)


def _exact_square(x: Any) -> tuple[Any, Any]:
    """x * x, and what rounding has taken from it; no more than 0 where a bell has vanished."""
    square = x * x
    head = np.rint(x * 2.0**20) / 2.0**20
    rest = (head * head - square) + (x - head) * (x + head)
    return square, np.where(np.abs(x) < 64.0, rest, 0.0)[()]


def _bell(x: Any) -> Any:
    square, rest = _exact_square(x)
    return np.exp(-square) * (1 - rest)


def _density(x: Any) -> Any:
    square, rest = _exact_square(x)
    return np.exp(-0.5 * square) * (1 - 0.5 * rest) / NAMESPACE["ROOT_2PI"]


#: exp(-x**2) and the density of the normal distribution: the rounding of x**2 alone would cost
#: as many digits as x**2 has.
bell = kernel(_bell, "-2 * x * out", name="bell")
density = kernel(_density, "-x * out", name="density")


def _series(u: Any, scale: int = 0, terms: int = 15) -> Any:
    """The sum of (2k + 1)!! (u / 2)**k, each term times (2k + 2)**scale."""
    total = 0.0
    for k in range(terms, 0, -1):
        total = (total + (2 * k + 2) ** scale) * (2 * k + 1) * (u / 2)
    return total + 2**scale


@formula
def erfcx_slope(out: Any, x: Any) -> Any:
    """2 x erfcx(x) - 2 / sqrt(pi) for real x; between, by the continued fraction of erfcx."""
    out = np.where(x < -2.0, 2 / bell(np.where(x < -2.0, x, 0.0)) - erfcx(np.abs(x)), out)
    far, between = x > FAR, (x > 2.0) & (x <= FAR)
    u = np.where(far, x, FAR) ** -2
    v = np.where(between, x, FAR)
    # erfcx(x) = 1 / (sqrt(pi) (x + rest)) (DLMF 7.9.4)
    rest: Any = 0.0
    for k in range(60, 0, -1):
        rest = 0.5 * k / (v + rest)
    other = np.where(between, -2 / ROOT_PI * rest / (v + rest), 2 * x * out - 2 / ROOT_PI)
    return np.where(far, -u * _series(-u) / ROOT_PI, other)[()]


@formula
def log_normal_slope(x: Any) -> Any:
    """density(x) / ndtr(x); for negative x, where both vanish, by erfcx."""
    late = x > 0
    low = np.where(late, 0.0, x)
    early = NAMESPACE["ROOT_2_OVER_PI"] / erfcx(-NAMESPACE["ROOT_HALF"] * low)
    return np.where(late, density(x) / ndtr(np.where(late, x, 0.0)), early)[()]


@formula
def dawson_slope(out: Any, x: Any) -> Any:
    """1 - 2 x dawsn(x) for real x."""
    far = np.abs(x) > 6.5
    u = np.where(far, x, 6.5) ** -2
    return np.where(far, -0.5 * u * _series(u, terms=40), 1 - 2 * x * out)[()]


@formula
def complex_dawson_slope(out: Any, z: Any) -> Any:
    """1 - 2 z dawsn(z), by DLMF 7.5.1 where it would cancel."""
    far = np.abs(z) > FAR
    v = np.where(far, z, FAR)
    other = (-0.5j * ROOT_PI) * (2 * v * np.exp(-v * v) + faddeeva_slope(wofz(v), v))
    return np.where(far, other, 1 - 2 * z * out)[()]


@formula
def faddeeva_slope(out: Any, z: Any) -> Any:
    """The derivative of wofz: 2i / sqrt(pi) - 2 z w(z) (DLMF 7.10.2)."""
    far = np.abs(z) > FAR
    v = np.where(far, z, FAR + 0j)
    series = -1j / ROOT_PI * _series(v**-2) * v**-2
    # w(z) = 2 exp(-z**2) - w(-z) brings the lower half plane to the upper one (DLMF 7.4.3).
    below = np.where(np.imag(v) < 0, v, 0)
    series = series - 4 * below * np.exp(-below * below)
    return np.where(far, series, 2j / ROOT_PI - 2 * z * out)[()]


@formula
def faddeeva_curvature(out: Any, z: Any) -> Any:
    """The second derivative of wofz in the upper half plane: -2 w - 2 z w'."""
    far = np.abs(z) > FAR
    v = np.where(far, z, FAR + 0j)
    series = 1j / ROOT_PI * _series(v**-2, 1) * v**-3
    return np.where(far, series, -2 * (out + z * faddeeva_slope(out, z)))[()]


def _voigt(x: Any, sigma: Any, gamma: Any) -> tuple[Any, Any, Any]:
    """Whether sigma is 0 (a Lorentz profile), a sigma that is not, and the argument of wofz."""
    narrow = sigma == 0
    s = np.where(narrow, 1.0, sigma)
    return narrow, s, (x + 1j * gamma) / (s * np.sqrt(2.0))


@formula
def voigt_in_x(x: Any, sigma: Any, gamma: Any) -> Any:
    narrow, s, z = _voigt(x, sigma, gamma)
    slope = np.real(faddeeva_slope(wofz(z), z)) / (2 * ROOT_PI * s * s)
    lorentz = -2 * x * gamma / (np.pi * (x * x + gamma * gamma) ** 2)
    return np.where(narrow, lorentz, slope)[()]


@formula
def voigt_in_gamma(x: Any, sigma: Any, gamma: Any) -> Any:
    narrow, s, z = _voigt(x, sigma, gamma)
    slope = -np.imag(faddeeva_slope(wofz(z), z)) / (2 * ROOT_PI * s * s)
    lorentz = (x - gamma) * (x + gamma) / (np.pi * (x * x + gamma * gamma) ** 2)
    return np.where(narrow, lorentz, slope)[()]


@formula
def voigt_in_sigma(x: Any, sigma: Any, gamma: Any) -> Any:
    """sigma times the second derivative in x: a Gaussian solves the heat equation."""
    narrow, s, z = _voigt(x, sigma, gamma)
    slope = np.real(faddeeva_curvature(wofz(z), z)) / (2 * np.sqrt(2 * np.pi) * s * s)
    return np.where(narrow, 0.0, slope)[()]


# fmt: off
special("erf",      "SLOPE * bell(x)",  complex=("SLOPE * exp(-x * x)",))
special("erfc",     "-SLOPE * bell(x)", complex=("-SLOPE * exp(-x * x)",))
special("erfi",     "SLOPE / bell(x)",  complex=("SLOPE * exp(x * x)",))
special("erfcx",    "erfcx_slope(out, x)", complex=("1j * faddeeva_slope(out, 1j * x)",))
special("dawsn",    "dawson_slope(out, x)", complex=("complex_dawson_slope(out, x)",))
special("wofz",     "faddeeva_slope(out, x)")
special("erfinv",   "HALF_ROOT_PI * exp(out * out)")
special("erfcinv",  "-HALF_ROOT_PI * exp(out * out)")
special("ndtr",     "density(x)", complex=("exp(-0.5 * x * x) / ROOT_2PI",))
special("ndtri",    "ROOT_2PI * exp(0.5 * out * out)")
special("log_ndtr", "log_normal_slope(x)",
                    complex=("ROOT_2_OVER_PI / erfcx(-ROOT_HALF * x)",))
special("ndtri_exp", "ROOT_HALF_PI * erfcx(-ROOT_HALF * out)")
special("owens_t",  "-0.5 * exp(-0.5 * x * x) * erf(ROOT_HALF * x * y) / ROOT_2PI",
                    "exp(-0.5 * x * x * (1 + y * y)) / (2 * PI * (1 + y * y))")
special("voigt_profile",
        "voigt_in_x(x, y, z)", "voigt_in_sigma(x, y, z)", "voigt_in_gamma(x, y, z)")
several("fresnel",  ("sin(0.5 * PI * x * x)", "cos(0.5 * PI * x * x)"))
# The integral of exp(+-i t**2) from x on, and exp(-+i (x**2 + pi/4)) / sqrt(pi) times it
several("modfresnelp", ("-exp(1j * x * x)",  "-2j * x * out[1] - EIGHTH"))
several("modfresnelm", ("-exp(-1j * x * x)", "2j * x * out[1] - conj(EIGHTH)"))
# fmt: on
