"""Kelvin functions (DLMF 10.61): Bessel functions on the diagonals of the complex plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import jv, kv

from .table import formula, several, special

__all__: list[str] = []

FIRST, SECOND = np.exp(0.75j * np.pi), np.exp(0.25j * np.pi)


@formula
def kelvin_first_curvature(x: Any) -> Any:
    """The second derivative of ber x + i bei x = J_0(x exp(3 pi i / 4))."""
    z = x * FIRST
    return -0.5j * (jv(2, z) - jv(0, z))


@formula
def kelvin_second_curvature(x: Any) -> Any:
    """The second derivative of ker x + i kei x = K_0(x exp(pi i / 4))."""
    z = x * SECOND
    return 0.5j * (kv(2, z) + kv(0, z))


# fmt: off
special("ber",  "berp(x)")
special("bei",  "beip(x)")
special("ker",  "kerp(x)")
special("kei",  "keip(x)")
special("berp", "real(kelvin_first_curvature(x))")
special("beip", "imag(kelvin_first_curvature(x))")
special("kerp", "real(kelvin_second_curvature(x))")
special("keip", "imag(kelvin_second_curvature(x))")
several("kelvin", ("out[2]", "out[3]", "kelvin_first_curvature(x)", "kelvin_second_curvature(x)"))
# fmt: on
