"""Wright's Bessel function and besselpoly against their series at 50 digits."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError


def wright(a, b, x):
    return mp.fsum(x**k / mp.factorial(k) * mp.rgamma(a * k + b) for k in range(160))


def besselpoly(a, lmb, nu):
    """The integral over 0 < x < 1 of x**lmb J_nu(2 a x), term by term."""
    term = lambda k: (-a * a) ** k / mp.factorial(k) * mp.rgamma(nu + k + 1)
    return a**nu * mp.fsum(term(k) / (lmb + nu + 2 * k + 1) for k in range(60))


POINTS = [(0.7, 1.2, 0.8), (0.3, 0.3, 0.3), (2.0, 0.5, 20.0)]


def test_wright():
    has_slopes(sp.wright_bessel, wright, POINTS, rtol=1e-11)
    has_curvature(sp.wright_bessel, wright, (0.7, 1.2, 0.8))


def test_its_logarithm():
    has_slopes(sp.log_wright_bessel, lambda *v: mp.log(wright(*v)), POINTS, rtol=1e-11)


def test_the_parameters_are_refused_far_out():
    with pytest.raises(
        MissingRuleError, match=r"wright_bessel has no derivative in its argument a"
    ):
        dualad.grad(sp.wright_bessel)(0.7, 1.2, 60.0)
    assert np.isfinite(dualad.grad(sp.wright_bessel, argnums=2)(0.7, 1.2, 60.0))


def test_besselpoly():
    integral = mp.quad(lambda x: x**0.3 * mp.besselj(0.4, 1.4 * x), [0, 1])
    assert abs(integral - besselpoly(mp.mpf("0.7"), 0.3, 0.4)) < 1e-12
    has_slopes(sp.besselpoly, besselpoly, [(0.7, 0.3, 0.4), (3.5, 1.2, 0.4)], rtol=1e-10)
    has_curvature(sp.besselpoly, besselpoly, (0.7, 0.3, 0.4), arguments=(1, 2))
    with pytest.raises(MissingRuleError, match=r"besselpoly has no derivative in its argument nu"):
        dualad.grad(sp.besselpoly, argnums=2)(5.0, 0.3, 0.4)
