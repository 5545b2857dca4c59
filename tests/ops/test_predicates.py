"""Questions that arrays answer: the answers are NumPy's, plain."""

import numpy as np
import pytest
from agreement import same

import dualad

X = np.array([1.0, 2.0, 3.0, 2.0])


def inside(f, x=X):
    seen = []
    dualad.jvp(lambda v: (seen.append(f(v)), v)[1], (x,), (x,))
    dualad.vjp(lambda v: (seen.append(f(v)), v)[1], x)
    assert type(seen[0]) is type(seen[1])
    return seen[0]


def test_members():
    for f in (
        lambda x: np.isin(x, [2.0, 9.0]),
        lambda x: np.isin(x, [2.0, 9.0], invert=True),
        lambda x: np.isin([2.0, 9.0], x),
        lambda x: np.isin(x, x[:1]),
    ):
        same(inside(f), f(X))
        same(dualad.vmap(f)(np.stack([X, -X])), np.stack([f(X), f(-X)]))


def test_dates_are_asked_of_dates():
    with pytest.raises(TypeError, match="only defined for"):
        inside(np.isnat)


def test_the_order_of_a_contraction_depends_on_shapes():
    m = np.ones((2, 3))
    path = lambda x: np.einsum_path("ij,jk,kl->il", x, np.ones((3, 4)), np.ones((4, 2)))
    assert inside(path, m) == path(m)


def test_shapes():
    for f in (np.shape, np.ndim, np.size, lambda x: np.size(x, 0)):
        assert inside(f) == f(X)
