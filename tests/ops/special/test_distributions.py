"""Distribution functions and their inverses against mpmath, and against each other."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError

P = lambda a, x: mp.gammainc(a, 0, x, regularized=True)
Q = lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True)
regular = lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True)

CASES = {
    "gdtr": (lambda a, b, x: P(b, a * x), [(0.7, 2.3, 1.9), (3.0, 0.4, 0.2)]),
    "gdtrc": (lambda a, b, x: Q(b, a * x), [(0.7, 2.3, 1.9), (3.0, 0.4, 0.2)]),
    "chdtr": (lambda v, x: P(v / 2, x / 2), [(2.3, 1.7), (90.0, 80.0)]),
    "chdtrc": (lambda v, x: Q(v / 2, x / 2), [(2.3, 1.7), (90.0, 80.0)]),
}


@pytest.mark.parametrize("name", CASES)
def test_slopes(name):
    has_slopes(getattr(sp, name), *CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_curvature(name):
    counterpart, points = CASES[name]
    has_curvature(getattr(sp, name), counterpart, points[0])


COUNTS = {
    "pdtr": (lambda k, m: Q(k + 1, m), (2, 1.7)),
    "pdtrc": (lambda k, m: P(k + 1, m), (2, 1.7)),
    "bdtr": (lambda k, n, p: regular(n - k, k + 1, 1 - p), (1, 4, 0.3)),
    "bdtrc": (lambda k, n, p: regular(k + 1, n - k, p), (1, 4, 0.3)),
    "nbdtr": (lambda k, n, p: regular(n, k + 1, p), (3, 4, 0.3)),
    "nbdtrc": (lambda k, n, p: regular(k + 1, n, 1 - p), (3, 4, 0.3)),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    counterpart, point = COUNTS[name]
    has_slopes(getattr(sp, name), counterpart, [point])
    has_curvature(getattr(sp, name), counterpart, point)


#: function, its inverse, the argument that the inverse gives, arguments of the function
INVERSES = [
    ("gdtr", "gdtria", 0, (0.7, 2.3, 1.9)),
    ("gdtr", "gdtrib", 1, (0.7, 2.3, 1.9)),
    ("gdtr", "gdtrix", 2, (0.7, 2.3, 1.9)),
    ("chdtrc", "chdtri", 1, (2.3, 1.7)),
    ("betainc", "btdtria", 0, (2.0, 3.0, 0.3)),
    ("betainc", "btdtrib", 1, (2.0, 3.0, 0.3)),
]


@pytest.mark.parametrize("name, inverse, unknown, point", INVERSES)
def test_inverses(name, inverse, unknown, point):
    """f(.., inverse(.., p, ..), ..) = p: slope 1 in p, 0 in all else, to second order."""
    f, g = getattr(sp, name), getattr(sp, inverse)
    p = np.float64(f(*point))
    at = (*point[:unknown], p, *point[unknown + 1 :])

    def both(*args):
        return f(*args[:unknown], g(*args), *args[unknown + 1 :])

    places = tuple(range(len(at)))
    slopes = dualad.grad(both, argnums=places)(*at)
    np.testing.assert_allclose(slopes, [float(k == unknown) for k in places], rtol=1e-8, atol=1e-8)
    hessian = dualad.hessian(lambda v: both(*v))(np.array(at))
    np.testing.assert_allclose(hessian, 0.0, atol=1e-6)


def test_chi_square_degrees():
    """chdtriv solves chdtr(v, x) = p for v."""
    both = lambda p, x: sp.chdtr(sp.chdtriv(p, x), x)
    slopes = dualad.grad(both, argnums=(0, 1))(0.4, 1.7)
    np.testing.assert_allclose(slopes, (1.0, 0.0), atol=1e-9)


#: Inverses in a count, which is continued to real numbers: the function to be inverted.
CONTINUED = [
    ("pdtrik", lambda k, m: sp.gammaincc(k + 1, m), (0.4, 2.5), 0),
    ("bdtrik", lambda k, n, p: sp.betainc(n - k, k + 1, 1 - p), (0.6, 6.0, 0.3), 0),
    ("bdtrin", lambda k, n, p: sp.betainc(n - k, k + 1, 1 - p), (2.0, 0.6, 0.3), 1),
    ("nbdtrik", lambda k, n, p: sp.betainc(n, k + 1, p), (0.6, 4.0, 0.3), 0),
    ("nbdtrin", lambda k, n, p: sp.betainc(n, k + 1, p), (2.0, 0.6, 0.3), 1),
]


@pytest.mark.parametrize("name, f, at, unknown", CONTINUED)
def test_inverses_in_a_count(name, f, at, unknown):
    g = getattr(sp, name)
    both = lambda *args: f(*args[:unknown], g(*args), *args[unknown + 1 :])
    places = tuple(range(len(at)))
    slopes = dualad.grad(both, argnums=places)(*at)
    np.testing.assert_allclose(slopes, [float(k == unknown) for k in places], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    "f, inverse, p",
    [("bdtr", "bdtri", (1, 4)), ("nbdtr", "nbdtri", (3, 4)), ("pdtr", "pdtri", (2,))],
)
def test_inverses_in_the_last_argument(f, inverse, p):
    both = lambda y: getattr(sp, f)(*p, getattr(sp, inverse)(*p, y))
    np.testing.assert_allclose(dualad.grad(both)(0.4), 1.0, rtol=1e-11)


def test_normal_mean_and_deviation():
    """ndtr((x - mean) / deviation) = p."""
    f = lambda mean, deviation, x: sp.ndtr((x - mean) / deviation)
    mean = lambda p, d, x: f(sp.nrdtrimn(p, d, x), d, x)
    deviation = lambda m, p, x: f(m, sp.nrdtrisd(m, p, x), x)
    slopes = dualad.grad(mean, argnums=(0, 1, 2))(0.3, 1.2, 0.8)
    np.testing.assert_allclose(slopes, (1.0, 0.0, 0.0), atol=1e-12)
    slopes = dualad.grad(deviation, argnums=(0, 1, 2))(0.2, 0.3, -0.8)
    np.testing.assert_allclose(slopes, (0.0, 1.0, 0.0), atol=1e-12)


def test_counts_that_are_rounded_down_are_constant():
    assert dualad.grad(lambda k: k * sp.pdtr(k, 1.7))(2.2) == sp.pdtr(2.2, 1.7)
    assert dualad.grad(lambda k: k * sp.bdtr(k, 4, 0.3))(1.2) == sp.bdtr(1.2, 4, 0.3)


@pytest.mark.parametrize(
    "f, argument",
    [
        (lambda n: sp.nbdtr(3, n, 0.3), "n"),
        (lambda k: sp.nbdtr(k, 4, 0.3), "k"),
        (lambda k: sp.pdtri(k, 0.3), "k"),
    ],
)
def test_whole_numbers_are_refused_by_name(f, argument):
    for mode in (lambda: dualad.jvp(f, (3.0,), (1.0,)), lambda: dualad.grad(f)(3.0)):
        with pytest.raises(MissingRuleError, match=f"no derivative in its argument {argument}"):
            mode()
