"""The functions of scipy.special that do not dispatch: SciPy's values, mpmath's derivatives."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad
import dualad.scipy.special as special
from dualad.errors import ArgumentError, LostDerivativeError, MissingRuleError


def spherical(f, sign=1):
    return lambda n: lambda z: mp.sqrt(mp.pi / (2 * z)) * f(n + sign * mp.mpf(1) / 2, z)


def multigamma(d):
    def f(a):
        terms = mp.fsum(mp.loggamma(a - mp.mpf(j) / 2) for j in range(d))
        return terms + d * (d - 1) * mp.log(mp.pi) / 4

    return f


def dirichlet(n):
    return lambda x: mp.sin(n * x / 2) / (n * mp.sin(x / 2))


POINTS = [(1.5,), (2.7,), (0.4,)]
CASES = {
    "polygamma(1, x)": (lambda x: mp.polygamma(1, x), POINTS),
    "polygamma(0, x)": (mp.digamma, POINTS),
    "polygamma(3, x)": (lambda x: mp.polygamma(3, x), POINTS),
    "multigammaln(x, 3)": (multigamma(3), [(1.5,), (2.7,)]),
    "factorial(x)": (mp.factorial, [*POINTS, (0.0,)]),
    "factorial(x, extend='complex')": (mp.factorial, [*POINTS, (-0.5,)]),
    "comb(x, 2.0)": (lambda x: mp.binomial(x, 2), [(2.7,), (5.0,)]),
    "comb(5.0, x)": (lambda x: mp.binomial(5, x), [(2.7,), (4.0,)]),
    "comb(x, 2.0, repetition=True)": (lambda x: mp.binomial(x + 1, 2), POINTS),
    "perm(x, 1.2)": (lambda x: mp.ff(x, mp.mpf("1.2")), [(1.5,), (2.7,)]),
    "diric(x, 3)": (dirichlet(3), [*POINTS, (7.0,), (-20.0,)]),
    "diric(x, 4)": (dirichlet(4), [*POINTS, (7.0,), (-20.0,)]),
    "spherical_jn(2, x)": (spherical(mp.besselj)(2), POINTS),
    "spherical_yn(2, x)": (spherical(mp.bessely)(2), POINTS),
    "spherical_in(2, x)": (spherical(mp.besseli)(2), POINTS),
    "spherical_kn(2, x)": (spherical(mp.besselk)(2), POINTS),
    "spherical_jn(0, x)": (spherical(mp.besselj)(0), POINTS),
    "spherical_jn(2, x, True)": (lambda x: mp.diff(spherical(mp.besselj)(2), x), POINTS),
    "spherical_kn(1, x, derivative=True)": (
        lambda x: mp.diff(spherical(mp.besselk)(1), x),
        POINTS,
    ),
    "jvp(2, x)": (lambda x: mp.besselj(2, x, derivative=1), POINTS),
    "jvp(2, x, 3)": (lambda x: mp.besselj(2, x, derivative=3), POINTS),
    "yvp(2, x)": (lambda x: mp.bessely(2, x, derivative=1), POINTS),
    "ivp(2, x)": (lambda x: mp.besseli(2, x, derivative=1), POINTS),
    "kvp(2, x, 2)": (
        lambda x: (mp.besselk(0, x) + 2 * mp.besselk(2, x) + mp.besselk(4, x)) / 4,
        POINTS,
    ),
    "lambertw(x).real": (mp.lambertw, POINTS),
    "zeta(x, 1.5)": (lambda x: mp.zeta(x, 1.5), POINTS[:2]),
    "zeta(x)": (mp.zeta, POINTS),
    "softplus(x)": (lambda x: mp.log1p(mp.exp(x)), POINTS),
    "sinc(x)": (lambda x: mp.sincpi(x), POINTS),
    "assoc_laguerre(x, 2, 1.5)": (lambda x: mp.laguerre(2, 1.5, x), POINTS),
}


@pytest.mark.parametrize("call", CASES)
def test_slopes(call):
    counterpart, points = CASES[call]
    f = eval(f"lambda x: special.{call}")
    has_slopes(f, counterpart, points, rtol=1e-11)
    has_curvature(f, counterpart, points[0], rtol=1e-9)


@pytest.mark.parametrize("call", CASES)
def test_values_are_those_of_scipy(call):
    f, original = eval(f"lambda x: special.{call}"), eval(f"lambda x: sp.{call}")
    x = np.array([1.7, 2.5])
    np.testing.assert_array_equal(f(x), original(x))
    np.testing.assert_allclose(dualad.jvp(f, (x,), (np.ones(2),))[0], original(x), rtol=2e-14)
    np.testing.assert_allclose(dualad.vmap(f)(x), original(x), rtol=2e-14)


def test_orders_may_be_real():
    f = lambda v: special.jvp(v, 1.3)
    has_slopes(f, lambda v: mp.diff(lambda z: mp.besselj(v, z), mp.mpf("1.3")), [(0.7,), (2.0,)])
    g = lambda v: special.kvp(v, 1.3)
    has_slopes(g, lambda v: mp.diff(lambda z: mp.besselk(v, z), mp.mpf("1.3")), [(0.7,), (2.0,)])


def test_hankel_derivatives():
    for f, counterpart in ((special.h1vp, mp.hankel1), (special.h2vp, mp.hankel2)):
        _, t = dualad.jvp(lambda z: f(2, z), (1.3,), (1.0,))
        wanted = complex(mp.diff(lambda z: counterpart(2, z), 1.3, 2))
        np.testing.assert_allclose(t, wanted, rtol=1e-11)


def test_orders_may_be_an_array():
    n, x = np.array([0, 1, 2]), np.array([1.5, 2.5, 3.3])
    slopes = dualad.jvp(lambda v: special.polygamma(n, v), (x,), (np.ones(3),))[1]
    np.testing.assert_allclose(slopes, sp.polygamma(n + 1, x), rtol=1e-13)


def test_removable_singularities():
    """j_1' = 1/3 and the Dirichlet kernel is flat with curvature -(n**2 - 1) / 12 at 0."""
    np.testing.assert_allclose(dualad.grad(lambda z: special.spherical_jn(1, z))(0.0), 1 / 3)
    for at in (0.0, 4 * np.pi):
        f = lambda x: special.diric(x, 5)
        np.testing.assert_allclose(dualad.grad(f)(at), 0.0, atol=1e-14)
        np.testing.assert_allclose(dualad.grad(dualad.grad(f))(at), -2.0, rtol=1e-12)


