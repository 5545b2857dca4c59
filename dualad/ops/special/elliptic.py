"""Legendre's elliptic integrals and Jacobi's elliptic functions (DLMF chapters 19 and 22).

Their derivatives in the parameter m are Carlson's integral R_D (19.25.1, 19.25.9 to 19.25.14),
which has no cancellation at m = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import elliprd

from .table import formula, several, special

__all__: list[str] = []


def _reduced(phi: Any) -> tuple[Any, Any, Any]:
    """The number of half turns in phi, and sine and cosine of the rest."""
    k = np.rint(phi / np.pi)
    rest = phi - k * np.pi
    return k, np.sin(rest), np.cos(rest)


def _turns(k: Any, complete: Any) -> Any:
    """2 k times a complete integral; without a turn that may be infinite."""
    return 2 * k * np.where(k == 0, 0.0, complete)


@formula
def ellipkinc_in_m(phi: Any, m: Any) -> Any:
    k, s, c = _reduced(phi)
    inside = s**3 / 6 * elliprd(c * c, 1.0, 1 - m * s * s)
    return inside + _turns(k, elliprd(0.0, 1.0, 1 - m) / 6)


@formula
def ellipeinc_in_m(phi: Any, m: Any) -> Any:
    k, s, c = _reduced(phi)
    inside = -(s**3) / 6 * elliprd(c * c, 1 - m * s * s, 1.0)
    return inside + _turns(k, -elliprd(0.0, 1 - m, 1.0) / 6)


@formula
def dn_in_m(out: Any, m: Any) -> Any:
    sn, cn, dn, phi = out
    return -0.5 * sn * sn / dn + m * sn * cn * ellipkinc_in_m(phi, m)


# fmt: off
special("ellipk",   "elliprd(0, 1, 1 - x) / 6")
special("ellipkm1", "-elliprd(0, 1, x) / 6")
special("ellipe",   "-elliprd(0, 1 - x, 1) / 6")
special("ellipkinc", "(1 - y * sin(x) ** 2) ** -0.5", "ellipkinc_in_m(x, y)")
special("ellipeinc", "sqrt(1 - y * sin(x) ** 2)",     "ellipeinc_in_m(x, y)")
special("agm", "out * out * abs(x) * elliprd(0, y * y, x * x) * 2 / (3 * PI)",
               "out * out * abs(y) * elliprd(0, x * x, y * y) * 2 / (3 * PI)")
# The amplitude moves by -dn dF/dm with m, where F is the incomplete integral that it inverts.
several("ellipj",
        ("out[1] * out[2]", "-out[0] * out[2]", "-y * out[0] * out[1]", "out[2]"),
        ("-out[1] * out[2] * ellipkinc_in_m(out[3], y)",
         "out[0] * out[2] * ellipkinc_in_m(out[3], y)",
         "dn_in_m(out, y)",
         "-out[2] * ellipkinc_in_m(out[3], y)"))
# fmt: on
