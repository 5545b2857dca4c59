"""vjp: the value of a function and its pullback."""

import numpy as np
import pytest

import dualad
from dualad.errors import ShapeError, StructureError


def test_the_pullback_may_be_called_many_times():
    A = np.arange(6.0).reshape(2, 3)
    y, pullback = dualad.vjp(lambda x: A @ x, np.ones(3))
    np.testing.assert_array_equal(y, A.sum(1))
    for row in (0, 1, 0):
        np.testing.assert_array_equal(pullback(np.eye(2)[row])[0], A[row])


def test_the_pullback_is_of_the_moment_it_was_made():
    x, c = np.array([2.0]), np.array([3.0])
    _, pullback = dualad.vjp(lambda x: x * x * c, x)
    x[0], c[0] = 100.0, 100.0
    np.testing.assert_array_equal(pullback(np.ones(1))[0], [12.0])


@pytest.mark.parametrize(
    "cotangent, error, words",
    [
        (np.ones(3), StructureError, "cotangent"),
        ({"a": np.ones(3)}, ShapeError, "shape"),
        ({"a": np.array([1, 2])}, ShapeError, "dtype"),
        ({"a": np.ones(2), "b": 1.0}, StructureError, "keys"),
    ],
)
def test_cotangents_must_mirror_the_output(cotangent, error, words):
    _, pullback = dualad.vjp(lambda x: {"a": x}, np.ones(2))
    with pytest.raises(error, match=words):
        pullback(cotangent)


def test_writing_to_a_constant_after_it_was_used_changes_nothing():
    def f(x):
        work = np.array([1.0, 2.0])
        y = x * work
        work[:] = 100.0
        return np.sum(y) + work @ x

    np.testing.assert_array_equal(dualad.grad(f)(np.ones(2)), [101.0, 102.0])
