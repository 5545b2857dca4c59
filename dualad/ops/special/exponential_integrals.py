"""Exponential, logarithmic, sine and cosine integrals, the dilogarithm (DLMF chapters 6, 25)."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from scipy.special import expn

from .table import formula, several, special, whole_number

__all__ = ["log1p_less", "log1p_ratio", "sinhc"]


def _polynomial(coefficients: list[float], x: Any) -> Any:
    total = 0.0
    for c in reversed(coefficients):
        total = c + x * total
    return total


SINH_SERIES = [1 / factorial(2 * k + 1) for k in range(9)]
LOG_SERIES = [(-1) ** k / (k + 1) for k in range(18)]
EXPREL_SERIES = [(k + 1) / factorial(k + 2) for k in range(20)]


@formula
def sinhc(x: Any) -> Any:
    """sinh(x) / x, which is 1 at 0."""
    small = np.abs(x) < 0.5
    u, v = np.where(small, x, 0.0), np.where(small, 1.0, x)
    return np.where(small, _polynomial(SINH_SERIES, u * u), np.sinh(v) / v)[()]


@formula
def sinc_of(x: Any) -> Any:
    """sin(x) / x, which is 1 at 0."""
    small = np.abs(x) < 0.5
    u, v = np.where(small, x, 0.0), np.where(small, 1.0, x)
    return np.where(small, _polynomial(SINH_SERIES, -u * u), np.sin(v) / v)[()]


@formula
def log1p_ratio(u: Any) -> Any:
    """log(1 + u) / u, which is 1 at 0."""
    small = np.abs(u) < 0.1
    v, w = np.where(small, u, 0.0), np.where(small, 1.0, u)
    return np.where(small, _polynomial(LOG_SERIES, v), np.log1p(w) / w)[()]


@formula
def log1p_less(u: Any) -> Any:
    """log(1 + u) - u."""
    small = np.abs(u) < 0.1
    v, w = np.where(small, u, 0.0), np.where(small, 1.0, u)
    return np.where(small, v * v * _polynomial(LOG_SERIES[1:], v), np.log1p(w) - w)[()]


@formula
def exprel_slope(out: Any, x: Any) -> Any:
    """The derivative of (exp(x) - 1) / x."""
    small = np.abs(x) < 1
    u, v = np.where(small, x, 0.0), np.where(small, 1.0, x)
    return np.where(small, _polynomial(EXPREL_SERIES, u), (np.exp(v) - out) / v)[()]


@formula
def expn_below(n: Any, x: Any) -> Any:
    """The exponential integral of order n - 1 (DLMF 8.19.13); that of order -1 is elementary."""
    lower = np.exp(-x) * (1 + x) / (x * x)
    return np.where(n == 0, lower, expn(np.maximum(n - 1, 0), x))[()]


# fmt: off
special("exp1",   "-exp(-x) / x")
special("expi",   "exp(x) / x")
special("expn",   whole_number("n"), "-expn_below(x, y)")
special("exprel", "exprel_slope(out, x)")
special("spence", "-log1p_ratio(x - 1)")
several("sici",   ("sinc_of(x)", "cos(x) / x"))
several("shichi", ("sinhc(x)", "cosh(x) / x"))
# fmt: on
