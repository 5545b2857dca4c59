"""The incomplete gamma functions in argument and shape against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import exact, has_curvature, has_slopes

import dualad
from dualad.ops.special.incomplete_gamma import gamma_density, gammainc_in_shape


def lower(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def upper(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


BULK = [(2.0, 1.5), (0.3, 0.3), (0.5, 1e-8), (30.0, 28.0), (7.3, 15.0), (1.0, 1.0), (1e-3, 0.5)]


def test_lower():
    has_slopes(sp.gammainc, lower, [*BULK, (50.0, 4.0)])


def test_upper():
    has_slopes(sp.gammaincc, upper, [*BULK, (3.0, 80.0), (400.0, 450.0)])


def test_tiny_arguments():
    """log x beside -1 / a: the slope in the shape where the power series cancels."""
    series = lambda a, x: 1 - x**a * mp.hyp1f1(a, a + 1, -x) / mp.gamma(a + 1)
    has_slopes(sp.gammaincc, series, [(1e-3, 1e-10), (1e-6, 1e-100)], digits=250)


def test_the_known_slope_in_the_shape():
    """d P(a, x) / da at (2, 1.5), from 40-digit differentiation."""
    wanted = -0.31348863782507932
    np.testing.assert_allclose(dualad.grad(sp.gammainc)(2.0, 1.5), wanted, rtol=1e-14)


@pytest.mark.parametrize("point", [(2.0, 1.5), (0.3, 0.3), (30.0, 28.0)])
def test_curvature(point):
    has_curvature(sp.gammainc, lower, point, rtol=1e-10)
    has_curvature(sp.gammaincc, upper, point, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_orders_in_the_shape(n):
    a, x = np.array([2.0, 0.3, 9.0]), np.array([1.5, 0.3, 12.0])
    wanted = [exact(lower, p, (n, 0), 120) for p in zip(a, x, strict=True)]
    np.testing.assert_allclose(gammainc_in_shape(n)(a, x), wanted, rtol=1e-11)


def test_many_degrees():
    """Near a = x = 1e6 the slope in a is about minus the normal density."""
    a = np.array([1e6, 1e6, 1e6])
    x = np.array([1e6, 1.002e6, 0.997e6])
    wanted = [-3.989423136466252e-4, -5.4080860028467676e-5, -4.398653224682038e-6]
    np.testing.assert_allclose(gammainc_in_shape(1)(a, x), wanted, rtol=1e-12)


def test_inverses():
    """Both invert: the composition has slope 1 in the value and 0 in the shape."""
    for f, inverse in ((sp.gammainc, sp.gammaincinv), (sp.gammaincc, sp.gammainccinv)):
        both = lambda a, p: f(a, inverse(a, p))
        for a, p in ((2.0, 0.4), (0.3, 0.9), (40.0, 0.01)):
            slopes = dualad.grad(both, argnums=(0, 1))(a, p)
            np.testing.assert_allclose(slopes, (0.0, 1.0), rtol=1e-11, atol=1e-11)


def test_inverse_slopes():
    """x(a, p) solves P(a, x) = p."""
    for a, p in ((2.0, 0.4), (0.3, 0.9)):
        with mp.workdps(60):
            solve = lambda s, q: mp.findroot(lambda x: lower(s, x) - q, sp.gammaincinv(a, p))
            wanted = [mp.diff(lambda s: solve(s, p), a), mp.diff(lambda q: solve(a, q), p)]
        found = dualad.grad(sp.gammaincinv, argnums=(0, 1))(a, p)
        np.testing.assert_allclose(found, [float(w) for w in wanted], rtol=1e-12)


def test_density():
    density = lambda a, x: x ** (a - 1) * mp.exp(-x) / mp.gamma(a)
    points = [(2.0, 1.5), (0.3, 0.3), (300.0, 280.0), (1e4, 1.01e4)]
    with mp.workdps(50):
        wanted = [float(density(*map(mp.mpf, p))) for p in points]
    np.testing.assert_allclose(
        gamma_density(*map(np.array, zip(*points, strict=True))), wanted, 1e-13
    )
    has_slopes(gamma_density, density, points, rtol=1e-11)


def test_edges():
    """Nothing moves at x = 0 and at infinity; outside of the domain there is no number."""
    shape = dualad.jvp(lambda a: sp.gammainc(a, np.array([0.0, np.inf, -1.0])), (2.0,), (1.0,))[1]
    np.testing.assert_array_equal(shape, [0.0, 0.0, np.nan])
    assert dualad.grad(lambda x: sp.gammainc(1.0, x))(0.0) == 1.0
    assert dualad.grad(lambda x: sp.gammainc(2.0, x))(0.0) == 0.0
    assert dualad.grad(lambda x: sp.gammainc(0.5, x))(0.0) == np.inf
