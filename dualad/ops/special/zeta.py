"""The zeta functions of Riemann and Hurwitz (DLMF chapter 25)."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from scipy.special import gamma

from ...engine.kinds.slope import slope_in
from .gamma import BERNOULLI
from .table import Refused, special

__all__ = ["hurwitz", "riemann"]

TERMS = 13


def hurwitz(s: Any, q: Any) -> Any:
    """The Euler-Maclaurin sum of (q + k)**-s (DLMF 25.11.7)."""
    total = 0.0
    for k in range(TERMS):
        total = total + (q + k) ** -s
    w = q + TERMS
    power = w**-s
    total = total + power * (w / (s - 1) + 0.5)
    rising = s / w
    for j, b in enumerate(BERNOULLI, start=1):
        total = total + power * rising * (b / factorial(2 * j))
        rising = rising * ((s + 2 * j - 1) * (s + 2 * j)) / (w * w)
    return total


def riemann(s: Any) -> Any:
    """zeta(s), by its functional equation left of 0 (DLMF 25.4.2)."""
    left = s < 0
    u = np.where(left, s, -1.0)
    k = np.rint(u / 2)
    sine = np.sin(np.pi * (u / 2 - k)) * (1 - 2 * (k % 2))
    value = hurwitz(np.where(left, 1 - s, s), 1.0)
    return np.where(left, 2 * (2 * np.pi) ** (u - 1) * sine * gamma(1 - u) * value, value)


IN_Q = "-x * _zeta(x + 1, y)"
NOT_COMPLEX = Refused("x", "it is known for real arguments only")

# fmt: off
special("_zeta",         slope_in(0, hurwitz), IN_Q, complex=(NOT_COMPLEX, IN_Q))
special("_riemann_zeta", slope_in(0, riemann), complex=(NOT_COMPLEX,))
special("zetac",         slope_in(0, riemann))
# fmt: on
