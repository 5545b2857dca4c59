"""Polynomials: identities of algebra, whose derivatives are known."""

import warnings

import numpy as np
import pytest
from agreement import agrees, like, linear, same
from every_mode import derivative, multilinear

import dualad

P = np.array([2.0, -1.0, 0.5, 3.0, -1.5])
Q = np.array([1.5, -0.5, 2.0])
X = np.array([0.0, 1.0, 2.0, 3.0, 4.5])


def test_sums_products_and_derivatives_are_linear():
    multilinear(np.polymul, P, Q)
    for f in (np.polyadd, np.polysub):
        tangents = like(P), like(Q)
        agrees(f, (P, Q), tangents, f(*tangents))
        agrees(f, (Q, P), tangents[::-1], f(*tangents[::-1]))
    for f in (
        np.polyder,
        lambda p: np.polyder(p, 2),
        lambda p: np.polyder(p, 7),
        np.polyint,
        lambda p: np.polyint(p, 3),
        lambda p: np.polyder(p, 0),
        lambda p: np.polyint(p, 0),
    ):
        linear(f, P)


def test_constants_of_integration():
    f = lambda p, k: np.polyint(p, 2, k)
    k = np.array([2.0, 3.0])
    t, tk = like(P), like(k)
    same(dualad.jvp(lambda p: f(p, k), (P,), (t,)), (f(P, k), f(t, np.zeros(2))))
    same(dualad.jvp(f, (P, k), (t, tk)), (f(P, k), f(t, tk)))
    with pytest.raises(ValueError, match="rank-1 array of length 1"):
        dualad.jvp(lambda p: np.polyint(p, 3, [1.0, 2.0]), (P,), (P,))
    for g in (np.polyder, np.polyint):
        with pytest.raises(ValueError, match="must be positive"):
            dualad.jvp(lambda p: g(p, -1), (P,), (P,))


def test_values():
    """The derivative of p(x) is dp(x) + p'(x) dx."""
    t, tx = like(P), like(X)
    want = np.polyval(t, X) + np.polyval(np.polyder(P), X) * tx
    agrees(np.polyval, (P, X), (t, tx), want)
    derivative(np.polyval, P, X)


def test_division_is_undone_by_multiplication():
    """u = q v + r, so that dq v + dr = du - q dv, of which dr has the lower degree."""
    for u, v in ((P, Q), (Q, P), (P, Q[:1])):
        tangents = like(u), like(v)
        (q, r), (dq, dr) = dualad.jvp(np.polydiv, (u, v), tangents)
        same((q, r), np.polydiv(u, v), rtol=1e-13, atol=1e-13)
        moved = np.polyadd(np.polymul(dq, v), dr)
        want = np.polysub(tangents[0], np.polymul(q, tangents[1]))
        np.testing.assert_allclose(np.polysub(moved, want), 0, atol=1e-12)
    derivative(np.polydiv, P, Q)


def test_powers():
    for f in (np.vander, lambda x: np.vander(x, 3), lambda x: np.vander(x, 6, increasing=True)):
        derivative(f, X)
    t = like(X)
    want = np.stack([2 * X, np.ones(5), np.zeros(5)], 1) * t[:, None]
    agrees(lambda x: np.vander(x, 3), (X,), (t,), want)
    same(dualad.jvp(lambda x: np.vander(x, 0), (X,), (t,))[1], np.zeros((5, 0)))
    with pytest.raises(ValueError, match="one-dimensional"):
        dualad.jvp(lambda x: np.vander(x[None]), (X,), (X,))


# --- least squares -------------------------------------------------------------------------------


def test_a_fit_is_linear_in_the_ordinates():
    w = np.array([1.0, 2.0, 1.0, 0.5, 3.0])
    for f in (lambda y: np.polyfit(X, y, 2), lambda y: np.polyfit(X, y, 1, w=w)):
        for y in (like(X), like(np.ones((5, 2)))):
            t = like(y)
            agrees(f, (y,), (t,), f(t))


def test_a_fit_of_a_polynomial_moves_with_its_abscissae():
    """Of exact data y = p(x), the fit at x + dx is p moved by the fit of -p'(x) dx."""
    p = np.array([2.0, -1.0, 3.0])
    y, t = np.polyval(p, X), like(X)
    want = np.polyfit(X, -np.polyval(np.polyder(p), X) * t, 2)
    same(dualad.jvp(lambda x: np.polyfit(x, y, 2), (X,), (t,))[1], want, rtol=1e-8, atol=1e-8)


def test_fits_in_all_arguments():
    w = np.array([1.0, 2.0, 1.0, 0.5, 3.0])
    f = lambda x, y, v: np.polyfit(x, y, 2, w=v)
    derivative(f, X, like(X), w, second=False, batched=False)
    y = np.sin(X)
    for cov in (True, "unscaled"):
        derivative(lambda x, v: np.polyfit(x, v, 1, cov=cov), X, y, second=False, batched=False)
        two = np.stack([y, X * y], 1)
        derivative(lambda v: np.polyfit(X, v, 1, cov=cov), two, second=False, batched=False)


def test_all_that_a_fit_can_return():
    y = np.sin(X)
    got, _ = dualad.jvp(lambda v: np.polyfit(X, v, 2, full=True)[:4], (y,), (y,))
    same(got, np.polyfit(X, y, 2, full=True)[:4], rtol=1e-12, atol=1e-12)


