"""Orthogonal polynomials (DLMF chapter 18), in their argument, degree and parameters.

A derivative in the argument is a polynomial of the next lower degree (18.9.15 to 18.9.27), also at
the ends of the interval. Degrees that are not whole make them hypergeometric functions (18.5.7
to 18.5.12), and their derivatives in degree and parameters those of such functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import binom, gamma, rgamma

from ...engine.kinds.slope import slope_in
from .exponential_integrals import sinhc
from .hypergeometric import gauss, kummer
from .table import formula, special, whole_number

__all__: list[str] = []

N = whole_number("n")


def _sides(x: Any) -> tuple[Any, Any, Any]:
    """Where |x| <= 1, the angle there, and the hyperbolic angle where x > 1."""
    inside = np.abs(x) <= 1
    angle = np.arccos(np.where(inside, x, 0.0))
    return inside, angle, np.arccosh(np.where(inside, 2.0, x))


@formula
def chebyshev_first_in_n(n: Any, x: Any) -> Any:
    """d/dn cos(n arccos x)."""
    inside, angle, t = _sides(x)
    return np.where(inside, -angle * np.sin(n * angle), t * np.sinh(n * t))[()]


@formula
def chebyshev_second_in_n(n: Any, x: Any) -> Any:
    """d/dn sin((n + 1) a) / sin a, a = arccos x."""
    inside, angle, t = _sides(x)
    trigonometric = np.cos((n + 1) * angle) / np.sinc(angle / np.pi)
    return np.where(inside, trigonometric, np.cosh((n + 1) * t) / sinhc(t))[()]


def _legendre(n: Any, x: Any) -> Any:
    return gauss(-n, n + 1, 1.0, (1 - x) / 2)


def _gegenbauer(n: Any, alpha: Any, x: Any) -> Any:
    scale = gamma(n + 2 * alpha) * rgamma(n + 1) * rgamma(2 * alpha)
    return scale * gauss(-n, n + 2 * alpha, alpha + 0.5, (1 - x) / 2)


def _jacobi(n: Any, alpha: Any, beta: Any, x: Any) -> Any:
    return binom(n + alpha, n) * gauss(-n, 1 + alpha + beta + n, alpha + 1, (1 - x) / 2)


def _shifted_jacobi(n: Any, p: Any, q: Any, x: Any) -> Any:
    return _jacobi(n, p - q, q - 1, 2 * x - 1) / binom(2 * n + p - 1, n)


def _laguerre(n: Any, alpha: Any, x: Any) -> Any:
    return binom(n + alpha, n) * kummer(-n, alpha + 1, x)


GEGENBAUER = [slope_in(k, _gegenbauer) for k in range(2)]
JACOBI = [slope_in(k, _jacobi) for k in range(3)]
SHIFTED_JACOBI = [slope_in(k, _shifted_jacobi) for k in range(3)]
LAGUERRE = [slope_in(k, _laguerre) for k in range(2)]


@formula
def legendre_in_n(n: Any, x: Any) -> Any:
    return slope_in(0, _legendre)(None, n, x)


# fmt: off
special("eval_chebyt", "chebyshev_first_in_n(x, y)",         "x * eval_chebyu(x - 1, y)")
special("eval_chebyu", "chebyshev_second_in_n(x, y)",        "2 * eval_gegenbauer(x - 1, 2, y)")
special("eval_chebyc", "2 * chebyshev_first_in_n(x, y / 2)", "x * eval_chebys(x - 1, y)")
special("eval_chebys", "chebyshev_second_in_n(x, y / 2)",    "eval_gegenbauer(x - 1, 2, y / 2)")
special("eval_sh_chebyt", "chebyshev_first_in_n(x, 2 * y - 1)",
        "2 * x * eval_sh_chebyu(x - 1, y)")
special("eval_sh_chebyu", "chebyshev_second_in_n(x, 2 * y - 1)",
        "4 * eval_gegenbauer(x - 1, 2, 2 * y - 1)")
special("eval_legendre",    "legendre_in_n(x, y)",         "eval_gegenbauer(x - 1, 1.5, y)")
special("eval_sh_legendre", "legendre_in_n(x, 2 * y - 1)",
        "2 * eval_gegenbauer(x - 1, 1.5, 2 * y - 1)")
special("eval_gegenbauer", *GEGENBAUER, "2 * y * eval_gegenbauer(x - 1, y + 1, z)")
special("eval_jacobi", *JACOBI, "0.5 * (x + y + z + 1) * eval_jacobi(x - 1, y + 1, z + 1, w)")
special("eval_sh_jacobi", *SHIFTED_JACOBI, "x * eval_sh_jacobi(x - 1, y + 2, z + 1, w)")
special("eval_laguerre", slope_in(0, lambda n, x: kummer(-n, 1.0, x)),
        "-eval_genlaguerre(x - 1, 1, y)")
special("eval_genlaguerre", *LAGUERRE, "-eval_genlaguerre(x - 1, y + 1, z)")
special("eval_hermite",     N, "2 * x * eval_hermite(maximum(x - 1, 0), y)")
special("eval_hermitenorm", N, "x * eval_hermitenorm(maximum(x - 1, 0), y)")
# fmt: on
