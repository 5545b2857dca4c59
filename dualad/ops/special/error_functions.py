"""Error functions, the normal distribution, Faddeeva, Dawson, Voigt and Fresnel (DLMF chapter 7).

The slopes of erfcx, dawsn and wofz are differences of two nearly equal terms for large arguments:
there the derivative of their asymptotic series takes over (DLMF 7.12.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import wofz

from .table import NAMESPACE, formula, several, special

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


def _series(u: Any, scale: int = 0) -> Any:
    """The sum of (2k + 1)!! (u / 2)**k, each term times (2k + 2)**scale."""
    total = 0.0
    for k in range(15, 0, -1):
        total = (total + (2 * k + 2) ** scale) * (2 * k + 1) * (u / 2)
    return total + 2**scale


@formula
def erfcx_slope(out: Any, x: Any) -> Any:
    """2 x erfcx(x) - 2 / sqrt(pi) for real x."""
    far = x > FAR
    u = np.where(far, x, FAR) ** -2
    return np.where(far, -u * _series(-u) / ROOT_PI, 2 * x * out - 2 / ROOT_PI)[()]


@formula
def dawson_slope(out: Any, x: Any) -> Any:
    """1 - 2 x dawsn(x) for real x."""
    far = np.abs(x) > FAR
    u = np.where(far, x, FAR) ** -2
    return np.where(far, -0.5 * u * _series(u), 1 - 2 * x * out)[()]


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
special("erf",      "SLOPE * exp(-x * x)")
special("erfc",     "-SLOPE * exp(-x * x)")
special("erfi",     "SLOPE * exp(x * x)")
special("erfcx",    "erfcx_slope(out, x)", complex=("1j * faddeeva_slope(out, 1j * x)",))
special("dawsn",    "dawson_slope(out, x)", complex=("complex_dawson_slope(out, x)",))
special("wofz",     "faddeeva_slope(out, x)")
special("erfinv",   "HALF_ROOT_PI * exp(out * out)")
special("erfcinv",  "-HALF_ROOT_PI * exp(out * out)")
special("ndtr",     "exp(-0.5 * x * x) / ROOT_2PI")
special("ndtri",    "ROOT_2PI * exp(0.5 * out * out)")
special("log_ndtr", "ROOT_2_OVER_PI / erfcx(-ROOT_HALF * x)")
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
