"""Bessel functions and Hankel functions (DLMF chapter 10).

Derivatives in the argument are differences of neighbouring orders (10.6.1, 10.29.1). For the
scaled functions those cancel at large arguments: there Hankel's series is differentiated (10.40).
Derivatives in a real order are in `bessel_order`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ive, jve, kve, yve

from ...engine.arrays.guard import quiet
from ...engine.primitives.composite import Composite
from ...engine.primitives.primitive import align
from .bessel_order import order_slope
from .table import Refused, formula, refuse_where, special, whole_number

__all__: list[str] = []

ORDER = Refused("v", "derivatives in the order are known for real arguments only")
N = whole_number("n")


def _hankel_series(v: Any, z: Any, sign: float) -> Any:
    """Minus the derivative of z**-1/2 (1 + sign (4 v**2 - 1) / (8 z) + ...) (DLMF 10.17.1)."""
    total, term, mu = 0.5, 1.0, 4 * v * v
    for k in range(1, 31):
        term = term * (sign * (mu - (2 * k - 1) ** 2) / (8 * k)) / z
        total = total + term * (k + 0.5)
    return total / (z * np.sqrt(z))


def _far(v: Any, x: Any) -> Any:
    """Where Hankel's series is exact in double precision."""
    return x > 20 + v * v


@formula
def scaled_first_slope(out: Any, v: Any, x: Any) -> Any:
    """The derivative of exp(-|x|) I_v(x) for real x; I_v is even or odd if v is whole."""
    far = _far(v, np.abs(x))
    z = np.where(far, np.abs(x), 50.0 + v * v)
    near = 0.5 * (ive(v - 1, x) + ive(v + 1, x)) - np.sign(x) * out
    series = -_hankel_series(v, z, -1.0) / np.sqrt(2 * np.pi)
    turned = np.where(
        x > 0, 1.0, np.where(v == np.rint(v), 2.0 * np.fmod(np.abs(v), 2) - 1, np.nan)
    )
    return np.where(far, turned * series, near)[()]


@formula
def scaled_second_slope(out: Any, v: Any, x: Any) -> Any:
    """The derivative of exp(x) K_v(x) for real x."""
    far = _far(v, x)
    z = np.where(far, x, 50.0 + v * v)
    near = out - 0.5 * (kve(v - 1, x) + kve(v + 1, x))
    return np.where(far, -_hankel_series(v, z, 1.0) * np.sqrt(np.pi / 2), near)[()]


@formula
def hankel_in_order(kind: int, v: Any, x: Any) -> Any:
    """The derivative in v of H_v(x) of the first or second kind, x > 0."""
    why = "derivatives in the order are known for positive arguments only"
    refuse_where(x < 0, f"hankel{kind}", "z", why)
    sign = 1j if kind == 1 else -1j
    return order_slope("jv", 1)(v, x) + sign * order_slope("yv", 1)(v, x)


def _scaled(name: str, f: Any, slope: Any, size: Any) -> Any:
    """exp(-|Re z|) or exp(-|Im z|) times a Bessel function of complex z: not holomorphic."""

    def refuse(t: Any, out: Any, v: Any, z: Any) -> Any:
        return ORDER.of(name)(out, v, z)

    def rule(t: Any, out: Any, v: Any, z: Any) -> Any:
        with quiet():
            return t * slope(f, v, z) - out * np.sign(size(z)) * size(t)

    primitive = Composite(
        f,
        refuse,
        rule,
        name=f"scipy.special.{name} of complex numbers",
        batch=lambda args, mine: primitive(*align(args, mine)),
        builtin=False,
    )
    return primitive


def _difference(f: Any, v: Any, z: Any) -> Any:
    return 0.5 * (f(v - 1, z) - f(v + 1, z))


def _mean(f: Any, v: Any, z: Any) -> Any:
    return 0.5 * (f(v - 1, z) + f(v + 1, z))


