"""The distributions of Kolmogorov and of Smirnov, and Tukey's lambda distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from .box_cox import box_cox_in_power
from .table import Refused, formula, special, whole_number

__all__: list[str] = []

N = whole_number("n")


@formula
def kolmogorov_slope(x: Any) -> Any:
    """The derivative of 2 sum (-1)**(k - 1) exp(-2 (k x)**2); below 1 of its theta transform."""
    low = x < 1
    u, v = np.where(low, 1.0, x), np.where(low, x, 1.0)
    upper: Any = 0.0
    lower: Any = 0.0
    for k in range(1, 7):
        upper = upper - (-1.0) ** k * k * k * np.exp(-2 * (k * u) ** 2)
        c = ((2 * k - 1) * np.pi) ** 2 / 8
        lower = lower + (2 * c / v**2 - 1) * np.exp(-c / v**2)
    at_zero = v == 0
    lower = np.where(at_zero, 0.0, np.sqrt(2 * np.pi) * lower / np.where(at_zero, 1.0, v) ** 2)
    return np.where(low, -lower, -8 * u * upper)[()]


@formula
def tukey_density(p: Any, shape: Any) -> Any:
    """1 / Q'(p) of the quantile function Q(p) = (p**s - (1 - p)**s) / s; 0 outside its range."""
    slope = p ** (shape - 1) + (1 - p) ** (shape - 1)
    return np.where((p <= 0) | (p >= 1), 0.0, 1 / slope)[()]


@formula
def tukey_in_shape(p: Any, shape: Any) -> Any:
    """-Q_s / Q_p, where Q is the difference of two Box-Cox transforms."""
    inside = (p > 0) & (p < 1)
    q = np.where(inside, p, 0.5)
    left, right = np.log(q), np.log1p(-q)
    moved = box_cox_in_power(left, shape) - box_cox_in_power(right, shape)
    return np.where(inside, -moved * tukey_density(q, shape), 0.0)[()]


# fmt: off
special("kolmogorov", "kolmogorov_slope(x)")
special("kolmogi",    "1 / kolmogorov_slope(out)")
special("smirnov",    N, "_smirnovp(x, y)")
special("_smirnovp",  N, Refused("d", "it is a derivative already, and no formula is at hand"))
special("smirnovi",   N, "1 / _smirnovp(x, out)")
special("tklmbda",    "tukey_density(out, y)", "tukey_in_shape(out, y)")
# fmt: on
