"""Hypergeometric functions in argument and parameters against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_complex_slope, has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError
from dualad.ops.special.hypergeometric import gauss, kummer

LIMIT = [(0.7, 1.2), (3.5, -40.0), (0.3, 80.0), (12.0, 0.0)]
KUMMER = [
    *((0.7, 1.2, 0.8), (0.3, 0.3, 0.3), (-20.5, 1.0, 10.0), (2.5, 0.4, -60.0)),
    *((2.0, 3.0, 1e-8), (5.0, 12.0, 80.0), (-3.0, 0.5, -7.0)),
]
GAUSS = [
    *(
        (0.7, 1.2, 0.8, 0.3),
        (0.3, 0.3, 0.3, 0.3),
        (-20.3, 21.3, 1.0, 0.7),
        (2.0, -1.5, 0.6, -30.0),
    ),
    *((0.5, 0.7, 1.3, 0.9999999), (0.5, 0.7, 1.3, -1e4), (5.0, 6.0, 0.5, -0.4)),
]


def test_limit():
    has_slopes(sp.hyp0f1, mp.hyp0f1, LIMIT, rtol=1e-10)
    has_curvature(sp.hyp0f1, mp.hyp0f1, (0.7, 1.2))


def test_kummer():
    has_slopes(sp.hyp1f1, mp.hyp1f1, KUMMER, arguments=(0, 1), rtol=1e-12)
    has_slopes(sp.hyp1f1, mp.hyp1f1, KUMMER[:2], arguments=(2,), rtol=1e-12)
    has_curvature(sp.hyp1f1, mp.hyp1f1, (0.7, 1.2, 0.8))
    has_curvature(sp.hyp1f1, mp.hyp1f1, (0.7, 1.2, -0.8))


def test_gauss():
    has_slopes(sp.hyp2f1, mp.hyp2f1, GAUSS, arguments=(0, 1, 2), rtol=1e-12)
    has_slopes(sp.hyp2f1, mp.hyp2f1, GAUSS[:2], arguments=(3,), rtol=1e-12)
    has_curvature(sp.hyp2f1, mp.hyp2f1, (0.7, 1.2, 0.8, 0.3))


def test_gauss_at_one():
    """gamma(c) gamma(c - a - b) / (gamma(c - a) gamma(c - b))."""
    theorem = lambda a, b, c: (
        mp.gamma(c) * mp.gamma(c - a - b) / (mp.gamma(c - a) * mp.gamma(c - b))
    )
    f = lambda a, b, c: sp.hyp2f1(a, b, c, 1.0)
    has_slopes(f, theorem, [(0.5, 0.4, 1.3), (-0.3, 0.7, 2.0)], rtol=1e-12)


def test_the_programs_compute_the_functions():
    for program, counterpart, points in ((kummer, mp.hyp1f1, KUMMER), (gauss, mp.hyp2f1, GAUSS)):
        with np.errstate(all="ignore"):
            values = program(*map(np.array, zip(*points, strict=True)))
        wanted = [float(counterpart(*map(mp.mpf, p))) for p in points]
        np.testing.assert_allclose(values, wanted, rtol=1e-11)


def test_elementary_cases():
    """M(a, a, z) = exp(z), and 2F1(a, b; b; z) = (1 - z)**-a: only one slope is simple."""
    found = dualad.grad(sp.hyp2f1)(0.7, 1.3, 1.3, 0.4)
    np.testing.assert_allclose(found, -np.log(0.6) * 0.6**-0.7, rtol=1e-13)
    both = dualad.jvp(sp.hyp1f1, (0.7, 0.7, 1.2), (1.0, 1.0, 0.0))[1]
    np.testing.assert_allclose(both, 0.0, atol=1e-13)


def test_outside_of_the_domain():
    assert np.isnan(dualad.grad(sp.hyp2f1)(0.7, 1.2, 0.8, 1.5))
    assert np.isnan(dualad.grad(sp.hyp1f1)(0.7, 1.2, np.nan))


def test_complex_arguments():
    z = 0.3 + 0.4j
    has_complex_slope(lambda w: sp.hyp1f1(0.7, 1.2, w), lambda w: mp.hyp1f1(0.7, 1.2, w), z)
    has_complex_slope(
        lambda w: sp.hyp2f1(0.7, 1.2, 0.8, w), lambda w: mp.hyp2f1(0.7, 1.2, 0.8, w), z
    )
    with pytest.raises(MissingRuleError, match=r"hyp1f1 has no derivative in its argument a"):
        dualad.jvp(lambda a: sp.hyp1f1(a, 1.2, np.complex128(z)), (0.7,), (1.0,))
