"""Wright's generalized Bessel function (DLMF 10.46) and the integral `besselpoly`, by series."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import rgamma

from ...engine.kinds.slope import slope_in
from .table import formula, refuse_where, special

__all__: list[str] = []

WRIGHT_TERMS, POLY_TERMS = 160, 50
#: Beyond these arguments the series need more terms, or cancel.
WRIGHT_REACH, POLY_REACH = 40.0, 4.0


def _wright(a: Any, b: Any, x: Any) -> Any:
    """The sum of x**k / (k! gamma(a k + b)), of positive terms."""
    total, power = rgamma(b), 1.0
    for k in range(1, WRIGHT_TERMS):
        power = power * (x / k)
        total = total + power * rgamma(a * k + b)
    return total


@formula
def wright_in(k: int, a: Any, b: Any, x: Any) -> Any:
    """The derivative in a (k = 0) or b (k = 1)."""
    refuse_where(x > WRIGHT_REACH, "wright_bessel", "ab"[k], f"x is above {WRIGHT_REACH:g}")
    return slope_in(k, _wright)(None, a, b, x)


def _poly(a: Any, lmb: Any, nu: Any) -> Any:
    """The integral over 0 < x < 1 of x**lmb J_nu(2 a x), term by term (DLMF 10.2.2)."""
    total, power = 0.0, 1.0
    for k in range(POLY_TERMS):
        total = total + power * rgamma(nu + k + 1) / (lmb + nu + 2 * k + 1)
        power = power * (-a * a / (k + 1))
    return a**nu * total


@formula
def besselpoly_in(k: int, a: Any, lmb: Any, nu: Any) -> Any:
    """The derivative in lmb (k = 1) or nu (k = 2)."""
    refuse_where(
        np.abs(a) > POLY_REACH, "besselpoly", ("lmb", "nu")[k - 1], f"a is above {POLY_REACH:g}"
    )
    return slope_in(k, _poly)(None, a, lmb, nu)


# fmt: off
special("wright_bessel",
        "wright_in(0, x, y, z)", "wright_in(1, x, y, z)", "wright_bessel(x, x + y, z)")
special("log_wright_bessel",
        "wright_in(0, x, y, z) * exp(-out)", "wright_in(1, x, y, z) * exp(-out)",
        "exp(log_wright_bessel(x, x + y, z) - out)")
special("besselpoly",
        "(jv(z, 2 * x) - (y + 1) * out) / x",
        "besselpoly_in(1, x, y, z)", "besselpoly_in(2, x, y, z)")
# fmt: on
