"""Exponential, sine and cosine integrals and the dilogarithm against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_complex_slope, has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError

CASES = {
    "exp1": (mp.e1, [(0.8,), (1e-5,), (30.0,)]),
    "expi": (mp.ei, [(0.8,), (-0.5,), (30.0,)]),
    "exprel": (lambda x: mp.expm1(x) / x, [(0.8,), (-0.5,), (1e-9,), (1.1,), (-30.0,), (200.0,)]),
    "spence": (lambda x: mp.polylog(2, 1 - x), [(0.8,), (0.05,), (1.0000001,), (1.5,), (30.0,)]),
}
PAIRS = {
    "sici": ((mp.si, mp.ci), [(0.8,), (1e-5,), (0.49,), (0.51,), (30.0,)]),
    "shichi": ((mp.shi, mp.chi), [(0.8,), (1e-5,), (0.49,), (0.51,), (30.0,)]),
}


@pytest.mark.parametrize("name", CASES)
def test_slopes(name):
    has_slopes(getattr(sp, name), *CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_curvature(name):
    counterpart, points = CASES[name]
    for point in points[:3]:
        has_curvature(getattr(sp, name), counterpart, point)


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name):
    counterparts, points = PAIRS[name]
    for k, counterpart in enumerate(counterparts):
        f = lambda x: getattr(sp, name)(x)[k]
        has_slopes(f, counterpart, points)
        has_curvature(f, counterpart, points[0])


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_integrals_of_whole_order(n):
    f = lambda x: sp.expn(n, x)
    has_slopes(f, lambda x: mp.expint(n, x), [(0.8,), (3.0,)])
    has_curvature(f, lambda x: mp.expint(n, x), (0.8,))


def test_the_order_is_refused_by_name():
    with pytest.raises(MissingRuleError, match=r"expn has no derivative in its argument n"):
        dualad.jvp(lambda n: sp.expn(n, 0.8), (2.0,), (1.0,))


def test_removable_singularities():
    """exprel' = 1/2, exprel'' = 1/3; Si' = 1, Si''' = -1/3; Li2(1 - x)' = -1 at 0 or 1."""
    assert dualad.grad(sp.exprel)(0.0) == 0.5
    np.testing.assert_allclose(dualad.grad(dualad.grad(sp.exprel))(0.0), 1 / 3)
    first = lambda x: sp.sici(x)[0]
    assert dualad.grad(first)(0.0) == 1.0
    np.testing.assert_allclose(dualad.grad(dualad.grad(dualad.grad(first)))(0.0), -1 / 3)
    assert dualad.grad(sp.spence)(1.0) == -1.0
    np.testing.assert_allclose(dualad.grad(dualad.grad(sp.spence))(1.0), 0.5)


@pytest.mark.parametrize("z", [0.4 + 0.3j, -1.2 + 0.7j, 3.0 - 0.5j])
def test_complex(z):
    has_complex_slope(sp.exp1, mp.e1, z)
    has_complex_slope(sp.spence, lambda w: mp.polylog(2, 1 - w), z)
    has_complex_slope(lambda w: sp.shichi(w)[0], mp.shi, z)
