"""Places of entries: NumPy's integers, inside any derivative."""

import numpy as np
import pytest
from agreement import linear, same

import dualad

A = np.array([[3.0, np.nan, 2.0, 2.5], [9.0, -4.0, np.nan, 9.5], [1.0, 7.0, 6.0, -np.inf]])


def inside(f, *xs):
    """What f gives inside a jvp and inside a vjp, which must agree."""
    seen = []
    for run in (lambda g: dualad.jvp(g, xs, xs), lambda g: dualad.vjp(g, *xs)):
        run(lambda *v: (seen.append(f(*v)), v[0])[1])
    same(seen[0], seen[1])
    return seen[0]


@pytest.mark.parametrize("f", [np.nanargmax, np.nanargmin])
def test_extreme_entries_that_are_numbers(f):
    for g in (f, lambda x: f(x, axis=0), lambda x: f(x, axis=1, keepdims=True)):
        same(np.asarray(inside(g, A)), np.asarray(g(A)))
        same(dualad.vmap(g)(np.stack([A, -A])), np.stack([g(A), g(-A)]))
    with pytest.raises(ValueError, match="All-NaN"):
        inside(lambda x: f(x, axis=0), np.full((2, 2), np.nan))


def test_places_as_one_number_or_as_one_an_axis():
    f = lambda x: np.unravel_index(np.nanargmax(x), x.shape)
    same(inside(f, A), f(A))
    flat = inside(lambda x: np.ravel_multi_index(np.nonzero(x > 2), x.shape), A)
    same(flat, np.array([0, 3, 4, 7, 9, 10]))
    g = lambda k: np.ravel_multi_index(np.unravel_index(k, (3, 4)), (3, 4))
    same(dualad.vmap(g)(np.arange(12)), np.arange(12))


def test_places_that_the_shape_alone_decides():
    square = np.ones((3, 3))
    for f in (
        np.diag_indices_from,
        np.tril_indices_from,
        lambda x: np.triu_indices_from(x, k=1),
    ):
        same(inside(f, square), f(square))
        same(dualad.vmap(lambda x: x[f(x)])(square[None]), square[f(square)][None])
    with pytest.raises(ValueError, match="equal length"):
        inside(np.diag_indices_from, np.ones((2, 3)))


def test_an_open_mesh():
    f = lambda x: np.ix_(x, [True, False, True])[0]
    linear(f, np.array([1.0, 2.0]))
    got = inside(lambda x: np.ix_([0, 2], x > 2), A[0])
    same(got, np.ix_([0, 2], A[0] > 2))
    with pytest.raises(ValueError, match="1 dimensional"):
        inside(np.ix_, A)


def test_bits():
    bits = np.array([[1, 0, 1, 1, 0, 0, 0, 1]], np.uint8)
    pack = lambda b: np.packbits(b, axis=0)
    same(dualad.vmap(pack)(bits), np.packbits(bits, axis=1))
    same(dualad.vmap(lambda b: np.unpackbits(pack(b)))(bits), bits)
