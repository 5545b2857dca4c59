"""Sums, means, products and log-sum-exp, with every argument that NumPy gives them."""

import warnings

import numpy as np
import pytest
from every_mode import close, complex_, derivative, multilinear, positive, real, without_values

import dualad

KINDS = {"real": real, "complex": complex_}
kinds = pytest.mark.parametrize("kind", KINDS)
axes = pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (), (2, 0, 1)])
kept = pytest.mark.parametrize("keepdims", [False, True])
MASK = np.array([True, False, True])


def others(x, axis=-1):
    """The product of all entries but one, by deleting that one."""
    cut = [np.prod(np.delete(x, k, axis), axis=axis) for k in range(x.shape[axis])]
    return np.stack(cut, axis)


# --- sum and mean --------------------------------------------------------------------------------


@kinds
@axes
@kept
@pytest.mark.parametrize("f", [np.sum, np.mean])
def test_sum_and_mean_are_linear(f, kind, axis, keepdims):
    g = lambda x: f(x, axis=axis, keepdims=keepdims)
    multilinear(g, KINDS[kind](2, 3, 4))
    without_values(g, KINDS[kind](2, 3, 4))


LINEAR = {
    "sum of a scalar": (np.sum, ()),
    "mean of a scalar": (np.mean, ()),
    "masked sum": (lambda x: np.sum(x, where=MASK), (2, 3)),
    "masked mean": (lambda x: np.mean(x, axis=1, where=MASK), (2, 3)),
    "sum in another dtype": (lambda x: np.sum(x, dtype=complex), (2, 3)),
    "positional arguments": (lambda x: np.sum(x, 1, None, None, True), (2, 3)),
    "sum of a view": (lambda x: np.sum(x[::2].T, axis=0), (4, 3)),
    "method": (lambda x: x.sum(axis=0), (2, 3)),
    "add.reduce": (lambda x: np.add.reduce(x), (2, 3)),
    "add.reduce along axes": (lambda x: np.add.reduce(x, axis=(0, 1), keepdims=True), (2, 3)),
    "add.reduce over all axes": (lambda x: np.add.reduce(x, axis=None), (2, 3)),
    "add.reduceat": (lambda x: np.add.reduceat(x, [0, 2, 1, 4]), (5, 2)),
    "trace": (lambda x: np.trace(x, 1), (3, 4)),
    "trace over chosen axes": (lambda x: np.trace(x, axis1=0, axis2=2), (3, 4, 3)),
    "linalg.trace": (lambda x: np.linalg.trace(x, offset=-1), (2, 3, 3)),
    "nansum": (np.nansum, (2, 3)),
    "nanmean": (lambda x: np.nanmean(x, axis=1), (2, 3)),
}


@kinds
@pytest.mark.parametrize("name", LINEAR)
def test_linear_reductions(kind, name):
    f, shape = LINEAR[name]
    multilinear(f, KINDS[kind](*shape))


def test_initial_is_a_constant_that_is_added():
    x, t = real(3), real(3)
    y, moved = dualad.jvp(lambda v: np.sum(v, initial=3.0), (x,), (t,))
    close((y, moved), (3.0 + x.sum(), t.sum()))


def test_out_stores_into_a_buffer():
    def f(x):
        total, mean = np.zeros_like(x[0]), np.zeros_like(x[0])
        np.sum(x, axis=0, out=total)
        np.mean(x, axis=0, out=mean)
        np.add.reduce(x * 1.0, axis=0, out=total)
        return total * mean

    x, t = real(4, 3), real(4, 3)
    want = (t.sum(0) * x.sum(0) + x.sum(0) * t.sum(0)) / 4
    close(dualad.jvp(f, (x,), (t,))[1], want)


def test_reductions_of_nothing():
    """The empty sum is 0, the empty product 1, their derivatives are 0 and empty."""
    x = np.zeros(0)
    for f, value in ((np.sum, 0.0), (np.prod, 1.0)):
        close(dualad.jvp(f, (x,), (x,)), (value, 0.0))
        assert dualad.grad(f)(x).shape == (0,)
    y, moved = dualad.jvp(lambda v: np.sum(v, axis=0), (np.zeros((0, 3)),), (np.zeros((0, 3)),))
    close((y, moved), (np.zeros(3), np.zeros(3)))


def test_the_mean_of_nothing_warns_and_is_nan_as_in_numpy():
    x = np.zeros(0)
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert np.isnan(dualad.jvp(np.mean, (x,), (x,))[0])


def test_masks_and_counts_under_vmap():
    """A mask that depends on the batch: means over different numbers of entries."""
    x = real(4, 5)
    f = lambda v: np.mean(v, where=v > 0)
    close(dualad.vmap(f)(x), np.array([row[row > 0].mean() for row in x]))
    close(dualad.vmap(dualad.grad(f))(x), (x > 0) / (x > 0).sum(axis=1, keepdims=True))


def test_the_sum_of_booleans_counts_under_vmap():
    x = real(4, 5)
    close(dualad.vmap(lambda v: np.sum(v > 0) * v[0])(x), (x > 0).sum(1) * x[:, 0])


# --- product -------------------------------------------------------------------------------------


@kinds
@axes
@kept
def test_prod_multiplies_the_other_factors(kind, axis, keepdims):
    derivative(lambda x: np.prod(x, axis=axis, keepdims=keepdims), KINDS[kind](2, 2, 3))


