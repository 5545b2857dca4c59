"""Error functions and their kin against mpmath, in the bulk and in the tails."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import exact, has_complex_slope, has_curvature, has_slopes

import dualad

REAL = [(0.3,), (-0.8,), (2.5,), (-4.0,), (9.9,), (10.1,), (25.0,), (0.0,)]
CENTRAL = [(0.3,), (-0.8,), (1e-8,), (0.0,), (0.99,)]
FAR = [(0.3,), (-2.0,), (9.9,), (10.1,), (40.0,), (1e4,), (1e8,)]


def faddeeva(z):
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def dawson(x):
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def quantile(p):
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def owens(h, a):
    integrand = lambda u: mp.exp(-h * h * (1 + u * u) / 2) / (1 + u * u)
    return mp.quad(integrand, [0, a]) / (2 * mp.pi)


def voigt(x, sigma, gamma):
    z = (x + 1j * gamma) / (sigma * mp.sqrt(2))
    return mp.re(faddeeva(z)) / (sigma * mp.sqrt(2 * mp.pi))


CASES = {
    "erf": (mp.erf, REAL),
    "erfc": (mp.erfc, REAL),
    "erfi": (mp.erfi, REAL[:4]),
    "erfcx": (erfcx, FAR),
    "dawsn": (dawson, FAR),
    "erfinv": (mp.erfinv, CENTRAL),
    "erfcinv": (lambda y: mp.erfinv(1 - y), [(0.3,), (1.7,), (1e-6,), (1.0,)]),
    "ndtr": (mp.ncdf, REAL),
    "ndtri": (quantile, [(0.3,), (0.9,), (0.5,), (1e-6,)]),
    "log_ndtr": (lambda x: mp.log(mp.ncdf(x)), [(0.3,), (-2.0,), (-40.0,), (-1e4,), (8.0,)]),
    "ndtri_exp": (lambda y: quantile(mp.exp(y)), [(-0.4,), (-3.0,), (-30.0,)]),
}


@pytest.mark.parametrize("name", CASES)
def test_slopes(name):
    has_slopes(getattr(sp, name), *CASES[name], digits=300)


@pytest.mark.parametrize("name", CASES)
def test_curvature(name):
    counterpart, points = CASES[name]
    for point in points[:2]:
        has_curvature(getattr(sp, name), counterpart, point)


def test_owens():
    has_slopes(sp.owens_t, owens, [(0.4, 0.7), (-1.2, 2.0), (0.0, 0.5), (3.0, -1.0)])
    has_curvature(sp.owens_t, owens, (0.4, 0.7))


def test_voigt():
    points = [(0.4, 0.7, 0.3), (-2.0, 0.5, 1.5), (30.0, 0.5, 0.2), (1e4, 1.0, 1.0)]
    has_slopes(sp.voigt_profile, voigt, points, rtol=1e-11)
    has_curvature(sp.voigt_profile, voigt, (0.4, 0.7, 0.3))


def test_voigt_without_a_gaussian_part_is_lorentzian():
    lorentz = lambda x, gamma: gamma / (mp.pi * (x * x + gamma * gamma))
    f = lambda x, gamma: sp.voigt_profile(x, 0.0, gamma)
    has_slopes(f, lorentz, [(0.4, 0.3), (-2.0, 1.5)])
    assert dualad.grad(lambda s: sp.voigt_profile(0.4, s, 0.3))(0.0) == 0.0


def test_fresnel():
    for k, counterpart in enumerate((mp.fresnels, mp.fresnelc)):
        f = lambda x: sp.fresnel(x)[k]
        has_slopes(f, counterpart, [(0.8,), (-2.0,), (0.0,)], atol=1e-15)
        has_curvature(lambda x: sp.fresnel(x)[k], counterpart, (0.8,))


@pytest.mark.parametrize("sign, f", [(1, sp.modfresnelp), (-1, sp.modfresnelm)])
def test_modified_fresnel(sign, f):
    """The integral of exp(+-i t**2) from x to infinity has slope -exp(+-i x**2)."""
    x = np.array([0.3, 1.7])
    (value, scaled), (slope, scaled_slope) = dualad.jvp(f, (x,), (np.ones(2),))
    np.testing.assert_allclose(slope, -np.exp(1j * sign * x * x), rtol=1e-13)
    phase = np.exp(-1j * sign * (x * x + np.pi / 4)) / np.sqrt(np.pi)
    expected = phase * (slope - 2j * sign * x * value)
    np.testing.assert_allclose(scaled, phase * value, rtol=1e-13)
    np.testing.assert_allclose(scaled_slope, expected, rtol=1e-12)


@pytest.mark.parametrize("z", [0.4 + 0.3j, -1.2 + 0.7j, 3.0 - 0.5j, 15.0 + 2.0j, 12.0 - 0.1j])
def test_complex(z):
    for f, counterpart in (
        (sp.erf, mp.erf),
        (sp.erfc, mp.erfc),
        (sp.wofz, faddeeva),
        (sp.erfcx, erfcx),
        (sp.dawsn, dawson),
        (sp.ndtr, lambda w: mp.erfc(-w / mp.sqrt(2)) / 2),
    ):
        has_complex_slope(f, counterpart, z, digits=200)


def test_faddeeva_of_a_real_argument_is_complex():
    _, t = dualad.jvp(sp.wofz, (0.7,), (1.0,))
    with mp.workdps(30):
        np.testing.assert_allclose(t, complex(mp.diff(faddeeva, 0.7)), rtol=1e-13)


def test_slopes_at_the_ends_are_infinite_and_zero_wins():
    x, zero = np.array([0.0, 0.3, 1.0]), np.zeros(3)
    slopes = dualad.jvp(sp.ndtri, (x,), (np.ones(3),))[1]
    np.testing.assert_array_equal(np.isposinf(slopes), [True, False, True])
    for f in (sp.ndtri, sp.erfinv, sp.erfcinv):
        np.testing.assert_array_equal(dualad.jvp(f, (x,), (zero,))[1], zero)
        np.testing.assert_array_equal(dualad.vjp(f, x)[1](zero)[0], zero)


def test_third_derivative_of_erf():
    g = sp.erf
    for _ in range(3):
        g = (lambda h: lambda v: dualad.jvp(h, (v,), (1.0,))[1])(g)
    np.testing.assert_allclose(g(0.7), exact(mp.erf, (0.7,), (3,)), rtol=1e-13)
