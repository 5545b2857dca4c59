"""The Lambert W function and Wright's omega."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_complex_slope, has_curvature, has_slopes

import dualad


def test_principal_branch():
    f = lambda x: np.real(sp.lambertw(x))
    has_slopes(f, mp.lambertw, [(0.5,), (-0.3,), (0.0,), (1e8,)])
    has_curvature(f, mp.lambertw, (0.5,))


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 3])
def test_branches(k):
    for z in (0.4 + 0.3j, -1.2 + 0.7j, 3.0 - 0.5j):
        has_complex_slope(lambda w: sp.lambertw(w, k), lambda w: mp.lambertw(w, k), z)


def test_it_inverts_w_exp_w():
    w = np.array([-0.5, 0.3, 2.0])
    slopes = dualad.grad(lambda v: np.sum(np.real(sp.lambertw(v * np.exp(v)))))(w)
    np.testing.assert_allclose(slopes, 1.0, rtol=1e-13)


def test_wright_omega():
    omega = lambda x: mp.lambertw(mp.exp(x))
    has_slopes(sp.wrightomega, omega, [(0.5,), (-3.0,), (20.0,), (-40.0,)])
    has_curvature(sp.wrightomega, omega, (0.5,))
    has_complex_slope(sp.wrightomega, omega, 0.4 + 0.3j)
