"""Quantiles and medians are piecewise linear: a difference over a small step is exact."""

import warnings

import numpy as np
import pytest
from agreement import agrees, like, same

import dualad

X = np.array(
    [[3.0, -1.0, 2.0, 7.0, 12.0], [0.5, 4.0, -2.0, 1.5, -7.0], [9.0, 8.0, -6.0, 5.0, 0.0]]
)
T = np.array([[1.0, 2.0, 5.0, -4.0, 3.0], [8.0, 7.0, -1.0, 2.0, 2.5], [0.5, 3.0, 9.0, 6.0, -2.0]])
STEP = 2.0**-12
METHODS = [
    "linear", "lower", "higher", "nearest", "midpoint", "interpolated_inverted_cdf", "hazen",
    "weibull", "median_unbiased", "normal_unbiased", "inverted_cdf", "averaged_inverted_cdf",
    "closest_observation",
]  # fmt: skip


def difference(f, x=X, t=T):
    """The derivative of a piecewise linear f along t, away from its kinks."""
    return (f(x + STEP * t) - f(x - STEP * t)) / (2 * STEP)


def check(f, x=X, t=T):
    want = difference(f, x, t)
    value, tangent = dualad.jvp(f, (x,), (t,))
    same(value, f(x), rtol=0, atol=0)
    same(tangent, want, rtol=1e-10, atol=1e-10)
    agrees(f, (x,), (t,), tangent)


@pytest.mark.parametrize("q", [0.0, 0.1, 0.3, 0.5, 0.77, 1.0])
@pytest.mark.parametrize("method", METHODS)
def test_quantile_by_every_method(method, q):
    check(lambda x: np.quantile(x, q, method=method))
    check(lambda x: np.quantile(x, q, axis=1, method=method))
    check(lambda x: np.nanquantile(x, q, axis=1, method=method))


FORMS = [
    ("many", lambda x: np.quantile(x, [0.2, 0.9, 0.2])),
    ("many along an axis", lambda x: np.quantile(x, [0.2, 0.9], axis=0)),
    ("matrix of quantiles", lambda x: np.quantile(x, np.array([[0.2, 0.9], [0.4, 0.5]]), axis=-1)),
    ("keepdims", lambda x: np.quantile(x, 0.3, axis=1, keepdims=True)),
    ("keepdims of all", lambda x: np.quantile(x, [0.3, 0.6], keepdims=True)),
    ("two axes", lambda x: np.quantile(x[None], 0.3, axis=(0, 2))),
    ("percentile", lambda x: np.percentile(x, 30)),
    ("percentiles", lambda x: np.percentile(x, [30, 75.5], axis=1)),
    ("nanpercentile", lambda x: np.nanpercentile(x, [30, 75.5], axis=1)),
    ("nanquantile of all", lambda x: np.nanquantile(x, 0.6)),
    ("median", np.median),
    ("median odd", lambda x: np.median(x, axis=1)),
    ("median even", lambda x: np.median(x[:, :4], axis=1)),
    ("median keepdims", lambda x: np.median(x, axis=0, keepdims=True)),
    ("median two axes", lambda x: np.median(x[None], axis=(0, 1))),
    ("nanmedian", lambda x: np.nanmedian(x, axis=1)),
    ("nanmedian even", lambda x: np.nanmedian(x[:, :4], axis=1)),
    ("one entry", lambda x: np.quantile(x[0, :1], 0.7)),
]


@pytest.mark.parametrize(("name", "f"), FORMS, ids=[c[0] for c in FORMS])
def test_forms(name, f):
    check(f)


@pytest.mark.parametrize(
    "f", [np.median, lambda x: np.quantile(x, 0.3), lambda x: np.percentile(x, 30)]
)
def test_float32_stays_float32(f):
    x = X.astype(np.float32)
    value, tangent = dualad.jvp(f, (x,), (T.astype(np.float32),))
    assert value.dtype == tangent.dtype == f(x).dtype == np.float32
    same(value, f(x), rtol=0, atol=0)
    assert dualad.grad(f)(x).dtype == np.float32


