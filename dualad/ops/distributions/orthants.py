"""The probability that normal numbers lie below limits.

Its slopes are probabilities in fewer dimensions: in a limit, the density there times the
probability of the others given that value; in a correlation, the density of that pair times the
probability of the others given both (Plackett, "A reduction formula for normal multivariate
integrals", 1954).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats as st
from scipy import special

from ...engine.primitives.composite import Composite
from ..linalg import diagonal_of

__all__ = ["LOG_2PI", "probability"]

LOG_2PI = float(np.log(2 * np.pi))


def _bivariate(h: float, k: float, rho: float) -> float:
    """P(X < h, Y < k) at correlation rho, by Owen's T function (Owen, 1956, equation 2.1)."""
    if np.isinf(h) or np.isinf(k):
        return 0.0 if min(h, k) == -np.inf else float(special.ndtr(min(h, k)))
    root = np.sqrt((1 - rho) * (1 + rho))
    if h == 0 and k == 0:
        return 0.25 + np.arcsin(rho) / (2 * np.pi)

    def owen(a: float, b: float) -> float:
        if a == 0:
            return float(np.arctan(np.copysign(np.inf, b)) / (2 * np.pi))
        return float(special.owens_t(a, (b - rho * a) / (a * root)))

    apart = 0.5 if h * k < 0 or (h * k == 0 and h + k < 0) else 0.0
    return float(special.ndtr(h) + special.ndtr(k)) / 2 - owen(h, k) - owen(k, h) - apart


def _plain_probability(z: Any, r: Any, options: tuple) -> Any:
    """P(Z < z) of standard normal numbers with correlations r; from three on it is SciPy's."""
    r = (r + r.T) / 2
    if len(z) == 1:
        return special.ndtr(z[0])
    if len(z) == 2:
        return np.float64(_bivariate(float(z[0]), float(z[1]), float(r[0, 1])))
    return np.float64(st.multivariate_normal.cdf(z, None, r, True, **dict(options)))


def _given(z: Any, r: Any, known: list[int], options: tuple) -> Any:
    """The probability of all other numbers, given the values of some."""
    rest = [k for k in range(z.shape[0]) if k not in known]
    if not rest:
        return 1.0
    weights = np.linalg.solve(r[known][:, known], r[known][:, rest]).T
    spread = r[rest][:, rest] - weights @ r[known][:, rest]
    scale = np.sqrt(diagonal_of(spread))
    moved = (z[rest] - weights @ z[known]) / scale
    return probability(moved, spread / (scale[:, None] * scale), options=options)


def _in_limits(t: Any, out: Any, z: Any, r: Any, options: tuple) -> Any:
    slopes = [
        np.exp(-z[i] * z[i] / 2 - LOG_2PI / 2) * _given(z, r, [i], options)
        for i in range(z.shape[0])
    ]
    return np.sum(np.stack(slopes) * t)


def _in_correlations(t: Any, out: Any, z: Any, r: Any, options: tuple) -> Any:
    """r counts as symmetric: both entries of a pair have half of its slope."""
    total = 0.0
    for i in range(z.shape[0]):
        for j in range(i):
            rho = r[i, j]
            rest = (1 - rho) * (1 + rho)
            form = (z[i] * z[i] - 2 * rho * z[i] * z[j] + z[j] * z[j]) / rest
            density = np.exp(-form / 2 - LOG_2PI) / np.sqrt(rest)
            total = total + density * _given(z, r, [i, j], options) * (t[i, j] + t[j, i]) / 2
    return total


probability = Composite(
    _plain_probability, _in_limits, _in_correlations, name="scipy.stats.multivariate_normal.cdf"
)
