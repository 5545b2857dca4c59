"""np.i0 and its derivatives against mpmath."""

import mpmath
import numpy as np
import pytest
from every_mode import derivative

import dualad
from dualad.ops.bessel import bessel_i

GRID = [0.0, 1e-12, 1e-5, 0.01, 0.3, 1.0, 3.0, 8.0, 20.0, 50.0, 300.0, 700.0]


@pytest.mark.parametrize("x", [*GRID, -0.3, -20.0])
def test_slope_of_i0(x):
    exact = float(mpmath.besseli(1, x))
    # The exponential of a number of size x is exact to x rounding errors.
    tolerance = 1e-15 * (8 + abs(x))
    for got in (dualad.jvp(np.i0, (x,), (1.0,))[1], dualad.grad(np.i0)(x)):
        np.testing.assert_allclose(got, exact, rtol=tolerance)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_functions_of_whole_order(n):
    with mpmath.workdps(30):
        for x in GRID:
            exact, scale = mpmath.besseli(n, x), float(mpmath.besseli(n % 2, x))
            assert abs(float(bessel_i(x, n)) - float(exact)) <= 1e-15 * (8 + x) * scale


def test_higher_derivatives_at_zero():
    """i0 is 1 + x**2 / 4 + x**4 / 64 + ...: its derivatives at 0 are 1/2, 0 and 3/8."""
    f, wanted = np.i0, [0.0, 0.5, 0.0, 0.375]
    for exact in wanted:
        f = dualad.grad(f)
        np.testing.assert_allclose(f(0.0), exact, atol=1e-15)


def test_all_modes_shapes_and_dtypes():
    derivative(np.i0, np.array([[0.5, -1.5, 2.0]]))
    x = np.array([0.5, 2.0], np.float32)
    assert dualad.jvp(np.i0, (x,), (x,))[1].dtype == np.float32
    assert dualad.jvp(np.i0, (x[:0],), (x[:0],))[1].shape == (0,)
    with pytest.raises(TypeError, match="complex"):
        dualad.jvp(np.i0, (1j,), (1j,))


def test_the_shape_of_a_kaiser_window():
    derivative(lambda beta: np.kaiser(7, beta), np.array(3.0), batched=False)
