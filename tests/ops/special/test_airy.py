"""Airy functions against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad

PARTS = [
    mp.airyai,
    lambda x: mp.airyai(x, derivative=1),
    mp.airybi,
    lambda x: mp.airybi(x, derivative=1),
]


@pytest.mark.parametrize("k", range(4))
def test_airy(k):
    f = lambda x: sp.airy(x)[k]
    has_slopes(f, PARTS[k], [(0.7,), (-2.3,), (0.0,), (5.0,), (-20.0,)], rtol=1e-11)
    has_curvature(f, PARTS[k], (0.7,))


@pytest.mark.parametrize("k", range(4))
def test_scaled(k):
    zeta = lambda x: 2 * x ** mp.mpf("1.5") / 3
    sign = 1 if k < 2 else -1
    f, counterpart = lambda x: sp.airye(x)[k], lambda x: PARTS[k](x) * mp.exp(sign * zeta(x))
    has_slopes(f, counterpart, [(0.7,), (5.0,)], rtol=1e-11)


def test_scaled_left_of_zero_is_not_scaled():
    for k in (2, 3):
        has_slopes(lambda x: sp.airye(x)[k], PARTS[k], [(-2.3,)])


@pytest.mark.parametrize("k", range(4))
def test_scaled_of_a_complex_argument(k):
    f, z, h = lambda w: sp.airye(w)[k], np.complex128(0.7 + 0.5j), 1e-6
    for t in (1.0 + 0.0j, 1.0j):
        moved = dualad.jvp(f, (z,), (np.complex128(t),))[1]
        np.testing.assert_allclose(moved, (f(z + h * t) - f(z - h * t)) / (2 * h), rtol=1e-8)


def test_complex():
    z, t = np.complex128(0.4 - 1.3j), np.complex128(0.7 + 0.2j)
    out, moved = dualad.jvp(sp.airy, (z,), (t,))
    np.testing.assert_allclose(
        moved, t * np.array([out[1], z * out[0], out[3], z * out[2]]), 1e-14
    )


def test_integrals():
    """Slopes Ai(x), Bi(x), Ai(-x), Bi(-x)."""
    x = np.array([0.3, 2.0])
    slopes = dualad.jvp(sp.itairy, (x,), (np.ones(2),))[1]
    a, _, b, _ = sp.airy(x)
    c, _, d, _ = sp.airy(-x)
    np.testing.assert_allclose(slopes, [a, b, c, d], rtol=1e-14)


def test_all_results_at_once_backwards():
    x, w = np.array([0.7, -1.2]), [np.array([1.0, -2.0]) * k for k in (1, 2, 3, 4)]
    out, pull = dualad.vjp(sp.airy, x)
    a, ap, b, bp = out
    wanted = w[0] * ap + w[1] * x * a + w[2] * bp + w[3] * x * b
    np.testing.assert_allclose(pull(tuple(w))[0], wanted, rtol=1e-13)