ZEROS = [[0.0], [0.0, 1.0], [2.0, 0.0, 5.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [2.0, -3.0, 4.0]]


@pytest.mark.parametrize("x", ZEROS)
def test_prod_with_zeros_among_the_factors(x):
    x = np.array(x)
    close(dualad.grad(np.prod)(x), others(x))
    close(dualad.jacfwd(np.prod)(x), others(x))
    derivative(np.prod, x)


def test_second_and_third_derivatives_of_prod_with_zeros():
    """Mixed derivatives are the products of the remaining factors."""
    close(dualad.hessian(np.prod)(np.array([0.0, 0.0, 7.0])), [[0, 7, 0], [7, 0, 0], [0, 0, 0]])
    f = np.prod
    for k in range(3):
        f = (lambda g, e: lambda v: dualad.jvp(g, (v,), (e,))[1])(f, np.eye(4)[k])
    close(f(np.array([0.0, 0.0, 0.0, 2.0])), 2.0)


def test_prod_along_axes_with_zeros():
    x = np.array([[[0.0, 2.0], [1.0, 3.0]], [[0.0, 2.0], [0.0, 1.0]]])
    flat = x.transpose(1, 0, 2).reshape(2, 4)
    w = np.array([1.0, 10.0])
    want = (w[:, None] * others(flat)).reshape(2, 2, 2).transpose(1, 0, 2)
    close(dualad.grad(lambda v: w @ np.prod(v, axis=(0, 2)))(x), want)


def test_prod_of_factors_whose_product_leaves_the_range_of_floats():
    close(dualad.grad(np.prod)(np.array([1e-200, 1e-200])), [1e-200, 1e-200], atol=0)
    with np.errstate(over="ignore"):
        close(dualad.grad(np.prod)(np.array([1e200, 1e200, 1e-200])), [1.0, 1.0, np.inf])


@kinds
def test_prod_with_mask_and_initial(kind):
    x = KINDS[kind](2, 3)
    f = lambda v: np.prod(v, axis=1, where=MASK, initial=3.0)
    close(f(x), 3.0 * x[:, 0] * x[:, 2])
    derivative(f, x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.multiply.reduce(x, axis=1),
        lambda x: np.nanprod(x, axis=0),
        lambda x: x.prod(axis=1),
    ],
)
def test_prod_by_its_other_names(f):
    derivative(f, real(2, 3))


# --- NaN -----------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("f", [np.nansum, np.nanmean, np.nanprod, np.nanvar, np.nanstd])
@pytest.mark.parametrize("axis", [None, 1])
def test_what_is_nan_is_left_out(f, kind, axis):
    hole = np.array([0, 1, 0, 0, 0]) == 1
    derivative(lambda x: f(np.where(hole, np.nan, x), axis=axis), KINDS[kind](2, 5))
    x = np.where(hole, np.nan, real(5))
    assert dualad.grad(f)(x)[1] == 0


# --- log-sum-exp ---------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, (0, 2)])
def test_logaddexp_reduce_has_the_slope_softmax(axis):
    x = real(2, 3, 4)
    e = np.exp(x)
    t, moved = derivative(lambda v: np.logaddexp.reduce(v, axis=axis), x)
    close(moved, np.sum(e * t[0], axis=axis) / np.sum(e, axis=axis))


def test_logaddexp_reduce_with_options():
    derivative(lambda v: np.logaddexp.reduce(v, axis=1, keepdims=True, initial=0.3), real(2, 3))
    derivative(lambda v: np.logaddexp.reduce(v, axis=1, where=MASK, initial=-np.inf), real(2, 3))


def test_logaddexp_reduce_of_infinities():
    """exp(-inf) has no share; the largest share evenly where the result is infinite."""
    f = dualad.grad(np.logaddexp.reduce)
    inf = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(f(np.array([-inf, 2.0, 2.0])), [0.0, 0.5, 0.5])
        close(f(np.array([-inf, -inf])), [0.5, 0.5])
        close(f(np.array([inf, 0.0, inf])), [0.5, 0.0, 0.5])
        t = np.array([7.0, 1.0, 3.0])
        close(dualad.jvp(np.logaddexp.reduce, (np.array([-inf, 1.0, 1.0]),), (t,))[1], 2.0)


def test_logaddexp_reduce_far_from_zero():
    close(dualad.grad(np.logaddexp.reduce)(np.array([1000.0, 1000.0, -1000.0])), [0.5, 0.5, 0.0])


def test_the_mean_of_half_precision_is_added_up_in_single():
    """100 entries of 1000 add up to more than float16 holds."""
    x = np.full(100, 1000.0, np.float16)
    y, moved = dualad.jvp(np.mean, (x,), (x,))
    assert (y, moved) == (1000.0, 1000.0)
    assert y.dtype == moved.dtype == np.float16


# --- dtypes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.longdouble])
@pytest.mark.parametrize("f", [np.sum, np.mean, np.prod, np.var, np.std])
def test_dtypes_are_kept(f, dtype):
    x = positive(4).astype(dtype)
    y, moved = dualad.jvp(f, (x,), (x,))
    (share,) = dualad.vjp(f, x)[1](np.ones_like(y))
    assert (y.dtype, moved.dtype, share.dtype) == (f(x).dtype, f(x).dtype, x.dtype)
