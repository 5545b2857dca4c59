"""Numbers beside arrays: as arrays without axes they give what Python's numbers give."""

import numpy as np
import pytest

import dualad
from dualad.engine.fast_paths.numbers import ARRAYS, LIMIT, doubled

X = np.array([0.5, -0.0, np.inf, np.nan, 1e300, 5e-324])


@pytest.mark.parametrize("number", [3.0, 0.1, -0.0, 0.0, np.inf, np.nan, 7, -(2**53), 2**60 + 1])
def test_a_product_is_that_with_the_number_itself_to_the_last_bit(number):
    for _ in range(2):  # made, and found
        with np.errstate(all="ignore"):
            product, expected = ARRAYS[number] * X, number * X
        assert product.tobytes() == expected.tobytes()


def test_zeros_keep_their_sign():
    assert [np.copysign(1.0, ARRAYS[z]) for z in (0.0, -0.0, 0.0, 0)] == [1.0, -1.0, 1.0, 1.0]


def test_they_are_few_and_are_not_written_to():
    for k in range(3 * LIMIT):
        assert ARRAYS[k + 0.5] == k + 0.5
    assert len(ARRAYS) <= LIMIT
    with pytest.raises(ValueError, match="read-only"):
        ARRAYS[0.5][...] = 1.0


def test_an_operator_beside_an_array_uses_them_and_beside_float32_does_not():
    number = 1234.5678
    for dtype in (np.float64, np.float32):
        x = np.ones(3, dtype)
        ARRAYS.pop(number, None)
        for f in (lambda x: number * x, lambda x: x / number, lambda x: number - x):
            for _ in range(120):  # often enough for generated code
                y, t = dualad.jvp(f, (x,), (x,))
            assert y.dtype == t.dtype == dtype
            np.testing.assert_array_equal(y, f(x))
        assert (number in ARRAYS) == (dtype is np.float64)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, complex])
def test_twice_a_value_is_its_sum_with_itself(dtype):
    x = np.array([1.5, -0.0, 1e30, 3.0]).astype(dtype)
    assert doubled(x).dtype == dtype
    assert doubled(x).tobytes() == (x + x).tobytes()


def test_the_slope_of_a_square_and_its_derivative():
    x, v = np.linspace(-2.0, 2.0, 7), np.linspace(1.0, 3.0, 7)
    for square in (lambda x: x**2, lambda x: x * x, np.square):
        y, t = dualad.jvp(square, (x,), (v,))
        np.testing.assert_array_equal(y, x * x)
        np.testing.assert_array_equal(t, 2.0 * x * v)
        cube = lambda x, square=square: np.sum(square(x) * x)
        np.testing.assert_allclose(dualad.grad(cube)(x), 3.0 * x**2, rtol=1e-15)
        np.testing.assert_allclose(dualad.hvp(cube, (x,), (v,)), 6.0 * x * v, rtol=1e-15)
