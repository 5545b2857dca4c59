"""Sums of large tangents and cotangents: exact on whole numbers, whatever the axes."""

import itertools
import math

import numpy as np
import pytest

import dualad
from dualad.engine.arrays.memory import LARGE
from dualad.engine.arrays.sums import COLUMNS, quick_sum, total

SHAPES = [(LARGE // 8, 8), (40, 100, 10), (9, 80, 70), (5, 3, 7, 400), (300, 300), (2, LARGE)]


def whole_numbers(*shape):
    return (np.arange(math.prod(shape)) * 7919 % 1009 - 500.0).reshape(shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_sums_are_those_of_numpy(shape):
    x = whole_numbers(*shape)
    for r in range(1, len(shape) + 1):
        for axes in itertools.combinations(range(len(shape)), r):
            total = quick_sum(x, axes)
            if total is not None:
                want = np.add.reduce(x, axis=axes)
                assert total.shape == want.shape and total.dtype == want.dtype
                np.testing.assert_array_equal(total, want)


def test_rows_that_are_short_are_summed_by_a_product():
    assert quick_sum(whole_numbers(LARGE // 8, 8), (1,)) is not None
    assert quick_sum(whole_numbers(40, 100, 10), (1,)) is not None
    assert quick_sum(whole_numbers(40, 100, 10), (0,)) is None, "rows of a thousand"
    assert quick_sum(whole_numbers(2, LARGE), (1,)) is None, "NumPy adds in pairs"
    assert quick_sum(whole_numbers(40, 100, 10), (0, 2)) is None
    assert quick_sum(whole_numbers(20, 8), (1,)) is None
    assert quick_sum(whole_numbers(LARGE // 8, 8).astype(np.float32), (1,)) is None


def test_entries_that_are_repeated_count_as_often_as_they_stand():
    small = whole_numbers(40, 1, 50)
    x = np.broadcast_to(small, (40, 100, 50))
    for axes in ((1,), (0, 1), (1, 2), (0, 1, 2)):
        np.testing.assert_array_equal(quick_sum(x, axes), np.add.reduce(x, axis=axes))
    assert quick_sum(x, (0,)) is None
    assert quick_sum(np.broadcast_to(np.float64(3.0), (LARGE,)), (0,)) == 3.0 * LARGE


def test_what_is_not_finite_stays_so_without_a_warning():
    x = whole_numbers(LARGE // 8, 8)
    x[0, 0], x[1, 1], x[2, :2] = np.inf, np.nan, (np.inf, -np.inf)
    with np.errstate(all="raise"):
        total = quick_sum(x, (1,))
    assert total[0] == np.inf and np.isnan(total[1:3]).all() and np.isfinite(total[3:]).all()


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (1, 2), (0, 2), None])
def test_derivatives_of_sums_and_of_what_broadcasts(axis):
    x, t = whole_numbers(40, 100, 10), whole_numbers(40, 100, 10)[::-1]
    value, moved = dualad.jvp(lambda x: np.sum(x, axis=axis), (x,), (t,))
    np.testing.assert_array_equal(value, np.sum(x, axis=axis))
    np.testing.assert_array_equal(moved, np.sum(t, axis=axis))
    b = np.ones_like(np.sum(x, axis=axis, keepdims=True))
    slope = dualad.grad(lambda b: np.sum(t * (x - b)) + np.sum(b + x))(b)
    want = np.sum(1.0 - t, axis=axis, keepdims=True)
    np.testing.assert_array_equal(slope, want)


@pytest.mark.parametrize("width", range(1, COLUMNS + 2))
def test_the_value_of_a_sum_over_short_rows_is_that_of_numpy_to_the_last_bit(width):
    """Numbers of very different size, for which the order of the sum matters."""
    rng = np.random.default_rng(width)
    shape = (3, 2 * LARGE // (3 * width), width)
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-12, 12, shape)
    x[0, :5] = -0.0
    assert total(x, (2,)).tobytes() == np.add.reduce(x, axis=2).tobytes()


def test_a_sum_by_columns_warns_as_that_of_numpy_and_no_more():
    x = np.ones((LARGE, 3))
    x[1] = np.inf
    with np.errstate(all="raise"):
        assert total(x, (1,))[1] == np.inf
        x[0] = np.inf, -np.inf, 1.0
        with pytest.raises(FloatingPointError, match="invalid value encountered in reduce"):
            total(x, (1,))
    with np.errstate(all="raise"):
        x[:2] = 1e200  # whose squares overflow
        np.testing.assert_array_equal(total(x, (1,))[:2], 3e200)
