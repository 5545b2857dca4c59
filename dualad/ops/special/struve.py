"""Struve functions (DLMF chapter 11), and integrals of them and of Bessel functions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import i0, j0, rgamma

from ...engine.kinds.slope import slope_in
from .table import formula, refuse_where, several, special

__all__: list[str] = []

TERMS = 60
#: Beyond these arguments the power series need more terms, or cancel.
REACH, MODIFIED_REACH = 12.0, 40.0


def _power_series(sign: float, v: Any, x: Any) -> Any:
    """Struve's function H_v (sign -1) or L_v (sign 1) (DLMF 11.2.1, 11.2.2)."""
    half = 0.5 * x
    term = half ** (v + 1) * rgamma(v + 1.5) * rgamma(1.5)
    total = term
    for k in range(1, TERMS):
        term = term * (sign * half * half) / ((k + 0.5) * (v + k + 0.5))
        total = total + term
    return total


@formula
def struve_in_order(v: Any, x: Any) -> Any:
    refuse_where(np.abs(x) > REACH, "struve", "v", f"|x| is above {REACH:g}")
    return slope_in(0, partial(_power_series, -1.0))(None, v, x)


@formula
def modstruve_in_order(v: Any, x: Any) -> Any:
    reach = MODIFIED_REACH
    refuse_where(np.abs(x) > reach, "modstruve", "v", f"|x| is above {reach:g}")
    return slope_in(0, partial(_power_series, 1.0))(None, v, x)


@formula
def struve_power(v: Any, x: Any) -> Any:
    """(x / 2)**v / (sqrt(pi) gamma(v + 3/2)): neighbours differ by it (DLMF 11.4.24, 11.4.26)."""
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
special("struve", "struve_in_order(x, y)",
        "0.5 * (struve(x - 1, y) - struve(x + 1, y) + struve_power(x, y))")
special("modstruve", "modstruve_in_order(x, y)",
        "0.5 * (modstruve(x - 1, y) + modstruve(x + 1, y) + struve_power(x, y))")
special("itstruve0",    "struve(0, x)")
special("it2struve0",   "-struve(0, x) / x")
special("itmodstruve0", "modstruve(0, x)")
several("itj0y0",  ("j0(x)", "y0(x)"))
several("iti0k0",  ("i0(x)", "k0(x)"))
several("it2j0y0", ("falling_j0(x)", "-y0(x) / x"))
several("it2i0k0", ("rising_i0(x)", "-k0(x) / x"))
# fmt: on