def test_gradient_of_the_median_is_shared_by_the_middle_entries():
    same(dualad.grad(np.median)(np.array([9.0, 1.0, 5.0])), np.array([0.0, 0.0, 1.0]))
    same(dualad.grad(np.median)(np.array([9.0, 1.0, 5.0, 2.0])), np.array([0.0, 0.0, 0.5, 0.5]))


def test_ties_keep_a_total_weight_of_one():
    x = np.array([2.0, 1.0, 2.0, 2.0])
    for f in (np.median, lambda v: np.quantile(v, 0.4), lambda v: np.nanquantile(v, 0.4)):
        g = dualad.grad(f)(x)
        assert g.sum() == 1.0 and g[1] == 0.0 and np.all(g >= 0)
        same(dualad.jacfwd(f)(x), g)


def test_derivative_in_q():
    """Q(q) = x_k + ((n - 1) q - k)(x_(k+1) - x_k): slope (n - 1)(x_(k+1) - x_k)."""
    x = np.array([4.0, 1.0, 9.0])
    f = lambda q: np.quantile(x, q)
    same(dualad.jacfwd(f)(0.25), 2 * (4.0 - 1.0))
    same(dualad.grad(f)(0.75), 2 * (9.0 - 4.0))
    same(dualad.jacrev(f)(np.array([0.25, 0.75])), np.diag([6.0, 10.0]))
    same(dualad.grad(lambda q: np.percentile(x, q))(25.0), 0.06)
    same(dualad.grad(lambda q: np.quantile(x, q, method="lower"))(0.25), 0.0)
    mixed = dualad.jacfwd(dualad.grad(lambda q, x: np.quantile(x, q)), argnums=1)(0.25, x)
    same(mixed, np.array([2.0, -2.0, 0.0]))


def test_a_nan_in_a_slice_gives_nan_and_the_nan_versions_ignore_it():
    x = X.copy()
    x[1, 2] = np.nan
    value, tangent = dualad.jvp(lambda v: np.median(v, axis=1), (x,), (T,))
    same(value, np.median(x, axis=1))
    same(tangent[[0, 2]], difference(lambda v: np.median(v, axis=1))[[0, 2]], rtol=1e-10)
    full = np.delete(x[1], 2)
    for nan, plain in [
        (lambda v: np.nanmedian(v, axis=1), np.median),
        (lambda v: np.nanquantile(v, 0.3, axis=1), lambda v: np.quantile(v, 0.3)),
    ]:
        g = dualad.grad(lambda v: nan(v)[1])(x)
        same(np.delete(g[1], 2), dualad.grad(plain)(full))
        assert g[1, 2] == 0.0 and not np.any(g[[0, 2]])
        same(dualad.vmap(lambda r: nan(r[None])[0])(x), nan(x))


def test_all_nan_warns_as_numpy_does():
    x = np.full((2, 3), np.nan)
    x[0] = [1.0, 3.0, 2.0]
    for f in (lambda v: np.nanmedian(v, axis=1), lambda v: np.nanquantile(v, 0.5, axis=1)):
        with pytest.warns(RuntimeWarning, match="All-NaN"):
            value, tangent = dualad.jvp(f, (x,), (np.ones((2, 3)),))
        same(value, np.array([2.0, np.nan]))
        assert tangent[0] == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dualad.jvp(lambda v: np.median(v, axis=1), (x,), (x,))


def test_second_derivative_through_the_median():
    """median(x**2) of distinct entries: the Hessian has 2 at the middle entry."""
    x = np.array([3.0, 1.0, 2.0])
    same(dualad.hessian(lambda v: np.median(v**2))(x), np.diag([0.0, 0.0, 2.0]))


