"""Memory that a program keeps: nothing of it is handed out, and each call has its own."""

import threading

import numpy as np
import pytest

import dualad
from dualad.compiling import compile

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 150, 150))


def layers(x, w):
    """Products of matrices with an array between them."""
    h = np.tanh(x @ w)
    return np.sum((h @ w) ** 2), h.T[:3]


def replayed(f, *args):
    compiled = compile(f, backend="numpy")
    compiled(*args), compiled(*args)
    assert "workspace.take()" in compiled.source(*args)
    return compiled


def test_what_is_handed_out_is_not_written_over():
    compiled = replayed(layers, A, B)
    first = compiled(A, B)
    kept = [np.array(v) for v in first]
    compiled(B, A)
    for v, k, e in zip(first, kept, layers(A, B), strict=True):
        np.testing.assert_array_equal(v, k)
        np.testing.assert_allclose(v, e, rtol=1e-12)


def test_values_between_lie_in_memory_that_is_there_already():
    text = replayed(dualad.grad(lambda x: layers(x, B)[0]), A).source()
    assert "out=w0" in text
    assert "np.empty((150, 150))" not in text


def test_calls_in_threads_have_memory_of_their_own():
    pairs = [(A * k, B + k) for k in range(1, 5)]
    compiled = replayed(layers, *pairs[0])
    expected = [layers(*p) for p in pairs]
    wrong = []

    def work(k):
        for _ in range(20):
            for v, e in zip(compiled(*pairs[k]), expected[k], strict=True):
                if not np.allclose(v, e, rtol=1e-12):
                    wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert wrong == []


def test_an_error_gives_the_memory_back():
    def f(x, w):
        return np.linalg.cholesky((x @ w) @ w)

    good = (np.eye(150), np.eye(150) + 1.0)
    compiled = replayed(lambda x, w: f(x, w) @ w, *good)
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError):
            compiled(-good[0], good[1])
    np.testing.assert_allclose(compiled(*good), f(*good) @ good[1], rtol=1e-12)


def test_an_array_that_is_read_later_is_not_written_over():
    def f(x, w):
        h = x @ w
        view = h.T
        y = np.sin(h)
        z = y * 2.0
        return z @ w, view @ w, y + view

    compiled = replayed(f, A, B)
    for v, e in zip(compiled(A, B), f(A, B), strict=True):
        np.testing.assert_allclose(v, e, rtol=1e-12, atol=1e-12)
