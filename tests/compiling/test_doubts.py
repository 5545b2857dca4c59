"""Arrays that a program reads itself, and of which it holds something that it computed."""

import functools
import warnings

import numpy as np
import pytest

import dualad
from dualad.compiling.doubts import Doubts
from dualad.errors import CompileWarning

X = np.linspace(-1.0, 2.0, 4)
BOTH = pytest.mark.parametrize("backend", ["numpy", "auto"])

DEPENDING = {
    "a mean": lambda a, x: a * x + a.mean(),
    "an entry": lambda a, x: a * x + a[0],
    "a row that is kept": lambda a, x: a * x + a.sum(keepdims=True),
    "an extent that divides": lambda a, x: a * x / np.ptp(a),
}


@pytest.mark.parametrize("case", DEPENDING)
@pytest.mark.parametrize("transform", [lambda f: f, lambda f: dualad.grad(lambda x: np.sum(f(x)))])
def test_a_number_that_was_computed_of_an_array(case, transform):
    a = np.array([1.0, 2.0, 3.0, 5.0])
    f = transform(lambda x: DEPENDING[case](a, x))
    g = dualad.compile(f, backend="numpy")
    for value in (1.0, 7.0, -2.0):
        a[0] = value
        for _ in range(3):
            np.testing.assert_array_equal(g(X), f(X))


def test_numbers_that_do_not_depend_on_it_cost_one_trace_more():
    """A data set or weights that change in place all the time are still read by one program."""
    a = np.ones(4)
    traces = []

    def f(x):
        traces.append(0)
        return a * x / np.sqrt(2 * np.pi)

    g = dualad.compile(f, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        for k in range(30):
            a[:] = np.cos(k + np.arange(4))
            np.testing.assert_array_equal(g(X), a * X / np.sqrt(2 * np.pi))
    assert len(traces) == 2


def test_what_is_known_of_an_array():
    doubts, a, numbers = Doubts(), np.ones(2), (("<f8", b"1"),)
    assert not doubts.of(a, ())
    assert doubts.of(a, numbers)
    assert doubts.of(a, numbers)  # it was traced again, for something else
    a[0] = 2.0
    assert not doubts.of(a, ())
    assert doubts.of(a, (("<f8", b"2"),))
    assert not doubts.of(a, numbers)
    a[0] = 1.0
    assert not doubts.of(a, numbers)


def by_shape(a, x):
    return (2 * a + 1) * x if x.ndim == 1 else a * x


def by_sign(a, x):
    return (2 * a + 1) * x if x.flat[0] < 0 else a * x


@pytest.mark.parametrize("f", [by_shape, by_sign])
@pytest.mark.parametrize("is_given", [False, True])
def test_one_program_reads_what_another_one_has_computed_with(f, is_given):
    class Held:
        array = None

    held = Held()
    held.array = np.ones(4)
    inputs = X, -X, np.stack([-X, X])
    if is_given:
        g = dualad.compile(lambda held, x: f(held.array, x), backend="numpy")
        call = functools.partial(g, held)
    else:
        call = dualad.compile(lambda x: f(held.array, x), backend="numpy")
    for value in (1.0, 3.0, 5.0):
        held.array.fill(value)
        for x in (*inputs, *inputs, *inputs):
            np.testing.assert_array_equal(call(x), f(held.array, x))


@BOTH
def test_an_array_that_is_given_another_shape(backend):
    a = np.arange(4.0)
    g = dualad.compile(lambda x: x * a, backend=backend)
    for _ in range(3):
        np.testing.assert_array_equal(g(X), X * a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        a.shape = (4, 1)
    for _ in range(3):
        np.testing.assert_array_equal(g(X), X * np.arange(4.0)[:, None])


@BOTH
def test_an_array_that_becomes_shorter(backend):
    """Machine code would read beyond its end."""
    a = np.ones(100_000)
    g = dualad.compile(lambda x: np.sum(x) * a, backend=backend)
    for _ in range(3):
        assert g(X).shape == (100_000,)
    a.resize(3, refcheck=False)
    for _ in range(3):
        np.testing.assert_array_equal(g(X), np.full(3, 2.0))


@BOTH
def test_an_array_that_is_read_as_another_dtype(backend):
    a = np.arange(4.0)
    g = dualad.compile(lambda x: x * a, backend=backend)
    for _ in range(3):
        g(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        a.dtype = np.int64
    for _ in range(3):
        np.testing.assert_array_equal(g(X), X * np.arange(4.0).view(np.int64))
