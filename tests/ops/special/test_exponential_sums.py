"""logsumexp, softmax and log_softmax: shares of a sum, stable and along any axes."""

import numpy as np
import pytest
import scipy.special as sp
from every_mode import derivative

import dualad
import dualad.scipy.special as special

RNG = np.random.default_rng(3)
X = RNG.normal(size=(3, 4))
B = RNG.uniform(0.3, 1.2, size=(3, 4))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (1,)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_slopes_are_shares(axis, keepdims):
    f = lambda x: special.logsumexp(x, axis=axis, keepdims=keepdims)
    t = RNG.normal(size=X.shape)
    value, moved = dualad.jvp(f, (X,), (t,))
    np.testing.assert_array_equal(value, sp.logsumexp(X, axis=axis, keepdims=keepdims))
    wanted = np.sum(sp.softmax(X, axis=axis) * t, axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(moved, wanted, rtol=1e-13)


def test_every_mode():
    derivative(lambda x: special.logsumexp(x, axis=1), X)
    derivative(lambda x, b: special.logsumexp(x, axis=0, b=b), X, B)
    derivative(lambda x: special.softmax(x, axis=1), X)
    derivative(special.softmax, X)
    derivative(lambda x: special.log_softmax(x, axis=0), X)


def test_weights_broadcast_and_may_be_negative_or_zero():
    b = np.array([1.0, -0.4, 0.0, 0.7])
    f = lambda x: special.logsumexp(x, axis=1, b=b, return_sign=True)
    (value, sign), (moved, still) = dualad.jvp(f, (X,), (np.ones_like(X),))
    expected, expected_sign = sp.logsumexp(X, axis=1, b=b, return_sign=True)
    np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(sign, expected_sign)
    np.testing.assert_allclose(moved, 1.0, rtol=1e-13)
    np.testing.assert_array_equal(still, 0.0)
    in_weights = dualad.grad(lambda v: special.logsumexp(np.zeros(3), b=v))
    np.testing.assert_allclose(in_weights(np.array([1.0, 0.0, 3.0])), 0.25)


def test_an_entry_without_weight_does_not_count():
    b = np.array([1.0, 0.0, 1.0])
    x = np.array([0.0, 5000.0, 0.0])
    gradient = dualad.grad(lambda v: special.logsumexp(v, b=b))(x)
    np.testing.assert_array_equal(gradient, [0.5, 0.0, 0.5])


@pytest.mark.parametrize("shift", [0.0, 1e3, -1e3, 1e8])
def test_huge_entries(shift):
    x = np.array([0.0, 1.0, -2.0])
    gradient = dualad.grad(special.logsumexp)(x + shift)
    np.testing.assert_allclose(gradient, sp.softmax(x), rtol=1e-14)


INF = np.inf


@pytest.mark.parametrize(
    "x, shares",
    [
        ([INF, 1.0], [1.0, 0.0]),
        ([INF, INF, 3.0], [0.5, 0.5, 0.0]),
        ([-INF, -INF], [0.5, 0.5]),
        ([-INF, 0.0], [0.0, 1.0]),
    ],
)
def test_equal_infinities_share_evenly(x, shares):
    np.testing.assert_array_equal(dualad.grad(special.logsumexp)(np.array(x)), shares)


def test_scalars_and_lists_of_them():
    assert dualad.grad(special.logsumexp)(0.3) == 1.0
    f = lambda v: special.logsumexp([v[0], v[1], 0.3])
    gradient = dualad.grad(f)(np.array([0.1, 0.2]))
    np.testing.assert_allclose(gradient, sp.softmax([0.1, 0.2, 0.3])[:2], rtol=1e-14)


def test_complex():
    z = X + 1j * RNG.normal(size=X.shape)
    t = RNG.normal(size=X.shape) + 1j * RNG.normal(size=X.shape)
    value, moved = dualad.jvp(lambda v: special.logsumexp(v, axis=1), (z,), (t,))
    np.testing.assert_allclose(value, sp.logsumexp(z, axis=1), rtol=1e-14)
    e = np.exp(z)
    np.testing.assert_allclose(moved, (e * t).sum(1) / e.sum(1), rtol=1e-13)


def test_second_derivative_is_the_covariance_of_the_shares():
    x = X[0]
    p = sp.softmax(x)
    hessian = dualad.hessian(special.logsumexp)(x)
    np.testing.assert_allclose(hessian, np.diag(p) - np.outer(p, p), atol=1e-15)


def test_softmax_far_apart():
    """Slopes of the logarithm stay exact where those of softmax underflow."""
    x = np.array([0.0, -800.0])
    jacobian = dualad.jacobian(special.log_softmax)(x)
    np.testing.assert_array_equal(jacobian, [[0.0, 0.0], [-1.0, 1.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes(dtype):
    x = X.astype(dtype)
    for f in (special.softmax, special.log_softmax, special.logsumexp):
        value, moved = dualad.jvp(f, (x,), (np.ones_like(x),))
        assert value.dtype == moved.dtype == dtype
        assert dualad.vjp(f, x)[1](np.ones_like(value))[0].dtype == dtype
