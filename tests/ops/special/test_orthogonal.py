"""Orthogonal polynomials against mpmath: in argument, degree and parameters."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError


def first(n, x):
    return mp.cos(n * mp.acos(x))


def second(n, x):
    a = mp.acos(x)
    return mp.sin((n + 1) * a) / mp.sin(a)


def shifted_jacobi(n, p, q, x):
    return mp.jacobi(n, p - q, q - 1, 2 * x - 1) / mp.binomial(2 * n + p - 1, n)


TWO = [(2.3, 0.4), (0.3, 0.3), (7.0, -0.2)]
CASES = {
    "eval_chebyt": (first, TWO),
    "eval_chebyu": (second, TWO),
    "eval_chebyc": (lambda n, x: 2 * first(n, x / 2), TWO),
    "eval_chebys": (lambda n, x: second(n, x / 2), TWO),
    "eval_sh_chebyt": (lambda n, x: first(n, 2 * x - 1), TWO[:2]),
    "eval_sh_chebyu": (lambda n, x: second(n, 2 * x - 1), TWO[:2]),
    "eval_legendre": (mp.legendre, TWO),
    "eval_sh_legendre": (lambda n, x: mp.legendre(n, 2 * x - 1), TWO[:2]),
    "eval_gegenbauer": (mp.gegenbauer, [(2.3, 0.7, 0.4), (0.3, 0.3, 0.3), (5.0, 1.5, -0.6)]),
    "eval_jacobi": (
        mp.jacobi,
        [(2.3, 0.7, 0.3, 0.4), (0.3, 0.3, 0.3, 0.3), (4.0, 1.5, 0.2, -0.6)],
    ),
    "eval_sh_jacobi": (shifted_jacobi, [(2.3, 1.7, 0.3, 0.4)]),
    "eval_laguerre": (lambda n, x: mp.laguerre(n, 0, x), [(2.3, 0.4), (0.3, 0.3), (20.5, 10.0)]),
    "eval_genlaguerre": (mp.laguerre, [(2.3, 0.7, 0.4), (0.3, 0.3, 0.3), (8.0, 1.5, 6.0)]),
}


@pytest.mark.parametrize("name", CASES)
def test_slopes(name):
    has_slopes(getattr(sp, name), *CASES[name], rtol=1e-9)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"eval_sh_jacobi"}))
def test_curvature(name):
    counterpart, points = CASES[name]
    has_curvature(getattr(sp, name), counterpart, points[0], rtol=1e-9)


@pytest.mark.parametrize("x", [1.4, 3.0])
def test_chebyshev_outside_of_the_interval(x):
    for name in ("eval_chebyt", "eval_chebyu"):
        has_slopes(getattr(sp, name), CASES[name][0], [(2.3, x), (5.0, x)], rtol=1e-11)


ENDS = {
    "eval_chebyt": (lambda n: n**2, 1.0),
    "eval_chebyu": (lambda n: n * (n + 1) * (n + 2) / 3, 1.0),
    "eval_legendre": (lambda n: n * (n + 1) / 2, 1.0),
    "eval_laguerre": (lambda n: -n, 0.0),
}


@pytest.mark.parametrize("name", ENDS)
def test_at_the_ends_of_the_interval(name):
    slope, end = ENDS[name]
    for n in range(5):
        f = lambda x: getattr(sp, name)(n, x)
        np.testing.assert_allclose(dualad.grad(f)(end), slope(n), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_hermite(n):
    f, g = lambda x: sp.eval_hermite(n, x), lambda x: sp.eval_hermitenorm(n, x)
    has_slopes(f, lambda x: mp.hermite(n, x), [(0.6,), (-2.0,)], atol=1e-12)
    has_curvature(f, lambda x: mp.hermite(n, x), (0.6,))
    normalized = lambda x: mp.hermite(n, x / mp.sqrt(2)) / mp.sqrt(2) ** n
    has_slopes(g, normalized, [(0.6,), (-2.0,)], atol=1e-12)


def test_a_traced_degree_of_hermite_polynomials_is_refused():
    with pytest.raises((MissingRuleError, TypeError)):
        dualad.jvp(lambda n: sp.eval_hermite(n, 0.6), (2.0,), (1.0,))


def test_whole_degrees_stay_integers():
    """An array of degrees, one slope each: T_n' = n U_(n-1)."""
    n = np.arange(4)
    slopes = dualad.jvp(lambda x: sp.eval_chebyt(n, x), (0.3,), (1.0,))[1]
    np.testing.assert_allclose(slopes, [0.0, 1.0, 1.2, 12 * 0.09 - 3], atol=1e-15)
