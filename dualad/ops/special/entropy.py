"""Entropies, divergences and robust losses.

At 0 the convention is that of the functions: a factor x that is exactly 0 wins, so that
x log y has slope 0 in y at x = y = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .table import formula, special

__all__: list[str] = []


@formula
def log_quotient(x: Any, y: Any) -> Any:
    """log(x / y), where the quotient may be near 1, overflow or underflow."""
    q = x / y
    close, plain = np.abs(q - 1) < 0.5, (q > 1e-300) & (q < 1e300)
    near = np.log1p(np.where(close, x - y, 0) / np.where(close, y, 1))
    far = np.where(plain, np.log(np.where(plain, q, 1)), np.log(x) - np.log(y))
    return np.where(close, near, far)[()]


@formula
def quotient(x: Any, y: Any) -> Any:
    """x / y, with 0 / 0 = 0."""
    return x / np.where((x == 0) & (y == 0), 1, y)


@formula
def divergence_slope(x: Any, y: Any) -> Any:
    """1 - x / y, with 0 / 0 = 0."""
    both = (x == 0) & (y == 0)
    return (y - x) / np.where(both, 1, y) + both


@formula
def pseudo_huber_in_delta(delta: Any, r: Any) -> Any:
    """d/d delta of delta**2 (sqrt(1 + (r / delta)**2) - 1), without cancellation."""
    q = np.hypot(delta, r)
    q = np.where(q == 0, 1.0, q)
    return r * (r / q) * (r / (q + delta)) ** 2


# fmt: off
special("entr",     "-log(x) - 1")
special("rel_entr", "log_quotient(x, y) + 1", "-quotient(x, y)")
special("kl_div",   "log_quotient(x, y)",     "divergence_slope(x, y)")
special("xlogy",    "log(y)",   "quotient(x, y)")
special("xlog1py",  "log1p(y)", "quotient(x, 1 + y)")
special("huber",    "maximum(abs(y) - x, 0)", "minimum(maximum(y, -x), x)")
special("pseudo_huber", "pseudo_huber_in_delta(x, y)", "y * quotient(x, hypot(x, y))")
# fmt: on
