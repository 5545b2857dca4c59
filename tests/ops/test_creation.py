"""New arrays `like` a traced one: buffers, and what holds traced values."""

import numpy as np
import pytest
from agreement import agrees, like, linear, same

import dualad
from dualad.engine.levels.buffer import Buffer

X = np.array([0.5, 1.5, 2.5])

FRESH = [
    lambda x: np.zeros((2, 3), like=x),
    lambda x: np.ones(3, like=x),
    lambda x: np.empty(3, like=x),
    lambda x: np.full(3, 2.0, like=x),
    lambda x: np.eye(3, like=x),
    lambda x: np.identity(3, like=x),
    lambda x: np.tri(3, like=x),
    lambda x: np.arange(3.0, like=x),
    lambda x: np.array([1.0, 2.0], like=x),
    lambda x: np.asarray([1.0, 2.0], like=x),
    lambda x: np.fromfunction(lambda i: 1.0 * i, (3,), like=x),
    lambda x: np.fromiter(iter([1.0, 2.0]), float, like=x),
    lambda x: np.frombuffer(np.ones(3).tobytes(), like=x),
]


@pytest.mark.parametrize("make", FRESH)
def test_fresh_arrays_take_traced_values(make):
    def f(x):
        y = make(x)
        assert isinstance(y, Buffer)
        y[0] = x[1]
        return y

    t = like(X)
    value, tangent = dualad.jvp(f, (X,), (t,))
    want = np.zeros_like(value)
    want[0] = t[1]
    same(tangent, want)
    w = like(value)
    same(dualad.vjp(f, X)[1](w)[0], np.array([0.0, np.sum(w[0]), 0.0]))


def test_arrays_of_integers_are_plain():
    f = lambda x: (np.zeros(3, int, like=x), np.arange(3, like=x), np.array([1, 2], like=x))
    seen = []
    dualad.jvp(lambda x: (seen.append(f(x)), x)[1], (X,), (X,))
    assert all(type(a) is np.ndarray for a in seen[0])


def test_arrays_of_traced_values():
    linear(lambda x: np.array([x[0], x[2]], like=x), X)
    linear(lambda x: np.array([[x[0], 0.0], [0j, x[1]]], like=x), X)
    linear(lambda x: np.array([x, x], like=x, ndmin=3), X)
    linear(lambda x: np.asarray(x, np.complex128, like=x), X)
    linear(lambda x: np.full((2, 3), x, like=x), X)
    linear(lambda x: np.full(2, x[1], like=x), X)
    linear(lambda x: np.fromiter((v * 2 for v in x), float, like=x), X)
    linear(lambda x: np.fromfunction(lambda i, j: i * x[0] + j * x[1], (2, 2), like=x), X)


def test_a_traced_array_is_itself_or_copied():
    def f(x):
        for g in (np.asarray, np.asanyarray, np.require):
            assert g(x, like=x) is x
        assert np.array(x, like=x, copy=False) is x
        y = np.array(x, like=x)
        y[0] = 7.0
        return x - y

    agrees(f, (X,), (X,), np.array([0.5, 0.0, 0.0]))


def test_an_array_that_exists_is_not_made_a_buffer():
    plain = np.ones(3)
    seen = []
    dualad.jvp(lambda x: (seen.append(np.asarray(plain, like=x)), x)[1], (X,), (X,))
    assert seen[0] is plain


def test_memory_order():
    m = np.arange(6.0).reshape(2, 3)

    def f(x):
        y = np.asfortranarray(x, like=x)
        z = np.ascontiguousarray(y, like=x)
        w = np.require(x, requirements="F", like=x)
        return y.ravel("K"), z.ravel("K"), w.ravel("K"), y * 1.0

    same(dualad.jvp(f, (m,), (m,))[1], (m.ravel("F"), m.ravel(), m.ravel("F"), m))
    for g in (np.ascontiguousarray, np.asfortranarray):
        assert dualad.jvp(lambda x: g(x, like=x), (1.0,), (1.0,))[1].shape == (1,)


def test_ranges():
    """start + k step, as many as NumPy gives."""
    f = lambda a, d: np.arange(a, 5.0, d, like=a)
    a, d = 0.5, 1.25
    k = np.arange(len(np.arange(a, 5.0, d)))
    same(dualad.jvp(f, (a, d), (1.0, 10.0)), (np.arange(a, 5.0, d), 1.0 + 10.0 * k))
    same(dualad.jvp(lambda n: np.arange(n, like=n), (2.5,), (1.0,)), (np.arange(2.5), np.zeros(3)))
    with pytest.raises(TypeError, match="one plain value"):
        dualad.vmap(lambda v: np.arange(v, like=v))(X)
