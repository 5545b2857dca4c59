"""Counts are constant, sums of weights linear, and bin edges move with the ends of the data."""

import numpy as np
import pytest
from agreement import agrees, like, linear, same
from every_mode import derivative

import dualad

A = np.array([0.12, 0.55, 0.91, 1.43, 0.31, 1.98, 1.61, 0.77, 1.1])
B = np.array([0.3, 1.7, 0.2, 0.9, 1.2, 0.5, 1.9, 1.4, 0.8])
W = np.array([1.5, 0.5, 2.0, 1.0, 3.0, 0.7, 1.2, 0.4, 2.2])
AT = np.array([0, 1, 1, 2, 0, 4, 4, 4, 1])
EDGES = np.array([0.2, 0.8, 1.3, 1.9])


def inside(f, *xs):
    """What f gives inside a jvp and inside a grad; both agree."""
    seen = []
    dualad.jvp(lambda *v: (seen.append(f(*v)), v[0])[1], xs, xs)
    dualad.grad(lambda *v: (seen.append(f(*v)), np.sum(v[0]))[1])(*xs)
    same(seen[0], seen[1])
    return seen[0]


def test_sums_of_weights_are_linear():
    linear(lambda w: np.bincount(AT, w), W)
    linear(lambda w: np.bincount(AT, w, minlength=8), W)
    for bins in (3, [0.0, 0.5, 1.2], 1):
        linear(lambda w: np.histogram(A, bins, weights=w)[0], W)
    linear(lambda w: np.histogram2d(A, B, bins=3, weights=w)[0], W)
    linear(lambda w: np.histogram2d(A, B, bins=[2, [0.0, 1.0, 1.5]], weights=w)[0], W)
    linear(lambda w: np.histogramdd(np.stack([A, B], 1), bins=(2, 4), weights=w)[0], W)


def test_the_slope_of_a_sum_counts_the_bin():
    slope = dualad.jacrev(lambda w: np.bincount(AT, w))(W)
    same(slope, (np.arange(5)[:, None] == AT).astype(float))


def test_counts_are_plain_integers():
    same(inside(lambda a: np.histogram(a, 4)[0], A), np.histogram(A, 4)[0])
    same(inside(lambda a: np.histogram(a, "auto")[0], A), np.histogram(A, "auto")[0])
    same(inside(lambda a: np.histogram(a, EDGES)[0], A), np.histogram(A, EDGES)[0])
    same(inside(lambda a, b: np.histogram2d(a, b)[0], A, B), np.histogram2d(A, B)[0])
    outside = lambda a: np.histogram(a, 3, range=(0.5, 1.5))[0]
    same(inside(outside, A), outside(A))


def test_integers_to_count_may_be_batched():
    same(dualad.vmap(lambda k: np.bincount(k, minlength=5))(AT[None]), np.bincount(AT)[None])
    rows = np.stack([AT, AT[::-1]])
    got = dualad.vmap(lambda k: np.bincount(k, W))(rows)
    same(got, np.stack([np.bincount(k, W) for k in rows]))


def test_edges_lie_evenly_between_the_extreme_entries():
    t = like(A)
    low, high = t[np.argmin(A)], t[np.argmax(A)]
    for f in (
        lambda a: np.histogram_bin_edges(a, 4),
        lambda a: np.histogram(a, 4)[1],
        lambda a: np.histogram2d(a, a, 4)[2],
        lambda a: np.histogramdd([a, a], 4)[1][0],
    ):
        same(dualad.jvp(f, (A,), (t,)), (f(A), np.linspace(low, high, 5)), rtol=1e-12, atol=1e-14)
    given = lambda a: np.histogram(a, EDGES)[1]
    same(dualad.jvp(given, (A,), (t,)), (EDGES, np.zeros(4)))
    ranged = lambda a: np.histogram_bin_edges(a, 4, (0.0, 2.0))
    same(dualad.jvp(ranged, (A,), (t,)), (ranged(A), np.zeros(5)))


def test_edges_of_equal_entries_are_half_a_unit_away():
    x, t = np.full(3, 2.0), np.array([1.0, 4.0, 7.0])
    got = dualad.jvp(lambda a: np.histogram_bin_edges(a, 2), (x,), (t,))
    same(got, (np.array([1.5, 2.0, 2.5]), np.full(3, 4.0)))  # ties share evenly


def test_densities():
    for f in (
        lambda w: np.histogram(A, 3, weights=w, density=True)[0],
        lambda w: np.histogram2d(A, B, (2, 3), weights=w, density=True)[0],
    ):
        derivative(f, W)
    derivative(lambda a, w: np.histogram(a, 3, weights=w, density=True), A, W, batched=False)
    derivative(lambda a: np.histogramdd([a, B], 2, density=True)[0], A, batched=False)
    derivative(lambda e: np.histogram(A, e, density=True)[0], EDGES, batched=False)


def test_a_density_scales_against_the_data():
    """Twice as wide data have half the density: x d(density)/dx = -density."""
    f = lambda a: np.histogram(a, 3, density=True)[0]
    agrees_at = dualad.jvp(f, (A,), (A,))[1]
    np.testing.assert_allclose(agrees_at, -f(A), rtol=1e-12)


def test_dtypes():
    w = W.astype(np.float32)
    agrees(
        lambda v: np.histogram(A, 3, weights=v)[0], (w,), (w,), np.histogram(A, 3, weights=w)[0]
    )
    assert dualad.jvp(lambda v: np.bincount(AT, v), (w,), (w,))[1].dtype == np.float64
    a = A.astype(np.float32)
    value, tangent = dualad.jvp(lambda v: np.histogram(v, 3)[1], (a,), (a,))
    assert value.dtype == tangent.dtype == np.histogram(a, 3)[1].dtype
    z = W + 1j * W
    linear(lambda v: np.histogram(A, 3, weights=v)[0], z)


def test_what_is_refused():
    def refused(error, f, *xs, match):
        with pytest.raises(error, match=match):
            dualad.jvp(f, xs, xs)

    refused(ValueError, lambda w: np.bincount(AT, w[1:]), W, match="same length")
    refused(ValueError, lambda w: np.bincount(-AT, w), W, match="no negative")
    refused(TypeError, lambda w: np.bincount(AT, w * 1j), W, match="real")
    refused(TypeError, lambda w: np.histogram(A, "fd", weights=w), W, match="not supported")
    refused(ValueError, lambda a: np.histogramdd([a, a], [1, 2, 3]), A, match="each dimension")
    with pytest.raises(TypeError, match="one plain value"):
        dualad.vmap(lambda a: np.histogram(a, 3)[0])(A[None])
