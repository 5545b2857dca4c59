"""The incomplete beta functions in all three arguments against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import exact, has_curvature, has_slopes

import dualad
from dualad.ops.special.incomplete_beta import beta_density, betainc_in_shapes


def regularized(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def complement(a, b, x):
    return mp.betainc(a, b, x, 1, regularized=True)


POINTS = [
    (2.0, 3.0, 0.3),
    (0.3, 0.3, 0.3),
    (0.5, 0.5, 0.9),
    (30.0, 28.0, 0.5),
    (7.3, 150.0, 0.1),
    (0.02, 400.0, 1e-4),
    (5.0, 0.01, 0.999),
    (600.0, 900.0, 0.41),
]


def test_slopes():
    has_slopes(sp.betainc, regularized, POINTS, digits=120, rtol=2e-12)
    has_slopes(sp.betaincc, complement, POINTS, digits=120, rtol=2e-12)


def test_the_known_slopes_in_the_shapes():
    """From 40-digit differentiation at (2, 3, 0.3)."""
    found = dualad.grad(sp.betainc, argnums=(0, 1, 2))(2.0, 3.0, 0.3)
    wanted = (-0.24609372774672351, 0.12954506096487189, 12 * 0.3 * 0.49)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("point", [(2.0, 3.0, 0.3), (0.4, 0.7, 0.6)])
def test_curvature(point):
    has_curvature(sp.betainc, regularized, point)


@pytest.mark.parametrize("order", [(2, 0), (0, 2), (1, 1), (2, 1), (3, 0)])
def test_orders_in_the_shapes(order):
    points = [(2.0, 3.0, 0.3), (0.4, 0.7, 0.6), (20.0, 5.0, 0.8)]
    wanted = [exact(regularized, p, (*order, 0), 80) for p in points]
    a, b, x = map(np.array, zip(*points, strict=True))
    np.testing.assert_allclose(betainc_in_shapes(*order)(a, b, x, 1 - x), wanted, rtol=1e-10)


def test_inverses():
    for f, inverse in ((sp.betainc, sp.betaincinv), (sp.betaincc, sp.betainccinv)):
        both = lambda a, b, p: f(a, b, inverse(a, b, p))
        for point in ((2.0, 3.0, 0.4), (0.5, 0.7, 0.9)):
            slopes = dualad.grad(both, argnums=(0, 1, 2))(*point)
            np.testing.assert_allclose(slopes, (0.0, 0.0, 1.0), rtol=1e-11, atol=1e-11)


def test_density():
    density = lambda a, b, x: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)
    f = lambda a, b, x: beta_density(a, b, x, 1 - x)
    has_slopes(f, density, [*POINTS[:6], (2.0, 5e4, 1e-4)], rtol=1e-10)


def test_edges():
    """The arcsine law is steep at both ends, the uniform one straight; shapes matter inside."""
    assert dualad.grad(sp.betainc, argnums=2)(0.5, 0.5, 0.0) == np.inf
    assert dualad.grad(sp.betainc, argnums=2)(0.5, 0.5, 1.0) == np.inf
    np.testing.assert_allclose(dualad.grad(sp.betainc, argnums=2)(1.0, 1.0, 0.0), 1.0)
    second = dualad.grad(dualad.grad(sp.betainc, argnums=2), argnums=2)
    np.testing.assert_allclose(second(2.0, 1.0, 0.0), 2.0)
    for x in (0.0, 1.0):
        assert dualad.grad(sp.betainc)(2.0, 3.0, x) == 0.0
