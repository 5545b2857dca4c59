"""A pullback and a linearized function are those of the point where the function was recorded."""

import numpy as np
import pytest

import dualad
from dualad.transforms.lasting import SMALL, Deferred

N = SMALL // 8 + 10
X = np.linspace(0.5, 1.5, N)
T = np.cos(np.arange(N))

#: Functions of one array, and their derivatives along a tangent or cotangent.
READING = {
    "itself": (lambda x: x * x, lambda x, t: 2 * x * t),
    "a slice": (lambda x: x[1:] * x[:-1], None),
    "another shape": (lambda x: (x.reshape(2, -1) ** 3).ravel(), lambda x, t: 3 * x**2 * t),
    "reversed": (lambda x: x[::-1] * x, None),
    "a rule of its own": (lambda x: np.cumprod(x[:50]), None),
    "the output": (lambda x: np.exp(x), lambda x, t: np.exp(x) * t),
    "an identity": (lambda x: x, lambda x, t: t),
    "only constants": (lambda x: 3.0 * x + 1.0, lambda x, t: 3.0 * t),
}


@pytest.mark.parametrize("name", READING)
def test_later_writes_into_the_argument_do_not_reach_it(name):
    f, derivative = READING[name]
    x = X.copy()
    y, pull = dualad.vjp(f, x)
    _, push = dualad.linearize(f, x)
    want = dualad.jvp(f, (X,), (T,))[1]
    ct = np.sin(np.arange(y.size))
    x[:] = 7.0
    np.testing.assert_allclose(push(T), want, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(np.vdot(ct, want), np.vdot(pull(ct)[0], T), rtol=1e-10)
    if derivative is not None:
        np.testing.assert_allclose(want, derivative(X, T), rtol=1e-14)
    np.testing.assert_array_equal(y, f(X))  # the value is apart from the argument too


def test_only_what_is_read_is_copied():
    A, x = np.ones((3, N)), X.copy()
    _, pull = dualad.vjp(lambda x: A @ x, x)
    assert np.shares_memory(pull._run.inputs[0].value, x)
    _, pull = dualad.vjp(lambda x: A @ (x * x), x)
    assert not np.shares_memory(pull._run.inputs[0].value, x)


def test_views_of_views_and_arguments_that_are_views_themselves():
    whole = np.stack([X, X])
    y, pull = dualad.vjp(lambda x: x[2:][::2] * x[2:][::2], whole[0])
    whole[:] = 0.0
    want = np.zeros(N)
    want[2::2] = 2 * X[2::2]
    np.testing.assert_array_equal(pull(np.ones(y.shape))[0], want)


def test_two_arguments_of_one_array():
    x = X.copy()
    _, pull = dualad.vjp(lambda a, b: a * b, x, x)
    x[:] = 0.0
    for share in pull(T):
        np.testing.assert_array_equal(share, X * T)


def test_what_a_custom_rule_saved_is_not_read_after_a_write():
    class Square(dualad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2.0 * x * g

    x = X.copy()
    _, pull = dualad.vjp(Square.apply, x)
    np.testing.assert_array_equal(pull(T)[0], 2 * X * T)
    x[3] = 0.0
    try:
        got = pull(T)[0]
    except dualad.DualADError as error:
        assert "written to" in str(error)
    else:
        np.testing.assert_array_equal(got, 2 * X * T)


def test_small_arguments_are_copied_at_once():
    assert not Deferred.suits(X[:5].copy())
    assert not Deferred.suits(X[::2])
    assert Deferred.suits(X.copy())
