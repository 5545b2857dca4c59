"""Struve functions and integrals of Bessel functions against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError


def test_struve():
    points = [(0.7, 1.2), (2.0, 5.0), (-0.4, 0.3), (0.0, 11.0)]
    has_slopes(sp.struve, mp.struveh, points, rtol=1e-11)
    has_slopes(sp.modstruve, mp.struvel, [*points, (1.0, 35.0)], rtol=1e-11)
    has_curvature(sp.struve, mp.struveh, (0.7, 1.2))
    has_curvature(sp.modstruve, mp.struvel, (0.7, 1.2))


def test_the_known_slope():
    wanted = 0.31134128994829889
    np.testing.assert_allclose(dualad.grad(lambda x: sp.struve(1.0, x))(0.8), wanted, rtol=1e-12)


def test_the_order_is_refused_where_its_series_cancels():
    with pytest.raises(MissingRuleError, match=r"struve has no derivative in its argument v"):
        dualad.grad(lambda v: sp.struve(v, 20.0))(0.7)
    with pytest.raises(MissingRuleError, match=r"modstruve has no derivative in its argument v"):
        dualad.grad(lambda v: sp.modstruve(v, 50.0))(0.7)


INTEGRALS = [
    (sp.itstruve0, lambda x: mp.struveh(0, x)),
    (sp.itmodstruve0, lambda x: mp.struvel(0, x)),
    (sp.it2struve0, lambda x: -mp.struveh(0, x) / x),
    (lambda x: sp.itj0y0(x)[0], lambda x: mp.besselj(0, x)),
    (lambda x: sp.itj0y0(x)[1], lambda x: mp.bessely(0, x)),
    (lambda x: sp.iti0k0(x)[0], lambda x: mp.besseli(0, x)),
    (lambda x: sp.iti0k0(x)[1], lambda x: mp.besselk(0, x)),
    (lambda x: sp.it2j0y0(x)[0], lambda x: (1 - mp.besselj(0, x)) / x),
    (lambda x: sp.it2j0y0(x)[1], lambda x: -mp.bessely(0, x) / x),
    (lambda x: sp.it2i0k0(x)[0], lambda x: (mp.besseli(0, x) - 1) / x),
    (lambda x: sp.it2i0k0(x)[1], lambda x: -mp.besselk(0, x) / x),
]


@pytest.mark.parametrize("f, slope", INTEGRALS)
def test_integrals(f, slope):
    for x in (0.3, 1.7, 1e-6):
        with mp.workdps(40):
            wanted, second = float(slope(mp.mpf(x))), float(mp.diff(slope, mp.mpf(x)))
        np.testing.assert_allclose(dualad.grad(f)(x), wanted, rtol=1e-12)
        if x > 0.1:
            np.testing.assert_allclose(dualad.grad(dualad.grad(f))(x), second, rtol=1e-11)
