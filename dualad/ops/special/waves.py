"""Mathieu and spheroidal wave functions (DLMF chapters 28, 30).

SciPy gives each with its derivative; the second one is what their differential equation says.
Characteristic values move as first-order perturbation theory says. Derivatives of the functions
in q or c are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp

from .table import Refused, formula, several, special, whole_number

__all__: list[str] = []

M, N = whole_number("m"), whole_number("n")
Q, C, CV = (Refused(name, "no formula is at hand") for name in ("q", "c", "cv"))
SECOND = lambda out, *args: out[1]  # noqa: E731
ANGLES = np.arange(256) * (360 / 256)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(120)


def _column(x: Any) -> Any:
    return x[..., None] if hasattr(x, "shape") else x


@formula
def mathieu_value_in_q(f: Any, m: Any, q: Any) -> Any:
    """The mean of 2 cos 2x under the square of the eigenfunction."""
    square = f(_column(m), _column(q), ANGLES)[0] ** 2
    return 2 * np.sum(square * sp.cosdg(2 * ANGLES), axis=-1) / np.sum(square, axis=-1)


@formula
def spheroidal_value_in_c(f: Any, sign: float, m: Any, n: Any, c: Any) -> Any:
    """2 c times the mean of x**2 under the square of the angular function; minus for oblate."""
    square = WEIGHTS * f(_column(m), _column(n), _column(c), NODES)[0] ** 2
    return sign * 2 * c * np.sum(square * NODES**2, axis=-1) / np.sum(square, axis=-1)


@formula
def angular_curvature(out: Any, value: Any, m: Any, square: Any, x: Any) -> Any:
    """(1 - x**2) S'' = 2 x S' - (value - square x**2 - m**2 / (1 - x**2)) S (DLMF 30.2.1)."""
    s = 1 - x * x
    return (2 * x * out[1] - (value - square * x * x - m * m / s) * out[0]) / s


@formula
def radial_curvature(out: Any, value: Any, m: Any, square: Any, s: float, x: Any) -> Any:
    """The same equation for x**2 - 1 (prolate, s = -1) or x**2 + 1 (oblate, s = 1)."""
    w = x * x + s
    return ((value - square * x * x - s * m * m / w) * out[0] - 2 * x * out[1]) / w


# fmt: off
special("mathieu_a", M, "mathieu_value_in_q(mathieu_cem, x, y)")
special("mathieu_b", M, "mathieu_value_in_q(mathieu_sem, x, y)")
for _name, _value in (("mathieu_cem", "mathieu_a"), ("mathieu_sem", "mathieu_b")):
    # x is in degrees, the derivative in radians
    several(_name, M, Q, ("DEGREE * out[1]",
                          f"DEGREE * (2 * y * cosdg(2 * z) - {_value}(x, y)) * out[0]"))
for _name, _value in (("mathieu_modcem1", "mathieu_a"), ("mathieu_modcem2", "mathieu_a"),
                      ("mathieu_modsem1", "mathieu_b"), ("mathieu_modsem2", "mathieu_b")):
    several(_name, M, Q, ("out[1]", f"({_value}(x, y) - 2 * y * cosh(2 * z)) * out[0]"))

special("pro_cv", M, N, "spheroidal_value_in_c(pro_ang1, 1, x, y, z)")
special("obl_cv", M, N, "spheroidal_value_in_c(obl_ang1, -1, x, y, z)")
several("pro_ang1", M, N, C, ("out[1]", "angular_curvature(out, pro_cv(x, y, z), x, z * z, w)"))
several("obl_ang1", M, N, C, ("out[1]", "angular_curvature(out, obl_cv(x, y, z), x, -z * z, w)"))
for _kind in ("rad1", "rad2"):
    several(f"pro_{_kind}", M, N, C,
            ("out[1]", "radial_curvature(out, pro_cv(x, y, z), x, z * z, -1, w)"))
    several(f"obl_{_kind}", M, N, C,
            ("out[1]", "radial_curvature(out, obl_cv(x, y, z), x, z * z, 1, w)"))


# With the characteristic value given: arguments m, n, c, cv, x
def _angular(sign: float) -> Any:
    return lambda out, m, n, c, cv, x: angular_curvature(out, cv, m, sign * c * c, x)


def _radial(s: float) -> Any:
    return lambda out, m, n, c, cv, x: radial_curvature(out, cv, m, c * c, s, x)


several("pro_ang1_cv", M, N, C, CV, (SECOND, _angular(1.0)))
several("obl_ang1_cv", M, N, C, CV, (SECOND, _angular(-1.0)))
for _kind in ("rad1", "rad2"):
    several(f"pro_{_kind}_cv", M, N, C, CV, (SECOND, _radial(-1.0)))
    several(f"obl_{_kind}_cv", M, N, C, CV, (SECOND, _radial(1.0)))
# fmt: on
