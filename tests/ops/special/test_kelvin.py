"""Kelvin functions against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad

PARTS = {
    "ber": lambda x: mp.ber(0, x),
    "bei": lambda x: mp.bei(0, x),
    "ker": lambda x: mp.ker(0, x),
    "kei": lambda x: mp.kei(0, x),
}


@pytest.mark.parametrize("name", PARTS)
def test_slopes(name):
    points = [(0.7,), (3.0,), (8.0,)]
    has_slopes(getattr(sp, name), PARTS[name], points, rtol=1e-10)
    has_curvature(getattr(sp, name), PARTS[name], (0.7,))
    slope = lambda x: mp.diff(PARTS[name], x)
    has_slopes(getattr(sp, f"{name}p"), slope, points, rtol=1e-10)


def test_at_zero():
    """ber = 1 - x**4 / 64, bei = x**2 / 4 to lowest order."""
    assert dualad.grad(sp.berp)(0.0) == 0.0
    assert dualad.grad(sp.beip)(0.0) == 0.5


def test_all_at_once():
    x, t = np.array([0.7, 3.0]), np.array([1.0, -2.0])
    out, moved = dualad.jvp(sp.kelvin, (x,), (t,))
    second = dualad.jvp(lambda v: sp.kelvin(v)[2], (x,), (t,))[1]
    np.testing.assert_allclose(moved[0], t * out[2], rtol=1e-14)
    np.testing.assert_allclose(moved[1], t * out[3], rtol=1e-14)
    np.testing.assert_allclose(moved[2], second, rtol=1e-14)
    value = lambda v: mp.ber(0, v) + 1j * mp.bei(0, v)
    with mp.workdps(30):
        wanted = [complex(mp.diff(value, v, 2)) for v in x]
    np.testing.assert_allclose(second, t * wanted, rtol=1e-10)
    gradient = dualad.grad(lambda v: np.sum(np.abs(sp.kelvin(v)[0]) ** 2))(x)
    np.testing.assert_allclose(gradient, 2 * np.real(np.conj(out[0]) * out[2]), rtol=1e-12)
