"""np.partition leaves the entries of each part in NumPy's own order."""

import numpy as np
import pytest

import dualad


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
