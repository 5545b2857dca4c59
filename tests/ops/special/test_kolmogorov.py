"""The distributions of Kolmogorov, Smirnov and Tukey."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError


def kolmogorov(x):
    return 2 * mp.fsum((-1) ** (k - 1) * mp.exp(-2 * (k * x) ** 2) for k in range(1, 60))


def smirnov(n, d):
    top = int(mp.floor(n * (1 - d)))
    terms = (
        mp.binomial(n, j) * (d + mp.mpf(j) / n) ** (j - 1) * (1 - d - mp.mpf(j) / n) ** (n - j)
        for j in range(top + 1)
    )
    return d * mp.fsum(terms)


def test_kolmogorov():
    has_slopes(sp.kolmogorov, kolmogorov, [(0.7,), (0.4,), (0.999,), (1.001,), (2.5,)])
    has_curvature(sp.kolmogorov, kolmogorov, (0.7,))
    has_curvature(sp.kolmogorov, kolmogorov, (1.3,))
    assert dualad.grad(sp.kolmogorov)(0.0) == 0.0


def test_smirnov():
    for n in (1, 4, 20):
        has_slopes(lambda d: sp.smirnov(n, d), lambda d: smirnov(n, d), [(0.3,), (0.12,)])
    with pytest.raises(MissingRuleError, match=r"smirnov has no derivative in its argument n"):
        dualad.jvp(lambda n: sp.smirnov(n, 0.3), (4.0,), (1.0,))


def test_inverses():
    np.testing.assert_allclose(dualad.grad(lambda p: sp.kolmogorov(sp.kolmogi(p)))(0.4), 1.0)
    np.testing.assert_allclose(dualad.grad(lambda p: sp.smirnov(4, sp.smirnovi(4, p)))(0.4), 1.0)


@pytest.mark.parametrize("shape", [0.3, -0.3, 1.0, 2.0, 0.14])
def test_tukey(shape):
    """tklmbda inverts Q(p, s) = (p**s - (1 - p)**s) / s."""
    quantile = lambda p, s: (p**s - (1 - p) ** s) / s
    with mp.workdps(50):
        p, s = mp.mpf("0.7"), mp.mpf(shape)
        x = quantile(p, s)
        in_x = 1 / mp.diff(lambda q: quantile(q, s), p)
        in_s = -mp.diff(lambda r: quantile(p, r), s) * in_x
    found = dualad.grad(sp.tklmbda, argnums=(0, 1))(float(x), shape)
    np.testing.assert_allclose(found, [float(in_x), float(in_s)], rtol=1e-9)


def test_tukey_of_shape_zero_is_logistic():
    p = sp.expit(0.8)
    np.testing.assert_allclose(dualad.grad(sp.tklmbda)(0.8, 0.0), p * (1 - p), rtol=1e-9)
