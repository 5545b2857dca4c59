"""Legendre functions of whole order and spherical harmonics against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad
import dualad.scipy.special as special
from dualad.errors import ArgumentError, MissingRuleError

POINTS = [(0.3,), (-0.6,), (0.9,)]


@pytest.mark.parametrize("n", [0, 1, 3, 6])
def test_legendre(n):
    f = lambda z: special.legendre_p(n, z)[0]
    has_slopes(f, lambda z: mp.legendre(n, z), POINTS, atol=1e-14)
    has_curvature(f, lambda z: mp.legendre(n, z), (0.3,))
    z = np.array([0.3, -0.6])
    both = dualad.jvp(lambda v: special.legendre_p(n, v, diff_n=2), (z,), (np.ones(2),))
    np.testing.assert_allclose(both[0], sp.legendre_p(n, z, diff_n=2), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(both[1][:2], both[0][1:], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("n, m", [(3, 1), (3, 2), (2, 0), (4, -1)])
@pytest.mark.parametrize("norm", [False, True])
def test_associated(n, m, norm):
    f = lambda z: special.assoc_legendre_p(n, m, z, norm=norm)[0]
    scale = mp.sqrt((2 * n + 1) * mp.factorial(n - m) / mp.factorial(n + m) / 2) if norm else 1
    counterpart = lambda z: scale * mp.legenp(n, m, z)
    has_slopes(f, counterpart, POINTS, rtol=1e-11)
    has_curvature(f, counterpart, (0.3,))


def test_associated_outside_of_the_interval():
    f = lambda z: special.assoc_legendre_p(3, 2, z, branch_cut=3)[0]
    has_slopes(f, lambda z: mp.legenp(3, 2, z, type=3), [(1.4,), (2.5,)], rtol=1e-11)


@pytest.mark.parametrize("n, m", [(0, 0), (1, 0), (1, 1), (3, -2), (4, 3)])
def test_on_the_sphere(n, m):
    harmonic = lambda t, p: mp.spherharm(n, m, t, p)
    for part in (np.real, np.imag):
        f = lambda t, p: part(special.sph_harm_y(n, m, t, p))
        take = mp.re if part is np.real else mp.im
        counterpart = lambda t, p: take(harmonic(t, p))
        has_slopes(f, counterpart, [(0.4, 0.7), (2.5, -1.2)], rtol=1e-11, atol=1e-14)
    has_curvature(
        lambda t, p: np.real(special.sph_harm_y(n, m, t, p)),
        lambda t, p: mp.re(harmonic(t, p)),
        (0.4, 0.7),
    )


def test_at_the_pole():
    """Y_2^1 is about -sqrt(15 / 8 pi) theta exp(i phi) there."""
    slope = dualad.jvp(lambda t: special.sph_harm_y(2, 1, t, 0.0), (0.0,), (1.0,))[1]
    np.testing.assert_allclose(slope, -np.sqrt(15 / (8 * np.pi)), rtol=1e-14)


def test_spherical_legendre():
    f = lambda t: special.sph_legendre_p(3, 1, t)[0]
    counterpart = lambda t: mp.re(mp.spherharm(3, 1, t, 0))
    has_slopes(f, counterpart, [(0.3,), (2.1,)], rtol=1e-11)
    x, h = np.array([-0.4, 4.0]), 1e-6
    moved = dualad.jvp(f, (x,), (np.ones(2),))[1]
    np.testing.assert_allclose(moved, (f(x + h) - f(x - h)) / (2 * h), rtol=1e-8)


def test_sums_of_harmonics_by_broadcasting():
    n, m = np.array([1, 2, 3]), np.array([0, 1, -2])
    f = lambda t: special.sph_harm_y(n, m, t, 0.7)
    moved = dualad.jvp(f, (0.4,), (1.0,))[1]
    h = 1e-6
    np.testing.assert_allclose(moved, (f(0.4 + h) - f(0.4 - h)) / (2 * h), rtol=1e-8)


def test_what_is_refused():
    with pytest.raises(MissingRuleError, match=r"legendre_p has no derivative in its argument n"):
        dualad.grad(lambda n: special.legendre_p(n, 0.3)[0])(2.0)
    with pytest.raises(ArgumentError, match="diff_n"):
        dualad.jvp(lambda t: special.sph_harm_y(2, 1, t, 0.3, diff_n=1), (0.4,), (1.0,))
