"""Power transforms: Box-Cox, its inverse, and x**y - 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import exprel

from ..elementwise import exponent_slope, lowered_power, power_slope
from .exponential_integrals import exprel_slope
from .table import formula, special

__all__: list[str] = []

formula(power_slope)
formula(lowered_power)
formula(exponent_slope)


@formula
def box_cox_in_power(log_x: Any, power: Any) -> Any:
    """d/dp of (x**p - 1) / p = log x exprel(p log x), which is 1 / p**2 at x = 0."""
    zero = np.isneginf(log_x) & (power > 0)
    lx = np.where(zero, -1.0, log_x)
    slope = lx * lx * exprel_slope(exprel(power * lx), power * lx)
    return np.where(zero, np.where(zero, power, 1.0) ** -2, slope)[()]


@formula
def log1p_ratio_slope(u: Any) -> Any:
    """The derivative of log(1 + u) / u."""
    small = np.abs(u) < 0.1
    v, w = np.where(small, u, 0.0), np.where(small, 1.0, u)
    series = 0.0
    for k in range(17, 0, -1):
        series = (-1) ** k * k / (k + 1) + v * series
    return np.where(small, series, (w / (1 + w) - np.log1p(w)) / (w * w))[()]


# fmt: off
special("boxcox",       "lowered_power(x, y)",                 "box_cox_in_power(log(x), y)")
special("boxcox1p",     "exp((y - 1) * log1p(x))",       "box_cox_in_power(log1p(x), y)")
special("inv_boxcox",   "out / (1 + y * x)",             "out * x * x * log1p_ratio_slope(y * x)")
special("inv_boxcox1p", "inv_boxcox(x, y) / (1 + y * x)",
        "inv_boxcox(x, y) * x * x * log1p_ratio_slope(y * x)")
special("powm1",        "power_slope(x, y)",             "exponent_slope(power(x, y), x)")
# fmt: on
