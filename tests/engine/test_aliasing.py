"""Memory that the user writes to: what a recorded operation keeps, what is a copy, what a view."""

import gc
import time

import numpy as np
import pytest

import dualad

X = np.array([1.0, 2.0, 3.0])
M = np.arange(9.0).reshape(3, 3) + 1


# --- what is written to after an operation read it -----------------------------------------------


def index(x, at):
    return np.sum(x[at] * x[at])


def taken(x, at):
    return np.sum(np.take(x, at) ** 2)


def along(x, at):
    return np.sum(np.take_along_axis(x, at, 0) ** 2)


@pytest.mark.parametrize("f", [index, taken, along])
def test_an_index_written_to_later_is_the_index_that_was_used(f):
    at = np.array([0, 1])
    _, pullback = dualad.vjp(lambda x: f(x, at), X)
    _, f_lin = dualad.linearize(lambda x: f(x, at), X)
    at[:] = 2
    np.testing.assert_array_equal(pullback(1.0)[0], [2.0, 4.0, 0.0])
    assert f_lin(np.ones(3)) == 6.0


def test_one_index_array_reused_in_a_loop():
    def f(x):
        at, total = np.zeros(1, int), 0.0
        for k in range(3):
            at[0] = k
            total = total + (k + 1.0) * x[at][0] ** 2
        return total

    np.testing.assert_array_equal(dualad.grad(f)(X), 2 * X * [1, 2, 3])


def test_an_index_of_an_assignment_written_to_later():
    at = np.array([0, 1])

    def f(x):
        y = x * 1.0
        y[at] = 2.0 * x[:2]
        return np.sum(y)

    _, pullback = dualad.vjp(f, X)
    at[:] = 2
    np.testing.assert_array_equal(pullback(1.0)[0], [2.0, 2.0, 1.0])


@pytest.mark.parametrize("view", [lambda w: np.broadcast_to(w, (2, 3)), lambda w: w.view()])
def test_a_read_only_view_of_memory_that_is_written_to_later(view):
    w = X.copy()
    constant = view(w)
    constant.flags.writeable = False
    _, pullback = dualad.vjp(lambda x: np.sum(x * constant), np.ones(3))
    w[:] = 100.0
    np.testing.assert_array_equal(pullback(1.0)[0], X * constant.size / 3)


# --- copies are copies -----------------------------------------------------------------------

COPIES = {
    "roll by nothing": (lambda x: np.roll(x, 0), M),
    "roll around": (lambda x: np.roll(x, 3, axis=0), M),
    "roll of one entry": (lambda x: np.roll(x, 1), X[:1]),
    "fftshift of one entry": (np.fft.fftshift, X[:1]),
    "pad by nothing": (lambda x: np.pad(x, 0), M),
    "tile once": (lambda x: np.tile(x, 1), M),
    "meshgrid of one": (lambda x: np.meshgrid(x)[0], X),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_that_is_written_to_leaves_the_array_as_it_was(name):
    f, x = COPIES[name]

    def g(x):
        y = f(x)
        y *= 3.0
        return np.sum(x * x) + np.sum(y)

    np.testing.assert_allclose(dualad.grad(g)(x), 2 * x + 3.0)
    np.testing.assert_allclose(dualad.jvp(g, (x,), (x,))[1], np.sum((2 * x + 3.0) * x))


@pytest.mark.parametrize("copy", [np.copy, lambda x: x.copy(), lambda x: x.astype(float)])
def test_a_copy_of_an_array_without_axes_has_views(copy):
    def f(x):
        y = copy(x)
        flat = y.reshape(-1)
        flat *= x
        return y

    assert dualad.grad(f)(np.array(3.0)) == 6.0
    assert dualad.jvp(f, (np.array(3.0),), (np.array(1.0),)) == (9.0, 6.0)


# --- views are views -------------------------------------------------------------------------


def test_the_diagonal_by_einsum_is_written_through():
    def f(x):
        y, z = x * 1.0, np.zeros_like(x)
        np.einsum("ii->i", y)[:] = 2.0 * x[0]
        np.einsum("ij->ji", z)[0] = x[1]
        return np.sum(y * y) + np.sum(z * z)

    # y has 2 x[0] on its diagonal and x elsewhere; z has x[1] as its first column.
    expected = 2 * M * (1 - np.eye(3))
    expected[0] += 8 * M[0]
    expected[1] += 2 * M[1]
    np.testing.assert_allclose(dualad.grad(f)(M), expected)
    np.testing.assert_allclose(dualad.vmap(dualad.grad(f))(M[None])[0], expected)


def test_a_reshape_is_a_view_under_vmap_wherever_the_batch_lies_in_memory():
    def f(x):
        rows = x[[0, -1, 0]]
        flat = rows.reshape(-1)
        flat *= 10.0
        return rows

    np.testing.assert_array_equal(dualad.vmap(f)(np.stack([M, 2 * M]))[1], 20 * M[[0, 2, 0]])


# --- arrays without axes in the sweep --------------------------------------------------------


def test_an_array_without_axes_that_is_indexed_and_used_again():
    f = lambda x: np.sum(x[...] * 2.0) + np.sum(x[None] * 3.0) + x + np.sum(x[...])
    assert dualad.grad(f)(np.array(2.0)) == 7.0


# --- cost ------------------------------------------------------------------------------------


def test_the_gradient_of_a_stack_takes_time_in_proportion_to_its_parts():
    def seconds(n):
        best = np.inf
        for _ in range(3):
            start = time.process_time()
            dualad.grad(lambda x: np.sum(np.stack([v * 2.0 for v in x])))(np.ones(n))
            best = min(best, time.process_time() - start)
        return best

    gc.disable()  # a collection takes as long as the process has objects, of other tests too
    try:
        assert seconds(4000) < 12 * seconds(1000)
    finally:
        gc.enable()
