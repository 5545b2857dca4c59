"""Logarithms of probabilities that are too small for a float, by their leading series."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from ...engine.levels.traced import raw

__all__ = ["log_beta_tail", "log_gamma_tail", "log_poisson_tail", "log_probability"]

#: Below this a probability has lost digits, or is zero.
SMALL = 1e-290
TERMS = 100


def log_probability(
    below: Callable[..., Any], above: Callable[..., Any], tail: Callable[..., Any], *args: Any
) -> Any:
    """log below(*args), by its complement where it is near 1, by a series where it underflows."""
    p = below(*args)
    small, large = p < SMALL, p > 0.5
    out = np.log(np.where(small, 1.0, p))
    if np.any(raw(large)):
        out = np.where(large, np.log1p(-above(*args)), out)
    return np.where(small, tail(*args), out) if np.any(raw(small)) else out


def _log_sum(ratio: Callable[[int], Any]) -> Any:
    """log(1 + r0 + r0 r1 + r0 r1 r2 + ...), of ratios below 1 that change little later on.

    Where that is not so the probability is not small, and the result is not used.
    """
    total = term = 1.0
    for n in range(TERMS):
        term = term * np.minimum(ratio(n), 1.0)
        total = total + term
    last = np.minimum(ratio(TERMS), 0.999999)
    return np.log(total + term * last / (1 - last))


def log_gamma_tail(z: Any, a: Any) -> Any:
    """log P(a, z) for z far below a (DLMF 8.7.1)."""
    lead = special.xlogy(a, z) - z - special.gammaln(a + 1)
    return lead + _log_sum(lambda n: z / (a + 1 + n))


def log_beta_tail(z: Any, a: Any, b: Any) -> Any:
    """log I_z(a, b) for z far below a / (a + b) (DLMF 8.17.8)."""
    lead = special.xlogy(a, z) + special.xlog1py(b, -z) - special.betaln(a, b) - np.log(a)
    return lead + _log_sum(lambda n: z * (a + b + n) / (a + 1 + n))


def log_poisson_tail(k: Any, mu: Any) -> Any:
    """log of the Poisson probability of k or less, for k far below mu."""
    lead = special.xlogy(k, mu) - special.gammaln(k + 1) - mu
    return lead + _log_sum(lambda n: np.maximum(k - n, 0.0) / mu)
