"""Bessel functions in their order against mpmath: small and large orders and arguments."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import exact, has_curvature

import dualad
from dualad.errors import MissingRuleError
from dualad.ops.special.bessel_order import order_slope

KINDS = {
    "jv": mp.besselj,
    "yv": mp.bessely,
    "iv": mp.besseli,
    "kv": mp.besselk,
    "ive": lambda v, x: mp.exp(-x) * mp.besseli(v, x),
    "kve": lambda v, x: mp.exp(x) * mp.besselk(v, x),
}
POINTS = [
    *((0.7, 1.3), (0.3, 0.3), (0.0, 2.5), (2.0, 1.3), (-0.7, 1.3), (-2.0, 3.0), (0.5, 1e-8)),
    *((3.0, 40.0), (0.1, 400.0), (12.0, 12.0), (50.0, 49.0), (60.0, 5.0), (-30.3, 25.0)),
    *((213.3, 162.7), (0.0, 8.0), (7.5, 9.0), (140.0, 200.0)),
]


def size(name, v, x):
    """What the error is measured by: an oscillating function has zeros."""
    if name in ("jv", "yv") and x > abs(v):
        return float(abs(mp.hankel1(v, x)))
    return float(abs(KINDS[name](v, x))) * (1e-3 if name in ("kv", "kve", "jv", "yv") else 1.0)


@pytest.mark.parametrize("name", KINDS)
def test_slope_in_the_order(name):
    v, x = map(np.array, zip(*POINTS, strict=True))
    found = dualad.jvp(lambda u: getattr(sp, name)(u, x), (v,), (np.ones_like(v),))[1]
    for point, value in zip(POINTS, found, strict=True):
        wanted = exact(KINDS[name], point, (1, 0))
        error = abs(value - wanted)
        assert error <= 2e-13 * max(abs(wanted), size(name, *point)), (point, value, wanted)


@pytest.mark.parametrize("name", KINDS)
def test_curvature(name):
    has_curvature(getattr(sp, name), KINDS[name], (0.7, 1.3), rtol=1e-11)
    has_curvature(getattr(sp, name), KINDS[name], (2.0, 6.0), rtol=1e-10)


@pytest.mark.parametrize("name", ["jv", "yv", "kv", "iv"])
def test_third_order(name):
    found = order_slope(name, 3)(np.array([0.7, -1.2]), np.array([1.3, 4.0]))
    wanted = [exact(KINDS[name], p, (3, 0)) for p in ((0.7, 1.3), (-1.2, 4.0))]
    np.testing.assert_allclose(found, wanted, rtol=1e-11)


def test_closed_forms_at_order_zero():
    """dJ/dv = pi/2 Y_0, dY/dv = -pi/2 J_0, dI/dv = -K_0, dK/dv = 0 (DLMF 10.15.3, 10.38.4)."""
    x = np.array([0.3, 1.7, 6.0])
    order = np.zeros(3)
    slope = lambda f: dualad.jvp(lambda v: f(v, x), (order,), (np.ones(3),))[1]
    np.testing.assert_allclose(slope(sp.jv), np.pi / 2 * sp.y0(x), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(slope(sp.yv), -np.pi / 2 * sp.j0(x), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(slope(sp.iv), -sp.k0(x), rtol=1e-12, atol=1e-14 * sp.i0(6.0))
    np.testing.assert_array_equal(slope(sp.kv), np.zeros(3))


def test_hankel():
    for k, counterpart in ((1, mp.hankel1), (2, mp.hankel2)):
        for name, factor in ((f"hankel{k}", 0), (f"hankel{k}e", -1j if k == 1 else 1j)):
            _, t = dualad.jvp(lambda v: getattr(sp, name)(v, 1.3), (0.7,), (1.0,))
            with mp.workdps(40):
                wanted = complex(
                    mp.diff(lambda v: counterpart(v, 1.3), 0.7) * mp.exp(factor * 1.3)
                )
            np.testing.assert_allclose(t, wanted, rtol=1e-12)
    with pytest.raises(MissingRuleError, match=r"hankel1 has no derivative in its argument z"):
        dualad.jvp(lambda v: sp.hankel1(v, -1.3), (0.7,), (1.0,))


def test_complex_arguments_are_refused_by_name():
    z = np.complex128(1.3 + 0.4j)
    for name in ("jv", "yv", "iv", "kv", "jve", "ive", "kve", "hankel1"):
        with pytest.raises(MissingRuleError, match=f"{name} has no derivative in its argument v"):
            dualad.jvp(lambda v: getattr(sp, name)(v, z), (0.7,), (1.0,))


def test_edges():
    """At x = 0 functions of positive order are 0, whatever the order; J of negative x is none."""
    assert dualad.grad(lambda v: sp.jv(v, 0.0))(1.5) == 0.0
    assert dualad.grad(lambda v: sp.iv(v, 0.0))(1.5) == 0.0
    assert np.isnan(dualad.grad(lambda v: sp.jv(v, -1.0))(1.5))
