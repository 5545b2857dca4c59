"""Set functions choose entries: each result has the derivative of the entry that was chosen."""

import numpy as np
import pytest
from agreement import like, same

import dualad

X = np.array([3.0, 1.0, 3.0, 2.0, 1.0])
Y = np.array([2.0, 7.0, 1.0, 5.0])


def chosen(f, *xs):
    """The value and, as one-hot rows, which entries of each argument the results are."""
    want = f(*xs)
    rows = []
    for k in range(len(xs)):
        moving = lambda v: f(*xs[:k], v, *xs[k + 1 :])
        forward, reverse = dualad.jacfwd(moving)(xs[k]), dualad.jacrev(moving)(xs[k])
        same(forward, reverse)
        rows.append(forward)
    t = tuple(map(like, xs))
    value, tangent = dualad.jvp(f, xs, t)
    same(value, want)
    np.testing.assert_allclose(tangent, sum(r @ v for r, v in zip(rows, t, strict=True)))
    return [r.argmax(1).tolist() if r.any(1).all() else r.tolist() for r in rows]


def test_of_equal_entries_the_first_carries_the_derivative():
    assert chosen(np.unique, X) == [[1, 3, 0]]
    assert chosen(lambda x: np.unique(x.reshape(5, 1)), X) == [[1, 3, 0]]
    assert chosen(lambda x: np.sort(np.unique_values(x)), X) == [[1, 3, 0]]
    assert chosen(lambda x: np.unique_all(x).values, X) == [[1, 3, 0]]
    assert chosen(lambda x: np.unique_counts(x).values, X) == [[1, 3, 0]]
    assert chosen(lambda x: np.unique_inverse(x).values, X) == [[1, 3, 0]]


def test_distinct_rows():
    m = np.array([[2.0, 1.0], [0.0, 5.0], [2.0, 1.0]])
    t = like(m)
    same(dualad.jvp(lambda v: np.unique(v, axis=0), (m,), (t,)), (np.unique(m, axis=0), t[[1, 0]]))


@pytest.mark.parametrize(
    "f",
    [
        lambda v: np.unique(v, True, True, True),
        lambda v: np.unique(v, return_counts=True),
        lambda v: np.unique(v, True, True, True, equal_nan=False),
        lambda v: np.unique(v[:4].reshape(2, 2), return_inverse=True, axis=1),
        np.unique_all,
        np.unique_counts,
        np.unique_inverse,
        lambda v: (np.unique_values(v),),
        lambda v: np.intersect1d(v, [2.0, 3.0], return_indices=True),
    ],
)
def test_places_and_counts_are_numpys(f):
    x = np.array([3.0, 1.0, 3.0, 2.0, 1.0, np.nan, np.nan])
    seen = []
    dualad.jvp(lambda v: (seen.append(f(v)), v)[1], (x,), (x,))
    want = f(x)
    assert type(seen[0]) is type(want)
    for got, value in zip(seen[0], want, strict=True):
        np.testing.assert_array_equal(np.asarray(dualad.stop_gradient(got)), value)


def test_two_sets():
    assert chosen(np.setdiff1d, X, Y) == [[0], [[0.0] * 4]]
    assert chosen(lambda x, y: np.setdiff1d(x, y, assume_unique=True), X, Y)[0] == [0, 2]
    assert chosen(lambda x: np.setxor1d(x, Y), X) == [[[1.0, 0, 0, 0, 0], [0.0] * 5, [0.0] * 5]]
    assert chosen(lambda y: np.setxor1d(X, y), Y) == [[[0.0] * 4, [0, 0, 0, 1.0], [0, 1.0, 0, 0]]]
    assert chosen(np.intersect1d, X, Y) == [[1, 3], [[0.0] * 4] * 2]
    assert chosen(lambda x: np.union1d(x, [9.0, 2.0]), X) == [
        [[0, 1.0, 0, 0, 0], [0, 0, 0, 1.0, 0], [1.0, 0, 0, 0, 0], [0.0] * 5]
    ]


def test_the_empty_set():
    none = np.zeros(0)
    for f in (
        np.unique,
        lambda x: np.setxor1d(x, x),
        lambda x: np.setdiff1d(x, [1.0]),
        lambda x: np.union1d(x, none),
    ):
        same(dualad.jvp(f, (none,), (none,)), (none, none))


def test_results_of_many_sizes_are_refused_under_vmap():
    rows = np.stack([X, X])
    for f in (np.unique, np.unique_values, np.unique_all, lambda x: np.intersect1d(x, Y)):
        with pytest.raises(TypeError, match="different number of results"):
            dualad.vmap(f)(rows)
