"""The gamma function and its kin against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_complex_slope, has_curvature, has_slopes

import dualad

POSITIVE = [(3.7,), (0.2,), (1e-3,), (41.5,), (1e5,)]
ANYWHERE = [(3.7,), (0.2,), (-0.5,), (-1.5,), (-7.3,)]
PAIRS = [(2.5, 1.2), (0.3, 0.3), (40.0, 0.01), (1e6, 1.0), (1e-3, 200.0)]

CASES = {
    "gamma": (mp.gamma, ANYWHERE),
    "gammaln": (lambda x: mp.log(abs(mp.gamma(x))), POSITIVE),
    "loggamma": (mp.loggamma, POSITIVE),
    "rgamma": (mp.rgamma, [*ANYWHERE, (0.0,), (-3.0,), (-4.0,)]),
    "psi": (mp.digamma, ANYWHERE),
    "beta": (mp.beta, PAIRS),
    "betaln": (lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), PAIRS),
    "poch": (mp.rf, [(2.5, 1.2), (1e5, 2.0), (0.3, -0.2)]),
    "binom": (mp.binomial, [(7.5, 2.0), (4.3, 1.7), (1e5, 3.0), (10.0, 4.5)]),
}


@pytest.mark.parametrize("name", CASES)
def test_slopes(name):
    has_slopes(getattr(sp, name), *CASES[name], rtol=2e-12)


@pytest.mark.parametrize("name", CASES)
def test_curvature(name):
    counterpart, points = CASES[name]
    has_curvature(getattr(sp, name), counterpart, points[0])


def test_reciprocal_has_no_poles():
    """1 / gamma is entire: at 0, -1, -2, ... it is 0 with slope (-1)**n n!, and smooth."""
    for n in range(6):
        slope = (-1.0) ** n * np.prod(np.arange(1.0, n + 1))
        np.testing.assert_allclose(dualad.grad(sp.rgamma)(-float(n)), slope, rtol=1e-14)
        has_curvature(sp.rgamma, mp.rgamma, (-float(n),))


@pytest.mark.parametrize("z, m, wanted", [(-3.0, 2.0, -5.0), (-1.0, 3.0, -1.0), (-5.0, 3.0, 47.0)])
def test_rising_factorials_are_polynomials_of_their_argument(z, m, wanted):
    """(z)_2 = z**2 + z and (z)_3 = z**3 + 3 z**2 + 2 z, also at the poles of both gammas."""
    np.testing.assert_allclose(dualad.grad(sp.poch)(z, m), wanted, rtol=1e-13)


def test_binomials_where_they_vanish():
    """binom(n, 3) = n (n - 1) (n - 2) / 6 at n = 1: slope -1/6."""
    np.testing.assert_allclose(dualad.grad(sp.binom)(1.0, 3.0), -1 / 6, rtol=1e-13)


@pytest.mark.parametrize("z", [1.0 + 2.0j, -3.3 + 0.2j, 20.0 - 3.0j, -0.5 - 30.0j])
def test_complex(z):
    has_complex_slope(sp.loggamma, mp.loggamma, z)
    has_complex_slope(sp.gamma, mp.gamma, z)
    has_complex_slope(sp.rgamma, mp.rgamma, z)
    has_complex_slope(sp.psi, mp.digamma, z)


def test_complex_second_derivative():
    f = lambda z: dualad.jvp(sp.psi, (z,), (np.complex128(1.0),))[1]
    has_complex_slope(f, lambda z: mp.psi(1, z), 0.4 - 1.3j)


def test_sign_of_gamma_is_constant():
    assert dualad.grad(lambda x: x * sp.gammasgn(x))(-1.5) == 1.0
