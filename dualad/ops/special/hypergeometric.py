"""Hypergeometric functions in argument and parameters (DLMF chapters 13, 15, 16).

No closed form is known for their derivatives in the parameters. They are those of a program that
solves the differential equation by Taylor series from point to point, from 0 to the argument, in
steps within the disk of convergence: it is accurate also where the series about 0 cancels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gamma, rgamma

from ...engine.kinds.slope import slope_in
from ...engine.levels.traced import raw
from .table import Refused, fixed, special

__all__ = ["gauss", "kummer", "limit"]

TERMS, STEPS = 60, 1500


def solve(e: float, c: Any, d: Any, f: Any, z: Any) -> Any:
    """y(z) for real z of (s + e s**2) y'' + (c + d s) y' + f y = 0, regular at 0 with y(0) = 1."""
    finite = np.isfinite(z)
    end = np.where(finite, z, 0.0)
    at = _first_point(e, c, d, f, end)
    y, slope = _series_at_zero(e, c, d, f, at)
    for _ in range(STEPS):
        if not np.any(raw(at != end)):
            break
        h = _next_step(e, c, d, f, at, end)
        if not np.any(raw((at != end) & (np.abs(h) * STEPS > np.abs(end - at)))):
            break
        to = np.where(np.abs(end - at) <= np.abs(h), end, at + h)
        y, slope = _expand(e, c, d, f, at, to - at, y, slope)
        at = to
    return y * np.where(finite & (at == end), 1.0, np.nan)


def _first_point(e: float, c: Any, d: Any, f: Any, z: Any) -> Any:
    reach = 0.5 / (1 + (np.abs(f) + np.abs(d)) / (1 + np.abs(c)))
    reach = np.where(np.isfinite(reach), reach, 0.5)
    return z * np.minimum(1.0, fixed(reach / np.maximum(np.abs(z), reach)))


def _series_at_zero(e: float, c: Any, d: Any, f: Any, z: Any) -> tuple[Any, Any]:
    term = 1.0 + 0 * z
    y, slope = term, 0 * z
    for k in range(TERMS):
        ratio = -(e * k * (k - 1) + d * k + f) / ((k + 1) * (k + c))
        slope = slope + term * ratio * (k + 1)
        term = term * ratio * z
        y = y + term
    return y, slope


def _next_step(e: float, c: Any, d: Any, f: Any, at: Any, z: Any) -> Any:
    """Within the disk of convergence, an oscillation or a moderate growth."""
    leading = np.abs(at * (1 + e * at))
    room = np.minimum(np.abs(at), np.abs(1 + e * at)) if e else np.abs(at)
    rate = np.abs(c + d * at) / leading
    h = np.minimum(0.4 * room, 6 / rate)
    h = np.minimum(h, 2 * np.sqrt(leading / np.abs(f)))
    h = np.where(np.isfinite(h), h, 0.4 * room)
    return fixed(np.sign(z - at) * np.minimum(h, np.abs(z - at)))


def _expand(
    e: float, c: Any, d: Any, f: Any, at: Any, h: Any, y: Any, slope: Any
) -> tuple[Any, Any]:
    """Value and slope at a distance h, from those at a point, by the Taylor series there."""
    leading = at * (1 + e * at)
    leading = np.where(leading == 0, 1.0, leading)  # at its end the step is 0 too
    bend, first = (1 + 2 * e * at) * h / leading, (c + d * at) * h / leading
    square = h * h / leading
    before, term = slope, -0.5 * (first * slope + f * h / leading * y)
    rise, tilt = before + term, before + 2 * term
    for k in range(1, TERMS):
        forced = (e * k * (k - 1) + d * k + f) * square * before
        after = -((k + 1) * (k * bend + first) * term + forced) / ((k + 2) * (k + 1))
        before, term = term, after
        rise, tilt = rise + term, tilt + (k + 2) * term
    return y + h * rise, tilt


def limit(b: Any, z: Any) -> Any:
    """0F1(; b; z)."""
    return solve(0.0, b, 0.0, -1.0, z)


def kummer(a: Any, b: Any, z: Any) -> Any:
    """1F1(a; b; z), by Kummer's transformation for z < 0 (DLMF 13.2.39)."""
    left = z < 0
    y = solve(0.0, b, -1.0, -np.where(left, b - a, a), np.abs(z))
    return np.where(left, np.exp(np.minimum(z, 0)) * y, y)


def gauss(a: Any, b: Any, c: Any, z: Any) -> Any:
    """2F1(a, b; c; z) for real z < 1, and by Gauss's theorem at 1 (DLMF 15.4.20)."""
    inside = z < 1
    y = solve(-1.0, c, -(a + b + 1), -a * b, np.where(inside, z, 0.5))
    at_one = gamma(c) * gamma(c - a - b) * rgamma(c - a) * rgamma(c - b)
    return np.where((z == 1) & (c > a + b), at_one, y * np.where(inside, 1.0, np.nan))


def _complex(parameter: str) -> Refused:
    return Refused(parameter, "derivatives in the parameters are known for real arguments only")


A, B, C = map(_complex, "abc")
IN_Z = ("hyp0f1(x + 1, y) / x", "x / y * hyp1f1(x + 1, y + 1, z)",
        "x * y / z * hyp2f1(x + 1, y + 1, z + 1, w)")  # fmt: skip

# fmt: off
special("hyp0f1", slope_in(0, limit), IN_Z[0], complex=(B, IN_Z[0]))
special("hyp1f1", slope_in(0, kummer), slope_in(1, kummer), IN_Z[1], complex=(A, B, IN_Z[1]))
special("hyp2f1", slope_in(0, gauss), slope_in(1, gauss), slope_in(2, gauss), IN_Z[2],
        complex=(A, B, C, IN_Z[2]))
# fmt: on
