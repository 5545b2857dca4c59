"""F and t, also for so many degrees of freedom that the closed formula would cancel."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad


def f(m, n, x):
    return mp.betainc(m / 2, n / 2, 0, m * x / (n + m * x), regularized=True)


def t(n, x):
    half = mp.betainc(n / 2, mp.mpf(1) / 2, 0, n / (n + x * x), regularized=True) / 2
    return half if x < 0 else 1 - half


FEW = [(3.0, 4.0, 0.8), (3.0, 4.0, 1.8), (0.3, 0.3, 0.3), (5.0, 100.0, 0.9), (12.0, 7.0, 1.0)]
MANY = [(1e4, 5.0, 0.9), (1e4, 5.0, 1.3), (3.0, 1e6, 1.5)]


def test_f():
    has_slopes(sp.fdtr, f, FEW)
    has_slopes(sp.fdtrc, lambda *v: 1 - f(*v), FEW)
    has_curvature(sp.fdtr, f, (3.0, 4.0, 0.8))


def test_f_of_many_degrees():
    has_slopes(sp.fdtr, f, MANY, arguments=(0, 1), rtol=1e-11, digits=40)


T_POINTS = [
    (3.0, 0.8),
    (3.0, -0.8),
    (0.5, -4.0),
    (30.0, 1.3),
    (1e4, -1.3),
    (1e6, 0.7),
    (1e8, -5.0),
]


def test_t():
    has_slopes(sp.stdtr, t, T_POINTS, rtol=1e-12)
    has_curvature(sp.stdtr, t, (3.0, -0.7))
    has_curvature(sp.stdtr, t, (3.0, 1.7))


def test_t_at_zero():
    """F(0) = 1/2 for any n; the density there is 1 / (sqrt(n) B(1/2, n/2))."""
    gradient = dualad.grad(lambda v: sp.stdtr(v[0], v[1]))(np.array([3.0, 0.0]))
    density = lambda n: 1 / (mp.sqrt(n) * mp.beta(0.5, n / 2))
    np.testing.assert_allclose(gradient, [0.0, float(density(mp.mpf(3)))], rtol=1e-14)
    hessian = dualad.hessian(lambda v: sp.stdtr(v[0], v[1]))(np.array([3.0, 0.0]))
    mixed = float(mp.diff(density, 3))
    np.testing.assert_allclose(hessian, [[0.0, mixed], [mixed, 0.0]], rtol=1e-9, atol=1e-14)


INVERSES = [
    ("fdtr", "fdtri", 2, (3.0, 4.0, 0.8), 1e-9),
    ("fdtr", "fdtridfd", 1, (3.0, 4.0, 0.8), 1e-9),
    ("stdtr", "stdtrit", 1, (3.0, 0.8), 1e-9),
    ("stdtr", "stdtridf", 0, (3.0, 0.8), 1e-6),
]


@pytest.mark.parametrize("name, inverse, unknown, point, tolerance", INVERSES)
def test_inverses(name, inverse, unknown, point, tolerance):
    """SciPy solves for the degrees of freedom by iteration, hence the tolerance."""
    g, h = getattr(sp, name), getattr(sp, inverse)
    at = list(point)
    at[unknown] = np.float64(g(*point))
    if inverse == "stdtridf":  # its arguments are p, t
        both = lambda p, x: g(h(p, x), x)
    else:
        both = lambda *a: g(*a[:unknown], h(*a), *a[unknown + 1 :])
    places = tuple(range(len(at)))
    slopes = dualad.grad(both, argnums=places)(*at)
    wanted = [float(k == unknown) for k in places]
    np.testing.assert_allclose(slopes, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n", [1e14, 1e16, 1e18, 1e30, 1e100])
@pytest.mark.parametrize("t", [-3.0, -1e-8, 0.0, 1.0, 2.5])
def test_student_with_very_many_degrees_is_normal(n, t):
    """F(t) = Phi(t) - phi(t) (t**3 + t) / 4n, up to terms in 1/n**2 (DLMF 26.2; Fisher 1925)."""
    phi = np.exp(-t * t / 2) / np.sqrt(2 * np.pi)
    in_n, in_t = (dualad.jvp(sp.stdtr, (n, t), move)[1] for move in ((1.0, 0.0), (0.0, 1.0)))
    np.testing.assert_allclose(in_t, phi, 1e-11)
    np.testing.assert_allclose(in_n, phi * (t**3 + t) / (4 * n**2), 1e-7)


@pytest.mark.parametrize("n", [1e16, 1e20, 1e40])
def test_f_with_very_many_degrees_is_chi_square(n):
    """F(x) of m and n degrees tends to the distribution function of chi2_m / m."""
    m, x = 3.0, 1.2
    in_m, in_x = (
        dualad.jvp(lambda m, x: sp.fdtr(m, n, x), (m, x), move)[1]
        for move in ((1.0, 0.0), (0.0, 1.0))
    )
    density = sp.xlogy(m / 2 - 1, m * x / 2) - m * x / 2 - sp.gammaln(m / 2)
    np.testing.assert_allclose(in_x, m / 2 * np.exp(density), 1e-12)
    limit = dualad.jvp(lambda m: sp.gammainc(m / 2, m * x / 2), (m,), (1.0,))[1]
    np.testing.assert_allclose(in_m, limit, 1e-10)
