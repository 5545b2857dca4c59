"""Arguments that are written into, that are one and the same, that are containers or static."""

import functools
import warnings

import numpy as np
import pytest

import dualad
from dualad.errors import CompileWarning

X = np.linspace(-1.0, 2.0, 4)
compiled = functools.partial(dualad.compile, backend="numpy")


def test_an_argument_that_is_written_into_and_given_twice():
    @compiled
    def f(x, y):
        x[0] = 5.0
        return x + y

    for _ in range(3):
        a, b = X.copy(), X.copy()
        np.testing.assert_array_equal(f(a, b), [4.0, *(2 * X[1:])])
        np.testing.assert_array_equal(f(a, a), [10.0, *(2 * X[1:])])
        c = np.arange(5.0)
        np.testing.assert_array_equal(f(c[:4], c[1:]), [6.0, 3.0, 5.0, 7.0])
        assert c[0] == 5.0


def test_an_argument_that_is_written_into_and_captured():
    work = np.ones(3)

    @compiled
    def f(x):
        x[:] = 3.0
        return x + work

    for _ in range(3):
        np.testing.assert_array_equal(f(np.ones(3)), [4.0, 4.0, 4.0])
        np.testing.assert_array_equal(f(work), [6.0, 6.0, 6.0])
        work[:] = 1.0


def test_a_container_that_the_function_changes():
    def f(values, options):
        values.append(values[0] * 2)
        options["new"] = options["a"] + 1
        return values[-1]

    g = compiled(f)
    with pytest.warns(CompileWarning, match="changes a dict, a list or an object"):
        g([X], {"a": 1.0})
    for _ in range(3):
        values, options = [X], {"a": 1.0}
        np.testing.assert_array_equal(g(values, options), 2 * X)
        assert len(values) == 2
        assert options == {"a": 1.0, "new": 2.0}


def test_what_is_written_into_an_argument_under_transformations():
    def doubled(x):
        x *= 2
        return x.sum()

    def filled(x, out):
        out[:] = x * 2

    write, fill = compiled(doubled), compiled(filled)

    def f(x):
        z = x * 1
        return write(z) + z.sum()

    def g(x):
        out = x * 0
        fill(x, out)
        return out.sum()

    for _ in range(2):
        np.testing.assert_array_equal(dualad.grad(f)(X), np.full(4, 4.0))
        np.testing.assert_array_equal(dualad.grad(g)(X), np.full(4, 2.0))
        assert dualad.jvp(f, (X,), (np.ones(4),))[1] == 16.0


def test_static_arguments_that_are_equal_but_not_the_same():
    @functools.partial(compiled, static=(1,))
    def f(x, s):
        return np.copysign(x, s) if isinstance(s, float) else x * np.asarray(s)

    assert f(np.ones(2, int), (1, 2)).dtype == np.int64
    assert f(np.ones(2, int), (1.0, 2.0)).dtype == np.float64
    assert f(1.0, 0.0) == 1.0
    assert f(1.0, -0.0) == -1.0


@pytest.mark.parametrize("static", [1, "s", -1])
def test_a_static_argument_may_be_given_either_way(static):
    @functools.partial(compiled, static=static)
    def f(x, s):
        assert type(s) is float
        return x * s

    for _ in range(2):
        np.testing.assert_array_equal(f(X, 2.0), 2 * X)
        np.testing.assert_array_equal(f(X, s=3.0), 3 * X)


def test_a_byte_order_that_is_not_the_machines():
    f = compiled(lambda x: x[::-1])
    for _ in range(3):
        assert f(X.astype(">f8")).dtype == np.dtype(">f8")


def test_an_error_state_within_the_function():
    def quiet(x):
        with np.errstate(divide="ignore"):
            return np.log(x)

    def careful(x):
        with np.errstate(divide="raise"):
            try:
                return np.log(x)
            except FloatingPointError:
                return np.zeros_like(x)

    zero = np.array([0.0, 1.0])
    f = compiled(quiet)
    for x in (zero + 1, zero + 1, zero):  # a warning would be an error here
        np.testing.assert_array_equal(f(x), quiet(x))
    g = compiled(careful)
    with pytest.warns(CompileWarning, match="np.errstate"):
        g(zero + 1)
    for x in (zero + 1, zero):
        np.testing.assert_array_equal(g(x), careful(x))


