"""Carlson's symmetric elliptic integrals (DLMF 19.16), closed under differentiation.

Each is the integral over t > 0 of a product of powers (t + x)**(-k/2), times a constant; a
derivative raises one k by 2. Where SciPy has the result it is used (19.18.1); else the trapezoidal
rule in log t, which converges geometrically: the nearest singularity is at -x.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.special import elliprd, elliprf

from .table import formula, kernel, refuse_where, special

__all__ = ["carlson"]

#: How far the integrand is followed to either side of the arguments in log t, and the step.
LEFT, RIGHT, STEP = 80.0, 40.0, 0.125
BLOCK = 256


def _column(powers: tuple[int, ...], *columns: Any) -> Any:
    """The integral for columns of arguments that are not negative real numbers."""
    sizes = np.abs(np.concatenate(columns, axis=1))
    low = np.log(np.where(sizes > 0, sizes, np.inf).min(axis=1, keepdims=True))
    high = np.log(sizes.max(axis=1, keepdims=True))
    spread = np.where(np.isfinite(high - low), high - low, 0.0).max(initial=0.0)
    count = int(np.ceil((spread + LEFT + RIGHT) / STEP))
    t = np.exp(low - LEFT + STEP * np.arange(count))
    total = t * STEP
    for k, x in zip(powers, columns, strict=True):
        total = total * (t + x) ** (-k / 2)
    at_zero = sum(k * (x == 0) for k, x in zip(powers, columns, strict=True))
    total = np.where(at_zero < 2, total, np.inf)  # t**-1 has no integral to 0.
    far = np.max(np.abs(np.angle(np.concatenate(columns, axis=1))), axis=1, keepdims=True)
    return np.where(far < 2.4, total.sum(axis=1, keepdims=True), np.nan)


@cache
def carlson(*powers: int) -> Any:
    """The integral of the product of (t + x)**(-k / 2) over t > 0, one x for each k."""

    def impl(*args: Any) -> Any:
        arrays = np.broadcast_arrays(*map(np.asarray, args))
        columns = [a.reshape(-1, 1).astype(np.result_type(a, np.float64)) for a in arrays]
        with np.errstate(all="ignore"):
            parts = [
                _column(powers, *(c[k : k + BLOCK] for c in columns)).reshape(-1)
                for k in range(0, max(len(columns[0]), 1), BLOCK)
            ]
        return np.concatenate(parts).reshape(arrays[0].shape)[()]

    def slope(j: int) -> Any:
        raised = tuple(k + 2 * (i == j) for i, k in enumerate(powers))
        return lambda out, *args: -powers[j] / 2 * carlson(*raised)(*args)

    return kernel(impl, *map(slope, range(len(powers))), name=f"carlson{powers}")


@formula
def elliprd_slope(x: Any, y: Any, z: Any) -> Any:
    """d/dx of R_D(x, y, z), symmetric in x and y."""
    return -0.75 * carlson(3, 1, 3)(x, y, z)


@formula
def elliprd_slope_last(x: Any, y: Any, z: Any) -> Any:
    """d/dz of R_D(x, y, z)."""
    return -2.25 * carlson(1, 1, 5)(x, y, z)


@formula
def elliprj_slope(x: Any, y: Any, z: Any, p: Any) -> Any:
    """d/dx of R_J(x, y, z, p), symmetric in x, y and z."""
    refuse_where(np.real(p) < 0, "elliprj", "p", "it is negative: a Cauchy principal value")
    return -0.75 * carlson(3, 1, 1, 2)(x, y, z, p)


@formula
def elliprj_slope_last(x: Any, y: Any, z: Any, p: Any) -> Any:
    """d/dp of R_J(x, y, z, p)."""
    refuse_where(np.real(p) < 0, "elliprj", "p", "it is negative: a Cauchy principal value")
    return -1.5 * carlson(1, 1, 1, 4)(x, y, z, p)


@formula
def elliprc_slope(out: Any, x: Any, y: Any) -> Any:
    """d/dx of R_C(x, y) = R_F(x, y, y); for y < 0 from its differential equation."""
    negative = np.real(y) < 0
    u, v = np.where(negative, 1.0, y), np.where(negative, y, -1.0)
    principal = 0.5 * (out - x**-0.5) / (v - x)
    return np.where(negative, principal, -elliprd(u, u, x) / 6)[()]


@formula
def elliprc_slope_last(out: Any, x: Any, y: Any) -> Any:
    """d/dy of R_C(x, y); for y < 0 by homogeneity."""
    negative = np.real(y) < 0
    u, v = np.where(negative, 1.0, y), np.where(negative, y, -1.0)
    principal = -(0.5 * out + 0.5 * (x * out - x**0.5) / (v - x)) / v
    return np.where(negative, principal, -elliprd(x, u, u) / 3)[()]


@formula
def elliprg_slope(x: Any, y: Any, z: Any) -> Any:
    """d/dx of R_G(x, y, z), where x R_D(y, z, x) tends to 0 with x beside R_F(x, y, z)."""
    edge = x == 0
    product = np.where(edge, 0.0, x * elliprd(y, z, np.where(edge, 1.0, x)))
    return (3 * elliprf(x, y, z) - product) / 12


# fmt: off
special("elliprf", "-elliprd(y, z, x) / 6", "-elliprd(x, z, y) / 6", "-elliprd(x, y, z) / 6")
special("elliprd", "elliprd_slope(x, y, z)", "elliprd_slope(y, x, z)",
                   "elliprd_slope_last(x, y, z)")
special("elliprg", "elliprg_slope(x, y, z)", "elliprg_slope(y, x, z)", "elliprg_slope(z, x, y)")
special("elliprj", "elliprj_slope(x, y, z, w)", "elliprj_slope(y, x, z, w)",
                   "elliprj_slope(z, x, y, w)", "elliprj_slope_last(x, y, z, w)")
special("elliprc", "elliprc_slope(out, x, y)", "elliprc_slope_last(out, x, y)")
# fmt: on