def test_a_fit_that_the_data_do_not_determine():
    x, y = np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    with pytest.warns(np.exceptions.RankWarning):
        dualad.jvp(lambda v: np.polyfit(x, v, 2), (y,), (y,))
    with pytest.raises(ValueError, match="must exceed order"):
        dualad.jvp(lambda v: np.polyfit(X[:2], v, 1, cov=True), (y[:2],), (y[:2],))
    for args, match in (
        ((X, -1), "deg >= 0"),
        ((X[:0], 1), "non-empty"),
        ((X[:3], 1), "same length"),
    ):
        with pytest.raises((ValueError, TypeError), match=match):
            dualad.jvp(lambda v: np.polyfit(args[0], v, args[1]), (X,), (X,))


# --- roots ---------------------------------------------------------------------------------------


def test_roots_of_a_quadratic():
    """z = (-b +- sqrt(b*b - 4 a c)) / (2 a)."""

    def closed(p):
        a, b, c = p
        root = np.sqrt(b * b - 4 * a * c)
        return np.stack([(-b + root) / (2 * a), (-b - root) / (2 * a)])

    for p in (np.array([1.0, -3.0, 2.0]), np.array([2.0 + 0j, 1.0, 3.0])):
        t = like(p)
        same(
            dualad.jvp(np.roots, (p,), (t,)),
            dualad.jvp(closed, (p,), (t,)),
            rtol=1e-10,
            atol=1e-10,
        )
    derivative(np.roots, np.array([1.0, -9.0, 20.0, -5.0]))
    derivative(np.roots, np.array([1.0, 2.0, 5.0]))


def test_the_product_of_roots_is_a_quotient_of_coefficients():
    p = np.array([2.0, -1.0, 0.5, 3.0, -1.5])
    slope = dualad.grad(lambda v: np.real(np.prod(np.roots(v))))(p)
    want = np.array([1.5 / 4, 0, 0, 0, 0.5])  # d(c / a)
    np.testing.assert_allclose(slope, want, atol=1e-12)


def test_zeros_at_either_end():
    """Zero is a root of its own; a leading zero leaves the finite roots as they are."""
    p, t = np.array([1.0, -3.0, 2.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0])
    same(dualad.jvp(np.roots, (p,), (t,))[1], np.array([-1 / 2, 1.0, -1 / 2]), rtol=1e-10, atol=0)
    p, t = np.array([0.0, 1.0, -3.0, 2.0]), np.array([0.0, 0.0, 0.0, 1.0])
    same(dualad.jvp(np.roots, (p,), (t,))[1], np.array([-1.0, 1.0]), rtol=1e-10, atol=0)


def test_a_multiple_root_has_no_derivative():
    with pytest.raises(np.linalg.LinAlgError, match="multiple root"):
        dualad.jvp(np.roots, (np.array([1.0, -2.0, 1.0]),), (np.ones(3),))


def test_coefficients_from_roots():
    """(x - a) (x - b) = x**2 - (a + b) x + a b."""
    z, t = np.array([2.0, -3.0]), np.array([1.0, 10.0])
    agrees(np.poly, (z,), (t,), np.array([0.0, -11.0, 2.0 * 10 - 3.0]))
    derivative(np.poly, P)
    pair = lambda v: np.poly(np.stack([v[0] + 1j * v[1], v[0] - 1j * v[1]]))
    value, tangent = dualad.jvp(pair, (z,), (t,))
    same((value, tangent), (np.array([1.0, -4.0, 13.0]), np.array([0.0, -2.0, 4.0 - 60.0])))


def test_the_characteristic_polynomial():
    """Its coefficients are -tr A and, at the end, (-1)**n det A; smooth at equal eigenvalues."""
    a, t = like(np.ones((3, 3))), like(np.ones((3, 3)))
    _, moved = dualad.jvp(np.poly, (a,), (t,))
    adjugate = np.linalg.inv(a) * np.linalg.det(a)
    np.testing.assert_allclose(moved[[0, 1]], [0.0, -np.trace(t)], atol=1e-12)
    np.testing.assert_allclose(moved[3], -np.trace(adjugate @ t), atol=1e-10)
    for m in (a, np.eye(3), np.diag([1.0, 1.0, 2.0]), np.zeros((2, 2))):
        derivative(np.poly, m)
    with pytest.raises(ValueError, match="square 2d"):
        dualad.jvp(np.poly, (np.ones((2, 3)),), (np.ones((2, 3)),))


# --- poly1d --------------------------------------------------------------------------------------


def test_poly1d_holds_traced_coefficients():
    x = np.array([0.5, 2.0])
    for f in (
        lambda p, v: np.poly1d(p)(v),
        lambda p, v: (np.poly1d(p) * np.poly1d(v)).coeffs,
        lambda p, v: (np.poly1d(p) + np.poly1d(v)).coeffs,
        lambda p, v: np.poly1d(p).deriv()(v),
        lambda p, v: np.poly1d(p)(np.poly1d(v)).coeffs,
        lambda p, v: np.polymul(np.poly1d(Q), p).coeffs * v[0],
    ):
        derivative(f, P, x, batched=False)


def test_no_warning_that_numpy_does_not_give():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dualad.jvp(np.roots, (P,), (P,))
        dualad.jvp(np.polydiv, (P, Q), (P, Q))


def test_powers_of_single_numbers_are_double_as_in_numpy():
    x, y = np.float32([0.1, 0.7, 1.9, 2.2]), np.float32([1.0, 2.0, 2.5, 0.5])
    for f in (np.vander, lambda x: np.polyfit(x, y, 1)):
        value, tangent = dualad.jvp(f, (x,), (np.ones_like(x),))
        assert value.dtype == tangent.dtype == f(x).dtype == np.float64
        np.testing.assert_allclose(value, f(x), 1e-14)