def test_a_quantile_per_entry_of_a_batch():
    q = np.array([0.1, 0.5, 0.9])
    same(
        dualad.vmap(np.quantile)(X, q),
        np.array([np.quantile(r, p) for r, p in zip(X, q, strict=True)]),
    )
    same(dualad.vmap(lambda p: np.quantile(X, p, axis=1))(q), np.quantile(X, q, axis=1))


def weighted(x, weights, q=0.3, f=np.quantile, axis=None):
    return f(x, q, axis=axis, method="inverted_cdf", weights=weights)


@pytest.mark.parametrize("q", [0.0, 0.2, 0.5, 0.81, 1.0, np.array([0.1, 0.6])], ids=str)
def test_weighted_quantiles_are_entries(q):
    w = np.abs(np.round(T)) + 0.5
    for f in (
        lambda x: weighted(x, w, q),
        lambda x: weighted(x, w, q, axis=1),
        lambda x: weighted(x, w[0], q, axis=1),
        lambda x: weighted(x, w[:, 0], q, axis=0),
        lambda x: weighted(x, w, q, np.nanquantile, axis=1),
    ):
        check(f)
    equal = lambda x: weighted(x, np.ones_like(X), q, axis=1)
    same(equal(X), np.quantile(X, q, axis=1, method="inverted_cdf"))


def test_weighted_quantiles_of_what_is_not_nan():
    x = np.where(X == 12.0, np.nan, X)
    f = lambda v: weighted(v, np.abs(T), 0.5, np.nanquantile, axis=1)
    value, tangent = dualad.jvp(f, (x,), (T,))
    same(value, f(x))
    same(tangent, T[X == value[:, None]])
    assert np.isnan(dualad.jvp(lambda v: weighted(v, np.abs(T)), (x,), (T,))[0])


def test_the_weights_of_a_quantile_carry_no_derivative():
    w = np.abs(T) + 0.5
    _, tangent = dualad.jvp(lambda x, v: weighted(x, v), (X, w), (0 * X, w))
    assert tangent == 0.0


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (lambda x: np.quantile(x, 1.5), ValueError, "range"),
        (lambda x: np.percentile(x, -1), ValueError, "range"),
        (lambda x: np.quantile(x, 0.5, method="round"), ValueError, "not a valid method"),
        (lambda x: np.quantile(x, 0.5, weights=x, method="linear"), ValueError, "weights"),
        (lambda x: weighted(x, -x), ValueError, "non-negative"),
        (lambda x: weighted(x, 0 * x), ValueError, "all zero"),
        (lambda x: weighted(x, x[0]), TypeError, "Axis must"),
        (lambda x: weighted(x, x[0], axis=0), ValueError, "consistent"),
        (lambda x: np.quantile(x + 0j, 0.5), TypeError, "real"),
        (lambda x: np.median(x[:0]), IndexError, "no entries"),
        (lambda x: np.quantile(x[:0], 0.5), IndexError, "no entries"),
    ],
)
def test_refused(f, error, message):
    with pytest.raises(error, match=message):
        dualad.jvp(f, (X,), (T,))


def test_out_takes_the_result():
    def f(x):
        out = np.zeros_like(x, shape=(3,))
        assert np.median(x, axis=1, out=out) is out
        return out

    same(dualad.jvp(f, (X,), (T,))[1], dualad.jvp(lambda x: np.median(x, axis=1), (X,), (T,))[1])


def test_of_a_batch_of_one():
    x = like(np.zeros((1, 4)))
    same(dualad.vmap(np.median)(x), np.median(x, axis=1))


@pytest.mark.parametrize("f", [np.median, lambda x: np.quantile(x, 0.3), np.nanmedian])
def test_one_quantile_is_a_scalar(f):
    x = np.array([3.0, 1.0, 2.0])
    value, tangent = dualad.jvp(f, (x,), (x,))
    assert type(value) is type(tangent) is np.float64
    assert value == tangent == f(x)  # homogeneous of degree one
