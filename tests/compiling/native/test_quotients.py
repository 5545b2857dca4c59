"""Quotients that share a division, and quotients by numbers: bit for bit those of a division."""

import itertools
import re

import numpy as np
import pytest
from llvmlite import ir
from native_programs import check, native, program_of

import dualad
from dualad.compiling.native.kernel import Kernel
from dualad.compiling.native.machine import has_fused, machine

TINY, HUGE = np.finfo(float).tiny, np.finfo(float).max
SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 3.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, TINY, -TINY,
    1e-300, 1e300, HUGE, -HUGE,
]  # fmt: skip
pytestmark = pytest.mark.skipif(not has_fused(), reason="needs fused multiply-add")


@pytest.fixture(autouse=True)
def silent():
    with np.errstate(all="ignore"):
        yield


def divisions(f, *args):
    """How many divisions a turn of the loop makes."""
    machine()
    module = ir.Module("program")
    Kernel(program_of(f, *args)[0], module)
    return len(re.findall(r"= fdiv", str(module)))


def three(a, b, c):
    return a / c, b / c, np.reciprocal(c)


def same(got, want):
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)
        real = ~np.isnan(w)
        np.testing.assert_array_equal(np.signbit(g)[real], np.signbit(w)[real])


def test_three_quotients_by_one_array_are_one_division():
    a, b, c = np.random.default_rng(1).normal(size=(3, 1000))
    assert divisions(three, a, b, c) == 1
    assert divisions(lambda a, c: a / c + c, a, c) == 1
    assert divisions(lambda a, b, c: a / c + b / a, a, b, c) == 2


def test_a_scalar_is_inverted_before_the_loop():
    x = np.random.default_rng(6).normal(size=5000)

    def f(x):
        return x / np.sum(x * x)

    assert divisions(f, x) == 1
    run, values = native(lambda x, c: (x / c,), x, np.float64(0.3))
    for c in (0.3, -7.0, 5e-324, 1e300, 0.0, np.inf, np.nan):
        same(run(values[0], np.float64(c)), (x / c,))


def test_they_are_what_division_gives():
    rng = np.random.default_rng(2)
    sizes = np.ldexp(rng.uniform(1, 2, (3, 20000)), rng.integers(-500, 500, (3, 20000)))
    a, b, c = sizes * rng.choice([-1.0, 1.0], sizes.shape)
    run, values = native(three, a, b, c)
    same(run(*values), (a / c, b / c, 1 / c))


def test_whole_quotients_stay_whole():
    n = np.arange(1.0, 4001.0)
    run, values = native(lambda a, c: (a * c / c, c / c), n[::-1].copy(), n)
    whole, one = run(*values)
    np.testing.assert_array_equal(whole, n[::-1])
    np.testing.assert_array_equal(one, 1.0)


def test_special_values_and_the_edges_of_the_range():
    a, c = np.array(list(itertools.product(SPECIAL, SPECIAL))).T.copy()
    run, values = native(lambda a, c: (a / c, np.reciprocal(c)), a, c)
    same(run(*values), (a / c, 1 / c))


def test_small_divisors_and_results():
    rng = np.random.default_rng(3)
    a = np.ldexp(rng.uniform(1, 2, 4000), rng.integers(-1070, -900, 4000))
    c = np.ldexp(rng.uniform(1, 2, 4000), rng.integers(-1070, 100, 4000))
    run, values = native(lambda a, c: (a / c, (a + a) / c), a, c)
    for got, top in zip(run(*values), (a, a + a), strict=True):
        want = top / c
        np.testing.assert_array_equal(np.isinf(got), np.isinf(want))
        real = np.isfinite(want)
        assert np.all(np.abs(got - want)[real] <= np.spacing(np.abs(want[real])))


def test_a_divisor_that_cannot_be_small_needs_no_scale():
    x, y = 1e3 * np.random.default_rng(4).normal(size=(2, 500))

    def f(x, y):
        below = 1.0 + x * x
        return x / below, y / below

    assert divisions(f, x, y) == 1
    run, values = native(f, x, y)
    same(run(*values), (x / (1 + x * x), y / (1 + x * x)))


@pytest.mark.parametrize("c", [3.0, 100.0, -7.0, 0.1, 49.0, -1e-3, 1e200, 255.0, 2.0, np.pi])
def test_quotients_by_numbers(c):
    rng = np.random.default_rng(5)
    x = np.ldexp(rng.normal(size=20000), rng.integers(-300, 300, 20000))
    x[: len(SPECIAL)] = SPECIAL
    assert divisions(lambda x: x / c, x) == 0
    run, values = native(lambda x: (x / c,), x)
    want = x / c
    (got,) = run(*values)
    usual = ~(np.abs(want) < TINY)
    same([got[usual]], [want[usual]])
    assert np.all(np.abs(got - want)[~usual] <= 5e-324)
    np.testing.assert_array_equal(np.signbit(got)[~usual], np.signbit(want)[~usual])


def test_a_division_by_zero_or_by_what_has_no_inverse_is_one():
    x = np.array([0.0, -0.0, 1.0, -2.0, np.nan, np.inf] * 100)
    for c in (0.0, 5e-324, 1e300, np.inf):
        assert divisions(lambda x, c=c: x / c, x) == 1
        run, values = native(lambda x, c=c: (x / c,), x)
        same(run(*values), (x / c,))


def test_single_precision_and_short_arrays_divide():
    x = np.linspace(1, 2, 100, dtype=np.float32)
    assert divisions(lambda x: (x / (x + 1), 3 / (x + 1)), x) == 2
    check(lambda x: (x / (x + 1), 3 / (x + 1), x / 7), x, rtol=1e-7)
    check(lambda x: (x / (x + 1), 3 / (x + 1), x / 7), np.linspace(1, 2, 20))


def test_gradients_of_quotients():
    x = np.linspace(-2.0, 2.0, 300)

    def f(x):
        return np.sum((x**3 - 1) / (2 + x**2))

    (got,) = check(dualad.grad(f), x)
    exact = (3 * x**2 * (2 + x**2) - (x**3 - 1) * 2 * x) / (2 + x**2) ** 2
    np.testing.assert_allclose(got, exact, rtol=1e-13, atol=1e-14)
