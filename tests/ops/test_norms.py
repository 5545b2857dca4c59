"""Norms of vectors and matrices."""

import warnings

import numpy as np
import pytest
from every_mode import apart, close, complex_, derivative, real

import dualad

KINDS = {"real": apart, "complex": complex_}
kinds = pytest.mark.parametrize("kind", KINDS)
VECTOR = [None, 2, 1, np.inf, -np.inf, 3, 2.5, 0.5, -1, 0]
MATRIX = [None, "fro", 1, -1, np.inf, -np.inf]


@kinds
@pytest.mark.parametrize("order", VECTOR)
def test_vector_norms(kind, order):
    x = KINDS[kind]
    derivative(lambda v: np.linalg.norm(v, order), x(4))
    derivative(lambda v: np.linalg.norm(v, order, axis=0, keepdims=True), x(3, 2))
    if order is not None:
        derivative(lambda v: np.linalg.vector_norm(v, ord=order, axis=(0, 1)), x(3, 2, 2))


@kinds
@pytest.mark.parametrize("order", MATRIX)
def test_matrix_norms(kind, order):
    x = KINDS[kind]
    derivative(lambda v: np.linalg.norm(v, order), x(3, 4))
    derivative(lambda v: np.linalg.norm(v, order, axis=(0, 2)), x(3, 2, 4))
    derivative(lambda v: np.linalg.norm(v, order, axis=(2, 0), keepdims=True), x(3, 2, 4))
    derivative(lambda v: np.linalg.matrix_norm(v, ord=order or "fro"), x(2, 3, 2))


@kinds
def test_the_norm_of_all_entries(kind):
    derivative(np.linalg.norm, KINDS[kind](2, 3, 2))


def test_the_gradient_and_hessian_of_the_length():
    """x / |x|, and (I - u u^T) / |x|."""
    x = real(4)
    u = x / np.linalg.norm(x)
    close(dualad.grad(np.linalg.norm)(x), u)
    close(dualad.hessian(np.linalg.norm)(x), (np.eye(4) - np.outer(u, u)) / np.linalg.norm(x))


@pytest.mark.parametrize("p", [1.5, 3, 4])
def test_the_gradient_of_the_p_norm(p):
    x = real(4)
    want = np.sign(x) * np.abs(x) ** (p - 1) / np.linalg.norm(x, p) ** (p - 1)
    close(dualad.grad(lambda v: np.linalg.norm(v, p))(x), want)


def test_the_complex_gradient_points_along_the_vector():
    z = complex_(3)
    close(dualad.grad(np.linalg.norm)(z), z / np.linalg.norm(z))


@pytest.mark.parametrize("order", [None, 1, 2, 3, 1.5, 0.5, np.inf])
def test_the_subgradient_at_zero_is_zero(order):
    zero = np.zeros(3)
    f = lambda v: np.linalg.norm(v, order)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(dualad.grad(f)(zero), zero)
        close(dualad.jvp(f, (zero,), (np.array([1.0, 2.0, -1.0]),))[1], 0.0)
        close(dualad.grad(f)(np.array([0.0, 3.0, 0.0])), [0.0, 1.0, 0.0])


def test_rows_of_zeros_beside_others():
    g = dualad.grad(lambda A: np.sum(np.linalg.norm(A, axis=1)))
    close(g(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0.0, 0.0]])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.norm(x) ** 2,
        lambda x: np.exp(-(np.linalg.norm(x) ** 2)),
        lambda x: np.linalg.norm(x - x[0]) ** 2,
    ],
)
def test_the_squared_norm_is_smooth_at_zero(f):
    zero = np.zeros(3)
    close(dualad.grad(f)(zero), zero)
    close(dualad.jacfwd(f)(zero), zero)


def test_the_second_derivative_at_zero_is_infinite_and_never_a_wrong_number():
    """The curvature of |x| grows as 1/|x|; that of |x|**2 cannot be told from it, so it is NaN."""
    H = dualad.hessian(np.linalg.norm)(np.zeros(2))
    assert np.all(np.isinf(np.diag(H)))
    assert np.all(np.isnan(np.diag(dualad.hessian(lambda x: np.linalg.norm(x) ** 2)(np.zeros(2)))))


def test_ties_of_the_largest_entry_share_evenly():
    f = lambda v: np.linalg.norm(v, np.inf)
    close(dualad.grad(f)(np.array([2.0, -2.0, 1.0])), [0.5, -0.5, 0.0])


def test_orders_that_do_not_exist_are_refused_as_numpy_does():
    x = real(2, 2)
    with pytest.raises(ValueError, match="order"):
        dualad.jvp(lambda v: np.linalg.norm(v, 3), (x,), (x,))
    with pytest.raises(ValueError, match="order"):
        dualad.jvp(lambda v: np.linalg.norm(v, "fro", axis=0), (x,), (x,))
    with pytest.raises(ValueError, match="dimensions"):
        dualad.jvp(lambda v: np.linalg.norm(v, 2), (real(2, 2, 2),), (real(2, 2, 2),))


def test_float32_stays_float32():
    x = np.array([0.5, 0.7], np.float32)
    for order in (None, 1, 3, np.inf):
        y, moved = dualad.jvp(lambda v: np.linalg.norm(v, order), (x,), (x,))
        assert y.dtype == moved.dtype == np.float32
        assert dualad.grad(lambda v: np.linalg.norm(v, order))(x).dtype == np.float32