def test_outside_of_the_domain():
    assert dualad.grad(special.factorial)(-1.5) == 0.0
    assert dualad.grad(lambda n: special.comb(n, 3.0))(2.0) == 0.0
    with pytest.raises(ValueError, match=r"a > 0\.5"):
        dualad.grad(lambda a: special.multigammaln(a, 3))(0.9)


def test_arguments_that_choose_the_function_are_refused_by_name():
    for call, name in (
        (lambda n: special.polygamma(n, 1.5), "n"),
        (lambda n: special.spherical_jn(n, 1.5), "n"),
        (lambda d: special.multigammaln(3.0, d), "d"),
        (lambda n: special.diric(0.3, n), "n"),
    ):
        with pytest.raises(MissingRuleError, match=f"no derivative in its argument {name}"):
            dualad.grad(call)(2.0)


def test_exact_integers_are_refused():
    with pytest.raises(ArgumentError, match="exact=True"):
        dualad.grad(lambda n: special.factorial(n, exact=True))(3.0)


PLAIN = {
    "polygamma": lambda x: sp.polygamma(1, x),
    "logsumexp": lambda x: sp.logsumexp(x),
    "softmax": lambda x: sp.softmax(x),
    "spherical_jn": lambda x: sp.spherical_jn(2, x),
    "multigammaln": lambda x: sp.multigammaln(x, 2),
    "comb": lambda x: sp.comb(x, 2.0),
    "legendre_p": lambda x: sp.legendre_p(3, x),
    "sph_harm_y": lambda x: sp.sph_harm_y(2, 1, x, 0.3),
}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("x", [np.array([1.5, 2.5]), 1.5])
def test_the_plain_function_names_the_drop_in(name, x):
    with pytest.raises(LostDerivativeError, match=rf"dualad\.scipy\.special\.{name} instead"):
        dualad.jvp(PLAIN[name], (x,), (np.ones_like(x),))


def test_tensors():
    x = dualad.tensor([1.5, 2.5], requires_grad=True)
    out = special.polygamma(1, x)
    assert isinstance(out, dualad.Tensor)
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), sp.polygamma(2, [1.5, 2.5]), rtol=1e-6)
