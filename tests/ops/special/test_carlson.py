"""Carlson's elliptic integrals against mpmath, also at coinciding arguments."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_complex_slope, has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError

THREE = [(0.7, 1.2, 0.4), (0.3, 0.3, 0.3), (1e-5, 2.0, 30.0), (1.0, 1.0, 2.0)]


@pytest.mark.parametrize("name", ["elliprf", "elliprd", "elliprg"])
def test_of_three_arguments(name):
    counterpart = getattr(mp, name)
    has_slopes(getattr(sp, name), counterpart, THREE, rtol=1e-11)
    has_curvature(getattr(sp, name), counterpart, (0.7, 1.2, 0.4))


def test_third_kind():
    points = [(0.7, 1.2, 0.4, 0.9), (0.3, 0.3, 0.3, 0.3), (0.1, 2.0, 3.0, 50.0)]
    has_slopes(sp.elliprj, mp.elliprj, points, rtol=1e-11)
    has_curvature(sp.elliprj, mp.elliprj, (0.7, 1.2, 0.4, 0.9), arguments=(0, 3))


def test_degenerate():
    has_slopes(sp.elliprc, mp.elliprc, [(0.7, 1.2), (0.3, 0.3), (1e-4, 5.0)], rtol=1e-11)
    has_curvature(sp.elliprc, mp.elliprc, (0.7, 1.2))


def test_degenerate_principal_value():
    """R_C(x, y) = sqrt(x / (x - y)) R_C(x - y, -y) for y < 0 (DLMF 19.2.20)."""
    principal = lambda x, y: mp.sqrt(x / (x - y)) * mp.elliprc(x - y, -y)
    has_slopes(sp.elliprc, principal, [(0.7, -1.2), (3.0, -0.2)], rtol=1e-12)


def test_a_principal_value_of_the_third_kind_is_refused():
    with pytest.raises(MissingRuleError, match=r"elliprj has no derivative in its argument p"):
        dualad.grad(sp.elliprj)(0.7, 1.2, 0.4, -0.9)


def test_complex():
    for z in (0.4 + 0.9j, 1.3 - 0.5j):
        has_complex_slope(lambda w: sp.elliprf(w, 1.2, 0.5), lambda w: mp.elliprf(w, 1.2, 0.5), z)
        f, counterpart = lambda w: sp.elliprd(w, 1.2, 0.5), lambda w: mp.elliprd(w, 1.2, 0.5)
        has_complex_slope(f, counterpart, z, rtol=1e-11)


def test_homogeneous():
    """Degrees -1/2, -3/2, 1/2: Euler's identity, for arguments of very different size."""
    for f, degree in ((sp.elliprf, -0.5), (sp.elliprd, -1.5), (sp.elliprg, 0.5)):
        x = np.array([1e-8, 3.0, 1e6])
        gradient = dualad.grad(lambda v: f(v[0], v[1], v[2]))(x)
        np.testing.assert_allclose(gradient @ x, degree * f(*x), rtol=1e-12)


def test_slopes_where_an_argument_is_zero():
    """R_G(x, 1, 1) = (R_C(x, 1) + sqrt(x)) / 2 = pi/4 + pi x / 8 + O(x**1.5) (DLMF 19.16.17).

    R_D(x, 1, 1) has a term in sqrt(x), so its slope is infinite.
    """
    slope = dualad.jvp(lambda x: sp.elliprg(x, 1.0, 1.0), (0.0,), (1.0,))[1]
    np.testing.assert_allclose(slope, np.pi / 8, 1e-14)
    for at in range(3):
        args = [1.0, 2.0, 3.0]
        args[at] = 0.0
        got = dualad.jvp(lambda x: sp.elliprg(*args[:at], x, *args[at + 1 :]), (0.0,), (1.0,))
        np.testing.assert_allclose(got[1], sp.elliprf(*args) / 4, 1e-14)
    assert dualad.grad(lambda x: sp.elliprd(x, 1.0, 1.0))(0.0) == -np.inf
    assert dualad.grad(lambda x: sp.elliprg(x, 0.0, 1.0))(0.0) == np.inf


@pytest.mark.parametrize("f", [sp.elliprd, sp.elliprj])
def test_no_points_have_no_slopes(f):
    none = np.zeros(0)
    args = (none,) * f.nin
    assert dualad.jvp(f, args, args)[1].shape == dualad.vjp(f, *args)[1](none)[0].shape == (0,)
