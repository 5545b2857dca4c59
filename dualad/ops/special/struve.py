"""Struve functions (DLMF chapter 11), and integrals of them and of Bessel functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import i0, j0, rgamma

from .table import Refused, formula, several, special

__all__: list[str] = []

ORDER = Refused("v", "no formula for the derivative in the order is at hand")


@formula
def struve_power(v: Any, x: Any) -> Any:
    """(x / 2)**v / (sqrt(pi) gamma(v + 3/2)), by which neighbours differ (DLMF 11.4.27)."""
    return (0.5 * x) ** v * rgamma(v + 1.5) / np.sqrt(np.pi)


def _quarter_series(x: Any, sign: float) -> Any:
    """The sum over k >= 1 of (sign x**2 / 4)**k / (k!)**2, divided by x."""
    u, total = sign * 0.25 * x * x, 0.0
    for k in range(12, 1, -1):
        total = (1 + total) * u / (k * k)
    return sign * 0.25 * x * (1 + total)


@formula
def falling_j0(x: Any) -> Any:
    """(1 - J_0(x)) / x, which is 0 at 0."""
    small = np.abs(x) < 1
    u, v = np.where(small, x, 0.0), np.where(small, 1.0, x)
    return np.where(small, -_quarter_series(u, -1.0), (1 - j0(v)) / v)[()]


@formula
def rising_i0(x: Any) -> Any:
    """(I_0(x) - 1) / x, which is 0 at 0."""
    small = np.abs(x) < 1
    u, v = np.where(small, x, 0.0), np.where(small, 1.0, x)
    return np.where(small, _quarter_series(u, 1.0), (i0(v) - 1) / v)[()]


# fmt: off
special("struve", ORDER,
        "0.5 * (struve(x - 1, y) - struve(x + 1, y) + struve_power(x, y))")
special("modstruve", ORDER,
        "0.5 * (modstruve(x - 1, y) + modstruve(x + 1, y) + struve_power(x, y))")
special("itstruve0",    "struve(0, x)")
special("it2struve0",   "-struve(0, x) / x")
special("itmodstruve0", "modstruve(0, x)")
several("itj0y0",  ("j0(x)", "y0(x)"))
several("iti0k0",  ("i0(x)", "k0(x)"))
several("it2j0y0", ("falling_j0(x)", "-y0(x) / x"))
several("it2i0k0", ("rising_i0(x)", "-k0(x) / x"))
# fmt: on