def test_a_warning_is_the_callers_and_an_error_has_no_other_before_it():
    f = compiled(lambda x: float(x[0]) * x)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for k in range(8):
            f(X + k)
    assert [w.filename for w in seen] == [__file__]
    g = compiled(lambda a: 2 * np.linalg.inv(a))
    for a in (np.eye(2), np.eye(2), np.zeros((2, 2))):
        if a.any():
            g(a)
            continue
        with pytest.raises(np.linalg.LinAlgError) as caught:
            g(a)
        assert caught.value.__context__ is None
        assert any(entry.path.samefile(__file__) for entry in caught.traceback[1:]
                   if entry.path.exists())  # fmt: skip


def test_an_error_after_a_write_leaves_what_the_function_leaves():
    def f(x):
        x += 1
        np.linalg.inv(np.diag(x))
        x *= 2
        return x

    g = compiled(f)
    for x in (np.array([1.0, 2.0]), np.array([3.0, 2.0]), np.array([-1.0, 2.0])):
        a, b = x.copy(), x.copy()
        for h, y in ((f, a), (g, b)):
            if x[0] > 0:
                h(y)
            else:
                with pytest.raises(np.linalg.LinAlgError):
                    h(y)
        np.testing.assert_array_equal(a, b)


def test_text_of_a_value():
    f = compiled(lambda x: repr(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for k in range(3):
            assert f(X + k) == repr(X + k)


def test_a_result_that_equals_an_argument_before_it_is_written_into():
    def one(x):
        before = x * 1
        x[1:] = 3.0
        return before, x

    def swapped(x, y):
        t = x + -0.0
        x[:] = y * 1
        y[:] = t
        return t.reshape(2, 2), x - 0.0

    def looped(x):
        before = x * 1
        for _ in range(20):
            x[1:] = 0.5 * x[:-1]
        return before

    for f, n in ((one, 1), (swapped, 2), (looped, 1)):
        g = compiled(f)
        for k in range(3):
            a = [X + k + j for j in range(n)]
            b = [v.copy() for v in a]
            want, got = f(*a), g(*b)
            for v, w in zip([*want, *a], [*got, *b], strict=True):
                np.testing.assert_array_equal(v, w)


def test_an_argument_written_into_by_another_name():
    def f(x):
        y = np.asarray(x)
        y += 1
        return x

    g = compiled(f)
    with pytest.warns(CompileWarning):
        np.testing.assert_array_equal(g(X.copy()), X + 1)
    np.testing.assert_array_equal(g(X.copy()), X + 1)


def test_a_path_that_writes_after_one_that_does_not():
    def f(x, y):
        if x[0] > 0:
            x[0] = 7.0
        return x + y

    g = compiled(f)
    for first in (-1.0, -2.0, 1.0, 2.0, -3.0, 1.0):
        a, b = np.array([first, 1.0]), np.array([first, 1.0])
        np.testing.assert_array_equal(g(a, np.ones(2)), f(b, np.ones(2)))
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(g(a, a), f(b, b))


@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_an_array_that_is_given_twice(backend):
    def kernel(x, y, more=()):
        same = [x is y, *(x is z for z in more)]
        return np.sum((x - y) ** 2) + sum(same), x, y

    g = dualad.compile(kernel, backend=backend)
    x, y = np.arange(3.0), np.ones(3)
    for _ in range(3):
        for args in ((x, x), (x, y), (x, 2 * x), (y, y), (x, y, (x, y)), (x, y, (y, y))):
            want, found = kernel(*args), g(*args)
            np.testing.assert_allclose(found[0], want[0])
            assert found[1] is args[0]
            assert found[2] is args[1]


def test_an_array_that_is_given_twice_and_written_into():
    def f(x, y):
        x += 1.0
        return np.sum(y), x is y

    g = compiled(f)
    for _ in range(3):
        x, y = np.arange(3.0), np.arange(3.0)
        assert g(x, y) == (3.0, False)
        assert g(x, x) == (9.0, True)
        np.testing.assert_array_equal(x, [2.0, 3.0, 4.0])
