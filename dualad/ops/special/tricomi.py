"""Tricomi's confluent hypergeometric function U(a, b, x) for a, x > 0 (DLMF 13.4.4).

It is the integral over t > 0 of t**(a - 1) (1 + t)**(b - a - 1) exp(-x t), over gamma(a): a
derivative in a brings down log(t / (1 + t)) - psi(a), one in b log(1 + t). In the variable log t
the integrand has one peak; it falls doubly exponentially to the right, as a power to the left.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.special import gammaln, psi

from .bell import bell
from .gamma import polygamma
from .quadrature import blockwise, peaked
from .table import formula, kernel, refuse_where, special

__all__: list[str] = []


def _peak(a: Any, b: Any, x: Any) -> Any:
    """Where a + (b - a - 1) t / (1 + t) = x t, in log t: the root of a quadratic in t."""
    half = 0.5 * (b - 1 - x)
    root = np.hypot(half, np.sqrt(a * x))
    t = np.where(half > 0, (half + root) / x, a / (root - half))
    return np.log(np.maximum(t, 1e-300))


def _column(m: int, n: int, a: Any, b: Any, x: Any) -> Any:
    peak = _peak(a, b, x)
    slopes = [-psi(a)] + [-polygamma(k, a) for k in range(1, m)]

    def log_integrand(r: Any) -> Any:
        return a * r + (b - a - 1) * np.logaddexp(0, r) - x * np.exp(r)

    top = log_integrand(peak)

    def place(u: Any) -> Any:
        """log t, double-exponential to the left, where the integrand is a power of t."""
        return peak + 1 + u - np.exp(-u)

    def factor(u: Any) -> Any:
        r = place(u)
        share, rest = -np.logaddexp(0, -r), np.logaddexp(0, r)

        def slope(i: int, j: int) -> Any:
            if j > 0:
                return rest if (i, j) == (0, 1) else 0.0
            return slopes[i - 1] + (share if i == 1 else 0.0)

        return bell(m, n, slope) * (1 + np.exp(-u))

    total = peaked(lambda u: log_integrand(place(u)) - top, factor)
    return np.where((a > 0) & (x > 0), np.exp(top - gammaln(a)) * total, np.nan)


@cache
def tricomi(m: int, n: int) -> Any:
    """The derivative of order (m, n) in (a, b) of U(a, b, x)."""
    f = kernel(
        lambda a, b, x: blockwise(lambda *columns: _column(m, n, *columns), a, b, x),
        lambda out, *args: tricomi(m + 1, n)(*args),
        lambda out, *args: tricomi(m, n + 1)(*args),
        # DLMF 13.3.22 with 13.3.9: U' = U(a, b) - U(a, b + 1), free of a factor a
        lambda out, a, b, x: out - f(a, b + 1, x),
        name=f"hyperu_{m}_{n}",
    )
    return f


@formula
def hyperu_in(m: int, n: int, a: Any, b: Any, x: Any) -> Any:
    refuse_where(a <= 0, "hyperu", "a" if m else "b", "a is not positive")
    return tricomi(m, n)(a, b, x)


special(
    "hyperu",
    "hyperu_in(1, 0, x, y, z)",
    "hyperu_in(0, 1, x, y, z)",
    "-x * hyperu(x + 1, y + 1, z)",
)
