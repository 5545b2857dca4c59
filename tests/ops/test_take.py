"""Entries taken at places: the derivative is that of the entries that were taken."""

import numpy as np
import pytest
from agreement import DTYPES, like, linear, same

import dualad

X = np.array([[3.0, -1.0, 2.0, 7.0], [0.5, 4.0, -2.0, 1.5], [9.0, 8.0, -6.0, 5.0]])
V = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.5])
COND = X > 1.0

AT = np.array([[2, 0], [2, -1]])
TAKE = [
    ("take", lambda x: np.take(x, [0, 5, 5, -1])),
    ("take_number", lambda x: np.take(x, 4)),
    ("take_axis", lambda x: np.take(x, AT, axis=1)),
    ("take_last_axis", lambda x: np.take(x, 1, axis=-1)),
    ("take_wrap", lambda x: np.take(x, [4, -9, 13], axis=1, mode="wrap")),
    ("take_clip", lambda x: np.take(x, [4, -9, 1], axis=1, mode="clip")),
    ("take_along_axis", lambda x: np.take_along_axis(x, np.array([[1], [1], [0]]), 1)),
    ("take_along_rows", lambda x: np.take_along_axis(x, np.array([[1, 0, 2, 2]] * 2), 0)),
    ("take_along_flat", lambda x: np.take_along_axis(x, np.array([3, 3]), None)),
    ("compress", lambda x: np.compress([True, False, True], x, axis=0)),
    ("compress_short", lambda x: np.compress([False, True], x, axis=1)),
    ("compress_flat", lambda x: np.compress([True, False, True], x)),
    ("extract", lambda x: np.extract(COND, x)),
    ("delete", lambda x: np.delete(x, 1, axis=0)),
    ("delete_many", lambda x: np.delete(x, [0, -1], axis=1)),
    ("delete_slice", lambda x: np.delete(x, slice(1, 3), axis=1)),
    ("delete_mask", lambda x: np.delete(x, np.array([True, False, True]), axis=0)),
    ("delete_flat", lambda x: np.delete(x, [3, 4])),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "f"), TAKE, ids=[c[0] for c in TAKE])
def test_taking_is_linear(name, f, dtype):
    linear(f, like(np.asarray(X, dtype)))


INSERT = [
    ("number", 1, None, 7.0),
    ("numbers", [1, 1, 3], None, V[:3]),
    ("row", 1, 0, X[0]),
    ("rows", [0, 2], 0, X[:2]),
    ("many rows in one place", 1, 0, X[:2].T[:2].T @ np.ones((2, 4))),
    ("column", 2, 1, V[:3]),
    ("columns broadcast", [0, 4], 1, V[:1]),
    ("slice", slice(0, 3), 1, np.ones((3, 3))),
    ("one in a list", [1], 1, V[:3, None]),
    ("negative", -1, 0, X[0]),
]


@pytest.mark.parametrize(("name", "obj", "axis", "values"), INSERT, ids=[c[0] for c in INSERT])
def test_insert_is_linear_in_both(name, obj, axis, values):
    linear(lambda x, v: np.insert(x, obj, v, axis), like(X), like(np.asarray(values, float)))
    linear(lambda x: np.insert(x, obj, 0.0, axis), like(X))


def test_take_with_an_index_per_entry_of_a_batch():
    """A table that is the same for all, looked up by each; and each its own table."""
    at = np.array([[0, 3], [2, -1], [1, 1]])
    same(dualad.vmap(lambda k: np.take_along_axis(V, k, 0))(at), V[at])
    same(dualad.vmap(np.take)(X, at), np.take_along_axis(X, at, 1))
    wrapped = lambda x, k: np.take(x, k, mode="wrap")
    same(dualad.vmap(wrapped)(X, at + 8), np.take_along_axis(X, at, 1))
    clipped = lambda x, k: np.take(x, k, mode="clip")
    same(dualad.vmap(clipped)(X, at * 9), np.take_along_axis(X, np.clip(at * 9, 0, 3), 1))
    along = lambda x, k: np.take_along_axis(x, k, 0)
    same(dualad.vmap(along)(X, at), np.take_along_axis(X, at, 1))
    largest = lambda x: x[np.argmax(x)] ** 2
    same(dualad.vmap(dualad.grad(largest))(X), np.where(X == X.max(1, keepdims=True), 2 * X, 0))


def test_take_out_of_range():
    with pytest.raises(IndexError):
        dualad.jvp(lambda x: np.take(x, 99), (X,), (X,))
    with pytest.raises(np.exceptions.AxisError):
        dualad.jvp(lambda x: np.take(x, 0, axis=2), (X,), (X,))


def test_trim_zeros_and_unique():
    x = np.array([0.0, 0.0, 3.0, 0.0, 1.0, 3.0, 0.0])
    t = np.arange(1.0, 8.0)
    same(dualad.jvp(np.trim_zeros, (x,), (t,)), (x[2:6], t[2:6]))
    same(dualad.jvp(lambda v: np.trim_zeros(v, "f"), (x,), (t,)), (x[2:], t[2:]))
    same(dualad.jvp(lambda v: np.trim_zeros(v, "b"), (x,), (t,)), (x[:6], t[:6]))
    assert dualad.jvp(np.trim_zeros, (np.zeros(3),), (t[:3],))[0].size == 0
    same(dualad.jvp(np.unique, (x,), (t,)), (np.array([0.0, 1, 3]), np.array([1.0, 5, 3])))
    same(dualad.jvp(np.unique_values, (x,), (t,))[1], np.array([1.0, 5, 3]))
    _, places = dualad.jvp(lambda v: np.unique(v, return_index=True), (x,), (t,))[0]
    same(places, np.array([0, 4, 2]))
    same(
        dualad.jvp(lambda v: np.union1d(v, [2.0, 1.0]), (x,), (t,)),
        (np.array([0.0, 1, 2, 3]), np.array([1.0, 5, 0, 3])),
    )
