"""Noncentral chi square, F and t against their mixtures at 40 digits."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad


def chi_square(x, v, nc):
    term = lambda j: mp.gammainc(v / 2 + j, 0, x / 2, regularized=True)
    return mp.fsum(mp.exp(-nc / 2) * (nc / 2) ** j / mp.factorial(j) * term(j) for j in range(60))


def f(m, n, nc, x):
    u = m * x / (n + m * x)
    term = lambda j: mp.betainc(m / 2 + j, n / 2, 0, u, regularized=True)
    return mp.fsum(mp.exp(-nc / 2) * (nc / 2) ** j / mp.factorial(j) * term(j) for j in range(60))


def t(n, delta, x):
    if x < 0:
        return 1 - t(n, -delta, -x)
    y, half = x * x / (n + x * x), delta**2 / 2
    total = mp.ncdf(-delta)
    for j in range(60):
        p = mp.exp(-half) * half**j
        even = p / mp.factorial(j) * mp.betainc(j + 0.5, n / 2, 0, y, regularized=True)
        odd = delta * p / mp.sqrt(2) / mp.gamma(j + 1.5)
        total += (even + odd * mp.betainc(j + 1, n / 2, 0, y, regularized=True)) / 2
    return total


def test_chi_square():
    has_slopes(sp.chndtr, chi_square, [(2.3, 1.4, 0.8), (7.0, 0.5, 5.0)])
    has_curvature(sp.chndtr, chi_square, (2.3, 1.4, 0.8))


def test_f():
    has_slopes(sp.ncfdtr, f, [(2.3, 1.4, 0.8, 1.2)])
    has_curvature(sp.ncfdtr, f, (2.3, 1.4, 0.8, 1.2), arguments=(2, 3))


def test_t():
    has_slopes(sp.nctdtr, t, [(2.3, 0.7, 1.2), (2.3, 0.7, -1.2), (5.0, -2.0, 0.4)], rtol=1e-11)


def test_a_central_distribution_is_the_limit():
    """d/d nc at 0: half of P(v / 2 + 1, x / 2) - P(v / 2, x / 2)."""
    wanted = 0.5 * (sp.chdtr(5.0, 2.3) - sp.chdtr(3.0, 2.3))
    np.testing.assert_allclose(
        dualad.grad(sp.chndtr, argnums=2)(2.3, 3.0, 0.0), wanted, rtol=1e-12
    )


INVERSES = [
    ("chndtr", "chndtrix", 0, (2.3, 1.4, 0.8)),
    ("chndtr", "chndtridf", 1, (2.3, 1.4, 0.8)),
    ("chndtr", "chndtrinc", 2, (2.3, 1.4, 0.8)),
    ("ncfdtr", "ncfdtri", 3, (2.3, 1.4, 0.8, 1.2)),
    ("nctdtr", "nctdtrit", 2, (2.3, 0.7, 1.2)),
    ("nctdtr", "nctdtridf", 0, (2.3, 0.7, 1.2)),
    ("nctdtr", "nctdtrinc", 1, (2.3, 0.7, 1.2)),
]


@pytest.mark.parametrize("name, inverse, unknown, point", INVERSES)
def test_inverses(name, inverse, unknown, point):
    """SciPy solves by iteration: the roundtrip is the identity to its accuracy."""
    g, h = getattr(sp, name), getattr(sp, inverse)
    at = list(point)
    at[unknown] = np.float64(g(*point))
    both = lambda *a: g(*a[:unknown], h(*a), *a[unknown + 1 :])
    places = tuple(range(len(at)))
    slopes = dualad.grad(both, argnums=places)(*at)
    np.testing.assert_allclose(slopes, [float(k == unknown) for k in places], rtol=1e-6, atol=1e-6)
