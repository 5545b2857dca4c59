"""Whole numbers that vary: values where they are computed with, one warning where they decide."""

import warnings

import numpy as np
import pytest

import dualad
from dualad.errors import CompileWarning

X = np.array([0.5, 1.5, 2.5])


@pytest.fixture(params=["numpy", "auto"])
def backend(request):
    return request.param


def traces_of(f, calls, backend, **options):
    """How often a function is run itself in some calls, which must give what it gives."""
    count = 0

    def counted(*args):
        nonlocal count
        count += 1
        return f(*args)

    compiled = dualad.compile(counted, backend=backend, **options)
    for args in calls:
        np.testing.assert_allclose(compiled(*args), f(*args), rtol=1e-14)
        assert type(compiled(*args)) is type(f(*args))
    return count


def test_a_number_that_is_computed_with_becomes_a_value(backend):
    def f(x, n):
        return np.sin(x) * n + 1 / (n + 1) - np.sqrt(n) * x[0]

    calls = [(X, n) for n in range(200)]
    assert traces_of(f, calls, backend, max_paths=4) <= 6


def test_decisions_by_it_are_paths(backend):
    def f(x, n):
        return x * n if n % 2 else x - n

    calls = [(X, n) for n in range(60)]
    assert traces_of(f, calls, backend, max_paths=4) <= 8


def test_few_values_have_programs_of_their_own(backend):
    def f(x, n):
        for _ in range(n):
            x = np.tanh(x)
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert traces_of(f, [(X, n % 30) for n in range(90)], backend) == 30


def test_one_that_decides_is_warned_of_once_by_name(backend):
    def f(x, turns):
        for _ in range(turns):
            x = np.tanh(x)
        return x

    compiled = dualad.compile(f, backend=backend, max_paths=4)
    with pytest.warns(CompileWarning, match=r"runs f .*'turns' decides it.* 4 values.*float"):
        for n in range(5):
            compiled(X, n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(20):
            np.testing.assert_allclose(compiled(X, n), f(X, n), rtol=1e-14)
    assert "tanh" in compiled.source(X, 3)  # those of before have their programs


def test_the_dtype_is_that_of_a_whole_number_of_python(backend):
    x = X.astype(np.float32)
    for f in (lambda x, n: x * n, lambda x, n: n, lambda x, n: n + 1, lambda x, n: n / 2):
        compiled = dualad.compile(f, backend=backend, max_paths=2)
        for n in range(1, 8):
            got, want = compiled(x, n), f(x, n)
            assert type(got) is type(want)
            assert np.asarray(got).dtype == np.asarray(want).dtype
            np.testing.assert_array_equal(got, want)


def test_numbers_without_bounds_stay_those_of_python(backend):
    compiled = dualad.compile(lambda x, n: x[0] * float(n**30), backend=backend, max_paths=2)
    big = dualad.compile(lambda x, n: x * (n + 1), backend=backend, max_paths=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for n in range(1, 9):
            assert compiled(X, n) == pytest.approx(X[0] * float(n**30), rel=1e-15)
            np.testing.assert_array_equal(big(X, 2**62 + n), X * (2**62 + n + 1))


def test_derivatives_and_keywords(backend):
    gradient = dualad.compile(
        dualad.grad(lambda x, n: np.sum(n * x**2)), backend=backend, max_paths=2
    )
    named = dualad.compile(lambda x, *, n: x * n, backend=backend, max_paths=2)
    static = dualad.compile(lambda x, n: x * n, backend=backend, max_paths=2, static=["n"])
    for n in range(1, 9):
        np.testing.assert_allclose(gradient(X, n), 2 * n * X, rtol=1e-15)
        np.testing.assert_allclose(named(X, n=n), n * X, rtol=1e-15)
        np.testing.assert_allclose(static(X, n), n * X, rtol=1e-15)


def test_an_index_is_a_value_too(backend):
    x = np.arange(8.0)
    calls = [(x, k) for k in range(-8, 8)]
    assert traces_of(lambda x, k: x[k] ** 2, calls, backend, max_paths=3) <= 5
    compiled = dualad.compile(lambda x, k: x[k] ** 2, backend=backend, max_paths=3)
    for k in range(8):
        compiled(x, k)
    with pytest.raises(IndexError):
        compiled(x, 8)


def test_division_by_zero_is_that_of_python(backend):
    def f(x, n):
        return x * (7 // n)

    compiled = dualad.compile(f, backend=backend, max_paths=2)
    with pytest.warns(CompileWarning, match="no bounds"):
        for n in range(1, 8):
            np.testing.assert_array_equal(compiled(X, n), f(X, n))
    with pytest.raises(ZeroDivisionError):
        compiled(X, 0)
