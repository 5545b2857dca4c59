"""Bessel and Hankel functions in their argument against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_complex_slope, has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError

KINDS = {"jv": mp.besselj, "yv": mp.bessely, "iv": mp.besseli, "kv": mp.besselk}
SCALED = {
    "jve": mp.besselj,
    "yve": mp.bessely,
    "ive": lambda v, z: mp.exp(-z) * mp.besseli(v, z),
    "kve": lambda v, z: mp.exp(z) * mp.besselk(v, z),
}
ARGUMENTS = [(0.7,), (3.2,), (12.5,), (1e-4,), (60.0,)]
WHOLE = {
    "j0": lambda x: mp.besselj(0, x),
    "j1": lambda x: mp.besselj(1, x),
    "y0": lambda x: mp.bessely(0, x),
    "y1": lambda x: mp.bessely(1, x),
    "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x),
    "k0": lambda x: mp.besselk(0, x),
    "k1": lambda x: mp.besselk(1, x),
    "i0e": lambda x: mp.exp(-x) * mp.besseli(0, x),
    "i1e": lambda x: mp.exp(-x) * mp.besseli(1, x),
    "k0e": lambda x: mp.exp(x) * mp.besselk(0, x),
    "k1e": lambda x: mp.exp(x) * mp.besselk(1, x),
}


@pytest.mark.parametrize("v", [0.0, 1.0, 2.5, -0.3, 30.0])
@pytest.mark.parametrize("name", KINDS)
def test_in_the_argument(name, v):
    f = lambda x: getattr(sp, name)(v, x)
    counterpart = lambda x: KINDS[name](v, x)
    has_slopes(f, counterpart, ARGUMENTS[:3], rtol=1e-11, atol=1e-14)
    has_curvature(f, counterpart, (3.2,), rtol=1e-9)


@pytest.mark.parametrize("name", WHOLE)
def test_of_orders_zero_and_one(name):
    f, counterpart = getattr(sp, name), WHOLE[name]
    has_slopes(f, counterpart, ARGUMENTS, rtol=3e-12, atol=1e-15)
    has_curvature(f, counterpart, (0.7,))


@pytest.mark.parametrize("name", SCALED)
def test_scaled(name):
    for v in (0.0, 0.7, 3.0):
        f = lambda x: getattr(sp, name)(v, x)
        counterpart = lambda x: SCALED[name](v, x)
        has_slopes(f, counterpart, ARGUMENTS[:3], rtol=1e-11, atol=1e-14)
        has_curvature(f, counterpart, (3.2,), rtol=1e-9)


@pytest.mark.parametrize("x", [30.0, 100.0, 1e4, 1e8])
def test_scaled_functions_keep_their_precision_far_out(x):
    """d/dx of about x**-1/2 is about -x**-3/2 / 2, where the two terms of the formula cancel."""
    for name, v in (("i0e", 0), ("i1e", 1), ("k0e", 0), ("k1e", 1)):
        scaled = SCALED["ive" if name[0] == "i" else "kve"]
        has_slopes(getattr(sp, name), lambda z: scaled(v, z), [(x,)], rtol=1e-12)
    for name in ("ive", "kve"):
        f = lambda z: getattr(sp, name)(2.5, z)
        has_slopes(f, lambda z: SCALED[name](2.5, z), [(x,)], rtol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_of_whole_order(n):
    for name, counterpart in (("yn", mp.bessely), ("kn", mp.besselk)):
        f = lambda x: getattr(sp, name)(n, x)
        has_slopes(f, lambda x: counterpart(n, x), [(0.7,), (3.2,)], rtol=1e-11)
        has_curvature(f, lambda x: counterpart(n, x), (0.7,))
        with pytest.raises(MissingRuleError, match=f"{name} has no derivative in its argument n"):
            dualad.jvp(lambda m: getattr(sp, name)(m, 0.7), (2.0,), (1.0,))


def test_at_zero():
    """J_0 and I_0 are flat, J_1 and I_1 have slope 1/2; second derivatives -1/2 and 1/2."""
    for f, wanted in ((sp.j0, 0.0), (sp.j1, 0.5), (sp.i0, 0.0), (sp.i1, 0.5), (sp.i0e, 0.0)):
        assert dualad.grad(f)(0.0) == wanted
    assert dualad.grad(dualad.grad(sp.j0))(0.0) == -0.5
    assert dualad.grad(dualad.grad(sp.i0))(0.0) == 0.5
    assert dualad.grad(lambda x: sp.jv(1.0, x))(0.0) == 0.5
    assert dualad.grad(lambda x: sp.jv(0.5, x))(0.0) == np.inf


@pytest.mark.parametrize("z", [0.4 + 0.3j, 3.0 - 2.0j, -1.2 + 0.7j])
def test_complex(z):
    for name in KINDS:
        f = lambda w: getattr(sp, name)(1.5, w)
        has_complex_slope(f, lambda w: KINDS[name](1.5, w), z, rtol=1e-11)
    has_complex_slope(lambda w: sp.kve(1.5, w), lambda w: SCALED["kve"](1.5, w), z, rtol=1e-11)
    for k, counterpart in ((1, mp.hankel1), (2, mp.hankel2)):
        sign = 1j if k == 2 else -1j
        f, scaled = getattr(sp, f"hankel{k}"), getattr(sp, f"hankel{k}e")
        has_complex_slope(lambda w: f(1.5, w), lambda w: counterpart(1.5, w), z, rtol=1e-11)
        g = lambda w: counterpart(1.5, w) * mp.exp(sign * w)
        has_complex_slope(lambda w: scaled(1.5, w), g, z, rtol=1e-11)


@pytest.mark.parametrize("name, size", [("jve", np.imag), ("yve", np.imag), ("ive", np.real)])
def test_scaled_by_a_modulus_is_smooth_in_real_and_imaginary_part(name, size):
    """exp(-|Im z|) J or exp(-|Re z|) I: the derivative along any direction, and its adjoint."""
    f = lambda w: getattr(sp, name)(0.7, w)
    z, h = np.complex128(1.3 - 0.4j), 1e-6
    for t in (1.0 + 0.0j, 1.0j, 0.3 - 0.8j):
        _, moved = dualad.jvp(f, (z,), (np.complex128(t),))
        difference = (f(z + h * t) - f(z - h * t)) / (2 * h)
        np.testing.assert_allclose(moved, difference, rtol=1e-8)
        w = np.complex128(0.3 + 0.8j)
        back = dualad.vjp(f, z)[1](w)[0]
        np.testing.assert_allclose(
            np.real(np.conj(w) * moved), np.real(np.conj(back) * t), rtol=1e-13
        )


def test_hankel_of_a_real_argument():
    _, t = dualad.jvp(lambda x: sp.hankel1(0.7, x), (1.3,), (1.0,))
    with mp.workdps(30):
        wanted = complex(mp.diff(lambda x: mp.hankel1(0.7, x), 1.3))
    np.testing.assert_allclose(t, wanted, rtol=1e-12)
    gradient = dualad.grad(lambda x: np.real(sp.hankel1(0.7, x)))(1.3)
    np.testing.assert_allclose(gradient, wanted.real, rtol=1e-12)
