"""Functions of SymPy that its printer for mpmath does not know, in mpmath."""

from __future__ import annotations

from typing import Any

import mpmath

__all__ = ["MPMATH"]


def _spherical(bessel: Any) -> Any:
    return lambda n, x: mpmath.sqrt(mpmath.pi / (2 * x)) * bessel(n + mpmath.mpf(1) / 2, x)


#: What lambdify calls them by.
MPMATH = {
    "rint": mpmath.nint,
    "trunc": lambda x: mpmath.sign(x) * mpmath.floor(abs(x)),
    "airyaiprime": lambda x: mpmath.airyai(x, derivative=1),
    "airybiprime": lambda x: mpmath.airybi(x, derivative=1),
    "jn": _spherical(mpmath.besselj),
    "yn": _spherical(mpmath.bessely),
    "erfcinv": lambda x: mpmath.erfinv(1 - x),
    "assoc_laguerre": mpmath.laguerre,
    "hermite_prob": lambda n, x: 2 ** (-n / 2) * mpmath.hermite(n, x / mpmath.sqrt(2)),
}