@formula
def spherical_slope(f: Any, below: float, above: float, n: Any, z: Any) -> Any:
    """From the neighbouring orders, with their signs (DLMF 10.51.2, 10.51.5)."""
    lower, upper = n * f(np.maximum(n - 1, 0), z), (n + 1) * f(n + 1, z)
    return (below * lower + above * upper) / (2 * n + 1)


JV = "0.5 * (jv(x - 1, y) - jv(x + 1, y))"
YV = "0.5 * (yv(x - 1, y) - yv(x + 1, y))"
IV = "0.5 * (iv(x - 1, y) + iv(x + 1, y))"
KV = "-0.5 * (kv(x - 1, y) + kv(x + 1, y))"
KVE = "out - 0.5 * (kve(x - 1, y) + kve(x + 1, y))"
JVE = "0.5 * (jve(x - 1, y) - jve(x + 1, y))"
YVE = "0.5 * (yve(x - 1, y) - yve(x + 1, y))"
H1, H2 = (f"0.5 * (hankel{k}(x - 1, y) - hankel{k}(x + 1, y))" for k in (1, 2))
H1E = "0.5 * (hankel1e(x - 1, y) - hankel1e(x + 1, y)) - 1j * out"
H2E = "0.5 * (hankel2e(x - 1, y) - hankel2e(x + 1, y)) + 1j * out"

# fmt: off
special("jv",  "jv_in_order(x, y)", JV, complex=(ORDER, JV))
special("jn",  "jv_in_order(x, y)", JV, complex=(ORDER, JV))
special("yv",  "yv_in_order(x, y)", YV, complex=(ORDER, YV))
special("iv",  "iv_in_order(x, y)", IV, complex=(ORDER, IV))
special("kv",  "kv_in_order(x, y)", KV, complex=(ORDER, KV))
special("jve", "jv_in_order(x, y)", JVE, complex=_scaled("jve", jve, _difference, np.imag))
special("yve", "yv_in_order(x, y)", YVE, complex=_scaled("yve", yve, _difference, np.imag))
special("ive", "ive_in_order(x, y)", "scaled_first_slope(out, x, y)",
        complex=_scaled("ive", ive, _mean, np.real))
special("kve", "kve_in_order(x, y)", "scaled_second_slope(out, x, y)", complex=(ORDER, KVE))
special("yn",  N, "0.5 * (yn(x - 1, y) - yn(x + 1, y))")
special("kn",  N, "-0.5 * (kn(x - 1, y) + kn(x + 1, y))")
special("hankel1",  "hankel_in_order(1, x, y)", H1, complex=(ORDER, H1))
special("hankel2",  "hankel_in_order(2, x, y)", H2, complex=(ORDER, H2))
special("hankel1e", "hankel_in_order(1, x, y) * exp(-1j * y)", H1E, complex=(ORDER, H1E))
special("hankel2e", "hankel_in_order(2, x, y) * exp(1j * y)",  H2E, complex=(ORDER, H2E))

special("j0", "-j1(x)")
special("j1", "0.5 * (j0(x) - jv(2, x))")
special("y0", "-y1(x)")
special("y1", "0.5 * (y0(x) - yn(2, x))")
special("i0", "i1(x)")
special("i1", "0.5 * (i0(x) + iv(2, x))")
special("k0", "-k1(x)")
special("k1", "-k0(x) - out / x")
special("i0e", "scaled_first_slope(out, 0, x)")
special("i1e", "scaled_first_slope(out, 1, x)")
special("k0e", "scaled_second_slope(out, 0, x)")
special("k1e", "scaled_second_slope(out, 1, x)")


special("_spherical_jn", N, "spherical_slope(_spherical_jn, 1, -1, x, y)")
special("_spherical_yn", N, "spherical_slope(_spherical_yn, 1, -1, x, y)")
special("_spherical_in", N, "spherical_slope(_spherical_in, 1, 1, x, y)")
special("_spherical_kn", N, "spherical_slope(_spherical_kn, -1, -1, x, y)")
# fmt: on
