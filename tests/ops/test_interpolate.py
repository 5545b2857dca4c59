"""Piecewise linear interpolation and polynomials."""

import numpy as np
import pytest
from every_mode import close, complex_, derivative, real

import dualad

XP = np.array([0.0, 0.3, 0.55, 1.0])
X = np.array([0.1, 0.2, 0.33, 0.9, -1.0, 2.0])


@pytest.mark.parametrize("ends", [{}, {"left": 7.0}, {"left": 7.0, "right": -1.0}])
def test_interp_in_all_arguments(ends):
    derivative(lambda x, xp, fp: np.interp(x, xp, fp, **ends), X, XP, real(4))
    derivative(lambda x, xp, fp: np.interp(x, xp, fp, **ends), X.reshape(2, 3), XP, complex_(4))
    derivative(lambda x, xp, fp: np.interp(x, xp, fp, **ends), np.float64(0.4), XP, real(4))


def test_interp_of_a_period():
    xp, x = np.array([0.3, 0.1, 2.6, 0.7]), np.array([0.15, 0.2, 0.33, 0.95, -0.93, 2.65])
    derivative(lambda x, xp, fp: np.interp(x, xp, fp, period=1.1), x, xp, real(4))
    f = lambda x, p: np.interp(x, xp, np.arange(4.0), period=p)
    derivative(f, x, np.float64(1.1), batched=False)


def test_the_three_derivatives_of_a_hat():
    """The slope in x; the hat functions in fp; in a knot, minus the slope times its hat."""
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([1.0, 3.0, 0.0])
    q = np.array([0.25, 2.0, -1.0, 9.0])
    hats = np.array([[0.75, 0.25, 0], [0, 0.5, 0.5], [1, 0, 0], [0, 0, 1.0]])
    slope = np.array([2.0, -1.5, 0.0, 0.0])
    close(dualad.jvp(lambda v: np.interp(v, xp, fp), (q,), (np.ones(4),))[1], slope)
    for jacobian in (dualad.jacfwd, dualad.jacrev):
        close(jacobian(lambda v: np.interp(q, xp, v))(fp), hats)
        close(jacobian(lambda v: np.interp(q, v, fp))(xp), -slope[:, None] * hats)


def test_at_a_knot_the_slope_is_that_of_the_right_interval():
    slope = np.diff([1.0, 2.0, 0.0, 3.0]) / np.diff(XP)
    g = dualad.jvp(lambda v: np.interp(v, XP, [1.0, 2.0, 0.0, 3.0]), (XP,), (np.ones(4),))[1]
    close(g, slope[[0, 1, 2, 2]])


def test_a_single_knot_gives_a_constant():
    f = lambda x, v: np.interp(x, np.array([1.0]), v)
    y, moved = dualad.jvp(f, (X, np.array([3.0])), (X, np.array([5.0])))
    close((y, moved), (np.full(6, 3.0), np.full(6, 5.0)))


def test_a_period_of_zero_is_refused():
    with pytest.raises(ValueError, match="period"):
        dualad.jvp(lambda v: np.interp(v, XP, XP, period=0), (X,), (X,))


@pytest.mark.parametrize("numbers", [real, complex_])
def test_polyval_in_coefficients_and_argument(numbers):
    derivative(lambda p, x: np.polyval(p, x), numbers(4), numbers(2, 3))
    derivative(lambda p, x: np.polyval(p, x), numbers(1), numbers())


def test_the_derivatives_of_a_polynomial():
    """In x the derivative polynomial, in the coefficients the powers of x."""
    p, x = np.array([2.0, -3.0, 0.5, 7.0]), 1.7
    close(dualad.grad(lambda v: np.polyval(p, v))(x), np.polyval(np.polyder(p), x))
    close(dualad.grad(dualad.grad(lambda v: np.polyval(p, v)))(x), 12 * x - 6.0)
    close(dualad.grad(lambda v: np.polyval(v, x))(p), x ** np.arange(3, -1, -1))


def test_a_polynomial_without_coefficients_is_zero():
    close(dualad.jvp(lambda v: np.polyval(np.zeros(0), v), (X,), (X,)), (np.zeros(6), np.zeros(6)))
