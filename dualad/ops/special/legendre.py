"""Legendre functions, spherical harmonics and their kin (DLMF chapter 14)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import rgamma

from ...engine.kinds.slope import slope_in
from .hypergeometric import gauss
from .table import formula, special, whole_number

__all__: list[str] = []


def _ferrers(m: Any, v: Any, x: Any) -> Any:
    """P_v^m(x) for whole m and -1 < x < 1 (DLMF 14.3.1, 14.9.3), a factor constant in v apart."""
    order = np.abs(m)
    scale = rgamma(v - order + 1) / rgamma(v + order + 1)
    scale = np.where(m < 0, 1.0, scale) * (1 - x * x) ** (0.5 * order)
    constant = (-0.5) ** order * rgamma(order + 1.0) * np.where(m < 0, (-1.0) ** order, 1.0)
    return constant * scale * gauss(order - v, v + order + 1, order + 1.0, (1 - x) / 2)


@formula
def ferrers_slope(out: Any, m: Any, v: Any, x: Any, below: Any) -> Any:
    """d/dx P_v^m from P_(v-1)^m (DLMF 14.10.5)."""
    return ((v + m) * below - v * x * out) / (1 - x * x)


# fmt: off
special("lpmv", whole_number("m"), slope_in(1, _ferrers),
        "ferrers_slope(out, x, y, z, lpmv(x, y - 1, z))")
# fmt: on
