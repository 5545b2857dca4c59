"""Derivatives of exp(g) from those of g: the complete Bell polynomials.

For a density exp(g(a, b)) the derivative of order (m, n) is the density times a polynomial in the
derivatives of g, found by differentiating exp(g) once and applying Leibniz' rule to the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

__all__ = ["bell"]


def bell(m: int, n: int, slope: Callable[[int, int], Any]) -> Any:
    """exp(-g) times the derivative of exp(g) of order (m, n); slope(i, j) is that of g."""
    if m == n == 0:
        return 1.0
    if m == 0:
        return bell(n, 0, lambda i, j: slope(j, i))
    total = 0.0
    for i in range(m):
        for j in range(n + 1):
            lower = bell(m - 1 - i, n - j, slope)
            total = total + comb(m - 1, i) * comb(n, j) * lower * slope(i + 1, j)
    return total
