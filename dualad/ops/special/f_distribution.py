"""The F distribution and Student's t, in argument and degrees of freedom, and their inverses.

The distribution function of F is I_u(m / 2, n / 2) with u = m x / (n + m x), whose derivative in m
is the difference of two terms that nearly cancel for many degrees of freedom. As the integral of
the derivative of the density at fixed x, it has no such cancellation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...engine.kinds.slope import slope_in
from .bell import bell
from .exponential_integrals import log1p_less
from .gamma import polygamma, psi_difference, psi_differences
from .incomplete_beta import beta_density, log_poch, one_sided
from .quadrature import blockwise
from .table import formula, kernel, special

__all__ = ["f_in_degrees", "t_in_degrees", "t_log_density"]


# --- the logarithm of the density ----------------------------------------------------------------


def _gap(a: Any, b: Any) -> Any:
    """psi(a + b) - psi(a) - log(1 + b / a), by its series where a is large (DLMF 5.11.2)."""
    big = np.where(a < 30, 30.0, a)
    series: Any = 0.0
    for p, c in ((8, -1 / 240), (6, 1 / 252), (4, -1 / 120), (2, 1 / 12), (1, 0.5)):
        series = series - c * big**-p * np.expm1(-p * np.log1p(b / big))
    return np.where(a < 30, psi_difference(a, b) - np.log1p(b / a), series)[()]


digamma_gap = kernel(
    _gap,
    lambda out, a, b: psi_differences(1)(a, b) + b / (a * (a + b)),
    lambda out, a, b: polygamma(1, a + b) - 1 / (a + b),
    name="digamma_gap",
)


def _in_m(m: Any, n: Any, x: Any) -> Any:
    """The derivative in m of the logarithm of the density of log x."""
    low = x < 1
    u, v = np.where(low, x, 1.0), np.where(low, 1.0, 1 / np.where(low, 1.0, x))
    whole = n * v + m * u
    move, share = n * (u - v) / whole, (m + n) * u / whole  # share is 1 + move
    near = np.abs(move) < 0.1
    far = np.log(np.where(near, 1.0, share)) - move
    spread = np.where(near, log1p_less(np.where(near, move, 0.0)), far)
    return 0.5 * (spread + digamma_gap(0.5 * m, 0.5 * n))


def _in_n(m: Any, n: Any, x: Any) -> Any:
    """The derivative in n: 1 / x has an F distribution too, of n and m degrees."""
    return _in_m(n, m, 1 / x)


@cache
def _log_slope(i: int, j: int) -> Callable[..., Any]:
    """The derivative of order (i, j) in (m, n) of the logarithm of the density."""
    if i + j == 1:
        return _in_m if i else _in_n
    k, lower = (0, _log_slope(i - 1, j)) if i > 1 or (i and j) else (1, _log_slope(i, j - 1))
    return lambda m, n, x: slope_in(k, lower)(None, m, n, x)


def _polynomial(i: int, j: int, m: Any, n: Any, x: Any) -> Any:
    """The derivative of order (i, j) of the density, over the density."""
    return bell(i, j, lambda p, q: _log_slope(p, q)(m, n, x))


# --- F -------------------------------------------------------------------------------------------


@formula
def f_density(m: Any, n: Any, x: Any) -> Any:
    whole = n + m * x
    return beta_density(0.5 * m, 0.5 * n, m * x / whole, n / whole) * m * n / whole**2


def _column(i: int, j: int, m: Any, n: Any, x: Any) -> Any:
    """The derivative of order (i, j) in (m, n), for columns."""
    bad = (m <= 0) | (n <= 0) | (x < 0) | np.isnan(m + n + x)
    flat = (x == 0) | np.isposinf(x)
    m, n, x = (np.where(bad | flat, 1.0, c) for c in (m, n, x))

    def weight(log_t: Any, log_s: Any, a: Any, b: Any) -> Any:
        odds = np.exp(np.clip(log_t - log_s, -700.0, 700.0))
        return _polynomial(i, j, 2 * a, 2 * b, odds * b / a)

    whole = n + m * x
    out = one_sided((x >= 1)[:, 0], weight, 0.5 * m, 0.5 * n, m * x / whole, n / whole)
    return np.where(bad, np.nan, np.where(flat, 0.0, out))


@cache
def f_in_degrees(i: int, j: int) -> Any:
    """The derivative of order (i, j) in (m, n) of the distribution function of F at (m, n, x)."""
    return kernel(
        lambda *args: blockwise(lambda *columns: _column(i, j, *columns), *args),
        lambda out, *args: f_in_degrees(i + 1, j)(*args),
        lambda out, *args: f_in_degrees(i, j + 1)(*args),
        lambda out, *args: f_density(*args) * _polynomial(i, j, *args),
        name={(1, 0): "f_in_m", (0, 1): "f_in_n"}.get((i, j), f"f_in_degrees_{i}_{j}"),
    )


f_in_degrees(1, 0)
f_in_degrees(0, 1)


# --- Student's t: t**2 has an F distribution of 1 and n degrees ---------------------------------


def _t_log_density(n: Any, t: Any) -> Any:
    """log of gamma((n + 1) / 2) / (sqrt(n pi) gamma(n / 2)) (1 + t**2 / n)**(-(n + 1) / 2)."""
    n = np.float64(n)
    scale = log_poch(0.5 * n, np.float64(0.5)) - 0.5 * np.log(np.pi * n)
    return scale - 0.5 * (n + 1) * np.log1p(t * t / n)


def _t_density(n: Any, t: Any) -> Any:
    return np.exp(_t_log_density(n, t))


t_log_density = kernel(
    _t_log_density,
    lambda out, n, t: _in_n(1.0, n, t * t),
    lambda out, n, t: -(n + 1) * t / (n + t * t),
    name="t_log_density",
)
t_density = kernel(
    _t_density,
    lambda out, n, t: out * _in_n(1.0, n, t * t),
    lambda out, n, t: -out * (n + 1) * t / (n + t * t),
    name="t_density",
)


@cache
def t_in_degrees(j: int) -> Any:
    """The derivative of order j >= 1 in n of the distribution function of t at (n, t)."""
    f = f_in_degrees(0, j)
    return kernel(
        lambda n, t: 0.5 * np.sign(t) * f(1.0, n, np.square(t)),
        lambda out, n, t: t_in_degrees(j + 1)(n, t),
        lambda out, n, t: t_density(n, t) * _polynomial(0, j, 1.0, n, t * t),
        name="t_in_n" if j == 1 else f"t_in_degrees_{j}",
    )


t_in_degrees(1)

# fmt: off
special("fdtr",  "f_in_m(x, y, z)",  "f_in_n(x, y, z)",  "f_density(x, y, z)")
special("fdtrc", "-f_in_m(x, y, z)", "-f_in_n(x, y, z)", "-f_density(x, y, z)")
special("fdtri", "-f_in_m(x, y, out) / f_density(x, y, out)",
                 "-f_in_n(x, y, out) / f_density(x, y, out)", "1 / f_density(x, y, out)")
special("fdtridfd", "-f_in_m(x, out, z) / f_in_n(x, out, z)", "1 / f_in_n(x, out, z)",
                    "-f_density(x, out, z) / f_in_n(x, out, z)")
special("stdtr",    "t_in_n(x, y)", "t_density(x, y)")
special("stdtrit",  "-t_in_n(x, out) / t_density(x, out)", "1 / t_density(x, out)")
special("stdtridf", "1 / t_in_n(out, y)", "-t_density(out, y) / t_in_n(out, y)")
# fmt: on
