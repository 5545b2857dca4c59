"""Functions of C: values through ctypes and SciPy, and what has none."""

import ctypes

import numpy as np
import pytest

import dualad
from dualad.errors import ArgumentError

DOUBLES = ctypes.POINTER(ctypes.c_double)


def pointer(a):
    return a.ctypes.data_as(DOUBLES)


def bell(x):
    return np.exp(-x * x) * np.cos(x)


def test_a_function_of_one_number():
    c = dualad.compile(bell).cfunc(0.3)
    assert c.signature == "double (double)"
    assert c.address == ctypes.cast(c.ctypes, ctypes.c_void_p).value
    for x in (-1.0, 0.0, 2.5):
        assert c.ctypes(x) == pytest.approx(bell(x), rel=1e-15)


def test_quad_takes_it():
    integrate = pytest.importorskip("scipy.integrate")
    c = dualad.compile(bell).cfunc(0.3).as_scipy()
    # the integral of exp(-x^2) cos x over the line is sqrt(pi) exp(-1/4)
    assert integrate.quad(c, -np.inf, np.inf)[0] == pytest.approx(np.sqrt(np.pi) * np.exp(-0.25))


def test_nquad_takes_a_function_of_several_numbers():
    integrate = pytest.importorskip("scipy.integrate")
    c = dualad.compile(lambda x, y, k: x * y * y * k).cfunc(1.0, 1.0, 1.0)
    assert c.signature == "double (int, double *)"
    # the integral of 3 x y^2 over 0 < x < 2, 0 < y < 1 is 2
    got = integrate.nquad(c.as_scipy(), [[0, 2], [0, 1]], args=(3.0,))[0]
    assert got == pytest.approx(2.0)


def test_a_derivative_of_a_state():
    def rhs(t, y):
        return np.stack([y[1], -y[0] * np.cos(t)])

    c = dualad.compile(rhs).cfunc(0.5, np.ones(2))
    assert c.signature == "void (double, double *, double *)"
    y, dy = np.array([0.3, -0.7]), np.empty(2)
    c.ctypes(1.5, pointer(y), pointer(dy))
    np.testing.assert_allclose(dy, rhs(1.5, y), rtol=1e-15)


@pytest.mark.parametrize("n", [3, 200])
def test_numbers_in_a_row(n):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(n, n)) if n < 10 else rng.normal(size=n)

    def f(t, y, p):
        z = a @ np.tanh(y) * t if a.ndim == 2 else a * np.tanh(y[::-1]) * t
        return z * p[0] + p[1], np.sum(z)

    args = 0.5, rng.normal(size=n), np.array([2.0, 3.0])
    c = dualad.compile(f).cfunc(*args)
    assert c.signature == "void (double *, double *)"
    row, out = np.concatenate([np.ravel(x) for x in args]), np.empty(n + 1)
    c.ctypes(pointer(row), pointer(out))
    want = f(*args)
    np.testing.assert_allclose(out, [*want[0], want[1]], rtol=1e-12)


def test_derivatives_are_functions_of_c_too():
    c = dualad.compile(dualad.grad(bell)).cfunc(0.3)
    x = 0.8
    want = -2 * x * np.exp(-x * x) * np.cos(x) - np.exp(-x * x) * np.sin(x)
    assert c.ctypes(x) == pytest.approx(want, rel=1e-14)


def test_another_path_is_nan():
    c = dualad.compile(lambda x: np.sin(x) if x > 0 else x * 2.0).cfunc(1.0)
    assert c.ctypes(2.0) == pytest.approx(np.sin(2.0))
    assert np.isnan(c.ctypes(-2.0))


def test_what_has_no_function_of_c():
    square = dualad.compile(lambda a: np.linalg.inv(a) * 2.0)
    with pytest.raises(ArgumentError, match="no native form"):
        square.cfunc(np.eye(2))
    single = dualad.compile(lambda x: x * np.float32(2.0))
    with pytest.raises(ArgumentError, match="float32"):
        single.cfunc(np.ones(3, np.float32))
    with pytest.raises(ArgumentError, match="may have"):
        dualad.compile(bell).cfunc(0.3, signature="int (int)")
    with pytest.raises(ArgumentError, match="computes from its arguments"):
        dualad.compile(lambda x: 2.0).cfunc(0.3)
