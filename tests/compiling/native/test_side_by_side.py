"""Long loops of functions compute several vectors at once; what that changes is the time."""

import re

import numpy as np
import pytest
from llvmlite import ir
from native_programs import check, program_of

import dualad
from dualad.compiling.native.kernel import Kernel
from dualad.compiling.native.machine import machine


def text_of(f, *args):
    """What LLVM reads."""
    machine()
    module = ir.Module("program")
    Kernel(program_of(f, *args)[0], module)
    return str(module)


def together(f, *args):
    """How many vectors each loop computes, of the loops that say so."""
    text = text_of(f, *args)
    return re.findall(r"i32 (\d) }", text) if "llvm.loop.interleave.count" in text else []


X = np.linspace(0.1, 0.9, 1000)


def test_a_loop_with_functions_says_so():
    assert together(lambda x: np.exp(x) * np.sin(x), X) == ["4"]


def test_short_loops_and_plain_arithmetic_do_not():
    assert together(lambda x: x * x + 1.0, X) == []
    assert together(lambda x: np.exp(x), X[:40]) == []


def test_a_body_that_would_become_too_long_has_fewer():
    def some(x):
        return np.sin(x) + np.exp(x) * np.log(x) + np.tanh(x) * np.arctan(x) + np.expm1(x)

    def many(x):
        return some(x) * np.arcsinh(x) + np.tan(x) * np.cosh(x) + np.power(x, 1 + x) + np.cbrt(x)

    assert together(some, X) == ["4"]
    assert together(many, X) == ["2"]
    assert (
        together(
            lambda x: many(x) * np.arctanh(x) + np.arcsin(x) ** x + np.arctan2(x, many(1 + x)), X
        )
        == []
    )
    check(many, X, rtol=1e-13)


def test_two_loops_are_told_apart():
    def f(x, y):
        return np.exp(x), np.exp(y)

    text = text_of(f, X, np.linspace(0, 1, 300))
    nodes = re.findall(r"^!(\d+) = distinct !\{ !(\d+), ", text, re.MULTILINE)
    assert len(nodes) == 2
    assert all(own == first for own, first in nodes)


@pytest.mark.parametrize("n", [64, 65, 95, 96, 127, 1000, 1023, 4096, 4097, 5000])
def test_every_entry_is_computed(n):
    """Whole rounds of vectors, and what is left behind them."""
    x = np.linspace(0.1, 3.0, n)

    def f(x):
        return np.sum(np.exp(-x) * np.log(x) / (1 + x * x))

    (got,) = check(dualad.grad(f), x, rtol=1e-13, atol=1e-15)
    below = 1 + x * x
    exact = np.exp(-x) / below * (1 / x - np.log(x) * (1 + 2 * x / below))
    np.testing.assert_allclose(got, exact, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n", [200_000, 199_999, 200_001, 191_999])
def test_arrays_that_no_cache_holds_are_asked_for_ahead(n):
    x = np.linspace(-1.0, 2.0, n)

    def f(x):
        return np.sum(((((0.5 * x + 1) * x - 2) * x + 3) * x - 1) ** 2)

    gradient = dualad.grad(f)
    assert "prefetch" in text_of(gradient, x)
    assert "prefetch" not in text_of(gradient, x[:50_000])
    assert "prefetch" not in text_of(dualad.grad(lambda x: np.sum(x * x)), x)
    (got,) = check(gradient, x, rtol=1e-13, atol=1e-15)
    p = np.polynomial.Polynomial([-1, 3, -2, 1, 0.5])
    np.testing.assert_allclose(got, 2 * p(x) * p.deriv()(x), rtol=1e-12, atol=1e-12)
