"""Roots and fits against implicit differentiation and the normal equations."""

import numpy as np
import pytest
from every_mode import close, derivative

import dualad
from dualad.errors import SingularPointError

RNG = np.random.default_rng(7)
X, Y = np.linspace(-1, 1, 7), RNG.normal(size=7)


# --- roots ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "p",
    [
        [1.0, -6.5, 11.0, -5.2],
        [2.0, 0.0, 3.0, 1.0],
        [1.0, 2.0, 5.0],
        [1.0 + 1j, -2.0, 0.5j],
        [3.0, -1.0],
        [0.0, 1.0, -3.0, 2.0],
    ],
)
def test_a_root_moves_so_that_it_stays_a_root(p):
    """p(r) = 0 for all coefficients near: dp(r) + p'(r) dr = 0."""
    p = np.array(p)
    t = RNG.normal(size=p.shape)
    r, dr = dualad.jvp(np.roots, (p,), (t + 0 * p,))
    close(np.polyval(t, r) + np.polyval(np.polyder(p), r) * dr, 0 * r, 0, 1e-12)


def test_the_formula_of_second_degree():
    """x^2 - 2 b x + c has the roots b +- sqrt(b^2 - c)."""
    b, c = 2.0, 1.5
    root = np.sqrt(b * b - c)
    f = lambda b, c: np.sort(np.roots(np.stack([1 + 0 * b, -2 * b, c])))
    in_b, in_c = dualad.jacrev(f, (0, 1))(b, c)
    close((in_b, in_c), (1 + np.array([-b, b]) / root, np.array([0.5, -0.5]) / root))
    close(dualad.hessian(lambda c: f(b, c)[1])(c), -0.25 * (b * b - c) ** -1.5)


def test_zero_as_a_root():
    """x^2 - x + e has near e = 0 the roots e and 1 - e."""
    slope = dualad.jacfwd(lambda e: np.roots(np.stack([1 + 0 * e, -1 + 0 * e, e])))(0.0)
    close(np.sort(slope), [-1.0, 1.0])


def test_every_mode_of_roots():
    derivative(np.roots, np.array([1.0, -6.5, 11.0, -5.2]))
    derivative(np.roots, np.array([1.0, 2.0, 5.0, 1.0, 7.0]))


def test_a_repeated_root_is_refused_by_name():
    for run in (dualad.jacfwd, dualad.jacrev):
        with pytest.raises(SingularPointError, match="repeated"):
            run(np.roots)(np.array([1.0, -1.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match="rank-1"):
        dualad.jacfwd(np.roots)(np.eye(2))


# --- fits ----------------------------------------------------------------------------------------


def test_coefficients_are_linear_in_the_data():
    """They are a fixed matrix times the data, the pseudo-inverse of the powers of x."""
    matrix = np.linalg.pinv(np.vander(X, 3))
    close(dualad.jacrev(lambda y: np.polyfit(X, y, 2))(Y), matrix, 1e-10, 1e-12)
    close(dualad.jacfwd(lambda y: np.polyfit(X, y, 2))(Y), matrix, 1e-10, 1e-12)


def test_points_data_and_weights():
    w = RNG.uniform(1, 2, 7)
    derivative(lambda x, y, w: np.polyfit(x, y, 2, w=w), X, Y, w)
    derivative(lambda x, y: np.polyfit(x, y, 1, full=True)[:2], X, Y)
    derivative(lambda x, y: np.polyfit(x, y, 1, w=w, cov=True), X, Y)
    derivative(lambda x: np.polyfit(x, Y, 1, cov="unscaled")[1], X)
    derivative(lambda x, y: np.polyfit(x, y, 2, cov=True), X, np.stack([Y, Y**2], 1))


def test_a_polynomial_is_fitted_by_itself():
    """At data that a polynomial gives, moving the points along with it changes nothing."""
    c = np.array([1.0, -2.0, 0.5])
    moved = dualad.jvp(lambda x: np.polyfit(x, np.polyval(c, x), 2), (X,), (RNG.normal(size=7),))
    close(moved, (c, np.zeros(3)), 1e-10, 1e-10)


def test_too_few_points_warn_as_numpy_does():
    with pytest.warns(np.exceptions.RankWarning):
        dualad.jvp(lambda y: np.polyfit([1.0, 1.0, 2.0], y, 2), (np.ones(3),), (np.ones(3),))
    with pytest.raises(ValueError, match="exceed"):
        dualad.jvp(lambda y: np.polyfit([0, 1, 2], y, 2, cov=True), (np.ones(3),), (np.ones(3),))
    for bad in (lambda y: np.polyfit(X[:2], y, 1), lambda y: np.polyfit(X, y, 1, w=X[:2])):
        with pytest.raises(TypeError):
            dualad.jvp(bad, (Y,), (Y,))
