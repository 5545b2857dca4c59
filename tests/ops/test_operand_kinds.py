"""Constants of every kind beside a traced value: small integers, huge ones, complex, ranges."""

import numpy as np
import pytest

import dualad

A = np.array([20.25, 0.7])
SMALL = [np.uint8, np.int8, np.uint16, np.uint64, np.bool_]

#: function of a traced array and a constant, its derivative for the constants 0 and 1
WITH_SMALL_INTEGERS = {
    "arctan2 of the constant": (np.arctan2, True, lambda x, c: -c / (x * x + c * c)),
    "arctan2": (np.arctan2, False, lambda x, c: c / (x * x + c * c)),
    "power": (np.power, False, lambda x, c: c * x ** (c - 1.0)),
    "operator **": (lambda x, c: x**c, False, lambda x, c: c * x ** (c - 1.0)),
    "float_power": (np.float_power, False, lambda x, c: c * x ** (c - 1.0)),
    "hypot": (np.hypot, False, lambda x, c: x / np.hypot(x, c)),
    "divide": (np.divide, True, lambda x, c: -c / x**2),
    "logaddexp": (np.logaddexp, False, lambda x, c: 1 / (1 + np.exp(c - x))),
}


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("name", WITH_SMALL_INTEGERS)
def test_integers_of_few_bits_do_not_wrap_around_in_a_formula(name, dtype):
    f, swapped, slope = WITH_SMALL_INTEGERS[name]
    for c in (np.array([0, 1], dtype), np.array([1, 1], dtype), dtype(1)):
        g = (lambda x, c=c: f(c, x)) if swapped else (lambda x, c=c: f(x, c))
        expected = slope(A, np.asarray(c, float))
        np.testing.assert_allclose(dualad.jvp(g, (A,), (np.ones(2),))[1], expected)
        np.testing.assert_allclose(dualad.grad(lambda x, g=g: np.sum(g(x)))(A), expected)
        rows = dualad.vmap(dualad.grad(lambda x, g=g: np.sum(g(x))))(np.stack([A, A]))
        np.testing.assert_allclose(rows, [expected, expected])


@pytest.mark.parametrize("base", [1j, -1 + 2j, np.array([-1 + 2j]), np.complex64(1j)])
def test_a_complex_constant_to_a_real_power(base):
    f = lambda x: base**x
    value = np.asarray(base) ** A
    dy = dualad.jvp(f, (A,), (np.ones(2),))[1]
    np.testing.assert_allclose(dy, value * np.log(np.asarray(base, complex)), rtol=1e-6)
    _, pullback = dualad.vjp(f, A)
    np.testing.assert_allclose(pullback(np.ones(2, value.dtype))[0], dy.real, rtol=1e-6)


def test_a_negative_constant_to_a_complex_power():
    z = np.array([0.5 + 0.25j, -1.0 + 1j])
    f = lambda z: np.power(np.array([-2.0, 3.0]), z)
    slope = f(z) * np.log(np.array([-2.0 + 0j, 3.0 + 0j]))
    np.testing.assert_allclose(dualad.jvp(f, (z,), (np.ones(2, complex),))[1], slope)


def test_the_logarithm_of_a_float32_base_has_the_precision_of_the_result():
    base = np.array([1.1], np.float32)
    slope = dualad.jvp(lambda y: np.power(base, y), (np.array([2.0]),), (np.ones(1),))[1]
    b = np.float64(base[0])
    np.testing.assert_allclose(slope, [b**2 * np.log(b)], rtol=1e-15)


def test_float_power_of_complex64_is_complex128_as_in_numpy():
    z = np.array([1 + 1j], np.complex64)
    y, dy = dualad.jvp(lambda z: np.float_power(z, 2.0), (z,), (z,))
    assert y.dtype == dy.dtype == np.complex128
    np.testing.assert_allclose(dy, 2 * z * z, rtol=1e-6)


def test_an_integer_beyond_64_bits():
    np.testing.assert_allclose(dualad.grad(lambda x: (10**30) ** x)(0.5), 1e15 * 30 * np.log(10.0))
    np.testing.assert_allclose(dualad.grad(lambda x: x / 10**25)(0.5), 1e-25)


def test_a_range_is_an_operand():
    r = range(1, 3)
    np.testing.assert_array_equal(dualad.grad(lambda x: np.sum(r * x))(A), [1.0, 2.0])
    np.testing.assert_array_equal(dualad.vjp(lambda x: x > r, A)[0], [True, False])


@pytest.mark.parametrize("number", [2, 2.0, 2j, True])
def test_the_matrix_product_with_a_number_is_refused(number):
    with pytest.raises(ValueError, match="use \\* for scalars"):
        dualad.grad(lambda x: x @ number)(A)
    with pytest.raises(ValueError, match="use \\* for scalars"):
        dualad.grad(lambda x: number @ x)(A)


@pytest.mark.parametrize("f", [np.sum, np.prod, np.max, np.min, np.add.reduce, np.nansum])
@pytest.mark.parametrize("axis", [0, -1])
def test_a_number_is_reduced_along_its_only_axis(f, axis):
    assert dualad.grad(lambda x: f(x, axis=axis))(3.0) == 1.0
    assert np.shape(dualad.grad(lambda x: f(x, axis=axis))(np.array(3.0))) == ()
