"""Double-exponential quadrature against closed forms."""

import numpy as np
import pytest
import scipy.special as sp

from dualad.ops.special.quadrature import blockwise, decaying, peaked, up_to

one = lambda s: 1.0


@pytest.fixture(autouse=True)
def quiet():
    """As within `blockwise`: far out in the bisection numbers overflow."""
    with np.errstate(all="ignore"):
        yield


RATES = 10.0 ** np.arange(-8, 9.0)[:, None]


def test_decaying():
    np.testing.assert_allclose(decaying(lambda s: -RATES * s, one), 1 / RATES, rtol=1e-14)
    gauss = decaying(lambda s: -RATES * s * s, one)
    np.testing.assert_allclose(gauss, 0.5 * np.sqrt(np.pi / RATES), rtol=1e-13)
    logarithm = decaying(lambda s: -RATES * s, np.log)
    np.testing.assert_allclose(logarithm, -(np.euler_gamma + np.log(RATES)) / RATES, rtol=1e-13)


@pytest.mark.parametrize("length", [0.0, 1e-10, 1.0, 50.0, 700.0])
def test_up_to(length):
    column = np.full((1, 1), length)
    for rate in (-1e-3, -1.0, 1.0 / (1 + length)):
        found = up_to(column, lambda s: rate * s, one)
        wanted = length * sp.exprel(rate * length)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-300)


def test_peaked():
    """The gamma function in the logarithm of its variable."""
    a = np.array([[3.0], [50.0], [1e4], [1e8]])
    top = a * np.log(a) - a
    found = peaked(lambda s: a * (np.log(a) + s) - a * np.exp(s) - top, one)
    np.testing.assert_allclose(np.log(found) + top, sp.gammaln(a), rtol=1e-12)


def test_blockwise_keeps_shapes():
    f = lambda a, b: a + b
    assert blockwise(f, 1.0, 2.0) == 3.0 and np.ndim(blockwise(f, 1.0, 2.0)) == 0
    a, b = np.arange(3000.0)[:, None], np.arange(2.0)
    np.testing.assert_array_equal(blockwise(f, a, b), a + b)
    assert blockwise(f, np.empty((0, 2)), b).shape == (0, 2)
