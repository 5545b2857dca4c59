"""Parabolic cylinder functions (DLMF chapter 12), in argument and order.

SciPy gives each with its derivative; the second one is what the differential equation says. In
the order they are differentiated as combinations of the even and the odd solution.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import loggamma, rgamma

from ...engine.kinds.slope import slope_in
from .hypergeometric import kummer
from .table import formula, refuse_where, several

__all__: list[str] = []

#: Beyond it the two solutions cancel too much.
REACH, TERMS = 5.0, 120
ROOT_PI = float(np.sqrt(np.pi))


def _solutions(a: Any, x: Any) -> tuple[Any, Any]:
    """The even and the odd solution of y'' = (x**2 / 4 + a) y (DLMF 12.7.12, 12.7.13)."""
    u, scale = 0.5 * x * x, np.exp(-0.25 * x * x)
    even = kummer(0.5 * a + 0.25, 0.5, u)
    return scale * even, x * scale * kummer(0.5 * a + 0.75, 1.5, u)


def _first(v: Any, x: Any) -> Any:
    """D_v(x) = U(-v - 1/2, x) (DLMF 12.2.6, 12.2.7)."""
    a = -v - 0.5
    even, odd = _solutions(a, x)
    at_zero = ROOT_PI * 2 ** (-0.5 * a - 0.25) * rgamma(0.75 + 0.5 * a)
    slope = -ROOT_PI * 2 ** (0.25 - 0.5 * a) * rgamma(0.25 + 0.5 * a)
    return at_zero * even + slope * odd


def _second(v: Any, x: Any) -> Any:
    """V(-v - 1/2, x) (DLMF 12.2.8, 12.2.9)."""
    a = -v - 0.5
    even, odd = _solutions(a, x)
    at_zero = 2 ** (0.5 * a + 0.25) * rgamma(0.75 - 0.5 * a) ** 2 * rgamma(0.25 + 0.5 * a)
    slope = 2 ** (0.5 * a + 0.75) * rgamma(0.25 - 0.5 * a) ** 2 * rgamma(0.75 + 0.5 * a)
    return np.pi * (at_zero * even + slope * odd)


def _taylor(a: Any, x: Any, first: float, second: float) -> Any:
    """The solution of y'' = (a - x**2 / 4) y with given value and slope at 0."""
    before, terms = [0.0, 0.0], [first + 0 * x, second * x]
    total = terms[0] + terms[1]
    square = x * x
    for k in range(TERMS):
        after = (a * terms[0] - 0.25 * square * before[0]) * square / ((k + 2) * (k + 1))
        before, terms = [before[1], terms[0]], [terms[1], after]
        total = total + after
    return total


def _oscillating(a: Any, x: Any) -> Any:
    """W(a, x) (DLMF 12.14.2 to 12.14.4)."""
    quarter = np.real(loggamma(0.25 + 0.5j * a)) - np.real(loggamma(0.75 + 0.5j * a))
    even, odd = _taylor(a, x, 1.0, 0.0), _taylor(a, x, 0.0, 1.0)
    return 2**-0.75 * (np.exp(0.5 * quarter) * even - 2**0.5 * np.exp(-0.5 * quarter) * odd)


def _in_order(algorithm: Any) -> tuple[Any, Any]:
    """The derivatives in the order of a function and of its derivative in x."""

    def slope(order: Any, x: Any) -> Any:
        return slope_in(1, algorithm)(None, order, x)

    return slope_in(0, algorithm), slope_in(0, slope)


ALGORITHMS = {"pbdv": ("v", _first), "pbvv": ("v", _second), "pbwa": ("a", _oscillating)}
SLOPES = {name: _in_order(algorithm) for name, (_, algorithm) in ALGORITHMS.items()}


@formula
def parabolic_in_order(name: str, part: int, order: Any, x: Any) -> Any:
    refuse_where(np.abs(x) > REACH, name, ALGORITHMS[name][0], f"|x| is above {REACH:g}")
    return SLOPES[name][part](None, order, x)


for _name, _curvature in (
    ("pbdv", "(0.25 * y * y - x - 0.5) * out[0]"),
    ("pbvv", "(0.25 * y * y - x - 0.5) * out[0]"),
    ("pbwa", "(x - 0.25 * y * y) * out[0]"),
):
    several(
        _name,
        tuple(f"parabolic_in_order({_name!r}, {part}, x, y)" for part in (0, 1)),
        ("out[1]", _curvature),
    )
