"""Passes: what is left out, and what must stay."""

import numpy as np
import pytest

import dualad
from dualad.compiling import compile


def source(f, *args):
    compiled = compile(f, backend="numpy")
    compiled(*args)
    found, expected = compiled(*args), f(*args)
    for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, expected)),
                    strict=True):  # fmt: skip
        np.testing.assert_allclose(a, b, rtol=1e-14)
    return compiled.source()


def body(text):
    """The lines of the function."""
    return [line.strip() for line in text.partition('"""\n')[2].splitlines()]


X = np.linspace(0.5, 1.5, 10)


@pytest.mark.parametrize(
    ("f", "lines"),
    [
        (lambda x: np.sin(x) * 1.0, ["v0 = np.sin(x0)", "return (v0,)"]),
        (lambda x: -(-np.sin(x)), ["v0 = np.sin(x0)", "return (v0,)"]),
        (lambda x: x + -np.sin(x), ["v0 = np.sin(x0)", "v1 = x0 - v0", "return (v1,)"]),
        (lambda x: -np.sin(x) + x, ["v0 = np.sin(x0)", "v1 = x0 - v0", "return (v1,)"]),
        (lambda x: x - -np.sin(x), ["v0 = np.sin(x0)", "v1 = x0 + v0", "return (v1,)"]),
        (lambda x: -(3.0 * x), ["v0 = x0 * -3.0", "return (v0,)"]),
        (lambda x: 3.0 * (2 * x), ["v0 = x0 * 6.0", "return (v0,)"]),
        (lambda x: -(x + x), ["v0 = x0 * -2.0", "return (v0,)"]),
        (lambda x: x + (-np.sin(x)) * x,
         ["v0 = np.sin(x0)", "v1 = v0 * x0", "v2 = x0 - v1", "return (v2,)"]),
        (lambda x: np.reshape(np.reshape(np.sin(x), (2, 5)), 10),
         ["v0 = np.sin(x0)", "return (v0,)"]),
        (lambda x: np.sin(np.reshape(x, (2, 5)).T.T),
         ["v0 = x0.reshape((2, 5))", "v1 = np.sin(v0)", "return (v1,)"]),
        (lambda x: np.broadcast_to(np.sum(x), (10,)) * x,
         ["v0 = np.add.reduce(x0)", "v1 = v0 * x0", "return (v1,)"]),
        (lambda x: x**3, ["v0 = x0 * x0", "v1 = v0 * x0", "return (v1,)"]),
    ],
)  # fmt: skip
def test_what_changes_nothing_is_left_out(f, lines):
    assert body(source(f, X)) == lines


def test_adding_zero_may_change_a_sign_and_stays():
    assert body(source(lambda x: x + 0.0, X))[0] == "v0 = x0 + 0.0"


def test_numbers_are_not_put_together_where_one_alone_would_overflow():
    x = np.array([1e300, 1e-300])
    for f in (lambda x: (x * 1e10) * 1e-10, lambda x: (x * 1e-200) * 1e200):
        compiled = compile(f)
        with np.errstate(over="ignore", under="ignore"):
            for _ in range(3):
                np.testing.assert_array_equal(compiled(x), f(x))


def test_gradients_of_slices_are_added_in_place():
    def f(x):
        return np.sum(np.sin(x[1:]) * x[:-1])

    text = source(dualad.grad(f), X)
    assert text.count("np.zeros(10)") == 1
    assert "+=" in text


def test_entries_are_written_in_place_where_nobody_else_reads_the_array():
    def f(x):
        out = np.zeros_like(x)
        for k in range(10):
            out[k] = x[k] * k
        return out

    text = source(f, X)
    assert text.count(".copy()") <= 1


def test_an_array_that_is_still_read_is_not_written_into():
    def f(x):
        out = np.sin(x)
        before = out[2:5]
        kept = before * 1.0
        out = np.copy(out)
        out[3] = 7.0
        return kept, out, np.sum(before)

    source(f, X)


def test_what_somebody_may_write_into_is_no_constant():
    ones = np.ones(10)
    compiled = compile(lambda x: x * ones)
    compiled(X), compiled(X)
    ones[3] = 5.0
    np.testing.assert_array_equal(compiled(X), X * ones)


def test_a_question_that_a_later_one_answers_is_asked_once():
    def f(x):
        return dualad.jvp(lambda x: np.log(np.sqrt(x)) / x, (x,), (x,))[1]

    assert source(f, X).count("isnan") == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_of_numpy_keep_their_dtype(dtype):
    x = X.astype(dtype)
    for c in (2.0, np.float64(2.0), np.float32(2.0), 2):
        compiled = compile(lambda x, c=c: (x * c, c - x))
        for _ in range(3):
            for found, expected in zip(compiled(x), (x * c, c - x), strict=True):
                assert found.dtype == expected.dtype


def test_an_error_of_linear_algebra_comes_through():
    compiled = compile(lambda a: np.linalg.cholesky(a) * 2.0)
    a = np.eye(3)
    compiled(a), compiled(a)
    with pytest.raises(np.linalg.LinAlgError):
        compiled(-a)
    np.testing.assert_array_equal(compiled(a), 2.0 * a)


def test_long_programs_use_names_again():
    def f(x):
        for _ in range(200):
            x = np.sin(x) * 1.1
        return x

    assert "v9 =" not in source(f, X)


def test_a_large_constant_of_one_value_is_a_number():
    """Its memory is on loan from the pool while the function is traced."""
    x = np.linspace(-1.0, 1.0, 40_000)
    text = source(dualad.grad(lambda x: np.sum(3.0 - 2.5 * np.tanh(x))), x)
    assert "c0" not in text


def test_slices_are_added_in_place_to_a_constant():
    """The Hessian of a sum of neighbours' products: two diagonals beside a constant one."""

    def f(x):
        return np.sum(x[1:] * x[:-1] ** 2 + (1 - x[:-1]) ** 2)

    n = 12
    x = np.linspace(-1.0, 2.0, n)
    exact = np.zeros((n, n))
    k = np.arange(n - 1)
    exact[k, k] = 2 * x[1:] + 2
    exact[k, k + 1] = exact[k + 1, k] = 2 * x[:-1]
    compiled = compile(dualad.hessian(f))
    for _ in range(3):
        np.testing.assert_allclose(compiled(x), exact, rtol=1e-14)
    assert compiled.source(x).count(f"np.zeros(({n}, {n}))") == 0
