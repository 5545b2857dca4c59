"""Noncentral chi square, F and t distributions and their inverses.

Noncentral chi square and F are Poisson mixtures of central ones; so are their derivatives, where
a derivative in the noncentrality is half the difference of neighbouring terms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betainc, gammaln, ndtr, xlogy

from ...engine.kinds.slope import slope_in
from ...engine.levels.traced import raw
from .incomplete_beta import beta_density, betainc_in_shapes
from .incomplete_gamma import gamma_density, gammainc_in_shape
from .table import formula, refuse_argument, special

__all__: list[str] = []

#: The most terms that are summed.
LIMIT = 20_000


def _column(x: Any) -> Any:
    return x[..., None] if hasattr(x, "shape") else x


def _counts(mean: Any, function: str) -> np.ndarray:
    """The counts that Poisson distributions of these means reach."""
    value = np.ravel(raw(mean))
    finite = value[np.isfinite(value) & (value >= 0)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    first = max(int(low - 12 * np.sqrt(low) - 40), 0)
    last = int(high + 12 * np.sqrt(high) + 40)
    if last - first > LIMIT:
        raise refuse_argument(function, "nc", "it is too large, or spread too far, to be summed")
    return np.arange(first, last, dtype=float)


def _mixture(function: str, nc: Any, term: Callable[[Any], Any]) -> Any:
    """The sum of term(j) with Poisson weights of mean nc / 2; arguments carry a trailing axis."""
    mean = 0.5 * nc
    j = _counts(mean, function)
    weights = np.exp(xlogy(j, np.maximum(_column(mean), 1e-300)) - _column(mean) - gammaln(j + 1))
    return np.sum(weights * term(j), axis=-1)


# --- chi square: P(v / 2 + j, x / 2) -------------------------------------------------------------


@formula
def chi_in_x(x: Any, v: Any, nc: Any) -> Any:
    u, a = _column(0.5 * x), _column(0.5 * v)
    return 0.5 * _mixture("chndtr", nc, lambda j: gamma_density(a + j, u))


@formula
def chi_in_v(x: Any, v: Any, nc: Any) -> Any:
    u, a = _column(0.5 * x), _column(0.5 * v)
    return 0.5 * _mixture("chndtr", nc, lambda j: gammainc_in_shape(1)(a + j, u))


@formula
def chi_in_nc(x: Any, v: Any, nc: Any) -> Any:
    u, a = _column(0.5 * x), _column(0.5 * v)
    return -0.5 * _mixture("chndtr", nc, lambda j: gamma_density(a + j + 1, u))


# --- F: I_u(m / 2 + j, n / 2) with u = m x / (n + m x) -------------------------------------------


def _shares(m: Any, n: Any, x: Any) -> tuple[Any, Any, Any, Any]:
    whole = n + m * x
    return _column(0.5 * m), _column(0.5 * n), _column(m * x / whole), _column(n / whole)


def _f_density_in_u(m: Any, n: Any, nc: Any, x: Any) -> Any:
    a, b, u, v = _shares(m, n, x)
    return _mixture("ncfdtr", nc, lambda j: beta_density(a + j, b, u, v))


@formula
def ncf_in_x(m: Any, n: Any, nc: Any, x: Any) -> Any:
    return _f_density_in_u(m, n, nc, x) * m * n / (n + m * x) ** 2


@formula
def ncf_in_m(m: Any, n: Any, nc: Any, x: Any) -> Any:
    a, b, u, v = _shares(m, n, x)
    shape = _mixture("ncfdtr", nc, lambda j: betainc_in_shapes(1, 0)(a + j, b, u, v))
    return 0.5 * shape + _f_density_in_u(m, n, nc, x) * n * x / (n + m * x) ** 2


@formula
def ncf_in_n(m: Any, n: Any, nc: Any, x: Any) -> Any:
    a, b, u, v = _shares(m, n, x)
    shape = _mixture("ncfdtr", nc, lambda j: betainc_in_shapes(0, 1)(a + j, b, u, v))
    return 0.5 * shape - _f_density_in_u(m, n, nc, x) * m * x / (n + m * x) ** 2


@formula
def ncf_in_nc(m: Any, n: Any, nc: Any, x: Any) -> Any:
    """I_u(a + 1, b) is less than I_u(a, b) by u**a (1 - u)**b / (a B(a, b)) (DLMF 8.17.20)."""
    a, b, u, v = _shares(m, n, x)
    return -0.5 * _mixture("ncfdtr", nc, lambda j: beta_density(a + j, b, u, v) * u * v / (a + j))


# --- Student's t ---------------------------------------------------------------------------------


def _noncentral_t(n: Any, nc: Any, t: Any) -> Any:
    """The series of incomplete beta functions (Lenth 1989); t < 0 by reflection."""
    sign = np.where(t < 0, -1.0, 1.0)
    delta, square = nc * sign, t * t
    b, y = _column(0.5 * n), _column(square / (n + square))
    mean = 0.5 * delta * delta
    j = _counts(mean, "nctdtr")
    u = _column(mean)
    power = xlogy(j, np.maximum(u, 1e-300)) - u
    even = np.exp(power - gammaln(j + 1)) * betainc(j + 0.5, b, y)
    odd = np.exp(power - gammaln(j + 1.5)) * betainc(j + 1.0, b, y)
    total = ndtr(-delta) + 0.5 * np.sum(even, axis=-1)
    total = total + 0.5 * np.sqrt(0.5) * delta * np.sum(odd, axis=-1)
    return np.where(t < 0, 1 - total, total)


@formula
def nct_in(k: int, n: Any, nc: Any, t: Any) -> Any:
    """The derivative of the distribution function in argument k."""
    return slope_in(k, _noncentral_t)(None, n, nc, t)


# fmt: off
special("chndtr", "chi_in_x(x, y, z)", "chi_in_v(x, y, z)", "chi_in_nc(x, y, z)")
special("ncfdtr", "ncf_in_m(x, y, z, w)", "ncf_in_n(x, y, z, w)",
                  "ncf_in_nc(x, y, z, w)", "ncf_in_x(x, y, z, w)")
special("nctdtr", "nct_in(0, x, y, z)", "nct_in(1, x, y, z)", "nct_in(2, x, y, z)")
# fmt: on


def _inverse(name: str, slopes: tuple[Any, ...], unknown: int) -> None:
    """State the inverse of a distribution function in one argument, in whose place p stands.

    Its slopes follow from those of the function at the result by the implicit function theorem.
    """

    def in_argument(k: int) -> Any:
        def slope(out: Any, *args: Any) -> Any:
            at = (*args[:unknown], out, *args[unknown + 1 :])
            return (1.0 if k == unknown else -slopes[k](*at)) / slopes[unknown](*at)

        return slope

    special(name, *map(in_argument, range(len(slopes))))


CHI = (chi_in_x, chi_in_v, chi_in_nc)
NCF = (ncf_in_m, ncf_in_n, ncf_in_nc, ncf_in_x)
NCT = tuple(partial(nct_in, k) for k in range(3))

_inverse("chndtrix", CHI, 0)
_inverse("chndtridf", CHI, 1)
_inverse("chndtrinc", CHI, 2)
_inverse("ncfdtridfn", NCF, 0)
_inverse("ncfdtridfd", NCF, 1)
_inverse("ncfdtrinc", NCF, 2)
_inverse("ncfdtri", NCF, 3)
_inverse("nctdtridf", NCT, 0)
_inverse("nctdtrinc", NCT, 1)
_inverse("nctdtrit", NCT, 2)
