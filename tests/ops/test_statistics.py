"""Variance, standard deviation, weighted averages, covariance and correlation."""

import numpy as np
import pytest
from every_mode import close, complex_, derivative, positive, real

import dualad

KINDS = {"real": real, "complex": complex_}
kinds = pytest.mark.parametrize("kind", KINDS)
MASK = np.array([True, False, True])


# --- variance and standard deviation -------------------------------------------------------------


@kinds
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("f", [np.var, np.std])
def test_var_and_std(f, kind, axis, keepdims):
    g = lambda x: f(x, axis=axis, keepdims=keepdims, ddof=1)
    derivative(g, KINDS[kind](2, 3, 4))


@pytest.mark.parametrize("ddof", [0, 1, 0.5])
def test_the_gradient_of_var_and_std(ddof):
    """d var/dx_i = 2 (x_i - mean) / (n - ddof), and std divides by 2 std."""
    x = real(5)
    slope = 2 * (x - x.mean()) / (5 - ddof)
    close(dualad.grad(lambda v: np.var(v, ddof=ddof))(x), slope)
    close(dualad.grad(lambda v: np.std(v, ddof=ddof))(x), slope / (2 * np.std(x, ddof=ddof)))


def test_the_hessian_of_var_does_not_depend_on_the_data():
    """2/n (I - 1/n), at constant data too."""
    want = 2 / 3 * (np.eye(3) - 1 / 3)
    close(dualad.hessian(np.var)(real(3)), want)
    close(dualad.hessian(np.var)(np.full(3, 2.0)), want)


@pytest.mark.parametrize("modes", [dualad.grad, dualad.jacfwd])
@pytest.mark.parametrize("f", [np.var, np.std, lambda v: np.std(v) ** 2, np.nanstd])
def test_constant_data_have_slope_zero(modes, f):
    close(modes(f)(np.full(4, 2.0)), np.zeros(4))


def test_rows_of_constant_data_beside_others():
    x = np.array([[2.0, 2.0], [1.0, 4.0]])
    close(dualad.grad(lambda v: np.sum(np.std(v, axis=1)))(x), [[0.0, 0.0], [-0.5, 0.5]])


@kinds
@pytest.mark.parametrize("f", [np.var, np.std])
def test_masks_given_means_and_corrections(f, kind):
    x = KINDS[kind](2, 3)
    derivative(lambda v: f(v, axis=1, where=MASK), x)
    derivative(lambda v: f(v, axis=1, mean=np.mean(v, axis=1, keepdims=True)), x)
    derivative(lambda v: f(v, axis=1, mean=np.sum(v, axis=1, keepdims=True)), x)
    derivative(lambda v: f(v, axis=1, correction=1), x)
    with pytest.raises(ValueError, match="simultaneously"):
        dualad.jvp(lambda v: f(v, ddof=1, correction=1), (x,), (x,))


def test_masks_that_differ_in_a_batch():
    x = real(4, 6)
    f = lambda v: np.var(v, where=v > 0)
    close(dualad.vmap(f)(x), np.array([np.var(row[row > 0]) for row in x]))


def test_integers_under_vmap_are_averaged_as_floats():
    x, k = real(4), np.arange(12).reshape(4, 3)
    close(dualad.vmap(lambda v, n: v * np.var(n) + np.mean(n))(x, k), x * np.var(k, 1) + k.mean(1))


def test_out():
    def f(x):
        y = np.zeros_like(x[0])
        np.var(x, axis=0, out=y)
        return y * x.std(axis=0)

    derivative(f, real(4, 3))


# --- average -------------------------------------------------------------------------------------


@kinds
def test_average_is_differentiable_in_data_and_weights(kind):
    x = KINDS[kind]
    derivative(lambda v, w: np.average(v, weights=w), x(5), positive(5))
    derivative(lambda v, w: np.average(v, axis=1, weights=w, returned=True), x(2, 5), positive(5))
    derivative(
        lambda v, w: np.average(v, axis=(2, 0), weights=w, keepdims=True),
        x(2, 3, 4),
        positive(4, 2),
    )
    derivative(lambda v: np.average(v, axis=1), x(2, 3))


