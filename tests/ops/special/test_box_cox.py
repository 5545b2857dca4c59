"""Power transforms against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad


def box_cox(x, p):
    return (x**p - 1) / p if p else mp.log(x)


def inverse(y, p):
    return (1 + p * y) ** (1 / p) if p else mp.exp(y)


POINTS = [(1.4, 0.7), (0.2, -1.5), (3.0, 1e-9), (50.0, 2.0), (1.0, 0.3)]
CASES = {
    "boxcox": (box_cox, POINTS),
    "boxcox1p": (lambda x, p: box_cox(1 + x, p), [(0.4, 0.7), (-0.8, -1.5), (1e-9, 2.0)]),
    "inv_boxcox": (inverse, [(0.4, 0.7), (-0.3, 1.5), (2.0, 1e-9), (0.3, -0.4)]),
    "inv_boxcox1p": (lambda y, p: inverse(y, p) - 1, [(0.4, 0.7), (-0.3, 1.5), (1e-9, 0.5)]),
    "powm1": (lambda x, y: x**y - 1, [(1.4, 0.7), (1e-5, 2.0), (30.0, -3.0)]),
}


@pytest.mark.parametrize("name", CASES)
def test_slopes(name):
    has_slopes(getattr(sp, name), *CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_curvature(name):
    counterpart, points = CASES[name]
    for point in points[:2]:
        has_curvature(getattr(sp, name), counterpart, point)


def test_power_zero_is_the_logarithm():
    """(x**p - 1) / p = L + p L**2 / 2 + ... with L = log x."""
    log = np.log(3.0)
    np.testing.assert_allclose(
        dualad.grad(sp.boxcox, argnums=(0, 1))(3.0, 0.0), (1 / 3, log**2 / 2)
    )
    np.testing.assert_allclose(dualad.grad(sp.inv_boxcox, argnums=1)(2.0, 0.0), -2 * np.exp(2.0))


def test_base_zero():
    """-1 / p at x = 0: slope 1 / p**2 in p, and x**(p - 1) in x."""
    assert dualad.grad(sp.boxcox, argnums=(0, 1))(0.0, 2.0) == (0.0, 0.25)
    assert dualad.grad(sp.boxcox)(0.0, 1.0) == 1.0
