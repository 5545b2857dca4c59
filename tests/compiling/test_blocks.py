"""Large arrays in blocks: what is computed, asked, warned and raised is what eager does."""

import threading
import warnings

import numpy as np
import pytest

import dualad
from dualad.compiling import compile
from dualad.compiling.group import LEAST

N = 2 * LEAST + 1234


def replayed(f, *args):
    """The compiled function after its trace and a first run."""
    compiled = compile(f, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled(*args)
        compiled(*args)
    assert "for i in range" in compiled.source(*args)
    return compiled


def numbers(seed=0, shape=N):
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape)


def test_values_between_operations_are_no_arrays_of_their_own():
    def f(x, y):
        return np.sum(np.sin(x) * y + np.exp(-x))

    text = replayed(f, numbers(), numbers(1)).source()
    assert f"np.empty({N})" not in text
    assert "np.sin(x0_, b0)" in text


def test_a_result_is_the_same_array_to_rounding():
    f = lambda x, y: (np.tanh(x * y) / y, np.sum(x * y))
    x, y = numbers(), numbers(1)
    for found, expected in zip(replayed(f, x, y)(x, y), f(x, y), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_other_dtypes_keep_theirs(dtype):
    def f(x):
        return 2 * x + x * x, np.sum(x + x)

    x = (10 * numbers()).astype(dtype)
    for found, expected in zip(replayed(f, x)(x), f(x), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_numbers_of_any_kind_are_printed():
    def f(x, n):
        return x * np.complex128(2j) + np.inf * (x > 1.0), n * np.int64(3) + n, np.sum(x * 0.5)

    x, n = numbers(), np.arange(N)
    with np.errstate(invalid="ignore"):
        compiled = replayed(f, x, n)
        assert "np.inf" in compiled.source() and "complex(0.0, 2.0)" in compiled.source()
        for found, expected in zip(compiled(x, n), f(x, n), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_comparisons_choose_entry_by_entry():
    def f(x, y):
        return np.where(x > y, np.sqrt(x), -y) + np.where(x < 1.0, 0.0, x)

    x, y = numbers(), numbers(1)
    np.testing.assert_array_equal(replayed(f, x, y)(x, y), f(x, y))


def test_rows_are_blocks_where_operands_are_broadcast():
    def f(x, column, row):
        return np.exp(x - column) * row, np.sum((x - column) ** 2)

    x, column, row = numbers(0, (700, 90)), numbers(1, (700, 1)), numbers(2, 90)
    for order in ("C", "F"):
        x = np.asarray(x, order=order)
        compiled = compile(f)
        for _ in range(3):
            found = compiled(x, column, row)
        for a, b in zip(found, f(x, column, row), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)


def test_reductions_along_rows_stay_in_the_block():
    def softmax(x):
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        return e / np.sum(e, axis=1, keepdims=True)

    x = numbers(0, (700, 90))
    compiled = replayed(softmax, x)
    np.testing.assert_allclose(compiled(x), softmax(x), rtol=1e-14)
    np.testing.assert_allclose(compiled(x).sum(1), 1.0, rtol=1e-14)
    assert compiled.source().count("np.empty((700, 90))") == 1


def test_the_gradient_of_a_log_of_sums_of_rows_is_the_softmax():
    def f(x):
        largest = np.max(x, axis=-1, keepdims=True)
        return np.sum(np.log(np.sum(np.exp(x - largest), axis=-1)) + largest[:, 0])

    x = numbers(0, (700, 90))
    e = np.exp(x)
    gradient = replayed(dualad.grad(f), x)
    np.testing.assert_allclose(gradient(x), e / e.sum(1, keepdims=True), rtol=1e-12)


def test_sums_over_rows_are_added_up_from_block_to_block():
    def f(x, w):
        y = np.sin(x) * w
        return np.sum(y, axis=0), np.sum(y, axis=1), np.sum(y), np.sum(y * y, axis=(0, 1))

    x, w = numbers(0, (700, 90)), numbers(1, 90)
    for found, expected in zip(replayed(f, x, w)(x, w), f(x, w), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_a_vector_beside_the_rows_of_a_square_is_no_column():
    def f(x):
        y = np.exp(x)
        total = np.sum(y, axis=1)
        return y * total + y, total * 2.0

    x = numbers(0, (200, 200))
    compiled = compile(f)
    for _ in range(3):
        for found, expected in zip(compiled(x), f(x), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("n", [N, 9000])
def test_gradients_of_slices_are_computed_in_their_place(n):
    def f(x):
        return np.sum(x[1:] * x[:-1] ** 2)

    x = numbers(0, n)
    expected = np.zeros(n)
    expected[:-1] = 2 * x[1:] * x[:-1]
    expected[1:] += x[:-1] ** 2
    compiled = compile(dualad.grad(f), backend="numpy")
    for _ in range(3):
        np.testing.assert_allclose(compiled(x), expected, rtol=1e-14)
    assert "[:-1] = " not in compiled.source()


def test_slices_of_columns_are_put_into_their_place():
    def f(x):
        return np.sum(np.sin(x[:, 1:]) * x[:, :-1])

    x = numbers(0, (200, 150))
    expected = np.zeros(x.shape)
    expected[:, 1:] = np.cos(x[:, 1:]) * x[:, :-1]
    expected[:, :-1] += np.sin(x[:, 1:])
    compiled = compile(dualad.grad(f), backend="numpy")
    for _ in range(3):
        np.testing.assert_allclose(compiled(x), expected, rtol=1e-13)


@pytest.mark.parametrize("transformation", ["value", "grad"])
def test_turns_of_a_loop_run_in_blocks(transformation):
    def diffused(u):
        for _ in range(40):
            around = np.concatenate([u[1:], u[:1]]) + np.concatenate([u[-1:], u[:-1]])
            u = u + 0.1 * (around - 2.0 * u) * (1.0 + u * u) - 0.01 * np.sin(u)
        return np.sum(u * u)

    f = diffused if transformation == "value" else dualad.grad(diffused)
    u = 0.1 * numbers()
    compiled = replayed(f, u)
    text = compiled.source()
    assert text.count("np.sin(") + text.count("np.cos(") <= 2
    np.testing.assert_allclose(compiled(u), f(u), rtol=1e-11)
    np.testing.assert_allclose(compiled(u / 2), f(u / 2), rtol=1e-11)


def test_powers_are_those_of_the_operator():
    def f(x):
        return x**2 + x**3 + x**4 + x**0.5 + x**-1.0 + x**1.7 + x**0

    x = numbers()
    np.testing.assert_allclose(replayed(f, x)(x), f(x), rtol=1e-14)


def test_special_values_pass_through_products_and_signs():
    def f(x):
        return -(2 * x), x * 1.0, 1.0 - -x, (x * 4.0) * 0.25, x**3, -x + 0.0, (0.5 * x) * 0.5

    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 1e-160])
    x = np.resize(special, N)
    with np.errstate(all="ignore"):
        for found, expected in zip(replayed(f, x)(x), f(x), strict=True):
            np.testing.assert_array_equal(found, expected)
            known = ~np.isnan(expected)  # the sign of NaN means nothing
            np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])


@pytest.mark.parametrize("place", [0, 20_000, N - 1])
def test_a_nan_in_any_block_takes_the_path_where_zero_wins(place):
    # d sqrt(x * x) at 0 is 0 by convention: the infinite slope meets a tangent of zero.
    def f(x):
        return np.sum(np.sqrt(x * x) * 2.0)

    gradient = replayed(dualad.grad(f), numbers())
    x = numbers()
    x[place] = 0.0
    expected = np.full(N, 2.0)
    expected[place] = 0.0
    for _ in range(3):
        np.testing.assert_allclose(gradient(x), expected, rtol=1e-14)
    np.testing.assert_allclose(gradient(numbers()), 2.0, rtol=1e-14)


def test_warnings_are_those_of_the_function_itself():
    def f(x):
        return np.log(x) * 2.0 + x

    x = numbers()
    compiled = replayed(f, x)
    x[N // 2] = 0.0
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
        compiled(x)
    with warnings.catch_warnings():  # a rule gives none: the slope of sqrt is infinite at 0
        warnings.simplefilter("error")
        derivative = replayed(dualad.grad(lambda x: np.sum(np.sqrt(x) * x)), numbers())
        assert derivative(x)[N // 2] == 0.0


def test_an_error_leaves_the_warnings_as_they_were():
    def f(x):
        return dualad.jvp(lambda x: np.sum(np.log(x) / x), (x,), (x,))[1]

    x = numbers()
    compiled = replayed(f, x)
    before = np.geterr()
    x[5] = 0.0
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        compiled(x)
    assert np.geterr() == before


def test_threads_do_not_meet():
    def f(x, y):
        return np.sin(x) * y + np.cos(y) * x, np.sum(x * y)

    arguments = [(numbers(k), numbers(k + 50)) for k in range(4)]
    compiled = replayed(f, *arguments[0])
    wrong: list[int] = []

    def work(k):
        for _ in range(20):
            for found, expected in zip(compiled(*arguments[k]), f(*arguments[k]), strict=True):
                if not np.allclose(found, expected, rtol=1e-13):
                    wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert wrong == []


def test_results_are_new_arrays_at_each_call():
    compiled = replayed(lambda x: (np.sin(x) * 2.0 + 1.0, x * 2.0 - 1.0), numbers())
    first = compiled(numbers())
    kept = [a.copy() for a in first]
    second = compiled(numbers(1))
    for a, b, k in zip(first, second, kept, strict=True):
        assert not np.may_share_memory(a, b)
        np.testing.assert_array_equal(a, k)
    assert not np.may_share_memory(*first)


def test_a_sum_is_as_accurate_as_that_of_numpy():
    x = np.full(10 * N, 0.1)
    total = replayed(lambda x: np.sum(x * 1.5 + x), x)(x)
    exact = 10 * N * (0.1 * 1.5 + 0.1)
    assert abs(total - exact) < 1e-14 * exact


def test_a_question_about_a_value_stands_before_what_may_warn():
    def f(x):
        total = np.sum(x * x)
        if total > 0:
            return x / total + np.log(total)
        return x * 2.0

    compiled = replayed(f, numbers())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(compiled(np.zeros(N)), np.zeros(N))


def test_less_memory_than_eager():
    import tracemalloc

    def f(x):
        y = np.sin(x) * x + np.cos(x)
        return np.sum(np.exp(-y * y) * y)

    x = numbers(0, 400_000)
    gradient = replayed(dualad.grad(f), x)

    def peak(call):
        tracemalloc.start()
        call(x)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / x.nbytes

    assert peak(gradient) < 1.6 < 5 < peak(dualad.grad(f))