def test_the_slope_of_an_average_in_a_weight():
    """d/dw_i = (x_i - average) / sum(w)."""
    x, w = np.array([1.0, 4.0, 10.0]), np.array([1.0, 2.0, 1.0])
    close(dualad.grad(lambda v: np.average(x, weights=v))(w), (x - np.average(x, weights=w)) / 4)


def test_weights_that_do_not_fit():
    x = real(2, 3)
    with pytest.raises(TypeError, match="Axis must be specified"):
        dualad.jvp(lambda v: np.average(v, weights=np.ones(3)), (x,), (x,))
    with pytest.raises(ValueError, match="consistent"):
        dualad.jvp(lambda v: np.average(v, axis=0, weights=np.ones(3)), (x,), (x,))
    with pytest.raises(ZeroDivisionError):
        dualad.jvp(lambda v: np.average(v, axis=1, weights=np.zeros(3)), (x,), (x,))


# --- covariance ----------------------------------------------------------------------------------


@kinds
def test_cov_of_rows_columns_and_pairs(kind):
    x = KINDS[kind]
    derivative(np.cov, x(3, 5))
    derivative(np.cov, x(5))
    derivative(lambda u, v: np.cov(u, v, bias=True), x(5), x(5))
    derivative(lambda u: np.cov(u, rowvar=False, ddof=0), x(5, 2))
    derivative(lambda u, w: np.cov(u, aweights=w), x(2, 5), positive(5))
    derivative(lambda u, w: np.cov(u, aweights=w, fweights=[1, 2, 1, 3, 1]), x(2, 5), positive(5))


def test_cov_is_the_quadratic_form_of_deviations():
    """d cov = (d X C^T + C d X^T) / (n - 1) with the deviations C."""
    x, t = real(3, 6), real(3, 6)
    c, d = x - x.mean(1, keepdims=True), t - t.mean(1, keepdims=True)
    close(dualad.jvp(np.cov, (x,), (t,))[1], (d @ c.T + c @ d.T) / 5)


@kinds
def test_corrcoef(kind):
    derivative(np.corrcoef, KINDS[kind](3, 6))
    derivative(lambda u, v: np.corrcoef(u, v)[0, 1], KINDS[kind](6), KINDS[kind](6))


def test_a_correlation_is_the_same_in_any_unit():
    """Scaling a row does not change it: the derivative along x itself is 0."""
    x = real(2, 6)
    t = np.stack([x[0], np.zeros(6)])
    close(dualad.jvp(np.corrcoef, (x,), (t,))[1], np.zeros((2, 2)), atol=1e-14)


def test_too_few_observations_warn_as_in_numpy():
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"), np.errstate(all="ignore"):
        dualad.jvp(np.cov, (real(2, 1),), (real(2, 1),))


@pytest.mark.parametrize("f", [np.mean, np.var, np.std])
@pytest.mark.parametrize("kind", [np.float32, np.complex64])
def test_masks_keep_single_precision(f, kind):
    """NumPy counts in integers, and still gives the dtype of the data."""
    x, mask = np.arange(6, dtype=kind).reshape(2, 3), np.array([[1, 0, 1], [1, 1, 1]], bool)
    without_nan = getattr(np, f"nan{f.__name__}")
    for g in (lambda x: f(x, axis=1, where=mask), lambda x: without_nan(x, axis=0)):
        value, tangent = dualad.jvp(g, (x,), (np.ones_like(x),))
        assert value.dtype == tangent.dtype == g(x).dtype


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (1,), (4,)])
@pytest.mark.parametrize("f", [np.var, np.std, np.nanvar, np.nanstd, np.mean, np.nanmean])
@pytest.mark.parametrize("ddof", [0, 1, np.float64(0.5)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_float32_stays_float32_also_of_nothing(f, shape, ddof):
    options = {} if "mean" in f.__name__ else {"ddof": ddof}
    x = np.ones(shape, np.float32)
    g = lambda x: f(x * 1, **options)
    expected = g(x)
    dtype = np.float32 if type(ddof) is int or not options else expected.dtype
    assert expected.dtype == dtype
    for got in (*dualad.jvp(g, (x,), (x,)), dualad.compile(g)(x)):
        assert np.asarray(got).dtype == dtype
    np.testing.assert_array_equal(dualad.compile(g)(x), expected)
