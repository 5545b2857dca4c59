"""Running sums, products and extrema."""

import numpy as np
import pytest
from every_mode import apart, close, complex_, derivative, multilinear, real, without_values

import dualad
from dualad.ops.scan import recurrence

KINDS = {"real": real, "complex": complex_}
kinds = pytest.mark.parametrize("kind", KINDS)
axes = pytest.mark.parametrize("axis", [None, 0, -1])


def jacobian_of_cumprod(x):
    n = x.size
    J = np.zeros((n, n), x.dtype)
    for k in range(n):
        for i in range(k + 1):
            J[k, i] = np.prod(np.delete(x[: k + 1], i))
    return J


@kinds
@axes
def test_cumsum_is_linear(kind, axis):
    f = lambda x: np.cumsum(x, axis=axis)
    multilinear(f, KINDS[kind](2, 3, 4))
    without_values(f, KINDS[kind](2, 3, 4))


def test_cumsum_is_transposed_by_summing_from_the_end():
    w = real(2, 3)
    g = dualad.grad(lambda x: np.sum(w * np.cumsum(x, axis=1)))(real(2, 3))
    close(g, np.cumsum(w[:, ::-1], axis=1)[:, ::-1])


@kinds
@axes
def test_cumprod(kind, axis):
    derivative(lambda x: np.cumprod(x, axis=axis), KINDS[kind](2, 2, 3))


@pytest.mark.parametrize(
    "x", [[0.0], [2.0, 0.0, 3.0, 4.0], [0.0, 0.0, 5.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0, 1.0]]
)
def test_cumprod_with_zeros_among_the_factors(x):
    x = np.array(x)
    close(dualad.jacfwd(np.cumprod)(x), jacobian_of_cumprod(x))
    close(dualad.jacrev(np.cumprod)(x), jacobian_of_cumprod(x))
    derivative(np.cumprod, x)


def test_cumprod_of_complex_zeros():
    x = np.array([0, 1 + 2j, 0, 3j])
    t, moved = derivative(np.cumprod, x)
    close(moved, jacobian_of_cumprod(x) @ t[0])


def test_the_last_hessian_of_cumprod_with_two_zeros():
    H = dualad.hessian(lambda v: np.cumprod(v)[-1])(np.array([0.0, 0.0, 7.0]))
    close(H, [[0, 7, 0], [7, 0, 0], [0, 0, 0]])


def test_cumprod_whose_products_leave_the_range_of_floats():
    x = np.array([1e-200, 1e-200, 1e250])
    close(dualad.jacfwd(np.cumprod)(x), jacobian_of_cumprod(x), atol=0)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9])
def test_the_recurrence_is_the_loop(n):
    """s[k] = a[k] s[k-1] + b[k]; linear in b, so transposed without values too."""
    a, b = real(2, n), real(2, n)
    s = np.zeros((2, n))
    for k in range(n):
        s[:, k] = (a[:, k] * s[:, k - 1] if k else 0.0) + b[:, k]
    close(recurrence(a, b, 1), s)
    without_values(lambda v: recurrence(a, v, 1), b)
    derivative(lambda u, v: recurrence(u, v, 0), real(n), real(n))


@pytest.mark.parametrize("f", [np.maximum.accumulate, np.minimum.accumulate])
def test_running_extrema(f):
    derivative(lambda x: f(x, axis=1), apart(2, 7))
    derivative(lambda x: f(x), apart(9))


def test_running_extrema_carry_the_tangent_of_the_entry_that_leads():
    x, t = np.array([1.0, 3.0, 2.0, 4.0]), np.array([10.0, 20.0, 30.0, 40.0])
    close(dualad.jvp(np.maximum.accumulate, (x,), (t,))[1], [10.0, 20.0, 20.0, 40.0])


@pytest.mark.parametrize("jacobian", [dualad.jacfwd, dualad.jacrev])
def test_ties_of_running_extrema_share_evenly_among_those_seen(jacobian):
    J = jacobian(np.maximum.accumulate)(np.array([1.0, 1.0, 3.0, 2.0, 3.0]))
    want = [
        [1, 0, 0, 0, 0],
        [0.5, 0.5, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0.5, 0, 0.5],
    ]
    close(J, np.array(want, float))


@kinds
def test_the_same_by_other_names(kind):
    x = KINDS[kind](3, 3)
    multilinear(lambda v: np.add.accumulate(v, axis=1), x)
    derivative(lambda v: np.multiply.accumulate(v), x)
    multilinear(lambda v: v.cumsum(axis=0), x)
    derivative(lambda v: v.cumprod(axis=0), x)


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy 2.1")
def test_the_array_api_names():
    f = lambda x: np.cumulative_sum(x, axis=1, include_initial=True)
    multilinear(f, real(2, 3))
    derivative(lambda x: np.cumulative_prod(x, axis=1, include_initial=True), real(2, 3))
    with pytest.raises(ValueError, match="axis"):
        dualad.jvp(np.cumulative_sum, (real(2, 2),), (real(2, 2),))


def test_what_is_nan_counts_as_the_neutral_element():
    hole = np.array([0, 1, 0, 0]) == 1
    multilinear(lambda x: np.nancumsum(np.where(hole, np.nan, x)), real(4))
    derivative(lambda x: np.nancumprod(np.where(hole, np.nan, x)), real(4))


def test_out_and_empty_arrays():
    def f(x):
        y = np.zeros_like(x)
        np.cumsum(x, out=y)
        return y

    multilinear(f, real(4))
    for g in (np.cumsum, np.cumprod):
        y, moved = dualad.jvp(g, (np.zeros(0),), (np.zeros(0),))
        assert y.shape == moved.shape == (0,)
