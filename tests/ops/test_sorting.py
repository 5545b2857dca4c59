"""Sorted and partitioned order: each tangent goes with its entry, and ties keep theirs."""

import numpy as np
import pytest
from agreement import agrees, like, same

import dualad

X = np.array([[3.0, -1.0, 2.0, 7.0], [0.5, 4.0, -2.0, 1.5], [9.0, 8.0, -6.0, 5.0]])
V = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.5])


# --- sort ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_sort_moves_the_tangent_with_the_entries(axis, dtype):
    x, t = like(np.asarray(X, dtype)), like(np.asarray(X, dtype))
    flat = axis is None
    order = np.argsort(x.ravel() if flat else x, 0 if flat else axis)
    want = np.take_along_axis(t.ravel() if flat else t, order, 0 if flat else axis)
    agrees(lambda v: np.sort(v, axis), (x,), (t,), want)
    agrees(lambda v: np.sort(v, axis, stable=True), (x,), (t,), want)


def test_sort_of_ties_keeps_their_order():
    x, t = np.array([2.0, 1.0, 2.0, 1.0, 2.0]), np.arange(5.0)
    agrees(np.sort, (x,), (t,), np.array([1.0, 3.0, 0.0, 2.0, 4.0]))


def test_sort_puts_nan_last_and_orders_complex_numbers():
    x, t = np.array([2.0, np.nan, -1.0]), np.array([1.0, 2.0, 3.0])
    agrees(np.sort, (x,), (t,), np.array([3.0, 1.0, 2.0]))
    z = np.array([2 + 1j, 1 + 5j, 2 - 1j])
    agrees(np.sort, (z,), (1j * z,), 1j * np.sort(z))
    agrees(np.sort_complex, (V,), (t[0] * V,), np.sort(V) + 0j)


def test_partition_is_a_permutation():
    x, t = like(V), like(V)
    value, tangent = dualad.jvp(lambda v: np.partition(v, 2), (x,), (t,))
    same(value, np.partition(x, 2))
    same(tangent, t[np.argpartition(x, 2)])
    same(np.sort(dualad.grad(lambda v: np.sum(np.partition(v, 2)[:3]))(x)), np.repeat([0.0, 1], 3))


def test_second_derivatives_through_an_order():
    """sum of k x_(k)**2: the Hessian is diagonal with twice the ranks."""
    f = lambda v: np.sum(np.arange(6.0) * np.sort(v) ** 2)
    same(dualad.hessian(f)(V), np.diag(2.0 * np.argsort(np.argsort(V))))


# --- partition: the entries of each part are in NumPy's own order --------------------------------


def samples():
    rng = np.random.default_rng(3)
    for n in range(2, 40):
        a = rng.normal(size=n).round(n % 3)
        a[rng.random(n) < 0.2] = np.nan
        yield a, int(rng.integers(0, n))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_order_within_the_parts(dtype):
    for a, k in samples():
        a = a.astype(dtype)
        want = np.partition(a, k)
        value, moved = dualad.jvp(lambda x, k=k: np.partition(x, k), (a,), (a,))
        for got in (value, moved):  # each tangent goes with its entry
            np.testing.assert_array_equal(got, want)


def test_axes_batches_and_several_places():
    a = np.random.default_rng(0).normal(size=(5, 6, 7))
    a[a > 1.2] = np.nan
    for axis in (0, 1, -1, None):
        got = dualad.jvp(lambda x, axis=axis: np.partition(x, (1, 3), axis), (a,), (a,))
        for part in got:
            np.testing.assert_array_equal(part, np.partition(a, (1, 3), axis))
    batched = dualad.vmap(lambda x: np.partition(x, 2, 0))(a)
    np.testing.assert_array_equal(batched, np.partition(a, 2, 1))
    for x in (a, np.asfortranarray(a)):
        y = dualad.compile(lambda x: np.partition(x, 2, 0))(x)
        assert y.flags.f_contiguous == np.partition(x, 2, 0).flags.f_contiguous


def test_gradient_of_a_partition():
    a = np.array([3.0, np.nan, 1.0, 2.0])
    got = dualad.grad(lambda x: np.partition(x, 1)[:2] @ np.array([2.0, 5.0]))(a)
    np.testing.assert_array_equal(got, [0.0, 0.0, 2.0, 5.0])
